// The sessions of browsers, in memory alone: a gate that starts again has none.
//
// A browser has a session's id in a cookie that no script can read; the gate keeps the digest of the id
// alone, its *key*. Thread-safe.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/gate/credential.h"

namespace curator::gate {

struct Session {
  std::string principal;
  Credential credential;
  std::string issuer = {};         // of a login: its alias
  std::string refresh_token = {};  // of a login; empty where there is none
  std::string csrf = {};           // what pages of the session send back
  absl::Time start = {};
  absl::Time last_use = {};
};

struct SessionLimits {
  absl::Duration idle = absl::Minutes(30);   // without a use
  absl::Duration longest = absl::Hours(12);  // whatever its credential allows
  size_t most = 10'000;
  size_t most_of_principal = 20;  // then the one that was used least recently ends
};

class Sessions {
 public:
  explicit Sessions(SessionLimits limits = {}, std::function<absl::Time()> now = absl::Now)
      : limits_(limits), now_(std::move(now)) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // Called with the key of each session that ends, for whatever cause. Set before any other call.
  void OnEnd(std::function<void(const std::string& key)> on_end) { on_end_ = std::move(on_end); }

  // Begins a session for what is set of `session`; csrf and times are made here. The cookie's id; none where
  // there are too many sessions.
  std::optional<std::string> Begin(Session session);

  static std::string KeyOf(std::string_view id);
  // The session, unless it has ended; by a request of its browser, which is a use of it.
  std::optional<Session> Use(const std::string& key);
  // The same without a use: an open stream does not keep a session. Ends nothing, so that nothing is called.
  std::optional<Session> Look(const std::string& key) const;
  // When it ends by itself if it is not used.
  absl::Time EndOf(const Session& session) const;

  // After its login was renewed; nothing where the session has ended.
  void Renew(const std::string& key, const std::string& token, const std::string& refresh_token);
  void End(const std::string& key);
  // Ends those whose time is over. Called now and then.
  void Sweep();

  size_t size() const;

 private:
  bool IsOver(const Session& session, absl::Time now) const;
  std::optional<std::string> LeastRecentOf(const std::string& principal) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const std::vector<std::string>& ended) const;

  const SessionLimits limits_;
  const std::function<absl::Time()> now_;
  std::function<void(const std::string& key)> on_end_ = [](const std::string&) {};
  mutable absl::Mutex mutex_;
  std::unordered_map<std::string, Session> sessions_ ABSL_GUARDED_BY(mutex_);  // by key
};

}  // namespace curator::gate
