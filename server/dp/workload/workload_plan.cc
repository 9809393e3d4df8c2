#include "dp/workload/workload_plan.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/queries/marginals.h"
#include "dp/queries/product_queries.h"
#include "dp/sensitivity/product_cost.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/residual/axis_choice.h"
#include "dp/workload/residual/parity_plan.h"

namespace curator::dp {
namespace {

// Larger budgets buy noise that is practically 0.
constexpr int64_t kMostBudgetUnits = std::numeric_limits<int64_t>::max() / 4;

std::string PathOf(size_t set) {
  return absl::StrCat("workload.query_sets[", set, "]");
}

absl::Status TooMany(std::string_view what, int64_t found, int64_t most) {
  return InvalidField("workload", absl::StrCat("asks for ", found, " ", std::string(what), "; at most ", most,
                                               " are answered in one request"));
}

bool IsWholeMarginal(const QueryGroup& group) {
  return std::holds_alternative<EveryCell>(group.queries);
}

// Attribute sets, each once. As long as they rise, as all of one size do when they are enumerated, none is
// looked for.
class SeenSets {
 public:
  // Whether it was not there. The set must outlive the object.
  bool Insert(const AttributeSet& set) {
    if (!rise_) return seen_.insert(set).second;
    if (rising_.empty() || *rising_.back() < set) {
      rising_.push_back(&set);
      return true;
    }
    rise_ = false;
    for (const AttributeSet* each : rising_) seen_.insert(*each);
    rising_.clear();
    return seen_.insert(set).second;
  }

  size_t size() const { return rise_ ? rising_.size() : seen_.size(); }

 private:
  bool rise_ = true;
  std::vector<const AttributeSet*> rising_;
  std::set<AttributeSet> seen_;
};

// Sums the sizes of the sets, set by set, up to the first exceeded limit.
class Tally {
 public:
  Tally(const Domain& domain, const PlanLimits& limits) : domain_(domain), limits_(limits) {}

  absl::Status Add(const QuerySet& set, const std::string& path) {
    if (set.groups.empty()) return InvalidField(path, "asks for nothing");
    for (const QueryGroup& group : set.groups) {
      RETURN_IF_ERROR(IsWholeMarginal(group) ? AddMarginal(group, path) : AddQueries(group, path));
      if (sets_.Insert(group.attributes)) cells_ += domain_.CellCount(group.attributes).value_or(0);
      if (cells_ > limits_.most_cells) return TooMany("cells of marginals", cells_, limits_.most_cells);
    }
    return absl::OkStatus();
  }

 private:
  absl::Status AddMarginal(const QueryGroup& group, const std::string& path) {
    const absl::Status valid = ValidateMarginals(domain_, std::span(&group.attributes, 1));
    if (!valid.ok()) return InvalidField(path + ".marginals", DescriptionOf(valid));
    if (!marginals_.Insert(group.attributes)) {
      return InvalidField(path + ".marginals",
                          absl::StrCat("repeats the marginal of ", NamesOf(domain_, group.attributes)));
    }
    if (static_cast<int64_t>(marginals_.size()) > limits_.most_marginals)
      return TooMany("marginals", static_cast<int64_t>(marginals_.size()), limits_.most_marginals);
    return absl::OkStatus();
  }

  absl::Status AddQueries(const QueryGroup& group, const std::string& path) {
    const absl::Status valid = ValidateQueries(domain_, std::span(&group, 1));
    if (!valid.ok()) return InvalidField(path, DescriptionOf(valid));
    answers_ += NumberOfQueries(domain_, group);
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries) terms_ += static_cast<int64_t>(query.size());
    }
    steps_ += domain_.CellCount(group.attributes).value_or(0);
    if (steps_ > limits_.most_steps) return TooMany("cells of counted groups", steps_, limits_.most_steps);
    if (answers_ > limits_.most_answers) return TooMany("answers", answers_, limits_.most_answers);
    if (terms_ > kMostQueryTerms) return TooMany("terms of answers", terms_, kMostQueryTerms);
    return absl::OkStatus();
  }

  static std::string DescriptionOf(const absl::Status& status) {
    const std::optional<FieldViolation> violation = FieldViolationOf(status);
    return violation ? violation->description : std::string(status.message());
  }

