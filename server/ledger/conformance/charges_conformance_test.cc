#include <limits>

#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

class ChargeConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Open();
    dataset_ = MakeDataset(*ledger_, "census", 10);
    account_ = FirstAccount(*ledger_, dataset_);
  }
  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    return RequestOf(dataset_, request_id, account_, cost);
  }
  int64_t Spent() { return BalanceOf(*ledger_, dataset_).spent; }

  std::unique_ptr<Ledger> ledger_;
  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(ChargeConformance, ChargesOnceAndReplaysTheStoredRelease) {
  const Attempt attempt = Must(ledger_->Begin(Request("r1", 4)));
  EXPECT_TRUE(attempt.newly_charged);
  EXPECT_FALSE(attempt.release.has_value());
  EXPECT_FALSE(attempt.token.empty());
  EXPECT_EQ(attempt.sealed_key, "sealed key of r1");
  EXPECT_EQ(attempt.charge.state, ChargeState::kStarted);
  EXPECT_THAT(attempt.charge.postings, ElementsAre(Posting{account_, "rho", 4}));
  EXPECT_EQ(Spent(), 4);

  const std::string payload("answer\0with any bytes\xff", 22);
  const Release stored = Must(ledger_->Store(attempt, payload));
  EXPECT_EQ(stored.payload, payload);
  EXPECT_EQ(stored.payload_hash, Sha256(payload));
  EXPECT_EQ(stored.payload_size, 22);

  const Attempt replay = Must(ledger_->Begin(Request("r1", 4)));
  ASSERT_TRUE(replay.release.has_value());
  EXPECT_EQ(replay.release->id, stored.id);
  EXPECT_EQ(replay.release->payload, payload);
  EXPECT_TRUE(replay.token.empty());
  EXPECT_FALSE(replay.newly_charged);
  EXPECT_EQ(Spent(), 4);
}

TEST_P(ChargeConformance, AnEarlierRequestIsFoundWithWhatItsAnswerNeeds) {
  EarlierQuery query{.principal = TestPrincipal("ana"),
                     .request_id = "r1",
                     .dataset_id = dataset_.id,
                     .account_ids = {account_},
                     .most_payload_bytes = 6};
  EarlierRequest earlier = Must(ledger_->FindEarlier(query));
  EXPECT_FALSE(earlier.charge.has_value());
  EXPECT_EQ(earlier.revision, Must(ledger_->GetDataset("census")).revision);

  const Attempt attempt = Must(ledger_->Begin(Request("r1", 4)));
  earlier = Must(ledger_->FindEarlier(query));
  ASSERT_TRUE(earlier.charge.has_value());
  EXPECT_EQ(earlier.charge->state, ChargeState::kStarted);
  EXPECT_FALSE(earlier.release.has_value());
  ASSERT_EQ(earlier.balances.size(), 1U);
  EXPECT_EQ(earlier.balances.front().account_id, account_);
  EXPECT_EQ(earlier.balances.front().balance, BalanceOf(*ledger_, dataset_));

  const Release stored = Must(ledger_->Store(attempt, "answer"));
  earlier = Must(ledger_->FindEarlier(query));
  EXPECT_EQ(earlier.charge->state, ChargeState::kCommitted);
  ASSERT_TRUE(earlier.has_payload);
  EXPECT_EQ(earlier.release->id, stored.id);
  EXPECT_EQ(earlier.release->number, stored.number);
  EXPECT_EQ(earlier.release->dataset_id, dataset_.id);
  EXPECT_EQ(earlier.release->payload, "answer");
  EXPECT_EQ(earlier.release->payload_hash, Sha256("answer"));
  EXPECT_EQ(earlier.entry->hash, Must(ledger_->ChargeEntry(attempt.charge.id)).hash);
  EXPECT_EQ(earlier.entry->kind, "CHARGED");

  query.most_payload_bytes = 5;
  earlier = Must(ledger_->FindEarlier(query));
  EXPECT_FALSE(earlier.has_payload);
  EXPECT_EQ(earlier.release->payload_size, 6);
  query.principal = TestPrincipal("ben");
  EXPECT_FALSE(Must(ledger_->FindEarlier(query)).charge.has_value());
}

