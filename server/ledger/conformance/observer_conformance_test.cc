// What an observer of the ledger is told, and what is read for measurements.
#include <filesystem>
#include <mutex>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

constexpr int64_t kHourOfUs = int64_t{3600} * 1'000'000;

class Seen final : public Observer {
 public:
  using Charge = std::tuple<std::string, std::string, ChargeOutcome>;  // dataset id, kind

  void OnCommit(std::chrono::nanoseconds took, size_t charges, const absl::Status& outcome) override {
    const std::scoped_lock lock(mutex_);
    EXPECT_GT(took.count(), 0);
    charges_committed_ += charges;
    ++(outcome.ok() ? commits_ : failures_);
  }
  void OnAnchored(std::chrono::nanoseconds, const absl::Status& outcome) override {
    const std::scoped_lock lock(mutex_);
    ++(outcome.ok() ? anchored_ : failures_);
  }
  void OnCharge(std::string_view dataset_id, std::string_view kind, ChargeOutcome outcome) override {
    const std::scoped_lock lock(mutex_);
    charges_.emplace_back(dataset_id, kind, outcome);
  }

  // Since the last call.
  std::vector<Charge> TakeCharges() {
    const std::scoped_lock lock(mutex_);
    return std::exchange(charges_, {});
  }
  int commits() {
    const std::scoped_lock lock(mutex_);
    return commits_;
  }
  size_t charges_committed() {
    const std::scoped_lock lock(mutex_);
    return charges_committed_;
  }
  int anchored() {
    const std::scoped_lock lock(mutex_);
    return anchored_;
  }
  int failures() {
    const std::scoped_lock lock(mutex_);
    return failures_;
  }

 private:
  std::mutex mutex_;
  int commits_ = 0;
  size_t charges_committed_ = 0;
  int anchored_ = 0;
  int failures_ = 0;
  std::vector<Charge> charges_;
};

class ObserverConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    ledger_ = Must(OpenLedger({.url = url(),
                               .anchor_dir = anchor_dir(),
                               .entropy = SeededEntropy(NextSeed()),
                               .observer = &seen_}));
    dataset_ = MakeDataset(*ledger_, "census", 10);
    account_ = FirstAccount(*ledger_, dataset_);
  }

  ChargeRequest Request(const std::string& request_id, int64_t cost) const {
    return RequestOf(dataset_, request_id, account_, cost);
  }
  ChargeRequest ToHold(const std::string& request_id, int64_t cost) const {
    ChargeRequest request = Request(request_id, cost);
    request.kind = "reservation";
    request.sealed_key.clear();
    request.draw_identity.clear();
    return request;
  }
  auto Are(const std::string& kind, ChargeOutcome outcome) const {
    return ElementsAre(Seen::Charge(dataset_.id, kind, outcome));
  }

  Seen seen_;  // outlives the ledger
  std::unique_ptr<Ledger> ledger_;
  Dataset dataset_;
  int64_t account_ = 0;
};

TEST_P(ObserverConformance, EachWayAChargeEndsIsSeenOnce) {
  const std::string kind = Request("r", 1).kind;
  const Attempt attempt = Must(ledger_->Begin(Request("r1", 2)));
  EXPECT_THAT(seen_.TakeCharges(), Are(kind, ChargeOutcome::kAdmission));
  Must(ledger_->Begin(Request("r1", 2)));
  EXPECT_THAT(seen_.TakeCharges(), Are(kind, ChargeOutcome::kReplay));
  EXPECT_STATUS_IS(absl::StatusCode::kResourceExhausted, ledger_->Begin(Request("r2", 9)).status());
  EXPECT_THAT(seen_.TakeCharges(), Are(kind, ChargeOutcome::kRefusal));
  const Attempt last = Must(ledger_->Begin(Request("r1", 2)));
  seen_.TakeCharges();
  ASSERT_TRUE(ledger_->Forfeit(last, "an error").ok());
  EXPECT_THAT(seen_.TakeCharges(), Are(kind, ChargeOutcome::kForfeit));
  EXPECT_STATUS_IS(absl::StatusCode::kAlreadyExists, ledger_->Begin(Request("r1", 3)).status());
  EXPECT_THAT(seen_.TakeCharges(), IsEmpty()) << "a request that is wrong is none of these";
}

TEST_P(ObserverConformance, ReservationsAreSeenToBeHeldAndToExpire) {
  const Charge held = Must(ledger_->Reserve({ToHold("r1", 2)}, kHourOfUs)).at(0);
  EXPECT_THAT(seen_.TakeCharges(), Are("reservation", ChargeOutcome::kAdmission));
  Must(ledger_->Reserve({ToHold("r1", 2)}, kHourOfUs));
  EXPECT_THAT(seen_.TakeCharges(), Are("reservation", ChargeOutcome::kReplay));
  EXPECT_FALSE(ledger_->Reserve({ToHold("r2", 9)}, kHourOfUs).ok());
  EXPECT_THAT(seen_.TakeCharges(), Are("reservation", ChargeOutcome::kRefusal));
  ASSERT_TRUE(
      TryInStore(absl::StrCat("UPDATE open_charges SET deadline_us = 1 WHERE charge_id = '", held.id, "'"))
          .ok());
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 1);
  EXPECT_THAT(seen_.TakeCharges(), Are("reservation", ChargeOutcome::kExpiry));
}

