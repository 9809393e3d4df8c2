// How probable a transcript was, given a table: what the audit compares on neighbouring tables
// (tests/statistical/kernel_ratio_test.cc).
//
// A likelihood is as private as the table. So this is a library of its own, which the server does not link.
//
// Every result encloses the exact value to about 2^-250 of the magnitudes that it is made of (Interval, 320
// bits). A difference of two log-probabilities under discrete Laplace noise of scale a/b is an integer
// multiple of b/a, and the normalisers cancel; so a difference that truly exceeds a bound p/q does so by at
// least 1/(a q) > 2^-126, and CertainlyAbove() decides it exactly. The same holds for discrete Gaussian
// noise. Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "absl/status/statusor.h"
#include "dp/accounting/interval.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/noise/noise_spec.h"

namespace curator::dp {

// The log-probability of one draw, or of all draws of a transcript one after another (the chain rule: each
// question depends on the table through earlier draws only). Errors: INVALID_ARGUMENT for a draw that the
// kernel could not have made over `domain`, whatever the table.
absl::StatusOr<Interval> LogProbability(const Draw& draw, const SealedTable& table, const Domain& domain,
                                        const UnitBound& unit);
absl::StatusOr<Interval> LogProbability(const Transcript& transcript, const SealedTable& table,
                                        const Domain& domain, const UnitBound& unit);

// ln P(noise = value - count). `noise` must be valid.
Interval NoiseLogProbability(const NoiseSpec& noise, int64_t value, int64_t count);

// ln P(selected) under the exponential mechanism: P(i) ~ exp(factor scores[i]). `selected` is an index of
// `scores`.
Interval SelectionLogProbability(std::span<const int64_t> scores, Rational factor, size_t selected);

}  // namespace curator::dp
