// Models of groups in computational form: responses as integers, exact sums over a group's members.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/status.h"
#include "base/int128.h"
#include "dp/kernel/utility/utility.h"

namespace curator::dp {

// Weights of records count units of 2^-16.
inline constexpr int kRecordWeightBits = 16;
inline constexpr int64_t kWholeRecord = int64_t{1} << kRecordWeightBits;

// Responses count steps from `low`: integers from 0 to 2^30. Means count from there too.
struct NormalGroupGrid {
  std::vector<int64_t> values;  // of each code
  double step = 1;
  double span = 1;  // high - low
  std::vector<double> means;
  std::vector<double> between_squared;
  std::vector<double> precision;   // 1 / within^2
  std::vector<double> log_square;  // ln(2 pi within^2)
  double largest_between_squared = 0;
  double least_log_square = 0;

  size_t rows() const { return between_squared.size() * precision.size(); }
  size_t row_length() const { return means.size(); }
};

struct BinomialGroupGrid {
  std::vector<uint8_t> successes;   // of each code
  std::vector<double> log_success;  // of each point of p
  std::vector<double> log_failure;
  size_t correlations = 0;
  size_t means = 0;
  // The probability of each point, at least kLeastPointShare / kEffectPoints: that of point q under candidate
  // j is shares[q * candidates + j].
  std::vector<double> shares;

  size_t rows() const { return correlations; }
  size_t row_length() const { return means; }
};

// A tiny uniform mixture component keeps every logarithm finite.
inline constexpr double kLeastPointShare = 0x1p-40;

using GroupGrid = std::variant<NormalGroupGrid, BinomialGroupGrid>;

// Candidates come in rows of consecutive indices.
size_t RowsOf(const GroupGrid& grid);
size_t RowLengthOf(const GroupGrid& grid);

// INVALID_ARGUMENT for empty axes, numbers outside the ranges above, or not one number for each of `codes`
// codes; OUT_OF_RANGE for too many candidates.
absl::Status CheckGroupModel(const GroupModel& model, int64_t codes);

// `model` has passed the check.
GroupGrid GridOf(const GroupModel& model);

// The sufficient statistics of a group: exact sums over its members. With fewer than 2^31 of them, weights
// of at most 2^16 and values of at most 2^30, the sums are below 2^47, 2^77 and 2^107.
struct GroupSums {
  int64_t times = 1;   // the number of groups with these sums
  int64_t weight = 0;  // of all members
  Int128 sum = 0;      // of weight times value (binomial: the weight of successes)
  Int128 squares = 0;  // of weight times value squared
};

// The sums of a group with these `codes`. `weights` are those of the codes, in units of 2^-16.
GroupSums SumsOf(const GroupGrid& grid, std::span<const int64_t> weights, std::span<const uint32_t> codes);

}  // namespace curator::dp
