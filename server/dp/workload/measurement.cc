#include "dp/workload/measurement.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <ranges>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/workload/noise_combination.h"
#include "dp/workload/noise_sum.h"

namespace curator::dp {
namespace {

bool IsWholeMarginals(const QuerySet& set) {
  return std::ranges::all_of(
      set.groups, [](const QueryGroup& group) { return std::holds_alternative<EveryCell>(group.queries); });
}

Measurement Direct(const QuerySet& set) {
  Measurement measurement;
  for (const QueryGroup& group : set.groups) {
    measurement.plan.sources.push_back(measurement.measured.size());
    measurement.measured.push_back(group);
  }
  return measurement;
}

// Which of some sets hold each attribute. To find supersets, only those are compared that hold a set's rarest
// attribute: of all pairs of 63 attributes, 62 instead of 1,953.
class Holders {
 public:
  explicit Holders(const std::vector<AttributeSet>& sets) : sets_(sets) {
    for (uint32_t i = 0; i < sets.size(); ++i) {
      for (const uint32_t attribute : sets[i]) places_.emplace_back(attribute, i);
    }
    std::ranges::sort(places_);
  }

  // The position of the first set of at least `least_size` attributes that holds all of `set`.
  std::optional<size_t> FirstAround(const AttributeSet& set, size_t least_size) const {
    if (set.empty()) {
      const auto found =
          std::ranges::find_if(sets_, [&](const auto& each) { return each.size() >= least_size; });
      return found == sets_.end() ? std::nullopt : std::optional(static_cast<size_t>(found - sets_.begin()));
    }
    auto rarest = HoldersOf(set.front());
    for (const uint32_t attribute : set) {
      if (const auto own = HoldersOf(attribute); own.size() < rarest.size()) rarest = own;
    }
    for (const auto& [attribute, i] : rarest) {
      if (sets_[i].size() >= least_size && IsSubset(set, sets_[i])) return i;
    }
    return std::nullopt;
  }

 private:
  using Place = std::pair<uint32_t, uint32_t>;  // an attribute, and a set
  std::ranges::subrange<std::vector<Place>::const_iterator> HoldersOf(uint32_t attribute) const {
    return std::ranges::equal_range(places_, attribute, {}, &Place::first);
  }

