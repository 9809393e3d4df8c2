#include "tests/testing/delaying_proxy.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <utility>

namespace curator::testing {
namespace {

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

// A socket that neither blocks nor holds small pieces back.
void MakeDirect(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
  fcntl(socket, F_SETFL, fcntl(socket, F_GETFL) | O_NONBLOCK);
}

int ConnectTo(int port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) == 0)
    return connection;
  close(connection);
  return -1;
}

void Change(int epoll, int operation, int file, uint32_t events) {
  epoll_event event = {};
  event.events = events;
  event.data.fd = file;
  epoll_ctl(epoll, operation, file, &event);
}

}  // namespace

DelayingProxy::DelayingProxy(int port, std::chrono::nanoseconds delay) : server_port_(port), delay_(delay) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 &&
      listen(listener_, 256) == 0 &&
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port_ = ntohs(address.sin_port);
  }
  events_ = epoll_create1(EPOLL_CLOEXEC);
  timer_ = timerfd_create(CLOCK_MONOTONIC, TFD_CLOEXEC | TFD_NONBLOCK);
  ending_ = eventfd(0, EFD_CLOEXEC);
  for (const int each : {listener_, timer_, ending_}) Change(events_, EPOLL_CTL_ADD, each, EPOLLIN);
  thread_ = std::thread([this] { Run(); });
}

DelayingProxy::~DelayingProxy() {
  eventfd_write(ending_, 1);
  thread_.join();
  for (const auto& [socket, end] : ends_) close(socket);
  for (const int each : {listener_, events_, timer_, ending_}) close(each);
}

void DelayingProxy::Watch(End& end) {
  const uint32_t reading = end.has_ended ? 0U : EPOLLIN;
  const uint32_t writing = end.due.empty() ? 0U : EPOLLOUT;
  const uint32_t wanted = reading | writing;
  if (wanted == end.watched) return;
  // One that is watched for nothing still reports that its connection broke, again and again.
  const int change = wanted == 0 ? EPOLL_CTL_DEL : end.watched == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
  Change(events_, change, end.socket, wanted);
  end.watched = wanted;
}

void DelayingProxy::Run() {
  prctl(PR_SET_TIMERSLACK, 1);
  std::array<epoll_event, 64> events;
  while (true) {
    const int count = epoll_wait(events_, events.data(), static_cast<int>(events.size()), -1);
    for (int i = 0; i < count; ++i) {
      const int socket = events[static_cast<size_t>(i)].data.fd;
      const uint32_t what = events[static_cast<size_t>(i)].events;
      if (socket == ending_) return;
      if (socket == listener_) Accept();
      // One that was closed for an earlier event of this round is no longer there.
      if (what & EPOLLOUT && ends_.contains(socket)) Send(*ends_.at(socket));
      if (what & ~static_cast<uint32_t>(EPOLLOUT) && ends_.contains(socket)) Receive(*ends_.at(socket));
    }
    DeliverWhatIsDue();
    SetTimer();
  }
}

void DelayingProxy::Accept() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    const int server = ConnectTo(server_port_);
    if (server < 0) {
      close(client);
      continue;
    }
    for (const auto& [socket, peer] : {std::pair(client, server), std::pair(server, client)}) {
      MakeDirect(socket);
      ends_[socket] = std::make_unique<End>();
      ends_[socket]->socket = socket;
      ends_[socket]->peer = peer;
      Watch(*ends_[socket]);
    }
  }
}

void DelayingProxy::Receive(End& end) {
  std::array<char, 1 << 16> buffer;
  if (end.has_ended) return;
  const ssize_t size = read(end.socket, buffer.data(), buffer.size());
  if (size < 0 && (errno == EAGAIN || errno == EINTR)) return;
  // A connection that breaks ends for its peer, too.
  end.has_ended = size <= 0;
  const size_t bytes = size > 0 ? static_cast<size_t>(size) : 0;
  under_way_.push_back({Clock::now() + delay_, end.socket, std::string(buffer.data(), bytes)});
  Watch(end);
}

void DelayingProxy::DeliverWhatIsDue() {
  const Clock::time_point now = Clock::now();
  while (!under_way_.empty() && under_way_.front().arrival <= now) {
    const Piece piece = std::move(under_way_.front());
    under_way_.pop_front();
    End& to = *ends_.at(ends_.at(piece.from)->peer);
    to.due += piece.bytes;
    to.is_closing = piece.bytes.empty();
    Send(to);
  }
}

void DelayingProxy::Send(End& end) {
  size_t sent = 0;
  while (sent < end.due.size()) {
    const ssize_t now = send(end.socket, end.due.data() + sent, end.due.size() - sent, MSG_NOSIGNAL);
    if (now < 0 && errno == EAGAIN) break;
    // What cannot be sent any more is dropped; that the connection is broken shows when it is read.
    sent = now < 0 ? end.due.size() : sent + static_cast<size_t>(now);
  }
  end.due.erase(0, sent);
  Watch(end);
  if (!end.is_closing || !end.due.empty()) return;
  end.has_closed = true;
  shutdown(end.socket, SHUT_WR);
  CloseIfOver(end);
}

void DelayingProxy::CloseIfOver(const End& end) {
  const int socket = end.socket;
  const int peer = end.peer;
  if (!end.has_closed || !ends_.at(peer)->has_closed) return;
  for (const int each : {socket, peer}) {
    close(each);
    ends_.erase(each);
  }
}

void DelayingProxy::SetTimer() {
  itimerspec when = {};
  if (!under_way_.empty()) {
    const auto arrival = std::chrono::nanoseconds(under_way_.front().arrival.time_since_epoch()).count();
    when.it_value.tv_sec = arrival / 1'000'000'000;
    when.it_value.tv_nsec = arrival % 1'000'000'000;
  }
  // All zeros stop it. A time that has passed fires at once. Setting it also takes back that it has fired.
  timerfd_settime(timer_, TFD_TIMER_ABSTIME, &when, nullptr);
}

}  // namespace curator::testing
