#include "metrics/call_metrics.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/time.h"

namespace curator::metrics {
namespace {

constexpr size_t kMostReasons = 100;
constexpr std::array<std::string_view, 17> kCodeNames = {
    "OK",       "Canceled",       "Unknown",          "InvalidArgument",   "DeadlineExceeded",
    "NotFound", "AlreadyExists",  "PermissionDenied", "ResourceExhausted", "FailedPrecondition",
    "Aborted",  "OutOfRange",     "Unimplemented",    "Internal",          "Unavailable",
    "DataLoss", "Unauthenticated"};

template <typename Builder>
auto& FamilyIn(MetricSet& metrics, Builder builder, const std::string& name, const std::string& help) {
  return builder.Name(name).Help(help).Register(metrics.registry());
}

prometheus::Histogram::BucketBoundaries Bounds() {
  return {rpc::kDurationBounds.begin(), rpc::kDurationBounds.end()};
}

// By which kind of proof a caller was identified.
std::string KindOf(const audit::AuditRecord& record) {
  if (record.identity != audit::IdentityKind::kNone) return std::string(audit::WordOf(record.identity));
  return record.principal.empty() ? "none" : "name";
}

}  // namespace

CallMetrics::CallMetrics(MetricSet& metrics, std::vector<rpc::ServedMethod> methods)
    : started_(
          FamilyIn(metrics, prometheus::BuildCounter(), "grpc_server_started_total", "Calls that began.")),
      handled_(FamilyIn(metrics, prometheus::BuildCounter(), "grpc_server_handled_total",
                        "Calls that ended, by their status.")),
      seconds_(
          FamilyIn(metrics, prometheus::BuildHistogram(), "grpc_server_handling_seconds",
                   "Duration of calls. Calls that handle records have none, and of those that wait for a "
                   "draw the bounds are counted.")),
      received_(FamilyIn(metrics, prometheus::BuildCounter(), "grpc_server_msg_received_bytes_total",
                         "Bytes of the messages that came. Calls that handle records have none.")),
      sent_(FamilyIn(metrics, prometheus::BuildCounter(), "grpc_server_msg_sent_bytes_total",
                     "Bytes of the messages that were sent. Calls that handle records have none.")),
      in_flight_(FamilyIn(metrics, prometheus::BuildGauge(), "curator_rpc_in_flight",
                          "Calls that are being answered.")),
      identified_(metrics.registry(), "curator_auth_total", "Calls by how their callers were identified.",
                  {"kind", "outcome", "reason"}, kMostReasons),
      denied_(metrics.registry(), "curator_authz_denied_total", "Calls whose caller lacked a right.",
              {"permission"}),
      over_quota_(metrics.registry(), "curator_quota_rejected_total",
                  "Calls that a quota of their principal refused.", {"permission"}),
      refused_(metrics.registry(), "curator_refusals_total",
               "Calls that a full account, a rule of the owner, a quota, or overload refused.", {"reason"},
               kMostReasons) {
  methods.push_back({.path = "", .service = "unknown", .method = "unknown", .type = "unary"});
  paths_.reserve(methods.size());
  for (const rpc::ServedMethod& each : methods) AddMethod(each);
  unknown_ = methods_.at("").get();
}

void CallMetrics::AddMethod(const rpc::ServedMethod& served) {
  auto method = std::make_unique<Method>();
  method->labels = {
      {"grpc_service", served.service}, {"grpc_method", served.method}, {"grpc_type", served.type}};
  method->started = &started_.Add(method->labels);
  method->in_flight = &in_flight_.Add({{"grpc_service", served.service}, {"grpc_method", served.method}});
  const rpc::Measured measured = rpc::MeasuredOf(served.path);
  if (measured != rpc::Measured::kNothing) {
    method->received_bytes = &received_.Add(method->labels);
    method->sent_bytes = &sent_.Add(method->labels);
    method->seconds = &seconds_.Add(method->labels, Bounds());
  }
  Handled(*method, absl::StatusCode::kOk);
  paths_.push_back(served.path);
  methods_.emplace(paths_.back(), std::move(method));
}

CallMetrics::Method& CallMetrics::Find(std::string_view path) {
  const auto found = methods_.find(path);
  return found == methods_.end() ? *unknown_ : *found->second;
}

prometheus::Counter& CallMetrics::Handled(Method& method, absl::StatusCode code) {
  const auto number = static_cast<size_t>(code);
  const size_t index = number < kCodes ? number : static_cast<size_t>(absl::StatusCode::kUnknown);
  prometheus::Counter* known = method.handled[index];
  if (known != nullptr) return *known;
  prometheus::Labels labels = method.labels;
  labels["grpc_code"] = kCodeNames[index];
  // Whoever comes first: the family returns the same counter to all.
  known = &handled_.Add(labels);
  method.handled[index] = known;
  return *known;
}

void CallMetrics::OnEnd(const rpc::CallEnd& call) {
  Method& method = Find(call.path);
  Handled(method, call.record.status).Increment();
  if (method.seconds != nullptr && call.took.has_value())
    method.seconds->Observe(absl::ToDoubleSeconds(*call.took));
  if (method.received_bytes != nullptr && call.received_bytes.has_value())
    method.received_bytes->Increment(static_cast<double>(*call.received_bytes));
  if (method.sent_bytes != nullptr && call.sent_bytes.has_value())
    method.sent_bytes->Increment(static_cast<double>(*call.sent_bytes));
  const audit::AuditRecord& record = call.record;
  if (record.status == absl::StatusCode::kUnauthenticated) {
    identified_.Count({KindOf(record), "refused", record.reason});
  } else if (call.is_audited()) {
    identified_.Count({KindOf(record), "accepted", ""});
  }
  if (record.status != absl::StatusCode::kOk) CountRefusal(call);
}

void CallMetrics::CountRefusal(const rpc::CallEnd& call) {
  const Method& method = Find(call.path);
  const std::string permission =
      absl::StrCat(method.labels.at("grpc_service"), "/", method.labels.at("grpc_method"));
  const std::string& reason = call.record.reason;
  if (call.record.status == absl::StatusCode::kPermissionDenied) denied_.Count({permission});
  if (reason == "QUOTA") over_quota_.Count({permission});
  for (const std::string_view refusal : {"BUDGET_FULL", "OWNER_RULE", "QUOTA", "OVERLOADED"}) {
    if (reason == refusal) refused_.Count({reason});
  }
}

}  // namespace curator::metrics
