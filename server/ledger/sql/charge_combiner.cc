#include "ledger/sql/charge_combiner.h"

#include <set>
#include <utility>

namespace curator::ledger::sql {

ChargeCombiner::~ChargeCombiner() {
  std::thread thread;
  {
    const std::scoped_lock lock(mutex_);
    is_shutting_down_ = true;
    thread = std::move(thread_);
    wake_batch_loop_.notify_one();
  }
  if (thread.joinable()) thread.join();
}

absl::StatusOr<Attempt> ChargeCombiner::Charge(ProposedCharge proposed) {
  PendingCharge mine(std::move(proposed));
  Batch alone;
  {
    const std::scoped_lock lock(mutex_);
    const bool is_too_much = waiting_ > 0 && bytes_waiting_ + mine.bytes > bounds_.most_bytes_waiting;
    if (waiting_ >= bounds_.most_waiting || is_too_much) {
      return absl::UnavailableError("too many charges are waiting: ask again with the same request id");
    }
    // What may throw bad_alloc comes first: then nothing has changed.
    if (is_store_busy_) {
      const auto [queue, is_new] = queues_.try_emplace(mine.proposed.request->dataset_id, size_t{1}, &mine);
      if (!is_new) queue->second.push_back(&mine);
    } else {
      alone.members = {&mine};
      is_store_busy_ = true;
    }
    ++waiting_;
    bytes_waiting_ += mine.bytes;
  }
  if (!alone.members.empty()) {
    CommitInStore(alone);
    ReleaseStore();
    FinishBatch(std::move(alone), mine);
  } else if (mine.Wait() == PendingCharge::Signal::kLead) {
    FinishBatch(std::move(*mine.batch_to_lead), mine);
  }
  return std::move(mine.result);
}

size_t ChargeCombiner::waiting() {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

void ChargeCombiner::ReleaseStore() noexcept {
  const std::scoped_lock lock(mutex_);
  if (queues_.empty()) {
    is_store_busy_ = false;
    return;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { BatchLoop(); });
  batch_loop_has_store_ = true;
  wake_batch_loop_.notify_one();
}

void ChargeCombiner::BatchLoop() {
  while (true) {
    auto batch = std::make_unique<Batch>();
    {
      std::unique_lock lock(mutex_);
      if (queues_.empty() && std::exchange(batch_loop_has_store_, false)) is_store_busy_ = false;
      wake_batch_loop_.wait(lock, [this] { return batch_loop_has_store_ || is_shutting_down_; });
      if (!batch_loop_has_store_) return;
      batch->members = BuildBatch();
    }
    CommitInStore(*batch);
    PendingCharge& leader = *batch->members.front();
    leader.batch_to_lead = std::move(batch);
    leader.Notify(PendingCharge::Signal::kLead);
  }
}

void ChargeCombiner::CommitInStore(Batch& batch) noexcept {
  std::vector<ProposedCharge> proposed;
  proposed.reserve(batch.members.size());
  for (PendingCharge* member : batch.members) proposed.push_back(std::move(member->proposed));
  batch.result = commit_batch_(proposed);
}

void ChargeCombiner::FinishBatch(Batch batch, const PendingCharge& leader) noexcept {
  BatchResult& result = batch.result;
  const absl::Status anchored =
      result.anchor_point.ok() ? await_anchor_(*result.anchor_point) : result.anchor_point.status();
  {
    const std::scoped_lock lock(mutex_);
    waiting_ -= batch.members.size();
    for (const PendingCharge* const member : batch.members) bytes_waiting_ -= member->bytes;
  }
  for (size_t i = 0; i < batch.members.size(); ++i) {
    PendingCharge& member = *batch.members[i];
    member.result = anchored.ok() ? std::move(result.results[i]) : anchored;
    if (&member != &leader) member.Notify(PendingCharge::Signal::kDone);
  }
}

std::vector<ChargeCombiner::PendingCharge*> ChargeCombiner::BuildBatch() {
  std::vector<PendingCharge*> batch;
  std::set<std::pair<std::string, std::string>> keys;
  // One charge from each dataset in turn, starting after the dataset that led the last batch.
  auto next = queues_.upper_bound(last_served_);
  if (next == queues_.end()) next = queues_.begin();
  last_served_ = next->first;
  size_t bytes = 0;
  size_t datasets_passed_over = 0;
  while (batch.size() < bounds_.most_at_once && !queues_.empty() && datasets_passed_over < queues_.size()) {
    std::deque<PendingCharge*>& queue = next->second;
    PendingCharge* const candidate = queue.front();
    const ChargeRequest& request = *candidate->proposed.request;
    const bool fits = batch.empty() || bytes + candidate->bytes <= bounds_.most_bytes_at_once;
    // A second charge with the same key waits for the next batch, where it finds what the first one did.
    if (fits && keys.emplace(request.principal.name(), request.request_id).second) {
      batch.push_back(candidate);
      bytes += candidate->bytes;
      queue.pop_front();
      datasets_passed_over = 0;
    } else {
      ++datasets_passed_over;
    }
    next = queue.empty() ? queues_.erase(next) : std::next(next);
    if (next == queues_.end()) next = queues_.begin();
  }
  return batch;
}

}  // namespace curator::ledger::sql
