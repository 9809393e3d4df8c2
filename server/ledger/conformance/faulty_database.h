// A store that fails at one chosen step, for tests: before each statement, before the commit, after the
// commit.
//
// Not thread-safe.
#pragma once

#include <memory>

#include "ledger/sql/database.h"

namespace curator::ledger {

enum class Fault {
  kKill,      // the process is gone (SIGKILL)
  kConflict,  // the transaction loses against another one; after the commit it cannot any more
  kLost,      // the connection breaks; after the commit that means: it is done, and nobody is told
  kFail,      // the store refuses, e.g. because the disk is full; after the commit it cannot any more
};

class FaultyDatabase final : public sql::Database {
 public:
  explicit FaultyDatabase(std::unique_ptr<sql::Database> real) : real_(std::move(real)) {}

  // From now on the `step`-th step (0, 1, ...) of read-write transactions has the fault, once.
  void Arm(Fault fault, int step) {
    fault_ = fault;
    steps_left_ = step;
    has_struck_ = false;
  }
  bool has_struck() const { return has_struck_; }

  const sql::Dialect& dialect() const override { return real_->dialect(); }
  sql::Outcome Write(const sql::Body& body) override;
  sql::Outcome Read(const sql::Body& body) override { return real_->Read(body); }

 private:
  class FaultyTransaction;
  enum class Moment { kBeforeStatement, kBeforeCommit, kAfterCommit };

  // Counts a step; true when it is the one that fails.
  bool IsStruck(Moment moment);
  sql::Outcome Injected() const;

  const std::unique_ptr<sql::Database> real_;
  Fault fault_ = Fault::kFail;
  int steps_left_ = -1;
  bool has_struck_ = false;
};

}  // namespace curator::ledger