TEST_P(ChargeConformance, AnotherRequestUnderTheSameIdIsRefused) {
  Must(ledger_->Begin(Request("r1", 4)));
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->Begin(Request("r1", 5)).status());
  EXPECT_EQ(Spent(), 4);
  ChargeRequest others = Request("r1", 5);
  others.principal = TestPrincipal("ben");
  EXPECT_TRUE(Must(ledger_->Begin(others)).newly_charged);
}

TEST_P(ChargeConformance, ARefusedChargeWritesNothingAndNamesTheAccount) {
  Must(ledger_->Begin(Request("r1", 7)));
  const int64_t entries = AskStore("SELECT COUNT(*) FROM entries");
  const absl::Status refused = ledger_->Begin(Request("r2", 4)).status();
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, refused);
  EXPECT_THAT(FullAccountsOf(refused), ElementsAre(FullAccount{"dataset/census", "ZCDP", "rho", 4, 3}));
  EXPECT_EQ(Spent(), 7);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM entries"), entries);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM charges"), 1);
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->FindCharge(TestPrincipal("ana"), "r2").status());
  // A refusal does not stop the account, nor does it use the request id up.
  EXPECT_TRUE(Must(ledger_->Begin(Request("r2", 3))).newly_charged);
  EXPECT_EQ(Spent(), 10);
}

TEST_P(ChargeConformance, AllPostingsAreAdmittedOrNone) {
  DatasetSpec spec = SpecOf("shared", 10);
  spec.accounts.push_back({.scope_type = ScopeType::kAnalyst,
                           .scope_key = "ana",
                           .rule = "",
                           .rule_name = "PURE",
                           .limits = {{"epsilon", 3}, {"delta", 0}}});
  const Dataset created = Must(ledger_->CreateDataset(spec));
  const Dataset shared = Must(ledger_->SealDataset(created.id, "shared content", TestPrincipal("olga")));
  const std::vector<Account> accounts = Must(ledger_->ListAccounts(shared.id));
  ChargeRequest request = RequestOf(shared, "r1", accounts[0].id, 5);
  request.postings.push_back({accounts[1].id, "epsilon", 4});
  request.postings.push_back({accounts[1].id, "delta", 1});
  const absl::Status refused = ledger_->Begin(request).status();
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, refused);
  EXPECT_THAT(FullAccountsOf(refused),
              ElementsAre(FullAccount{"dataset/shared/analyst/ana", "PURE", "epsilon", 4, 3},
                          FullAccount{"dataset/shared/analyst/ana", "PURE", "delta", 1, 0}));
  EXPECT_EQ(BalanceOf(*ledger_, shared).spent, 0);
  request.postings[1].cost = 3;
  request.postings[2].cost = 0;
  Must(ledger_->Begin(request));
  const std::vector<Account> after = Must(ledger_->ListAccounts(shared.id));
  EXPECT_EQ(after[0].counters[0].spent, 5);
  EXPECT_EQ(after[1].counters[0].spent, 3);
}

TEST_P(ChargeConformance, ATakeoverMakesTheOldTokenStaleAndRepeatsTheFirstKey) {
  const Attempt first = Must(ledger_->Begin(Request("r1", 4)));
  ChargeRequest retry = Request("r1", 4);
  retry.sealed_key = "a fresh key that must not be used";
  const Attempt second = Must(ledger_->Begin(retry));
  EXPECT_FALSE(second.newly_charged);
  EXPECT_EQ(second.sealed_key, "sealed key of r1");
  EXPECT_NE(second.token, first.token);
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->Store(first, "late").status());
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->Forfeit(first, "late"));
  EXPECT_EQ(Must(ledger_->Store(second, "answer")).payload, "answer");
  EXPECT_EQ(Must(ledger_->Store(first, "late")).payload, "answer") << "what is stored is the answer";
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->Forfeit(first, "late"));
  EXPECT_EQ(Spent(), 4);
}

TEST_P(ChargeConformance, AForfeitKeepsTheCostErasesTheKeyAndIsNeverRedrawn) {
  const Attempt attempt = Must(ledger_->Begin(Request("r1", 4)));
  ASSERT_EQ(AskStore("SELECT COUNT(*) FROM open_charges WHERE length(sealed_key) > 0"), 1);
  ASSERT_TRUE(ledger_->Forfeit(attempt, "cancelled by its owner").ok());
  ASSERT_TRUE(ledger_->Forfeit(attempt, "cancelled by its owner").ok());
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM open_charges WHERE length(sealed_key) > 0"), 0);
  EXPECT_EQ(Spent(), 4);
  const Charge charge = Must(ledger_->GetCharge(attempt.charge.id));
  EXPECT_EQ(charge.state, ChargeState::kForfeited);
  EXPECT_EQ(charge.reason, "cancelled by its owner");
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Begin(Request("r1", 4)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Store(attempt, "late").status());
}

