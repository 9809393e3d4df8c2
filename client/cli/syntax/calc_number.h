// Numbers of the calculators: read exactly.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "dp/accounting/units.h"

namespace curator::cli {

// A positive decimal of at most twelve places, exactly. INVALID_ARGUMENT names `field`.
absl::StatusOr<dp::Rational> ParsePositive(const std::string& text, const std::string& field);

// 0 < delta < 1.
absl::StatusOr<dp::Delta> ParseDelta(const std::string& text);
// epsilon > 0, rho > 0.
absl::StatusOr<dp::Epsilon> ParseEpsilon(const std::string& text);
absl::StatusOr<dp::Rho> ParseRho(const std::string& text);

}  // namespace curator::cli
