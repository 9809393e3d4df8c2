// The grid of parameters for a response: its bounds, its axes.
//
// Everything here is public. Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/kernel/utility/utility.h"
#include "dp/synthesis/settings_reader.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// Candidates of one grid: each takes 8 bytes several times.
inline constexpr int64_t kMostNestedCandidates = int64_t{1} << 22;

// Points times draws: each draw weighs every point.
inline constexpr int64_t kMostNestedPointsDrawnFrom = int64_t{1} << 26;

// Codes of the response times numbers of sigma: even an estimate of the price visits them all.
inline constexpr int64_t kMostWeighings = int64_t{1} << 26;

// Errors: INVALID_ARGUMENT: "nested" for facts that are no response of this domain, "settings..." for a grid
// that is empty, out of its range or too large.
absl::StatusOr<GroupModel> ReadNestedModel(const Domain& domain, const NestedFacts& facts,
                                           SettingsReader& reader);

}  // namespace curator::dp
