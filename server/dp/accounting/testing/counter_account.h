// An account in memory: additive counters with limits, as a ledger keeps them. For tests and benchmarks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "dp/accounting/rule.h"

namespace curator::dp::testing {

class CounterAccount {
 public:
  explicit CounterAccount(std::vector<int64_t> limits)
      : limits_(std::move(limits)), spent_(limits_.size(), 0), held_(limits_.size(), 0) {}

  static CounterAccount Under(const std::vector<CounterAmount>& limits) {
    return CounterAccount(AmountsOf(limits));
  }

  static std::vector<int64_t> AmountsOf(const std::vector<CounterAmount>& named) {
    std::vector<int64_t> amounts;
    for (const CounterAmount& amount : named) amounts.push_back(amount.amount);
    return amounts;
  }

  // Admission: cost <= limit - spent - held for each counter, nothing else.
  bool Fits(const std::vector<int64_t>& cost) const {
    for (size_t i = 0; i < limits_.size(); ++i) {
      if (cost[i] < 0 || cost[i] > limits_[i] - spent_[i] - held_[i]) return false;
    }
    return true;
  }

  // Charges `cost` when it fits; a refusal changes nothing.
  bool Charge(const std::vector<int64_t>& cost) {
    if (!Fits(cost)) return false;
    for (size_t i = 0; i < spent_.size(); ++i) spent_[i] += cost[i];
    return true;
  }

  enum class Verdict { kOk, kDenied, kError, kChargedInFull };
  enum class Look { kNotYet, kHappened };

  Verdict Reserve(const std::string& id, const std::vector<int64_t>& cost) {
    for (const int64_t amount : cost) {
      if (amount < 0) return Verdict::kError;
    }
    if (ids_.contains(id)) return Verdict::kError;
    if (!Fits(cost)) return Verdict::kDenied;
    for (size_t i = 0; i < held_.size(); ++i) held_[i] += cost[i];
    ids_[id] = Reservation{cost, true};
    return Verdict::kOk;
  }

  Verdict Commit(const std::string& id, const std::vector<int64_t>& actual) {
    const auto found = ids_.find(id);
    if (found == ids_.end() || !found->second.open) return Verdict::kError;
    for (size_t i = 0; i < actual.size(); ++i) {
      if (actual[i] < 0 || actual[i] > found->second.cost[i]) return Verdict::kError;
    }
    Close(found->second, actual);
    return Verdict::kOk;
  }

  // A refund only when no data was touched.
  Verdict Cancel(const std::string& id, Look look) {
    const auto found = ids_.find(id);
    if (found == ids_.end() || !found->second.open) return Verdict::kError;
    if (look == Look::kHappened) {
      Close(found->second, found->second.cost);
      return Verdict::kChargedInFull;
    }
    Close(found->second, std::vector<int64_t>(limits_.size(), 0));
    return Verdict::kOk;
  }

  const std::vector<int64_t>& limits() const { return limits_; }
  const std::vector<int64_t>& spent() const { return spent_; }
  const std::vector<int64_t>& held() const { return held_; }

 private:
  struct Reservation {
    std::vector<int64_t> cost;
    bool open = false;
  };

  void Close(Reservation& reservation, const std::vector<int64_t>& charged) {
    for (size_t i = 0; i < limits_.size(); ++i) {
      held_[i] -= reservation.cost[i];
      spent_[i] += charged[i];
    }
    reservation.open = false;
  }

  std::vector<int64_t> limits_;
  std::vector<int64_t> spent_;
  std::vector<int64_t> held_;
  std::map<std::string, Reservation> ids_;
};

}  // namespace curator::dp::testing
