#include "dp/workload/residual/set_positions.h"

#include <algorithm>
#include <numeric>

namespace curator::dp {
namespace {

bool ComesBefore(const AttributeSet& one, const AttributeSet& other) {
  return one.size() != other.size() ? one.size() < other.size() : one < other;
}

bool IsParent(const AttributeSet& one, const AttributeSet& of) {
  return one.size() + 1 == of.size() && std::equal(one.begin(), one.end(), of.begin());
}

}  // namespace

std::optional<SetPositions> SetPositions::Create(std::span<const AttributeSet* const> sets) {
  SetPositions made;
  made.position_.resize(sets.size());
  std::iota(made.position_.begin(), made.position_.end(), uint32_t{0});
  const auto comes_before = [&](uint32_t one, uint32_t other) {
    return ComesBefore(*sets[one], *sets[other]);
  };
  if (!std::ranges::is_sorted(made.position_, comes_before)) std::ranges::sort(made.position_, comes_before);
  if (sets.empty() || !sets[made.position_[0]]->empty()) return std::nullopt;
  made.last_ = {0};
  for (uint32_t node = 1; node < sets.size(); ++node) {
    const AttributeSet& set = *sets[made.position_[node]];
    if (!comes_before(made.position_[node - 1], made.position_[node])) return std::nullopt;
    // Its parent is that of the node before, or follows it.
    while (made.children_.empty() || !IsParent(*sets[made.position_[made.children_.size() - 1]], set)) {
      if (made.children_.size() == node) return std::nullopt;
      made.children_.push_back(node);
    }
    made.last_.push_back(set.back());
  }
  made.children_.resize(sets.size() + 1, static_cast<uint32_t>(sets.size()));
  if (!made.IsClosed(sets)) return std::nullopt;
  return made;
}

// Each set has its parent. It has all subsets if it has those that lack one attribute.
bool SetPositions::IsClosed(std::span<const AttributeSet* const> sets) const {
  AttributeSet fewer;
  return std::ranges::all_of(sets, [&](const AttributeSet* set) {
    for (size_t i = 0; i + 1 < set->size(); ++i) {
      fewer = *set;
      fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
      if (!Find(fewer)) return false;
    }
    return true;
  });
}

uint32_t SetPositions::ChildOf(uint32_t node, uint32_t attribute) const {
  const uint32_t begin = children_[node];
  const uint32_t end = children_[node + 1];
  if (begin == end || attribute < last_[begin]) return kNone;
  // Where there are all, the difference of the attributes is that of the places.
  const uint32_t guess = begin + (attribute - last_[begin]);
  if (guess < end && last_[guess] == attribute) return guess;
  const auto first = last_.begin() + begin;
  const auto found = std::lower_bound(first, last_.begin() + end, attribute);
  const bool is_found = found != last_.begin() + end && *found == attribute;
  return is_found ? static_cast<uint32_t>(found - last_.begin()) : kNone;
}

std::optional<uint32_t> SetPositions::Find(const AttributeSet& set) const {
  uint32_t node = last_.empty() ? kNone : 0;
  for (size_t i = 0; i < set.size() && node != kNone; ++i) node = ChildOf(node, set[i]);
  return node == kNone ? std::nullopt : std::optional(position_[node]);
}

std::vector<uint32_t> SetPositions::SubsetsOf(const AttributeSet& set) const {
  std::vector<uint32_t> found(SubsetsOfSize(set.size()));
  for (size_t i = 0; i < set.size(); ++i) {
    const size_t half = SubsetsOfSize(i);
    for (size_t subset = 0; subset < half; ++subset) found[subset + half] = ChildOf(found[subset], set[i]);
  }
  for (uint32_t& node : found) node = position_[node];
  return found;
}

}  // namespace curator::dp
