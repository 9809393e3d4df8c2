#include "dp/workload/residual/residual_plan.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/noise/product_gaussian.h"
#include "dp/sensitivity/product_cost.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/residual/axis_choice.h"
#include "dp/workload/residual/axis_errors.h"
#include "dp/workload/residual/axis_readings.h"
#include "dp/workload/residual/closed_sets.h"
#include "dp/workload/residual/noise_selection.h"
#include "dp/workload/residual/residual_errors.h"

namespace curator::dp {
namespace {

// ---- The errors of a group's answers

// Codes of one attribute whose errors are at most this.
struct CodeClass {
  AxisError error;
  int64_t codes = 0;
};

// Codes with factors within 2% of each other are counted as the largest of them.
std::vector<CodeClass> CodeClassesOf(const AxisReading& reading) {
  if (reading.is_helmert()) return {{reading.ErrorOf(CodeInterval{.first = 0, .last = 0}), reading.codes()}};
  const double step = std::log(1.02);
  std::map<std::pair<double, double>, CodeClass> classes;
  for (int64_t code = 0; code < reading.codes(); ++code) {
    const auto place = static_cast<uint32_t>(code);
    const AxisError error = reading.ErrorOf(CodeInterval{.first = place, .last = place});
    CodeClass& found = classes[{std::floor(std::log(error.spread) / step),
                                std::floor(std::log(std::max(error.level, 1e-12)) / step)}];
    found.error.spread = std::max(found.error.spread, error.spread);
    found.error.level = std::max(found.error.level, error.level);
    ++found.codes;
  }
  std::vector<CodeClass> result;
  for (const auto& [key, each] : classes) result.push_back(each);
  return result;
}

// Reads the errors of answers from the axes of one plan; those of cells by classes.
class ErrorForms {
 public:
  explicit ErrorForms(AxisReadings readings) : readings_(std::move(readings)) {}

  const AxisReadings& readings() const { return readings_; }

  // Calls `take` with the errors along each axis and the number of answers that have at most these errors.
  using Take = std::function<void(std::span<const AxisError>, int64_t)>;
  void ForEach(const QueryGroup& group, const Take& take) {
    const std::vector<const AxisReading*> axes = readings_.Of(group.attributes);
    if (!std::holds_alternative<EveryCell>(group.queries))
      return ForEachAnswer(group, axes, [&](std::span<const AxisError> errors) { take(errors, 1); });
    std::vector<AxisError> errors(axes.size());
    ForEachCellClass(axes, 0, 1, errors, take);
  }

  // How many calls that makes.
  int64_t NumberOfForms(const Domain& domain, const QueryGroup& group) {
    if (!std::holds_alternative<EveryCell>(group.queries)) return NumberOfQueries(domain, group);
    int64_t forms = 1;
    for (const AxisReading* axis : readings_.Of(group.attributes)) forms *= std::ssize(ClassesOf(*axis));
    return forms;
  }

 private:
  const std::vector<CodeClass>& ClassesOf(const AxisReading& axis) {
    const auto [found, is_new] = classes_.try_emplace(&axis);
    if (is_new) found->second = CodeClassesOf(axis);
    return found->second;
  }

  void ForEachCellClass(std::span<const AxisReading* const> axes, size_t axis, int64_t cells,
                        std::vector<AxisError>& errors, const Take& take) {
    if (axis == axes.size()) return take(errors, cells);
    for (const CodeClass& each : ClassesOf(*axes[axis])) {
      errors[axis] = each.error;
      ForEachCellClass(axes, axis + 1, cells * each.codes, errors, take);
    }
  }

