#include "dp/workload/strategy_choice.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <tuple>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

constexpr int kMostPasses = 4;
constexpr size_t kMostSampledAnswers = size_t{1} << 14;

// A measurement that several sets may share: a whole marginal, or a tree.
using Shared = std::tuple<AttributeSet, int64_t>;
std::optional<Shared> SharedKey(const SetPlan& plan, const QueryGroup& group) {
  if (std::holds_alternative<EveryCell>(group.queries)) return Shared{group.attributes, 0};
  if (plan.strategy == Strategy::kTree) return Shared{group.attributes, plan.branching};
  return std::nullopt;
}

// The figures of one measurement of one set.
struct CandidatePlan {
  const Measurement* measurement = nullptr;
  double error = 0;            // in units of the noise's variance, times the set's weight
  double own_sensitivity = 0;  // L1 or squared L2, of measurements that no other set can share
  std::vector<std::pair<Shared, double>> shared;  // and of those that others can
};

double Norm(Mechanism mechanism, const Sensitivity& sensitivity) {
  return static_cast<double>(mechanism == Mechanism::kDiscreteLaplace ? sensitivity.l1
                                                                      : sensitivity.l2_squared);
}

// The noise's variance at equal cost, up to a factor.
double Spread(Mechanism mechanism, double norm) {
  return mechanism == Mechanism::kDiscreteLaplace ? norm * norm : norm;
}

// The error of a set by `measure`, from an evenly spaced sample of its answers where there are many.
double ErrorOfSet(const Domain& domain, const QuerySet& set, const Measurement& measurement,
                  ErrorMeasure measure) {
  double sum = 0;
  double largest = 0;
  double answers = 0;
  for (size_t i = 0; i < set.groups.size(); ++i) {
    const QueryGroup& source = measurement.measured[measurement.plan.sources[i]];
    QueryGroup some = set.groups[i];
    if (auto* boxes = std::get_if<Boxes>(&some.queries)) {
      const size_t sides = some.attributes.size();
      const size_t step = 1 + boxes->sides.size() / sides / kMostSampledAnswers;
      std::vector<CodeInterval> kept;
      for (size_t at = 0; at < boxes->sides.size(); at += step * sides)
        kept.insert(kept.end(), boxes->sides.begin() + static_cast<std::ptrdiff_t>(at),
                    boxes->sides.begin() + static_cast<std::ptrdiff_t>(at + sides));
      boxes->sides = std::move(kept);
    }
    const std::vector<AnswerError> errors = ErrorsOf(domain, some, measurement.plan, source);
    const double each =
        static_cast<double>(NumberOfQueries(domain, set.groups[i])) / static_cast<double>(errors.size());
    for (const AnswerError& error : errors) {
      sum += each * error.variance_factor;
      largest = std::max(largest, error.variance_factor);
    }
    answers += each * static_cast<double>(errors.size());
  }
  return measure == ErrorMeasure::kLargest ? largest : sum / answers;
}

// `shared_norms` has those that were computed before: sets that share a tree share its sensitivity.
absl::StatusOr<CandidatePlan> CandidatePlanOf(const Domain& domain, const UnitBound& unit,
                                              Mechanism mechanism, const QuerySet& set,
                                              const Measurement& measurement, ErrorMeasure measure,
                                              std::map<Shared, double>& shared_norms) {
  CandidatePlan plan{.measurement = &measurement,
                     .error = set.weight * ErrorOfSet(domain, set, measurement, measure),
                     .own_sensitivity = 0,
                     .shared = {}};
  std::vector<QueryGroup> own;
  for (const QueryGroup& group : measurement.measured) {
    const std::optional<Shared> key = SharedKey(measurement.plan, group);
    if (!key) {
      own.push_back(group);
      continue;
    }
    if (!shared_norms.contains(*key)) {
      ASSIGN_OR_RETURN(const Sensitivity alone, MeasuredSensitivity(domain, unit, std::span(&group, 1)));
      shared_norms[*key] = Norm(mechanism, alone);
    }
    plan.shared.emplace_back(*key, shared_norms[*key]);
  }
  if (own.empty()) return plan;
  ASSIGN_OR_RETURN(const Sensitivity together, MeasuredSensitivity(domain, unit, own));
  plan.own_sensitivity = Norm(mechanism, together);
  return plan;
}

