// How much memory a request can take at most, from what it asks and the declared sizes alone.
//
// The figures are upper bounds of what was measured (docs/results/bounds.md), not of what the program could
// be proved to take. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "dp/domain/domain.h"
#include "dp/workload/asked_set.h"
#include "dp/workload/measurement.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "dp/workload/workload_plan.h"

namespace curator::dp {

// Bytes for planning `sets`, which ValidateSets() has found valid, and for the forecasts of their errors.
int64_t PlanningBytes(const Domain& domain, std::span<const QuerySet> sets);

// The same for sets of statistics, each valid.
int64_t StatisticsPlanningBytes(const Domain& domain, std::span<const AskedStatistics> sets);

// Bytes for drawing, storing, reading back and answering a planned release of at most `encoded_bytes`; where
// it is measured by residuals, without ResidualReadingBytes().
int64_t AnswerBytes(const Domain& domain, const WorkloadShape& shape, int64_t encoded_bytes);

// Bytes for reading a stored answer of `stored_bytes` and answering from it, and for reading a stored model.
// What that of an answer of statistics takes beside is that of the cells of its conditions, which are stored
// as runs, and StatisticsReadingBytes(); of one that was measured by residuals, ResidualReadingBytes().
int64_t StoredAnswerBytes(int64_t stored_bytes);
int64_t ConditionBytes(int64_t cells);
int64_t ResidualReadingBytes(const Domain& domain, std::span<const AskedSet> asked);
int64_t StoredModelBytes(int64_t stored_bytes);

}  // namespace curator::dp
