#include <atomic>
#include <mutex>
#include <set>
#include <string>
#include <thread>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

constexpr int kThreads = 32;

class ConcurrencyConformance : public LedgerConformance {};

void InParallel(const std::function<void(int thread)>& work) {
  std::vector<std::thread> threads;
  for (int i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
  for (std::thread& thread : threads) thread.join();
}

TEST_P(ConcurrencyConformance, ThirtyTwoClientsOfTwoServersAreAdmittedExactlyAsOftenAsFits) {
  auto one_server = Open();
  auto another = Open();
  constexpr int kFit = 100;
  constexpr int kCost = 3;
  const Dataset dataset = MakeDataset(*one_server, "census", kFit * kCost + kCost - 1);
  const int64_t account = FirstAccount(*one_server, dataset);
  std::atomic<int> admitted = 0;
  std::atomic<int> refused = 0;
  InParallel([&](int thread) {
    Ledger& ledger = thread % 2 == 0 ? *one_server : *another;
    for (int i = 0; i < 6; ++i) {
      const auto begun = ledger.Begin(RequestOf(dataset, absl::StrCat(thread, "/", i), account, kCost));
      if (begun.ok()) {
        ++admitted;
      } else if (absl::IsResourceExhausted(begun.status())) {
        ++refused;
      } else {
        ADD_FAILURE() << begun.status();
      }
    }
  });
  EXPECT_EQ(admitted, kFit);
  EXPECT_EQ(refused, kThreads * 6 - kFit);
  EXPECT_EQ(BalanceOf(*one_server, dataset).spent, kFit * kCost);
  EXPECT_THAT(Must(one_server->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(ConcurrencyConformance, ManyClientsWithOneRequestIdAreChargedOnce) {
  auto ledger = Open();
  const Dataset dataset = MakeDataset(*ledger, "census", 100);
  const int64_t account = FirstAccount(*ledger, dataset);
  std::atomic<int> newly_charged = 0;
  std::mutex mutex;
  std::set<std::string> releases;  // that were answered
  InParallel([&](int) {
    const auto attempt = ledger->Begin(RequestOf(dataset, "the same", account, 7));
    ASSERT_TRUE(attempt.ok()) << attempt.status();
    if (attempt->newly_charged) ++newly_charged;
    const absl::StatusOr<Release> release =
        attempt->release ? *attempt->release : ledger->Store(*attempt, "answer");
    if (!release.ok()) {
      EXPECT_STATUS_IS(absl::StatusCode::kAborted, release.status());
      return;
    }
    const std::scoped_lock lock(mutex);
    releases.insert(release->id);
  });
  EXPECT_EQ(newly_charged, 1);
  EXPECT_EQ(releases.size(), 1U) << "what one attempt stored is the answer of all";
  EXPECT_EQ(BalanceOf(*ledger, dataset).spent, 7);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), 1);
  EXPECT_THAT(Must(ledger->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(ConcurrencyConformance, DatasetsOfOneLineageDoNotLockEachOtherOut) {
  auto ledger = Open();
  const Dataset first = MakeDataset(*ledger, "census", 1000);
  DatasetSpec spec = SpecOf("census-2", 0);
  spec.accounts.clear();
  spec.successor_of = first.id;
  const Dataset created = Must(ledger->CreateDataset(spec));
  const Dataset second = Must(ledger->SealDataset(created.id, "newer", TestPrincipal("olga")));
  const int64_t account = FirstAccount(*ledger, first);
  InParallel([&](int thread) {
    const Dataset& dataset = thread % 2 == 0 ? first : second;
    for (int i = 0; i < 4; ++i) {
      const auto begun = ledger->Begin(RequestOf(dataset, absl::StrCat(thread, "/", i), account, 1));
      ASSERT_TRUE(begun.ok()) << begun.status();
      ASSERT_TRUE(ledger->Store(*begun, "answer").ok());
    }
  });
  EXPECT_EQ(BalanceOf(*ledger, first).spent, kThreads * 4);
  EXPECT_THAT(Must(ledger->Verify(first.id)).findings, ElementsAre());
}

TEST_P(ConcurrencyConformance, AnotherServerTakesACrashedServersChargeOver) {
  auto crashed = Open();
  const Dataset dataset = MakeDataset(*crashed, "census", 10);
  const ChargeRequest request = RequestOf(dataset, "r1", FirstAccount(*crashed, dataset), 4);
  const Attempt before = Must(crashed->Begin(request));
  auto other = Open();
  const Attempt after = Must(other->Begin(request));
  EXPECT_EQ(after.sealed_key, before.sealed_key);
  EXPECT_EQ(Must(other->Store(after, "answer")).payload, "answer");
  // The stopped process resumes.
  EXPECT_EQ(Must(crashed->Store(before, "a late answer")).payload, "answer");
  EXPECT_EQ(Must(crashed->Begin(request)).release->payload, "answer");
  EXPECT_EQ(BalanceOf(*other, dataset).spent, 4);
}

// A server that has just charged knows the head and the balance by heart.
TEST_P(ConcurrencyConformance, WhatAServerRemembersIsNotBelievedOnceAnotherHasCharged) {
  auto one = Open();
  auto other = Open();
  const Dataset dataset = MakeDataset(*one, "census", 10);
  const int64_t account = FirstAccount(*one, dataset);
  Must(one->Begin(RequestOf(dataset, "one 1", account, 2)));
  Must(one->Begin(RequestOf(dataset, "one 2", account, 2)));
  Must(other->Begin(RequestOf(dataset, "other", account, 4)));
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   one->Begin(RequestOf(dataset, "too much", account, 3)).status());
  EXPECT_TRUE(Must(one->Begin(RequestOf(dataset, "fits", account, 2))).newly_charged);
  EXPECT_FALSE(Must(one->Begin(RequestOf(dataset, "other", account, 4))).newly_charged);
  EXPECT_EQ(BalanceOf(*one, dataset).spent, 10);
  EXPECT_THAT(Must(other->Verify(dataset.id)).findings, ElementsAre());
}

// Nor where its anchor says nothing of the other: then the store's word alone decides.
TEST_P(ConcurrencyConformance, WhatAServerRemembersIsComparedByTheStoreItself) {
  auto one = Open();
  const Dataset dataset = MakeDataset(*one, "census", 10);
  const int64_t account = FirstAccount(*one, dataset);
  auto other = Must(sql::SqlLedger::Open(OpenStore(), absl::StrCat(anchor_dir(), "-of-the-other"),
                                         SeededEntropy(NextSeed())));
  for (int i = 0; i < 3; ++i) {
    EXPECT_TRUE(Must(one->Begin(RequestOf(dataset, absl::StrCat("one ", i), account, 1))).newly_charged);
    EXPECT_TRUE(Must(one->Begin(RequestOf(dataset, absl::StrCat("again ", i), account, 1))).newly_charged);
    EXPECT_TRUE(
        Must(other->Begin(RequestOf(dataset, absl::StrCat("other ", i), account, i % 2))).newly_charged);
  }
  EXPECT_EQ(BalanceOf(*one, dataset).spent, 7);
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   one->Begin(RequestOf(dataset, "too much", account, 4)).status());
  EXPECT_TRUE(Must(one->Begin(RequestOf(dataset, "fits", account, 3))).newly_charged);
  EXPECT_THAT(Must(other->Verify(dataset.id)).findings, ElementsAre());
}

TEST_P(ConcurrencyConformance, WhatAServerRemembersIsNotBelievedOnceAnotherHasArchivedTheDataset) {
  auto one = Open();
  auto other = Open();
  const Dataset dataset = MakeDataset(*one, "census", 10);
  const int64_t account = FirstAccount(*one, dataset);
  Must(one->Begin(RequestOf(dataset, "before", account, 2)));
  ASSERT_TRUE(other->ArchiveDataset(dataset.id, TestPrincipal("olga")).ok());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   one->Begin(RequestOf(dataset, "after", account, 2)).status());
  EXPECT_EQ(BalanceOf(*one, dataset).spent, 2);
}

TEST_P(ConcurrencyConformance, WhatAServerRemembersIsNotBelievedOnceAnotherHasOpenedAnAccount) {
  auto one = Open();
  auto other = Open();
  const Dataset dataset = MakeDataset(*one, "census", 10);
  const int64_t account = FirstAccount(*one, dataset);
  const ChargeRequest request = RequestOf(dataset, "after", account, 2);
  Must(one->Begin(RequestOf(dataset, "before", account, 2)));
  Must(other->CreateAccount({.request_id = "open",
                             .dataset_id = dataset.id,
                             .account = {.scope_type = ScopeType::kAnalyst,
                                         .scope_key = request.principal.name(),
                                         .rule = "rule bytes",
                                         .rule_name = "ZCDP",
                                         .limits = {{"rho", 1}}},
                             .actor = TestPrincipal("olga")}));
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, one->Begin(request).status());
  EXPECT_EQ(BalanceOf(*one, dataset).spent, 2);
}

TEST_P(ConcurrencyConformance, AMixtureOfChargesReleasesAndTwoServersAgreesInTheEnd) {
  auto one = Open();
  auto other = Open();
  const Dataset dataset = MakeDataset(*one, "census", 1000);
  const int64_t account = FirstAccount(*one, dataset);
  InParallel([&](int thread) {
    Ledger& ledger = thread % 8 == 0 ? *other : *one;
    for (int i = 0; i < 6; ++i) {
      const auto begun = ledger.Begin(RequestOf(dataset, absl::StrCat(thread, "/", i), account, 1));
      ASSERT_TRUE(begun.ok()) << begun.status();
      if (i % 3 != 0) continue;
      ASSERT_TRUE(ledger.Store(*begun, "answer").ok());
    }
  });
  EXPECT_EQ(BalanceOf(*one, dataset).spent, kThreads * 6);
  EXPECT_THAT(Must(one->Verify(dataset.id)).findings, ElementsAre());
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ConcurrencyConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