// The current plan of each set, and the score of all of them together.
class Choice {
 public:
  Choice(Mechanism mechanism, ErrorMeasure measure) : mechanism_(mechanism), measure_(measure) {}

  void Add(const CandidatePlan& plan, double sign) {
    sensitivity_ += sign * plan.own_sensitivity;
    error_ += sign * plan.error;
    for (const auto& [key, norm] : plan.shared) {
      int& users = users_[key];
      const bool was_used = users > 0;
      users += sign > 0 ? 1 : -1;
      if (was_used != (users > 0)) sensitivity_ += sign * norm;
    }
    if (sign > 0) {
      errors_.insert(plan.error);
    } else {
      errors_.erase(errors_.find(plan.error));
    }
  }

  double Score() const {
    const double error = measure_ == ErrorMeasure::kLargest ? *errors_.rbegin() : error_;
    return Spread(mechanism_, sensitivity_) * error;
  }

 private:
  Mechanism mechanism_;
  ErrorMeasure measure_;
  double sensitivity_ = 0;
  double error_ = 0;
  std::multiset<double> errors_;
  std::map<Shared, int> users_;
};

double ScoreAlone(Mechanism mechanism, const CandidatePlan& plan) {
  double norm = plan.own_sensitivity;
  for (const auto& [key, part] : plan.shared) norm += part;
  return Spread(mechanism, norm) * plan.error;
}

// For each set the position of its plan, chosen by local search.
std::vector<size_t> BestTogether(Mechanism mechanism, ErrorMeasure measure,
                                 const std::vector<std::vector<CandidatePlan>>& plans) {
  std::vector<size_t> chosen;
  Choice choice(mechanism, measure);
  for (const std::vector<CandidatePlan>& of_set : plans) {
    const auto best = std::ranges::min_element(
        of_set, {}, [&](const CandidatePlan& plan) { return ScoreAlone(mechanism, plan); });
    chosen.push_back(static_cast<size_t>(best - of_set.begin()));
    choice.Add(*best, 1);
  }
  for (int pass = 0; pass < kMostPasses; ++pass) {
    bool is_better = false;
    for (size_t i = 0; i < plans.size(); ++i) {
      double least = choice.Score() * (1 - 1e-9);
      size_t best = chosen[i];
      choice.Add(plans[i][chosen[i]], -1);
      for (size_t other = 0; other < plans[i].size(); ++other) {
        choice.Add(plans[i][other], 1);
        if (choice.Score() < least) {
          least = choice.Score();
          best = other;
        }
        choice.Add(plans[i][other], -1);
      }
      is_better = is_better || best != chosen[i];
      chosen[i] = best;
      choice.Add(plans[i][best], 1);
    }
    if (!is_better) break;
  }
  return chosen;
}

// The score of the chosen plans by their exact sensitivity.
absl::StatusOr<double> ExactScore(const Domain& domain, const UnitBound& unit, Mechanism mechanism,
                                  ErrorMeasure measure, const std::vector<std::vector<CandidatePlan>>& plans,
                                  const std::vector<size_t>& chosen) {
  std::vector<Measurement> measurements;
  double sum = 0;
  double largest = 0;
  for (size_t i = 0; i < plans.size(); ++i) {
    const CandidatePlan& plan = plans[i][chosen[i]];
    measurements.push_back(*plan.measurement);
    sum += plan.error;
    largest = std::max(largest, plan.error);
  }
  ASSIGN_OR_RETURN(const Sensitivity sensitivity,
                   MeasuredSensitivity(domain, unit, Join(measurements).measured));
  return Spread(mechanism, Norm(mechanism, sensitivity)) *
         (measure == ErrorMeasure::kLargest ? largest : sum);
}

}  // namespace

