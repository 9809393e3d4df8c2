#include "dp/synthesis/mwem/mwem_memory.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <queue>
#include <set>
#include <utility>

#include "dp/data/count_marginals.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// Of each cell of all cliques: weights, and the logarithms of one clique's while it is recomputed.
constexpr int64_t kPerCliqueCell = 16;
// Of each measured cell: noise and count; answer, lambda and fit; the factor, in the fit and in the model.
constexpr int64_t kPerMeasuredCell = 72;
// Of each cell that is measured again: answer, lambda and fit.
constexpr int64_t kPerRepeatedCell = 24;
constexpr int64_t kPerBoxCell = 24;
// Of each pair of codes of a constraint: its factor, in the fit, while weights are computed and in the model.
constexpr int64_t kPerConstrainedCell = 24;
// Of each cell of the candidates, beside its count: its sum, its estimate, and that as a marginal or rounded.
constexpr int64_t kPerFamilyCell = 24;
// Of each query that is a candidate by itself: estimate, the same rounded, answer, score, name, gap and
// weight.
constexpr int64_t kPerSingleQuery = 72;
constexpr int64_t kPerWorkloadGroup = 600;
// The cliques' marginals that CliqueTables holds while it assembles others from them, with the last of a
// batch; and the tables on the way.
constexpr int64_t kMostHeldCells = int64_t{1} << 23;
constexpr int64_t kTablesOfAnEstimate = 3;

// The sum of the `most` largest numbers of those that are added, in memory for `most` of them.
class LargestSum {
 public:
  explicit LargestSum(int64_t most) : most_(static_cast<size_t>(most)) {}

  void Add(int64_t number) {
    largest_.push(number);
    sum_ += number;
    if (largest_.size() <= most_) return;
    sum_ -= largest_.top();
    largest_.pop();
  }

  int64_t sum() const { return sum_; }

 private:
  size_t most_;
  int64_t sum_ = 0;
  std::priority_queue<int64_t, std::vector<int64_t>, std::greater<>> largest_;
};

struct MwemCandidateCells {
  int64_t sets = 0;
  int64_t cells = 0;    // of their marginals
  int64_t largest = 0;  // of them
  int64_t queries = 0;  // that are candidates by themselves
};

// Those that a fit can hold.
MwemCandidateCells CandidateCellsOf(const SynthesisInput& input, const MwemSchedule& schedule) {
  MwemCandidateCells candidates;
  for (const AttributeSet& set : SetsOf(input.workload)) {
    ++candidates.sets;
    const int64_t cells = CellsUpTo(input.domain, set, kMostDenseCells);
    if (cells > schedule.all_cells) continue;
    candidates.cells += cells;
    candidates.largest = std::max(candidates.largest, cells);
  }
  for (const QueryGroup& group : input.workload) {
    if (!IsWholeMarginal(group)) candidates.queries += NumberOfQueries(input.domain, group);
  }
  return candidates;
}

// What is measured in all rounds and beforehand.
struct MwemMeasured {
  int64_t sets = 0;
  int64_t cells = 0;
  int64_t repeated = 0;  // where the largest one is measured in each round
  int64_t box_cells = 0;
  int64_t constraints = 0;
  int64_t constrained = 0;  // pairs of codes of constraints
};

// The most cells that distinct sets which lie in tables of `most_cells` cells together can have. A table over
// attributes U holds for each set S in it Cells(U) / Prod_{i in U - S} size_i cells: of all sets of as many
// attributes, Cells(U) times an elementary symmetric polynomial of the inverse sizes of U, which is at most
// that of all attributes. Infinite where attributes of one value make it so.
double MostCellsOfHeldSets(const Domain& domain, std::span<const AttributeSet> sets, int64_t most_cells) {
  std::set<size_t> orders;
  for (const AttributeSet& set : sets) orders.insert(set.size());
  std::vector<double> polynomials = {1};  // by their degree
  for (const uint32_t attribute : Union(sets)) {
    const double inverse = 1 / static_cast<double>(domain.attributes()[attribute].size());
    polynomials.push_back(0);
    for (size_t degree = polynomials.size() - 1; degree > 0; --degree)
      polynomials[degree] += inverse * polynomials[degree - 1];
  }
  constexpr double kRoundingErrors = 1.001;
  return static_cast<double>(orders.size()) * std::ranges::max(polynomials) * kRoundingErrors *
         static_cast<double>(most_cells);
}

