#include "ledger/sql/charge_combiner.h"

#include <set>
#include <utility>

namespace curator::ledger::sql {

ChargeCombiner::~ChargeCombiner() {
  std::thread thread;
  {
    const std::scoped_lock lock(mutex_);
    is_ending_ = true;
    thread = std::move(thread_);
    handed_over_.notify_one();
  }
  if (thread.joinable()) thread.join();
}

absl::StatusOr<Attempt> ChargeCombiner::Charge(WantedCharge wanted) {
  Waiting mine(std::move(wanted));
  Batch alone;
  {
    const std::scoped_lock lock(mutex_);
    const bool is_too_much = waiting_ > 0 && bytes_waiting_ + mine.bytes > bounds_.most_bytes_waiting;
    if (waiting_ >= bounds_.most_waiting || is_too_much) {
      return absl::UnavailableError("too many charges are waiting: ask again with the same request id");
    }
    // First what may fail for want of memory: then nothing has changed.
    if (is_store_taken_) {
      const auto [queue, is_new] = queues_.try_emplace(mine.wanted.request->dataset_id, size_t{1}, &mine);
      if (!is_new) queue->second.push_back(&mine);
    } else {
      alone.members = {&mine};
      is_store_taken_ = true;
    }
    ++waiting_;
    bytes_waiting_ += mine.bytes;
  }
  if (!alone.members.empty()) {
    DecideBatch(alone);
    HandOver();
    ConfirmBatch(std::move(alone), mine);
  } else if (mine.Wait() == Waiting::News::kConfirm) {
    ConfirmBatch(std::move(*mine.to_be_confirmed), mine);
  }
  return std::move(mine.result);
}

size_t ChargeCombiner::waiting() {
  const std::scoped_lock lock(mutex_);
  return waiting_;
}

void ChargeCombiner::HandOver() noexcept {
  const std::scoped_lock lock(mutex_);
  if (queues_.empty()) {
    is_store_taken_ = false;
    return;
  }
  if (!thread_.joinable()) thread_ = std::thread([this] { DecideAllThatComes(); });
  is_handed_over_ = true;
  handed_over_.notify_one();
}

void ChargeCombiner::DecideAllThatComes() {
  while (true) {
    auto batch = std::make_unique<Batch>();
    {
      std::unique_lock lock(mutex_);
      if (queues_.empty() && std::exchange(is_handed_over_, false)) is_store_taken_ = false;
      handed_over_.wait(lock, [this] { return is_handed_over_ || is_ending_; });
      if (!is_handed_over_) return;
      batch->members = TakeMembers();
    }
    DecideBatch(*batch);
    Waiting& first = *batch->members.front();
    first.to_be_confirmed = std::move(batch);
    first.Tell(Waiting::News::kConfirm);
  }
}

void ChargeCombiner::DecideBatch(Batch& batch) noexcept {
  std::vector<WantedCharge> wanted;
  wanted.reserve(batch.members.size());
  for (Waiting* one : batch.members) wanted.push_back(std::move(one->wanted));
  batch.decided = decide_(wanted);
}

void ChargeCombiner::ConfirmBatch(Batch batch, const Waiting& confirming) noexcept {
  Decided& decided = batch.decided;
  const absl::Status told = decided.point.ok() ? confirm_(*decided.point) : decided.point.status();
  {
    const std::scoped_lock lock(mutex_);
    waiting_ -= batch.members.size();
    for (const Waiting* const member : batch.members) bytes_waiting_ -= member->bytes;
  }
  for (size_t i = 0; i < batch.members.size(); ++i) {
    Waiting& member = *batch.members[i];
    member.result = told.ok() ? std::move(decided.results[i]) : told;
    if (&member != &confirming) member.Tell(Waiting::News::kDecided);
  }
}

std::vector<ChargeCombiner::Waiting*> ChargeCombiner::TakeMembers() {
  std::vector<Waiting*> batch;
  std::set<std::pair<std::string, std::string>> keys;
  // One from each dataset in turn, starting after the one that began the last batch.
  auto next = queues_.upper_bound(last_served_);
  if (next == queues_.end()) next = queues_.begin();
  last_served_ = next->first;
  size_t bytes = 0;
  size_t passes_without_taking = 0;
  while (batch.size() < bounds_.most_at_once && !queues_.empty() && passes_without_taking < queues_.size()) {
    std::deque<Waiting*>& queue = next->second;
    Waiting* const candidate = queue.front();
    const ChargeRequest& request = *candidate->wanted.request;
    const bool has_room = batch.empty() || bytes + candidate->bytes <= bounds_.most_bytes_at_once;
    // A second charge with the same key waits for the next batch, where it finds what the first one did.
    if (has_room && keys.emplace(request.principal, request.request_id).second) {
      batch.push_back(candidate);
      bytes += candidate->bytes;
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