  const AxisReadings readings_;
  std::map<const AxisReading*, std::vector<CodeClass>> classes_;
};

// For each subset of the axes the product of the factors.
std::vector<double> FactorsBySubset(std::span<const AxisError> axes) {
  std::vector<double> factors(SubsetsOfSize(axes.size()));
  factors[0] = 1;
  ExpandProducts(axes, factors);
  return factors;
}

// ---- The parameters

struct Planned {
  const Domain& domain;
  std::span<const QuerySet> sets;
  const ClosedSets& closed;
  ErrorForms& forms;
};

double AnswersOf(const Domain& domain, const QuerySet& set) {
  double answers = 0;
  for (const QueryGroup& group : set.groups) answers += static_cast<double>(NumberOfQueries(domain, group));
  return answers;
}

std::vector<double> SummedOverSets(const Planned& plan) {
  std::vector<double> factors(plan.closed.sets().size());
  for (const QuerySet& set : plan.sets) {
    const double weight = set.weight / AnswersOf(plan.domain, set);
    for (const QueryGroup& group : set.groups) {
      const std::vector<const AxisReading*> readings = plan.forms.readings().Of(group.attributes);
      const std::vector<double> summed = SummedFactors(plan.domain, group, readings);
      const std::vector<uint32_t> subsets = plan.closed.SubsetsOf(group.attributes);
      for (size_t i = 0; i < subsets.size(); ++i) factors[subsets[i]] += weight * summed[i];
    }
  }
  return factors;
}

std::vector<ErrorForm> FormsOf(const Planned& plan) {
  std::vector<ErrorForm> forms;
  for (const QuerySet& set : plan.sets) {
    for (const QueryGroup& group : set.groups) {
      const std::vector<uint32_t> subsets = plan.closed.SubsetsOf(group.attributes);
      plan.forms.ForEach(group, [&](std::span<const AxisError> axes, int64_t) {
        std::vector<double> factors = FactorsBySubset(axes);
        for (double& factor : factors) factor *= set.weight;
        forms.push_back({.sets = subsets, .factors = std::move(factors)});
      });
    }
  }
  return forms;
}

// Of a group, before those of similar variance are counted as the worst of them.
constexpr size_t kMostDistinctErrors = 4096;

double OverstatedBy(const ErrorClasses& classes, double sum) {
  double counted = 0;
  for (const ErrorClass& each : classes)
    counted += each.error.variance_factor * static_cast<double>(each.answers) - each.above;
  return counted - sum;
}

// Cells are counted by classes along each axis: how much that overstates is known from the sum of their
// variances.
ErrorClasses ClassesOf(const Planned& plan, const QueryGroup& group, const std::vector<double>& parameters) {
  const std::vector<uint32_t> subsets = plan.closed.SubsetsOf(group.attributes);
  const auto with_parameters = [&](const std::vector<double>& factors) {
    double variance = 0;
    for (size_t i = 0; i < factors.size(); ++i) variance += factors[i] * parameters[subsets[i]];
    return variance;
  };
  ErrorClasses of_group;
  plan.forms.ForEach(group, [&](std::span<const AxisError> axes, int64_t answers) {
    const double variance = with_parameters(FactorsBySubset(axes));
    of_group.push_back({{.variance_factor = variance, .terms = 0, .fourth_factor = 0}, answers});
    if (of_group.size() == kMostDistinctErrors) of_group = Merged(of_group);
  });
  if (of_group.size() > 1) of_group = Merged(of_group);
  const std::vector<const AxisReading*> readings = plan.forms.readings().Of(group.attributes);
  const bool are_alike = std::ranges::all_of(readings, &AxisReading::is_helmert);
  if (std::holds_alternative<EveryCell>(group.queries) && !are_alike) {
    const double sum = with_parameters(SummedFactors(plan.domain, group, readings));
    of_group.front().above += OverstatedBy(of_group, sum);
  }
  return of_group;
}

std::vector<ErrorClasses> ClassesOf(const Planned& plan, const std::vector<double>& parameters) {
  std::vector<ErrorClasses> of_sets;
  for (const QuerySet& set : plan.sets) {
    ErrorClasses of_set;
    for (const QueryGroup& group : set.groups) {
      const ErrorClasses of_group = ClassesOf(plan, group, parameters);
      of_set.insert(of_set.end(), of_group.begin(), of_group.end());
    }
    of_sets.push_back(Merged(of_set));
  }
  return of_sets;
}

// ---- Which workloads

std::vector<AttributeSet> AttributeSetsOf(std::span<const QuerySet> sets) {
  std::vector<AttributeSet> all;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups) {
      if (all.empty() || all.back() != group.attributes) all.push_back(group.attributes);
    }
  }
  return all;
}

bool CanReadAll(std::span<const QuerySet> sets) {
  return std::ranges::all_of(
      sets, [](const QuerySet& set) { return std::ranges::all_of(set.groups, CanReadFromResiduals); });
}

bool FitsCells(const Domain& domain, const ClosedSets& closed, int64_t most) {
  int64_t cells = 0;
  for (const AttributeSet& set : closed.sets()) {
    const std::optional<int64_t> own = domain.CellCount(set);
    if (!own || *own > most - cells) return false;
    cells += *own;
  }
  return true;
}