  const Domain& domain_;
  const PlanLimits& limits_;
  SeenSets marginals_;
  SeenSets sets_;
  int64_t cells_ = 0;
  int64_t answers_ = 0;
  int64_t terms_ = 0;
  int64_t steps_ = 0;
};

absl::Status CheckMeasured(const Domain& domain, const std::vector<QueryGroup>& measured,
                           const PlanLimits& limits) {
  int64_t values = 0;
  int64_t cells = 0;
  std::set<AttributeSet> sets;
  for (const QueryGroup& group : measured) {
    values += NumberOfQueries(domain, group);
    if (sets.insert(group.attributes).second) cells += domain.CellCount(group.attributes).value_or(0);
    if (values > limits.most_measured) return TooMany("measurements", values, limits.most_measured);
    if (cells > limits.most_cells) return TooMany("cells of marginals", cells, limits.most_cells);
  }
  return absl::OkStatus();
}

Mechanism NoiseOf(const Budget& budget) {
  return std::holds_alternative<PureBudget>(budget) ? Mechanism::kDiscreteLaplace
                                                    : Mechanism::kDiscreteGaussian;
}

Spend SpendOf(Mechanism mechanism, int64_t units) {
  if (mechanism == Mechanism::kDiscreteLaplace) return {.epsilon = Epsilon(units)};
  return {.rho = Rho(units)};
}

// None where such noise cannot be represented.
std::optional<ForecastNoise> NoiseAt(Mechanism mechanism, const WorkloadShape& shape, int64_t units) {
  if (shape.residual) {
    constexpr double kRounding = 1e-8;  // of the parameters that a budget buys
    const double units_per_one = static_cast<double>(kRhoUnitsPerOne) * (1 + kRounding);
    return GaussianErrors{.variance = units_per_one / static_cast<double>(units)};
  }
  const absl::StatusOr<NoiseSpec> noise = mechanism == Mechanism::kDiscreteLaplace
                                              ? LaplaceNoiseFor(shape.sensitivity, Epsilon(units))
                                              : GaussianNoiseFor(shape.sensitivity, Rho(units));
  return noise.ok() ? std::optional<ForecastNoise>(*noise) : std::nullopt;
}

// What of a target the search for its price looks at.
struct Goal {
  std::string_view field;
  std::function<bool(const ForecastNoise&)> is_reached = {};
};

// Of all answers of a set, in units of the noise's variance.
double MeanVariance(const ErrorClasses& classes) {
  double sum = 0;
  double answers = 0;
  for (const ErrorClass& each : classes) {
    sum += each.error.variance_factor * static_cast<double>(each.answers) - each.above;
    answers += static_cast<double>(each.answers);
  }
  return sum / answers;
}

// The weighted mean over the sets of their mean variances.
double WeightedMeanVariance(std::span<const QuerySet> sets, std::span<const ErrorClasses> classes) {
  double variance = 0;
  double weights = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    variance += sets[i].weight * MeanVariance(classes[i]);
    weights += sets[i].weight;
  }
  return variance / weights;
}

Goal GoalOf(const Target& target, std::span<const QuerySet> sets, std::span<const ErrorClasses> classes) {
  if (target.rmse) {
    const ErrorClasses one = {{{.variance_factor = WeightedMeanVariance(sets, classes), .terms = 0}, 1}};
    return {"target.rmse", [one, most = *target.rmse](const ForecastNoise& noise) {
              return MeanDeviation(noise, one) <= most;
            }};
  }
  return {"target.max_error", [all = OfAllSets(classes), target](const ForecastNoise& noise) {
            return !ExceedsTail(noise, all, target.max_error, 1 - target.confidence);
          }};
}

ErrorMeasure ObjectiveFor(const Target& target) {
  return target.rmse ? ErrorMeasure::kMean : ErrorMeasure::kLargest;
}

// The smallest number of units that reaches the goal, among those whose noise can be represented.
absl::StatusOr<int64_t> LeastUnits(Mechanism mechanism, const WorkloadShape& shape, const Goal& goal,
                                   const std::stop_token& stop) {
  const auto reaches = [&](int64_t units) {
    const std::optional<ForecastNoise> noise = NoiseAt(mechanism, shape, units);
    return noise && goal.is_reached(*noise);
  };
  int64_t high = kEpsilonUnitsPerOne / 1'000'000;
  while (high < kMostBudgetUnits && !reaches(high)) {
    RETURN_IF_ERROR(CheckGoesOn(stop));
    high *= 2;
  }
  if (high >= kMostBudgetUnits) {
    return InvalidField(goal.field,
                        "is smaller than any budget can reach; ask fewer queries or allow a larger error");
  }
  // A few budgets in between may fail only because their noise cannot be represented exactly: then the result
  // still reaches the goal and is the smallest locally.
  int64_t low = 0;
  while (high - low > 1) {
    RETURN_IF_ERROR(CheckGoesOn(stop));
    const int64_t middle = low + (high - low) / 2;
    (reaches(middle) ? high : low) = middle;
  }
  return high;
}

