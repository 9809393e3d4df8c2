#include "dp/synthesis/loop/loop_forecast.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "dp/data/count_marginals.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/loop/clique_run.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// Of each cell of all cliques: weights, and the logarithms of one clique's while it is recomputed.
constexpr int64_t kPerCliqueCell = 16;
// Of each measured cell: noise and count, answer, lambda and fit, and the factor in the fit and in the model.
constexpr int64_t kPerMeasuredCell = 72;
// Of each cell that is measured again: answer, lambda and fit.
constexpr int64_t kPerRepeatedCell = 24;
// Of each pair of codes of a constraint: its factor, in the fit, while weights are computed and in the model.
constexpr int64_t kPerConstrainedCell = 24;
// Of each cell of the candidates, beside its count: its estimate, as a marginal, in the family and rounded.
constexpr int64_t kPerCandidateCell = 32;
constexpr int64_t kPerCandidate = 500;
// Of each cell of the candidates where there is a public table: its public count, and what is made of it for
// the fit, for the selection and rounded.
constexpr int64_t kPerPublicCell = 40;
// The cliques' marginals that CliqueTables holds while it assembles others from them, with the last of a
// batch; and the tables on the way.
constexpr int64_t kMostHeldCells = int64_t{1} << 23;
constexpr int64_t kTablesOfAnEstimate = 3;

struct LoopCells {
  int64_t candidates = 0;
  int64_t largest = 0;
  // Of the largest candidates, as many as there are measurements and public marginals, and of all one-way
  // marginals.
  int64_t measured = 0;
  int64_t repeated = 0;     // beyond these, where the largest candidate is measured each time
  int64_t constrained = 0;  // of the pairs of constraints
};

LoopCells CellsOf(const Domain& domain, const LoopSchedule& schedule, const LoopWork& work) {
  std::vector<int64_t> cells;
  LoopCells sums;
  for (const MarginalCandidate& candidate : schedule.candidates) {
    cells.push_back(CellsUpTo(domain, candidate.attributes, schedule.all_cells));
    sums.candidates += cells.back();
    sums.largest = std::max(sums.largest, cells.back());
  }
  std::ranges::sort(cells, std::greater<>());
  const int64_t fitted = schedule.measurements + work.public_marginals;
  cells.resize(static_cast<size_t>(std::min(fitted, std::ssize(cells))));
  for (const int64_t each : cells) sums.measured += each;
  sums.repeated = fitted * sums.largest - sums.measured;
  for (const int64_t size : domain.SizesOf(schedule.attributes)) sums.measured += size;
  for (const AttributeSet& pair : PairsOf(domain, schedule.constraints))
    sums.constrained += CellsUpTo(domain, pair, schedule.all_cells);
  return sums;
}

int64_t BytesOfEstimates(const LoopSchedule& schedule, const LoopCells& cells) {
  const auto candidates = std::ssize(schedule.candidates);
  const auto attributes = std::ssize(schedule.attributes);
  const int64_t held =
      std::min(kMostHeldCells, candidates * std::min(attributes * cells.largest, schedule.all_cells));
  const int64_t assembled = kTablesOfAnEstimate * std::min(kMostCellsOfAnEstimate, 16 * schedule.all_cells);
  return kPerCandidateCell * cells.candidates + 8 * (held + assembled);
}

