#include "ledger/sql/charge_combiner.h"

#include <set>
#include <utility>

namespace curator::ledger::sql {

absl::StatusOr<Attempt> ChargeCombiner::Charge(WantedCharge wanted) {
  Waiting mine(std::move(wanted));
  bool leads = false;
  {
    const std::scoped_lock lock(mutex_);
    if (waiting_ >= bounds_.most_waiting) {
      return absl::UnavailableError("too many charges are waiting: ask again with the same request id");
    }
    ++waiting_;
    queues_[mine.wanted.request->dataset_id].push_back(&mine);
    leads = !std::exchange(is_led_, true);
  }
  while (true) {
    if (leads && Lead(mine) == Waiting::News::kDecided) return std::move(mine.result);
    const Waiting::News news = mine.Wait();
    if (news == Waiting::News::kDecided) return std::move(mine.result);
    leads = true;
  }
}

size_t ChargeCombiner::waiting() {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

ChargeCombiner::Waiting::News ChargeCombiner::Lead(const Waiting& leader) {
  std::vector<Waiting*> batch;
  {
    const std::scoped_lock lock(mutex_);
    batch = TakeBatch();
  }
  std::vector<WantedCharge> wanted;
  wanted.reserve(batch.size());
  for (Waiting* one : batch) wanted.push_back(std::move(one->wanted));
  bool has_stepped_down = false;
  Results results = decide_(wanted, [this, &has_stepped_down] {
    StepDown();
    has_stepped_down = true;
  });
  if (!has_stepped_down) StepDown();
  {
    const std::scoped_lock lock(mutex_);
    waiting_ -= batch.size();
  }
  Waiting::News own = Waiting::News::kNone;
  for (size_t i = 0; i < batch.size(); ++i) {
    batch[i]->result = std::move(results[i]);
    if (batch[i] == &leader) {
      own = Waiting::News::kDecided;
    } else {
      batch[i]->Tell(Waiting::News::kDecided);
    }
  }
  return own;
}

void ChargeCombiner::StepDown() {
  const std::scoped_lock lock(mutex_);
  // One of those still in a queue leads next; any one will do. It cannot be decided meanwhile, because only a
  // leader takes it out of its queue.
  for (const auto& [dataset_id, queue] : queues_) {
    if (queue.empty()) continue;
    queue.front()->Tell(Waiting::News::kLead);
    return;
  }
  is_led_ = false;
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
