#include "client/cli/plot/bar_chart.h"

#include <algorithm>
#include <cmath>
#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/output/statistics_table.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

// `first` comes before what is remarked of all charts.
std::string RemarkOf(const AnswerRows& rows, const v1::AnswerHeader& header, std::string first = "") {
  std::string remark = std::move(first);
  const auto add = [&remark](const std::string& text) {
    absl::StrAppend(&remark, remark.empty() ? "" : ", ", text);
  };
  if (rows.noise() != nullptr) add(NameOf(rows.noise()->mechanism()) + " noise");
  if (rows.level() > 0) add(FormatConfidence(rows.level()) + " intervals");
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

// A chart for each statistic, of groups by one attribute.
absl::Status AddStatistics(const AnswerRows& rows, const v1::AnswerHeader& header, const v1::Schema& schema,
                           const ChartLimits& limits, std::vector<BarChart>& charts) {
  ASSIGN_OR_RETURN(const StatisticGroups groups, StatisticGroups::Of(*rows.set()));
  if (groups.attributes().size() != 1) return absl::OkStatus();
  const size_t shown = std::min(groups.size(), limits.bars);
  for (size_t i = 0; i < groups.statistics().size() && charts.size() < limits.charts; ++i) {
    BarChart chart;
    chart.title = Printable(absl::StrCat(groups.statistics()[i], " by ", groups.attributes().front()));
    const v1::Measure* measure = MeasureNamed(groups.statistics()[i], schema);
    chart.remark = RemarkOf(rows, header, measure == nullptr ? "" : Printable(ClippedText(*measure)));
    chart.more_bars = groups.size() - shown;
    for (size_t group = 0; group < shown; ++group) {
      const size_t row = groups.Answer(i, group);
      chart.bars.push_back({Printable(groups.Label(0, group)), rows.CountAsDouble(row), rows.Interval(row)});
    }
    charts.push_back(std::move(chart));
  }
  return absl::OkStatus();
}

}  // namespace

std::string NumberText(const Bar& bar) {
  return std::isnan(bar.value) ? "none" : RoundedText(bar.value);
}

absl::StatusOr<std::vector<BarChart>> ChartsOf(const Answer& answer, const v1::Schema& schema,
                                               const ChartLimits& limits) {
  std::vector<BarChart> charts;
  RETURN_IF_ERROR(ForEachTable(answer, schema, [&](const AnswerRows& rows) {
    if (rows.is_statistics()) return AddStatistics(rows, answer.header, schema, limits, charts);
    if (rows.columns().size() == 1 && charts.size() < limits.charts)
      charts.push_back(ChartOf(rows, answer.header, limits.bars));
    return absl::OkStatus();
  }));
  return charts;
}

Span SpanOf(const BarChart& chart) {
  Span span;
  for (const Bar& bar : chart.bars) {
    const AnswerInterval interval = bar.interval.value_or(AnswerInterval{bar.value, bar.value});
    for (const double end : {interval.lower, bar.value, interval.upper}) {
      if (!std::isfinite(end)) continue;
      span.low = std::min(span.low, end);
      span.high = std::max(span.high, end);
    }
  }
  if (span.low == span.high) span.high = span.low + 1;
  return span;
}

namespace {

constexpr size_t kWidestTerminalLabel = 24;
constexpr size_t kNarrowestBars = 10;

struct Glyphs {
  std::string_view solid;
  std::string_view shaded;
  std::string_view line;
  std::string_view lower_end;
  std::string_view upper_end;
  std::string_view cut;  // of a label that is too long
};

constexpr Glyphs kBlocks = {"█", "▒", "─", "├", "┤", "…"};
constexpr Glyphs kAscii = {"#", "=", "-", "|", "|", "."};

std::string Padding(size_t used, size_t width) {
  return std::string(width > used ? width - used : 0, ' ');
}

// Columns of the terminal that a stretch of the axis covers.
class ColumnAxis {
 public:
  ColumnAxis(Span span, size_t columns) : span_(span), columns_(static_cast<int>(columns)) {}

