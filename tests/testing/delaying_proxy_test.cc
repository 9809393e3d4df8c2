#include "tests/testing/delaying_proxy.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace curator::testing {
namespace {

using std::chrono::milliseconds;
using Clock = std::chrono::steady_clock;

sockaddr_in Loopback(int port) {
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  address.sin_port = htons(static_cast<uint16_t>(port));
  return address;
}

class Connection {
 public:
  explicit Connection(int socket) : socket_(socket) {}
  static Connection To(int port) {
    const int made = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const sockaddr_in address = Loopback(port);
    EXPECT_EQ(connect(made, reinterpret_cast<const sockaddr*>(&address), sizeof(address)), 0);
    return Connection(made);
  }
  ~Connection() { close(socket_); }
  Connection(Connection&& other) noexcept : socket_(std::exchange(other.socket_, -1)) {}
  Connection& operator=(Connection&&) = delete;

  void Send(const std::string& bytes) const {
    size_t sent = 0;
    while (sent < bytes.size()) {
      const ssize_t now = send(socket_, bytes.data() + sent, bytes.size() - sent, MSG_NOSIGNAL);
      ASSERT_GT(now, 0);
      sent += static_cast<size_t>(now);
    }
  }
  void SayThatNothingFollows() const { shutdown(socket_, SHUT_WR); }
  // What comes until there are `size` bytes or the other side has ended.
  std::string Receive(size_t size) const {
    std::string bytes(size, '\0');
    size_t got = 0;
    while (got < size) {
      const ssize_t now = read(socket_, bytes.data() + got, size - got);
      if (now <= 0) break;
      got += static_cast<size_t>(now);
    }
    bytes.resize(got);
    return bytes;
  }

 private:
  int socket_;
};

// A server that sends back what it gets, and ends when its client does.
class EchoingServer {
 public:
  EchoingServer() {
    listener_ = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address = Loopback(0);
    socklen_t size = sizeof(address);
    EXPECT_EQ(bind(listener_, reinterpret_cast<const sockaddr*>(&address), size), 0);
    EXPECT_EQ(listen(listener_, 64), 0);
    EXPECT_EQ(getsockname(listener_, reinterpret_cast<sockaddr*>(&address), &size), 0);
    port_ = ntohs(address.sin_port);
    acceptor_ = std::thread([this] {
      for (int made = Accept(); made >= 0; made = Accept()) {
        echoes_.emplace_back([connection = Connection(made)] {
          for (std::string some = connection.Receive(1); !some.empty(); some = connection.Receive(1))
            connection.Send(some);
        });
      }
    });
  }
  ~EchoingServer() {
    shutdown(listener_, SHUT_RDWR);
    acceptor_.join();
    for (std::thread& echo : echoes_) echo.join();
    close(listener_);
  }
  int port() const { return port_; }

 private:
  int Accept() const { return accept4(listener_, nullptr, nullptr, SOCK_CLOEXEC); }

  int listener_ = -1;
  int port_ = 0;
  std::thread acceptor_;
  std::vector<std::thread> echoes_;
};

std::string Numbers(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += std::to_string(i) + ",";
  return text;
}

class DelayedWire : public ::testing::Test {
 protected:
  static constexpr milliseconds kDelay{25};
  const EchoingServer server_;
  const DelayingProxy proxy_{server_.port(), kDelay};
};

TEST_F(DelayedWire, BringsAllBytesInOrderAndThenTheEnd) {
  const std::string sent = Numbers(100'000);
  const Connection connection = Connection::To(proxy_.port());
  std::thread sender([&] {
    connection.Send(sent);
    connection.SayThatNothingFollows();
  });
  EXPECT_EQ(connection.Receive(sent.size() + 1), sent);
  sender.join();
}

TEST_F(DelayedWire, BringsNothingSoonerThanItsDelayInEachDirection) {
  const Connection connection = Connection::To(proxy_.port());
  for (int i = 0; i < 10; ++i) {
    const Clock::time_point start = Clock::now();
    connection.Send("?");
    EXPECT_EQ(connection.Receive(1), "?");
    EXPECT_GE(Clock::now() - start, 2 * kDelay);
  }
}

// One after the other they would take 100 times as long as one.
TEST_F(DelayedWire, DelaysManyMessagesAtTheSameTime) {
  std::vector<Connection> connections;
  for (int i = 0; i < 50; ++i) connections.push_back(Connection::To(proxy_.port()));
  const Clock::time_point start = Clock::now();
  for (const Connection& each : connections) each.Send("one");
  for (const Connection& each : connections) each.Send("two");
  for (const Connection& each : connections) EXPECT_EQ(each.Receive(6), "onetwo");
  EXPECT_LT(Clock::now() - start, 100 * kDelay);
}

TEST(DelayingProxy, EndsAConnectionToAServerThatIsNotThere) {
  const DelayingProxy proxy(1, milliseconds(0));
  EXPECT_EQ(Connection::To(proxy.port()).Receive(1), "");
}

}  // namespace
}  // namespace curator::testing