SynthesisMemory MemoryOfLoop(const SynthesisInput& input, const LoopSchedule& schedule,
                             const LoopWork& work) {
  const LoopCells cells = CellsOf(input.domain, schedule, work);
  const auto candidates = std::ssize(schedule.candidates);
  const auto attributes = std::ssize(schedule.attributes);
  const int64_t fitted = schedule.measurements + work.public_marginals;
  const int64_t sets = fitted + attributes + 1 + std::ssize(schedule.constraints);
  const int64_t largest = std::ranges::max(input.domain.SizesOf(schedule.attributes));
  const int64_t stored = 8 * (cells.measured + cells.constrained) + sets * 8 * (3 + attributes) +
                         attributes * 8 * (3 + attributes) +
                         BytesOfLines(input.domain, fitted + 3, attributes);
  MethodMemory memory = CliqueModelMemory(input.domain, schedule.attributes, schedule.all_cells, stored);
  memory.working = memory.model + kPerCliqueCell * schedule.all_cells + kPerMeasuredCell * cells.measured +
                   kPerRepeatedCell * cells.repeated + kPerConstrainedCell * cells.constrained +
                   (sets + 2 * attributes) * IndexBytes(schedule.model_cells, largest) +
                   (work.estimates > 0 ? BytesOfEstimates(schedule, cells) : 0) +
                   (work.public_marginals > 0 ? kPerPublicCell * cells.candidates : 0) +
                   kPerCandidate * candidates +
                   CountingBytes(std::max(candidates, attributes), std::max(cells.candidates, cells.measured),
                                 std::max(cells.largest, largest));
  return MemoryOf(memory);
}

double SecondsOfLoop(const SynthesisInput& input, const LoopSchedule& schedule, const LoopWork& work) {
  // Of a cell of a clique, for a measurement or an edge, in a sweep: summed and scaled. Of a measured cell in
  // a sweep: exponentials. Of a candidate's cell: assembled and scored. Of a candidate: whether its cliques
  // would fit.
  constexpr double kSecondsPerSweptCell = 1.5e-9;
  constexpr double kSecondsPerMeasuredCell = 40e-9;
  constexpr double kSecondsPerCandidateCell = 60e-9;
  constexpr double kSecondsPerCheckedAttribute = 0.3e-6;
  // Of a candidate's cell that is raked; and of a public record that is counted for a candidate.
  constexpr double kSecondsPerRakedCell = 90e-9;
  constexpr double kSecondsPerPublicRecord = 2e-9;
  const LoopCells cells = CellsOf(input.domain, schedule, work);
  const auto measurements = static_cast<double>(schedule.measurements + work.public_marginals);
  const auto candidates = static_cast<double>(schedule.candidates.size());
  const auto attributes = static_cast<double>(schedule.attributes.size());
  const auto estimates = static_cast<double>(work.estimates);
  const double sweeps =
      work.early_sweeps + static_cast<double>(std::min<int64_t>(schedule.fit.last_sweeps, 300));
  // Each clique has some of the measurements: a few, or in small domains all.
  const double measured_of_a_clique =
      std::min(measurements + attributes, 8 + (measurements + attributes) / 2);
  const double of_public =
      work.public_marginals == 0
          ? 0
          : estimates * kSecondsPerRakedCell * static_cast<double>(cells.candidates) +
                kSecondsPerPublicRecord * candidates * static_cast<double>(input.prior->rows());
  return of_public +
         sweeps * (kSecondsPerSweptCell * measured_of_a_clique * static_cast<double>(schedule.all_cells) +
                   kSecondsPerMeasuredCell * static_cast<double>(cells.measured)) +
         estimates * (kSecondsPerCandidateCell * static_cast<double>(cells.candidates) +
                      kSecondsPerSweptCell * static_cast<double>(schedule.all_cells) * attributes) +
         static_cast<double>(work.checks) * kSecondsPerCheckedAttribute * attributes * candidates +
         CountingSeconds(candidates + measurements + attributes, DeclaredRecords(input.assume_records));
}

}  // namespace

absl::StatusOr<SynthesisPlan> PlanOf(const SynthesisInput& input, const LoopSchedule& schedule,
                                     const LoopWork& work, std::vector<std::string> lines) {
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  return SynthesisPlan{
      .draws = schedule.draws,
      .event = std::move(event),
      .settings = schedule.used_settings,
      .schedule = std::move(lines),
      .constraints = DescribeConstraints(input.domain, schedule.attributes, schedule.constraints),
      .model_cells = schedule.model_cells,
      .memory = MemoryOfLoop(input, schedule, work),
      .cpu_seconds = SecondsOfLoop(input, schedule, work),
      .linear = schedule.linear,
      .drawn_from = {WholeMarginals(schedule.one_ways), WholeMarginals(SetsOf(schedule.candidates))}};
}

}  // namespace curator::dp
