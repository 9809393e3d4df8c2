#include "service/running_operations.h"

#include <cmath>
#include <utility>

namespace curator::service {
namespace {

constexpr double kNotedShares = 1000;

}  // namespace

RunningOperations::Ticket::Ticket(RunningOperations& registry, std::string charge_id)
    : registry_(registry), charge_id_(std::move(charge_id)) {}

RunningOperations::Ticket::~Ticket() {
  {
    const absl::MutexLock lock(&registry_.mutex_);
    const auto found = registry_.running_.find(charge_id_);
    if (found != registry_.running_.end() && found->second == this) registry_.running_.erase(found);
  }
  registry_.Notify(charge_id_);
}

void RunningOperations::Ticket::NoteBegun() {
  registry_.Notify(charge_id_);
}

void RunningOperations::Ticket::SetShareDone(double share) {
  {
    const absl::MutexLock lock(&registry_.mutex_);
    const bool is_news = std::floor(share * kNotedShares) != std::floor(share_done_ * kNotedShares);
    share_done_ = share;
    if (!is_news) return;
  }
  registry_.Notify(charge_id_);
}

void RunningOperations::SetListener(Listener listener) {
  const absl::MutexLock lock(&listener_mutex_);
  listener_ = std::move(listener);
}

void RunningOperations::Notify(std::string_view charge_id) {
  const absl::ReaderMutexLock lock(&listener_mutex_);
  if (listener_) listener_(charge_id);
}

std::shared_ptr<RunningOperations::Ticket> RunningOperations::Start(std::string charge_id) {
  std::shared_ptr<Ticket> ticket(new Ticket(*this, std::move(charge_id)));
  const absl::MutexLock lock(&mutex_);
  running_[ticket->charge_id_] = ticket.get();
  if (abandoning_) ticket->RequestStop();
  return ticket;
}

std::optional<double> RunningOperations::ShareDone(std::string_view charge_id) const {
  const absl::MutexLock lock(&mutex_);
  const auto found = running_.find(charge_id);
  if (found == running_.end()) return std::nullopt;
  return found->second->share_done_;
}

std::vector<std::string> RunningOperations::Ids() const {
  std::vector<std::string> ids;
  const absl::MutexLock lock(&mutex_);
  for (const auto& [charge_id, ticket] : running_) ids.push_back(charge_id);
  return ids;
}

bool RunningOperations::RequestStop(std::string_view charge_id) {
  const absl::MutexLock lock(&mutex_);
  const auto found = running_.find(charge_id);
  if (found == running_.end()) return false;
  found->second->stop_.request_stop();
  return true;
}

void RunningOperations::Dismiss(std::string_view charge_id) {
  {
    const absl::MutexLock lock(&mutex_);
    const auto found = running_.find(charge_id);
    if (found == running_.end()) return;
    found->second->stop_.request_stop();
    running_.erase(found);
  }
  Notify(charge_id);
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

bool RunningOperations::AwaitAbandoned(absl::Duration patience) const {
  const absl::MutexLock lock(&mutex_);
  return mutex_.AwaitWithTimeout(absl::Condition(&abandoning_), patience);
}

void RunningOperations::AwaitEnd(std::string_view charge_id, absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto has_ended = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return !running_.contains(charge_id); };
  mutex_.AwaitWithDeadline(absl::Condition(&has_ended), deadline);
}

bool RunningOperations::AwaitAllEnded(absl::Time deadline) const {
  const absl::MutexLock lock(&mutex_);
  const auto is_idle = [&]() ABSL_SHARED_LOCKS_REQUIRED(mutex_) { return running_.empty(); };
  return mutex_.AwaitWithDeadline(absl::Condition(&is_idle), deadline);
}

}  // namespace curator::service