TEST_P(ChargeConformance, AReleaseIsStoredOnceAndErasesTheKey) {
  const Attempt attempt = Must(ledger_->Begin(Request("r1", 4)));
  const Release stored = Must(ledger_->Store(attempt, "answer"));
  EXPECT_EQ(Must(ledger_->Store(attempt, "answer")).id, stored.id);
  EXPECT_EQ(Must(ledger_->Store(attempt, "another")).payload, "answer");
  EXPECT_STATUS_IS(absl::StatusCode::kAborted, ledger_->Forfeit(attempt, "too late"));
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM open_charges WHERE length(sealed_key) > 0"), 0);
  EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), 1);
  const Charge charge = Must(ledger_->FindCharge(TestPrincipal("ana"), "r1"));
  EXPECT_EQ(charge.state, ChargeState::kCommitted);
  EXPECT_EQ(charge.release_id, stored.id);
}

TEST_P(ChargeConformance, AnEmptyReleaseIsARelease) {
  const Attempt attempt = Must(ledger_->Begin(Request("r1", 4)));
  EXPECT_EQ(Must(ledger_->Store(attempt, "")).payload, "");
  EXPECT_EQ(Must(ledger_->Begin(Request("r1", 4))).release->payload, "");
}

TEST_P(ChargeConformance, ReopeningKeepsEverything) {
  const Attempt stored = Must(ledger_->Begin(Request("stored", 2)));
  const Release release = Must(ledger_->Store(stored, "answer"));
  const Attempt started = Must(ledger_->Begin(Request("started", 3)));
  ledger_.reset();
  ledger_ = Open();
  EXPECT_EQ(Spent(), 5);
  EXPECT_EQ(Must(ledger_->Begin(Request("stored", 2))).release->payload, "answer");
  EXPECT_EQ(Must(ledger_->GetRelease(release.id)).payload, "answer");
  const Attempt resumed = Must(ledger_->Begin(Request("started", 3)));
  EXPECT_EQ(resumed.sealed_key, started.sealed_key);
  EXPECT_EQ(Must(ledger_->Store(resumed, "late answer")).payload, "late answer");
  const Verification verification = Must(ledger_->Verify(dataset_.id));
  EXPECT_TRUE(verification.ok);
  EXPECT_THAT(verification.findings, ElementsAre());
  EXPECT_EQ(verification.entries_checked, 6);
  EXPECT_EQ(verification.anchored_seq, 6);
}

TEST_P(ChargeConformance, CostsThatOverflowCannotSlipThrough) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const Dataset huge = MakeDataset(*ledger_, "huge", kMost);
  const int64_t account = FirstAccount(*ledger_, huge);
  Must(ledger_->Begin(RequestOf(huge, "r1", account, kMost - 1)));
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   ledger_->Begin(RequestOf(huge, "r2", account, kMost)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   ledger_->Begin(RequestOf(huge, "r3", account, 2)).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->Begin(RequestOf(huge, "r4", account, -1)).status());
  EXPECT_STATUS_IS(
      absl::StatusCode::kInvalidArgument,
      ledger_->Begin(RequestOf(huge, "r5", account, std::numeric_limits<int64_t>::min())).status());
  Must(ledger_->Begin(RequestOf(huge, "r6", account, 1)));
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted,
                   ledger_->Begin(RequestOf(huge, "r7", account, 1)).status());
  EXPECT_EQ(BalanceOf(*ledger_, huge).spent, kMost);
  EXPECT_TRUE(Must(ledger_->Verify(huge.id)).ok);
}

TEST_P(ChargeConformance, OnlyASealedDatasetOfTheSameVersionIsCharged) {
  const Dataset unsealed = Must(ledger_->CreateDataset(SpecOf("unsealed", 10)));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition,
                   ledger_->Begin(RequestOf(unsealed, "r1", FirstAccount(*ledger_, unsealed), 1)).status());
  ChargeRequest other_version = Request("r2", 1);
  other_version.dataset_version = 2;
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, ledger_->Begin(other_version).status());
  ChargeRequest nowhere = Request("r3", 1);
  nowhere.dataset_id = "nothing";
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->Begin(nowhere).status());
}

