#include "client/cli/plot/svg_chart.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

constexpr double kWidth = 860;
constexpr double kMargin = 16;
constexpr double kTitleHeight = 44;
constexpr double kRowHeight = 20;
constexpr double kBarHeight = 14;
constexpr double kAxisHeight = 34;
constexpr double kCharacter = 6.6;  // of 12 px sans-serif, on average
constexpr size_t kWidestLabel = 30;
constexpr char kEllipsis[] = "…";

constexpr char kStyle[] =
    "text{font-family:sans-serif;font-size:12px;fill:#222}.title{font-size:15px;font-weight:bold}"
    ".remark,.tick{fill:#555;font-size:11px}.bar{fill:#4c78a8}.interval{stroke:#222;stroke-width:1.4;fill:"
    "none}"
    ".grid{stroke:#ddd;stroke-width:1}.zero{stroke:#555;stroke-width:1}";

// 1, 2 or 5 times a power of ten, so that there are at most `most` steps in the span.
double StepOf(const Span& span, double most) {
  const double least = (span.high - span.low) / most;
  const double power = std::pow(10, std::floor(std::log10(least)));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least) return factor * power;
  return 10 * power;
}

// From numbers to pixels.
class Axis {
 public:
  Axis(const Span& span, double left, double right) : left_(left), right_(right) {
    step_ = StepOf(span, 8);
    low_ = std::floor(span.low / step_) * step_;
    high_ = std::ceil(span.high / step_) * step_;
  }

  // Infinite numbers are at the ends of the axis.
  double X(double value) const {
    return left_ + (std::clamp(value, low_, high_) - low_) / (high_ - low_) * (right_ - left_);
  }

  std::vector<double> Ticks() const {
    std::vector<double> ticks;
    const auto count = static_cast<int>(std::lround((high_ - low_) / step_));
    for (int i = 0; i <= count; ++i) ticks.push_back(low_ + i * step_);
    return ticks;
  }

 private:
  const double left_;
  const double right_;
  double step_ = 1;
  double low_ = 0;
  double high_ = 1;
};

double HeightOf(const BarChart& chart) {
  const size_t rows = chart.bars.size() + (chart.more_bars > 0 ? 1 : 0);
  return kTitleHeight + kRowHeight * static_cast<double>(rows) + kAxisHeight;
}

double LabelWidth(const BarChart& chart) {
  size_t widest = 4;
  for (const Bar& bar : chart.bars)
    widest = std::max(widest, DisplayWidth(Shortened(bar.label, kWidestLabel, kEllipsis)));
  return kCharacter * static_cast<double>(widest) + 10;
}

std::string TooltipOf(const Bar& bar) {
  const auto end = [](double number) {
    return std::isinf(number) ? std::string("unbounded") : RoundedText(number);
  };
  std::string text = absl::StrCat(bar.label, ": ", NumberText(bar));
  if (bar.interval)
    absl::StrAppend(&text, " (", end(bar.interval->lower), " to ", end(bar.interval->upper), ")");
  return text;
}

// A line with ends; an infinite end has none.
void DrawInterval(const AnswerInterval& interval, const Axis& axis, double middle, SvgDocument& svg) {
  const double low = axis.X(interval.lower);
  const double high = axis.X(interval.upper);
  svg.Line("interval", low, middle, high, middle);
  if (!std::isinf(interval.lower)) svg.Line("interval", low, middle - 4, low, middle + 4);
  if (!std::isinf(interval.upper)) svg.Line("interval", high, middle - 4, high, middle + 4);
}