absl::Status CheckRecords(double error, std::string_view field) {
  if (error >= 0 && error <= 0x1p50) return absl::OkStatus();
  return InvalidField(field, "must be a number of records, at least 0");
}

absl::Status CheckTarget(const Target& target, std::span<const QuerySet> sets) {
  if (target.rmse) return CheckRecords(*target.rmse, "target.rmse");
  RETURN_IF_ERROR(CheckRecords(target.max_error, "target.max_error"));
  if (!(target.confidence > 0 && target.confidence < 1))
    return InvalidField("target.confidence", "must lie strictly between 0 and 1, e.g. 0.95");
  for (size_t i = 0; i < sets.size(); ++i) {
    if (sets[i].weight != 1) {
      return InvalidField(PathOf(i) + ".weight",
                          "does not count beside target.max_error, which holds for all answers alike: leave "
                          "it out, or give a target.rmse or a spend");
    }
  }
  return absl::OkStatus();
}

// Of a set that names such a strategy.
struct NamedJointly {
  Strategy strategy = Strategy::kAuto;
  std::string path;  // of its strategy
};
std::optional<NamedJointly> FirstNamedJointly(std::span<const QuerySet> sets) {
  for (size_t i = 0; i < sets.size(); ++i) {
    if (IsJoint(sets[i].strategy))
      return NamedJointly{.strategy = sets[i].strategy, .path = PathOf(i) + ".strategy"};
  }
  return std::nullopt;
}

// The noise that it has.
Mechanism MechanismOf(Strategy joint) {
  return joint == Strategy::kResidual ? Mechanism::kDiscreteGaussian : Mechanism::kDiscreteLaplace;
}

// The kinds of noise that the rule counts in a budget of one number, and that all sets can have.
std::vector<Mechanism> MechanismsOf(const RuleSpec& rule, std::optional<Mechanism> wanted,
                                    std::span<const QuerySet> sets) {
  std::vector<Mechanism> all = {Mechanism::kDiscreteLaplace};
  if (rule.kind == RuleKind::kZcdp || rule.kind == RuleKind::kRdp)
    all.push_back(Mechanism::kDiscreteGaussian);
  if (wanted) std::erase_if(all, [&](Mechanism each) { return each != *wanted; });
  if (const std::optional<NamedJointly> named = FirstNamedJointly(sets))
    std::erase_if(all, [&](Mechanism each) { return each != MechanismOf(named->strategy); });
  return all;
}

ErrorClasses ClassesOfSet(const Domain& domain, const WorkloadShape& shape, size_t position,
                          MeasuredErrors& measured) {
  ErrorClasses all;
  const SetPlan& plan = shape.joint.plans[position];
  for (size_t i = 0; i < plan.sources.size(); ++i) {
    const QueryGroup& group = shape.asked[position].groups[i];
    const std::vector<AnswerError> errors = measured.Of(group, plan, plan.sources[i]);
    if (errors.size() == 1) {
      all.push_back({errors.front(), NumberOfQueries(domain, group)});
      continue;
    }
    const ErrorClasses of_group = Classified(errors);
    all.insert(all.end(), of_group.begin(), of_group.end());
  }
  return Merged(all);
}

// ---- Of all sets together

// What is asked, and of whom.
struct Asked {
  const Domain& domain;
  const UnitBound& unit;
  const RuleSpec& rule;
  const std::vector<QuerySet>& sets;
  const PlanOptions& options;
};

