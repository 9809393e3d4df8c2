// Canonical bytes of attribute sets, query groups, noise and lists of numbers, within larger documents.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/canonical_bytes.h"
#include "dp/domain/domain.h"
#include "dp/noise/noise_spec.h"
#include "dp/queries/linear_queries.h"

namespace curator::codec {

// The number of attributes, then each of them.
void WriteSet(CanonicalWriter& writer, const dp::AttributeSet& set);
dp::AttributeSet ReadSet(CanonicalReader& reader);

// The number of groups; of each one its attributes, its kind, and the boxes or queries that it lists, or the
// weight of a parity.
void WriteGroups(CanonicalWriter& writer, std::span<const dp::QueryGroup> groups);

void WriteNoise(CanonicalWriter& writer, const dp::NoiseSpec& noise);
// Refuses a parameter that is negative or no quotient.
dp::NoiseSpec ReadNoise(CanonicalReader& reader);

// The number of values, then each of them.
void WriteValues(CanonicalWriter& writer, const std::vector<int64_t>& values);
// The number of lists, then each list. Makes place for all of them first, which may be most of a document.
void WriteLists(CanonicalWriter& writer, const std::vector<std::vector<int64_t>>& lists);
std::vector<int64_t> ReadValues(CanonicalReader& reader);

// One of the values up to `last`.
template <typename Enum>
Enum ReadEnum(CanonicalReader& reader, Enum last) {
  const int64_t value = reader.Integer();
  if (value < 0 || value > static_cast<int64_t>(last)) reader.Refuse();
  return reader.ok() ? static_cast<Enum>(value) : Enum{};
}

}  // namespace curator::codec
