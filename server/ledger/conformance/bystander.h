// A second server that works in a thread of its own while a test blocks the first one.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <thread>
#include <utility>

#include "absl/status/status.h"
#include "ledger/conformance/fragile_ledger.h"
#include "ledger/ledger.h"

namespace curator::ledger {

class Bystander {
 public:
  explicit Bystander(FragileLedger server) : server_(std::move(server)) {}
  ~Bystander() { Join().IgnoreError(); }
  Bystander(const Bystander&) = delete;
  Bystander& operator=(const Bystander&) = delete;

  Ledger& ledger() { return *server_.ledger; }

  // What the blocked server holds: nothing for which the work could wait, or possibly locks.
  enum class Holding { kNothing, kLocks };
  static Holding Beside(FaultyDatabase::Moment moment) {
    return moment == FaultyDatabase::Moment::kInWrite ? Holding::kLocks : Holding::kNothing;
  }
  // Runs `work`; returns when it is done, or when it has reached the store and may wait there for the blocked
  // server.
  void Start(Holding holding, std::function<absl::Status(Ledger&)> work) {
    const int64_t before = server_.store->writes();
    is_done_ = false;
    thread_ = std::thread([this, work = std::move(work)] {
      status_ = work(*server_.ledger);
      is_done_ = true;
    });
    while (!is_done_ && (holding == Holding::kNothing || server_.store->writes() == before)) {
      std::this_thread::yield();
    }
  }
  absl::Status Join() {
    if (thread_.joinable()) thread_.join();
    return std::exchange(status_, absl::OkStatus());
  }

 private:
  FragileLedger server_;
  std::thread thread_;
  std::atomic<bool> is_done_ = true;
  absl::Status status_;
};

}  // namespace curator::ledger
