// A store that fails, or blocks its caller, at one chosen step. The steps are: before each call reaches the
// store, and after the store has executed it, before or instead of its result; before the commit, and after
// it (the step before the anchor). PostgreSQL receives the last steps of a body together with the commit;
// tests/ledger/wire_guesses_test.cc covers faults between those, on the wire.
//
// Thread-safe, except that it must be armed and disarmed while no thread uses it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>

#include "ledger/sql/database.h"

namespace curator::ledger {

enum class Fault {
  kKill,      // the process is gone (SIGKILL)
  kConflict,  // the transaction loses against another one; after the commit it cannot any more
  kLost,      // the connection breaks; after the commit: it is done, and the caller does not learn it
  kFail,      // the store refuses, e.g. because the disk is full; after the commit it cannot any more
  kGone,      // as kKill, for a process that continues: this step and all later ones get no answer
};

class FaultyDatabase final : public sql::Database {
 public:
  enum class Moment { kInRead, kInWrite, kAfterCommit };
  // Runs in the middle of a step. In a write, locks are held: it must not wait for a thread that needs them.
  using Meanwhile = std::function<void(Moment)>;

  // What counts as a call: each statement by itself; or all statements of one round trip to a server, where
  // the last steps of a body and its COMMIT are sent together.
  enum class Calls { kOfOneStatement, kAsTheyCome };

  explicit FaultyDatabase(std::unique_ptr<sql::Database> real, Calls calls = Calls::kOfOneStatement)
      : real_(std::move(real)), calls_(calls) {}

  // From now on the `step`-th step (0, 1, ...) has the fault, once.
  void Arm(Fault fault, int step);
  // The first step at this moment has the fault, once.
  void ArmAt(Fault fault, Moment moment);
  // From now on the `step`-th step is blocked until `meanwhile` returns, once.
  void ArmPause(int step, Meanwhile meanwhile);
  void Disarm() { steps_left_ = -1; }
  bool has_struck() const { return has_struck_; }
  // The number of steps since it was armed.
  int steps() const { return steps_; }
  // The number of write transactions that were requested.
  int64_t writes() const { return writes_; }
  // The number of them that were committed without a prior read: optimistic charges.
  int64_t guesses() const { return guesses_; }
  // The number of them that failed here.
  int64_t struck_guesses() const { return struck_guesses_; }

  const sql::Dialect& dialect() const override { return real_->dialect(); }
  sql::Outcome Write(const sql::Body& body) override;
  sql::Outcome Read(const sql::Body& body) override;

 private:
  class FaultyTransaction;

  // Counts a step; true when it is the one that fails.
  bool IsStruck(Moment moment);
  bool CountStep(Moment moment);
  sql::Outcome Injected() const;

  const std::unique_ptr<sql::Database> real_;
  const Calls calls_;
  Fault fault_ = Fault::kFail;
  Meanwhile meanwhile_;
  std::mutex mutex_;
  int steps_left_ = -1;                // guarded by mutex_
  std::optional<Moment> only_moment_;  // the only moment whose steps are counted, if any
  std::atomic<int> steps_ = 0;
  std::atomic<bool> has_struck_ = false;
  std::atomic<bool> is_gone_ = false;
  std::atomic<int64_t> writes_ = 0;
  std::atomic<int64_t> guesses_ = 0;
  std::atomic<int64_t> struck_guesses_ = 0;
};

}  // namespace curator::ledger
