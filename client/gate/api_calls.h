// What pages ask: calls of the server, and the events of histories, for the session of the request's cookie.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <unordered_map>

#include "absl/base/thread_annotations.h"
#include "absl/synchronization/mutex.h"
#include "client/gate/call_places.h"
#include "client/gate/http.h"
#include "client/gate/ledger_feed.h"
#include "client/gate/renewals.h"
#include "client/gate/sessions.h"
#include "client/gate/upstream.h"
#include "client/gate/workers.h"

namespace curator::gate {

class ApiCalls {
 public:
  // All must outlive this object.
  ApiCalls(Channels& channels, Sessions& sessions, Renewals& renewals, CallPlaces& places, Workers& later)
      : channels_(channels), sessions_(sessions), renewals_(renewals), places_(places), later_(later) {}

  // POST /api/v1/SERVICE/METHOD for a session; `name` is "SERVICE/METHOD".
  void Call(const std::string& name, const std::string& body, const std::string& key, const Session& session,
            std::shared_ptr<Exchange> exchange);
  // GET /api/v1/events for a session.
  void Follow(const HttpRequest& request, const std::string& key, std::shared_ptr<Exchange> exchange);
  // The session has ended: its streams end, too.
  void EndSession(const std::string& key);

  // Open streams of events.
  int following() const { return following_; }

 private:
  struct Asked;

  // `was_renewed`: this is the second attempt, after a renewal of the session's credential.
  void Start(const std::shared_ptr<Asked>& asked, const Credential& credential, bool was_renewed);
  void Answer(const std::shared_ptr<Asked>& asked, const Credential& credential, bool was_renewed,
              absl::StatusOr<std::string> json);
  void AfterRenewal(const std::shared_ptr<Asked>& asked, const absl::Status& refusal, bool renewed);
  std::shared_ptr<LedgerFeed> FeedOf(const std::string& key);

  Channels& channels_;
  Sessions& sessions_;
  Renewals& renewals_;
  CallPlaces& places_;
  Workers& later_;
  std::atomic<int> following_ = 0;
  absl::Mutex mutex_;
  std::unordered_map<std::string, std::shared_ptr<LedgerFeed>> feeds_ ABSL_GUARDED_BY(mutex_);  // by session
};

}  // namespace curator::gate
