#include "dp/synthesis/auto/method_choice.h"

#include <algorithm>
#include <cmath>
#include <variant>

#include "dp/domain/attribute_set.h"
#include "dp/synthesis/loop/usual_shares.h"
#include "dp/synthesis/synthesis_memory.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

constexpr int64_t kFewCells = 256;
constexpr double kMostNoise = 0.5;
constexpr int64_t kCellsOfOneTable = int64_t{1} << 18;
constexpr double kFewCellsOfAPair = 64;
constexpr double kHopelessNoise = 1.5;  // of one-way marginals

bool IsOfWholeMarginals(const std::vector<QueryGroup>& workload) {
  return std::ranges::all_of(
      workload, [](const QueryGroup& group) { return std::holds_alternative<EveryCell>(group.queries); });
}

// The cells of each pair of attributes that some set has.
std::vector<double> CellsOfPairs(const Domain& domain, const std::vector<AttributeSet>& sets) {
  std::vector<std::vector<bool>> is_counted(domain.size(), std::vector<bool>(domain.size()));
  std::vector<double> cells;
  for (const AttributeSet& set : sets) {
    const std::vector<int64_t> sizes = domain.SizesOf(set);
    for (size_t i = 0; i < set.size(); ++i) {
      for (size_t j = i + 1; j < set.size(); ++j) {
        if (is_counted[set[i]][set[j]]) continue;
        is_counted[set[i]][set[j]] = true;
        cells.push_back(static_cast<double>(sizes[i]) * static_cast<double>(sizes[j]));
      }
    }
  }
  return cells;
}

// What noise would move of a pair, as a share of the records and at most all of them, if all were measured:
// the mean over the pairs, of which there is at least one.
double NoiseOfPairs(const std::vector<double>& cells_of_pairs, const BudgetShare& whole, int64_t records) {
  const auto pairs = static_cast<double>(cells_of_pairs.size());
  const double of_a_cell = ExpectedNoise(whole, pairs);
  double sum = 0;
  for (const double cells : cells_of_pairs)
    sum += std::min(1.0, cells * of_a_cell / static_cast<double>(records));
  return sum / pairs;
}

// Whether marginals of all pairs, measured with as little noise as there is money for, are worth more than a
// few that are selected. The more attributes there are, the smaller is the share of the others that each
// depends on, so pairs that are nothing but noise do more harm. Where one table holds the whole domain, a fit
// to what is selected uses all that is known, and loses only to pairs that are hardly noisy; unless there are
// few of them.
bool MeasuresAllPairs(int64_t cells, double attributes, double noise) {
  if (cells <= kFewCells) return noise <= 0.25;
  if (cells <= kCellsOfOneTable) return noise <= 0.004;
  const double crowd = attributes / 14;
  return noise <= std::min(kMostNoise, 0.4 / (crowd * crowd * crowd));
}

// What noise would move of a one-way marginal in the mean, in proportion to the records, if nothing else were
// measured.
double NoiseOfOneWays(const Domain& domain, const AttributeSet& attributes, const BudgetShare& whole,
                      int64_t records) {
  const auto marginals = static_cast<double>(attributes.size());
  double cells = 0;
  for (const int64_t size : domain.SizesOf(attributes)) cells += static_cast<double>(size) / marginals;
  return cells * ExpectedNoise(whole, marginals) / static_cast<double>(records);
}

// Epsilons add up, so under a pure budget few views at once have less noise than many rounds, unless views
// are of so many cells that rounds which choose find more in them.
bool MeasuresFewViews(const std::vector<double>& cells_of_pairs, double noise) {
  double cells = 0;
  for (const double of_a_pair : cells_of_pairs)
    cells += of_a_pair / static_cast<double>(cells_of_pairs.size());
  return cells <= kFewCellsOfAPair || noise >= 0.7;
}

// Views of its own choice: all pairs or selected ones. Making more records than this takes longer, and hardly
// comes closer to the views.
MethodChoice ViewsByItsRule() {
  return {.method = "priview", .settings = {{"max_records", "262144"}}};
}

MethodChoice ViewsOfAllPairs() {
  MethodChoice choice = ViewsByItsRule();
  choice.settings["views"] = "design";
  return choice;
}

}  // namespace

std::vector<MethodChoice> ChooseMethods(const SynthesisInput& input, const BudgetShare& whole,
                                        int64_t records) {
  if (!IsOfWholeMarginals(input.workload)) {
    return {{.method = "mwem", .settings = {}}, {.method = "rap", .settings = {}}};
  }
  const MethodChoice selected{.method = "aim", .settings = {}};
  if (!input.domain.constraints().empty()) return {selected};
  const std::vector<AttributeSet> sets = SetsOf(input.workload);
  const std::vector<double> pairs = CellsOfPairs(input.domain, sets);
  if (pairs.empty()) return {selected};
  const AttributeSet attributes = Union(sets);
  if (NoiseOfOneWays(input.domain, attributes, whole, records) >= kHopelessNoise)
    return {{.method = "aim", .settings = {{"rounds", "0"}}}, ViewsByItsRule()};
  const double noise = NoiseOfPairs(pairs, whole, records);
  const int64_t cells = CellsUpTo(input.domain, attributes, kCellsOfOneTable + 1);
  if (MeasuresAllPairs(cells, static_cast<double>(attributes.size()), noise))
    return {ViewsOfAllPairs(), selected};
  const bool is_one_table = cells <= kCellsOfOneTable;
  const MethodChoice histogram{.method = "mwem", .settings = {}};
  // One table of few cells follows what little is measured best where it starts from nothing.
  if (is_one_table && noise >= 0.9) return {histogram, selected};
  if (whole.is_pure && MeasuresFewViews(pairs, noise)) return {ViewsByItsRule(), selected};
  if (is_one_table && cells > kFewCells) return {histogram, selected};
  return {selected, ViewsOfAllPairs()};
}

}  // namespace curator::dp
