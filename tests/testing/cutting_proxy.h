// A wire to a PostgreSQL server that can be cut at any message of the protocol: before the server hears a
// message of its client, or before the client hears a message of the server.
//
// Understands as much of PostgreSQL's protocol 3 as it takes to tell one message from the next. Without TLS:
// connect with sslmode=disable and gssencmode=disable. Thread-safe.
#pragma once

#include <atomic>
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
  bool has_cut() const { return has_cut_; }

 private:
  void Accept();
  // Passes messages until either side ends or the wire is cut.
  void Pass(int from, int to, Direction direction);
  bool IsCut(Direction direction);

  const int server_port_;
  int listener_ = -1;
  int port_ = 0;
  std::mutex mutex_;
  int messages_left_ = -1;                      // guarded by mutex_
  Direction direction_ = Direction::kToServer;  // guarded by mutex_
  std::atomic<bool> has_cut_ = false;
  std::thread acceptor_;
  std::vector<std::thread> passers_;  // guarded by mutex_
  std::vector<int> sockets_;          // guarded by mutex_
};

}  // namespace curator::testing
