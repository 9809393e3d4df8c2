// Operations that no process works on.
#include "service/operations/operations.h"

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using InterruptedOperation = ServiceTest;

TEST_F(InterruptedOperation, IsForfeitedByACancelAndItsCostStands) {
  const DatasetView census = MakeSealed(People("census"));
  const ledger::Attempt attempt = Started(census, "synthesis");
  const int64_t spent = Spent(census);
  ASSERT_GT(spent, 0);
  EXPECT_EQ(GetOperation(services_, TestPrincipal("owner"), attempt.charge.id)->state,
            OperationState::kInterrupted);
  EXPECT_EQ(CancelOperation(services_, TestPrincipal("eve"), attempt.charge.id).status().code(),
            absl::StatusCode::kNotFound);

  const auto cancelled = CancelOperation(services_, TestPrincipal("owner"), attempt.charge.id);
  ASSERT_TRUE(cancelled.ok()) << cancelled.status();
  EXPECT_EQ(cancelled->state, OperationState::kFailed);
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(Spent(census), spent);
  EXPECT_EQ(ledger_->Store(attempt, "late").status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(InterruptedOperation, IsForfeitedByAnOperatorWhomTheHistoryNamesWithTheReason) {
  const DatasetView census = MakeSealed(People("census"));
  const ledger::Attempt attempt = Started(census, "synthesis");
  const Principal pol = TestPrincipal("pol");
  EXPECT_EQ(FieldOf(StopOperation(services_, pol, attempt.charge.id, "").status()), "reason");
  EXPECT_EQ(FieldOf(StopOperation(services_, pol, attempt.charge.id, "two\nlines").status()), "reason");
  EXPECT_EQ(ledger_->GetCharge(attempt.charge.id)->state, ledger::ChargeState::kStarted);

  const auto stopped = StopOperation(services_, pol, attempt.charge.id, "the host is moved");
  ASSERT_TRUE(stopped.ok()) << stopped.status();
  EXPECT_EQ(stopped->principal, "owner");
  EXPECT_EQ(stopped->view.state, OperationState::kFailed);
  EXPECT_EQ(stopped->view.request_id, "");
  const ledger::Charge charge = ledger_->GetCharge(attempt.charge.id).value();
  EXPECT_EQ(charge.state, ledger::ChargeState::kForfeited);
  EXPECT_EQ(charge.reason, "stopped by the operator pol: the host is moved");
  EXPECT_GT(Spent(census), 0);
}

TEST_F(InterruptedOperation, OfNoSuchIdIsNotFoundByAnOperator) {
  EXPECT_TRUE(absl::IsNotFound(StopOperation(services_, TestPrincipal("pol"), "1b4e", "moved").status()));
}

}  // namespace
}  // namespace curator::service
