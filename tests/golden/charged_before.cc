#include "tests/golden/charged_before.h"

#include <gtest/gtest.h>

#include <chrono>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "tests/testing/small_table.h"

namespace curator::golden {
namespace {

void Offer(v1::Spend& spend, const std::string& epsilon) {
  spend.set_epsilon(epsilon);
  spend.set_delta("1e-9");
}

v1::CreateSynthesisRequest Synthesis(const std::string& request_id, const std::string& method,
                                     const std::string& epsilon) {
  v1::CreateSynthesisRequest request;
  request.set_dataset("census");
  request.set_request_id(request_id);
  request.mutable_spec()->set_method(method);
  Offer(*request.mutable_spec()->mutable_spend(), epsilon);
  return request;
}

v1::ReserveBudgetRequest Reservation() {
  v1::ReserveBudgetRequest reservation;
  reservation.set_dataset("census");
  reservation.set_request_id("00000000-0000-4000-8000-000000000005");
  v1::CertifiedEvent& certified = *reservation.mutable_event()->mutable_certified();
  certified.set_delta("1e-9");
  v1::ComposedEvent& schedule = *certified.mutable_schedule()->mutable_composed();
  schedule.add_parts()->set_count(36);
  schedule.mutable_parts(0)->mutable_event()->mutable_gaussian()->set_sigma_squared("9000");
  schedule.add_parts()->set_count(100);
  schedule.mutable_parts(1)->mutable_event()->mutable_laplace()->set_scale("200");
  return reservation;
}

std::string Numbers(const AnswerValues& values) {
  return absl::StrCat("answer ", absl::StrJoin(values.counts, " "), " ",
                      absl::StrJoin(values.estimates, " "));
}

}  // namespace

ChargedRequests RequestsChargedBefore() {
  ChargedRequests requests;
  requests.workload.set_dataset("census");
  requests.workload.set_request_id("00000000-0000-4000-8000-000000000001");
  *requests.workload.mutable_workload() = testing::AllMarginals(2);
  Offer(*requests.workload.mutable_spend(), "0.5");
  requests.syntheses = {Synthesis("00000000-0000-4000-8000-000000000002", "mwem", "0.6"),
                        Synthesis("00000000-0000-4000-8000-000000000003", "dpsyn", "0.7"),
                        Synthesis("00000000-0000-4000-8000-000000000004", "priview", "0.8")};
  requests.syntheses[0].mutable_spec()->mutable_settings()->insert({"rounds", "2"});
  requests.reservation = Reservation();
  requests.blocking = testing::LongSynthesis();
  requests.blocking.set_dataset("wide");
  requests.blocking.set_request_id("00000000-0000-4000-8000-000000000006");
  requests.interrupted = Synthesis("00000000-0000-4000-8000-000000000007", "dpsyn", "0.9");
  return requests;
}

std::vector<std::string> Charges(const Client& client, const std::string& dataset) {
  std::vector<std::string> lines;
  const absl::StatusOr<v1::GetBudgetResponse> budget = client.GetBudget(dataset);
  EXPECT_TRUE(budget.ok()) << budget.status();
  if (!budget.ok()) return lines;
  for (const v1::Account& account : budget->accounts()) {
    for (const v1::Counter& counter : account.counters())
      lines.push_back(absl::StrCat(account.name(), " ", counter.name(), " spent ", counter.spent(), " held ",
                                   counter.held()));
  }
  const absl::Status listed = client.ListLedgerEntries(dataset, 0, [&](const v1::LedgerEntry& entry) {
    lines.push_back(absl::StrCat("entry ", entry.sequence(), " ", entry.kind(), " ",
                                 absl::BytesToHexString(entry.hash())));
    return absl::OkStatus();
  });
  EXPECT_TRUE(listed.ok()) << listed;
  return lines;
}

std::vector<std::string> Content(const Client& client, const std::string& release_id) {
  v1::GetReleaseRequest get;
  get.set_release_id(release_id);
  const absl::StatusOr<ReleaseContent> content = client.GetRelease(get);
  EXPECT_TRUE(content.ok()) << content.status();
  std::vector<std::string> lines = {"release " + release_id};
  if (!content.ok()) return lines;
  if (content->answer) {
    for (const Marginal& marginal : content->answer->marginals) lines.push_back(Numbers(marginal));
    return lines;
  }
  for (const std::string& line : content->synthesis->transcript()) lines.push_back(line);
  v1::QueryModelRequest query;
  query.set_release_id(release_id);
  *query.mutable_workload() = testing::AllMarginals(1);
  const absl::StatusOr<Answer> answer = client.QueryModel(query);
  EXPECT_TRUE(answer.ok()) << answer.status();
  if (!answer.ok()) return lines;
  for (const Marginal& marginal : answer->marginals) lines.push_back(Numbers(marginal));
  return lines;
}

std::string ReleaseOf(const Client& client, const v1::CreateSynthesisRequest& request) {
  const absl::StatusOr<v1::Operation> started = client.CreateSynthesis(request);
  EXPECT_TRUE(started.ok()) << started.status();
  if (!started.ok()) return {};
  const absl::StatusOr<v1::Operation> done = client.WaitOperation(started->id(), std::chrono::minutes(5));
  EXPECT_TRUE(done.ok()) << done.status();
  return done.ok() ? done->release_id() : "";
}

}  // namespace curator::golden
