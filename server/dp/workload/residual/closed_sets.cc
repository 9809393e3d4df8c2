#include "dp/workload/residual/closed_sets.h"

#include <algorithm>
#include <array>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/numeric/int128.h"
#include "dp/domain/domain.h"
#include "dp/queries/product_queries.h"

namespace curator::dp {
namespace {

// A set as a number: those of one size are ordered as their sets are.
using SetKey = absl::uint128;
constexpr int kKeyBits = 13;  // of an attribute
static_assert(kMaxAttributes <= (1 << kKeyBits) && kMostProductAxes * kKeyBits <= 128);

SetKey KeyOf(const AttributeSet& set) {
  SetKey key = 0;
  for (const uint32_t attribute : set) key = key << kKeyBits | attribute;
  return key;
}

// Without the attribute that is followed by `behind` others.
SetKey Without(SetKey key, size_t behind) {
  const int bits = kKeyBits * static_cast<int>(behind);
  const SetKey low = key & ((SetKey(1) << bits) - 1);
  return (key >> bits >> kKeyBits) << bits | low;
}

AttributeSet SetOf(SetKey key, size_t size) {
  AttributeSet set(size);
  for (size_t i = size; i-- > 0; key >>= kKeyBits)
    set[i] = static_cast<uint32_t>(absl::Uint128Low64(key) & ((1U << kKeyBits) - 1));
  return set;
}

void SortEachOnce(std::vector<SetKey>& keys) {
  if (!std::ranges::is_sorted(keys)) std::ranges::sort(keys);
  const auto repeated = std::ranges::unique(keys);
  keys.erase(repeated.begin(), repeated.end());
}

using KeysBySize = std::array<std::vector<SetKey>, kMostProductAxes + 1>;

// Adds to the keys of sets of each size those of the next larger one without one attribute. False for more
// than `most` in all.
bool Close(KeysBySize& keys, size_t most) {
  size_t left = most;
  for (size_t size = kMostProductAxes + 1; size-- > 0;) {
    SortEachOnce(keys[size]);
    if (keys[size].size() > left) return false;
    left -= keys[size].size();
    if (size == 0) break;
    absl::flat_hash_set<SetKey> seen;
    for (const SetKey key : keys[size]) {
      for (size_t behind = 0; behind < size; ++behind) {
        const SetKey fewer = Without(key, behind);
        if (seen.insert(fewer).second) keys[size - 1].push_back(fewer);
      }
      if (seen.size() > left) return false;
    }
  }
  return true;
}

}  // namespace

std::optional<ClosedSets> ClosedSets::Create(std::span<const AttributeSet> sets, size_t most) {
  KeysBySize keys;
  keys[0].push_back(0);
  for (const AttributeSet& set : sets) {
    if (set.size() > kMostProductAxes) return std::nullopt;
    keys[set.size()].push_back(KeyOf(set));
  }
  if (!Close(keys, most)) return std::nullopt;
  ClosedSets closed;
  for (size_t size = 0; size < keys.size(); ++size) {
    for (const SetKey key : keys[size]) closed.sets_.push_back(SetOf(key, size));
    keys[size] = {};
  }
  std::vector<const AttributeSet*> pointers;
  pointers.reserve(closed.sets_.size());
  for (const AttributeSet& set : closed.sets_) pointers.push_back(&set);
  closed.positions_ = SetPositions::Create(pointers).value();
  return closed;
}

}  // namespace curator::dp
