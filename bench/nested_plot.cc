#include "bench/nested_plot.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "client/cli/plot/svg_chart.h"

namespace curator::bench {
namespace {

using cli::Px;

constexpr double kPanelWidth = 300;
constexpr double kPanelHeight = 240;
constexpr double kLeft = 44;
constexpr double kTop = 56;
constexpr double kGap = 24;
constexpr double kLegendRow = 18;
const char* const kColours[] = {"#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2"};
constexpr char kStyle[] =
    "text{font-family:sans-serif;font-size:12px;fill:#222}.title{font-size:15px;font-weight:bold}"
    ".grid{stroke:#ddd;stroke-width:1}.target{stroke:#555;stroke-width:1;stroke-dasharray:4 3}"
    ".line{fill:none;stroke-width:2}";

std::string Short(double number) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", number);
  return text;
}

void DrawPanel(const PlottedPanel& panel, double left, double most, double target, cli::SvgDocument& plot) {
  const double bottom = kTop + kPanelHeight;
  const auto y = [&](double value) { return bottom - std::clamp(value / most, 0.0, 1.0) * kPanelHeight; };
  const double first = std::log(panel.epsilons.front());
  const double span = std::max(1e-9, std::log(panel.epsilons.back()) - first);
  const auto x = [&](double epsilon) { return left + (std::log(epsilon) - first) / span * kPanelWidth; };
  plot.Text("label", "start", left, kTop - 8, panel.title);
  for (int i = 0; i <= 4; ++i) {
    const double value = most * i / 4;
    plot.Line("grid", left, y(value), left + kPanelWidth, y(value));
    plot.Text("tick", "end", left - 6, y(value) + 4, Short(value));
  }
  plot.Line("target", left, y(target), left + kPanelWidth, y(target));
  for (const double epsilon : panel.epsilons)
    plot.Text("tick", "middle", x(epsilon), bottom + 16, Short(epsilon));
  for (size_t i = 0; i < panel.lines.size(); ++i) {
    std::string points;
    for (size_t k = 0; k < panel.epsilons.size(); ++k)
      points += Px(x(panel.epsilons[k])) + "," + Px(y(panel.lines[i].values[k])) + " ";
    plot.Element("polyline",
                 {{"class", "line"}, {"stroke", kColours[i % std::size(kColours)]}, {"points", points}});
    const double row = bottom + 40 + kLegendRow * static_cast<double>(i);
    plot.Element("rect", {{"x", Px(left)},
                          {"y", Px(row - 9)},
                          {"width", "14"},
                          {"height", "4"},
                          {"fill", kColours[i % std::size(kColours)]}});
    plot.Text("label", "start", left + 20, row, panel.lines[i].label);
  }
}

}  // namespace

std::string PlotPanels(const std::string& title, const std::vector<PlottedPanel>& panels, double most,
                       double target) {
  size_t rows = 0;
  for (const PlottedPanel& panel : panels) rows = std::max(rows, panel.lines.size());
  const double width = kLeft + static_cast<double>(panels.size()) * (kPanelWidth + kLeft + kGap);
  const double height = kTop + kPanelHeight + 48 + kLegendRow * static_cast<double>(rows);
  cli::SvgDocument plot(width, height);
  plot.Element("style", {}, kStyle);
  plot.Text("title", "start", kLeft, 22, title);
  for (size_t i = 0; i < panels.size(); ++i)
    DrawPanel(panels[i], kLeft + static_cast<double>(i) * (kPanelWidth + kLeft + kGap), most, target, plot);
  plot.Close();
  return plot.Finished();
}

}  // namespace curator::bench
