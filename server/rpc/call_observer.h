// Observes all calls: how many are being answered, and how each ended. Adds metadata to all answers.
//
// A server that stops waits for the calls that are being answered. It cannot wait for connections to close
// instead: a client with an idle connection notices nothing until its next call.
//
// What is known of a call when it ends, for log and audit, is who made it, what it names, and its status.
// There is no duration and no size, because those of an import reveal the number of records.
#pragma once

#include <grpcpp/server_context.h>
#include <grpcpp/support/server_interceptor.h>

#include <functional>
#include <memory>
#include <string>
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

  // Whether the audit has such calls. It lacks those that anybody may make and that say nothing: of the
  // server's health and version, and of what is public.
  bool is_audited() const;
};

// What becomes known of a call while it is being answered. Empty: nothing.
struct CallNotes {
  std::string principal = {};
  audit::IdentityKind identity = audit::IdentityKind::kNone;
  std::string credential_id = {};
  std::string dataset = {};
  std::string request_id = {};
  std::vector<FullAccount> full_accounts = {};
};

using Metadata = std::vector<std::pair<std::string, std::string>>;

// Thread-safe. Must outlive the server whose calls it observes.
class CallObserver {
 public:
  // `on_end` may be called from any thread and must not block. `of_answers` is sent before every answer and
  // every error.
  explicit CallObserver(std::function<void(const CallEnd&)> on_end, Metadata of_answers = {})
      : on_end_(std::move(on_end)), of_answers_(std::move(of_answers)) {}

  // For the builder of a server whose calls come from such peers.
  std::unique_ptr<grpc::experimental::ServerInterceptorFactoryInterface> MakeInterceptorFactory(
      audit::PeerClass peer);

  // Adds what is known of the call of this context, which is being answered, to what was known before.
  void Note(const grpc::ServerContextBase& context, const CallNotes& notes);

  // Waits until no call is being answered. False when `deadline` passed before that.
  bool AwaitNoCalls(absl::Time deadline) const;

 private:
  class Interceptor;
  class Factory;
  void Begin();
  void End(const grpc::ServerContextBase* context);
  CallNotes NotesOf(const grpc::ServerContextBase* context) const;

  const std::function<void(const CallEnd&)> on_end_;
  const Metadata of_answers_;
  mutable absl::Mutex mutex_;
  int count_ ABSL_GUARDED_BY(mutex_) = 0;
  std::unordered_map<const grpc::ServerContextBase*, CallNotes> notes_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::rpc
