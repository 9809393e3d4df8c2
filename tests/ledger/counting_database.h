// A store that counts the rows that are read for each statement, also those that the store reads and drops.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "ledger/sql/database.h"

namespace curator::ledger {

class CountingDatabase final : public sql::Database {
 public:
  explicit CountingDatabase(std::unique_ptr<sql::Database> real) : real_(std::move(real)) {}

  void StartCounting() { is_counting_ = true; }
  // The rows that were read since StartCounting(). PostgreSQL reports what its scans read; of SQLite, which
  // does not, the rows of results are counted.
  int64_t StopCounting() {
    is_counting_ = false;
    return rows_read_.exchange(0);
  }
  // The statements that read a whole table or index of SQLite while rows were counted, or all accounts of a
  // lineage, since the last call.
  std::vector<std::string> TakeScans();

  const sql::Dialect& dialect() const override { return real_->dialect(); }
  sql::Outcome Write(const sql::Body& body) override;
  sql::Outcome Read(const sql::Body& body) override;

 private:
  class CountingTransaction;

  const std::unique_ptr<sql::Database> real_;
  std::atomic<bool> is_counting_ = false;
  std::atomic<int64_t> rows_read_ = 0;
  std::mutex mutex_;
  std::vector<std::string> scans_;
};

}  // namespace curator::ledger
