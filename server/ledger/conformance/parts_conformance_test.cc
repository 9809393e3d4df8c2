#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class PartConformance : public LedgerConformance {
 protected:
  static PartSpec PartOf(const std::string& name, std::vector<int64_t> bins, int64_t limit) {
    return {.bins = std::move(bins),
            .account = {.scope_type = ScopeType::kPart,
                        .scope_key = name,
                        .rule = "rule bytes",
                        .rule_name = "ZCDP",
                        .limits = {{"rho", limit}}}};
  }
  static DatasetSpec Partitioned(const std::string& name, std::vector<PartSpec> parts) {
    DatasetSpec spec = SpecOf(name, 0);
    spec.accounts.clear();
    spec.partition_attribute = "year";
    spec.parts = std::move(parts);
    return spec;
  }
  // Two parts of limits 10 and 4, both sealed.
  static Dataset MakeCensus(Ledger& ledger) {
    const DatasetSpec spec = Partitioned("census", {PartOf("early", {0, 1}, 10), PartOf("late", {3}, 4)});
    const Dataset made = Must(ledger.CreateDataset(spec));
    Must(ledger.SealPart(made.id, "early", "content of early", TestPrincipal("olga")));
    return Must(ledger.SealPart(made.id, "late", "content of late", TestPrincipal("olga")));
  }
  static NewPart Next(const Dataset& dataset, const std::string& name, std::vector<int64_t> bins) {
    return {.request_id = "add " + name,
            .dataset_id = dataset.id,
            .part = PartOf(name, std::move(bins), 6),
            .actor = TestPrincipal("olga")};
  }
  // A charge of `cost` on each of these parts.
  static ChargeRequest On(const Dataset& dataset, const std::vector<std::string>& parts,
                          const std::string& request_id, int64_t cost) {
    ChargeRequest request = RequestOf(dataset, request_id, 0, cost);
    request.postings.clear();
    for (const Part& part : dataset.parts) {
      for (const std::string& name : parts) {
        if (part.name == name) request.postings.push_back({part.account_id, "rho", cost});
      }
    }
    return request;
  }
  static std::vector<std::string> SpentOf(Ledger& ledger, const Dataset& dataset) {
    std::vector<std::string> spent;
    for (const Account& account : Must(ledger.ListAccounts(dataset.id))) {
      spent.push_back(absl::StrCat(account.scope_key, " ", account.counters.at(0).spent, "/",
                                   account.counters.at(0).limit));
    }
    return spent;
  }
};

TEST_P(PartConformance, PartsReplaceTheDatasetsAccountAndAreKeptWhole) {
  auto ledger = Open();
  const Dataset made = MakeCensus(*ledger);
  ledger.reset();
  ledger = Open();
  const Dataset found = Must(ledger->GetDataset("census"));
  EXPECT_EQ(found.parts, made.parts);
  EXPECT_EQ(found.partition_attribute, "year");
  ASSERT_EQ(found.parts.size(), 2U);
  EXPECT_EQ(found.parts[0].name, "early");
  EXPECT_THAT(found.parts[0].bins, ElementsAre(0, 1));
  EXPECT_EQ(found.parts[0].content_hash, "content of early");
  EXPECT_THAT(SpentOf(*ledger, found), ElementsAre("early 0/10", "late 0/4"));
  EXPECT_EQ(Must(ledger->ListAccounts(found.id)).at(1).id, found.parts[1].account_id);
  EXPECT_THAT(Must(ledger->Verify(found.id)).findings, IsEmpty());
}

TEST_P(PartConformance, EachSealedPartMakesTheNextVersion) {
  auto ledger = Open();
  const Dataset made =
      Must(ledger->CreateDataset(Partitioned("census", {PartOf("early", {0}, 10), PartOf("late", {3}, 4)})));
  EXPECT_EQ(made.state, DatasetState::kCreated);
  EXPECT_EQ(made.version, 0);
  const Dataset first = Must(ledger->SealPart(made.id, "late", "a", TestPrincipal("olga")));
  EXPECT_EQ(first.state, DatasetState::kSealed);
  EXPECT_EQ(first.version, 1);
  EXPECT_EQ(first.parts[0].sealed_version, 0);
  EXPECT_EQ(first.parts[1].sealed_version, 1);
  const Dataset second = Must(ledger->SealPart(made.id, "early", "b", TestPrincipal("olga")));
  EXPECT_EQ(second.version, 2);
  EXPECT_EQ(Must(ledger->SealPart(made.id, "late", "a", TestPrincipal("olga"))).version, 2) << "a replay";
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->SealPart(made.id, "late", "other", TestPrincipal("olga")).status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger->SealPart(made.id, "south", "c", TestPrincipal("olga")).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger->SealDataset(made.id, "whole", TestPrincipal("olga")).status());
  EXPECT_THAT(Must(ledger->Verify(made.id)).findings, IsEmpty());
}

