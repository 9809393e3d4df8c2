// The fixture of the conformance tests: the executable contract of the ledger, for every backend in
// LedgerBackends(). A new backend adds a line to that list and a place for its databases here, and no test.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/ledger.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/database.h"
#include "tests/testing/scratch_folder.h"

namespace curator::ledger {

// Pseudo-random bytes that are the same in every run and differ between seeds. Thread-safe.
std::function<std::string(size_t)> SeededEntropy(uint64_t seed);

// Runs once for each backend's name.
class LedgerConformance : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override;
  // Replaces the ledger by a new, empty one.
  void RenewLedger();
  // In place of the store, which has the newest schema on PostgreSQL: an empty one, for tests of migrations.
  void StartWithoutSchema();

  // Opens the test's ledger (again). Several may be open at once, like several servers.
  std::unique_ptr<Ledger> Open();
  absl::StatusOr<std::unique_ptr<Ledger>> TryOpen();
  // Opens another database under the same anchor: a restored backup.
  absl::StatusOr<std::unique_ptr<Ledger>> TryOpenCopy(const std::string& url);
  // From now on the ledger is opened also where its anchor is missing.
  void AcceptMissingAnchor() { accepts_missing_anchor_ = true; }
  // A byte-for-byte copy of the database, like a backup. It must not be open.
  std::string CopyDatabase();

  // Runs SQL without the ledger, as an intruder with the database's password would.
  void Tamper(const std::string& script);
  // The only value of the only row of `query`'s result.
  int64_t AskStore(const std::string& query);
  // The test's database without the ledger.
  std::unique_ptr<sql::Database> OpenStore() { return OpenStoreOf(url_); }
  std::unique_ptr<sql::Database> OpenStoreOf(const std::string& url);
  uint64_t NextSeed() { return ++opened_; }
  // Whether the store itself accepts `statement`.
  absl::Status TryInStore(const std::string& statement);

  // A sealed private dataset with one account of the given limit for the counter "rho", owned by olga.
  Dataset MakeDataset(Ledger& ledger, const std::string& name, int64_t limit);
  static DatasetSpec SpecOf(const std::string& name, int64_t limit);
  // A charge of `cost` on the dataset's first account by ana.
  static ChargeRequest RequestOf(const Dataset& dataset, const std::string& request_id, int64_t account_id,
                                 int64_t cost);
  // Gives the dataset these rules, by olga.
  static absl::StatusOr<Dataset> SetRules(Ledger& ledger, const Dataset& dataset, const std::string& rules,
                                          const std::string& request_id);
  static int64_t FirstAccount(Ledger& ledger, const Dataset& dataset);
  static CounterBalance BalanceOf(Ledger& ledger, const Dataset& dataset);

  const std::string& anchor_dir() const { return anchor_dir_; }
  const std::string& url() const { return url_; }

 private:
  const LedgerBackend& backend() const;

  const testing::ScratchFolder scratch_;
  const std::string& folder_ = scratch_.path();
  std::string place_;  // of the ledger's files
  int ledgers_ = 0;
  std::string anchor_dir_;
  std::string url_;
  bool accepts_missing_anchor_ = false;
  uint64_t opened_ = 0;
};

// gtest's EXPECT on a status, with its text.
#define EXPECT_STATUS_IS(expected, expression)                    \
  do {                                                            \
    const absl::Status checked_status = (expression);             \
    EXPECT_EQ(checked_status.code(), expected) << checked_status; \
  } while (false)

// Grants to these names, in this order.
template <typename... Names>
auto GrantedTo(const Names&... names) {
  return ::testing::ElementsAre(::testing::Field("grantee", &Grant::grantee, names)...);
}

// The value of a StatusOr that must be OK.
template <typename Value>
Value Must(absl::StatusOr<Value> value) {
  EXPECT_TRUE(value.ok()) << value.status();
  return value.ok() ? *std::move(value) : Value();
}

std::vector<std::string> LedgerBackendNames();

}  // namespace curator::ledger
