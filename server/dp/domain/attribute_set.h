// Sets of attributes and their algebra.
//
// Every set rises strictly (Domain::CheckSet()); so does every result. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace curator::dp {

// A set of attributes, as rising indices into a Domain.
using AttributeSet = std::vector<uint32_t>;

bool Contains(const AttributeSet& set, uint32_t attribute);

// Whether every attribute of `subset` is in `set`.
bool IsSubset(const AttributeSet& subset, const AttributeSet& set);

// The attributes of either set, or of any of several.
AttributeSet Union(const AttributeSet& left, const AttributeSet& right);
AttributeSet Union(std::span<const AttributeSet> sets);

// How many attributes a set has beyond the few that forecasts of memory count with what holds it.
int64_t AttributesBeyondAFew(const AttributeSet& set);

// The attributes of both sets.
AttributeSet Intersection(const AttributeSet& left, const AttributeSet& right);

// The attributes of `set` that are not in `removed`.
AttributeSet Difference(const AttributeSet& set, const AttributeSet& removed);

// Where `attribute` stands in `set`; none when it is not there.
std::optional<size_t> PositionIn(const AttributeSet& set, uint32_t attribute);

}  // namespace curator::dp
