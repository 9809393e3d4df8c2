// Lines against epsilon, as an SVG document.
#pragma once

#include <string>
#include <vector>

namespace curator::bench {

struct PlottedLine {
  std::string label;
  std::vector<double> values;  // one for each epsilon
};

struct PlottedPanel {
  std::string title;
  std::vector<double> epsilons;  // rising; drawn on a logarithmic axis
  std::vector<PlottedLine> lines;
};

// Panels of one row; values from 0 to `most`, with a dashed line at `target`.
std::string PlotPanels(const std::string& title, const std::vector<PlottedPanel>& panels, double most,
                       double target);

}  // namespace curator::bench
