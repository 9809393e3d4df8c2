// A SQLite ledger whose database a test wraps, to count its transactions or to hold one up.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/database.h"
#include "ledger/sql/migrations.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::service {

// `Wrapper` is a ledger::sql::Database that is made from the real one.
template <typename Wrapper>
std::unique_ptr<ledger::Ledger> OpenLedgerThrough(const std::string& folder) {
  auto database = ledger::OpenLedgerDatabase("sqlite:" + folder + "/ledger.db").value();
  const auto migrated = ledger::sql::Migrate(*database, ledger::sql::EmbeddedMigrations(), {});
  if (!migrated.ok()) return nullptr;
  return ledger::sql::SqlLedger::Open(std::make_unique<Wrapper>(std::move(database)), folder + "/anchor",
                                      host::RandomBytes)
      .value();
}

// Counts the transactions of the calling thread that only read.
class CountedReads final : public ledger::sql::Database {
 public:
  explicit CountedReads(std::unique_ptr<ledger::sql::Database> real) : real_(std::move(real)) {}
  const ledger::sql::Dialect& dialect() const override { return real_->dialect(); }
  ledger::sql::Outcome Write(const ledger::sql::Body& body) override { return real_->Write(body); }
  ledger::sql::Outcome Read(const ledger::sql::Body& body) override {
    ++count;
    ledger::sql::Outcome outcome = real_->Read(body);
    if (const std::function<void()> next = std::exchange(then, nullptr)) {
      next();
      then = next;
    }
    return outcome;
  }

  static inline thread_local int64_t count = 0;
  // Called after each read, but not after those that it makes itself.
  static inline thread_local std::function<void()> then;

 private:
  const std::unique_ptr<ledger::sql::Database> real_;
};

}  // namespace curator::service
