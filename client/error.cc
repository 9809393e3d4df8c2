#include "client/error.h"

#include <grpcpp/support/status.h>

#include <algorithm>
#include <cstdint>

#include "absl/strings/cord.h"
#include "absl/strings/str_cat.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"

namespace curator::client {
namespace {

constexpr char kUnreachableUrl[] = "curator/unreachable";
constexpr char kNeverReachedUrl[] = "curator/never-reached";

template <typename Detail>
std::string UrlOf() {
  return absl::StrCat("type.googleapis.com/", Detail::descriptor()->full_name());
}

template <typename Detail>
std::optional<Detail> DetailOf(const absl::Status& status) {
  const auto payload = status.GetPayload(UrlOf<Detail>());
  Detail detail;
  if (!payload.has_value() || !detail.ParseFromString(std::string(*payload))) return std::nullopt;
  return detail;
}

std::string DimensionOf(const google::rpc::QuotaFailure::Violation& violation, const char* key) {
  const auto found = violation.quota_dimensions().find(key);
  return found == violation.quota_dimensions().end() ? std::string() : found->second;
}

}  // namespace

absl::Status FromGrpc(const grpc::Status& status) {
  if (status.ok()) return absl::OkStatus();
  const int code = status.error_code();
  const bool known = code > grpc::StatusCode::OK && code <= grpc::StatusCode::UNAUTHENTICATED;
  absl::Status result(known ? static_cast<absl::StatusCode>(code) : absl::StatusCode::kUnknown,
                      status.error_message());

  google::rpc::Status detailed;
  if (!detailed.ParseFromString(status.error_details())) return result;
  for (const google::protobuf::Any& detail : detailed.details()) {
    result.SetPayload(detail.type_url(), absl::Cord(detail.value()));
  }
  return result;
}

std::vector<FieldViolation> FieldViolations(const absl::Status& status) {
  std::vector<FieldViolation> violations;
  if (const auto detail = DetailOf<google::rpc::BadRequest>(status)) {
    for (const auto& violation : detail->field_violations()) {
      violations.push_back({violation.field(), violation.description()});
    }
  }
  return violations;
}

std::vector<FullAccount> FullAccounts(const absl::Status& status) {
  std::vector<FullAccount> accounts;
  if (const auto detail = DetailOf<google::rpc::QuotaFailure>(status)) {
    for (const auto& violation : detail->violations()) {
      accounts.push_back({violation.subject(), DimensionOf(violation, "rule"), violation.quota_metric(),
                          DimensionOf(violation, "asked"), DimensionOf(violation, "remaining"),
                          violation.description()});
    }
  }
  return accounts;
}

std::optional<std::chrono::milliseconds> RetryDelay(const absl::Status& status) {
  const auto detail = DetailOf<google::rpc::RetryInfo>(status);
  if (!detail) return std::nullopt;
  const auto delay = std::chrono::seconds(detail->retry_delay().seconds()) +
                     std::chrono::nanoseconds(detail->retry_delay().nanos());
  return std::chrono::ceil<std::chrono::milliseconds>(delay);
}

std::string Reason(const absl::Status& status) {
  const auto detail = DetailOf<google::rpc::ErrorInfo>(status);
  return detail ? detail->reason() : std::string();
}

std::string Metadata(const absl::Status& status, const std::string& key) {
  const auto detail = DetailOf<google::rpc::ErrorInfo>(status);
  if (!detail) return {};
  const auto found = detail->metadata().find(key);
  return found == detail->metadata().end() ? std::string() : found->second;
}

bool IsOverQuota(const absl::Status& status) {
  return absl::IsResourceExhausted(status) && Reason(status) == "QUOTA";
}

bool WasRefused(const absl::Status& status) {
  const std::string reason = Reason(status);
  return reason == "OVERLOADED" || reason == "STORE_FULL" || IsOverQuota(status);
}

bool IsOutcomeUnknown(const absl::Status& status) {
  if (IsNeverReached(status) || WasRefused(status)) return false;
  // Damage that the server reports has a reason, and nothing was charged; a stream that broke off has none.
  const bool is_broken_stream = absl::IsDataLoss(status) && Reason(status).empty();
  return absl::IsUnavailable(status) || absl::IsUnknown(status) || absl::IsDeadlineExceeded(status) ||
         is_broken_stream;
}

absl::Status AfterUnknownOutcome(const absl::Status& earlier, const absl::Status& last) {
  const bool is_settled = last.ok() || absl::IsInvalidArgument(last) || absl::IsAlreadyExists(last) ||
                          absl::IsFailedPrecondition(last) || !FullAccounts(last).empty();
  if (is_settled || IsOutcomeUnknown(last)) return last;
  absl::Status unknown(earlier.code(), absl::StrCat(last.message(), "; the attempt before it was lost"));
  earlier.ForEachPayload(
      [&](absl::string_view url, const absl::Cord& payload) { unknown.SetPayload(url, payload); });
  return unknown;
}

absl::Status Unreachable(std::string_view server, std::string_view cause) {
  absl::Status status = absl::UnavailableError(
      absl::StrCat("the server at ", std::string(server), " is gone: ", std::string(cause)));
  status.SetPayload(kUnreachableUrl, absl::Cord());
  return status;
}

absl::Status NeverReached(std::string_view server) {
  absl::Status status = absl::UnavailableError(
      absl::StrCat("no server answers at ", std::string(server), "; nothing was sent"));
  status.SetPayload(kUnreachableUrl, absl::Cord());
  status.SetPayload(kNeverReachedUrl, absl::Cord());
  return status;
}

bool IsNeverReached(const absl::Status& status) {
  return status.GetPayload(kNeverReachedUrl).has_value();
}

bool IsUnreachable(const absl::Status& status) {
  return status.GetPayload(kUnreachableUrl).has_value();
}

namespace {

// FNV-1a: spreads clients in time; it decides nothing about data.
uint64_t Spread(std::string_view request_id, int failures) {
  uint64_t hash = 14695981039346656037u ^ static_cast<uint64_t>(failures);
  for (const char c : request_id) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  return hash >> 32;
}

}  // namespace

bool MayRetry(const absl::Status& status) {
  if (absl::IsUnavailable(status)) return true;
  return (absl::IsAborted(status) || IsOverQuota(status)) && RetryDelay(status).has_value();
}

std::chrono::milliseconds DelayAfter(const RetryPolicy& policy, int failures, const absl::Status& status,
                                     std::string_view request_id) {
  auto delay = policy.first_delay;
  for (int i = 1; i < failures && delay < policy.longest_delay; ++i) delay *= 2;
  delay = std::min(delay, policy.longest_delay);
  const auto asked = RetryDelay(status).value_or(std::chrono::milliseconds(0));
  const auto least = std::max(delay / 2, asked);
  const auto width = std::max(delay - delay / 2, asked / 2);
  return least + std::chrono::milliseconds(static_cast<int64_t>(Spread(request_id, failures) %
                                                                (static_cast<uint64_t>(width.count()) + 1)));
}

}  // namespace curator::client