TEST_P(ChargeConformance, AChargePostsToItsOwnAccountsOnly) {
  const Dataset other = MakeDataset(*ledger_, "other", 10);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument,
                   ledger_->Begin(RequestOf(dataset_, "r1", FirstAccount(*ledger_, other), 1)).status());
  ChargeRequest free = Request("r2", 1);
  free.postings.clear();
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->Begin(free).status());
  ChargeRequest twice = Request("r3", 1);
  twice.postings.push_back(twice.postings[0]);
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->Begin(twice).status());
  ChargeRequest no_counter = Request("r4", 1);
  no_counter.postings[0].counter = "epsilon";
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->Begin(no_counter).status());
  EXPECT_EQ(Spent(), 0);
}

TEST_P(ChargeConformance, ListsShowTheNewestFirst) {
  const Attempt first = Must(ledger_->Begin(Request("r1", 1)));
  const Attempt second = Must(ledger_->Begin(Request("r2", 1)));
  Must(ledger_->Begin(Request("r3", 1)));
  Must(ledger_->Store(first, "one"));
  Must(ledger_->Store(second, "second"));
  std::vector<std::string> ids;
  for (const Charge& charge : Must(ledger_->ListOperations(TestPrincipal("ana"))))
    ids.push_back(charge.request_id);
  EXPECT_THAT(ids, ElementsAre("r3", "r2", "r1"));
  EXPECT_TRUE(Must(ledger_->ListOperations(TestPrincipal("ben"))).empty());
  const std::vector<Release> releases = Must(ledger_->ListReleases(dataset_.id)).releases;
  ASSERT_EQ(releases.size(), 2U);
  EXPECT_EQ(releases[0].charge_id, second.charge.id);
  EXPECT_EQ(releases[0].payload, "");
  EXPECT_EQ(releases[0].payload_size, 6);
  EXPECT_EQ(releases[0].principal, "ana");
  EXPECT_EQ(releases[0].label, "all 2-way marginals");
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->GetRelease("nothing").status());
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound, ledger_->GetCharge("nothing").status());
}

TEST_P(ChargeConformance, AReleaseIsSharedOnceWithEachOfSeveral) {
  const Attempt attempt = Must(ledger_->Begin(Request("r1", 1)));
  const Release release = Must(ledger_->Store(attempt, "the answer"));
  EXPECT_TRUE(release.shared_with.empty());
  for (const char* grantee : {"zoe", "ben", "zoe"})
    ASSERT_TRUE(ledger_->ShareRelease(release.id, grantee, {}, TestPrincipal("ana")).ok());
  const Release shared = Must(ledger_->GetRelease(release.id));
  EXPECT_EQ(shared.payload, "the answer");
  EXPECT_THAT(shared.shared_with, ElementsAre("ben", "zoe"));
  const std::vector<Release> listed = Must(ledger_->ListReleases(dataset_.id)).releases;
  ASSERT_EQ(listed.size(), 1U);
  EXPECT_EQ(listed[0].shared_with, shared.shared_with);
  EXPECT_STATUS_IS(absl::StatusCode::kNotFound,
                   ledger_->ShareRelease("nothing", "ben", {}, TestPrincipal("ana")));
  EXPECT_TRUE(Must(ledger_->Verify(dataset_.id)).findings.empty());
}

TEST_P(ChargeConformance, AReleaseIsSharedWithAHundredAtMost) {
  const Release release = Must(ledger_->Store(Must(ledger_->Begin(Request("r1", 1))), "the answer"));
  const auto share = [&](int64_t i) {
    return ledger_->ShareRelease(release.id, absl::StrCat("grantee ", i), {}, TestPrincipal("ana"));
  };
  for (int64_t i = 0; i < kMostShares; ++i) EXPECT_STATUS_IS(absl::StatusCode::kOk, share(i));
  EXPECT_STATUS_IS(absl::StatusCode::kFailedPrecondition, share(kMostShares));
  EXPECT_STATUS_IS(absl::StatusCode::kOk, share(0));
  EXPECT_EQ(static_cast<int64_t>(Must(ledger_->GetRelease(release.id)).shared_with.size()), kMostShares);
  EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, ::testing::IsEmpty());
}

TEST_P(ChargeConformance, AHealthyLedgerSaysSo) {
  const absl::Status health = ledger_->Health();
  EXPECT_TRUE(health.ok()) << health;
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ChargeConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
