#include "tests/statistical/product_workloads.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <utility>

#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/workload/residual/axis_choice.h"
#include "dp/workload/residual/axis_reading.h"
#include "dp/workload/residual/axis_solver.h"
#include "dp/workload/residual/closed_sets.h"
#include "dp/workload/residual/noise_selection.h"

namespace curator::statistics {
namespace {

constexpr dp::UnitBound kRecord{dp::NeighbourRelation::kAddRemove, 1};
constexpr double kSolverGap = 1e-4;

// What one attribute's queries come to.
struct Axis {
  dp::AxisError sums;  // over its queries
  dp::AxisCost cost;
  double gap = 0;
};

Axis AxisOf(const dp::AxisReading& reading, const dp::AxisQueries& queries, bool has_prefixes) {
  Axis axis{.sums = {}, .cost = dp::AxisCostOf(queries, reading.codes())};
  for (uint32_t code = 0; code < reading.codes(); ++code) {
    const dp::AxisError error = reading.ErrorOf(dp::CodeInterval{has_prefixes ? 0 : code, code});
    axis.sums.spread += error.spread;
    axis.sums.level += error.level;
  }
  return axis;
}

// Code i lies in the prefixes up to i and to later ones.
dp::AxisSolver SolverOfPrefixes(int64_t codes) {
  dp::Gram gram;
  for (int64_t i = 0; i < codes; ++i) {
    for (int64_t j = 0; j < codes; ++j) gram.push_back(static_cast<double>(codes - std::max(i, j)));
  }
  return {codes, std::move(gram)};
}

std::vector<dp::AttributeSet> SetsOf(const ProductWorkload& workload) {
  const dp::Domain domain = dp::CodedDomain(workload.sizes);
  std::vector<dp::AttributeSet> all;
  if (workload.least_ways == 0) all.push_back({});
  for (int k = std::max(1, workload.least_ways); k <= workload.most_ways; ++k) {
    const std::vector<dp::AttributeSet> sets = dp::AllKWayMarginals(domain, k, {}).value();
    all.insert(all.end(), sets.begin(), sets.end());
  }
  return all;
}

int64_t QueriesOver(const ProductWorkload& workload, const dp::AttributeSet& set) {
  int64_t queries = 1;
  for (const uint32_t attribute : set) queries *= workload.sizes[attribute];
  return queries;
}

class Planner {
 public:
  explicit Planner(const ProductWorkload& workload) : workload_(workload), asked_(SetsOf(workload)) {
    closed_ = dp::ClosedSets::Create(asked_, std::numeric_limits<size_t>::max());
    for (size_t i = 0; i < workload.prefixes; ++i)
      solvers_.try_emplace(workload.sizes[i], SolverOfPrefixes(workload.sizes[i]));
  }

  // The best evenness of the offsets to within 0.01: the error has one minimum.
  ProductForecast Best() {
    double evenness = 0.5;
    ProductForecast best = At(evenness);
    for (double step = 0.25; workload_.prefixes > 0 && step > 0.01; step /= 2) {
      for (const double tried : {evenness - step, evenness + step}) {
        const ProductForecast found = At(tried);
        if (found.rmse >= best.rmse) continue;
        best = found;
        evenness = tried;
        break;
      }
    }
    return best;
  }

 private:
  // As fine as the products of the most axes that are measured together allow.
  int64_t ScaleOfWeights() const {
    double scale = static_cast<double>(dp::kLargestWeight);
    const size_t most = static_cast<size_t>(workload_.most_ways);
    int64_t other = 2;
    for (size_t i = workload_.prefixes; i < workload_.sizes.size(); ++i)
      other = std::max(other, workload_.sizes[i]);
    for (size_t solved = 1; solved <= std::min(most, workload_.prefixes); ++solved) {
      const double others = std::pow(static_cast<double>(other - 1), static_cast<double>(most - solved));
      const double room = static_cast<double>(dp::kLargestProductWeight) / others;
      scale = std::min(scale, std::pow(room, 1 / static_cast<double>(solved)));
    }
    return int64_t{1} << static_cast<int>(std::floor(std::log2(scale)));
  }