TEST_P(PartConformance, AChargePostsToAllItsPartsOrToNoneAndTheFullOneIsNamed) {
  auto ledger = Open();
  const Dataset dataset = MakeCensus(*ledger);
  Must(ledger->Begin(On(dataset, {"early", "late"}, "r1", 3)));
  EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre("early 3/10", "late 3/4"));
  const absl::Status refused = ledger->Begin(On(dataset, {"early", "late"}, "r2", 2)).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(FullAccountsOf(refused),
              ElementsAre(FullAccount{"dataset/census/part/late", "ZCDP", "rho", 2, 1}));
  EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre("early 3/10", "late 3/4"));
  Must(ledger->Begin(On(dataset, {"early"}, "r3", 7)));
  EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre("early 10/10", "late 3/4"));
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
}

TEST_P(PartConformance, AChargeThatPostsToNoPartIsRefused) {
  auto ledger = Open();
  const Dataset dataset = MakeCensus(*ledger);
  const Account of_ana = Must(ledger->CreateAccount({.request_id = "open ana",
                                                     .dataset_id = dataset.id,
                                                     .account = {.scope_type = ScopeType::kAnalyst,
                                                                 .scope_key = "ana",
                                                                 .rule = "rule of ana",
                                                                 .rule_name = "ZCDP",
                                                                 .limits = {{"rho", 5}}},
                                                     .actor = TestPrincipal("olga")}));
  ChargeRequest request = RequestOf(dataset, "r1", of_ana.id, 1);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->Begin(request).status());
  request.postings.push_back({dataset.parts[0].account_id, "rho", 1});
  EXPECT_TRUE(ledger->Begin(request).ok());
  // It leaves out the analyst's account.
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger->Begin(On(dataset, {"early"}, "r2", 1)).status());
}

TEST_P(PartConformance, AnAddedPartHasAFreshLimitAndLeavesTheOthersAlone) {
  auto ledger = Open();
  const Dataset dataset = MakeCensus(*ledger);
  Must(ledger->Begin(On(dataset, {"early", "late"}, "r1", 4)));
  const Dataset grown = Must(ledger->AddPart(Next(dataset, "newest", {4, 7})));
  EXPECT_EQ(grown.version, 2) << "a part that is not sealed is no version";
  ASSERT_EQ(grown.parts.size(), 3U);
  EXPECT_EQ(grown.parts[2].number, 3);
  EXPECT_THAT(SpentOf(*ledger, grown), ElementsAre("early 4/10", "late 4/4", "newest 0/6"));
  const Dataset sealed =
      Must(ledger->SealPart(dataset.id, "newest", "content of newest", TestPrincipal("olga")));
  EXPECT_EQ(sealed.version, 3);
  Must(ledger->Begin(On(sealed, {"newest"}, "r2", 6)));
  EXPECT_THAT(SpentOf(*ledger, grown), ElementsAre("early 4/10", "late 4/4", "newest 6/6"));

  EXPECT_TRUE(ledger->Begin(On(dataset, {"early"}, "r3", 1)).ok()) << "an older version can still be asked";
  ChargeRequest future = On(dataset, {"early"}, "r4", 1);
  future.dataset_version = 4;
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger->Begin(future).status());
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
}

TEST_P(PartConformance, OneRequestIdAddsOnePartAndNoBinLiesInTwo) {
  auto ledger = Open();
  const Dataset dataset = MakeCensus(*ledger);
  Must(ledger->AddPart(Next(dataset, "newest", {4})));
  EXPECT_EQ(Must(ledger->AddPart(Next(dataset, "newest", {4}))).parts.size(), 3U);
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger->AddPart(Next(dataset, "newest", {5})).status());
  NewPart same_name = Next(dataset, "newest", {5});
  same_name.request_id = "another";
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger->AddPart(same_name).status());
  const absl::Status overlapping = ledger->AddPart(Next(dataset, "overlapping", {1, 9})).status();
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, overlapping);
  EXPECT_THAT(std::string(overlapping.message()), HasSubstr("early"));
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->AddPart(Next(dataset, "none", {})).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger->AddPart(Next(dataset, "twice", {5, 5})).status());
  EXPECT_FALSE(TryInStore(absl::StrCat("INSERT INTO part_bins (dataset_id, bin, part_number) VALUES ('",
                                       dataset.id, "', 1, 2)"))
                   .ok())
      << "the store itself refuses a bin in two parts";
  EXPECT_EQ(Must(ledger->GetDataset("census")).parts.size(), 3U);
}

