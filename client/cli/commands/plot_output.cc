#include "client/cli/commands/plot_output.h"

#include <memory>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/output/files.h"
#include "client/cli/plot/bar_chart.h"
#include "client/cli/plot/svg_chart.h"
#include "client/cli/plot/terminal_chart.h"

namespace curator::cli {

absl::Status DeliverPlot(Session& session, const Answer& answer, const v1::Schema& schema,
                         const std::string& file) {
  ASSIGN_OR_RETURN(const std::vector<BarChart> charts, ChartsOf(answer, schema, ChartLimits()));
  if (charts.empty()) {
    session.error << "nothing to plot: no marginal over one attribute was asked for, nor anything else with "
                     "one label\n";
    return absl::OkStatus();
  }
  if (file.empty()) {
    for (size_t i = 0; i < charts.size(); ++i) {
      if (i > 0) session.out << "\n";
      DrawOnTerminal(charts[i], session.terminal, session.out);
    }
    return absl::OkStatus();
  }
  ASSIGN_OR_RETURN(std::unique_ptr<OutputFile> output, OutputFile::Create(file, session.out));
  output->stream() << SvgOf(charts);
  return output->Commit();
}

}  // namespace curator::cli