  std::vector<Axis> AxesAt(double evenness) {
    std::map<int64_t, Axis> solved;
    for (auto& [codes, solver] : solvers_) {
      const dp::SolvedAxis axis = solver.Solve(solver.OffsetAt(evenness), kSolverGap);
      const dp::AxisQueries queries = dp::Rounded(axis, ScaleOfWeights()).value().queries;
      Axis made = AxisOf(dp::AxisReading::Create(queries, codes).value(), queries, true);
      made.gap = axis.gap;
      solved.emplace(codes, made);
    }
    std::vector<Axis> axes;
    for (size_t i = 0; i < workload_.sizes.size(); ++i) {
      const int64_t codes = workload_.sizes[i];
      axes.push_back(i < workload_.prefixes ? solved.at(codes)
                                            : AxisOf(dp::AxisReading::Create({}, codes).value(), {}, false));
    }
    return axes;
  }

  ProductForecast At(double evenness) {
    const std::vector<Axis> axes = AxesAt(evenness);
    std::vector<double> costs;
    double largest_gap = 0;
    for (const dp::AttributeSet& set : closed_->sets()) {
      std::vector<dp::AxisCost> of_axes;
      double gap = 1;
      for (const uint32_t attribute : set) {
        of_axes.push_back(axes[attribute].cost);
        gap *= 1 + axes[attribute].gap;
      }
      costs.push_back(dp::CostFactorOf(kRecord, of_axes));
      largest_gap = std::max(largest_gap, gap - 1);
    }
    std::vector<double> factors(costs.size());
    for (const dp::AttributeSet& set : asked_) AddFactors(set, axes, factors);
    for (double& factor : factors) factor /= static_cast<double>(NumberOfQueries(workload_));
    const dp::NoiseSelection noise = dp::LeastSum(costs, factors);
    return {.rmse = std::sqrt(2 * noise.objective), .gap = (1 + largest_gap) * (1 + noise.gap) - 1};
  }

  // Of the queries over one set of attributes.
  void AddFactors(const dp::AttributeSet& set, std::span<const Axis> axes,
                  std::vector<double>& factors) const {
    const std::vector<uint32_t> subsets = closed_->SubsetsOf(set);
    for (size_t subset = 0; subset < subsets.size(); ++subset) {
      double factor = 1;
      for (size_t i = 0; i < set.size(); ++i) {
        const dp::AxisError& sums = axes[set[i]].sums;
        factor *= (subset >> i & 1) != 0 ? sums.spread : sums.level;
      }
      factors[subsets[subset]] += factor;
    }
  }

  const ProductWorkload& workload_;
  std::vector<dp::AttributeSet> asked_;
  std::optional<dp::ClosedSets> closed_;
  std::map<int64_t, dp::AxisSolver> solvers_;  // of prefixes, by the number of codes
};

dp::Boxes BoxesOf(const ProductWorkload& workload, const dp::AttributeSet& attributes) {
  dp::Boxes boxes;
  std::vector<uint32_t> codes(attributes.size());
  for (bool is_last = false; !is_last;) {
    for (size_t i = 0; i < codes.size(); ++i)
      boxes.sides.push_back({attributes[i] < workload.prefixes ? 0 : codes[i], codes[i]});
    is_last = true;
    for (size_t i = codes.size(); i-- > 0 && is_last;) {
      codes[i] = (codes[i] + 1) % static_cast<uint32_t>(workload.sizes[attributes[i]]);
      is_last = codes[i] == 0;
    }
  }
  return boxes;
}

}  // namespace

ProductForecast ForecastOf(const ProductWorkload& workload) {
  return Planner(workload).Best();
}

int64_t NumberOfQueries(const ProductWorkload& workload) {
  int64_t queries = 0;
  for (const dp::AttributeSet& set : SetsOf(workload)) queries += QueriesOver(workload, set);
  return queries;
}

dp::QuerySet QueriesOf(const ProductWorkload& workload) {
  dp::QuerySet set;
  for (const dp::AttributeSet& attributes : SetsOf(workload)) {
    dp::QueryGroup& group = set.groups.emplace_back(dp::QueryGroup{attributes, dp::EveryCell()});
    if (workload.prefixes > 0 && !attributes.empty()) group.queries = BoxesOf(workload, attributes);
  }
  return set;
}

}  // namespace curator::statistics
