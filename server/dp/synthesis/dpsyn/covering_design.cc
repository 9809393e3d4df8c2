#include "dp/synthesis/dpsyn/covering_design.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <numeric>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/dpsyn/sorted_records.h"
#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
namespace {

double CellsOfBlock(const std::vector<int64_t>& sizes, const AttributeSet& set) {
  double cells = 1;
  for (const uint32_t attribute : set) cells *= static_cast<double>(sizes[attribute]);
  return cells;
}

// The work of one design.
class Steps {
 public:
  Steps(const CoverRequest& request, Pacer& pacer) : request_(request), pacer_(pacer) {}

  absl::Status Advance(int64_t steps) { return AdvanceTo(request_.last_step, steps, pacer_); }

  // For all targets of a block, or for those through one of its attributes.
  absl::Status OverBlock(const AttributeSet& block) {
    return Advance(TargetsWithin(std::ssize(block), strength()));
  }
  absl::Status ThroughBlock(const AttributeSet& block) {
    return Advance(TargetsWithin(std::ssize(block), strength() - 1));
  }

 private:
  static int64_t TargetsWithin(int64_t width, size_t strength) {
    return strength == 1 ? width : strength == 2 ? width * width / 2 : width * width * width / 6;
  }
  size_t strength() const { return request_.targets.front().size(); }

  const CoverRequest& request_;
  Pacer& pacer_;
};

// Builds blocks one after another over an index of what is still uncovered.
class Greedy {
 public:
  Greedy(const CoverRequest& request, uint64_t seed, Pacer& pacer)
      : request_(request),
        index_(request.sizes.size(), request.targets),
        order_(seed),
        steps_(request, pacer) {
    for (const int64_t size : request.sizes) {
      sizes_.push_back(static_cast<double>(size));
      weights_.push_back(0.1 + PortableLog(sizes_.back()) / std::numbers::ln2);
    }
    smallest_ = std::ranges::min(sizes_);
  }

  absl::StatusOr<std::vector<AttributeSet>> Blocks() {
    std::vector<AttributeSet> blocks;
    std::vector<size_t> targets(request_.targets.size());
    std::iota(targets.begin(), targets.end(), size_t{0});
    order_.Shuffle(targets);
    for (const size_t i : targets) {
      const AttributeSet& target = request_.targets[i];
      if (index_.Count(target) > 0) continue;
      ASSIGN_OR_RETURN(AttributeSet block, Grow(target));
      RETURN_IF_ERROR(steps_.OverBlock(block));
      index_.AddBlock(block, +1);
      blocks.push_back(std::move(block));
      if (blocks.size() > request_.most_blocks) return std::vector<AttributeSet>();
    }
    return WithoutRedundant(std::move(blocks));
  }