  // 0 for the first column to columns() for the end of the last one.
  int EdgeOf(double value) const {
    const double within = std::clamp(value, span_.low, span_.high);
    const double share = (within - span_.low) / (span_.high - span_.low);
    return std::clamp(static_cast<int>(std::lround(share * columns_)), 0, columns_);
  }
  int ColumnOf(double value) const { return std::min(EdgeOf(value), columns_ - 1); }
  int columns() const { return columns_; }

 private:
  const Span span_;
  const int columns_;
};

// The bar's columns, in runs of one style.
std::string BarText(const Bar& bar, const ColumnAxis& axis, const Glyphs& glyphs, const Terminal& terminal) {
  if (std::isnan(bar.value)) return "";
  const int from = std::min(axis.EdgeOf(0), axis.EdgeOf(bar.value));
  const int to = std::max(axis.EdgeOf(0), axis.EdgeOf(bar.value));
  const bool goes_down = bar.interval && std::isinf(bar.interval->lower);
  const bool goes_up = bar.interval && std::isinf(bar.interval->upper);
  const int lower = bar.interval ? axis.ColumnOf(bar.interval->lower) : axis.columns();
  const int upper = bar.interval ? axis.ColumnOf(bar.interval->upper) : -1;
  std::string text;
  std::string run;
  Style style = Style::kPlain;
  const auto flush = [&] { text += Styled(terminal, style, std::exchange(run, "")); };
  const auto put = [&](std::string_view glyph, Style next) {
    if (next != style) flush();
    style = next;
    run += glyph;
  };
  for (int column = 0; column < axis.columns(); ++column) {
    const bool inside = column >= from && column < to;
    const bool uncertain = column >= lower && column <= upper;
    if (inside) {
      put(uncertain ? glyphs.shaded : glyphs.solid, Style::kGreen);
    } else if (uncertain) {
      const bool is_end = (column == upper && !goes_up) || (column == lower && !goes_down);
      put(!is_end                       ? glyphs.line
          : column == upper && !goes_up ? glyphs.upper_end
                                        : glyphs.lower_end,
          Style::kYellow);
    } else {
      put(" ", Style::kPlain);
    }
  }
  flush();
  return text;
}

}  // namespace

void DrawOnTerminal(const BarChart& chart, const Terminal& terminal, std::ostream& out) {
  const Glyphs& glyphs = terminal.out_is_terminal && terminal.utf8 ? kBlocks : kAscii;
  size_t label_width = 0;
  size_t number_width = 0;
  for (const Bar& bar : chart.bars) {
    label_width = std::max(label_width, std::min(DisplayWidth(bar.label), kWidestTerminalLabel));
    number_width = std::max(number_width, NumberText(bar).size());
  }
  constexpr size_t kGaps = 4;
  const size_t taken = label_width + number_width + kGaps;
  const size_t columns = static_cast<size_t>(std::max(terminal.columns, 1));
  const ColumnAxis axis(SpanOf(chart),
                        columns > taken + kNarrowestBars ? columns - taken - 1 : kNarrowestBars);
  out << Styled(terminal, Style::kBold, chart.title);
  if (!chart.remark.empty()) out << "  (" << chart.remark << ")";
  out << "\n";
  for (const Bar& bar : chart.bars) {
    const std::string label = Shortened(bar.label, label_width, glyphs.cut);
    const std::string number = NumberText(bar);
    std::string line = absl::StrCat(label, Padding(DisplayWidth(label), label_width), "  ",
                                    Padding(number.size(), number_width), number, "  ",
                                    BarText(bar, axis, glyphs, terminal));
    line.erase(line.find_last_not_of(' ') + 1);
    out << line << "\n";
  }
  if (chart.more_bars > 0)
    out << Styled(terminal, Style::kDim, absl::StrCat("... ", chart.more_bars, " more values")) << "\n";
}

}  // namespace curator::cli