  const std::vector<AttributeSet>& sets_;
  std::vector<Place> places_;
};

// The sets that lie in no other.
std::vector<AttributeSet> LargestOf(const std::vector<AttributeSet>& sets) {
  const Holders holders(sets);
  std::vector<AttributeSet> largest;
  for (const AttributeSet& set : sets) {
    if (!holders.FirstAround(set, set.size() + 1)) largest.push_back(set);
  }
  return largest;
}

Measurement FromMarginals(const QuerySet& set, const std::vector<AttributeSet>& marginals) {
  Measurement measurement;
  measurement.plan.strategy = Strategy::kBaseHistogram;
  for (const AttributeSet& marginal : marginals)
    measurement.measured.push_back({.attributes = marginal, .queries = EveryCell()});
  const Holders holders(marginals);
  std::map<AttributeSet, size_t> found;
  for (const QueryGroup& group : set.groups) {
    const auto [it, is_new] = found.try_emplace(group.attributes, 0);
    if (is_new) it->second = holders.FirstAround(group.attributes, 0).value_or(0);
    measurement.plan.sources.push_back(it->second);
  }
  return measurement;
}

// Each group is summed from its marginal by itself.
bool IsQuicklySummed(const Domain& domain, const Measurement& way) {
  constexpr int64_t kMostSteps = int64_t{1} << 28;
  int64_t steps = 0;
  for (const size_t source : way.plan.sources) {
    steps += domain.CellCount(way.measured[source].attributes).value_or(kMostSteps);
    if (steps > kMostSteps) return false;
  }
  return true;
}

absl::StatusOr<std::vector<Measurement>> BaseHistograms(const Domain& domain, const QuerySet& set) {
  constexpr size_t kMostComparedSets = 2000;
  std::set<AttributeSet> distinct;
  for (const QueryGroup& group : set.groups) distinct.insert(group.attributes);
  const std::vector<AttributeSet> sets(distinct.begin(), distinct.end());
  const AttributeSet all = Union(sets);
  std::vector<Measurement> ways;
  if (sets.size() <= kMostComparedSets) {
    const std::vector<AttributeSet> largest = LargestOf(sets);
    const absl::StatusOr<int64_t> cells =
        TotalCells(domain, largest, {.max_marginals = 100'000, .max_cells = kMostBaseCells});
    if (cells.ok()) ways.push_back(FromMarginals(set, largest));
  }
  const std::optional<int64_t> cells = domain.CellCount(all);
  const bool is_there = !ways.empty() && ways.front().measured.size() == 1;
  if (!is_there && cells && *cells <= kMostBaseCells) ways.push_back(FromMarginals(set, {all}));
  std::erase_if(ways, [&](const Measurement& way) { return !IsQuicklySummed(domain, way); });
  if (!ways.empty()) return ways;
  return absl::InvalidArgumentError(absl::StrCat("a base histogram for these answers would have more than ",
                                                 kMostBaseCells, " cells, or take too long to be summed"));
}

absl::StatusOr<std::vector<Measurement>> Trees(const Domain& domain, const QuerySet& set, int64_t most_bins) {
  const AttributeSet& attributes = set.groups.front().attributes;
  const bool is_of_one =
      attributes.size() == 1 && std::ranges::all_of(set.groups, [&](const auto& group) {
        return group.attributes == attributes && std::holds_alternative<Boxes>(group.queries);
      });
  if (!is_of_one) {
    return absl::InvalidArgumentError(
        "a tree answers ranges, prefixes, or intervals of one attribute, and nothing else");
  }
  const int64_t bins = domain.attributes()[attributes[0]].size();
  if (bins > most_bins) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a tree is planned over at most ", kMostTreeBins, " bins in one request, of all sets together; ",
        NamesOf(domain, attributes), " has ", bins, " and ", most_bins,
        " are left: ask over fewer bins, or for a base histogram or the answers themselves"));
  }
  std::vector<Measurement> ways;
  for (const int64_t branching : {2, 4, 8, 16, 32}) {
    if (branching >= bins && branching > 2) break;
    // Each member is complete before the next is made: GCC 12 destroys parts of a nested aggregate twice when
    // an allocation in its middle throws.
    Measurement way;
    way.plan.strategy = Strategy::kTree;
    way.plan.branching = branching;
    way.plan.sources.assign(set.groups.size(), 0);
    QueryGroup intervals{.attributes = attributes, .queries = EveryCell()};
    intervals.queries = IntervalTree(bins, branching).Intervals();
    way.measured.push_back(std::move(intervals));
    ways.push_back(std::move(way));
  }
  return ways;
}

int64_t CellsOf(const Domain& domain, const AttributeSet& set) {
  return domain.CellCount(set).value_or(std::numeric_limits<int64_t>::max());
}

AnswerError SumOf(int64_t terms) {
  const auto factor = static_cast<double>(terms);
  return {.variance_factor = factor, .terms = terms, .fourth_factor = factor};
}

AnswerError ErrorFromCells(const LinearQuery& query, int64_t cells_each) {
  int64_t squares = 0;
  double fourths = 0;
  bool is_plain = true;
  for (const WeightedCell& term : query) {
    squares += int64_t{term.weight} * term.weight;
    fourths += std::pow(term.weight, 4);
    is_plain = is_plain && std::abs(term.weight) == 1;
  }
  return {.variance_factor = static_cast<double>(squares) * static_cast<double>(cells_each),
          .terms = is_plain ? squares * cells_each : 0,
          .fourth_factor = fourths * static_cast<double>(cells_each)};
}

std::vector<AnswerError> ErrorsFromMarginal(const Domain& domain, const QueryGroup& group,
                                            const QueryGroup& source) {
  const int64_t cells_each = CellsOf(domain, source.attributes) / CellsOf(domain, group.attributes);
  std::vector<AnswerError> errors;
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    const size_t sides = group.attributes.size();
    for (size_t at = 0; at < boxes->sides.size(); at += sides)
      errors.push_back(SumOf(cells_each * BoxCells(std::span(boxes->sides).subspan(at, sides))));
  } else if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
    for (const LinearQuery& query : *queries) errors.push_back(ErrorFromCells(query, cells_each));
  } else {
    errors.push_back(SumOf(cells_each));
  }
  return errors;
}

// No weight of a measured value is larger.
double LargestWeight(const AnswerError& error) {
  return std::sqrt(std::sqrt(error.fourth_factor));
}

}  // namespace

bool IsJoint(Strategy strategy) {
  return strategy == Strategy::kResidual || strategy == Strategy::kParity;
}

bool AreByParity(std::span<const SetPlan> plans) {
  return !plans.empty() && plans.front().strategy == Strategy::kParity;
}

