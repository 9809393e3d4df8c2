#include "dp/workload/residual/axis_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <utility>

#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/workload/residual/axis_solver.h"
#include "dp/workload/residual/noise_selection.h"

namespace curator::dp {
namespace {

constexpr double kSearchGap = 1e-3;
constexpr double kFinalGap = 1e-4;
constexpr int kSearchSteps = 6;
constexpr int64_t kMostCubes = kMostChosenCodes * kMostChosenCodes * kMostChosenCodes;
static_assert(kMostChosenCodes <= kMostSolvedCodes);
// Of what the groups ask of all solved axes, 8 bytes each.
constexpr int64_t kMostGramNumbers = int64_t{1} << 21;

// ---- What groups ask of one attribute

// Whether every query of the group asks one code of the attribute at this position.
bool AsksSingleCodes(const QueryGroup& group, size_t position) {
  if (std::holds_alternative<EveryCell>(group.queries)) return true;
  const auto* boxes = std::get_if<Boxes>(&group.queries);
  if (boxes == nullptr) return false;
  for (size_t at = position; at < boxes->sides.size(); at += group.attributes.size()) {
    if (boxes->sides[at].first != boxes->sides[at].last) return false;
  }
  return true;
}

// The mean over the group's queries of q q^T.
Gram MeanGram(const QueryGroup& group, size_t position, int64_t codes) {
  const auto n = static_cast<size_t>(codes);
  Gram gram(n * n);
  size_t queries = 0;
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    // Each interval adds 1 to a square: at its corners, which are then summed up.
    std::vector<double> corners((n + 1) * (n + 1));
    for (size_t at = position; at < boxes->sides.size(); at += group.attributes.size(), ++queries) {
      const size_t first = boxes->sides[at].first;
      const size_t end = size_t{boxes->sides[at].last} + 1;
      corners[first * (n + 1) + first] += 1;
      corners[first * (n + 1) + end] -= 1;
      corners[end * (n + 1) + first] -= 1;
      corners[end * (n + 1) + end] += 1;
    }
    for (size_t i = 0; i < n; ++i) {
      double row = 0;
      for (size_t j = 0; j < n; ++j) {
        row += corners[i * (n + 1) + j];
        gram[i * n + j] = row + (i > 0 ? gram[(i - 1) * n + j] : 0);
      }
    }
  } else if (const auto* linear = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
    for (const LinearQuery& query : *linear) {
      for (const WeightedCell& one : query) {
        for (const WeightedCell& other : query)
          gram[one.cell * n + other.cell] += static_cast<double>(one.weight) * other.weight;
      }
    }
    queries = linear->size();
  } else {
    for (size_t i = 0; i < n; ++i) gram[i * n + i] = 1;
    queries = n;
  }
  for (double& each : gram) each /= static_cast<double>(queries);
  return gram;
}

double Trace(const Gram& gram, int64_t codes) {
  double trace = 0;
  for (size_t i = 0; i < gram.size(); i += static_cast<size_t>(codes) + 1) trace += gram[i];
  return trace;
}

// ---- The figures of an axis

// The means over a group's queries of the two factors of one attribute (AxisError).
struct AxisFactors {
  double spread = 0;
  double level = 0;
};

AxisFactors SingleCodeFactors(int64_t codes) {
  const auto n = static_cast<double>(codes);
  return {.spread = (n - 1) / n, .level = 1 / (n * n)};
}

AxisFactors FactorsOf(const Gram& gram, const SolvedAxis& solved) {
  AxisFactors factors;
  const size_t n = solved.offset.size();
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) {
      factors.spread += gram[i * n + j] * solved.inverse[i * n + j];
      factors.level += gram[i * n + j] * solved.offset[i] * solved.offset[j];
    }
  }
  return factors;
}

AxisCost HelmertCost(int64_t codes) {
  const auto n = static_cast<double>(codes);
  return {.largest = (n - 1) / n, .opposite = 1 / (n - 1)};
}

// From the products of all columns.
AxisCost CostOf(const Gram& products, size_t codes) {
  AxisCost cost;
  double least = 0;
  for (size_t i = 0; i < codes; ++i) {
    cost.largest = std::max(cost.largest, products[i * codes + i]);
    for (size_t j = 0; j < codes; ++j) least = std::min(least, products[i * codes + j]);
  }
  cost.opposite = -least / cost.largest;
  return cost;
}