MwemMeasured MeasuredBy(const SynthesisInput& input, const MwemSchedule& schedule) {
  const auto stages = static_cast<int64_t>(schedule.stages.size());
  const std::vector<AttributeSet> sets = SetsOf(input.workload);
  const int64_t rounds = std::min(stages * schedule.settings.rounds, std::ssize(sets));
  MwemMeasured measured{.sets = rounds + std::ssize(schedule.initial),
                        .cells = CellsOfLargest(input.domain, sets, rounds, kMostDenseCells),
                        .box_cells = stages * BoxCellsOfAStage(input, schedule.settings.rounds)};
  const double held = MostCellsOfHeldSets(input.domain, sets, schedule.settings.max_cells);
  if (held < static_cast<double>(measured.cells)) measured.cells = static_cast<int64_t>(std::ceil(held));
  int64_t largest = 0;
  for (const AttributeSet& set : sets)
    largest = std::max(largest, CellsUpTo(input.domain, set, schedule.settings.max_cells));
  measured.repeated = std::max<int64_t>(0, stages * schedule.settings.rounds - rounds) * largest;
  for (const AttributeSet& pair : PairsOf(input.domain, schedule.constraints)) {
    ++measured.constraints;
    measured.constrained += CellsUpTo(input.domain, pair, kMostDenseCells);
  }
  for (const QueryGroup& group : schedule.initial)
    measured.cells += CellsUpTo(input.domain, group.attributes, kMostDenseCells);
  return measured;
}

// What the estimates of all candidates take beside themselves, and are made of.
int64_t BytesOfAssembling(const MwemSchedule& schedule, const MwemCandidateCells& candidates) {
  const auto attributes = std::ssize(schedule.attributes);
  if (schedule.settings.form == MwemForm::kDense) return 8 * std::min(kMostHeldCells, candidates.cells);
  const int64_t held = std::min(
      kMostHeldCells, candidates.sets * std::min(attributes * candidates.largest, schedule.all_cells));
  return 8 * (held + kTablesOfAnEstimate * std::min(kMostCellsOfAMwemEstimate, 16 * schedule.all_cells));
}

MethodMemory ModelMemory(const SynthesisInput& input, const MwemSchedule& schedule,
                         const MwemMeasured& measured) {
  const bool is_average = schedule.settings.iterate == MwemIterate::kAverage;
  const int64_t rounds = std::ssize(schedule.stages) * schedule.settings.rounds;
  const int64_t iterates = is_average ? rounds + 1 : 1;
  const auto attributes = std::ssize(schedule.attributes);
  const int64_t names = 8 * (3 + attributes);  // of a factor's set, or of a clique
  const int64_t lines = rounds + std::ssize(schedule.initial) + 2;
  const int64_t stored = 8 * (measured.cells * iterates + measured.constrained) +
                         (iterates * (measured.sets + 1) + measured.constraints + attributes) * names +
                         BytesOfLines(input.domain, lines, attributes);
  return is_average ? DenseModelMemory(input.domain, schedule.attributes, schedule.all_cells, 16,
                                       measured.sets + 1, stored)
                    : CliqueModelMemory(input.domain, schedule.attributes, schedule.all_cells, stored);
}

}  // namespace

SynthesisMemory MemoryOfMwem(const SynthesisInput& input, const MwemSchedule& schedule) {
  const MwemCandidateCells candidates = CandidateCellsOf(input, schedule);
  const MwemMeasured measured = MeasuredBy(input, schedule);
  const int64_t largest = std::ranges::max(input.domain.SizesOf(schedule.attributes));
  const int64_t indices = measured.sets + measured.constraints + 1 + 2 * std::ssize(schedule.attributes);
  MethodMemory memory = ModelMemory(input, schedule, measured);
  memory.working = memory.model + kPerCliqueCell * schedule.all_cells + kPerMeasuredCell * measured.cells +
                   kPerRepeatedCell * measured.repeated + kPerBoxCell * measured.box_cells +
                   kPerConstrainedCell * measured.constrained +
                   indices * IndexBytes(schedule.model_cells, largest) + kPerFamilyCell * candidates.cells +
                   BytesOfAssembling(schedule, candidates) +
                   CountingBytes(std::max(candidates.sets, measured.sets),
                                 std::max(candidates.cells, measured.cells), candidates.largest) +
                   kPerSingleQuery * candidates.queries + 2 * BytesOfLists(input.workload) +
                   kPerWorkloadGroup * std::ssize(input.workload);
  return MemoryOf(memory);
}

