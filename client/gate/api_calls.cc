#include "client/gate/api_calls.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/gate/api_json.h"
#include "client/gate/api_methods.h"
#include "client/gate/positions.h"

namespace curator::gate {
namespace {

// An events stream that is counted while it is open.
class CountedStream final : public EventStream {
 public:
  CountedStream(std::shared_ptr<EventStream> stream, std::atomic<int>& count)
      : stream_(std::move(stream)), count_(count) {
    ++count_;
  }
  ~CountedStream() override { --count_; }

  void Send(std::string_view text) override { stream_->Send(text); }
  void Close() override { stream_->Close(); }
  void OnClosed(std::function<void()> on_closed) override { stream_->OnClosed(std::move(on_closed)); }

 private:
  const std::shared_ptr<EventStream> stream_;
  std::atomic<int>& count_;
};

}  // namespace

// One call of a page.
struct ApiCalls::Asked {
  const ApiMethod& method;
  std::unique_ptr<google::protobuf::Message> request;
  std::string key;
  std::shared_ptr<Exchange> exchange;
  std::shared_ptr<CallPlaces::Place> place;
  absl::Mutex mutex = {};
  std::weak_ptr<RunningCall> call ABSL_GUARDED_BY(mutex) = {};  // the newest attempt, which holds this
  bool is_second ABSL_GUARDED_BY(mutex) = false;                // whether `call` is the second attempt
  bool has_left ABSL_GUARDED_BY(mutex) = false;
};

void ApiCalls::Call(const std::string& name, const std::string& body, const std::string& key,
                    const Session& session, std::shared_ptr<Exchange> exchange) {
  const ApiMethod* method = FindApiMethod(name);
  if (method == nullptr) {
    return exchange->Respond(
        ErrorResponse(absl::NotFoundError(absl::StrCat("there is no call ", name, " for pages"))));
  }
  std::shared_ptr<CallPlaces::Place> place = places_.Take(session.principal);
  if (place == nullptr) return exchange->Respond(TooManyCalls());
  absl::StatusOr<std::unique_ptr<google::protobuf::Message>> request = RequestFromJson(*method, body);
  if (!request.ok()) return exchange->Respond(ErrorResponse(request.status()));
  const std::shared_ptr<Asked> asked(new Asked{.method = *method,
                                               .request = *std::move(request),
                                               .key = key,
                                               .exchange = std::move(exchange),
                                               .place = std::move(place)});
  asked->exchange->OnLeft([weak = std::weak_ptr<Asked>(asked)] {
    const std::shared_ptr<Asked> alive = weak.lock();
    if (alive == nullptr) return;
    const absl::MutexLock lock(&alive->mutex);
    alive->has_left = true;
    if (const auto running = alive->call.lock()) running->Cancel();
  });
  Start(asked, session.credential, /*was_renewed=*/false);
}

// The call can be answered, and the second attempt be made, on another thread before StartCall() returns.
void ApiCalls::Start(const std::shared_ptr<Asked>& asked, const Credential& credential, bool was_renewed) {
  const std::shared_ptr<RunningCall> call =
      StartCall(channels_, asked->method, *asked->request, credential, asked->place,
                [this, asked, credential, was_renewed](absl::StatusOr<std::string> json) {
                  Answer(asked, credential, was_renewed, std::move(json));
                });
  const absl::MutexLock lock(&asked->mutex);
  if (asked->is_second && !was_renewed) return;
  asked->call = call;
  asked->is_second = was_renewed;
  if (asked->has_left && call != nullptr) call->Cancel();
}

// The place is held until the browser has taken the answer.
void ApiCalls::Answer(const std::shared_ptr<Asked>& asked, const Credential& credential, bool was_renewed,
                      absl::StatusOr<std::string> json) {
  if (json.ok()) {
    HttpResponse response = JsonResponse(200, *std::move(json));
    response.place = asked->place;
    return asked->exchange->Respond(std::move(response));
  }
  const absl::Status& error = json.status();
  if (!absl::IsUnauthenticated(error)) return asked->exchange->Respond(ErrorResponse(error));
  renewals_.Renew(asked->key, credential, error, [this, asked, error, was_renewed](bool renewed) {
    AfterRenewal(asked, error, renewed && !was_renewed);
  });
}

void ApiCalls::AfterRenewal(const std::shared_ptr<Asked>& asked, const absl::Status& refusal, bool renewed) {
  const std::optional<Session> session = sessions_.Look(asked->key);
  if (!session) return asked->exchange->Respond(NoSession());
  if (!renewed && client::Reason(refusal) != Renewals::kExpired) {
    return asked->exchange->Respond(ErrorResponse(refusal));
  }
  if (!renewed) {
    return asked->exchange->Respond(ErrorResponse(
        Refusal{.status = 503,
                .code = "UNAVAILABLE",
                .reason = "NO_ISSUER",
                .message = "the identity provider, which has to renew this login, cannot be reached"}));
  }
  Start(asked, session->credential, /*was_renewed=*/true);
}

std::shared_ptr<LedgerFeed> ApiCalls::FeedOf(const std::string& key) {
  const absl::MutexLock lock(&mutex_);
  std::shared_ptr<LedgerFeed>& feed = feeds_[key];
  if (feed != nullptr) return feed;
  const auto credential = [this, key] {
    const std::optional<Session> session = sessions_.Look(key);
    return session ? session->credential : Credential{};
  };
  feed = std::make_shared<LedgerFeed>(
      FeedParts{.channels = channels_,
                .credential = credential,
                .renew =
                    [this, key](const Credential& refused, const absl::Status& refusal,
                                std::function<void(bool)> done) {
                      // Off the feed's thread, which holds its lock.
                      return later_.Run([this, key, refused, refusal, done = std::move(done)] {
                        renewals_.Renew(key, refused, refusal, done);
                      });
                    },
                .later = [this](absl::Duration delay,
                                std::function<void()> work) { return later_.Run(std::move(work), delay); }});
  return feed;
}

void ApiCalls::Follow(const HttpRequest& request, const std::string& key,
                      std::shared_ptr<Exchange> exchange) {
  absl::StatusOr<Positions> positions = ParsePositions(request.Parameter("watch"));
  if (!positions.ok()) return exchange->Respond(ErrorResponse(positions.status()));
  const std::string_view last = request.Header("last-event-id");
  if (!last.empty() && !Resume(last, *positions)) {
    return exchange->Respond(
        ErrorResponse(absl::InvalidArgumentError("Last-Event-ID: is no id of a stream of these datasets")));
  }
  const std::shared_ptr<LedgerFeed> feed = FeedOf(key);
  if (const absl::Status can_add = feed->CheckRoom(*positions); !can_add.ok()) {
    return exchange->Respond(ErrorResponse(can_add));
  }
  const auto stream =
      std::make_shared<CountedStream>(exchange->StartEvents({{"Cache-Control", "no-store"}}), following_);
  feed->Add(stream, *std::move(positions));
  // The session may have ended meanwhile.
  if (!sessions_.Look(key)) EndSession(key);
}

void ApiCalls::EndSession(const std::string& key) {
  std::shared_ptr<LedgerFeed> feed;
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = feeds_.find(key);
    if (found == feeds_.end()) return;
    feed = std::move(found->second);
    feeds_.erase(found);
  }
  feed->End();
}

}  // namespace curator::gate
