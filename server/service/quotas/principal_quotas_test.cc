#include "service/quotas/principal_quotas.h"

#include <chrono>

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class PrincipalQuotasTest : public ServiceTest {
 protected:
  static QuotaTable Table() {
    const Quotas usual{.import_bytes_per_hour = 1000,
                       .verifications_per_minute = 2,
                       .synthesis_cpu_seconds_per_day = 100,
                       .synthesis_memory_bytes = 5000};
    Quotas of_ana = usual;
    of_ana.import_bytes_per_hour = 3000;
    return {usual, {{"ana", of_ana}}};
  }
  // How much of it is used now; -1 where that is not said.
  int64_t UsedOf(const std::string& quota, const std::string& principal) {
    const std::vector<QuotaView> quotas = quotas_.List(*ledger_, principal).value();
    for (const QuotaView& each : quotas) {
      if (each.name == quota) return each.used.value_or(-1);
    }
    ADD_FAILURE() << "no quota " << quota;
    return -1;
  }

  const Principal ana_ = TestPrincipal("ana");
  const Principal bob_ = TestPrincipal("bob");
  absl::Time now_ = absl::UnixEpoch() + 20'000 * absl::Hours(24) + absl::Hours(22) + absl::Minutes(30);
  PrincipalQuotas quotas_{Table(), [this] { return now_; }};
};

TEST_F(PrincipalQuotasTest, BytesOfImportsAreCountedUntilTheHourEnds) {
  EXPECT_TRUE(quotas_.CountImported(bob_, 600).ok());
  const absl::Status refused = quotas_.CountImported(bob_, 500);
  EXPECT_EQ(QuotaRetryOf(refused), std::chrono::minutes(30)) << refused;
  EXPECT_TRUE(quotas_.CountImported(bob_, 400).ok());
  EXPECT_EQ(UsedOf("import_bytes_per_hour", "bob"), 1000);
  now_ += absl::Minutes(30);
  EXPECT_EQ(UsedOf("import_bytes_per_hour", "bob"), 0);
  EXPECT_TRUE(quotas_.CountImported(bob_, 1000).ok());
}

TEST_F(PrincipalQuotasTest, APrincipalWithAQuotaOfItsOwnHasThatAndTheOthersTheUsualOne) {
  EXPECT_TRUE(quotas_.CountImported(ana_, 3000).ok());
  EXPECT_FALSE(quotas_.CountImported(ana_, 1).ok());
  EXPECT_FALSE(quotas_.CountImported(bob_, 1001).ok());
}

TEST_F(PrincipalQuotasTest, PassesOverHistoriesAreCountedUntilTheMinuteEnds) {
  EXPECT_TRUE(quotas_.CountVerification(bob_).ok());
  EXPECT_TRUE(quotas_.CountVerification(bob_).ok());
  EXPECT_EQ(QuotaRetryOf(quotas_.CountVerification(bob_)), std::chrono::minutes(1));
  EXPECT_TRUE(quotas_.CountVerification(ana_).ok());
  now_ += absl::Minutes(1);
  EXPECT_TRUE(quotas_.CountVerification(bob_).ok());
}

TEST_F(PrincipalQuotasTest, ASynthesisThatFitsNoDayIsABadRequestAndOneThatFitsAnotherWaitsForIt) {
  EXPECT_TRUE(quotas_.CheckSynthesis(bob_, 100, 5000).ok());
  EXPECT_EQ(FieldOf(quotas_.CheckSynthesis(bob_, 101, 1)), "workload");
  EXPECT_EQ(FieldOf(quotas_.CheckSynthesis(bob_, 1, 5001)), "workload");
  EXPECT_TRUE(quotas_.UseForSynthesis(*ledger_, bob_, 70).ok());
  const absl::Status refused = quotas_.UseForSynthesis(*ledger_, bob_, 40).status();
  EXPECT_EQ(QuotaRetryOf(refused), std::chrono::minutes(90)) << refused;
  EXPECT_EQ(UsedOf("synthesis_cpu_seconds_per_day", "bob"), 70);
  now_ += absl::Minutes(90);
  EXPECT_TRUE(quotas_.UseForSynthesis(*ledger_, bob_, 40).ok());
}

TEST_F(PrincipalQuotasTest, SecondsOfSynthesesAreThoseOfAllServers) {
  const PrincipalQuotas other_server(Table(), [this] { return now_; });
  EXPECT_TRUE(quotas_.UseForSynthesis(*ledger_, bob_, 70).ok());
  EXPECT_FALSE(other_server.UseForSynthesis(*ledger_, bob_, 40).ok());
}

TEST_F(PrincipalQuotasTest, TheListNamesEachQuotaAndItsLimit) {
  std::vector<std::string> names;
  const std::vector<QuotaView> quotas = quotas_.List(*ledger_, "ana").value();
  for (const QuotaView& each : quotas) names.push_back(each.name);
  EXPECT_THAT(names, ::testing::ElementsAre("import_bytes_per_hour", "verifications_per_minute",
                                            "synthesis_cpu_seconds_per_day", "synthesis_memory_bytes"));
  EXPECT_EQ(quotas.front().limit, 3000);
  EXPECT_EQ(UsedOf("synthesis_memory_bytes", "ana"), -1) << "which is of one request";
}

}  // namespace
}  // namespace curator::service