absl::Status CannotMeasure(const NamedJointly& named) {
  if (named.strategy == Strategy::kParity) {
    return InvalidField(
        named.path,
        absl::StrCat("parities measure all sets of a request or none, with Laplace noise (a spend of "
                     "epsilon alone): whole marginals over at most ",
                     kMostProductAxes, " attributes of 2 codes each, with at most ", kMostResidualSets,
                     " sets of attributes and subsets of them in all; leave the strategy out"));
  }
  return InvalidField(
      named.path,
      absl::StrCat(
          "residuals measure all sets of a request or none, with Gaussian noise (a spend of rho, or of "
          "epsilon and delta): marginals, ranges, prefixes, and predicates over one attribute or that "
          "are intervals of each, over attributes of 2 codes or more, and of at most ",
          kMostChosenCodes,
          " and three such attributes at once where more than single codes are asked; leave the "
          "strategy out"));
}

int64_t AnswersOf(const Domain& domain, std::span<const QuerySet> sets) {
  int64_t answers = 0;
  for (const QuerySet& set : sets) {
    for (const QueryGroup& group : set.groups) answers += NumberOfQueries(domain, group);
  }
  return answers;
}

// The sensitivities of what the shape measures, and its number of values.
absl::Status AddSensitivities(const Domain& domain, const UnitBound& unit, const PlanLimits& limits,
                              const std::stop_token& stop, WorkloadShape& shape) {
  RETURN_IF_ERROR(CheckGoesOn(stop));
  RETURN_IF_ERROR(CheckMeasured(domain, shape.joint.measured, limits));
  ASSIGN_OR_RETURN(shape.sensitivity, MeasuredSensitivity(domain, unit, shape.joint.measured));
  RETURN_IF_ERROR(CheckGoesOn(stop));
  shape.removal = shape.sensitivity;
  if (unit.relation != NeighbourRelation::kAddRemove) {
    const UnitBound leaving{.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records};
    ASSIGN_OR_RETURN(shape.removal, MeasuredSensitivity(domain, leaving, shape.joint.measured));
  }
  for (const QueryGroup& group : shape.joint.measured)
    shape.measured_values += NumberOfQueries(domain, group);
  return absl::OkStatus();
}

// None where the sets cannot be measured so.
absl::StatusOr<std::optional<WorkloadShape>> ShapeByResiduals(const Asked& asked, ErrorMeasure measure) {
  ASSIGN_OR_RETURN(std::optional<ResidualShape> residual,
                   ResidualShapeOf(asked.domain, asked.unit, asked.sets, measure, asked.options.stop));
  if (!residual) return std::nullopt;
  Measurement measurement;
  measurement.plan.strategy = Strategy::kResidual;
  WorkloadShape shape;
  shape.measurements.assign(asked.sets.size(), measurement);
  shape.joint.plans.assign(asked.sets.size(), measurement.plan);
  shape.measured_values = residual->measured_values;
  shape.residual = std::move(residual);
  return shape;
}

absl::StatusOr<std::optional<WorkloadShape>> ShapeByParities(const Asked& asked, ErrorMeasure measure) {
  ASSIGN_OR_RETURN(std::optional<JointMeasurement> joint,
                   ParitiesFor(asked.domain, asked.unit, asked.sets, measure, asked.options.stop));
  if (!joint) return std::nullopt;
  Measurement measurement;
  measurement.plan.strategy = Strategy::kParity;
  WorkloadShape shape;
  shape.measurements.assign(asked.sets.size(), measurement);
  shape.joint = *std::move(joint);
  RETURN_IF_ERROR(AddSensitivities(asked.domain, asked.unit, {}, asked.options.stop, shape));
  return shape;
}

absl::StatusOr<std::optional<WorkloadShape>> JointShape(const Asked& asked, Strategy strategy,
                                                        ErrorMeasure measure) {
  RETURN_IF_ERROR(MarginalsSensitivity(asked.unit, 1).status());
  RETURN_IF_ERROR(ValidateSets(asked.domain, asked.sets));
  ASSIGN_OR_RETURN(std::optional<WorkloadShape> shape, strategy == Strategy::kResidual
                                                           ? ShapeByResiduals(asked, measure)
                                                           : ShapeByParities(asked, measure));
  if (!shape) return std::nullopt;
  shape->answers = AnswersOf(asked.domain, asked.sets);
  shape->asked = asked.sets;
  if (strategy == Strategy::kParity) shape->classes = ErrorClassesOf(asked.domain, *shape);
  return shape;
}

// ---- The choice

