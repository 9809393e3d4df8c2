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

}  // namespace
}  // namespace curator::service
