// Valid events of every kind, for property tests: a fixed pseudo-random sequence for each seed.
#pragma once

#include <cstdint>
#include <utility>

#include "dp/accounting/event.h"

namespace curator::dp::testing {

class RandomEvents {
 public:
  explicit RandomEvents(uint64_t seed) : state_(seed) {}

  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(Next() % static_cast<uint64_t>(high - low + 1));
  }

  Rational Ratio() { return {Between(1, 1000), Between(1, 40)}; }

  // An event that every rule but PURE and ADVANCED can count.
  Event Gaussian() {
    if (Between(0, 1) == 0) return {DiscreteGaussianEvent{Ratio(), Between(1, 9), Between(0, 1)}};
    return {GaussianEvent{Ratio(), Ratio()}};
  }

  // A mechanism with an epsilon at delta = 0: every rule can count it.
  Event WithEpsilon() {
    switch (Between(0, 3)) {
      case 0: {
        const int64_t linf = Between(1, 4);
        return {DiscreteLaplaceEvent{Ratio(), linf + Between(0, 9), linf}};
      }
      case 1:
        return {LaplaceEvent{Ratio(), Ratio()}};
      case 2:
        return {ExponentialMechanismEvent{Epsilon(Between(0, 2 * kEpsilonUnitsPerOne))}};
      default:
        return {PureEvent{Epsilon(Between(0, 2 * kEpsilonUnitsPerOne))}};
    }
  }

  // Any mechanism at all.
  Event Mechanism() {
    switch (Between(0, 3)) {
      case 0:
        return Gaussian();
      case 1:
        return {ApproximateEvent{Epsilon(Between(0, kEpsilonUnitsPerOne)), Delta(Between(0, 1'000'000'000))}};
      case 2:
        return {ZcdpEvent{Rho(Between(0, kRhoUnitsPerOne))}};
      default:
        return WithEpsilon();
    }
  }

  // From here on no tree has parallel parts: no stored event has.
  void LeaveOutParallelParts() { has_parallel_parts_ = false; }

  // Mechanisms from `mechanism` (called without arguments), composed, in parallel, grouped and certified
  // (with any numbers), at most `depth` deep.
  template <typename MakeMechanism>
  Event Tree(int depth, const MakeMechanism& mechanism) {
    const int64_t shape = depth <= 1 ? 0 : Between(0, 5);
    if (shape == 1) {
      ComposedEvent composed;
      for (int64_t i = Between(0, 4); i > 0; --i)
        composed.parts.push_back({Tree(depth - 1, mechanism), Between(1, 7)});
      return {std::move(composed)};
    }
    if (shape == 2 && has_parallel_parts_) {
      ParallelEvent parallel;
      for (int64_t i = Between(0, 3); i > 0; --i) parallel.parts.push_back(Tree(depth - 1, mechanism));
      return {std::move(parallel)};
    }
    if (shape == 3) return {GroupEvent{{Tree(depth - 1, mechanism)}, Between(1, 3)}};
    if (shape == 4) {
      const Epsilon epsilon(Between(0, kEpsilonUnitsPerOne));
      return {CertifiedEvent{{Tree(depth - 1, mechanism)}, epsilon, Delta(Between(0, 1'000'000'000))}};
    }
    return mechanism();
  }

 private:
  bool has_parallel_parts_ = true;
  // SplitMix64 (Steele, Lea, Flood 2014).
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  uint64_t state_;
};

}  // namespace curator::dp::testing
