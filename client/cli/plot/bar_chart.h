// Bar charts of an answer's tables with one label column: a bar with its interval for each row. Drawn on the
// terminal here, as SVG in svg_chart.h.
//
// Thread-safe: plain values, and pure functions but for the stream, which belongs to the caller.
#pragma once

#include <cstddef>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/cli/output/answer_rows.h"
#include "client/cli/output/terminal.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

struct Bar {
  std::string label;  // printable
  // NaN for a statistic that is no number: there is no bar, and "none" in its place.
  double value = 0;
  // Of statistics the ends may be infinite: the line goes on to the end of the chart.
  std::optional<AnswerInterval> interval;
};

// "12.35", or "none".
std::string NumberText(const Bar& bar);

struct BarChart {
  std::string title;  // "age"; "prefixes of age"
  // "laplace noise, 95% intervals", "income clipped to 0..200000, 95% intervals", "... made non-negative";
  // may be empty.
  std::string remark;
  std::vector<Bar> bars;
  size_t more_bars = 0;  // omitted because of ChartLimits::bars
};

struct ChartLimits {
  size_t charts = 20;
  size_t bars = 200;  // of each
};

// The charts of one-way marginals, prefixes and all other tables with one label column, and of each statistic
// by one attribute, in the order of the answer; those beyond the limit are omitted. DATA_LOSS when the answer
// does not fit the schema.
absl::StatusOr<std::vector<BarChart>> ChartsOf(const Answer& answer, const v1::Schema& schema,
                                               const ChartLimits& limits);

// The range of the chart's bars and the finite ends of their intervals, 0 included; never empty.
struct Span {
  double low = 0;
  double high = 0;
};
Span SpanOf(const BarChart& chart);

// Draws one line for each bar, as wide as the terminal: label, number, bar. A bar is solid up to the lower
// end of its interval and shaded from there to its value; a line continues to the upper end. Uses block
// characters where the terminal shows UTF-8, else "###==--|"; colours where it has them.
void DrawOnTerminal(const BarChart& chart, const Terminal& terminal, std::ostream& out);

}  // namespace curator::cli
