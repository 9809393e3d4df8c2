// A store that counts transactions, statements and rows. Of the rows that a statement reads it counts also
// those that the store reads and drops.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger {

struct StoreCounts {
  int64_t reads = 0;   // transactions
  int64_t writes = 0;  // likewise
  int64_t statements = 0;
  int64_t rows_read = 0;
  int64_t rows_written = 0;
  bool operator==(const StoreCounts&) const = default;
};

class CountingDatabase final : public sql::Database {
 public:
  explicit CountingDatabase(std::unique_ptr<sql::Database> real) : real_(std::move(real)) {}

  void StartCounting();
  // What was done since StartCounting(). Of rows that were read, PostgreSQL reports those of its scans; of
  // SQLite, which does not, the rows of results are counted.
  StoreCounts StopCounting();
  // The statements that read a whole table or index of SQLite while rows were counted, or all accounts of a
  // lineage, since the last call.
  std::vector<std::string> TakeScans();

  const sql::Dialect& dialect() const override { return real_->dialect(); }
  sql::Outcome Write(const sql::Body& body) override;
  sql::Outcome Read(const sql::Body& body) override;

 private:
  class CountingTransaction;

  // Adds to the counts while they are taken.
  void Count(const StoreCounts& more);

  const std::unique_ptr<sql::Database> real_;
  std::atomic<bool> is_counting_ = false;
  std::mutex mutex_;
  StoreCounts counts_;              // guarded by mutex_
  std::vector<std::string> scans_;  // likewise
};

// A new ledger on "sqlite" or "postgres" whose store is `counted`, which it owns.
std::unique_ptr<Ledger> OpenCountedLedger(const std::string& backend, const std::string& folder,
                                          CountingDatabase*& counted);

}  // namespace curator::ledger
