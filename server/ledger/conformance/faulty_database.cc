#include "ledger/conformance/faulty_database.h"

#include <csignal>

namespace curator::ledger {

class FaultyDatabase::FaultyTransaction final : public sql::Transaction {
 public:
  FaultyTransaction(sql::Transaction& real, FaultyDatabase& database, Moment moment)
      : real_(real), database_(database), moment_(moment) {}

  absl::StatusOr<std::vector<sql::Row>> Execute(std::string_view statement,
                                                const sql::Parameters& parameters) override {
    has_asked_ = true;
    return Struck([&] { return real_.Execute(statement, parameters); });
  }
  absl::StatusOr<std::vector<std::vector<sql::Row>>> ExecuteEach(
      std::string_view statement, const std::vector<sql::Parameters>& each) override {
    has_asked_ = has_asked_ || !is_last_;
    return Struck([&] { return real_.ExecuteEach(statement, each); });
  }
  absl::Status InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                          const std::vector<sql::Parameters>& rows) override {
    return Struck([&] { return real_.InsertRows(table, columns, rows); });
  }
  absl::StatusOr<std::vector<sql::Answers>> ExecuteTogether(
      const std::vector<sql::Statement>& statements) override {
    has_asked_ = true;
    if (database_.calls_ == Calls::kOfOneStatement) return Transaction::ExecuteTogether(statements);
    return Struck([&] { return real_.ExecuteTogether(statements); });
  }
  absl::Status ExecuteLast(const std::vector<sql::Step>& steps) override {
    is_last_ = true;
    if (database_.calls_ == Calls::kOfOneStatement) return Transaction::ExecuteLast(steps);
    return Struck([&] { return real_.ExecuteLast(steps); });
  }
  absl::Status ExecuteScript(const std::string& script) override {
    has_asked_ = true;
    return Struck([&] { return real_.ExecuteScript(script); });
  }

  bool is_guess() const { return is_last_ && !has_asked_; }
  bool has_failed() const { return has_failed_; }

 private:
  // The call, struck before it is made or before it is answered.
  template <typename Call>
  auto Struck(Call call) -> decltype(call()) {
    if (Fails()) return database_.Injected().status;
    auto answer = call();
    // Between two statements there is one moment: after the one is before the other.
    const bool may_be_struck_again = answer.ok() && database_.calls_ == Calls::kAsTheyCome;
    if (may_be_struck_again && Fails()) return database_.Injected().status;
    return answer;
  }
  bool Fails() {
    has_failed_ = has_failed_ || database_.IsStruck(moment_);
    return has_failed_;
  }

  sql::Transaction& real_;
  FaultyDatabase& database_;
  const Moment moment_;
  bool has_failed_ = false;
  bool has_asked_ = false;
  bool is_last_ = false;
};

void FaultyDatabase::Arm(Fault fault, int step) {
  fault_ = fault;
  meanwhile_ = nullptr;
  only_moment_.reset();
  steps_left_ = step;
  steps_ = 0;
  has_struck_ = false;
}

void FaultyDatabase::ArmAt(Fault fault, Moment moment) {
  Arm(fault, 0);
  only_moment_ = moment;
}

void FaultyDatabase::ArmPause(int step, Meanwhile meanwhile) {
  Arm(Fault::kFail, step);
  meanwhile_ = std::move(meanwhile);
}

bool FaultyDatabase::CountStep(Moment moment) {
  const std::scoped_lock lock(mutex_);
  if (only_moment_.value_or(moment) != moment) return false;
  ++steps_;
  if (steps_left_ < 0 || steps_left_-- > 0) return false;
  has_struck_ = true;
  return true;
}

bool FaultyDatabase::IsStruck(Moment moment) {
  if (is_gone_) return true;
  if (!CountStep(moment)) return false;
  if (meanwhile_) {
    const Meanwhile meanwhile = meanwhile_;  // it may arm the next fault
    meanwhile(moment);
    return false;
  }
  if (fault_ == Fault::kKill) std::raise(SIGKILL);
  is_gone_ = fault_ == Fault::kGone;
  return moment != Moment::kAfterCommit || fault_ == Fault::kLost || is_gone_;
}

sql::Outcome FaultyDatabase::Injected() const {
  switch (fault_) {
    case Fault::kConflict:
      return {sql::Ending::kConflict, absl::AbortedError("injected conflict")};
    case Fault::kLost:
      return {sql::Ending::kUnknown, absl::UnavailableError("injected loss of the connection")};
    case Fault::kKill:
    case Fault::kFail:
    case Fault::kGone:
      break;
  }
  return {sql::Ending::kFailed, absl::UnavailableError("injected refusal")};
}

sql::Outcome FaultyDatabase::Read(const sql::Body& body) {
  bool was_injected = false;
  const sql::Outcome outcome = real_->Read([&](sql::Transaction& real) -> absl::Status {
    FaultyTransaction transaction(real, *this, Moment::kInRead);
    absl::Status status = body(transaction);
    was_injected = transaction.has_failed();
    return status;
  });
  return was_injected ? Injected() : outcome;
}

sql::Outcome FaultyDatabase::Write(const sql::Body& body) {
  ++writes_;
  const bool had_struck = has_struck_;
  bool was_injected = false;
  bool is_guess = false;
  const sql::Outcome outcome = real_->Write([&](sql::Transaction& real) -> absl::Status {
    FaultyTransaction transaction(real, *this, Moment::kInWrite);
    absl::Status status = body(transaction);
    is_guess = transaction.is_guess();
    was_injected = transaction.has_failed() || (status.ok() && IsStruck(Moment::kInWrite));
    return was_injected ? Injected().status : status;
  });
  const bool is_done = !was_injected && outcome.ending == sql::Ending::kDone;
  was_injected = was_injected || (is_done && IsStruck(Moment::kAfterCommit));
  if (is_guess && is_done) ++guesses_;
  if (is_guess && !had_struck && has_struck_) ++struck_guesses_;
  return was_injected ? Injected() : outcome;
}

}  // namespace curator::ledger
