// Weights in two bytes each: a fraction of 11 bits and an exponent of 5, relative to the largest one.
//
// Their relative error is at most 2^-12, and what is below 2^-31 of the largest is 0. A model is made of the
// rounded weights, so that a stored one is the same model to the last bit. Immutable and thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::dp {

class CompactWeights {
 public:
  // Weights >= 0. All are equal where none is positive.
  explicit CompactWeights(std::span<const double> weights);

  // What Bytes() wrote. DATA_LOSS when it is of another length than `size`, or has no weight.
  static absl::StatusOr<CompactWeights> FromBytes(std::string_view bytes, size_t size);
  std::string Bytes() const;

  size_t size() const { return codes_.size(); }
  double total() const { return total_; }  // of the weights relative to the largest
  double operator[](size_t i) const { return WeightOf(codes_[i]); }

 private:
  CompactWeights() = default;
  static double WeightOf(uint16_t code);
  void AddUp();

  std::vector<uint16_t> codes_;
  double total_ = 0;
};

}  // namespace curator::dp
