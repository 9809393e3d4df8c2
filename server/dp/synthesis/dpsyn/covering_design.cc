#include "dp/synthesis/dpsyn/covering_design.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <optional>
#include <set>
#include <utility>

#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/models/portable_math.h"

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
    return WithoutRedundant(std::move(blocks));
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

  // Drops blocks whose targets all lie in other blocks as well.
  std::vector<AttributeSet> WithoutRedundant(std::vector<AttributeSet> blocks) {
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

namespace {

bool IsPrime(size_t number) {
  for (size_t divisor = 2; divisor * divisor <= number; ++divisor) {
    if (number % divisor == 0) return false;
  }
  return number >= 2;
}

// The field of q elements, for a prime q, or 4, 8 and 16.
class Field {
 public:
  explicit Field(size_t q) : q_(q), prime_(IsPrime(q)) {}

  size_t Add(size_t a, size_t b) const { return prime_ ? (a + b) % q_ : a ^ b; }

  size_t Multiply(size_t a, size_t b) const {
    if (prime_) return a * b % q_;
    // Polynomials over two elements, modulo x^2+x+1, x^3+x+1 and x^4+x+1.
    const size_t modulus = q_ == 4 ? 7 : q_ == 8 ? 11 : 19;
    size_t product = 0;
    for (; b > 0; b >>= 1) {
      if ((b & 1) == 1) product ^= a;
      a <<= 1;
      if (a >= q_) a ^= modulus;
    }
    return product;
  }

 private:
  size_t q_;
  bool prime_;
};

bool HasField(size_t q) {
  return IsPrime(q) || q == 4 || q == 8 || q == 16;
}

}  // namespace

std::vector<AttributeSet> AffinePlaneLines(size_t points, size_t width) {
  size_t q = 2;
  while (q <= width && (q * q < points || !HasField(q))) ++q;
  if (q > width) return {};
  const Field field(q);
  std::vector<AttributeSet> lines;
  const auto keep = [&](const AttributeSet& line) {
    if (line.size() >= 2) lines.push_back(line);
  };
  // The point (x, y) is q x + y; lines are y = slope x + offset, and x = constant.
  for (size_t slope = 0; slope < q; ++slope) {
    for (size_t offset = 0; offset < q; ++offset) {
      AttributeSet line;
      for (size_t x = 0; x < q; ++x) {
        const size_t point = q * x + field.Add(field.Multiply(slope, x), offset);
        if (point < points) line.push_back(static_cast<uint32_t>(point));
      }
      keep(line);
    }
  }
  for (size_t x = 0; x < q; ++x) {
    AttributeSet line;
    for (size_t point = q * x; point < q * (x + 1) && point < points; ++point)
      line.push_back(static_cast<uint32_t>(point));
    keep(line);
  }
  return lines;
}

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

  // Removes the block with the fewest targets of its own, and fills up the others.
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
    size_t examined = 0;
    for (size_t i = 0; i < blocks_.size() && examined < 6; ++i) {
      const size_t b = (first + i) % blocks_.size();
      const std::optional<uint32_t> in = OnlyMissing(target, blocks_[b]);
      if (!in) continue;
      ++examined;
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