absl::StatusOr<std::vector<Measurement>> ChooseMeasurements(const Domain& domain, const UnitBound& unit,
                                                            Mechanism mechanism,
                                                            std::span<const QuerySet> sets,
                                                            ErrorMeasure measure,
                                                            const std::stop_token& stop) {
  std::vector<std::vector<Measurement>> measurements;
  bool has_choice = false;
  int64_t tree_bins = kMostTreeBins;
  for (size_t i = 0; i < sets.size(); ++i) {
    RETURN_IF_ERROR(CheckGoesOn(stop));
    auto of_set = MeasurementsFor(domain, sets[i], tree_bins);
    if (!of_set.ok())
      return InvalidField(absl::StrCat("workload.query_sets[", i, "].strategy"),
                          std::string(of_set.status().message()));
    has_choice = has_choice || of_set->size() > 1;
    tree_bins -= TreeBinsOf(domain, *of_set);
    measurements.push_back(*std::move(of_set));
  }
  std::vector<size_t> chosen(sets.size(), 0);
  if (has_choice) {
    std::vector<std::vector<CandidatePlan>> plans(sets.size());
    std::map<Shared, double> shared_norms;
    for (size_t i = 0; i < sets.size(); ++i) {
      for (const Measurement& measurement : measurements[i]) {
        RETURN_IF_ERROR(CheckGoesOn(stop));
        ASSIGN_OR_RETURN(CandidatePlan plan, CandidatePlanOf(domain, unit, mechanism, sets[i], measurement,
                                                             measure, shared_norms));
        plans[i].push_back(std::move(plan));
      }
    }
    const std::vector<size_t> together = BestTogether(mechanism, measure, plans);
    ASSIGN_OR_RETURN(const double score, ExactScore(domain, unit, mechanism, measure, plans, together));
    ASSIGN_OR_RETURN(const double direct, ExactScore(domain, unit, mechanism, measure, plans, chosen));
    if (score < direct) chosen = together;
  }
  std::vector<Measurement> result;
  for (size_t i = 0; i < sets.size(); ++i) result.push_back(std::move(measurements[i][chosen[i]]));
  return result;
}

double ObjectiveOf(const Domain& domain, std::span<const QuerySet> sets,
                   std::span<const Measurement> measurements, ErrorMeasure measure) {
  double objective = 0;
  for (size_t i = 0; i < sets.size(); ++i) {
    const double of_set = sets[i].weight * ErrorOfSet(domain, sets[i], measurements[i], measure);
    objective = measure == ErrorMeasure::kMean ? objective + of_set : std::max(objective, of_set);
  }
  return objective;
}

JointMeasurement Join(std::span<const Measurement> measurements) {
  JointMeasurement joint;
  std::map<Shared, size_t> found;
  for (const Measurement& measurement : measurements) {
    std::vector<size_t> places;
    for (const QueryGroup& group : measurement.measured) {
      size_t place = joint.measured.size();
      if (const std::optional<Shared> key = SharedKey(measurement.plan, group))
        place = found.try_emplace(*key, place).first->second;
      if (place == joint.measured.size()) joint.measured.push_back(group);
      places.push_back(place);
    }
    joint.plans.push_back(measurement.plan);
    for (size_t& source : joint.plans.back().sources) source = places[source];
  }
  return joint;
}

absl::StatusOr<Sensitivity> MeasuredSensitivity(const Domain& domain, const UnitBound& unit,
                                                std::span<const QueryGroup> measured) {
  const bool are_marginals = std::ranges::all_of(
      measured, [](const QueryGroup& group) { return std::holds_alternative<EveryCell>(group.queries); });
  if (are_marginals) return MarginalsSensitivity(unit, static_cast<int64_t>(measured.size()));
  return QueriesSensitivity(domain, unit, measured);
}

}  // namespace curator::dp
