#include "dp/synthesis/dpsyn/cover_search.h"

#include <algorithm>
#include <map>
#include <optional>
#include <utility>

#include "dp/synthesis/dpsyn/fixed_order.h"
#include "dp/synthesis/dpsyn/target_index.h"

namespace curator::dp {
namespace {

// Blocks of a fixed number, and the targets that they miss.
class Search {
 public:
  Search(const CoverRequest& request, std::vector<AttributeSet> blocks)
      : request_(request),
        blocks_(std::move(blocks)),
        index_(request.sizes.size(), request.targets),
        order_(blocks_.size()) {
    for (const AttributeSet& block : blocks_) index_.AddBlock(block, +1);
  }

  // The block whose own targets are fewest goes; what room the others have is used.
  void DropOne() {
    size_t least = 0;
    int64_t fewest = INT64_MAX;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      const int64_t own = index_.OnlyIn(blocks_[i]);
      if (own < fewest) std::tie(fewest, least) = std::pair(own, i);
    }
    index_.AddBlock(blocks_[least], -1);
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(least));
    for (AttributeSet& block : blocks_) Fill(block);
    missed_.clear();
    for (const AttributeSet& target : request_.targets) {
      if (index_.Count(target) == 0) missed_.push_back(target);
    }
  }

  // Exchanges attributes until nothing is missed, or `steps` are used up; those that are left.
  int64_t Repair(int64_t steps) {
    while (!missed_.empty() && steps > 0) {
      const size_t pick = order_.Below(missed_.size());
      const AttributeSet target = missed_[pick];
      if (index_.Count(target) > 0) {
        missed_[pick] = missed_.back();
        missed_.pop_back();
        continue;
      }
      steps -= 1 + static_cast<int64_t>(blocks_.size()) / 8;
      BringTogether(target);
    }
    return missed_.empty() ? steps : 0;
  }

  // The blocks, without attributes through which they hold nothing that others do not: smaller views have
  // less noise.
  std::vector<AttributeSet> Trimmed() const {
    TargetIndex index = index_;
    std::vector<AttributeSet> trimmed = blocks_;
    for (AttributeSet& block : trimmed) {
      const AttributeSet before = block;
      for (const uint32_t attribute : before) {
        if (index.OnlyThrough(block, attribute) > 0) continue;
        std::erase(block, attribute);
        index.AddThrough(block, attribute, -1);
      }
    }
    std::erase_if(trimmed,
                  [&](const AttributeSet& block) { return block.size() < request_.targets.front().size(); });
    return trimmed;
  }

 private:
  // Adds attributes while they fit, those first that bring most of what is missed.
  void Fill(AttributeSet& block) {
    while (true) {
      std::optional<uint32_t> best;
      int64_t most = -1;
      const size_t first = order_.Below(request_.sizes.size());
      for (size_t i = 0; i < request_.sizes.size(); ++i) {
        const auto attribute = static_cast<uint32_t>((first + i) % request_.sizes.size());
        if (std::ranges::binary_search(block, attribute) || !Fits(block, std::nullopt, attribute)) continue;
        const int64_t gained = index_.Uncovered(block, attribute);
        if (gained > most) std::tie(most, best) = std::pair(gained, attribute);
      }
      if (!best) return;
      index_.AddThrough(block, *best, +1);
      block.insert(std::ranges::upper_bound(block, *best), *best);
    }
  }

  struct Exchange {
    size_t block = 0;
    uint32_t out = 0;
    uint32_t in = 0;
    int64_t change = INT64_MAX;  // of the number of missed targets
  };

  // The best exchange, in a block that has all of `target` but one, that brings in the missing one.
  void BringTogether(const AttributeSet& target) {
    Exchange best;
    const size_t first = order_.Below(blocks_.size());
    size_t looked_at = 0;
    for (size_t i = 0; i < blocks_.size() && looked_at < 6; ++i) {
      const size_t b = (first + i) % blocks_.size();
      const std::optional<uint32_t> in = OnlyMissing(target, blocks_[b]);
      if (!in) continue;
      ++looked_at;
      const int64_t gained = index_.Uncovered(blocks_[b], *in);
      for (const uint32_t out : blocks_[b]) {
        if (std::ranges::binary_search(target, out) || !Fits(blocks_[b], out, *in)) continue;
        const int64_t change = index_.OnlyThrough(blocks_[b], out) - gained;
        if (change < best.change || (change == best.change && order_.Below(2) == 0))
          best = {.block = b, .out = out, .in = *in, .change = change};
      }
    }
    if (best.change > 1 || (best.change == 1 && order_.Below(16) != 0)) return;
    Apply(best);
  }

  void Apply(const Exchange& exchange) {
    AttributeSet& block = blocks_[exchange.block];
    const AttributeSet before = block;
    std::erase(block, exchange.out);
    // What only this attribute held together here is missed now.
    index_.AddThrough(block, exchange.out, -1);
    for (size_t i = 0; i < block.size(); ++i) {
      for (size_t j = request_.targets.front().size() == 2 ? block.size() - 1 : i + 1; j < block.size();
           ++j) {
        AttributeSet target = {exchange.out, block[i]};
        if (request_.targets.front().size() == 3) target.push_back(block[j]);
        std::ranges::sort(target);
        if (index_.Count(target) == 0) missed_.push_back(std::move(target));
      }
    }
    index_.AddThrough(block, exchange.in, +1);
    block.insert(std::ranges::upper_bound(block, exchange.in), exchange.in);
  }

  static std::optional<uint32_t> OnlyMissing(const AttributeSet& target, const AttributeSet& block) {
    std::optional<uint32_t> missing;
    for (const uint32_t attribute : target) {
      if (std::ranges::binary_search(block, attribute)) continue;
      if (missing) return std::nullopt;
      missing = attribute;
    }
    return missing;
  }

  bool Fits(const AttributeSet& block, std::optional<uint32_t> out, uint32_t in) const {
    double cells = static_cast<double>(request_.sizes[in]);
    for (const uint32_t attribute : block) {
      if (attribute != out) cells *= static_cast<double>(request_.sizes[attribute]);
    }
    return cells <= static_cast<double>(request_.most_cells);
  }

  const CoverRequest& request_;
  std::vector<AttributeSet> blocks_;
  TargetIndex index_;
  FixedOrder order_;
  std::vector<AttributeSet> missed_;  // and perhaps some that are no longer
};

}  // namespace

std::vector<AttributeSet> WithFewerBlocks(const CoverRequest& request, std::vector<AttributeSet> blocks) {
  int64_t steps = request.search_steps;
  Search search(request, blocks);
  while (blocks.size() > 1 && steps > 0) {
    search.DropOne();
    steps = search.Repair(steps);
    if (steps > 0) blocks = search.Trimmed();
  }
  return blocks;
}

}  // namespace curator::dp
