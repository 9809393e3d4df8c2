#include "rpc/call_observer.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// gRPC refuses a message that it cannot parse as if the method did not exist, and without a word; an error of
// ours always has words. The context of a method that does not exist is a generic one.
bool CouldNotParse(ServerRpcInfo& info, const grpc::Status& status) {
  const bool is_known =
      dynamic_cast<const grpc::GenericCallbackServerContext*>(info.server_context()) == nullptr;
  return is_known && status.error_code() == grpc::StatusCode::UNIMPLEMENTED && status.error_message().empty();
}

absl::Status CannotRead() {
  return absl::InvalidArgumentError(
      "the request is no message of this method: its bytes are malformed, or its fields are nested more than "
      "100 deep");
}

// ErrorInfo.reason, which ToGrpcStatus() gave the status.
std::string ReasonIn(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (!details.ParseFromString(status.error_details())) return {};
  for (const google::protobuf::Any& detail : details.details()) {
    if (detail.UnpackTo(&info)) return info.reason();
  }
  return {};
}

bool IsIdentified(const audit::AuditRecord& record) {
  return !record.principal.empty() || record.identity != audit::IdentityKind::kNone;
}

// A call that was cancelled by its client, or whose deadline has passed, was not refused.
audit::Decision DecisionOf(const audit::AuditRecord& record) {
  const bool has_left =
      record.status == absl::StatusCode::kCancelled || record.status == absl::StatusCode::kDeadlineExceeded;
  const bool is_allowed = record.status == absl::StatusCode::kOk || (has_left && IsIdentified(record));
  return is_allowed ? audit::Decision::kAllowed : audit::Decision::kRefused;
}

// "census" of "dataset/census/analyst/ana": a batch names no dataset.
std::string DatasetOfAccount(const std::string& account) {
  const std::vector<std::string> parts = absl::StrSplit(account, '/');
  return parts.size() > 1 ? parts[1] : std::string();
}

audit::AuditRecord RecordOf(std::string_view path, CallNotes notes, const grpc::Status& status) {
  constexpr std::string_view kPackage = "/curator.v1.";
  if (path.starts_with(kPackage)) path.remove_prefix(kPackage.size());
  audit::AuditRecord record;
  record.method = std::string(path);
  record.principal = std::move(notes.principal);
  record.identity = notes.identity;
  record.credential_id = std::move(notes.credential_id);
  record.dataset = std::move(notes.dataset);
  record.request_id = std::move(notes.request_id);
  record.status = static_cast<absl::StatusCode>(status.error_code());
  record.reason = ReasonIn(status);
  record.decision = DecisionOf(record);
  record.full_accounts = std::move(notes.full_accounts);
  if (record.dataset.empty() && !record.full_accounts.empty()) {
    record.dataset = DatasetOfAccount(record.full_accounts.front().account);
  }
  return record;
}

}  // namespace

bool CallEnd::is_audited() const {
  const bool is_public = record.decision == audit::Decision::kAllowed && !IsIdentified(record);
  return !is_public && !path.starts_with("/grpc.health.");
}

// Lives as long as its call.
class CallObserver::Interceptor final : public grpc::experimental::Interceptor {
 public:
  Interceptor(CallObserver& calls, audit::PeerClass peer, ServerRpcInfo& info)
      : calls_(calls), peer_(peer), info_(info) {
    calls_.Begin();
  }
  ~Interceptor() override { calls_.End(info_.server_context()); }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->insert(calls_.of_answers_.begin(), calls_.of_answers_.end());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      if (CouldNotParse(info_, methods->GetSendStatus()))
        methods->ModifySendStatus(ToGrpcStatus(CannotRead()));
      audit::AuditRecord record =
          RecordOf(info_.method(), calls_.NotesOf(info_.server_context()), methods->GetSendStatus());
      record.time_us = began_us_;
      record.peer = peer_;
      calls_.on_end_({info_.method(), std::move(record)});
    }
    methods->Proceed();
  }

 private:
  CallObserver& calls_;
  const audit::PeerClass peer_;
  ServerRpcInfo& info_;
  const int64_t began_us_ = absl::ToUnixMicros(absl::Now());
};

class CallObserver::Factory final : public grpc::experimental::ServerInterceptorFactoryInterface {
 public:
  Factory(CallObserver& calls, audit::PeerClass peer) : calls_(calls), peer_(peer) {}

  grpc::experimental::Interceptor* CreateServerInterceptor(ServerRpcInfo* info) override {
    return new CallObserver::Interceptor(calls_, peer_, *info);
  }

 private:
  CallObserver& calls_;
  const audit::PeerClass peer_;
};

std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> CallObserver::MakeInterceptorFactory(
    audit::PeerClass peer) {
  return std::make_unique<Factory>(*this, peer);
}

void CallObserver::Note(const grpc::ServerContextBase& context, const CallNotes& notes) {
  const absl::MutexLock lock(&mutex_);
  CallNotes& known = notes_[&context];
  if (notes.identity != audit::IdentityKind::kNone) known.identity = notes.identity;
  for (std::string CallNotes::*const member :
       {&CallNotes::principal, &CallNotes::credential_id, &CallNotes::dataset, &CallNotes::request_id}) {
    if (!(notes.*member).empty()) known.*member = notes.*member;
  }
  if (!notes.full_accounts.empty()) known.full_accounts = notes.full_accounts;
}

void CallObserver::Begin() {
  const absl::MutexLock lock(&mutex_);
  ++count_;
}

void CallObserver::End(const grpc::ServerContextBase* context) {
  const absl::MutexLock lock(&mutex_);
  --count_;
  notes_.erase(context);
}

CallNotes CallObserver::NotesOf(const grpc::ServerContextBase* context) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = notes_.find(context);
  return found == notes_.end() ? CallNotes() : found->second;
}

bool CallObserver::AwaitNoCalls(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_none = [this]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return count_ == 0; };
  return mutex_.AwaitWithDeadline(absl::Condition(&is_none), deadline);
}

}  // namespace curator::rpc
