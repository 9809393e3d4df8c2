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
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "absl/time/time.h"
#include "client/gate/credential.h"
#include "client/gate/steady_time.h"

namespace curator::gate {

struct Session {
  std::string principal;
  Credential credential;
  std::string issuer = {};         // of a login: its alias
  std::string refresh_token = {};  // of a login; empty where there is none
  std::string csrf = {};           // what pages of the session send back
  absl::Time start = {};           // by SteadyNow(), as the others
  absl::Time last_use = {};
  absl::Time renewal = absl::InfinitePast();  // the last one of a login
};

struct SessionLimits {
  absl::Duration idle = absl::Minutes(30);   // without a use
  absl::Duration longest = absl::Hours(12);  // whatever its credential allows
  size_t most = 10'000;
  size_t most_of_principal = 20;  // then the one that was used least recently ends
};

class Sessions {
 public:
  explicit Sessions(SessionLimits limits = {}, std::function<absl::Time()> now = SteadyNow)
      : limits_(limits), now_(std::move(now)) {}
  Sessions(const Sessions&) = delete;
  Sessions& operator=(const Sessions&) = delete;

  // Called with the key of each session that ends, and what it was, for whatever cause. Set before any other
  // call.
  using OnEnded = std::function<void(const std::string& key, const Session& session)>;
  void OnEnd(OnEnded on_end) { on_end_ = std::move(on_end); }

  // Begins a session for what is set of `session`; csrf and times are made here. The cookie's id; none where
  // there are too many sessions.
  std::optional<std::string> Begin(Session session);

  static std::string KeyOf(std::string_view id);
  // The session, unless it has ended; by a request of its browser, which is a use of it.
  std::optional<Session> Use(const std::string& key);
  // The same without a use: an open stream does not keep a session. Ends nothing, so that nothing is called.
  std::optional<Session> Look(const std::string& key) const;
  // After how long it ends by itself if it is not used.
  absl::Duration TimeLeftOf(const Session& session) const { return EndOf(session) - now_(); }
  absl::Duration longest() const { return limits_.longest; }

  // After its login was renewed. False, and nothing is done, where the session has ended.
  bool Renew(const std::string& key, const std::string& token, const std::string& refresh_token);
  // How long its login has had the credential that a renewal brought; infinite where none has.
  absl::Duration SinceRenewalOf(const Session& session) const { return now_() - session.renewal; }
  void End(const std::string& key);
  // Ends those whose time is over. Called now and then.
  void Sweep();

  size_t size() const;

 private:
  using Ended = std::vector<std::pair<std::string, Session>>;

  absl::Time EndOf(const Session& session) const;
  bool IsOver(const Session& session, absl::Time now) const;
  std::optional<std::string> LeastRecentOf(const std::string& principal) const
      ABSL_EXCLUSIVE_LOCKS_REQUIRED(mutex_);
  void Report(const Ended& ended) const;

  const SessionLimits limits_;
  const std::function<absl::Time()> now_;
  OnEnded on_end_ = [](const std::string&, const Session&) {};
  mutable absl::Mutex mutex_;
  std::unordered_map<std::string, Session> sessions_ ABSL_GUARDED_BY(mutex_);  // by key
};

}  // namespace curator::gate
