#include "ledger/sql/change_combiner.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <new>
#include <set>
#include <system_error>
#include <utility>

namespace curator::ledger::sql {
namespace {

// Adds all of `more` to `keys`, or nothing and returns false when one of them is there.
bool AddIfNew(std::set<ChargeKey>& keys, std::vector<ChargeKey> more) {
  if (std::ranges::any_of(more, [&](const ChargeKey& key) { return keys.contains(key); })) return false;
  keys.insert(std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
  return true;
}

}  // namespace

ChangeCombiner::~ChangeCombiner() {
  std::vector<std::thread> workers;
  {
    const std::scoped_lock lock(mutex_);
    is_shutting_down_ = true;
    workers.swap(workers_);
    wake_worker_.notify_all();
  }
  for (std::thread& worker : workers) worker.join();
}

absl::Status ChangeCombiner::Make(std::string_view lane, CombinedChange& change) {
  PendingChange mine(change);
  Batch alone{.members = {&mine}, .result = {}};
  std::optional<Lanes::iterator> entered;
  {
    const std::scoped_lock lock(mutex_);
    const bool is_too_much = waiting_ > 0 && bytes_waiting_ + mine.bytes > bounds_.most_bytes_waiting;
    if (waiting_ >= bounds_.most_waiting || is_too_much) {
      return absl::UnavailableError("too many charges are waiting: ask again with the same request id");
    }
    entered = EnterStoreOrQueue(lane, mine);
    ++waiting_;
    bytes_waiting_ += mine.bytes;
  }
  if (entered.has_value()) {
    CommitInStore(alone);
    {
      const std::scoped_lock lock(mutex_);
      LeaveStore(*entered);
      WakeWorker(0);
    }
    FinishBatch(std::move(alone), mine);
  } else if (mine.Wait() == PendingChange::Signal::kLead) {
    FinishBatch(std::move(*mine.batch_to_lead), mine);
  }
  return std::move(mine.result);
}

std::optional<ChangeCombiner::Lanes::iterator> ChangeCombiner::EnterStoreOrQueue(std::string_view lane,
                                                                                 PendingChange& mine) {
  const auto [place, is_new] = lanes_.try_emplace(std::string(lane));
  if (is_new && ready_.empty() && in_store_ < bounds_.most_in_store) {
    ++in_store_;
    return place;
  }
  try {
    const auto [queue, is_first] =
        place->second.queues.try_emplace(mine.change.dataset_id(), size_t{1}, &mine);
    if (!is_first) queue->second.push_back(&mine);
    if (is_new) ready_.push_back(place);
  } catch (const std::bad_alloc&) {
    // Then nothing has changed. In a lane that is not new, what may have thrown has left it as it was.
    if (is_new) lanes_.erase(place);  // not covered: no test starves it here
    throw;                            // not covered: no test starves it here
  }
  return std::nullopt;
}

size_t ChangeCombiner::waiting() {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

void ChangeCombiner::LeaveStore(Lanes::iterator lane) noexcept {
  --in_store_;
  if (lane->second.queues.empty()) {
    lanes_.erase(lane);
  } else {
    ready_.push_back(lane);
  }
}

void ChangeCombiner::WakeWorker(size_t spared) noexcept {
  if (ready_.size() <= spared || !CanCommit()) return;
  if (idle_workers_ == 0 && workers_.size() < bounds_.most_in_store) {
    try {
      workers_.emplace_back([this] { CommitBatches(); });
    } catch (const std::system_error&) {
      // Else those that there are come to it.
      if (workers_.empty()) std::terminate();  // not covered: the process ends
    }
  }
  wake_worker_.notify_one();
}

void ChangeCombiner::CommitBatches() {
  std::unique_lock lock(mutex_);
  while (true) {
    if (!CanCommit()) {
      ++idle_workers_;
      wake_worker_.wait(lock, [this] { return CanCommit() || is_shutting_down_; });
      --idle_workers_;
    }
    if (!CanCommit()) return;
    const Lanes::iterator lane = ready_.front();
    ready_.pop_front();
    ++in_store_;
    auto batch = std::make_unique<Batch>();
    batch->members = BuildBatch(lane->second);
    WakeWorker(0);
    lock.unlock();
    CommitInStore(*batch);
    PendingChange& leader = *batch->members.front();
    leader.batch_to_lead = std::move(batch);
    leader.Notify(PendingChange::Signal::kLead);
    lock.lock();
    LeaveStore(lane);
    // This worker takes the first lane that is ready.
    WakeWorker(1);
  }
}

void ChangeCombiner::CommitInStore(Batch& batch) noexcept {
  std::vector<CombinedChange*> changes;
  changes.reserve(batch.members.size());
  for (PendingChange* const member : batch.members) changes.push_back(&member->change);
  batch.result = commit_batch_(changes);
}

void ChangeCombiner::FinishBatch(Batch batch, const PendingChange& leader) noexcept {
  BatchResult& result = batch.result;
  const absl::Status anchored =
      result.anchor_point.ok() ? await_anchor_(*result.anchor_point) : result.anchor_point.status();
  {
    const std::scoped_lock lock(mutex_);
    waiting_ -= batch.members.size();
    for (const PendingChange* const member : batch.members) bytes_waiting_ -= member->bytes;
  }
  for (size_t i = 0; i < batch.members.size(); ++i) {
    PendingChange& member = *batch.members[i];
    member.result = anchored.ok() ? std::move(result.results[i]) : anchored;
    if (&member != &leader) member.Notify(PendingChange::Signal::kDone);
  }
}

std::vector<ChangeCombiner::PendingChange*> ChangeCombiner::BuildBatch(Lane& lane) {
  auto& [queues, last_served] = lane;
  std::vector<PendingChange*> batch;
  std::set<ChargeKey> keys;
  // One change from each dataset in turn, starting after the dataset that led the last batch.
  auto next = queues.upper_bound(last_served);
  if (next == queues.end()) next = queues.begin();
  last_served = next->first;
  size_t bytes = 0;
  size_t datasets_passed_over = 0;
  while (batch.size() < bounds_.most_at_once && !queues.empty() && datasets_passed_over < queues.size()) {
    std::deque<PendingChange*>& queue = next->second;
    PendingChange* const candidate = queue.front();
    const bool fits = batch.empty() || bytes + candidate->bytes <= bounds_.most_bytes_at_once;
    // A second change of the same charge waits for the next batch, where it finds what the first one did.
    if (fits && AddIfNew(keys, candidate->change.keys())) {
      batch.push_back(candidate);
      bytes += candidate->bytes;
      queue.pop_front();
      datasets_passed_over = 0;
    } else {
      ++datasets_passed_over;
    }
    next = queue.empty() ? queues.erase(next) : std::next(next);
    if (next == queues.end()) next = queues.begin();
  }
  return batch;
}

}  // namespace curator::ledger::sql