// A single marginal is as good measured itself, and in whole numbers.
bool MayChooseJointly(const Asked& asked) {
  if (!asked.options.may_choose_joint_strategies) return false;
  const std::vector<QuerySet>& sets = asked.sets;
  if (sets.size() == 1 && sets[0].groups.size() == 1 && IsWholeMarginal(sets[0].groups[0])) return false;
  return std::ranges::all_of(sets, [](const QuerySet& set) { return set.strategy == Strategy::kAuto; });
}

// Of so many marginals no others are planned that are known to be worse: to plan them twice would take long.
constexpr size_t kManyMarginals = 1000;

// How many there are; none where anything else is asked.
size_t NumberOfMarginals(std::span<const QuerySet> sets) {
  size_t marginals = 0;
  for (const QuerySet& set : sets) {
    if (!std::ranges::all_of(set.groups, IsWholeMarginal)) return 0;
    marginals += set.groups.size();
  }
  return marginals;
}

// Whether residuals have the least sum of variances that unbiased answers can have at a given rho: of
// marginals, when records enter or leave.
bool AreBestByResiduals(const Asked& asked, ErrorMeasure objective) {
  return asked.rule.kind == RuleKind::kZcdp && asked.unit.relation == NeighbourRelation::kAddRemove &&
         objective == ErrorMeasure::kMean;
}

// Of answers by parities, in units of the variance of one measured value.
double ObjectiveOfParities(const WorkloadShape& shape, ErrorMeasure objective) {
  double mean = 0;
  double largest = 0;
  for (size_t i = 0; i < shape.classes.size(); ++i) {
    const double weight = shape.asked[i].weight;
    mean += weight * MeanVariance(shape.classes[i]);
    for (const ErrorClass& each : shape.classes[i])
      largest = std::max(largest, weight * each.error.variance_factor);
  }
  return objective == ErrorMeasure::kMean ? mean : largest;
}

// Whether the marginals measured by themselves, each with a variance factor of 1, are worse at any budget but
// those whose noise is almost always 0.
bool AreBetterByParities(const Asked& asked, const WorkloadShape& parities, ErrorMeasure objective) {
  double direct = 0;
  for (const QuerySet& set : asked.sets)
    direct = objective == ErrorMeasure::kMean ? direct + set.weight : std::max(direct, set.weight);
  const auto marginals = static_cast<int64_t>(NumberOfMarginals(asked.sets));
  const absl::StatusOr<Sensitivity> by_themselves = MarginalsSensitivity(asked.unit, marginals);
  if (!by_themselves.ok()) return true;  // more than can be counted
  const double ratio = static_cast<double>(parities.sensitivity.l1) / static_cast<double>(by_themselves->l1);
  return ratio * ratio * ObjectiveOfParities(parities, objective) < direct;
}

bool IsKnownToBeBest(const Asked& asked, const WorkloadShape& joint, ErrorMeasure objective) {
  if (NumberOfMarginals(asked.sets) < kManyMarginals) return false;
  return joint.residual ? AreBestByResiduals(asked, objective) : AreBetterByParities(asked, joint, objective);
}

// The shape of sets of which one names its strategy.
absl::StatusOr<WorkloadShape> NamedShape(const Asked& asked, const NamedJointly& named, Mechanism mechanism,
                                         ErrorMeasure objective) {
  const bool may_be = std::ranges::all_of(asked.sets, [&](const QuerySet& set) {
    return set.strategy == named.strategy || set.strategy == Strategy::kAuto;
  });
  if (!may_be || mechanism != MechanismOf(named.strategy)) return CannotMeasure(named);
  ASSIGN_OR_RETURN(std::optional<WorkloadShape> shape, JointShape(asked, named.strategy, objective));
  if (!shape) return CannotMeasure(named);
  return *std::move(shape);
}

// Other rules count Laplace noise by the largest move of one value, too, which is larger for parities: they
// cost more there than measurements of the same epsilon.
bool IsCountedInEpsilon(const RuleSpec& rule) {
  return rule.kind == RuleKind::kPure || rule.kind == RuleKind::kAdvanced;
}

