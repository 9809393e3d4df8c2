#include "dp/synthesis/dpsyn/target_index.h"

#include <algorithm>
#include <cmath>

namespace curator::dp {

TargetIndex::TargetIndex(size_t attributes, const std::vector<AttributeSet>& targets)
    : attributes_(attributes), strength_(targets.empty() ? 2 : targets.front().size()) {
  counts_.assign(strength_ == 2 ? attributes * attributes : attributes * attributes * attributes, kUnwanted);
  for (const AttributeSet& target : targets) counts_[At(target)] = 0;
}

template <typename Visit>
void TargetIndex::Through(const AttributeSet& block, uint32_t attribute, Visit visit) const {
  for (size_t i = 0; i < block.size(); ++i) {
    const uint32_t first = block[i];
    if (first == attribute) continue;
    if (strength_ == 2) {
      visit(At(std::min(first, attribute), std::max(first, attribute)));
      continue;
    }
    for (size_t j = i + 1; j < block.size(); ++j) {
      const uint32_t second = block[j];
      if (second == attribute) continue;
      visit(attribute < first    ? At(attribute, first, second)
            : attribute < second ? At(first, attribute, second)
                                 : At(first, second, attribute));
    }
  }
}

int64_t TargetIndex::WithCount(const AttributeSet& block, uint32_t attribute, int32_t count) const {
  int64_t found = 0;
  Through(block, attribute, [&](size_t place) { found += counts_[place] == count ? 1 : 0; });
  return found;
}

void TargetIndex::AddThrough(const AttributeSet& block, uint32_t attribute, int32_t change) {
  Through(block, attribute, [&](size_t place) { counts_[place] += change; });
}

void TargetIndex::AddBlock(const AttributeSet& block, int32_t change) {
  AttributeSet before;
  for (const uint32_t attribute : block) {
    AddThrough(before, attribute, change);
    before.push_back(attribute);
  }
}

int64_t TargetIndex::OnlyIn(const AttributeSet& block) const {
  int64_t found = 0;
  AttributeSet before;
  for (const uint32_t attribute : block) {
    found += OnlyThrough(before, attribute);
    before.push_back(attribute);
  }
  return found;
}

}  // namespace curator::dp
