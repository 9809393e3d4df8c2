#include "rpc/audit_rpc.h"

#include <google/protobuf/util/time_util.h>

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/escaping.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "rpc/audit_page.h"
#include "rpc/convert_time.h"
#include "rpc/message_stream.h"
#include "rpc/page.h"

namespace curator::rpc {
namespace {

using audit::AuditFilter;
using audit::AuditPage;
using audit::AuditPlace;
using google::protobuf::util::TimeUtil;

v1::AuditRecord::Kind KindOf(audit::RecordKind kind) {
  switch (kind) {
    case audit::RecordKind::kCall:
      return v1::AuditRecord::CALL;
    case audit::RecordKind::kGap:
      return v1::AuditRecord::GAP;
    case audit::RecordKind::kRefusals:
      return v1::AuditRecord::REFUSALS;
    case audit::RecordKind::kStarted:
      return v1::AuditRecord::STARTED;
    case audit::RecordKind::kStopped:
      return v1::AuditRecord::STOPPED;
  }
  return v1::AuditRecord::KIND_UNSPECIFIED;
}

v1::Identity::Kind KindOf(audit::IdentityKind kind) {
  switch (kind) {
    case audit::IdentityKind::kOidc:
      return v1::Identity::OIDC;
    case audit::IdentityKind::kCertificate:
      return v1::Identity::CERTIFICATE;
    case audit::IdentityKind::kApiToken:
      return v1::Identity::API_TOKEN;
    case audit::IdentityKind::kNone:
      break;
  }
  return v1::Identity::KIND_UNSPECIFIED;
}

v1::AuditRecord::Decision DecisionOf(audit::Decision decision) {
  switch (decision) {
    case audit::Decision::kAllowed:
      return v1::AuditRecord::ALLOWED;
    case audit::Decision::kRefused:
      return v1::AuditRecord::REFUSED;
    case audit::Decision::kNone:
      break;
  }
  return v1::AuditRecord::DECISION_UNSPECIFIED;
}

v1::AuditRecord MessageOf(const audit::AuditRecord& record) {
  v1::AuditRecord proto;
  proto.set_id(record.id);
  proto.set_kind(KindOf(record.kind));
  *proto.mutable_time() = TimeUtil::MicrosecondsToTimestamp(record.time_us);
  proto.set_server(record.server);
  proto.set_principal(record.principal);
  proto.set_identity_kind(KindOf(record.identity));
  proto.set_credential_id(record.credential_id);
  proto.set_peer(std::string(WordOf(record.peer)));
  proto.set_method(record.method);
  proto.set_dataset(record.dataset);
  proto.set_decision(DecisionOf(record.decision));
  const bool is_call = record.kind == audit::RecordKind::kCall;
  if (is_call) proto.set_status(absl::StatusCodeToString(record.status));
  proto.set_reason(record.reason);
  proto.set_request_id(record.request_id);
  proto.set_count(record.count);
  if (record.count > 0) *proto.mutable_since_time() = TimeUtil::MicrosecondsToTimestamp(record.since_us);
  return proto;
}

// ---- The listing

absl::StatusOr<int64_t> MicrosecondsOf(std::string_view field, const google::protobuf::Timestamp& time) {
  RETURN_IF_ERROR(CheckTime(field, time));
  return TimeUtil::TimestampToMicroseconds(time);
}

absl::StatusOr<AuditFilter> FilterOf(const v1::ListAuditRecordsRequest& request) {
  AuditFilter filter{
      .principal = request.principal(), .dataset = request.dataset(), .method = request.method()};
  if (request.decision() == v1::AuditRecord::ALLOWED) filter.decision = audit::Decision::kAllowed;
  if (request.decision() == v1::AuditRecord::REFUSED) filter.decision = audit::Decision::kRefused;
  if (!filter.decision.has_value() && request.decision() != v1::AuditRecord::DECISION_UNSPECIFIED) {
    return InvalidField("decision", "must be ALLOWED or REFUSED");
  }
  if (request.has_since_time()) {
    ASSIGN_OR_RETURN(filter.since_us, MicrosecondsOf("since_time", request.since_time()));
  }
  if (request.has_until_time()) {
    ASSIGN_OR_RETURN(filter.until_us, MicrosecondsOf("until_time", request.until_time()));
  }
  return filter;
}

// What a listing is of, for its page tokens: all but the page.
std::string ListedBy(v1::ListAuditRecordsRequest request) {
  request.clear_page_size();
  request.clear_page_token();
  return absl::WebSafeBase64Escape(request.SerializeAsString());
}

absl::Status ListAuditRecords(audit::AuditStore& store, const v1::ListAuditRecordsRequest& request,
                              v1::ListAuditRecordsResponse& response) {
  ASSIGN_OR_RETURN(const AuditFilter filter, FilterOf(request));
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "audit", ListedBy(request)));
  ASSIGN_OR_RETURN(const AuditPlace place, PlaceOf(page));
  ASSIGN_OR_RETURN(const AuditPage found, store.List(filter, place, page.size));
  for (const audit::AuditRecord& record : found.records) *response.add_records() = MessageOf(record);
  if (found.next.has_value()) {
    response.set_next_page_token(TokenAfter(page, *found.next));
  }
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* AuditRpc::ListAuditRecords(grpc::CallbackServerContext* context,
                                                     const v1::ListAuditRecordsRequest* request,
                                                     v1::ListAuditRecordsResponse* response) {
  return Handle<Method::kListAuditRecords>(
      calls_, *context, *request, *response,
      [&store = store_](service::Services&, const Call&, const v1::ListAuditRecordsRequest& asked,
                        v1::ListAuditRecordsResponse& answer) {
        return rpc::ListAuditRecords(store, asked, answer);
      });
}

grpc::ServerWriteReactor<v1::AuditRecord>* AuditRpc::WatchAudit(grpc::CallbackServerContext* context,
                                                                const v1::WatchAuditRequest* request) {
  using Stream = std::shared_ptr<MessageStream<v1::AuditRecord>>;
  const std::optional<int64_t> after =
      request->has_after_id() ? std::optional<int64_t>(request->after_id()) : std::nullopt;
  return StreamToFollower<v1::AuditRecord>(
      calls_, *context, kPermissionFor<Method::kWatchAudit>, followers_,
      [&](const Stream& stream, const Principal& principal) {
        return followers_.Follow(
            after,
            [stream, principal, &calls = calls_](const std::vector<audit::AuditRecord>& records) {
              const absl::Status still = service::CheckServerRole(
                  calls.services.directory, kPermissionFor<Method::kWatchAudit>, principal);
              if (!still.ok()) return stream->End(ToGrpcStatus(still));
              std::vector<v1::AuditRecord> messages;
              for (const audit::AuditRecord& record : records) messages.push_back(MessageOf(record));
              if (!messages.empty()) stream->Send(std::move(messages));
            },
            [stream] { stream->End(ToGrpcStatus(ServerIsStopping())); });
      });
}

}  // namespace curator::rpc