std::vector<WeightedGroup> WeightedGroupsOf(const Domain& domain, std::span<const QuerySet> sets) {
  std::vector<WeightedGroup> groups;
  for (const QuerySet& set : sets) {
    const double weight = set.weight / AnswersOf(domain, set);
    for (const QueryGroup& group : set.groups) groups.push_back({.group = &group, .weight = weight});
  }
  return groups;
}

ProductQueries QueriesOf(const AxisChoice& choice, const ClosedSets& closed) {
  ProductQueries queries{.axes = choice.axes, .groups = {}};
  queries.groups.reserve(closed.sets().size());
  for (const AttributeSet& set : closed.sets()) {
    ProductGroup& group = queries.groups.emplace_back(ProductGroup{.attributes = set, .axes = {}});
    group.axes.reserve(set.size());
    for (const uint32_t attribute : set) group.axes.push_back(choice.of_attribute[attribute]);
  }
  return queries;
}

// Of each group.
std::vector<double> CostFactorsOf(const Domain& domain, const UnitBound& unit,
                                  const ProductQueries& queries) {
  std::map<std::pair<uint32_t, int64_t>, AxisCost> known;
  std::vector<double> factors;
  std::vector<AxisCost> axes;
  for (const ProductGroup& group : queries.groups) {
    axes.clear();
    for (size_t i = 0; i < group.axes.size(); ++i) {
      const int64_t codes = domain.attributes()[group.attributes[i]].size();
      const auto [axis, is_new] = known.try_emplace({group.axes[i], codes});
      if (is_new) axis->second = AxisCostOf(queries.axes[group.axes[i]], codes);
      axes.push_back(axis->second);
    }
    factors.push_back(CostFactorOf(unit, axes));
  }
  return factors;
}

std::optional<NoiseSelection> SelectNoise(const Planned& plan, const UnitBound& unit,
                                          const ProductQueries& queries, ErrorMeasure measure,
                                          const ResidualLimits& limits) {
  const std::vector<double> costs = CostFactorsOf(plan.domain, unit, queries);
  if (measure == ErrorMeasure::kMean) return LeastSum(costs, SummedOverSets(plan));
  int64_t factors = 0;
  for (const QuerySet& set : plan.sets) {
    for (const QueryGroup& group : set.groups) {
      factors += plan.forms.NumberOfForms(plan.domain, group) *
                 static_cast<int64_t>(SubsetsOfSize(group.attributes.size()));
      if (factors > limits.most_factors) return std::nullopt;
    }
  }
  return LeastLargest(costs, FormsOf(plan));
}

// The gap of errors over several solved axes is at most that of all of them together.
double GapOf(const AxisChoice& choice, const ClosedSets& closed, double of_noise) {
  size_t most = 0;
  for (const AttributeSet& set : closed.sets()) {
    size_t solved = 0;
    for (const uint32_t attribute : set) solved += choice.of_attribute[attribute] > 0 ? 1 : 0;
    most = std::max(most, solved);
  }
  return std::pow(1 + choice.gap, static_cast<double>(most)) * (1 + of_noise) - 1;
}

// ---- The noise of a budget

constexpr double kLargestParameter = 0x1p101;
static_assert(ProductGaussian::kLargestLogParameter > 101);
constexpr double kLargestRounded = 0x1p60;

// At least `value`, which is at most kLargestRounded, by at most 2^-30 of it where it is above 1.
Rational RoundedUp(double value) {
  int64_t denominator = 1;
  while (value * static_cast<double>(denominator) < 0x1p31 && denominator < (int64_t{1} << 30))
    denominator *= 2;
  return Reduced({.numerator = static_cast<int64_t>(std::ceil(value * static_cast<double>(denominator))),
                  .denominator = denominator});
}

// The factors of the parameters of some values, and the largest weight.
struct FactorRange {
  double least = 1;
  double largest = 1;
  double weight = 1;
};

FactorRange RangeOf(const AxisQueries& axis, double codes) {
  if (axis.weights.empty()) return {.least = 2, .largest = (codes - 1) * codes, .weight = codes - 1};
  int64_t largest = 1;
  for (const int32_t weight : axis.weights) largest = std::max(largest, std::abs(int64_t{weight}));
  const auto factor = static_cast<double>(axis.variance_factor);
  return {.least = factor, .largest = factor, .weight = static_cast<double>(largest)};
}

// Of a group: the products of those of its axes.
class FactorRanges {
 public:
  FactorRanges(const Domain& domain, const ProductQueries& queries) : domain_(domain), queries_(queries) {}

