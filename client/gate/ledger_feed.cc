#include "client/gate/ledger_feed.h"

#include <grpcpp/support/client_callback.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/error.h"
#include "client/gate/api_json.h"
#include "curator/v1/budget.grpc.pb.h"
#include "google/rpc/error_details.pb.h"

namespace curator::gate {
namespace {

constexpr absl::Duration kBetweenAttempts = absl::Milliseconds(500);
// After an error that waiting may not mend, such as a quota.
constexpr absl::Duration kAfterRefusal = absl::Seconds(5);

std::string Event(std::string_view kind, std::string_view id, std::string_view data) {
  return absl::StrCat("event: ", std::string(kind), "\n",
                      id.empty() ? "" : absl::StrCat("id: ", std::string(id), "\n"),
                      "data: ", std::string(data), "\n\n");
}

std::string EventData(const nlohmann::ordered_json& object) {
  return object.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

std::string LiveEvent() {
  return Event("state", "", R"({"state":"live"})");
}

// Not live: the server cannot be reached, or it refuses the watch and says why.
std::string LostEvent(const absl::Status& status) {
  return Event("state", "",
               EventData({{"state", "reconnecting"},
                          {"reason", client::Reason(status)},
                          {"message", client::Reason(status).empty() ? "" : std::string(status.message())}}));
}

// The dataset whose watch the error ended; empty where it is none's.
std::string DatasetOf(const absl::Status& status) {
  google::rpc::ErrorInfo info;
  const auto payload = status.GetPayload("type.googleapis.com/google.rpc.ErrorInfo");
  if (!payload || !info.ParseFromString(std::string(*payload))) return "";
  const auto found = info.metadata().find("dataset");
  return found == info.metadata().end() ? "" : found->second;
}

}  // namespace

// One stream of the server, which lives until gRPC is done with it.
class LedgerFeed::Watch final : public grpc::ClientReadReactor<v1::LedgerEntry>,
                                public RunningCall,
                                public std::enable_shared_from_this<Watch> {
 public:
  Watch(std::weak_ptr<LedgerFeed> feed, std::unique_ptr<Channels::Lease> lease, Credential credential)
      : lease_(std::move(lease)),
        feed_(std::move(feed)),
        credential_(std::move(credential)),
        stub_(v1::BudgetService::NewStub(lease_->channel())) {}

  const Credential& credential() const { return credential_; }

  void Start(const Positions& after) {
    self_ = shared_from_this();
    lease_->Serve(weak_from_this());
    credential_.AddTo(context_);
    for (const auto& [dataset, sequence] : after) {
      v1::LedgerPosition& position = *request_.add_positions();
      position.set_dataset(dataset);
      position.set_after_sequence(sequence);
    }
    stub_->async()->WatchLedger(&context_, &request_, this);
    StartRead(&entry_);
    StartCall();
  }
  void Cancel() override { context_.TryCancel(); }

  void OnReadInitialMetadataDone(bool ok) override {
    const std::shared_ptr<LedgerFeed> feed = feed_.lock();
    if (ok && feed != nullptr) feed->OnLive(this);
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    if (const std::shared_ptr<LedgerFeed> feed = feed_.lock()) feed->OnEntry(this, entry_);
    StartRead(&entry_);
  }
  void OnDone(const grpc::Status& status) override {
    const std::shared_ptr<Watch> self = std::move(self_);
    if (const std::shared_ptr<LedgerFeed> feed = feed_.lock()) feed->OnEnd(this, client::FromGrpc(status));
  }

 private:
  const std::unique_ptr<Channels::Lease> lease_;  // the first member: destroyed when nothing uses the channel
  const std::weak_ptr<LedgerFeed> feed_;
  const Credential credential_;
  const std::unique_ptr<v1::BudgetService::Stub> stub_;
  grpc::ClientContext context_;
  v1::WatchLedgerRequest request_;
  v1::LedgerEntry entry_;
  std::shared_ptr<Watch> self_;
};

absl::Status LedgerFeed::CheckRoom(const Positions& positions) const {
  const absl::MutexLock lock(&mutex_);
  Positions all = Wanted();
  all.insert(positions.begin(), positions.end());
  if (pages_.size() < kMostPages && all.size() <= kMostWatched) return absl::OkStatus();
  return absl::ResourceExhaustedError(
      "this session has too many open pages, or they show too many datasets: close some");
}

void LedgerFeed::Add(const std::shared_ptr<EventStream>& page, Positions after) {
  {
    const absl::MutexLock lock(&mutex_);
    page->Send(is_live_ || after.empty() ? LiveEvent() : LostEvent(absl::OkStatus()));
    const bool is_watched = watch_ != nullptr && std::ranges::all_of(after, [&](const auto& position) {
                              mutex_.AssertHeld();
                              const auto found = watched_.find(position.first);
                              return found != watched_.end() && found->second <= position.second;
                            });
    pages_.push_back({.stream = page, .after = std::move(after)});
    if (!is_watched) {
      StopWatch();
      StartWatch();
    }
  }
  page->OnClosed([feed = weak_from_this(), page = page.get()] {
    if (const auto alive = feed.lock()) alive->Remove(page);
  });
}

void LedgerFeed::Remove(const EventStream* page) {
  const absl::MutexLock lock(&mutex_);
  std::erase_if(pages_, [&](const Page& open) { return open.stream.get() == page; });
  if (!pages_.empty()) return;
  StopWatch();
  is_live_ = false;
}

void LedgerFeed::End() {
  std::vector<Page> pages;
  {
    const absl::MutexLock lock(&mutex_);
    has_ended_ = true;
    StopWatch();
    pages = std::exchange(pages_, {});
  }
  for (const Page& page : pages) {
    page.stream->Send(Event("signed_out", "", "{}"));
    page.stream->Close();
  }
}

// The union of what the pages show, each dataset after the least of their positions.
Positions LedgerFeed::Wanted() const {
  Positions wanted;
  for (const Page& page : pages_) {
    for (const auto& [dataset, sequence] : page.after) {
      if (page.ended.contains(dataset)) continue;
      const auto [found, is_new] = wanted.emplace(dataset, sequence);
      if (!is_new) found->second = std::min(found->second, sequence);
    }
  }
  return wanted;
}

void LedgerFeed::StartWatch() {
  ++attempt_;
  watched_ = Wanted();
  if (watched_.empty() || has_ended_ || ending_ != nullptr) return;
  Credential credential = parts_.credential();
  if (credential.kind == Credential::Kind::kNone) return;
  std::unique_ptr<Channels::Lease> lease = parts_.channels.Take();
  if (lease == nullptr) return;  // the gate is stopping
  watch_ = std::make_shared<Watch>(weak_from_this(), std::move(lease), std::move(credential));
  watch_->Start(watched_);
}

void LedgerFeed::StopWatch() {
  ++attempt_;
  if (watch_ == nullptr) return;
  ending_ = std::move(watch_);
  watch_ = nullptr;
  ending_->Cancel();
}

void LedgerFeed::SendState(const std::string& event) const {
  for (const Page& page : pages_) {
    if (!page.after.empty()) page.stream->Send(event);
  }
}

void LedgerFeed::Lose(const absl::Status& status) {
  if (!is_live_ && client::Reason(status).empty()) return;
  is_live_ = false;
  SendState(LostEvent(status));
}

bool LedgerFeed::StartLater(absl::Duration delay) {
  return parts_.later(delay, [feed = weak_from_this(), attempt = ++attempt_] {
    if (const auto alive = feed.lock()) alive->Retry(attempt);
  });
}

void LedgerFeed::Retry(uint64_t attempt) {
  const absl::MutexLock lock(&mutex_);
  if (attempt == attempt_ && watch_ == nullptr) StartWatch();
}

void LedgerFeed::OnLive(const Watch* watch) {
  const absl::MutexLock lock(&mutex_);
  if (watch == watch_.get()) BecomeLive();
}

void LedgerFeed::BecomeLive() {
  if (is_live_) return;
  is_live_ = true;
  SendState(LiveEvent());
}

void LedgerFeed::OnEntry(const Watch* watch, const v1::LedgerEntry& entry) {
  const absl::MutexLock lock(&mutex_);
  if (watch != watch_.get()) return;
  // gRPC may hand over an entry, on another thread, before the beginning of the stream.
  BecomeLive();
  int64_t& watched = watched_[entry.dataset()];
  watched = std::max(watched, entry.sequence());
  const std::string data =
      absl::StrCat(R"({"dataset":")", entry.dataset(), R"(","entry":)", ToJson(entry), "}");
  for (Page& page : pages_) {
    const auto found = page.after.find(entry.dataset());
    if (found == page.after.end() || found->second >= entry.sequence()) continue;
    if (page.ended.contains(entry.dataset())) continue;
    found->second = entry.sequence();
    page.stream->Send(Event("entry", SequencesOf(page.after), data));
  }
}

// A page that resumes asks for the dataset again, and may be able to read it by then.
bool LedgerFeed::DropDataset(const std::string& dataset, const absl::Status& status) {
  const nlohmann::ordered_json data = {{"dataset", dataset},
                                       {"code", absl::StatusCodeToString(status.code())},
                                       {"message", std::string(status.message())}};
  bool has_dropped = false;
  for (Page& page : pages_) {
    if (!page.after.contains(dataset) || !page.ended.insert(dataset).second) continue;
    page.stream->Send(Event("ended", "", EventData(data)));
    has_dropped = true;
  }
  return has_dropped;
}

void LedgerFeed::OnEnd(const Watch* watch, const absl::Status& status) {
  bool goes_on = true;
  {
    const absl::MutexLock lock(&mutex_);
    if (watch == ending_.get()) {
      ending_ = nullptr;
      if (watch_ == nullptr) StartWatch();
    } else if (watch == watch_.get()) {
      goes_on = GoOn(status);
    }
  }
  if (!goes_on) ClosePages();
}

bool LedgerFeed::GoOn(const absl::Status& status) {
  const Credential refused = watch_->credential();
  watch_ = nullptr;
  const std::string dataset = DatasetOf(status);
  const bool is_of_dataset =
      !dataset.empty() && !absl::IsUnavailable(status) && !absl::IsUnauthenticated(status);
  // A watch of the same datasets would end as this one.
  if (is_of_dataset && DropDataset(dataset, status)) {
    StartWatch();
    return true;
  }
  Lose(status);
  if (!absl::IsUnauthenticated(status)) {
    return StartLater(absl::IsUnavailable(status) || status.ok() ? kBetweenAttempts : kAfterRefusal);
  }
  const uint64_t attempt = ++attempt_;
  return parts_.renew(refused, status, [feed = weak_from_this(), attempt](bool renewed) {
    if (const auto alive = feed.lock()) alive->AfterRenewal(attempt, renewed);
  });
}

void LedgerFeed::AfterRenewal(uint64_t attempt, bool renewed) {
  if (renewed) return Retry(attempt);
  bool goes_on = true;
  {
    const absl::MutexLock lock(&mutex_);
    if (attempt == attempt_) goes_on = StartLater(kAfterRefusal);
  }
  if (!goes_on) ClosePages();
}

void LedgerFeed::ClosePages() {
  std::vector<Page> pages;
  {
    const absl::MutexLock lock(&mutex_);
    StopWatch();
    pages = std::exchange(pages_, {});
  }
  for (const Page& page : pages) page.stream->Close();
}

}  // namespace curator::gate