// ---- The search

// The choice for one workload; made once, with what is asked of each attribute.
class AxisSearch {
 public:
  AxisSearch(const Domain& domain, const UnitBound& unit, std::span<const WeightedGroup> groups,
             const ClosedSets& sets, const std::stop_token& stop)
      : domain_(domain), unit_(unit), groups_(groups), sets_(sets), stop_(stop) {}

  absl::StatusOr<std::optional<AxisChoice>> Run() {
    if (!FindAxes()) return std::nullopt;
    AxisChoice choice{.axes = {AxisQueries()},
                      .of_attribute = std::vector<uint32_t>(domain_.attributes().size(), 0)};
    if (solvers_.empty()) return choice;
    for (const WeightedGroup& each : groups_) subsets_.push_back(sets_.SubsetsOf(each.group->attributes));
    ASSIGN_OR_RETURN(choice.evenness, BestEvenness());
    ASSIGN_OR_RETURN(const std::vector<SolvedAxis> solved, SolveAll(choice.evenness, kFinalGap));
    const int64_t scale = Scale();
    constexpr int64_t kLeastScale = 1 << 8;
    if (scale < kLeastScale) return std::nullopt;
    for (const SolvedAxis& axis : solved) {
      ASSIGN_OR_RETURN(IntegerAxis rounded, Rounded(axis, scale));
      choice.axes.push_back(std::move(rounded.queries));
      choice.gap = std::max(choice.gap, axis.gap);
    }
    for (const auto& [attribute, solver] : solver_of_)
      choice.of_attribute[attribute] = static_cast<uint32_t>(solver + 1);
    return choice;
  }

 private:
  int64_t CodesOfAttribute(uint32_t attribute) const { return domain_.attributes()[attribute].size(); }

  // False where an attribute is not fit.
  bool FindAxes() {
    std::set<uint32_t> solved;
    for (const WeightedGroup& each : groups_) {
      for (size_t i = 0; i < each.group->attributes.size(); ++i) {
        const uint32_t attribute = each.group->attributes[i];
        if (CodesOfAttribute(attribute) < 2) return false;
        if (!AsksSingleCodes(*each.group, i)) solved.insert(attribute);
      }
    }
    int64_t cubes = 0;
    std::map<std::pair<int64_t, Gram>, size_t> known;
    for (const uint32_t attribute : solved) {
      const int64_t codes = CodesOfAttribute(attribute);
      if (codes > kMostChosenCodes) return false;
      const std::optional<Gram> total = TotalGram(attribute);
      if (!total) return false;
      const auto [found, is_new] = known.try_emplace({codes, *total}, solvers_.size());
      solver_of_[attribute] = found->second;
      if (!is_new) continue;
      cubes += codes * codes * codes;
      if (cubes > kMostCubes) return false;
      solvers_.emplace_back(codes, found->first.second);
    }
    return true;
  }

  // The sum over all groups, each weighted by its answers and by how much their other attributes let through.
  // Scaled to a trace of 1, so that attributes that are asked alike have the same. None beyond
  // kMostGramNumbers.
  std::optional<Gram> TotalGram(uint32_t attribute) {
    const int64_t codes = CodesOfAttribute(attribute);
    Gram total(static_cast<size_t>(codes * codes));
    for (size_t g = 0; g < groups_.size(); ++g) {
      const QueryGroup& group = *groups_[g].group;
      const auto found = std::ranges::find(group.attributes, attribute);
      if (found == group.attributes.end()) continue;
      const auto position = static_cast<size_t>(found - group.attributes.begin());
      if (gram_numbers_ > kMostGramNumbers) return std::nullopt;
      const Gram& gram = GramOf(g, position);
      double weight = groups_[g].weight * static_cast<double>(NumberOfQueries(domain_, group));
      for (size_t i = 0; i < group.attributes.size(); ++i) {
        if (i != position) weight *= MassOf(g, i);
      }
      for (size_t i = 0; i < total.size(); ++i) total[i] += weight * gram[i];
    }
    const double trace = Trace(total, codes);
    for (double& each : total) each /= trace;
    return total;
  }

