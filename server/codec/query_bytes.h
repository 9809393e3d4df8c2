// Canonical bytes of attribute sets and query groups, within larger documents.
//
// Thread-safe: pure functions.
#pragma once

#include <span>

#include "base/canonical_bytes.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"

namespace curator::codec {

// The number of attributes, then each of them.
void WriteSet(CanonicalWriter& writer, const dp::AttributeSet& set);

// The number of groups; of each one its attributes, its kind, and the boxes or queries that it lists.
void WriteGroups(CanonicalWriter& writer, std::span<const dp::QueryGroup> groups);

}  // namespace curator::codec
