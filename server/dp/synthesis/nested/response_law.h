// How responses are distributed, under given parameters of a model of groups: for synthetic groups.
//
// What is drawn here owes accuracy, not exactness: its parameters are public. Immutable and thread-safe.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "dp/noise/bit_source.h"
#include "dp/synthesis/nested/nested_settings.h"

namespace curator::dp {

// Doubles, uniform in [0, 1), from blocks of words. Not thread-safe.
class UniformDoubles {
 public:
  explicit UniformDoubles(BitSource& bits) : bits_(bits) {}
  double Next();
  double NextNormal();  // of mean 0 and variance 1
  size_t Below(size_t count) {
    return std::min(count - 1, static_cast<size_t>(Next() * static_cast<double>(count)));
  }

 private:
  BitSource& bits_;
  std::array<uint64_t, 256> words_{};
  size_t next_ = words_.size();
};

// Normal: a member's code is that of the number nearest to mu + e. Binomial: code 1 with the group's
// probability.
class ResponseLaw {
 public:
  // `numbers` rise strictly. `edge` is that of the binomial model; 0 for the normal one.
  ResponseLaw(std::span<const double> numbers, double edge, const NestedParameters& parameters);

  // The share of each code among all members of all groups.
  std::vector<double> Shares() const;

  // What distinguishes a group: its mean, or its probability.
  double DrawEffect(UniformDoubles& uniform) const;
  uint32_t DrawCode(double effect, UniformDoubles& uniform) const;

 private:
  std::vector<double> ends_;  // of each code but the last: halfway to the next
  double edge_;
  NestedParameters parameters_;
  std::vector<double> points_;      // of the binomial model
  std::vector<double> cumulative_;  // shares of those
};

}  // namespace curator::dp