  // The mean number of codes that a query of the group counts, as a share of all.
  double MassOf(size_t g, size_t position) {
    const int64_t codes = CodesOfAttribute(groups_[g].group->attributes[position]);
    if (AsksSingleCodes(*groups_[g].group, position)) return 1 / static_cast<double>(codes);
    return Trace(GramOf(g, position), codes) / static_cast<double>(codes);
  }

  // Whole marginals ask the same of every attribute of a size.
  using GramKey = std::pair<size_t, size_t>;
  GramKey KeyOf(size_t g, size_t position) const {
    const QueryGroup& group = *groups_[g].group;
    const bool is_every = std::holds_alternative<EveryCell>(group.queries);
    const auto codes = static_cast<size_t>(CodesOfAttribute(group.attributes[position]));
    return is_every ? GramKey(SIZE_MAX, codes) : GramKey(g, position);
  }

  const Gram& GramOf(size_t g, size_t position) {
    const QueryGroup& group = *groups_[g].group;
    const int64_t codes = CodesOfAttribute(group.attributes[position]);
    const auto [found, is_new] = grams_.try_emplace(KeyOf(g, position));
    if (is_new) {
      gram_numbers_ += codes * codes;
      found->second = MeanGram(group, position, codes);
    }
    return found->second;
  }

  absl::StatusOr<std::vector<SolvedAxis>> SolveAll(double evenness, double gap) {
    std::vector<SolvedAxis> solved;
    for (AxisSolver& solver : solvers_) {
      RETURN_IF_ERROR(CheckGoesOn(stop_));
      solved.push_back(solver.Solve(solver.OffsetAt(evenness), gap));
    }
    return solved;
  }

  // The axes at one evenness, and their figures.
  struct Trial {
    std::vector<SolvedAxis> solved;
    std::vector<AxisCost> costs;
    std::map<std::pair<GramKey, size_t>, AxisFactors> factors;  // of a Gram matrix and a solved axis
  };

  absl::StatusOr<double> ErrorAt(double evenness) {
    Trial trial;
    ASSIGN_OR_RETURN(trial.solved, SolveAll(evenness, kSearchGap));
    for (const SolvedAxis& axis : trial.solved)
      trial.costs.push_back(CostOf(axis.strategy, axis.offset.size()));
    std::vector<double> costs;
    for (const AttributeSet& set : sets_.sets()) costs.push_back(CostOfSet(set, trial));
    std::vector<double> factors(costs.size());
    for (size_t g = 0; g < groups_.size(); ++g) AddFactors(g, trial, factors);
    return LeastSum(costs, factors).objective;
  }

  double CostOfSet(const AttributeSet& set, const Trial& trial) const {
    std::vector<AxisCost> axes;
    for (const uint32_t attribute : set) {
      const auto solver = solver_of_.find(attribute);
      axes.push_back(solver == solver_of_.end() ? HelmertCost(CodesOfAttribute(attribute))
                                                : trial.costs[solver->second]);
    }
    return CostFactorOf(unit_, axes);
  }

  AxisFactors FactorsOfAxis(size_t g, size_t position, Trial& trial) {
    const uint32_t attribute = groups_[g].group->attributes[position];
    const auto solver = solver_of_.find(attribute);
    if (solver == solver_of_.end()) return SingleCodeFactors(CodesOfAttribute(attribute));
    const auto [found, is_new] = trial.factors.try_emplace({KeyOf(g, position), solver->second});
    if (is_new) found->second = FactorsOf(GramOf(g, position), trial.solved[solver->second]);
    return found->second;
  }

  // As if the group's queries were all products of those over its attributes.
  void AddFactors(size_t g, Trial& trial, std::vector<double>& factors) {
    const QueryGroup& group = *groups_[g].group;
    std::vector<AxisFactors> of_axes;
    for (size_t i = 0; i < group.attributes.size(); ++i) of_axes.push_back(FactorsOfAxis(g, i, trial));
    const std::vector<uint32_t>& subsets = subsets_[g];
    const double weight = groups_[g].weight * static_cast<double>(NumberOfQueries(domain_, group));
    for (size_t subset = 0; subset < subsets.size(); ++subset) {
      double factor = weight;
      for (size_t i = 0; i < of_axes.size(); ++i)
        factor *= (subset >> i) & 1 ? of_axes[i].spread : of_axes[i].level;
      factors[subsets[subset]] += factor;
    }
  }

