// Requests whose whole schedule is fixed beforehand, on accounts that count deltas: Gaussian noise, charged
// with what is certified for all of it, once, and told apart by what was asked.
#include <gtest/gtest.h>

#include <map>

#include "client/request_id.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

class Certified : public ::testing::TestWithParam<Backend> {
 protected:
  Certified() : server_(GetParam()), owner_(server_.ClientFor("owner")), ana_(server_.ClientFor("ana")) {
    MakeSealed(owner_, NewDataset("census", v1::RULE_ADVANCED, "8", "1e-5"), SmallCsv(800));
    Grant(owner_, "census", "owner", {v1::SERVICE});
    Grant(owner_, "census", "ana");
    v1::CreateAccountRequest account;
    account.set_dataset("census");
    account.set_analyst("ana");
    account.mutable_limit()->set_rule(v1::RULE_ZCDP);
    account.mutable_limit()->set_epsilon("3");
    account.mutable_limit()->set_delta("1e-6");
    EXPECT_TRUE(owner_.CreateAccount(account).ok());
  }

  // Of all accounts, by counter.
  static std::map<std::string, double> Spent(const Client& client) {
    std::map<std::string, double> spent;
    const absl::StatusOr<v1::GetBudgetResponse> budget = client.GetBudget("census");
    EXPECT_TRUE(budget.ok()) << budget.status();
    for (const v1::Account& account : budget->accounts()) {
      for (const v1::Counter& counter : account.counters())
        spent[counter.name()] = std::stod(counter.spent());
    }
    return spent;
  }

  static void Offer(v1::Spend& spend) {
    spend.set_epsilon("0.8");
    spend.set_delta("1e-6");
  }

  TestServer server_;
  Client owner_;
  Client ana_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Certified, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Certified, AWorkloadCostsItsOwnCurveHereAndItsRhoWhereRhosAreCounted) {
  v1::AnswerWorkloadRequest question;
  question.set_dataset("census");
  question.set_request_id(*client::NewRequestId());
  *question.mutable_workload() = MeasuredMarginals(1);
  Offer(*question.mutable_spend());
  const absl::StatusOr<Answer> first = ana_.AnswerWorkload(question);
  ASSERT_TRUE(first.ok()) << first.status();
  EXPECT_NE(first->header.event().find("certified for (discrete Gaussian"), std::string::npos)
      << first->header.event();
  const std::map<std::string, double> spent = Spent(ana_);
  EXPECT_LE(spent.at("epsilon_squared"), 0.64);
  EXPECT_GT(spent.at("epsilon_squared"), 0.63);
  EXPECT_EQ(spent.at("delta"), 1e-6);
  EXPECT_GT(spent.at("rho"), 0.01);

  server_.Restart();
  const Client again = server_.ClientFor("ana");
  const absl::StatusOr<Answer> second = again.AnswerWorkload(question);
  ASSERT_TRUE(second.ok()) << second.status();
  EXPECT_TRUE(second->header.replayed());
  EXPECT_EQ(Spent(again), spent);
  question.mutable_spend()->set_delta("2e-6");
  EXPECT_EQ(again.AnswerWorkload(question).status().code(), absl::StatusCode::kAlreadyExists);
  EXPECT_TRUE(server_.ClientFor("owner").VerifyLedger("census")->ok());
}

TEST_P(Certified, ASynthesisCostsLessThanItsEpsilonSquared) {
  v1::CreateSynthesisRequest request;
  request.set_dataset("census");
  request.set_request_id(*client::NewRequestId());
  request.mutable_spec()->set_method("mwem");
  (*request.mutable_spec()->mutable_settings())["rounds"] = "2";
  Offer(*request.mutable_spec()->mutable_spend());
  const absl::StatusOr<v1::Operation> started = owner_.CreateSynthesis(request);
  ASSERT_TRUE(started.ok()) << started.status();
  ASSERT_TRUE(owner_.WaitOperation(started->id(), std::chrono::minutes(2)).ok());
  const std::map<std::string, double> spent = Spent(owner_);
  EXPECT_LT(spent.at("epsilon_squared"), 0.5);
  EXPECT_GT(spent.at("epsilon_squared"), 0.1);
  EXPECT_EQ(spent.at("delta"), 1e-6);
  EXPECT_EQ(owner_.CreateSynthesis(request)->id(), started->id());
  EXPECT_EQ(Spent(owner_), spent);
  EXPECT_TRUE(owner_.VerifyLedger("census")->ok());
}

TEST_P(Certified, AScheduleRunOutsideIsReservedByItsCertificate) {
  v1::ReserveBudgetRequest reservation;
  reservation.set_dataset("census");
  reservation.set_request_id(*client::NewRequestId());
  v1::CertifiedEvent& certified = *reservation.mutable_event()->mutable_certified();
  certified.set_delta("1e-6");
  v1::ComposedEvent::Part& part = *certified.mutable_schedule()->mutable_composed()->add_parts();
  part.set_count(36);
  part.mutable_event()->mutable_gaussian()->set_sigma_squared("900");
  const absl::StatusOr<v1::Charge> reserved = owner_.ReserveBudget(reservation);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(owner_.ReserveBudget(reservation)->id(), reserved->id());
  v1::EstimateCostRequest plain;
  plain.set_dataset("census");
  *plain.mutable_event() = certified.schedule();
  EXPECT_EQ(owner_.EstimateCost(plain).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace curator::testing
