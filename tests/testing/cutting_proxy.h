// A wire to a PostgreSQL server that can be cut at any message of the protocol, before the server hears a
// message of its client or before the client hears a message of the server; that can tell the client of a
// shutdown in place of any message; that can hold any message up; and that can fall silent.
//
// Understands as much of PostgreSQL's protocol 3 as it takes to tell one message from the next. Without TLS:
// connect with sslmode=disable and gssencmode=disable. Thread-safe.
#pragma once

#include <atomic>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

namespace curator::testing {

class CuttingProxy {
 public:
  enum class Direction { kToServer, kToClient };

  // Forwards to 127.0.0.1:`port`.
  explicit CuttingProxy(int port);
  ~CuttingProxy();
  CuttingProxy(const CuttingProxy&) = delete;
  CuttingProxy& operator=(const CuttingProxy&) = delete;

  int port() const { return port_; }
  // Cuts a connection in both directions instead of passing the `message`-th message (0, 1, ...) from now on
  // in this direction, once, on whichever connection it comes.
  void CutAt(int message, Direction direction);
  // The same, after it has told the client, in place of the server's message, that the server is shut down.
  void TellOfShutdownAt(int message);
  // Passes the message on when `meanwhile` has returned, once. It runs in a thread of the proxy.
  void HoldAt(int message, Direction direction, std::function<void()> meanwhile);
  // As when the host vanishes and another takes its address: what is open stays open, and swallows all bytes
  // in both directions. Connections that are made later pass them.
  void Vanish();
  // All messages pass from now on.
  void Disarm();
  bool has_struck() const { return has_struck_; }

 private:
  enum class Fate { kPassed, kCut, kShutdownTold, kHeld, kSwallowed };

  void Arm(Fate fate, int message, Direction direction, std::function<void()> meanwhile);
  void Accept();
  // Passes messages until either side ends or the wire is cut.
  void Pass(int from, int to, int connection, Direction direction);
  Fate NextFate(int connection, Direction direction);

  const int server_port_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  int messages_left_ = -1;                      // guarded by mutex_
  Direction direction_ = Direction::kToServer;  // guarded by mutex_
  Fate fate_ = Fate::kCut;                      // guarded by mutex_
  std::function<void()> meanwhile_;             // guarded by mutex_
  int connections_ = 0;                         // guarded by mutex_
  int vanished_ = 0;                            // of these connections, the first; guarded by mutex_
  std::atomic<bool> has_struck_ = false;
  std::thread acceptor_;
  std::vector<std::thread> passers_;  // guarded by mutex_
  std::vector<int> sockets_;          // guarded by mutex_
};

}  // namespace curator::testing
