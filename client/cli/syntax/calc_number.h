// Numbers of the calculators: read exactly, shown beside their exact values.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/output/document.h"
#include "client/cli/output/value.h"
#include "dp/accounting/units.h"

namespace curator::cli {

// A positive decimal of at most twelve places, exactly. INVALID_ARGUMENT names `field`.
absl::StatusOr<dp::Rational> ParsePositive(const std::string& text, const std::string& field);

// 0 < delta < 1.
absl::StatusOr<dp::Delta> ParseDelta(const std::string& text);
// epsilon > 0, rho > 0.
absl::StatusOr<dp::Epsilon> ParseEpsilon(const std::string& text);
absl::StatusOr<dp::Rho> ParseRho(const std::string& text);

// The two columns of one number: rounded for people under `title`, exact for programs under `key`.
Column ColumnForPeople(const std::string& key, const std::string& title);
Column ColumnForPrograms(const std::string& key, const std::string& title);

}  // namespace curator::cli
