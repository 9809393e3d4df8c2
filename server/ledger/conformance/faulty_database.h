// A store that fails, or holds its caller up, at one chosen step, for tests: before each call reaches the
// store, and when the store has done it, before its answer is heard or in place of it; before the commit, and
// after the commit (which is the step before the anchor). PostgreSQL is sent the last steps of a body
// together with the commit: what happens between those, on the wire, tests/ledger/wire_guesses_test.cc shows.
//
// Thread-safe; armed and disarmed while nobody uses it.
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
  kLost,      // the connection breaks; after the commit that means: it is done, and nobody is told
  kFail,      // the store refuses, e.g. because the disk is full; after the commit it cannot any more
  kGone,      // as kKill, for a process that goes on: nothing of this step and of all later ones is answered
};

class FaultyDatabase final : public sql::Database {
 public:
  enum class Moment { kInRead, kInWrite, kAfterCommit };
  // Runs in the middle of a step. In a write, locks are held: whoever needs them cannot be waited for.
  using Meanwhile = std::function<void(Moment)>;

  // What is a call: each statement by itself; or what the ledger asks for at once, as it is sent to a server:
  // there the last steps of a body and its COMMIT travel together.
  enum class Calls { kOfOneStatement, kAsTheyCome };

  explicit FaultyDatabase(std::unique_ptr<sql::Database> real, Calls calls = Calls::kOfOneStatement)
      : real_(std::move(real)), calls_(calls) {}

  // From now on the `step`-th step (0, 1, ...) has the fault, once.
  void Arm(Fault fault, int step);
  // The first step at this moment has the fault, once.
  void ArmAt(Fault fault, Moment moment);
  // From now on the `step`-th step is held up until `meanwhile` returns, once.
  void ArmPause(int step, Meanwhile meanwhile);
  void Disarm() { steps_left_ = -1; }
  bool has_struck() const { return has_struck_; }
  // How many write transactions have been asked for.
  int64_t writes() const { return writes_; }
  // How many of them were committed that asked the store nothing first: charges by guess.
  int64_t guesses() const { return guesses_; }
  // How many of them were struck.
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
  std::optional<Moment> only_moment_;  // the moment whose steps are counted, where others are not
  std::atomic<bool> has_struck_ = false;
  std::atomic<bool> is_gone_ = false;
  std::atomic<int64_t> writes_ = 0;
  std::atomic<int64_t> guesses_ = 0;
  std::atomic<int64_t> struck_guesses_ = 0;
};

}  // namespace curator::ledger
