#include "dp/workload/residual/set_positions.h"

#include "dp/domain/domain.h"
#include "dp/queries/product_queries.h"

namespace curator::dp {
namespace {

constexpr int kKeyBits = 13;  // of an attribute, from 1 on
static_assert(kMaxAttributes < (1 << kKeyBits) && kMostProductAxes * kKeyBits <= 128);

}  // namespace

SetPositions::Key SetPositions::KeyOf(const AttributeSet& set, size_t subset) {
  Key key = 0;
  for (size_t i = 0; i < set.size(); ++i) {
    if ((subset >> i & 1) != 0) key = key << kKeyBits | (set[i] + 1);
  }
  return key;
}

void SetPositions::Add(const AttributeSet& set, size_t subset, uint32_t position) {
  positions_.try_emplace(KeyOf(set, subset), position);
}

bool SetPositions::Contains(const AttributeSet& set, size_t subset) const {
  return positions_.contains(KeyOf(set, subset));
}

std::vector<uint32_t> SetPositions::SubsetsOf(const AttributeSet& set) const {
  std::vector<uint32_t> positions;
  positions.reserve(SubsetsOfSize(set.size()));
  for (size_t subset = 0; subset < SubsetsOfSize(set.size()); ++subset)
    positions.push_back(positions_.at(KeyOf(set, subset)));
  return positions;
}

AttributeSet SubsetOf(const AttributeSet& set, size_t subset) {
  AttributeSet chosen;
  for (size_t i = 0; i < set.size(); ++i) {
    if ((subset >> i & 1) != 0) chosen.push_back(set[i]);
  }
  return chosen;
}

}  // namespace curator::dp
