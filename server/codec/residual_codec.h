// Canonical bytes of what is measured by residuals, within larger documents.
//
// The number of axes, and of each the weights, 4 bytes (two's complement, big-endian) each, as a string that
// is empty for the Helmert contrasts, and for others their variance factor; then the number of groups, and of
// each its attributes, the axis of each of them, its multiplier, and the parameter of its noise in lowest
// terms.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>

#include "base/canonical_bytes.h"
#include "dp/workload/residual/residual_measurement.h"

namespace curator::codec {

void WriteResidual(CanonicalWriter& writer, const dp::ResidualMeasurement& residual);
// How many bytes that writes.
size_t BytesOf(const dp::ResidualMeasurement& residual);

// Refuses what is invalid over every domain: positions of no axis, an attribute with two axes, attributes
// that do not rise or are too many, a set that occurs twice, weights, variance factors or multipliers beyond
// their limits, parameters that are not positive or not in lowest terms, and no groups at all.
dp::ResidualMeasurement ReadResidual(CanonicalReader& reader);

}  // namespace curator::codec
