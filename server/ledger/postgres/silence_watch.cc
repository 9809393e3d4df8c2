#include "ledger/postgres/silence_watch.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>

#include <algorithm>

namespace curator::ledger::postgres {
namespace {

// How long ago data was sent or received; the maximum where the system does not know.
std::chrono::milliseconds SinceData(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return std::chrono::milliseconds::max();
  return std::chrono::milliseconds(std::min(info.tcpi_last_data_sent, info.tcpi_last_data_recv));
}

}  // namespace

SilenceWatch::SilenceWatch(std::chrono::milliseconds interval)
    : interval_(interval), thread_([this] { Watch(); }) {}

SilenceWatch::~SilenceWatch() {
  {
    const std::scoped_lock lock(mutex_);
    is_stopping_ = true;
    stopped_.notify_one();
  }
  thread_.join();
}

void SilenceWatch::Watch() {
  std::unique_lock lock(mutex_);
  while (!is_stopping_) {
    stopped_.wait_for(lock, interval_);
    Look(Clock::now());
  }
}

void SilenceWatch::Look(Clock::time_point now) {
  for (Call* call = first_; call != nullptr; call = call->next_) {
    const auto lasts = std::chrono::duration_cast<std::chrono::milliseconds>(now - call->begin_);
    if (lasts < call->longest_silence_ || SinceData(call->socket_) < call->longest_silence_) continue;
    shutdown(call->socket_, SHUT_RDWR);
  }
}

SilenceWatch::Call::Call(SilenceWatch& watch, int socket, std::chrono::milliseconds longest_silence)
    : watch_(watch), socket_(socket), longest_silence_(longest_silence), begin_(Clock::now()) {
  const std::scoped_lock lock(watch_.mutex_);
  next_ = watch_.first_;
  if (next_ != nullptr) next_->previous_ = this;
  watch_.first_ = this;
}

SilenceWatch::Call::~Call() {
  const std::scoped_lock lock(watch_.mutex_);
  (previous_ == nullptr ? watch_.first_ : previous_->next_) = next_;
  if (next_ != nullptr) next_->previous_ = previous_;
}

}  // namespace curator::ledger::postgres
