#include "ledger/sql/new_charge.h"

#include <gtest/gtest.h>

#include "base/testing/names.h"
#include "ledger/sql/write_set.h"

namespace curator::ledger::sql {
namespace {

// A store that takes down the rows that it is given last.
class TakesDown final : public Transaction {
 public:
  absl::StatusOr<std::vector<Row>> Execute(std::string_view, const Parameters&) override {
    return absl::UnimplementedError("a guess asks nothing");
  }
  absl::StatusOr<std::vector<std::vector<Row>>> ExecuteEach(std::string_view,
                                                            const std::vector<Parameters>&) override {
    return absl::UnimplementedError("a guess asks nothing");
  }
  absl::Status InsertRows(std::string_view, const std::vector<Column>&,
                          const std::vector<Parameters>&) override {
    return absl::UnimplementedError("a guess writes in its last steps");
  }
  absl::Status ExecuteLast(const std::vector<Step>& steps) override {
    for (const Step& step : steps) {
      if (const auto* insertion = std::get_if<Insertion>(&step)) {
        inserted_.insert(inserted_.end(), insertion->rows.begin(), insertion->rows.end());
      }
    }
    return absl::OkStatus();
  }
  absl::Status ExecuteScript(const std::string&) override { return absl::UnimplementedError("no script"); }

  const std::vector<Parameters>& inserted() const { return inserted_; }

 private:
  std::vector<Parameters> inserted_;
};

// The body of a transaction may run again.
TEST(AGuess, WritesTheSameWhenItRunsAgain) {
  CachedHeads cached;
  cached.datasets["d"] = {.id = "d",
                          .name = "census",
                          .lineage_id = "d",
                          .state = DatasetState::kSealed,
                          .version = 1,
                          .head = {1, std::string(32, 'h')}};
  cached.counters[{1, "rho"}] = {.limit = 10, .lineage_id = "d"};
  cached.now_us = 5;
  AnchorState anchored;
  anchored.heads["d"] = cached.datasets["d"].head;
  const StateView view(anchored);
  const Dialect dialect;

  const ChargeRequest request = {.dataset_id = "d",
                                 .dataset_version = 1,
                                 .principal = TestPrincipal("ana"),
                                 .request_id = "r",
                                 .postings = {{1, "rho", 3}}};
  const ChargeIdentity identity{.id = "c", .token = "t"};
  NewCharge charge(request, identity);

  std::vector<Parameters> inserted;
  for (int run = 0; run < 2; ++run) {
    TakesDown transaction;
    WriteSet change(transaction, dialect, view, 1);
    ASSERT_TRUE(change.StartFromCache(cached).ok());
    const absl::Status decided = charge.DecideOptimistically(change);
    ASSERT_TRUE(decided.ok()) << decided;
    ASSERT_TRUE(change.Flush().ok());
    if (run == 0) inserted = transaction.inserted();
    EXPECT_EQ(inserted.size(), 3U) << "a charge, that it is open, and its entry";
    EXPECT_EQ(transaction.inserted(), inserted) << "run " << run;
    EXPECT_EQ((change.reached().spent.at({1, "rho"})), 3);
  }
  const Attempt attempt = std::move(charge).TakeAttempt();
  EXPECT_TRUE(attempt.newly_charged);
  EXPECT_EQ(attempt.charge.id, "c");
  EXPECT_EQ(attempt.token, "t");
  EXPECT_EQ(attempt.entry_seq, 2);
  ASSERT_EQ(attempt.moved.size(), 1U);
  EXPECT_EQ(attempt.moved.front().balance, (CounterBalance{.counter = "rho", .limit = 10, .spent = 3}));
}

}  // namespace
}  // namespace curator::ledger::sql