absl::StatusOr<std::vector<Measurement>> MeasurementsFor(const Domain& domain, const QuerySet& set,
                                                         int64_t most_tree_bins) {
  switch (set.strategy) {
    case Strategy::kDirect:
      return std::vector<Measurement>{Direct(set)};
    case Strategy::kBaseHistogram:
      return BaseHistograms(domain, set);
    case Strategy::kTree:
      return Trees(domain, set, most_tree_bins);
    case Strategy::kResidual:
    case Strategy::kParity:
      return absl::InvalidArgumentError(
          "answers are measured by residuals, or by parities, with all sets of a request or with none");
    case Strategy::kAuto:
      break;
  }
  std::vector<Measurement> ways = {Direct(set)};
  if (IsWholeMarginals(set)) return ways;
  absl::StatusOr<std::vector<Measurement>> histograms = BaseHistograms(domain, set);
  if (histograms.ok()) std::ranges::move(*histograms, std::back_inserter(ways));
  absl::StatusOr<std::vector<Measurement>> trees = Trees(domain, set, most_tree_bins);
  if (trees.ok()) std::ranges::move(*trees, std::back_inserter(ways));
  return ways;
}

int64_t TreeBinsOf(const Domain& domain, const std::vector<Measurement>& ways) {
  for (const Measurement& way : ways) {
    if (way.plan.strategy == Strategy::kTree) return CellsOf(domain, way.measured.front().attributes);
  }
  return 0;
}

std::vector<AnswerError> ErrorsOf(const Domain& domain, const QueryGroup& group, const SetPlan& plan,
                                  const QueryGroup& source) {
  switch (plan.strategy) {
    case Strategy::kBaseHistogram:
      return ErrorsFromMarginal(domain, group, source);
    case Strategy::kTree:
      return TreeErrors(IntervalTree(CellsOf(domain, group.attributes), plan.branching), group);
    case Strategy::kDirect:
    case Strategy::kResidual:
    case Strategy::kParity:
    case Strategy::kAuto:
      break;
  }
  return {AnswerError()};
}

std::vector<AnswerError> TreeErrors(const IntervalTree& tree, const QueryGroup& group) {
  std::vector<AnswerError> errors;
  for (const CodeInterval& interval : std::get<Boxes>(group.queries).sides) {
    if (tree.levels() == 1) {  // the bins alone are measured
      errors.push_back(SumOf(int64_t{interval.last} - interval.first + 1));
      continue;
    }
    errors.push_back({.variance_factor = tree.VarianceFactor(interval),
                      .terms = 0,
                      .fourth_factor = tree.FourthFactor(interval),
                      .interval = interval});
  }
  return errors;
}

absl::StatusOr<double> HalfWidthOf(const NoiseSpec& noise, const AnswerError& error, double level) {
  if (!(level > 0 && level < 1))
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  if (error.terms == 0) return HalfWidthBound(noise, error.variance_factor, LargestWeight(error), level);
  ASSIGN_OR_RETURN(const int64_t width, SumConfidenceHalfWidth(noise, error.terms, level));
  return static_cast<double>(width);
}

double TailOf(const NoiseSpec& noise, const AnswerError& error, double error_bound) {
  if (error.terms == 0) return TailBound(noise, error.variance_factor, LargestWeight(error), error_bound);
  const double whole = std::min(std::floor(error_bound), 0x1p62);
  return SumTailProbability(noise, error.terms, static_cast<int64_t>(whole));
}

std::string Describe(const Domain& domain, const Measurement& measurement) {
  int64_t values = 0;
  for (const QueryGroup& group : measurement.measured) values += NumberOfQueries(domain, group);
  switch (measurement.plan.strategy) {
    case Strategy::kBaseHistogram:
      return measurement.measured.size() == 1
                 ? absl::StrCat("sums of the ", values, " cells of ",
                                NamesOf(domain, measurement.measured.front().attributes))
                 : absl::StrCat("sums of the ", values, " cells of ", measurement.measured.size(),
                                " marginals");
    case Strategy::kTree: {
      const AttributeSet& attributes = measurement.measured.front().attributes;
      const IntervalTree tree(CellsOf(domain, attributes), measurement.plan.branching);
      return absl::StrCat("a tree over ", NamesOf(domain, attributes), " with ", tree.branching(),
                          " branches, ", tree.levels(), tree.levels() == 1 ? " level" : " levels", " and ",
                          values, " intervals");
    }
    case Strategy::kDirect:
    case Strategy::kResidual:
    case Strategy::kParity:
    case Strategy::kAuto:
      break;
  }
  return absl::StrCat(values, values == 1 ? " answer, measured" : " answers, each measured");
}

}  // namespace curator::dp