void DrawBar(const Bar& bar, const Axis& axis, double left, double top, SvgDocument& svg) {
  const double middle = top + kRowHeight / 2;
  svg.Open("g", {});
  svg.Element("title", {}, TooltipOf(bar));
  svg.Text("label", "end", left - 6, middle + 4, Shortened(bar.label, kWidestLabel, kEllipsis));
  if (std::isnan(bar.value)) {
    svg.Text("remark", "start", axis.X(0) + 6, middle + 4, NumberText(bar));
    svg.Close();
    return;
  }
  const double from = std::min(axis.X(0), axis.X(bar.value));
  const double to = std::max(axis.X(0), axis.X(bar.value));
  svg.Element("rect", {{"class", "bar"},
                       {"x", Px(from)},
                       {"y", Px(middle - kBarHeight / 2)},
                       {"width", Px(to - from)},
                       {"height", Px(kBarHeight)}});
  if (bar.interval) DrawInterval(*bar.interval, axis, middle, svg);
  svg.Close();
}

void DrawChart(const BarChart& chart, double top, SvgDocument& svg) {
  const double left = kMargin + LabelWidth(chart);
  const Axis axis(SpanOf(chart), left, kWidth - kMargin - 24);
  svg.Text("title", "start", kMargin, top + 18, chart.title);
  if (!chart.remark.empty()) svg.Text("remark", "start", kMargin, top + 34, chart.remark);
  const double first = top + kTitleHeight;
  const double last = top + HeightOf(chart) - kAxisHeight;
  for (const double tick : axis.Ticks()) {
    svg.Line("grid", axis.X(tick), first, axis.X(tick), last);
    svg.Text("tick", "middle", axis.X(tick), last + 16, RoundedText(tick));
  }
  for (size_t i = 0; i < chart.bars.size(); ++i)
    DrawBar(chart.bars[i], axis, left, first + kRowHeight * static_cast<double>(i), svg);
  svg.Line("zero", axis.X(0), first, axis.X(0), last);
  if (chart.more_bars > 0)
    svg.Text("remark", "start", left, last - 6, absl::StrCat("... ", chart.more_bars, " more values"));
}

}  // namespace

std::string SvgOf(const std::vector<BarChart>& charts) {
  double height = 2 * kMargin;
  std::string titles;
  for (const BarChart& chart : charts) {
    height += HeightOf(chart);
    absl::StrAppend(&titles, titles.empty() ? "" : ", ", chart.title);
  }
  SvgDocument svg(kWidth, height, {{"role", "img"}});
  svg.Element("title", {}, absl::StrCat("Noisy answers: ", titles));
  svg.Element("style", {}, kStyle);
  svg.Element("rect", {{"width", "100%"}, {"height", "100%"}, {"fill", "#fff"}});
  double top = kMargin;
  for (const BarChart& chart : charts) {
    DrawChart(chart, top, svg);
    top += HeightOf(chart);
  }
  svg.Close();
  return svg.Finished();
}

std::string Px(double pixels) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.2f", pixels);
  return text.data();
}

SvgDocument::SvgDocument(double width, double height, const Attributes& more) {
  printer_.PushHeader(false, true);
  Open("svg", {{"xmlns", "http://www.w3.org/2000/svg"},
               {"viewBox", "0 0 " + Px(width) + " " + Px(height)},
               {"width", Px(width)},
               {"height", Px(height)}});
  for (const auto& [key, value] : more) printer_.PushAttribute(key, value.c_str());
}

void SvgDocument::Open(const char* name, const Attributes& attributes) {
  printer_.OpenElement(name);
  for (const auto& [key, value] : attributes) printer_.PushAttribute(key, value.c_str());
}

void SvgDocument::Element(const char* name, const Attributes& attributes, const std::string& text) {
  Open(name, attributes);
  if (!text.empty()) printer_.PushText(text.c_str());
  Close();
}

void SvgDocument::Line(const char* style, double x1, double y1, double x2, double y2) {
  Element("line", {{"class", style}, {"x1", Px(x1)}, {"y1", Px(y1)}, {"x2", Px(x2)}, {"y2", Px(y2)}});
}

void SvgDocument::Text(const char* style, const char* anchor, double x, double y, const std::string& text) {
  Element("text", {{"class", style}, {"text-anchor", anchor}, {"x", Px(x)}, {"y", Px(y)}}, text);
}

}  // namespace curator::cli
