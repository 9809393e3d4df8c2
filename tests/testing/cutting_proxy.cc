#include "tests/testing/cutting_proxy.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
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

void SendAtOnce(int socket) {
  const int on = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
}

int ConnectTo(int port) {
  const int connection = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  const sockaddr_in address = Loopback(port);
  if (connect(connection, reinterpret_cast<const sockaddr*>(&address), sizeof(address)) != 0) {
    close(connection);
    return -1;
  }
  SendAtOnce(connection);
  return connection;
}

bool ReadExactly(int socket, char* bytes, size_t size) {
  while (size > 0) {
    const ssize_t got = read(socket, bytes, size);
    if (got <= 0) return false;
    bytes += got;
    size -= static_cast<size_t>(got);
  }
  return true;
}

bool SendAll(int socket, const std::string& bytes) {
  size_t sent = 0;
  while (sent < bytes.size()) {
    const ssize_t now = send(socket, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
    if (now <= 0) return false;
    sent += static_cast<size_t>(now);
  }
  return true;
}

// One message: its type (none at startup), its length, its body. Empty when the connection has ended.
std::string ReadMessage(int socket, size_t type_bytes) {
  std::string message(type_bytes + 4, '\0');
  if (!ReadExactly(socket, message.data(), message.size())) return {};
  uint32_t length = 0;
  std::memcpy(&length, message.data() + type_bytes, 4);
  const size_t head = message.size();
  message.resize(type_bytes + ntohl(length));
  return ReadExactly(socket, message.data() + head, message.size() - head) ? message : std::string();
}

// ErrorResponse: FATAL, admin_shutdown.
std::string Shutdown() {
  using namespace std::string_literals;
  const std::string fields =
      "SFATAL\0VFATAL\0C57P01\0Mterminating connection due to administrator command\0\0"s;
  const uint32_t length = htonl(static_cast<uint32_t>(fields.size() + 4));
  std::string message = "E";
  message.append(reinterpret_cast<const char*>(&length), sizeof(length));
  return message + fields;
}

}  // namespace

CuttingProxy::CuttingProxy(int port) : server_port_(port) {
  listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = Loopback(0);
  socklen_t size = sizeof(address);
  if (bind(listener_, reinterpret_cast<const sockaddr*>(&address), size) == 0 && listen(listener_, 16) == 0 &&
      getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port_ = ntohs(address.sin_port);
  }
  acceptor_ = std::thread([this] { Accept(); });
}

CuttingProxy::~CuttingProxy() {
  shutdown(listener_, SHUT_RDWR);
  acceptor_.join();
  close(listener_);
  for (const int socket : sockets_) shutdown(socket, SHUT_RDWR);
  for (std::thread& passer : passers_) passer.join();
  for (const int socket : sockets_) close(socket);
}

void CuttingProxy::Arm(Fate fate, int message, Direction direction, std::function<void()> meanwhile) {
  const std::scoped_lock lock(mutex_);
  fate_ = fate;
  direction_ = direction;
  meanwhile_ = std::move(meanwhile);
  has_struck_ = false;
  messages_left_ = message;
}

void CuttingProxy::CutAt(int message, Direction direction) {
  Arm(Fate::kCut, message, direction, nullptr);
}

void CuttingProxy::TellOfShutdownAt(int message) {
  Arm(Fate::kShutdownTold, message, Direction::kToClient, nullptr);
}

void CuttingProxy::HoldAt(int message, Direction direction, std::function<void()> meanwhile) {
  Arm(Fate::kHeld, message, direction, std::move(meanwhile));
}

void CuttingProxy::Disarm() {
  const std::scoped_lock lock(mutex_);
  messages_left_ = -1;
}

void CuttingProxy::Vanish() {
  const std::scoped_lock lock(mutex_);
  vanished_ = connections_;
}

CuttingProxy::Fate CuttingProxy::NextFate(int connection, Direction direction) {
  const std::scoped_lock lock(mutex_);
  if (connection < vanished_) return Fate::kSwallowed;
  if (direction != direction_ || messages_left_ < 0 || messages_left_-- > 0) return Fate::kPassed;
  has_struck_ = true;
  return fate_;
}

void CuttingProxy::Accept() {
  while (true) {
    const int client = accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC);
    if (client < 0) return;
    SendAtOnce(client);
    const int server = ConnectTo(server_port_);
    const std::scoped_lock lock(mutex_);
    sockets_.push_back(client);
    if (server < 0) {
      shutdown(client, SHUT_RDWR);
      continue;
    }
    sockets_.push_back(server);
    const int number = connections_++;
    passers_.emplace_back([=, this] { Pass(client, server, number, Direction::kToServer); });
    passers_.emplace_back([=, this] { Pass(server, client, number, Direction::kToClient); });
  }
}

void CuttingProxy::Pass(int from, int to, int connection, Direction direction) {
  // A client's first message has no type.
  size_t type_bytes = direction == Direction::kToServer ? 0 : 1;
  while (true) {
    const std::string message = ReadMessage(from, type_bytes);
    if (message.empty()) break;
    const Fate fate = NextFate(connection, direction);
    if (fate == Fate::kSwallowed) continue;
    if (fate == Fate::kHeld) {
      std::function<void()> meanwhile;
      {
        const std::scoped_lock lock(mutex_);
        meanwhile = std::move(meanwhile_);
      }
      meanwhile();
    }
    if (fate == Fate::kShutdownTold) SendAll(to, Shutdown());
    if (fate == Fate::kShutdownTold || fate == Fate::kCut || !SendAll(to, message)) break;
    type_bytes = 1;
  }
  shutdown(from, SHUT_RDWR);
  shutdown(to, SHUT_RDWR);
}

}  // namespace curator::testing