TEST_P(ObserverConformance, EachCommitIsSeenAndSoIsItsAnchor) {
  Must(ledger_->Begin(Request("r0", 1)));  // the first one of a principal also gives it a pseudonym
  const int commits = seen_.commits();
  const size_t charges = seen_.charges_committed();
  const int anchored = seen_.anchored();
  Must(ledger_->Begin(Request("r1", 1)));
  EXPECT_EQ(seen_.commits(), commits + 1);
  EXPECT_EQ(seen_.anchored(), anchored + 1);
  EXPECT_EQ(seen_.failures(), 0);
  ASSERT_TRUE(ledger_->RecordOwnerAction(dataset_.id, "looked", TestPrincipal("olga")).ok());
  EXPECT_EQ(seen_.commits(), commits + 2) << "a change that is not of a charge";
  EXPECT_EQ(seen_.charges_committed(), charges + 1);
  std::filesystem::rename(anchor_dir(), anchor_dir() + "-away");
  EXPECT_STATUS_IS(absl::StatusCode::kUnavailable, ledger_->Begin(Request("r2", 1)).status());
  EXPECT_GE(seen_.failures(), 1);
  std::filesystem::rename(anchor_dir() + "-away", anchor_dir());
}

TEST_P(ObserverConformance, TheStateOfAHistorySaysWhatIsAnchoredAndWhenItWasVerified) {
  EXPECT_EQ(ledger_->StateOfHistory(dataset_.id).verified_at_us, 0) << "it is new";
  Must(ledger_->Begin(Request("r1", 1)));
  EXPECT_EQ(ledger_->StateOfHistory(dataset_.id).unanchored_entries, 0);
  const Verification made = Must(ledger_->Verify(dataset_.id));
  EXPECT_EQ(ledger_->StateOfHistory(dataset_.id).verified_at_us, made.made_at_us);
  EXPECT_EQ(ledger_->StateOfHistory("no dataset").verified_at_us, 0);
  EXPECT_EQ(ledger_->ChangesInProgress(), 0);
}

TEST_P(ObserverConformance, BalancesAreThoseOfDatasetsAndOfAnalystsOnlyWhereTheyAreAskedFor) {
  Must(ledger_->CreateAccount({.request_id = "account",
                               .dataset_id = dataset_.id,
                               .account = {.scope_type = ScopeType::kAnalyst,
                                           .scope_key = "ana",
                                           .rule = "rule",
                                           .rule_name = "ZCDP",
                                           .limits = {{"rho", 4}}},
                               .actor = TestPrincipal("olga")}));
  const Balances balances = Must(ledger_->ReadBalances({}));
  ASSERT_THAT(balances.datasets, SizeIs(1));
  EXPECT_EQ(balances.datasets[0].name, "census");
  EXPECT_EQ(balances.datasets[0].id, dataset_.id);
  ASSERT_THAT(balances.accounts, SizeIs(1));
  EXPECT_EQ(balances.accounts[0].dataset, "census");
  EXPECT_EQ(balances.accounts[0].account.scope_type, ScopeType::kDataset);
  EXPECT_THAT(balances.accounts[0].account.counters, ElementsAre(CounterBalance{"rho", 10, 0, 0}));
  EXPECT_FALSE(balances.is_cut);
  const Balances with_analysts = Must(ledger_->ReadBalances({.with_analysts = true}));
  ASSERT_THAT(with_analysts.accounts, SizeIs(2));
  EXPECT_EQ(with_analysts.accounts[0].account.scope_key, "ana");
}

TEST_P(ObserverConformance, BalancesAreBoundedAndWithoutArchivedDatasets) {
  for (const char* const name : {"a", "b"}) MakeDataset(*ledger_, name, 5);
  const Balances cut = Must(ledger_->ReadBalances({.most_datasets = 2}));
  EXPECT_THAT(cut.datasets, ElementsAre(::testing::Field(&MeasuredDataset::name, "a"),
                                        ::testing::Field(&MeasuredDataset::name, "b")));
  EXPECT_THAT(cut.accounts, SizeIs(2));
  EXPECT_TRUE(cut.is_cut);
  EXPECT_THAT(Must(ledger_->ReadBalances({.most_accounts = 1})).accounts, SizeIs(1));
  EXPECT_TRUE(Must(ledger_->ReadBalances({.most_accounts = 1})).is_cut);
  ASSERT_TRUE(ledger_->ArchiveDataset(dataset_.id, TestPrincipal("olga")).ok());
  EXPECT_THAT(Must(ledger_->ReadBalances({})).datasets, SizeIs(2));
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->ReadBalances({.most_datasets = 0}).status());
  EXPECT_STATUS_IS(absl::StatusCode::kInvalidArgument, ledger_->ReadBalances({.most_accounts = 0}).status());
}

TEST_P(ObserverConformance, DamagedDatasetsAreListedAlsoWhenTheyAreArchivedOrBeyondTheBound) {
  for (const char* const name : {"a", "b", "z"}) MakeDataset(*ledger_, name, 5);
  const Dataset z = Must(ledger_->GetDataset("z", "olga"));
  ASSERT_TRUE(ledger_->ArchiveDataset(dataset_.id, TestPrincipal("olga")).ok());
  const auto names = [this] {
    std::vector<std::string> listed;
    for (const MeasuredDataset& each : Must(ledger_->ReadBalances({.most_datasets = 2})).datasets)
      listed.push_back(each.name);
    return listed;
  };
  EXPECT_THAT(names(), ElementsAre("a", "b"));
  for (const std::string& id : {dataset_.id, z.id}) {
    Tamper(absl::StrCat("UPDATE entries SET actor = 'mallory' WHERE seq = 1 AND dataset_id = '", id, "'"));
    EXPECT_FALSE(Must(ledger_->Verify(id)).ok);
    EXPECT_FALSE(ledger_->DatasetHealth(id).ok());
  }
  EXPECT_THAT(names(), ElementsAre("a", "b", "census", "z"));
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ObserverConformance, ::testing::ValuesIn(LedgerBackendNames()));

}  // namespace
}  // namespace curator::ledger
