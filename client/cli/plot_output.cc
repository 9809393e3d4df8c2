#include "client/cli/plot_output.h"

#include <memory>
#include <vector>

#include "client/cli/bar_chart.h"
#include "client/cli/files.h"
#include "client/cli/svg_chart.h"
#include "client/cli/terminal_chart.h"

namespace curator::cli {

absl::Status DeliverPlot(Session& session, const Answer& answer, const v1::Schema& schema,
                         const std::string& file) {
  const absl::StatusOr<std::vector<BarChart>> charts = ChartsOf(answer, schema, ChartLimits());
  if (!charts.ok()) return charts.status();
  if (charts->empty()) {
    session.error << "nothing to plot: no marginal over one attribute was asked for, nor anything else with "
                     "one label\n";
    return absl::OkStatus();
  }
  if (file.empty()) {
    for (size_t i = 0; i < charts->size(); ++i) {
      if (i > 0) session.out << "\n";
      DrawOnTerminal((*charts)[i], session.terminal, session.out);
    }
    return absl::OkStatus();
  }
  absl::StatusOr<std::unique_ptr<OutputFile>> output = OutputFile::Create(file, session.out);
  if (!output.ok()) return output.status();
  (*output)->stream() << SvgOf(*charts);
  return (*output)->Commit();
}

}  // namespace curator::cli