  FactorRange Of(const ProductGroup& group) {
    FactorRange product;
    for (size_t i = 0; i < group.axes.size(); ++i) {
      const int64_t codes = domain_.attributes()[group.attributes[i]].size();
      const auto [axis, is_new] = axes_.try_emplace({group.axes[i], codes});
      if (is_new) axis->second = RangeOf(queries_.axes[group.axes[i]], static_cast<double>(codes));
      product.least *= axis->second.least;
      product.largest *= axis->second.largest;
      product.weight *= axis->second.weight;
    }
    return product;
  }

 private:
  const Domain& domain_;
  const ProductQueries& queries_;
  std::map<std::pair<uint32_t, int64_t>, FactorRange> axes_;
};

}  // namespace

absl::StatusOr<std::optional<ResidualShape>> ResidualShapeOf(const Domain& domain, const UnitBound& unit,
                                                             std::span<const QuerySet> sets,
                                                             ErrorMeasure measure,
                                                             const std::stop_token& stop,
                                                             const ResidualLimits& limits) {
  RETURN_IF_ERROR(MarginalsSensitivity(unit, 1).status());
  if (!CanReadAll(sets)) return std::nullopt;
  const std::optional<ClosedSets> closed = ClosedSets::Create(AttributeSetsOf(sets), limits.most_sets);
  if (!closed || !FitsCells(domain, *closed, limits.most_cells)) return std::nullopt;
  const std::vector<WeightedGroup> groups = WeightedGroupsOf(domain, sets);
  ASSIGN_OR_RETURN(const std::optional<AxisChoice> choice, ChooseAxes(domain, unit, groups, *closed, stop));
  if (!choice) return std::nullopt;
  RETURN_IF_ERROR(CheckGoesOn(stop));
  ResidualShape shape{.queries = QueriesOf(*choice, *closed)};
  ASSIGN_OR_RETURN(AxisReadings readings, AxisReadings::Create(domain, shape.queries));
  ErrorForms forms(std::move(readings));
  const Planned plan{.domain = domain, .sets = sets, .closed = *closed, .forms = forms};
  std::optional<NoiseSelection> noise = SelectNoise(plan, unit, shape.queries, measure, limits);
  if (!noise) return std::nullopt;
  shape.parameters = std::move(noise->parameters);
  shape.error = noise->objective;
  shape.gap = GapOf(*choice, *closed, noise->gap);
  RETURN_IF_ERROR(CheckGoesOn(stop));
  shape.classes = ClassesOf(plan, shape.parameters);
  shape.measured_values = NumberOfValues(domain, shape.queries);
  return shape;
}

absl::StatusOr<ResidualMeasurement> MeasurementFor(const Domain& domain, const UnitBound& unit,
                                                   const ResidualShape& shape, Rho rho) {
  ResidualMeasurement measurement{.queries = shape.queries, .sigma_squared = {}};
  // Parameters are planned in doubles and rounded up; what they cost is counted in integers below.
  const double budget =
      static_cast<double>(rho.units() - 1) / static_cast<double>(kRhoUnitsPerOne) * (1 - 1e-9);
  if (budget <= 0) return absl::InvalidArgumentError("buys no noise that can be drawn");
  FactorRanges ranges(domain, shape.queries);
  for (size_t i = 0; i < shape.parameters.size(); ++i) {
    ProductGroup& group = measurement.queries.groups[i];
    const FactorRange range = ranges.Of(group);
    const double parameter = shape.parameters[i] / budget;
    double on_lattice = parameter;
    while (on_lattice * range.least < GaussianErrors::kLeastParameter &&
           2 * range.weight * static_cast<double>(group.multiplier) <=
               static_cast<double>(kLargestProductWeight)) {
      group.multiplier *= 2;
      on_lattice *= 4;
    }
    const bool can_be_drawn = on_lattice * range.least >= GaussianErrors::kLeastParameter &&
                              on_lattice * range.largest <= kLargestParameter && parameter <= kLargestRounded;
    if (!can_be_drawn)
      return absl::InvalidArgumentError(
          "buys noise that is too small or too large to be drawn for residuals");
    measurement.sigma_squared.push_back(RoundedUp(parameter));
  }
  ASSIGN_OR_RETURN(const Rho cost,
                   CostOfProducts(domain, unit, measurement.queries, measurement.sigma_squared));
  if (cost > rho) return absl::InternalError("the noise of a plan costs more than its budget");
  return measurement;
}

int64_t NumberOfValues(const Domain& domain, const ProductQueries& queries) {
  int64_t values = 0;
  for (const ProductGroup& group : queries.groups) values += NumberOfQueries(domain, queries, group);
  return values;
}

}  // namespace curator::dp
