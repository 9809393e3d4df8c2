// The accountant for others, over a real socket: reserve, start before the look, commit; or cancel, or let it
// expire.
#include <gtest/gtest.h>

#include <string>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

class Accountant : public ::testing::TestWithParam<Backend> {
 protected:
  Accountant() : server_(GetParam()), owner_(server_.ClientFor("owner")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_ZCDP, "2", "1e-9"), SmallCsv(0));
    Grant(owner_, "census", "owner", {v1::SERVICE});
  }

  static v1::ReserveBudgetRequest Reservation(const std::string& rho) {
    v1::ReserveBudgetRequest request;
    request.set_request_id(*client::NewRequestId());
    request.set_dataset("census");
    request.mutable_event()->mutable_zcdp()->set_rho(rho);
    return request;
  }

  static v1::StartChargeRequest Start(const v1::Charge& charge, const std::string& final_rho = "") {
    v1::StartChargeRequest request;
    request.set_charge_id(charge.id());
    if (!final_rho.empty()) request.mutable_final_event()->mutable_zcdp()->set_rho(final_rho);
    return request;
  }

  v1::Counter Rho() const { return owner_.GetBudget("census")->accounts(0).counters(0); }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Accountant, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Accountant, AReservationIsHeldThenSpentAtTheStartAtTheLowerFinalCost) {
  const absl::StatusOr<v1::Charge> reserved = owner_.ReserveBudget(Reservation("0.02"));
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(reserved->state(), v1::Charge::RESERVED);
  EXPECT_EQ(Rho().held(), "0.02");
  EXPECT_EQ(Rho().spent(), "0");

  EXPECT_EQ(owner_.StartCharge(Start(*reserved, "0.03")).status().code(), absl::StatusCode::kInvalidArgument)
      << "a final cost above what is held";
  EXPECT_EQ(Rho().held(), "0.02");

  const absl::StatusOr<v1::Charge> started = owner_.StartCharge(Start(*reserved, "0.015"));
  ASSERT_TRUE(started.ok()) << started.status();
  EXPECT_EQ(started->state(), v1::Charge::STARTED);
  EXPECT_EQ(Rho().held(), "0");
  EXPECT_EQ(Rho().spent(), "0.015");

  EXPECT_EQ(owner_.CommitBudget(reserved->id())->state(), v1::Charge::COMMITTED);
  EXPECT_EQ(owner_.CommitBudget(reserved->id())->state(), v1::Charge::COMMITTED) << "twice is once";
  EXPECT_EQ(Rho().spent(), "0.015");
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

TEST_P(Accountant, ACancelFreesBeforeTheStartAndNeverAfter) {
  v1::CancelReservationRequest cancel;
  const absl::StatusOr<v1::Charge> first = owner_.ReserveBudget(Reservation("0.02"));
  cancel.set_charge_id(first->id());
  EXPECT_EQ(owner_.CancelReservation(cancel)->state(), v1::Charge::CANCELLED);
  EXPECT_EQ(Rho().held(), "0");
  EXPECT_EQ(Rho().spent(), "0");

  const absl::StatusOr<v1::Charge> second = owner_.ReserveBudget(Reservation("0.02"));
  ASSERT_TRUE(owner_.StartCharge(Start(*second)).ok());
  cancel.set_charge_id(second->id());
  EXPECT_EQ(owner_.CancelReservation(cancel).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Rho().spent(), "0.02");
}

TEST_P(Accountant, ARetryFindsTheSameReservationAndAnotherEventUnderItsIdIsRefused) {
  v1::ReserveBudgetRequest request = Reservation("0.02");
  const absl::StatusOr<v1::Charge> first = owner_.ReserveBudget(request);
  server_.Restart();
  const Client owner = server_.ClientFor("owner");
  const absl::StatusOr<v1::Charge> second = owner.ReserveBudget(request);
  ASSERT_TRUE(first.ok() && second.ok()) << first.status() << second.status();
  EXPECT_EQ(second->id(), first->id());
  EXPECT_EQ(owner.GetBudget("census")->accounts(0).counters(0).held(), "0.02");
  request.mutable_event()->mutable_zcdp()->set_rho("0.01");
  EXPECT_EQ(owner.ReserveBudget(request).status().code(), absl::StatusCode::kAlreadyExists);
  v1::GetChargeRequest get;
  get.set_request_id(request.request_id());
  EXPECT_EQ(owner.GetCharge(get)->id(), first->id());
}

TEST_P(Accountant, ABatchIsReservedWholeOrNotAtAll) {
  v1::BatchReserveBudgetRequest batch;
  *batch.add_requests() = Reservation("0.04");
  *batch.add_requests() = Reservation("0.04");
  const absl::Status refused = owner_.BatchReserveBudget(batch).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_FALSE(client::FullAccounts(refused).empty());
  EXPECT_EQ(Rho().held(), "0");
  batch.mutable_requests(1)->mutable_event()->mutable_zcdp()->set_rho("0.01");
  const absl::StatusOr<v1::BatchReserveBudgetResponse> reserved = owner_.BatchReserveBudget(batch);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(reserved->charges_size(), 2);
  EXPECT_EQ(Rho().held(), "0.05");
}

TEST_P(Accountant, AReservationIsExtendedBeforeItsDeadlineAndIsSpentAfterIt) {
  const absl::StatusOr<v1::Charge> kept = owner_.ReserveBudget(Reservation("0.02"));
  ASSERT_TRUE(kept.ok()) << kept.status();
  v1::ExtendReservationRequest extend;
  extend.set_charge_id(kept->id());
  extend.mutable_lifetime()->set_seconds(7200);
  const absl::StatusOr<v1::Charge> extended = owner_.ExtendReservation(extend);
  ASSERT_TRUE(extended.ok()) << extended.status();
  EXPECT_GT(extended->deadline().seconds(), kept->deadline().seconds());

  v1::ReserveBudgetRequest brief = Reservation("0.01");
  brief.mutable_lifetime()->set_nanos(1000);
  const absl::StatusOr<v1::Charge> expiring = owner_.ReserveBudget(brief);
  ASSERT_TRUE(expiring.ok()) << expiring.status();
  v1::GetChargeRequest get;
  get.set_charge_id(expiring->id());
  // Its deadline is a tick of the ledger's clock away.
  while (owner_.GetCharge(get)->state() == v1::Charge::RESERVED) {
  }
  EXPECT_EQ(owner_.GetCharge(get)->state(), v1::Charge::COMMITTED);
  EXPECT_EQ(owner_.GetCharge(get)->reason(), "EXPIRED");
  EXPECT_EQ(owner_.StartCharge(Start(*expiring)).status().code(), absl::StatusCode::kFailedPrecondition);
  extend.set_charge_id(expiring->id());
  EXPECT_EQ(owner_.ExtendReservation(extend).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Rho().spent(), "0.01");
  EXPECT_EQ(Rho().held(), "0.02");
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

TEST_P(Accountant, EveryKindOfEventIsPricedOrRefusedWithItsReason) {
  v1::EstimateCostRequest request;
  request.set_dataset("census");
  request.mutable_event()->mutable_gaussian()->set_sigma_squared("100");
  EXPECT_EQ(owner_.EstimateCost(request)->costs(0).amount(), "0.005");
  request.mutable_event()->mutable_discrete_gaussian()->set_sigma_squared("1/2");
  EXPECT_FALSE(owner_.EstimateCost(request)->fits());
  request.mutable_event()->mutable_composed()->add_parts()->set_count(3);
  request.mutable_event()->mutable_composed()->mutable_parts(0)->mutable_event()->mutable_zcdp()->set_rho(
      "0.001");
  EXPECT_EQ(owner_.EstimateCost(request)->costs(0).amount(), "0.003");
  request.mutable_event()->mutable_approximate()->set_epsilon("0.1");
  request.mutable_event()->mutable_approximate()->set_delta("1e-10");
  EXPECT_EQ(owner_.EstimateCost(request).status().code(), absl::StatusCode::kFailedPrecondition);
  request.mutable_event()->mutable_laplace()->set_scale("ten");
  const absl::Status bad = owner_.EstimateCost(request).status();
  EXPECT_EQ(client::FieldViolations(bad).at(0).field, "event.laplace.scale");
  request.mutable_event()->clear_what();
  EXPECT_EQ(owner_.EstimateCost(request).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_P(Accountant, TheChargeOfAQuestionToCuratorCannotBeMovedFromOutside) {
  MakeSealed(owner_, NewDataset("asked", v1::RULE_PURE, "1"), SmallCsv(80));
  Grant(owner_, "asked", "owner", {v1::SERVICE});
  v1::AnswerWorkloadRequest question;
  question.set_dataset("asked");
  *question.mutable_workload() = AllMarginals(1);
  question.mutable_spend()->set_epsilon("0.1");
  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(question);
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_EQ(owner_.CommitBudget(answer->header.charge_id()).status().code(),
            absl::StatusCode::kFailedPrecondition);
  v1::GetChargeRequest get;
  get.set_charge_id(answer->header.charge_id());
  EXPECT_EQ(owner_.GetCharge(get)->state(), v1::Charge::COMMITTED);
  EXPECT_EQ(server_.ClientFor("stranger").GetCharge(get).status().code(), absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace curator::testing
