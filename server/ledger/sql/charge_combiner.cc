#include "ledger/sql/charge_combiner.h"

#include <set>
#include <utility>

namespace curator::ledger::sql {

absl::StatusOr<Attempt> ChargeCombiner::Charge(const WantedCharge& wanted) {
  Waiting mine;
  mine.wanted = wanted;
  std::unique_lock lock(mutex_);
  if (waiting_ >= bounds_.most_waiting) {
    return absl::UnavailableError("too many charges are waiting: ask again with the same request id");
  }
  ++waiting_;
  queues_[wanted.request->dataset_id].push_back(&mine);
  while (!mine.is_decided) {
    if (is_led_ || mine.is_taken) {
      mine.turn.wait(lock);
    } else {
      Lead(lock);
    }
  }
  return std::move(mine.result);
}

size_t ChargeCombiner::waiting() {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

void ChargeCombiner::Lead(std::unique_lock<std::mutex>& lock) {
  is_led_ = true;
  const std::vector<Waiting*> batch = TakeBatch();
  std::vector<WantedCharge> wanted;
  for (const Waiting* one : batch) wanted.push_back(one->wanted);
  lock.unlock();
  bool has_stepped_down = false;
  const auto committed = [this, &has_stepped_down] {
    const std::scoped_lock relock(mutex_);
    StepDown();
    has_stepped_down = true;
  };
  Results results = decide_(wanted, committed);
  lock.lock();
  if (!has_stepped_down) StepDown();
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i]->result = std::move(results[i]);
    batch[i]->is_decided = true;
    --waiting_;
    // Under the lock: once its owner sees the decision, the condition variable is gone.
    batch[i]->turn.notify_one();
  }
}

void ChargeCombiner::StepDown() {
  is_led_ = false;
  // One of those still in a queue leads next; any one will do.
  for (const auto& [dataset_id, queue] : queues_) {
    if (queue.empty()) continue;
    queue.front()->turn.notify_one();
    return;
  }
}

std::vector<ChargeCombiner::Waiting*> ChargeCombiner::TakeBatch() {
  std::vector<Waiting*> batch;
  std::set<std::pair<std::string, std::string>> keys;
  // One from each dataset in turn, starting after the one that began the last batch.
  auto next = queues_.upper_bound(last_served_);
  if (next == queues_.end()) next = queues_.begin();
  last_served_ = next->first;
  size_t passes_without_taking = 0;
  while (batch.size() < bounds_.most_at_once && !queues_.empty() && passes_without_taking < queues_.size()) {
    std::deque<Waiting*>& queue = next->second;
    Waiting* const candidate = queue.front();
    const ChargeRequest& request = *candidate->wanted.request;
    // A second charge with the same key waits for the next batch, where it finds what the first one did.
    if (keys.emplace(request.principal, request.request_id).second) {
      candidate->is_taken = true;
      batch.push_back(candidate);
      queue.pop_front();
      passes_without_taking = 0;
    } else {
      ++passes_without_taking;
    }
    next = queue.empty() ? queues_.erase(next) : std::next(next);
    if (next == queues_.end()) next = queues_.begin();
  }
  return batch;
}

}  // namespace curator::ledger::sql
