#include "rpc/call_observer.h"

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/server_context.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "absl/strings/str_split.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/trace.h"
#include "google/rpc/error_details.pb.h"
#include "google/rpc/status.pb.h"
#include "rpc/call_measures.h"
#include "rpc/handle.h"

namespace curator::rpc {
namespace {

using grpc::experimental::InterceptionHookPoints;
using grpc::experimental::InterceptorBatchMethods;
using grpc::experimental::ServerRpcInfo;

// The context of a method that does not exist is a generic one.
bool IsKnown(ServerRpcInfo& info) {
  return dynamic_cast<const grpc::GenericCallbackServerContext*>(info.server_context()) == nullptr;
}

// gRPC refuses a message that it cannot parse as if the method did not exist, and without a word; an error of
// ours always has words.
bool CouldNotParse(ServerRpcInfo& info, const grpc::Status& status) {
  return IsKnown(info) && status.error_code() == grpc::StatusCode::UNIMPLEMENTED &&
         status.error_message().empty();
}

absl::Status CannotRead() {
  return absl::InvalidArgumentError(
      "the request is no message of this method: its bytes are malformed, or its fields are nested more than "
      "100 deep");
}

// Which ToGrpcStatus() gave the status; empty where it has none.
google::rpc::ErrorInfo InfoIn(const grpc::Status& status) {
  google::rpc::Status details;
  google::rpc::ErrorInfo info;
  if (!details.ParseFromString(status.error_details())) return {};
  for (const google::protobuf::Any& detail : details.details()) {
    if (detail.UnpackTo(&info)) return info;
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

// None where the call has no valid header, or several.
std::optional<std::string> SentTraceId(const grpc::ServerContextBase& context) {
  const auto [first, last] = context.client_metadata().equal_range(kTraceParentKey);
  if (first == last || std::next(first) != last) return std::nullopt;
  return TraceIdIn({first->second.data(), first->second.size()});
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
  record.reason = InfoIn(status).reason();
  record.decision = DecisionOf(record);
  record.full_accounts = std::move(notes.full_accounts);
  record.trace_id = std::move(notes.trace_id);
  if (record.dataset.empty() && !record.full_accounts.empty()) {
    record.dataset = DatasetOfAccount(record.full_accounts.front().account);
  }
  return record;
}

// A watch is allowed or refused for each dataset that was looked at. An error is that of the dataset that it
// names, or of the call as a whole.
void DivideByDataset(CallEnd& end, std::vector<std::string> allowed, const grpc::Status& status) {
  audit::AuditRecord& record = end.record;
  const auto metadata = InfoIn(status).metadata();
  const auto concerned = metadata.find("dataset");
  if (concerned != metadata.end()) record.dataset = concerned->second;
  if (record.decision == audit::Decision::kAllowed) {
    if (allowed.empty()) record.decision = audit::Decision::kNone;
    if (!allowed.empty()) record.dataset = allowed.front();
  }
  std::erase(allowed, record.dataset);
  end.more_allowed = std::move(allowed);
}

}  // namespace

std::vector<audit::AuditRecord> CallEnd::Records() const {
  std::vector<audit::AuditRecord> records = {record};
  for (const std::string& dataset : more_allowed) {
    audit::AuditRecord more = record;
    more.dataset = dataset;
    more.full_accounts.clear();
    if (record.decision != audit::Decision::kAllowed) {
      more.decision = audit::Decision::kAllowed;
      more.status = absl::StatusCode::kOk;
      more.reason.clear();
    }
    records.push_back(std::move(more));
  }
  return records;
}

bool CallEnd::is_audited() const {
  const bool is_public = record.decision == audit::Decision::kAllowed && !IsIdentified(record);
  return !is_public && !path.starts_with("/grpc.health.");
}

// Lives as long as its call.
class CallObserver::Interceptor final : public grpc::experimental::Interceptor {
 public:
  Interceptor(CallObserver& calls, audit::PeerClass peer, ServerRpcInfo& info)
      : calls_(calls), peer_(peer), info_(info) {
    trace_id_ = calls_.Begin(info_.method(), info_.server_context());
  }
  ~Interceptor() override { calls_.End(info_.method(), info_.server_context()); }

  void Intercept(InterceptorBatchMethods* methods) override {
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_INITIAL_METADATA)) {
      methods->GetSendInitialMetadata()->insert(calls_.of_answers_.begin(), calls_.of_answers_.end());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::POST_RECV_MESSAGE)) {
      // The message that gRPC has parsed for a method of ours; null for one that it could not.
      const auto* const message = static_cast<const google::protobuf::Message*>(methods->GetRecvMessage());
      if (is_ours_ && message != nullptr) received_bytes_ += static_cast<int64_t>(message->ByteSizeLong());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_MESSAGE)) {
      if (const grpc::ByteBuffer* const bytes = methods->GetSerializedSendMessage(); bytes != nullptr)
        sent_bytes_ += static_cast<int64_t>(bytes->Length());
    }
    if (methods->QueryInterceptionHookPoint(InterceptionHookPoints::PRE_SEND_STATUS)) {
      if (CouldNotParse(info_, methods->GetSendStatus()))
        methods->ModifySendStatus(ToGrpcStatus(CannotRead()));
      CallNotes notes = calls_.NotesOf(info_.server_context());
      const bool is_watch = notes.is_watch_of_datasets;
      std::vector<std::string> allowed = std::move(notes.allowed_datasets);
      audit::AuditRecord record = RecordOf(info_.method(), std::move(notes), methods->GetSendStatus());
      record.time_us = began_us_;
      record.peer = peer_;
      const TraceScope trace(trace_id_);
      CallEnd end = EndOf(std::move(record));
      if (is_watch) DivideByDataset(end, std::move(allowed), methods->GetSendStatus());
      calls_.on_end_(end);
    }
    methods->Proceed();
  }

 private:
  CallEnd EndOf(audit::AuditRecord record) const {
    CallEnd end{.path = info_.method(), .record = std::move(record)};
    end.took = MeasuredDuration(measured_, absl::FromChrono(std::chrono::steady_clock::now() - began_));
    if (measured_ == Measured::kNothing) return end;
    // How many states of a draw it sends depends on how long the draw takes.
    if (measured_ == Measured::kStepWithoutBytes) return end;
    end.received_bytes = received_bytes_;
    end.sent_bytes = sent_bytes_;
    return end;
  }

  CallObserver& calls_;
  const audit::PeerClass peer_;
  ServerRpcInfo& info_;
  const int64_t began_us_ = absl::ToUnixMicros(absl::Now());
  const std::chrono::steady_clock::time_point began_ = std::chrono::steady_clock::now();
  const Measured measured_ = MeasuredOf(info_.method());
  const bool is_ours_ = measured_ != Measured::kNothing && IsKnown(info_);
  std::string trace_id_;
  // A call may receive and send at the same time.
  std::atomic<int64_t> received_bytes_ = 0;
  std::atomic<int64_t> sent_bytes_ = 0;
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
  known.is_watch_of_datasets |= notes.is_watch_of_datasets;
  known.allowed_datasets.insert(known.allowed_datasets.end(), notes.allowed_datasets.begin(),
                                notes.allowed_datasets.end());
  if (!notes.full_accounts.empty()) known.full_accounts = notes.full_accounts;
}

std::string CallObserver::Begin(std::string_view path, const grpc::ServerContextBase* context) {
  hooks_.on_begin(path);
  std::string trace_id = SentTraceId(*context).value_or(std::string());
  if (trace_id.empty() && hooks_.entropy != nullptr)
    trace_id = curator::TraceIdOf(hooks_.entropy(kTraceIdBytes));
  const absl::MutexLock lock(&mutex_);
  ++count_;
  if (!trace_id.empty()) notes_[context].trace_id = trace_id;
  return trace_id;
}

void CallObserver::End(std::string_view path, const grpc::ServerContextBase* context) {
  hooks_.on_gone(path);
  const absl::MutexLock lock(&mutex_);
  --count_;
  notes_.erase(context);
}

std::string CallObserver::TraceIdOf(const grpc::ServerContextBase& context) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = notes_.find(&context);
  return found == notes_.end() ? std::string() : found->second.trace_id;
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
