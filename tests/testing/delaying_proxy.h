// A longer wire to a server on this machine: every byte arrives a fixed time after it was sent, in both
// directions, as between two hosts that are so far apart. Nothing waits for anything else: what was sent at
// the same time, on one connection or on many, arrives at the same time.
//
// Understands no protocol. Keeps what its receivers do not take, without a limit. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <thread>

namespace curator::testing {

class DelayingProxy {
 public:
  // Forwards to 127.0.0.1:`port`; a round trip takes twice the `delay` longer.
  DelayingProxy(int port, std::chrono::nanoseconds delay);
  ~DelayingProxy();
  DelayingProxy(const DelayingProxy&) = delete;
  DelayingProxy& operator=(const DelayingProxy&) = delete;

  int port() const { return port_; }

 private:
  using Clock = std::chrono::steady_clock;

  // One end of a connection, and what is to be sent to it now. Its peer is the other end.
  struct End {
    int socket = -1;
    int peer = -1;
    uint32_t watched = 0;     // epoll's events that are waited for
    std::string due;          // that its socket has not taken yet
    bool is_closing = false;  // nothing follows what is due
    bool has_ended = false;   // nothing more comes from it
    bool has_closed = false;  // nothing more is sent to it
  };
  // What came from `from` and reaches its peer at `arrival`; empty: its end.
  struct Piece {
    Clock::time_point arrival;
    int from = -1;
    std::string bytes;
  };

  void Run();
  void Accept();
  void Receive(End& end);
  void DeliverWhatIsDue();
  void Send(End& end);
  void SetTimer();
  // Waits for what the end is to do next.
  void Watch(End& end);
  // Closes both ends once nothing more passes in either direction.
  void CloseIfOver(const End& end);

  const int server_port_;
  const std::chrono::nanoseconds delay_;
  int listener_ = -1;
  int port_ = 0;
  int events_ = -1;                           // epoll
  int timer_ = -1;                            // fires when the first piece arrives
  int ending_ = -1;                           // an eventfd, readable once the proxy is to end
  std::map<int, std::unique_ptr<End>> ends_;  // by socket
  std::deque<Piece> under_way_;               // in the order of arrival, because all take equally long
  std::thread thread_;                        // the only one that uses the above
};

}  // namespace curator::testing
