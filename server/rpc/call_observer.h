// Observes all calls: how many are being answered, and how each ended. Adds metadata to all answers.
//
// A server that stops waits for the calls that are being answered. It cannot wait for connections to close
// instead: a client with an idle connection notices nothing until its next call.
//
// What is known of a call when it ends, for log, audit and metrics, is who made it, what it names, its
// status, and of its duration and size what may be measured (call_measures.h).
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "audit/audit_record.h"

namespace curator::rpc {

struct CallEnd {
  std::string path;           // "/curator.v1.QueryService/AnswerWorkload"
  audit::AuditRecord record;  // without the server that writes it
  // Of a watch of several datasets: those that the caller was allowed to watch, without the record's.
  std::vector<std::string> more_allowed = {};
  // Of all messages of the call; none where it may not be measured.
  std::optional<absl::Duration> took = std::nullopt;
  std::optional<int64_t> received_bytes = std::nullopt;
  std::optional<int64_t> sent_bytes = std::nullopt;

  // Whether the audit has such calls. It lacks those that anybody may make and that say nothing: of the
  // server's health and version, and of what is public.
  bool is_audited() const;

  // Those of the audit: the call's, and one for each of more_allowed. At most one of them is a refusal.
  std::vector<audit::AuditRecord> Records() const;
};

// What becomes known of a call while it is being answered. Empty: nothing.
struct CallNotes {
  std::string principal = {};
  audit::IdentityKind identity = audit::IdentityKind::kNone;
  std::string credential_id = {};
  std::string dataset = {};
  // Of a watch: the caller is allowed to watch each dataset for itself, when the server looks at it.
  bool is_watch_of_datasets = false;
  std::vector<std::string> allowed_datasets = {};  // is added to what was known before
  std::string request_id = {};
  std::vector<FullAccount> full_accounts = {};
  std::string trace_id = {};
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// What a server does beside observing how calls end. All may be called from any thread and must not block.
struct CallHooks {
  // With the path of a call that begins, and of one of which nothing is left.
  std::function<void(std::string_view path)> on_begin = [](std::string_view) {};
  std::function<void(std::string_view path)> on_gone = [](std::string_view) {};
  // Returns random bytes, for the trace of a call that names none; null: such a call has no trace.
  std::function<std::string(size_t bytes)> entropy = nullptr;
};

// Thread-safe. Must outlive the server whose calls it observes.
class CallObserver {
 public:
  // `on_end` may be called from any thread and must not block; the call's trace is then the current one
  // (base/trace.h). `of_answers` is sent before every answer and every error.
  explicit CallObserver(std::function<void(const CallEnd&)> on_end, Metadata of_answers = {},
                        CallHooks hooks = {})
      : on_end_(std::move(on_end)), of_answers_(std::move(of_answers)), hooks_(std::move(hooks)) {}

  // For the builder of a server whose calls come from such peers.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeInterceptorFactory(
      audit::PeerClass peer);

  // Adds what is known of the call of this context, which is being answered, to what was known before.
  void Note(const grpc::ServerContextBase& context, const CallNotes& notes);

  // The trace of the call of this context, which is being answered; empty where it has none.
  std::string TraceIdOf(const grpc::ServerContextBase& context) const;

  // Waits until no call is being answered. False when `deadline` passed before that.
  bool AwaitNoCalls(absl::Time deadline) const;

 private:
  class Interceptor;
  class Factory;
  // Returns the call's trace.
  std::string Begin(std::string_view path, const grpc::ServerContextBase* context);
  void End(std::string_view path, const grpc::ServerContextBase* context);
  CallNotes NotesOf(const grpc::ServerContextBase* context) const;

  const std::function<void(const CallEnd&)> on_end_;
  const Metadata of_answers_;
  const CallHooks hooks_;
  mutable absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<const grpc::ServerContextBase*, CallNotes> notes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
