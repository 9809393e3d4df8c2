// Bar charts in characters.
//
// Thread-safe: a pure function but for the stream, which belongs to the caller.
#pragma once

#include <ostream>

#include "client/cli/output/terminal.h"
#include "client/cli/plot/bar_chart.h"

namespace curator::cli {

// One line for each bar, as wide as the terminal: label, number, bar. A bar is solid up to the lower end of
// its interval and shaded on to its value; a line leads from there to the upper end. Blocks where the
// terminal shows UTF-8, else "###==--|"; colours where it has them.
void DrawOnTerminal(const BarChart& chart, const Terminal& terminal, std::ostream& out);

}  // namespace curator::cli
