#include "client/cli/plot/bar_chart.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/names.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

std::string RemarkOf(const AnswerRows& rows, const v1::AnswerHeader& header) {
  std::string remark;
  const auto add = [&remark](const std::string& text) {
    absl::StrAppend(&remark, remark.empty() ? "" : ", ", text);
  };
  if (rows.noise() != nullptr) add(NameOf(rows.noise()->mechanism()) + " noise");
  if (rows.level() > 0) add(TextOfConfidence(rows.level()) + " intervals");
  if (!header.post_processing().empty()) add("made " + header.post_processing());
  return remark;
}

BarChart ChartOf(const AnswerRows& rows, const v1::AnswerHeader& header, size_t most_bars) {
  BarChart chart;
  const std::string& column = rows.columns().front();
  chart.title = Printable(rows.marginal() != nullptr ? column : absl::StrCat(rows.name(), " of ", column));
  chart.remark = RemarkOf(rows, header);
  const size_t shown = std::min(rows.size(), most_bars);
  chart.more_bars = rows.size() - shown;
  for (size_t row = 0; row < shown; ++row)
    chart.bars.push_back({Printable(rows.Label(0, row)), rows.CountAsDouble(row), rows.Interval(row)});
  return chart;
}

}  // namespace

absl::StatusOr<std::vector<BarChart>> ChartsOf(const Answer& answer, const v1::Schema& schema,
                                               const ChartLimits& limits) {
  std::vector<BarChart> charts;
  RETURN_IF_ERROR(ForEachTable(answer, schema, [&](const AnswerRows& rows) {
    if (rows.columns().size() == 1 && charts.size() < limits.charts)
      charts.push_back(ChartOf(rows, answer.header, limits.bars));
    return absl::OkStatus();
  }));
  return charts;
}

Span SpanOf(const BarChart& chart) {
  Span span;
  for (const Bar& bar : chart.bars) {
    const double low = bar.interval ? bar.interval->lower : bar.value;
    const double high = bar.interval ? bar.interval->upper : bar.value;
    span.low = std::min({span.low, low, bar.value});
    span.high = std::max({span.high, high, bar.value});
  }
  if (span.low == span.high) span.high = span.low + 1;
  return span;
}

}  // namespace curator::cli