 private:
  absl::StatusOr<AttributeSet> Grow(AttributeSet block) {
    const auto most_cells = static_cast<double>(request_.most_cells);
    double cells = CellsOfBlock(request_.sizes, block);
    std::vector<int32_t> gains(sizes_.size());
    AttributeSet before;
    for (const uint32_t attribute : block) {
      index_.AddUncoveredWith(before, attribute, gains);
      before.push_back(attribute);
    }
    while (cells * smallest_ <= most_cells) {
      RETURN_IF_ERROR(steps_.Advance(std::ssize(gains)));
      double best_value = 0;
      std::vector<uint32_t> best;
      for (uint32_t attribute = 0; attribute < gains.size(); ++attribute) {
        if (gains[attribute] == 0 || cells * sizes_[attribute] > most_cells) continue;
        const double value = static_cast<double>(gains[attribute]) / weights_[attribute];
        if (value < best_value || std::ranges::binary_search(block, attribute)) continue;
        if (value > best_value) best.clear();
        best_value = value;
        best.push_back(attribute);
      }
      if (best.empty()) break;
      const uint32_t chosen = best[order_.Below(best.size())];
      if (block.size() > 1 && request_.targets.front().size() == 3)
        RETURN_IF_ERROR(steps_.Advance(std::ssize(gains) * std::ssize(block)));
      index_.AddUncoveredWith(block, chosen, gains);
      block.insert(std::ranges::upper_bound(block, chosen), chosen);
      cells *= sizes_[chosen];
    }
    return block;
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
  Steps steps_;
  std::vector<double> sizes_;    // of the attributes
  std::vector<double> weights_;  // what their values cost
  double smallest_ = 1;          // size
};

// No cover has fewer blocks: how many it takes when every block holds as many targets as one can.
size_t FewestBlocks(const CoverRequest& request) {
  const size_t strength = request.targets.front().size();
  std::vector<int64_t> sizes = request.sizes;
  std::ranges::sort(sizes);
  size_t width = 0;
  for (double cells = 1; width < sizes.size(); ++width) {
    cells *= static_cast<double>(sizes[width]);
    if (cells > static_cast<double>(request.most_cells) && width >= strength) break;
  }
  const size_t most_targets =
      strength == 2 ? width * (width - 1) / 2 : width * (width - 1) * (width - 2) / 6;  // of a block
  return (request.targets.size() + most_targets - 1) / most_targets;
}

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

absl::StatusOr<std::vector<AttributeSet>> CoveringDesign(const CoverRequest& request, Pacer& pacer) {
  if (request.targets.empty()) return std::vector<AttributeSet>();
  const size_t attributes = request.sizes.size();
  AttributeSet all(attributes);
  for (uint32_t i = 0; i < attributes; ++i) all[i] = i;
  if (CellsOfBlock(request.sizes, all) <= static_cast<double>(request.most_cells))
    return std::vector<AttributeSet>{all};

  if (FewestBlocks(request) > request.most_blocks) return std::vector<AttributeSet>();
  std::vector<AttributeSet> best = PlaneBlocks(request);
  const uint64_t starts = request.targets.size() > 5000 ? 1 : 4;
  for (uint64_t seed = 1; seed <= starts; ++seed) {
    ASSIGN_OR_RETURN(std::vector<AttributeSet> blocks, Greedy(request, seed, pacer).Blocks());
    if (!blocks.empty() && (best.empty() || blocks.size() < best.size())) best = std::move(blocks);
  }
  if (best.empty() || best.size() > request.most_blocks) return std::vector<AttributeSet>();
  ASSIGN_OR_RETURN(best, WithFewerBlocks(request, std::move(best), pacer));
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

absl::Status AdvanceTo(int64_t last_step, int64_t steps, Pacer& pacer) {
  RETURN_IF_ERROR(pacer.Advance(steps));
  if (pacer.steps() <= last_step) return absl::OkStatus();
  return InvalidField("workload", absl::StrCat("has views that take more than ", last_step,
                                               " steps to choose: ask for fewer attributes, leave out those "
                                               "of one value, or list the views"));
}

absl::StatusOr<std::vector<AttributeSet>> SubsetsWithin(std::span<const AttributeSet> sets, size_t strength,
                                                        Pacer& pacer, int64_t last_step, size_t most) {
  constexpr int64_t kStepsOfAFind = 128;  // it is allocated
  const AttributeSet attributes = Union(sets);
  const size_t n = attributes.size();
  std::vector<size_t> number(n == 0 ? 0 : attributes.back() + 1);
  for (size_t a = 0; a < n; ++a) number[attributes[a]] = a;
  // A set waits at its smallest attribute, and after that at each next one.
  std::vector<std::vector<std::pair<uint32_t, uint32_t>>> waiting(n);  // a set, and a place in it
  for (uint32_t i = 0; i < sets.size(); ++i) {
    if (!sets[i].empty()) waiting[number[sets[i].front()]].emplace_back(i, 0);
  }
  std::vector<AttributeSet> subsets;
  std::vector<bool> is_found(strength == 2 ? n : n * n);
  std::vector<size_t> found;
  const auto find = [&](size_t key) {
    if (is_found[key]) return;
    is_found[key] = true;
    found.push_back(key);
  };
  for (size_t a = 0; a < n && subsets.size() < most; ++a) {
    for (const auto& [i, place] : waiting[a]) {
      const AttributeSet& set = sets[i];
      const auto after = std::ssize(set) - place - 1;
      RETURN_IF_ERROR(AdvanceTo(last_step, 1 + (strength == 2 ? after : after * (after - 1) / 2), pacer));
      for (size_t j = place + 1; j < set.size(); ++j) {
        if (strength == 2) find(number[set[j]]);
        for (size_t k = j + 1; strength == 3 && k < set.size(); ++k)
          find(number[set[j]] * n + number[set[k]]);
      }
      if (after > 0) waiting[number[set[place + 1]]].emplace_back(i, place + 1);
    }
    waiting[a] = {};
    std::ranges::sort(found);
    for (const size_t key : found) {
      RETURN_IF_ERROR(AdvanceTo(last_step, kStepsOfAFind, pacer));
      is_found[key] = false;
      subsets.push_back(strength == 2
                            ? AttributeSet{attributes[a], attributes[key]}
                            : AttributeSet{attributes[a], attributes[key / n], attributes[key % n]});
    }
    found.clear();
  }
  return subsets;
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
  Search(const CoverRequest& request, std::vector<AttributeSet> blocks, Pacer& pacer)
      : request_(request),
        smallest_(static_cast<double>(std::ranges::min(request.sizes))),
        steps_(request, pacer),
        blocks_(std::move(blocks)),
        index_(request.sizes.size(), request.targets),
        order_(blocks_.size()) {
    for (const AttributeSet& block : blocks_) index_.AddBlock(block, +1);
  }

  // Removes the block with the fewest targets of its own, and fills up the others.
  absl::Status DropOne() {
    size_t least = 0;
    int64_t fewest = INT64_MAX;
    for (size_t i = 0; i < blocks_.size(); ++i) {
      RETURN_IF_ERROR(steps_.OverBlock(blocks_[i]));
      const int64_t own = index_.OnlyIn(blocks_[i]);
      if (own < fewest) std::tie(fewest, least) = std::pair(own, i);
    }
    index_.AddBlock(blocks_[least], -1);
    blocks_.erase(blocks_.begin() + static_cast<ptrdiff_t>(least));
    for (AttributeSet& block : blocks_) RETURN_IF_ERROR(Fill(block));
    missed_.clear();
    for (const AttributeSet& target : request_.targets) {
      if (index_.Count(target) == 0) missed_.push_back(target);
    }
    return steps_.Advance(std::ssize(request_.targets));
  }

  // Exchanges attributes until nothing is missed, or `steps` are used up; those that are left.
  absl::StatusOr<int64_t> Repair(int64_t steps) {
    while (!missed_.empty() && steps > 0) {
      const size_t pick = order_.Below(missed_.size());
      const AttributeSet target = missed_[pick];
      if (index_.Count(target) > 0) {
        missed_[pick] = missed_.back();
        missed_.pop_back();
        continue;
      }
      steps -= 1 + static_cast<int64_t>(blocks_.size()) / 8;
      RETURN_IF_ERROR(BringTogether(target));
    }
    return missed_.empty() ? steps : 0;
  }

  // The blocks, without attributes through which they hold nothing that others do not: smaller views have
  // less noise.
  absl::StatusOr<std::vector<AttributeSet>> Trimmed() {
    TargetIndex index = index_;
    std::vector<AttributeSet> trimmed = blocks_;
    for (AttributeSet& block : trimmed) {
      const AttributeSet before = block;
      for (const uint32_t attribute : before) {
        RETURN_IF_ERROR(steps_.ThroughBlock(block));
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
  absl::Status Fill(AttributeSet& block) {
    while (true) {
      std::optional<uint32_t> best;
      int64_t most = -1;
      const size_t first = order_.Below(request_.sizes.size());
      const double cells = CellsOfBlock(request_.sizes, block);
      if (cells * smallest_ > static_cast<double>(request_.most_cells)) return absl::OkStatus();
      RETURN_IF_ERROR(steps_.Advance(std::ssize(request_.sizes)));
      for (size_t i = 0; i < request_.sizes.size(); ++i) {
        const auto attribute = static_cast<uint32_t>((first + i) % request_.sizes.size());
        if (cells * static_cast<double>(request_.sizes[attribute]) > static_cast<double>(request_.most_cells))
          continue;
        if (std::ranges::binary_search(block, attribute)) continue;
        RETURN_IF_ERROR(steps_.ThroughBlock(block));
        const int64_t gained = index_.Uncovered(block, attribute);
        if (gained > most) std::tie(most, best) = std::pair(gained, attribute);
      }
      if (!best) return absl::OkStatus();
      index_.AddThrough(block, *best, +1);
      block.insert(std::ranges::upper_bound(block, *best), *best);
    }
  }

  // A target is remembered each time it is missed, which takes about 64 bytes.
  static constexpr int64_t kStepsOfAMissedTarget = 64;

  struct Exchange {
    size_t block = 0;
    uint32_t out = 0;
    uint32_t in = 0;
    int64_t change = INT64_MAX;  // of the number of missed targets
  };

  // The best exchange, in a block that has all of `target` but one, that brings in the missing one.
  absl::Status BringTogether(const AttributeSet& target) {
    Exchange best;
    const size_t first = order_.Below(blocks_.size());
    size_t examined = 0;
    for (size_t i = 0; i < blocks_.size() && examined < 6; ++i) {
      const size_t b = (first + i) % blocks_.size();
      RETURN_IF_ERROR(steps_.Advance(1));
      const std::optional<uint32_t> in = OnlyMissing(target, blocks_[b]);
      if (!in) continue;
      ++examined;
      const int64_t gained = index_.Uncovered(blocks_[b], *in);
      for (const uint32_t out : blocks_[b]) {
        RETURN_IF_ERROR(steps_.ThroughBlock(blocks_[b]));
        if (std::ranges::binary_search(target, out) || !Fits(blocks_[b], out, *in)) continue;
        const int64_t change = index_.OnlyThrough(blocks_[b], out) - gained;
        if (change < best.change || (change == best.change && order_.Below(2) == 0))
          best = {.block = b, .out = out, .in = *in, .change = change};
      }
    }
    if (best.change > 1 || (best.change == 1 && order_.Below(16) != 0)) return absl::OkStatus();
    return Apply(best);
  }

  absl::Status Apply(const Exchange& exchange) {
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
        if (index_.Count(target) > 0) continue;
        RETURN_IF_ERROR(steps_.Advance(kStepsOfAMissedTarget));
        missed_.push_back(std::move(target));
      }
    }
    index_.AddThrough(block, exchange.in, +1);
    block.insert(std::ranges::upper_bound(block, exchange.in), exchange.in);
    return absl::OkStatus();
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

  bool Fits(const AttributeSet& block, uint32_t out, uint32_t in) const {
    double cells = static_cast<double>(request_.sizes[in]);
    for (const uint32_t attribute : block) {
      if (attribute != out) cells *= static_cast<double>(request_.sizes[attribute]);
    }
    return cells <= static_cast<double>(request_.most_cells);
  }

  const CoverRequest& request_;
  const double smallest_;  // attribute, in values
  Steps steps_;
  std::vector<AttributeSet> blocks_;
  TargetIndex index_;
  FixedOrder order_;
  std::vector<AttributeSet> missed_;  // and perhaps some that are no longer
};

}  // namespace

absl::StatusOr<std::vector<AttributeSet>> WithFewerBlocks(const CoverRequest& request,
                                                          std::vector<AttributeSet> blocks, Pacer& pacer) {
  int64_t steps = request.search_steps;
  Search search(request, blocks, pacer);
  while (blocks.size() > 1 && steps > 0) {
    RETURN_IF_ERROR(search.DropOne());
    ASSIGN_OR_RETURN(steps, search.Repair(steps));
    if (steps > 0) {
      ASSIGN_OR_RETURN(blocks, search.Trimmed());
    }
  }
  return blocks;
}

TargetIndex::TargetIndex(size_t attributes, const std::vector<AttributeSet>& targets)
    : attributes_(attributes), strength_(targets.empty() ? 2 : targets.front().size()) {
  counts_.assign(strength_ == 2 ? attributes * attributes : attributes * attributes * attributes, kUnwanted);
  for (const AttributeSet& target : targets) {
    counts_[At(target)] = 0;
    if (strength_ == 2) counts_[At(target[1], target[0])] = 0;
  }
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

void TargetIndex::AddUncoveredWith(const AttributeSet& block, uint32_t joining,
                                   std::vector<int32_t>& uncovered) const {
  const auto add = [&](uint32_t attribute, size_t place) {
    uncovered[attribute] += counts_[place] == 0 ? 1 : 0;
  };
  if (strength_ == 2) {
    for (uint32_t a = 0; a < attributes_; ++a) add(a, At(joining, a));
    return;
  }
  for (const uint32_t member : block) {
    const uint32_t low = std::min(member, joining);
    const uint32_t high = std::max(member, joining);
    for (uint32_t a = 0; a < low; ++a) add(a, At(a, low, high));
    for (uint32_t a = low + 1; a < high; ++a) add(a, At(low, a, high));
    for (uint32_t a = high + 1; a < attributes_; ++a) add(a, At(low, high, a));
  }
}

void TargetIndex::AddThrough(const AttributeSet& block, uint32_t attribute, int32_t change) {
  Through(block, attribute, [&](size_t place) { counts_[place] += change; });
  if (strength_ != 2) return;
  for (const uint32_t other : block) {
    if (other != attribute) counts_[At(std::max(other, attribute), std::min(other, attribute))] += change;
  }
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