// The shapes that a plan chooses from: the first is taken where the next is no better. A request that can be
// measured in one way alone has one shape.
absl::StatusOr<std::vector<WorkloadShape>> ShapesFor(const Asked& asked, Mechanism mechanism,
                                                     ErrorMeasure objective) {
  std::vector<WorkloadShape> shapes;
  if (const std::optional<NamedJointly> named = FirstNamedJointly(asked.sets)) {
    ASSIGN_OR_RETURN(shapes.emplace_back(), NamedShape(asked, *named, mechanism, objective));
    return shapes;
  }
  const bool is_gaussian = mechanism == Mechanism::kDiscreteGaussian;
  if (MayChooseJointly(asked) && (is_gaussian || IsCountedInEpsilon(asked.rule))) {
    absl::StatusOr<std::optional<WorkloadShape>> joint =
        JointShape(asked, is_gaussian ? Strategy::kResidual : Strategy::kParity, objective);
    if (absl::IsCancelled(joint.status())) return joint.status();
    const bool is_possible = joint.ok() && joint->has_value();
    if (is_possible) shapes.push_back(**std::move(joint));
    if (is_possible && IsKnownToBeBest(asked, shapes.front(), objective)) return shapes;
  }
  absl::StatusOr<WorkloadShape> direct =
      ShapeOf(asked.domain, asked.unit, mechanism, objective, asked.sets, {}, asked.options.stop);
  const bool is_last_resort = shapes.empty() || absl::IsCancelled(direct.status());
  if (!direct.ok() && is_last_resort) return direct.status();
  if (direct.ok()) shapes.insert(shapes.begin(), *std::move(direct));
  return shapes;
}

// In records^2.
double ForecastObjective(const Domain& domain, const WorkloadShape& shape, const NoisePurchase& bought,
                         ErrorMeasure objective) {
  const ForecastNoise noise = ForecastNoiseOf(shape, bought);
  if (shape.residual) return shape.residual->error * std::get<GaussianErrors>(noise).variance;
  const double deviation = ForecastError(bought.noise).standard_deviation;
  const double factor = AreByParity(shape.joint.plans)
                            ? ObjectiveOfParities(shape, objective)
                            : ObjectiveOf(domain, shape.asked, shape.measurements, objective);
  return factor * deviation * deviation;
}

absl::StatusOr<WorkloadPlan> CheapestWith(const Asked& asked, WorkloadShape shape, const Target& target,
                                          Mechanism mechanism) {
  std::vector<ErrorClasses> classes = ErrorClassesOf(asked.domain, shape);
  ASSIGN_OR_RETURN(const int64_t units,
                   LeastUnits(mechanism, shape, GoalOf(target, shape.asked, classes), asked.options.stop));
  const Spend spend = SpendOf(mechanism, units);
  ASSIGN_OR_RETURN(CountsPurchase purchase,
                   BuyCounts(asked.domain, asked.unit, asked.rule, spend, shape, mechanism));
  return WorkloadPlan{.shape = std::move(shape),
                      .spend = spend,
                      .bought = std::move(purchase.bought),
                      .residual = std::move(purchase.residual),
                      .classes = std::move(classes)};
}

}  // namespace

absl::Status ValidateSets(const Domain& domain, std::span<const QuerySet> sets, const PlanLimits& limits) {
  if (sets.empty()) return InvalidField("workload", "asks for nothing");
  const auto count = static_cast<int64_t>(sets.size());
  if (count > limits.most_sets) return TooMany("query sets", count, limits.most_sets);
  Tally tally(domain, limits);
  for (size_t i = 0; i < sets.size(); ++i) RETURN_IF_ERROR(tally.Add(sets[i], PathOf(i)));
  return absl::OkStatus();
}

absl::StatusOr<WorkloadShape> ShapeOf(const Domain& domain, const UnitBound& unit, Mechanism mechanism,
                                      ErrorMeasure measure, std::vector<QuerySet> sets,
                                      const PlanLimits& limits, const std::stop_token& stop) {
  RETURN_IF_ERROR(MarginalsSensitivity(unit, 1).status());
  RETURN_IF_ERROR(ValidateSets(domain, sets, limits));
  WorkloadShape shape;
  ASSIGN_OR_RETURN(shape.measurements, ChooseMeasurements(domain, unit, mechanism, sets, measure, stop));
  shape.joint = Join(shape.measurements);
  RETURN_IF_ERROR(AddSensitivities(domain, unit, limits, stop, shape));
  shape.answers = AnswersOf(domain, sets);
  shape.asked = std::move(sets);
  return shape;
}

