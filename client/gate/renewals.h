// What becomes of a session whose credential the server refuses: a login whose token has expired is renewed
// at its issuer, once for all calls that find it so; any other session ends.
//
// Thread-safe.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/synchronization/mutex.h"
#include "client/gate/code_flow.h"
#include "client/gate/sessions.h"
#include "client/gate/workers.h"

namespace curator::gate {

class Renewals {
 public:
  // The server's reason for refusing a token whose time is over.
  static constexpr char kExpired[] = "TOKEN_EXPIRED";

  // All must outlive this object, but `for_issuers` must not run its work any more when it is destroyed.
  Renewals(Sessions& sessions, const std::vector<LoginProvider>& providers, IssuerWorkers& for_issuers)
      : sessions_(sessions), providers_(providers), for_issuers_(for_issuers) {}

  // The server answered a call of the session, made with `refused`, with `refusal`: UNAUTHENTICATED. Calls
  // `done`, on this thread or another one, within half a minute: true when the session has another
  // credential now; false when it has ended, or when its issuer cannot be reached or the server may know the
  // issuer's key later, after which it goes on with what it has.
  void Renew(const std::string& key, const Credential& refused, const absl::Status& refusal,
             std::function<void(bool renewed)> done);
  // A session has ended: its refresh token is revoked at the issuer, where that is possible.
  void Forget(const Session& session);
  // Ends what waits, with false. After `for_issuers` has stopped; nothing is renewed from now on.
  void Close();

 private:
  using Waiting = std::vector<std::function<void(bool)>>;

  // Whether the session goes on with what it has, ends, or can be renewed.
  enum class Fate : uint8_t { kStays, kEnds, kRenewal };
  Fate FateOf(const Session& session, const absl::Status& refusal) const;
  bool RenewNow(const std::string& key, const Credential& refused);
  void Finish(const std::string& key, bool renewed);

  Sessions& sessions_;
  const std::vector<LoginProvider>& providers_;
  IssuerWorkers& for_issuers_;
  absl::Mutex mutex_;
  std::map<std::string, Waiting> waiting_ ABSL_GUARDED_BY(mutex_);  // by session, while it is renewed
};

}  // namespace curator::gate
