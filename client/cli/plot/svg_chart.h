// Bar charts as one SVG document (docs/adr/0012): self-contained, no script, no link, text as text.
//
// Thread-safe: a pure function.
#pragma once

#include <string>
#include <vector>

#include "client/cli/plot/bar_chart.h"

namespace curator::cli {

// The charts below each other: a bar to the right for each number, with its interval as a line with ends,
// over an axis of round numbers. XML 1.0 in UTF-8. Labels are escaped; those too long for their column are
// cut and kept whole in a tooltip.
std::string SvgOf(const std::vector<BarChart>& charts);

}  // namespace curator::cli