absl::StatusOr<CountsPurchase> BuyCounts(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                         const Spend& spend, const WorkloadShape& shape,
                                         std::optional<Mechanism> mechanism) {
  if (!shape.residual) {
    ASSIGN_OR_RETURN(NoisePurchase bought,
                     BuyNoise(rule, spend, shape.sensitivity, shape.removal, mechanism));
    return CountsPurchase{.bought = std::move(bought), .residual = std::nullopt};
  }
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  const auto* zcdp = std::get_if<ZcdpBudget>(&budget);
  if (zcdp == nullptr) return InvalidField("spend", "buys Laplace noise, which residuals do not have");
  if (mechanism) RETURN_IF_ERROR(CheckBuys(Mechanism::kDiscreteGaussian, *mechanism));
  absl::StatusOr<ResidualMeasurement> measurement = MeasurementFor(domain, unit, *shape.residual, zcdp->rho);
  if (absl::IsInvalidArgument(measurement.status()))
    return InvalidField("spend", std::string(measurement.status().message()));
  RETURN_IF_ERROR(measurement.status());
  const UnitBound leaving{.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records};
  ASSIGN_OR_RETURN(const Rho removal,
                   CostOfProducts(domain, leaving, measurement->queries, measurement->sigma_squared));
  std::vector<CountedEvent> draws = {{.event = {ZcdpEvent{zcdp->rho}}, .count = 1}};
  ASSIGN_OR_RETURN(Event event, ChargeFor(rule, budget, draws, std::nullopt));
  NoisePurchase bought{.noise = {.mechanism = Mechanism::kDiscreteGaussian, .parameter = {}},
                       .draws = draws,
                       .event = std::move(event)};
  bought.linear = LinearDraws{.draws = std::move(draws), .removals = {{{ZcdpEvent{removal}}, 1}}};
  return CountsPurchase{.bought = std::move(bought), .residual = *std::move(measurement)};
}

ForecastNoise ForecastNoiseOf(const WorkloadShape& shape, const NoisePurchase& bought) {
  if (!shape.residual) return bought.noise;
  const Rho rho = std::get<ZcdpEvent>(bought.draws.front().event.what).rho;
  return GaussianErrors{.variance = static_cast<double>(kRhoUnitsPerOne) / static_cast<double>(rho.units())};
}

absl::StatusOr<WorkloadPlan> PlanWorkload(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                          const std::vector<QuerySet>& sets, const Spend& spend,
                                          std::optional<Mechanism> mechanism, const PlanOptions& options) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  const Asked asked{.domain = domain, .unit = unit, .rule = rule, .sets = sets, .options = options};
  ASSIGN_OR_RETURN(std::vector<WorkloadShape> shapes, ShapesFor(asked, NoiseOf(budget), options.objective));
  std::optional<WorkloadPlan> best;
  double least = 0;
  absl::Status refused;
  for (WorkloadShape& shape : shapes) {
    absl::StatusOr<CountsPurchase> purchase = BuyCounts(domain, unit, rule, spend, shape, mechanism);
    if (!purchase.ok()) {
      refused.Update(purchase.status());
      continue;
    }
    const double error = ForecastObjective(domain, shape, purchase->bought, options.objective);
    constexpr double kRounding = 1e-6;
    if (best && error >= least * (1 - kRounding)) continue;
    least = error;
    best = WorkloadPlan{.shape = std::move(shape),
                        .spend = spend,
                        .bought = std::move(purchase->bought),
                        .residual = std::move(purchase->residual)};
  }
  if (best) return *std::move(best);
  if (!MayChooseJointly(asked)) return refused;
  PlanOptions each_by_itself = options;
  each_by_itself.may_choose_joint_strategies = false;
  return PlanWorkload(domain, unit, rule, sets, spend, mechanism, each_by_itself);
}

namespace {

// Of a budget that is divided evenly; rounded down, so that the shares add up to it at most. RDP counts the
// rho of each draw times its order, which is above 1, and rounds that up; a selection by groups is two such
// draws. Two units less for each draw make up for it.
std::variant<Epsilon, Rho> ShareOf(const RuleSpec& rule, const Budget& budget,
                                   std::span<const StatisticsDraw> draws) {
  const int64_t shares = SharesOf(draws);
  if (const auto* pure = std::get_if<PureBudget>(&budget)) return Epsilon(pure->epsilon.units() / shares);
  const int64_t rounded_up = rule.kind == RuleKind::kRdp ? 2 * static_cast<int64_t>(draws.size()) : 0;
  return Rho(std::max<int64_t>(0, std::get<ZcdpBudget>(budget).rho.units() - rounded_up) / shares);
}

}  // namespace

