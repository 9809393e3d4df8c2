#include "service/running_operations.h"

#include <utility>

namespace curator::service {

RunningOperations::Ticket::Ticket(RunningOperations& registry, std::string charge_id)
    : registry_(registry), charge_id_(std::move(charge_id)) {}

RunningOperations::Ticket::~Ticket() {
  const absl::MutexLock lock(&registry_.mutex_);
  registry_.running_.erase(charge_id_);
}

void RunningOperations::Ticket::SetShareDone(double share) {
  const absl::MutexLock lock(&registry_.mutex_);
  share_done_ = share;
}

std::shared_ptr<RunningOperations::Ticket> RunningOperations::Start(std::string charge_id) {
  std::shared_ptr<Ticket> ticket(new Ticket(*this, std::move(charge_id)));
  const absl::MutexLock lock(&mutex_);
  running_[ticket->charge_id_] = ticket.get();
  return ticket;
}

std::optional<double> RunningOperations::ShareDone(std::string_view charge_id) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = running_.find(charge_id);
  if (found == running_.end()) return std::nullopt;
  return found->second->share_done_;
}

bool RunningOperations::RequestStop(std::string_view charge_id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = running_.find(charge_id);
  if (found == running_.end()) return false;
  found->second->stop_.request_stop();
  return true;
}

void RunningOperations::Abandon() {
  const absl::MutexLock lock(&mutex_);
  abandoning_ = true;
  for (const auto& [charge_id, ticket] : running_) ticket->stop_.request_stop();
}

bool RunningOperations::abandoning() const {
  const absl::MutexLock lock(&mutex_);
  return abandoning_;
}

void RunningOperations::AwaitEnd(std::string_view charge_id, absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto has_ended = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !running_.contains(charge_id); };
  mutex_.AwaitWithDeadline(absl::Condition(&has_ended), deadline);
}

void RunningOperations::AwaitChange(std::string_view charge_id, double share_seen,
                                    absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto has_changed = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) {
    const auto found = running_.find(charge_id);
    return found == running_.end() || found->second->share_done_ != share_seen;
  };
  mutex_.AwaitWithDeadline(absl::Condition(&has_changed), deadline);
}

bool RunningOperations::AwaitAllEnded(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_idle = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return running_.empty(); };
  return mutex_.AwaitWithDeadline(absl::Condition(&is_idle), deadline);
}

}  // namespace curator::service
