#include "dp/synthesis/prior/compact_weights.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace curator::dp {
namespace {

constexpr int kFractionBits = 11;
constexpr int kLargestWeightExponent = 31;
constexpr int kDoubleFractionBits = 52;
constexpr uint64_t kBias = 1023;
constexpr uint16_t kOne = kLargestWeightExponent << kFractionBits;  // the code of the largest weight

// The code of a share 0 <= x <= 1 of the largest weight. The codes rise with the shares: 0 is 0, and any
// other code is the upper bits of the share's own representation, rounded to nearest.
uint16_t CodeOf(double x) {
  const uint64_t rounded =
      (std::bit_cast<uint64_t>(x) + (uint64_t{1} << (kDoubleFractionBits - kFractionBits - 1))) >>
      (kDoubleFractionBits - kFractionBits);
  constexpr uint64_t kSmallest = (kBias - kLargestWeightExponent) << kFractionBits;
  if (rounded <= kSmallest) return 0;
  return static_cast<uint16_t>(std::min<uint64_t>(rounded - kSmallest, kOne));
}

}  // namespace

double CompactWeights::WeightOf(uint16_t code) {
  if (code == 0) return 0;
  const uint64_t bits = (uint64_t{code} + ((kBias - kLargestWeightExponent) << kFractionBits))
                        << (kDoubleFractionBits - kFractionBits);
  return std::bit_cast<double>(bits);
}

CompactWeights::CompactWeights(std::span<const double> weights) : codes_(weights.size(), kOne) {
  const double largest = weights.empty() ? 0 : *std::ranges::max_element(weights);
  if (largest > 0) {
    for (size_t i = 0; i < weights.size(); ++i) codes_[i] = CodeOf(std::max(0.0, weights[i]) / largest);
  }
  AddUp();
}

absl::StatusOr<CompactWeights> CompactWeights::FromBytes(std::string_view bytes, size_t size) {
  CompactWeights weights;
  if (bytes.size() != 2 * size) return absl::DataLossError("weights of another length");
  for (size_t i = 0; i < size; ++i) {
    const auto high = static_cast<unsigned char>(bytes[2 * i]);
    const auto low = static_cast<unsigned char>(bytes[2 * i + 1]);
    weights.codes_.push_back(static_cast<uint16_t>(high << 8 | low));
    if (weights.codes_.back() > kOne) return absl::DataLossError("a weight above the largest");
  }
  weights.AddUp();
  if (!(weights.total_ > 0)) return absl::DataLossError("there is no weight");
  return weights;
}

std::string CompactWeights::Bytes() const {
  std::string bytes;
  bytes.reserve(2 * codes_.size());
  for (const uint16_t code : codes_) {
    bytes.push_back(static_cast<char>(code >> 8));
    bytes.push_back(static_cast<char>(code & 0xFF));
  }
  return bytes;
}

void CompactWeights::AddUp() {
  total_ = 0;
  for (const uint16_t code : codes_) total_ += WeightOf(code);
}

}  // namespace curator::dp
