// What a plot shows: for each table with one label column, the number of each row as a bar with its interval.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/cli/output/answer_rows.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

struct Bar {
  std::string label;  // printable
  double value = 0;
  std::optional<AnswerInterval> interval;
};

struct BarChart {
  std::string title;   // "age"; "prefixes of age"
  std::string remark;  // "laplace noise, 95% intervals", "... made non-negative"; may be empty
  std::vector<Bar> bars;
  size_t more_bars = 0;  // that are left out
};

struct ChartLimits {
  size_t charts = 20;
  size_t bars = 200;  // of each
};

// One-way marginals, prefixes, and whatever else has one label column, in the order of the answer; tables
// beyond the limit are left out. DATA_LOSS when the answer does not fit the schema.
absl::StatusOr<std::vector<BarChart>> ChartsOf(const Answer& answer, const v1::Schema& schema,
                                               const ChartLimits& limits);

// What the bars of a chart span, 0 included; never empty.
struct Span {
  double low = 0;
  double high = 0;
};
Span SpanOf(const BarChart& chart);

}  // namespace curator::cli
