#include "rpc/handle.h"

#include <optional>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace curator::rpc {
namespace {

constexpr char kDomain[] = "curator";
constexpr int kRetryDelayMilliseconds = 200;

// With amounts in decimals; the ledger's error has them in units of the counter.
std::string DescriptionOf(const FullAccount& account) {
  return absl::StrCat("account ", account.account, " (", account.rule, ") was asked for ", account.counter,
                      " ", dp::FormatCounter(account.counter, account.asked), " and has ",
                      dp::FormatCounter(account.counter, account.remaining), " left");
}

std::string BudgetFullMessage(const std::vector<FullAccount>& accounts) {
  const std::string list = absl::StrJoin(accounts, "; ", [](std::string* out, const FullAccount& account) {
    absl::StrAppend(out, DescriptionOf(account));
  });
  return absl::StrCat("the budget is full: ", list, ". Nothing was charged.");
}

google::rpc::QuotaFailure QuotaFailureOf(const std::vector<FullAccount>& accounts) {
  google::rpc::QuotaFailure failure;
  for (const FullAccount& account : accounts) {
    google::rpc::QuotaFailure::Violation* violation = failure.add_violations();
    violation->set_subject(account.account);
    violation->set_description(DescriptionOf(account));
    violation->set_quota_metric(account.counter);
    auto& dimensions = *violation->mutable_quota_dimensions();
    dimensions["rule"] = account.rule;
    dimensions["asked"] = dp::FormatCounter(account.counter, account.asked);
    dimensions["remaining"] = dp::FormatCounter(account.counter, account.remaining);
  }
  return failure;
}

std::string ReasonOf(const absl::Status& status, const std::vector<FullAccount>& full) {
  if (!full.empty()) return "BUDGET_FULL";
  if (absl::IsDataLoss(status)) return "LEDGER_CONTRADICTS_ITSELF";
  return absl::StatusCodeToString(status.code());
}

void AddRetryInfo(google::rpc::Status& details) {
  google::rpc::RetryInfo retry;
  retry.mutable_retry_delay()->set_nanos(kRetryDelayMilliseconds * 1'000'000);
  details.add_details()->PackFrom(retry);
}

void AddBadRequest(google::rpc::Status& details, const FieldViolation& violation) {
  google::rpc::BadRequest bad_request;
  google::rpc::BadRequest::FieldViolation* field = bad_request.add_field_violations();
  field->set_field(violation.field);
  field->set_description(violation.description);
  details.add_details()->PackFrom(bad_request);
}

}  // namespace

absl::Status ClientDisconnected() {
  return absl::CancelledError("the client left before the end of the stream");
}

absl::Status ShortOfMemory() {
  return absl::UnavailableError(
      "the server is short of memory; ask again with the same request id, or for less at once");
}

grpc::Status ToGrpcStatus(const absl::Status& status) {
  if (status.ok()) return grpc::Status::OK;
  const std::vector<FullAccount> full = FullAccountsOf(status);
  const auto code = absl::IsDataLoss(status) ? grpc::StatusCode::FAILED_PRECONDITION
                                             : static_cast<grpc::StatusCode>(status.code());
  const std::string message = full.empty() ? std::string(status.message()) : BudgetFullMessage(full);

  google::rpc::Status details;
  details.set_code(code);
  details.set_message(message);
  google::rpc::ErrorInfo info;
  info.set_domain(kDomain);
  info.set_reason(ReasonOf(status, full));
  details.add_details()->PackFrom(info);
  if (!full.empty()) details.add_details()->PackFrom(QuotaFailureOf(full));
  if (const std::optional<FieldViolation> violation = FieldViolationOf(status))
    AddBadRequest(details, *violation);
  if (absl::IsUnavailable(status) || absl::IsAborted(status)) AddRetryInfo(details);
  return grpc::Status(code, message, details.SerializeAsString());
}

}  // namespace curator::rpc
