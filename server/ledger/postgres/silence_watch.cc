#include "ledger/postgres/silence_watch.h"

#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/socket.h>

namespace curator::ledger::postgres {
namespace {

// What the peer's system has acknowledged, and what has come from it; 0 where the system does not count.
int64_t BytesPassed(int socket) {
  tcp_info info = {};
  socklen_t size = sizeof(info);
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) return 0;
  return static_cast<int64_t>(info.tcpi_bytes_acked + info.tcpi_bytes_received);
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
    const int64_t bytes = BytesPassed(call->socket_);
    if (call->bytes_ >= 0 && bytes != call->bytes_) call->heard_ = now;
    call->bytes_ = bytes;
    if (now - call->heard_ >= call->longest_silence_) shutdown(call->socket_, SHUT_RDWR);
  }
}

SilenceWatch::Call::Call(SilenceWatch& watch, int socket, std::chrono::milliseconds longest_silence)
    : watch_(watch), socket_(socket), longest_silence_(longest_silence), heard_(Clock::now()) {
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
