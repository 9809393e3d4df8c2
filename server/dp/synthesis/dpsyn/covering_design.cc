#include "dp/synthesis/dpsyn/covering_design.h"

#include <algorithm>
#include <numbers>
#include <set>
#include <utility>

#include "dp/synthesis/dpsyn/affine_plane.h"
#include "dp/synthesis/dpsyn/cover_search.h"
#include "dp/synthesis/dpsyn/fixed_order.h"
#include "dp/synthesis/dpsyn/target_index.h"
#include "dp/synthesis/rap/relaxed_start.h"

namespace curator::dp {
namespace {

double CellsOfBlock(const std::vector<int64_t>& sizes, const AttributeSet& set) {
  double cells = 1;
  for (const uint32_t attribute : set) cells *= static_cast<double>(sizes[attribute]);
  return cells;
}

// Builds blocks one after another over an index of what is still uncovered.
class Greedy {
 public:
  Greedy(const CoverRequest& request, uint64_t seed)
      : request_(request), index_(request.sizes.size(), request.targets), order_(seed) {}

  std::vector<AttributeSet> Blocks() {
    std::vector<AttributeSet> blocks;
    std::vector<AttributeSet> targets = request_.targets;
    order_.Shuffle(targets);
    for (const AttributeSet& target : targets) {
      if (index_.Count(target) > 0) continue;
      blocks.push_back(Grow(target));
      index_.AddBlock(blocks.back(), +1);
      if (blocks.size() > request_.most_blocks) return {};
    }
    return WithoutNeedless(std::move(blocks));
  }

 private:
  AttributeSet Grow(AttributeSet block) {
    double cells = CellsOfBlock(request_.sizes, block);
    while (true) {
      double best_value = 0;
      std::vector<uint32_t> best;
      for (uint32_t attribute = 0; attribute < request_.sizes.size(); ++attribute) {
        const auto size = static_cast<double>(request_.sizes[attribute]);
        if (cells * size > static_cast<double>(request_.most_cells)) continue;
        if (std::ranges::binary_search(block, attribute)) continue;
        const int64_t gain = index_.Uncovered(block, attribute);
        const double value = static_cast<double>(gain) / (0.1 + PortableLog(size) / std::numbers::ln2);
        if (gain == 0 || value < best_value) continue;
        if (value > best_value) best.clear();
        best_value = value;
        best.push_back(attribute);
      }
      if (best.empty()) return block;
      const uint32_t chosen = best[order_.Below(best.size())];
      block.insert(std::ranges::upper_bound(block, chosen), chosen);
      cells *= static_cast<double>(request_.sizes[chosen]);
    }
  }

  // Without blocks of which every target lies in another one as well.
  std::vector<AttributeSet> WithoutNeedless(std::vector<AttributeSet> blocks) {
    std::erase_if(blocks, [&](const AttributeSet& block) {
      if (index_.OnlyIn(block) > 0) return false;
      index_.AddBlock(block, -1);
      return true;
    });
    return blocks;
  }

  const CoverRequest& request_;
  TargetIndex index_;
  FixedOrder order_;
};

// The lines of an affine plane, when all attributes have one size and every pair is a target.
std::vector<AttributeSet> PlaneBlocks(const CoverRequest& request) {
  const size_t attributes = request.sizes.size();
  const bool equal = std::ranges::adjacent_find(request.sizes, std::not_equal_to<>()) == request.sizes.end();
  if (!equal || request.targets.empty() || request.targets.front().size() != 2) return {};
  if (request.targets.size() != attributes * (attributes - 1) / 2 || request.sizes.front() < 2) return {};
  size_t width = 0;
  for (double cells = 1;
       cells * static_cast<double>(request.sizes.front()) <= static_cast<double>(request.most_cells); ++width)
    cells *= static_cast<double>(request.sizes.front());
  return AffinePlaneLines(attributes, width);
}

}  // namespace

std::vector<AttributeSet> CoveringDesign(const CoverRequest& request) {
  if (request.targets.empty()) return {};
  const size_t attributes = request.sizes.size();
  AttributeSet all(attributes);
  for (uint32_t i = 0; i < attributes; ++i) all[i] = i;
  if (CellsOfBlock(request.sizes, all) <= static_cast<double>(request.most_cells)) return {all};

  std::vector<AttributeSet> best = PlaneBlocks(request);
  const uint64_t starts = request.targets.size() > 5000 ? 1 : 4;
  for (uint64_t seed = 1; seed <= starts; ++seed) {
    std::vector<AttributeSet> blocks = Greedy(request, seed).Blocks();
    if (!blocks.empty() && (best.empty() || blocks.size() < best.size())) best = std::move(blocks);
  }
  if (best.empty() || best.size() > request.most_blocks) return {};
  best = WithFewerBlocks(request, std::move(best));
  std::ranges::sort(best);
  return best;
}

int64_t SchonheimBound(int64_t attributes, int64_t width, int64_t strength) {
  if (width >= attributes) return 1;
  int64_t bound = 1;
  for (int64_t level = strength - 1; level >= 0; --level) {
    const int64_t product = bound * (attributes - level);
    bound = (product + width - level - 1) / (width - level);
  }
  return bound;
}

std::vector<AttributeSet> SubsetsWithin(std::span<const AttributeSet> sets, size_t strength) {
  std::set<AttributeSet> found;
  for (const AttributeSet& set : sets) {
    for (size_t i = 0; i < set.size(); ++i) {
      for (size_t j = i + 1; j < set.size(); ++j) {
        if (strength == 2) found.insert({set[i], set[j]});
        for (size_t k = j + 1; strength == 3 && k < set.size(); ++k) found.insert({set[i], set[j], set[k]});
      }
    }
  }
  return {found.begin(), found.end()};
}

}  // namespace curator::dp
