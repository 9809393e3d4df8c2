// Where the parts of a statement are.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>

#include "client/sql/parse_tree.pb.h"

namespace curator::sql {

// The byte of the statement where the text of a node begins, or its operator is; negative where that is not
// known.
int64_t PlaceOf(const tree::Node& node);

}  // namespace curator::sql