TEST_P(PartConformance, APartitionIsCheckedWhenItIsMade) {
  auto ledger = Open();
  const auto refused = [&](const std::function<void(DatasetSpec&)>& spoil) {
    DatasetSpec spec = Partitioned("census", {PartOf("early", {0, 1}, 10), PartOf("late", {3}, 4)});
    spoil(spec);
    const absl::Status status = ledger->CreateDataset(spec).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument) << status;
    return FieldViolationOf(status).value_or(FieldViolation()).field;
  };
  EXPECT_EQ(refused([](DatasetSpec& spec) { spec.parts.clear(); }), "parts");
  EXPECT_EQ(refused([](DatasetSpec& spec) { spec.partition_attribute.clear(); }), "parts");
  EXPECT_EQ(refused([](DatasetSpec& spec) { spec.parts[1].bins = {1}; }), "parts[1].bins");
  EXPECT_EQ(refused([](DatasetSpec& spec) { spec.is_public = true; }), "partition_attribute");
  EXPECT_EQ(refused([](DatasetSpec& spec) { spec.accounts = SpecOf("x", 1).accounts; }), "accounts");

  const Dataset whole = MakeDataset(*ledger, "whole", 10);
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger->AddPart(Next(whole, "p", {1})).status());
  const Dataset census = MakeCensus(*ledger);
  DatasetSpec successor = SpecOf("census-2", 0);
  successor.accounts.clear();
  successor.successor_of = census.id;
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger->CreateDataset(successor).status());
  EXPECT_TRUE(ledger->ArchiveDataset(census.id, TestPrincipal("olga")).ok());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger->AddPart(Next(census, "p", {5})).status());
}

TEST_P(PartConformance, PartsChangedBehindTheLedgersBackAreFound) {
  auto ledger = Open();
  const Dataset dataset = MakeCensus(*ledger);
  ASSERT_TRUE(Must(ledger->Verify(dataset.id)).ok);
  Tamper("UPDATE part_bins SET part_number = 2 WHERE bin = 1");
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, Contains(HasSubstr("part 1")));
  Tamper("UPDATE part_bins SET part_number = 1 WHERE bin = 1");
  ASSERT_TRUE(Must(ledger->Verify(dataset.id)).ok);
  Tamper("UPDATE dataset_parts SET sealed_version = 9 WHERE number = 2");
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, Contains(HasSubstr("part 2")));
  Tamper("DELETE FROM part_bins WHERE part_number = 2; DELETE FROM dataset_parts WHERE number = 2");
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, Contains(HasSubstr("another number of parts")));
}

// A process killed at any step of a charge on two parts: afterwards both accounts have it, or none.
TEST_P(PartConformance, ACrashAtAnyStepPostsToAllPartsOrToNone) {
  Dataset dataset;
  {
    auto ledger = Open();
    dataset = Must(ledger->CreateDataset(
        Partitioned("census", {PartOf("early", {0}, 1'000'000), PartOf("late", {3}, 1'000'000)})));
    Must(ledger->SealPart(dataset.id, "early", "content of early", TestPrincipal("olga")));
    dataset = Must(ledger->SealPart(dataset.id, "late", "content of late", TestPrincipal("olga")));
  }
  int64_t charged = 0;
  int steps = 0;
  for (bool was_killed = true; was_killed; ++steps) {
    const ChargeRequest request = On(dataset, {"early", "late"}, absl::StrCat("run ", steps), 1);
    const uint64_t seed = NextSeed();
    const pid_t child = fork();
    if (child == 0) {
      auto store = std::make_unique<FaultyDatabase>(OpenStore());
      FaultyDatabase& faulty = *store;
      const auto ledger = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(seed)));
      faulty.Arm(Fault::kKill, steps);
      _exit(ledger->Begin(request).ok() ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
    ASSERT_TRUE(was_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
    const auto ledger = Open();
    const std::vector<Account> accounts = Must(ledger->ListAccounts(dataset.id));
    EXPECT_EQ(accounts[0].counters[0].spent, accounts[1].counters[0].spent) << "killed at step " << steps;
    EXPECT_TRUE(Must(ledger->Begin(request)).release == std::nullopt);
    ++charged;
    const std::string all = absl::StrCat(charged, "/1000000");
    EXPECT_THAT(SpentOf(*ledger, dataset), ElementsAre("early " + all, "late " + all))
        << "killed at step " << steps;
    EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, IsEmpty());
  }
  EXPECT_GT(steps, 5);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, PartConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
