#include "metrics/call_metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "absl/strings/str_cat.h"

namespace curator::metrics {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

constexpr char kBudget[] = "/curator.v1.BudgetService/GetBudget";
constexpr char kBudgetLabels[] =
    "grpc_method=\"GetBudget\",grpc_service=\"curator.v1.BudgetService\",grpc_type=\"unary\"";

rpc::CallEnd EndOf(const std::string& path, absl::StatusCode status, const std::string& reason = "") {
  rpc::CallEnd end{.path = path};
  end.record.principal = "ana";
  end.record.identity = audit::IdentityKind::kApiToken;
  end.record.request_id = "a-request-id";
  end.record.dataset = "a-dataset-that-a-client-names";
  end.record.status = status;
  end.record.reason = reason;
  end.record.decision =
      status == absl::StatusCode::kOk ? audit::Decision::kAllowed : audit::Decision::kRefused;
  return end;
}

class MeasuredCalls : public ::testing::Test {
 protected:
  MetricSet metrics_;
  CallMetrics calls_{metrics_, rpc::ServedMethods()};
};

TEST_F(MeasuredCalls, EveryMethodHasSeriesFromTheStart) {
  const std::string text = metrics_.Text();
  for (const rpc::ServedMethod& each : rpc::ServedMethods()) {
    const std::string labels = absl::StrCat("grpc_method=\"", each.method, "\",grpc_service=\"", each.service,
                                            "\",grpc_type=\"", each.type, "\"} 0\n");
    EXPECT_THAT(text, HasSubstr(absl::StrCat("grpc_server_started_total{", labels)));
    EXPECT_THAT(text, HasSubstr(absl::StrCat("grpc_server_handled_total{grpc_code=\"OK\",", labels)));
  }
}

TEST_F(MeasuredCalls, ACallIsCountedFromItsBeginToItsEnd) {
  calls_.OnBegin(kBudget);
  EXPECT_THAT(metrics_.Text(), HasSubstr(absl::StrCat("grpc_server_started_total{", kBudgetLabels, "} 1\n")));
  EXPECT_THAT(metrics_.Text(), HasSubstr("curator_rpc_in_flight{grpc_method=\"GetBudget\",grpc_service="
                                         "\"curator.v1.BudgetService\"} 1\n"));
  rpc::CallEnd end = EndOf(kBudget, absl::StatusCode::kOk);
  end.took = absl::Milliseconds(3);
  end.received_bytes = 10;
  end.sent_bytes = 200;
  calls_.OnEnd(end);
  calls_.OnGone(kBudget);
  const std::string text = metrics_.Text();
  const auto has = [&](const std::string& line) { EXPECT_THAT(text, HasSubstr(line)); };
  has(absl::StrCat("grpc_server_handled_total{grpc_code=\"OK\",", kBudgetLabels, "} 1\n"));
  has(absl::StrCat("grpc_server_handling_seconds_bucket{", kBudgetLabels, ",le=\"0.001\"} 0\n"));
  has(absl::StrCat("grpc_server_handling_seconds_bucket{", kBudgetLabels, ",le=\"0.005\"} 1\n"));
  has(absl::StrCat("grpc_server_msg_received_bytes_total{", kBudgetLabels, "} 10\n"));
  has(absl::StrCat("grpc_server_msg_sent_bytes_total{", kBudgetLabels, "} 200\n"));
  has("curator_auth_total{kind=\"API_TOKEN\",outcome=\"accepted\",reason=\"\"} 1\n");
  has("curator_rpc_in_flight{grpc_method=\"GetBudget\",grpc_service=\"curator.v1.BudgetService\"} 0\n");
}

TEST_F(MeasuredCalls, RefusalsAreCountedByTheirReason) {
  calls_.OnEnd(EndOf(kBudget, absl::StatusCode::kPermissionDenied, "PERMISSION_DENIED"));
  calls_.OnEnd(EndOf(kBudget, absl::StatusCode::kResourceExhausted, "QUOTA"));
  calls_.OnEnd(EndOf(kBudget, absl::StatusCode::kResourceExhausted, "BUDGET_FULL"));
  calls_.OnEnd(EndOf(kBudget, absl::StatusCode::kUnauthenticated, "TOKEN_EXPIRED"));
  const std::string text = metrics_.Text();
  const auto has = [&](const std::string& line) { EXPECT_THAT(text, HasSubstr(line)); };
  has("curator_authz_denied_total{permission=\"curator.v1.BudgetService/GetBudget\"} 1\n");
  has("curator_quota_rejected_total{permission=\"curator.v1.BudgetService/GetBudget\"} 1\n");
  has("curator_refusals_total{reason=\"QUOTA\"} 1\n");
  has("curator_refusals_total{reason=\"BUDGET_FULL\"} 1\n");
  has("curator_auth_total{kind=\"API_TOKEN\",outcome=\"refused\",reason=\"TOKEN_EXPIRED\"} 1\n");
  has(absl::StrCat("grpc_server_handled_total{grpc_code=\"PermissionDenied\",", kBudgetLabels, "} 1\n"));
}

TEST_F(MeasuredCalls, CallsOfOthersMakeNoSeriesOfTheirOwn) {
  for (int i = 0; i < 100; ++i) {
    const std::string path = absl::StrCat("/somebody.Else/", i);
    calls_.OnBegin(path);
    calls_.OnEnd(EndOf(path, absl::StatusCode::kUnimplemented));
    calls_.OnGone(path);
  }
  const std::string text = metrics_.Text();
  EXPECT_THAT(text, Not(HasSubstr("somebody")));
  EXPECT_THAT(text, HasSubstr("grpc_server_handled_total{grpc_code=\"Unimplemented\",grpc_method=\"unknown\","
                              "grpc_service=\"unknown\",grpc_type=\"unary\"} 100\n"));
}

TEST_F(MeasuredCalls, CallsThatHandleRecordsAreOnlyCounted) {
  const std::string text = metrics_.Text();
  for (const char* const method : {"ImportRecords", "CheckSchema", "SealDataset", "UndoImport", "ListImports",
                                   "RowCounts", "Evaluate"}) {
    for (const char* const family :
         {"handling_seconds_count", "msg_received_bytes_total", "msg_sent_bytes_total"}) {
      EXPECT_THAT(text,
                  Not(HasSubstr(absl::StrCat("grpc_server_", family, "{grpc_method=\"", method, "\""))));
    }
  }
}

TEST_F(MeasuredCalls, NothingThatACallNamesIsALabel) {
  for (const auto status : {absl::StatusCode::kOk, absl::StatusCode::kNotFound}) {
    calls_.OnEnd(EndOf("/curator.v1.QueryService/AnswerWorkload", status));
  }
  for (const char* const name : {"ana", "a-request-id", "a-dataset-that-a-client-names"}) {
    EXPECT_THAT(metrics_.Text(), Not(HasSubstr(absl::StrCat("\"", name, "\"")))) << name;
  }
}

}  // namespace
}  // namespace curator::metrics