absl::StatusOr<DrawsPurchase> BuyDraws(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                       std::span<const AskedStatistics> sets,
                                       std::span<const StatisticsDraw> draws, const Spend& spend) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  ASSIGN_OR_RETURN(StatisticsPurchase bought,
                   BuyStatistics(domain, unit, sets, draws, ShareOf(rule, budget, draws)));
  ASSIGN_OR_RETURN(Event event, ChargeFor(rule, budget, bought.draws, std::nullopt));
  NoisePurchase purchase{
      .noise = {.mechanism = NoiseOf(budget)}, .draws = bought.draws, .event = std::move(event)};
  if (bought.is_linear)
    purchase.linear = LinearDraws{.draws = std::move(bought.draws), .removals = std::move(bought.removals)};
  return DrawsPurchase{std::move(purchase), std::move(bought.bought)};
}

absl::StatusOr<WorkloadPlan> PlanStatistics(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                            std::span<const AskedStatistics> sets, const Spend& spend,
                                            std::optional<Mechanism> mechanism) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(rule, spend));
  if (mechanism) RETURN_IF_ERROR(CheckBuys(NoiseOf(budget), *mechanism));
  absl::StatusOr<std::vector<StatisticsDraw>> draws = DrawsFor(domain, unit, NoiseOf(budget), sets);
  if (!draws.ok()) return WithinField("workload.query_sets", draws.status());
  ASSIGN_OR_RETURN(DrawsPurchase purchase, BuyDraws(domain, unit, rule, sets, *draws, spend));
  return WorkloadPlan{.shape = {},
                      .spend = spend,
                      .bought = std::move(purchase.bought),
                      .classes = {},
                      .statistics = *std::move(draws),
                      .bought_draws = std::move(purchase.draws)};
}

absl::StatusOr<WorkloadPlan> PlanForTarget(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                           const std::vector<QuerySet>& sets, const Target& target,
                                           std::optional<Mechanism> mechanism, const PlanOptions& options) {
  RETURN_IF_ERROR(CheckTarget(target, sets));
  const Asked asked{.domain = domain, .unit = unit, .rule = rule, .sets = sets, .options = options};
  std::optional<WorkloadPlan> cheapest;
  int64_t least_cost = 0;
  absl::Status refused;
  for (const Mechanism each : MechanismsOf(rule, mechanism, sets)) {
    ASSIGN_OR_RETURN(std::vector<WorkloadShape> shapes, ShapesFor(asked, each, ObjectiveFor(target)));
    for (WorkloadShape& shape : shapes) {
      absl::StatusOr<WorkloadPlan> plan = CheapestWith(asked, std::move(shape), target, each);
      if (absl::IsCancelled(plan.status())) return plan.status();
      refused.Update(plan.status());
      if (!plan.ok()) continue;
      ASSIGN_OR_RETURN(const std::vector<CounterAmount> cost, CostOf(rule, plan->bought.event));
      if (cheapest && cost.front().amount >= least_cost) continue;
      least_cost = cost.front().amount;
      cheapest = *std::move(plan);
    }
  }
  if (cheapest) return *std::move(cheapest);
  if (!refused.ok()) return refused;
  if (const std::optional<NamedJointly> named = FirstNamedJointly(sets)) return CannotMeasure(*named);
  return InvalidField("mechanism",
                      absl::StrCat("the rule ", std::string(RuleName(rule.kind)), " has no budget for ",
                                   std::string(MechanismName(*mechanism)), " noise alone"));
}

std::vector<ErrorClasses> ErrorClassesOf(const Domain& domain, const WorkloadShape& shape) {
  if (shape.residual) return shape.residual->classes;
  if (!shape.classes.empty()) return shape.classes;
  std::vector<ErrorClasses> sets;
  MeasuredErrors measured(domain, shape.joint.measured);
  for (size_t position = 0; position < shape.asked.size(); ++position)
    sets.push_back(ClassesOfSet(domain, shape, position, measured));
  return sets;
}

ErrorClasses OfAllSets(std::span<const ErrorClasses> sets) {
  ErrorClasses all;
  for (const ErrorClasses& of_set : sets) all.insert(all.end(), of_set.begin(), of_set.end());
  return Merged(all);
}

}  // namespace curator::dp
