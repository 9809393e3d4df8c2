// How much synthesis a principal may ask for in a day: predicted, counted with the charge, never twice.
#include <optional>

#include "service/operations/synthesis.h"
#include "service/quotas/principal_quotas.h"
#include "service/testing/fixture.h"

namespace curator::service {
namespace {

class SynthesisQuotaTest : public ServiceTest {
 protected:
  static SynthesisRequest Mwem(const std::string& dataset) {
    return {.principal = TestPrincipal("owner"),
            .dataset = DatasetName(dataset),
            .method = "mwem",
            .spend = {.epsilon = EpsilonOf(1000)},
            .settings = {},
            .workload = {},
            .assume_records = std::nullopt,
            .parts = {}};
  }
  absl::StatusOr<OperationView> Create(const SynthesisRequest& request, const std::string& id,
                                       Intent intent = Intent::kDo) {
    return CreateSynthesis(services_, request, TestRequestId(id), intent);
  }
  OperationView Ended(const std::string& operation) {
    return WaitOperation(services_, TestPrincipal("owner"), operation, absl::InfiniteFuture()).value();
  }
  static absl::Time ThisDay() { return absl::FromUnixSeconds(1'800'000'000); }
  // So many syntheses like Mwem() a day.
  void AllowADay(int64_t syntheses) {
    each_ = EstimateSynthesis(services_, Mwem("census"))->cpu_seconds;
    quotas_.emplace(Quotas{.synthesis_cpu_seconds_per_day = syntheses * each_}, &ThisDay);
    services_.quotas = &*quotas_;
  }
  int64_t UsedSeconds() {
    const std::vector<QuotaView> quotas = quotas_->List(*ledger_, "owner").value();
    for (const QuotaView& quota : quotas) {
      if (quota.name == "synthesis_cpu_seconds_per_day") return *quota.used;
    }
    return -1;
  }
  bool WasCharged(const std::string& id) { return ledger_->FindCharge(TestPrincipal("owner"), id).ok(); }

  int64_t each_ = 0;
  std::optional<PrincipalQuotas> quotas_;
};

TEST_F(SynthesisQuotaTest, SecondsAreCountedWithTheChargeAndOneBeyondThemIsRefusedBeforeIt) {
  MakeSealed(People("census"));
  AllowADay(1);
  const std::string id = host::NewUuid();
  const auto created = Create(Mwem("census"), id);
  ASSERT_TRUE(created.ok()) << created.status();
  EXPECT_EQ(UsedSeconds(), each_);
  const std::string next = host::NewUuid();
  const absl::Status refused = Create(Mwem("census"), next).status();
  EXPECT_TRUE(QuotaRetryOf(refused).has_value()) << refused;
  EXPECT_FALSE(WasCharged(next));
  EXPECT_EQ(UsedSeconds(), each_);
  EXPECT_EQ(Ended(created->id).state, OperationState::kDone);
  EXPECT_EQ(Create(Mwem("census"), id)->id, created->id) << "what was charged before is found";
  EXPECT_EQ(UsedSeconds(), each_);
}

TEST_F(SynthesisQuotaTest, ARepetitionThatIsQueuedAgainIsNeitherRefusedNorCounted) {
  MakeSealed(People("census"));
  AllowADay(1);
  const auto may_end = OccupyWorker();
  const std::string id = host::NewUuid();
  const std::string charge = Create(Mwem("census"), id)->id;
  operations_.Dismiss(charge);  // as another process finds it
  const auto again = Create(Mwem("census"), id);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_EQ(again->id, charge);
  EXPECT_EQ(UsedSeconds(), each_);
  may_end->Notify();
}

TEST_F(SynthesisQuotaTest, AChargeThatIsRefusedGivesTheSecondsBack) {
  MakeSealed(People("census"));
  AllowADay(1);
  SynthesisRequest costly = Mwem("census");
  costly.spend = {.epsilon = EpsilonOf(11'000)};
  EXPECT_FALSE(FullAccountsOf(Create(costly, host::NewUuid()).status()).empty());
  EXPECT_EQ(UsedSeconds(), 0);
  EXPECT_TRUE(Create(Mwem("census"), host::NewUuid()).ok());
}

TEST_F(SynthesisQuotaTest, OneThatIsOnlyCheckedOrEstimatedCountsNothing) {
  MakeSealed(People("census"));
  AllowADay(1);
  EXPECT_TRUE(Create(Mwem("census"), host::NewUuid(), Intent::kValidateOnly).ok());
  EXPECT_TRUE(EstimateSynthesis(services_, Mwem("census")).ok());
  EXPECT_EQ(UsedSeconds(), 0);
}

TEST_F(SynthesisQuotaTest, OneThatFitsNoDayOrTakesTooMuchMemoryIsABadRequest) {
  MakeSealed(People("census"));
  AllowADay(0);
  EXPECT_EQ(FieldOf(Create(Mwem("census"), host::NewUuid()).status()), "workload");
  quotas_.emplace(Quotas{.synthesis_memory_bytes = 1000}, &ThisDay);
  const absl::Status refused = Create(Mwem("census"), host::NewUuid()).status();
  EXPECT_EQ(FieldOf(refused), "workload");
  EXPECT_THAT(std::string(refused.message()), ::testing::HasSubstr("bytes of memory"));
  EXPECT_EQ(UsedSeconds(), 0);
}

// The table has 80 records, and then 800; its owner tells nobody.
TEST_F(SynthesisQuotaTest, ThePredictionIsTheSameWhateverTheTableHas) {
  MakeSealed(People("census"));
  std::string more = PeopleCsv();
  const std::string rows = more.substr(more.find('\n') + 1);
  for (int i = 0; i < 9; ++i) more += rows;
  MakeSealed(People("larger"), more);
  Make(People("empty"));
  const int64_t seconds = EstimateSynthesis(services_, Mwem("census"))->cpu_seconds;
  EXPECT_EQ(EstimateSynthesis(services_, Mwem("larger"))->cpu_seconds, seconds);
  EXPECT_EQ(EstimateSynthesis(services_, Mwem("empty"))->cpu_seconds, seconds);
}

TEST_F(SynthesisQuotaTest, NoPredictionExceedsWhatTheServerLetsASynthesisTake) {
  MakeSealed(People("census"));
  SynthesisRequest endless = Mwem("census");
  endless.assume_records = int64_t{1} << 60;
  const int64_t most = EstimateSynthesis(services_, endless)->cpu_seconds;
  EXPECT_EQ(most % absl::ToInt64Seconds(services_.synthesis_timeout), 0) << "for each of the cores";
  EXPECT_GT(most, EstimateSynthesis(services_, Mwem("census"))->cpu_seconds);
}

}  // namespace
}  // namespace curator::service