double SecondsOfMwem(const SynthesisInput& input, const MwemSchedule& schedule) {
  // Of a cell of a table, for a measurement, in a sweep over it: read and scaled. Of a measured cell or query
  // in a sweep: exponentials. Of a candidate's cell in a round: summed out of the tables, and scored.
  constexpr double kSecondsPerSweptCell = 0.7e-9;
  constexpr double kSecondsPerCheckedAttribute = 0.3e-6;  // whether a candidate's cliques would fit
  constexpr double kSecondsPerMeasuredCell = 40e-9;
  constexpr double kSecondsPerCandidateCell = 60e-9;
  // Replays have converged by then, but for a few; unless the request wants them to come nearer.
  constexpr double kUsuallySettled = 0.01;
  const MwemSettings& settings = schedule.settings;
  const bool settles = settings.converged >= kUsuallySettled;
  const auto taken = [&](int64_t most, int64_t usual) {
    return static_cast<double>(settles ? std::min(most, usual) : most);
  };
  const auto rounds = static_cast<double>(std::ssize(schedule.stages) * settings.rounds);
  const MwemMeasured measured = MeasuredBy(input, schedule);
  const MwemCandidateCells candidates = CandidateCellsOf(input, schedule);
  const bool replays_rounds =
      schedule.stages.front().selection.has_value() || settings.iterate == MwemIterate::kAverage;
  // In half of the rounds half of the measurements are there, on average.
  const double sweeps =
      (replays_rounds ? rounds / 2 * taken(settings.sweeps, 10) : 0) + taken(settings.last_sweeps, 400);
  const bool is_dense = settings.form == MwemForm::kDense;
  const auto attributes = static_cast<double>(std::ssize(schedule.attributes));
  // Each clique has some of the measurements: a few, or in small domains all.
  const auto sets = static_cast<double>(measured.sets);
  const double of_a_clique = is_dense ? sets : std::min(sets, 8 + sets / 2);
  const double swept = of_a_clique * static_cast<double>(schedule.all_cells);
  const auto asked = static_cast<double>(candidates.cells + candidates.queries);
  return sweeps * (kSecondsPerSweptCell * swept +
                   kSecondsPerMeasuredCell * static_cast<double>(measured.cells + measured.box_cells)) +
         (replays_rounds ? rounds : 1) *
             (kSecondsPerCandidateCell * asked +
              kSecondsPerSweptCell * static_cast<double>(schedule.all_cells) *
                  (is_dense ? static_cast<double>(candidates.sets) : attributes)) +
         (is_dense
              ? 0
              : rounds * kSecondsPerCheckedAttribute * attributes * static_cast<double>(candidates.sets)) +
         CountingSeconds(static_cast<double>(candidates.sets) + rounds,
                         DeclaredRecords(input.assume_records));
}

int64_t CellsOfLargest(const Domain& domain, std::span<const AttributeSet> sets, int64_t most,
                       int64_t most_cells) {
  LargestSum cells(most);
  for (const AttributeSet& set : sets) cells.Add(CellsUpTo(domain, set, most_cells));
  return cells.sum();
}

int64_t BoxCellsOfAStage(const SynthesisInput& input, int64_t rounds) {
  LargestSum cells(rounds);
  for (const QueryGroup& group : input.workload) {
    const auto* boxes = std::get_if<Boxes>(&group.queries);
    if (boxes == nullptr) continue;
    const size_t sides = group.attributes.size();
    for (size_t at = 0; at < boxes->sides.size(); at += sides) {
      int64_t size = 1;
      for (const CodeInterval& side : std::span(boxes->sides).subspan(at, sides))
        size *= int64_t{side.last} - int64_t{side.first} + 1;
      cells.Add(size);
    }
  }
  return cells.sum();
}

}  // namespace curator::dp
