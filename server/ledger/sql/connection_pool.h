// A bounded pool of connections, opened when first needed and kept.
//
// Thread-safe. Callers beyond the bound wait in FIFO order, so none of them starves, and no longer than they
// say.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "absl/base/thread_annotations.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::ledger::sql {

template <typename Connection>
class ConnectionPool {
 public:
  using Connect = std::function<absl::StatusOr<std::unique_ptr<Connection>>()>;

  ConnectionPool(size_t most, Connect connect) : connect_(std::move(connect)), free_places_(most) {
    idle_.reserve(most);  // giving back must not allocate
  }

  // Holds a connection and returns it to the pool when destroyed, unless it was dropped as broken.
  class Lease {
   public:
    Lease(ConnectionPool& pool, std::unique_ptr<Connection> connection)
        : pool_(&pool), connection_(std::move(connection)) {}
    Lease(Lease&& other) noexcept
        : pool_(std::exchange(other.pool_, nullptr)), connection_(std::move(other.connection_)) {}
    Lease& operator=(Lease&&) = delete;
    ~Lease() {
      if (pool_ != nullptr) pool_->GiveBack(std::move(connection_));
    }

    Connection& operator*() const { return *connection_; }
    Connection* operator->() const { return connection_.get(); }
    void Drop() { connection_.reset(); }

   private:
    friend class ConnectionPool;
    ConnectionPool* pool_;
    std::unique_ptr<Connection> connection_;
  };

  // Blocks while all places are taken. Errors: those of `connect`; UNAVAILABLE when `longest_wait` passes
  // before a place is free.
  absl::StatusOr<Lease> Take(std::optional<std::chrono::milliseconds> longest_wait = std::nullopt) {
    std::unique_lock lock(mutex_);
    if (free_places_ > 0) {
      --free_places_;
    } else {
      Waiter mine;
      waiting_.push_back(&mine);
      const auto has_place = [&mine] { return mine.has_place; };
      if (!longest_wait.has_value()) {
        mine.signalled.wait(lock, has_place);
      } else if (!mine.signalled.wait_for(lock, *longest_wait, has_place)) {
        std::erase(waiting_, &mine);
        return absl::UnavailableError("all connections to the ledger's store are busy: ask again");
      }
    }
    if (!idle_.empty()) {
      std::unique_ptr<Connection> connection = std::move(idle_.back());
      idle_.pop_back();
      return Lease(*this, std::move(connection));
    }
    lock.unlock();
    Lease lease(*this, nullptr);  // gives the place back also when an exception leaves connect_()
    absl::StatusOr<std::unique_ptr<Connection>> connection = connect_();
    if (!connection.ok()) return connection.status();
    lease.connection_ = *std::move(connection);
    return lease;
  }

  // Closes all idle connections: after one broke, the others have most likely broken too.
  void DropIdle() {
    std::vector<std::unique_ptr<Connection>> dropped;
    const std::scoped_lock lock(mutex_);
    dropped.reserve(idle_.capacity());
    dropped.swap(idle_);
  }

  // The number of callers that wait.
  size_t waiting() {
    const std::scoped_lock lock(mutex_);
    return waiting_.size();
  }

 private:
  struct Waiter {
    std::condition_variable signalled;
    bool has_place = false;
  };

  // A place passes directly to the next waiter; it is not free in between.
  void GiveBack(std::unique_ptr<Connection> connection) {
    const std::scoped_lock lock(mutex_);
    if (connection != nullptr) idle_.push_back(std::move(connection));
    if (waiting_.empty()) {
      ++free_places_;
      return;
    }
    Waiter& next = *waiting_.front();
    waiting_.pop_front();
    next.has_place = true;
    next.signalled.notify_one();  // under the lock: once the waiter has its place, it may destroy this
  }

  const Connect connect_;
  std::mutex mutex_;
  size_t free_places_ ABSL_GUARDED_BY(mutex_);           // 0 while any caller waits
  std::deque<Waiter*> waiting_ ABSL_GUARDED_BY(mutex_);  // the longest wait first
  std::vector<std::unique_ptr<Connection>> idle_ ABSL_GUARDED_BY(mutex_);
};

}  // namespace curator::ledger::sql
