// A database whose clock is wrong, or jumps: entries keep their order, and no reservation is lost by it.
#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {
namespace {

using ::testing::ElementsAre;

constexpr int64_t kHourUs = int64_t{3600} * 1'000'000;

// A database whose clock is ahead of the real one's. Belongs to one thread.
class ShiftedClock final : public sql::Database {
 public:
  explicit ShiftedClock(std::unique_ptr<sql::Database> real) : real_(std::move(real)) { Set(0); }

  void Set(int64_t ahead_us) {
    now_us_ = absl::StrCat("(", std::string(real_->dialect().now_us), " + (", ahead_us, "))");
    dialect_ = real_->dialect();
    dialect_.now_us = now_us_;
  }
  const sql::Dialect& dialect() const override { return dialect_; }
  sql::Outcome Write(const sql::Body& body) override { return real_->Write(body); }
  sql::Outcome Read(const sql::Body& body) override { return real_->Read(body); }

 private:
  const std::unique_ptr<sql::Database> real_;
  std::string now_us_;
  sql::Dialect dialect_;
};

class ClockConformance : public LedgerConformance {
 protected:
  void SetUp() override {
    LedgerConformance::SetUp();
    dataset_ = MakeDataset(*Open(), "census", 100);
    auto store = std::make_unique<ShiftedClock>(OpenStore());
    clock_ = store.get();
    ledger_ = Must(sql::SqlLedger::Open(std::move(store), anchor_dir(), SeededEntropy(NextSeed()),
                                        {.report = [this](std::string_view event, std::string_view) {
                                          if (event == "database_clock_jumped") ++jumps_;
                                        }}));
    account_ = FirstAccount(*ledger_, dataset_);
  }
  void TearDown() override { EXPECT_THAT(Must(ledger_->Verify(dataset_.id)).findings, ElementsAre()); }

  void Charge(const std::string& request_id) {
    Must(ledger_->Begin(RequestOf(dataset_, request_id, account_, 1)));
  }
  ledger::Charge Reserve(const std::string& request_id, int64_t lifetime_us) {
    return Must(ledger_->Reserve({RequestOf(dataset_, request_id, account_, 1)}, lifetime_us, nullptr)).at(0);
  }

  Dataset dataset_;
  int64_t account_ = 0;
  ShiftedClock* clock_ = nullptr;
  std::unique_ptr<sql::SqlLedger> ledger_;
  int jumps_ = 0;
};

TEST_P(ClockConformance, NoEntryIsOlderThanTheOneBeforeIt) {
  for (const int64_t ahead_us : {int64_t{0}, 2 * kHourUs, -kHourUs, int64_t{0}}) {
    clock_->Set(ahead_us);
    for (int i = 0; i < 3; ++i) Charge(absl::StrCat(ahead_us, " ", NextSeed()));
    // Without what this server remembers.
    Must(Must(sql::SqlLedger::Open(OpenStore(), anchor_dir(), SeededEntropy(NextSeed())))
             ->Begin(RequestOf(dataset_, absl::StrCat("other ", NextSeed()), account_, 1)));
  }
  const std::vector<Entry> entries = Must(ledger_->ListEntries(dataset_.id, {}));
  ASSERT_EQ(entries.size(), 18U);
  for (size_t i = 1; i < entries.size(); ++i) {
    EXPECT_GE(entries[i].created_at_us, entries[i - 1].created_at_us) << "entry " << entries[i].seq;
  }
}

TEST_P(ClockConformance, AJumpOfTheClockExpiresNoReservationUntilItIsConfirmed) {
  const ledger::Charge reserved = Reserve("r1", kHourUs);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 0);
  clock_->Set(3 * kHourUs);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 0);
  EXPECT_EQ(jumps_, 1);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 0) << "too soon to confirm it";
  EXPECT_EQ(Must(ledger_->GetCharge(reserved.id)).state, ChargeState::kReserved);
  EXPECT_EQ(jumps_, 1);
  clock_->Set(0);
  EXPECT_EQ(Must(ledger_->CancelReserved(reserved.id, "not needed", TestPrincipal("ana"))).state,
            ChargeState::kCancelled);
}

// The clock that a server finds at its start is all it knows.
TEST_P(ClockConformance, WhatIsOverdueByTheFirstReadingExpires) {
  const ledger::Charge reserved = Reserve("r1", kHourUs);
  clock_->Set(3 * kHourUs);
  EXPECT_EQ(Must(ledger_->ExpireReservations()), 1);
  EXPECT_EQ(jumps_, 0);
}

INSTANTIATE_TEST_SUITE_P(EveryBackend, ClockConformance, ::testing::ValuesIn(LedgerBackendNames()),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace curator::ledger