  // By golden section; even offsets are a candidate as well, of which more is known.
  absl::StatusOr<double> BestEvenness() {
    const double ratio = (std::sqrt(5.0) - 1) / 2;
    double low = 0;
    double high = 1;
    double left = high - ratio * (high - low);
    double right = low + ratio * (high - low);
    ASSIGN_OR_RETURN(double left_error, ErrorAt(left));
    ASSIGN_OR_RETURN(double right_error, ErrorAt(right));
    for (int step = 0; step < kSearchSteps; ++step) {
      if (left_error < right_error) {
        high = std::exchange(right, left);
        right_error = left_error;
        left = high - ratio * (high - low);
        ASSIGN_OR_RETURN(left_error, ErrorAt(left));
      } else {
        low = std::exchange(left, right);
        left_error = right_error;
        right = low + ratio * (high - low);
        ASSIGN_OR_RETURN(right_error, ErrorAt(right));
      }
    }
    ASSIGN_OR_RETURN(const double even_error, ErrorAt(1));
    const double best = left_error < right_error ? left : right;
    return even_error < std::min(left_error, right_error) ? 1 : best;
  }

  // The largest power of two that weights over solved attributes may reach, so that no product of weights is
  // beyond kLargestProductWeight.
  int64_t Scale() const {
    int scale = 20;
    for (const AttributeSet& set : sets_.sets()) {
      double others = 1;
      int solved = 0;
      for (const uint32_t attribute : set) {
        const bool is_solved = solver_of_.contains(attribute);
        solved += is_solved ? 1 : 0;
        if (!is_solved) others *= static_cast<double>(CodesOfAttribute(attribute) - 1);
      }
      const double room = std::log2(static_cast<double>(kLargestProductWeight) / others);
      if (solved > 0) scale = std::min(scale, static_cast<int>(std::floor(room / solved)));
    }
    return scale < 0 ? 0 : int64_t{1} << scale;
  }

  const Domain& domain_;
  const UnitBound& unit_;
  const std::span<const WeightedGroup> groups_;
  const ClosedSets& sets_;
  const std::stop_token& stop_;
  std::map<GramKey, Gram> grams_;
  int64_t gram_numbers_ = 0;
  std::vector<AxisSolver> solvers_;
  std::map<uint32_t, size_t> solver_of_;        // of each attribute that is solved
  std::vector<std::vector<uint32_t>> subsets_;  // of each group, in sets_
};

}  // namespace

AxisCost AxisCostOf(const AxisQueries& queries, int64_t codes) {
  if (queries.weights.empty()) return HelmertCost(codes);
  const auto n = static_cast<size_t>(codes);
  Gram products(n * n);  // of the columns
  for (size_t row = 0; row < queries.weights.size(); row += n) {
    for (size_t i = 0; i < n; ++i) {
      const double weight = queries.weights[row + i];
      for (size_t j = 0; j < n; ++j) products[i * n + j] += weight * queries.weights[row + j];
    }
  }
  AxisCost cost = CostOf(products, n);
  cost.largest /= static_cast<double>(queries.variance_factor);
  return cost;
}

double CostFactorOf(const UnitBound& unit, std::span<const AxisCost> axes) {
  double norm = 1;
  double opposite = 0;
  for (const AxisCost& axis : axes) {
    norm *= axis.largest;
    opposite = std::max(opposite, axis.opposite);
  }
  if (unit.relation == NeighbourRelation::kReplaceOne && !axes.empty()) norm *= 2 * (1 + opposite);
  const auto records = static_cast<double>(unit.max_records);
  return records * records * norm / 2;
}

absl::StatusOr<std::optional<AxisChoice>> ChooseAxes(const Domain& domain, const UnitBound& unit,
                                                     std::span<const WeightedGroup> groups,
                                                     const ClosedSets& sets, const std::stop_token& stop) {
  return AxisSearch(domain, unit, groups, sets, stop).Run();
}

}  // namespace curator::dp
