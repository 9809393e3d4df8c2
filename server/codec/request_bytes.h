// Canonical bytes of what requests consist of, within larger documents. An optional value is preceded by the
// number of values: 0 or 1.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/canonical_bytes.h"
#include "dp/sensitivity/spend.h"

namespace curator::codec {

void WriteNumbers(CanonicalWriter& writer, const std::vector<int64_t>& numbers);
void WriteOptional(CanonicalWriter& writer, const std::optional<int64_t>& value);
// Which of the three are set, and their units.
void WriteSpend(CanonicalWriter& writer, const dp::Spend& spend);
void WriteSettings(CanonicalWriter& writer, const std::map<std::string, std::string>& settings);

}  // namespace curator::codec
