// The plan of a workload: how it will be measured, priced and answered, from public facts alone.
//
// All measurements are one draw: the same independent noise on every measured value, at the sensitivity of
// the whole vector. So what sets share is paid for once, and many queries in few of which one record can
// count are cheap together (QueriesSensitivity()).
//
// The accounts of parts. Let S bound the norm by which one record that is replaced moves the measured vector,
// and W the norm by which one that enters or leaves does, in L1 or in L2; QueriesSensitivity() states m S
// under REPLACE_ONE and m W under ADD_REMOVE. Let J records leave and I <= J enter (or the other way round),
// J <= m, in the parts that are read. Pair them: the vector moves by I p + (J - I) q, where p is a mean of
// moves of replaced records and q one of moves of single ones. Each cost of a draw here is g(move), convex,
// symmetric and 0 at 0, so g(t v) <= t g(v) for t <= 1 and
//
//   g(I p + (J - I) q) <= (I/J) g(J p) + ((J - I)/J) g(J q)
//                      <= (I/m) c + ((J - I)/m) r
//                      <= (J + I)/(2 m) max(c, 2 r)
//
// with c the cost under REPLACE_ONE, r that under ADD_REMOVE: what LinearDraws asks for (part_cost.h). Under
// ADD_REMOVE I = 0: (J/m) c.
//
// Thread-safe: plain values and pure functions; the same input gives the same plan.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <stop_token>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/measurement.h"
#include "dp/workload/residual/residual_measurement.h"
#include "dp/workload/residual/residual_plan.h"
#include "dp/workload/statistics/statistics_plan.h"
#include "dp/workload/strategy_choice.h"

namespace curator::dp {

// Limits of one request beside those of the memory and the time that it is predicted to take
// (memory_forecast.h, time_forecast.h), which are lower for most: these bound what is looked at before there
// is a prediction. At most_cells the values of an answer alone take half of the memory that one may take.
struct PlanLimits {
  int64_t most_sets = 10'000;
  int64_t most_marginals = int64_t{1} << 18;
  int64_t most_measured = int64_t{1} << 26;  // values
  int64_t most_cells = int64_t{1} << 26;     // of all marginals that are counted, each once
  int64_t most_answers = int64_t{1} << 21;   // of query sets that are not whole marginals
  int64_t most_steps = int64_t{1} << 28;  // cells that groups which are not whole marginals are counted from
};

// INVALID_ARGUMENT with a field ("workload", "workload.query_sets[2]...") unless there is a set, each has
// valid groups, no whole marginal is asked for twice, and all of them lie within the limits; the message has
// the numbers. Its time is bounded by the limits.
absl::Status ValidateSets(const Domain& domain, std::span<const QuerySet> sets,
                          const PlanLimits& limits = {});

// A plan without its noise. Where all sets are measured by residuals, their measurements and plans have that
// strategy and no sources, nothing else is measured, and the sensitivities are those of nothing. Where they
// are measured by parities, the measurements have that strategy alone: the parities are in `joint`.
struct WorkloadShape {
  std::vector<QuerySet> asked;
  std::vector<Measurement> measurements;  // of each set, for display
  JointMeasurement joint;
  Sensitivity sensitivity;  // of what is measured
  Sensitivity removal;      // the same under ADD_REMOVE
  int64_t answers = 0;
  int64_t measured_values = 0;
  std::optional<ResidualShape> residual = {};
  std::vector<ErrorClasses> classes = {};  // ErrorClassesOf() it, of parities
};

// Chooses the strategies for noise of `mechanism`. Errors: those of ValidateSets() and ChooseMeasurements();
// FAILED_PRECONDITION where a unit may own any number of records; CANCELLED once `stop` is requested, which
// is looked at between steps of about a second at most.
absl::StatusOr<WorkloadShape> ShapeOf(const Domain& domain, const UnitBound& unit, Mechanism mechanism,
                                      ErrorMeasure measure, std::vector<QuerySet> sets,
                                      const PlanLimits& limits = {}, const std::stop_token& stop = {});

// What a spend buys of a shape. The noise of residuals differs from set to set: it is in `residual`, and
// `bought.noise` has its mechanism alone.
struct CountsPurchase {
  NoisePurchase bought;
  std::optional<ResidualMeasurement> residual;
};
// Errors: those of BuyNoise(); INVALID_ARGUMENT ("spend") for noise that residuals cannot have
// (MeasurementFor()), and for a spend that buys Laplace noise.
absl::StatusOr<CountsPurchase> BuyCounts(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                         const Spend& spend, const WorkloadShape& shape,
                                         std::optional<Mechanism> mechanism);

// The noise that the errors of a shape (ErrorClassesOf()) are in units of, as it was bought.
ForecastNoise ForecastNoiseOf(const WorkloadShape& shape, const NoisePurchase& bought);

struct WorkloadPlan {
  WorkloadShape shape;
  Spend spend;
  NoisePurchase bought;
  std::optional<ResidualMeasurement> residual = {};
  // The errors of the answers of each set, counted, in a plan that was chosen by them (PlanForTarget()).
  std::vector<ErrorClasses> classes = {};
  // Of a workload of statistics, whose shape is empty: its draws, each bought by itself.
  std::vector<StatisticsDraw> statistics = {};
  std::vector<BoughtDraw> bought_draws = {};
};

struct PlanOptions {
  ErrorMeasure objective = ErrorMeasure::kMean;  // of a spend; a target has its own
  // Whether sets that leave their strategy open may be measured together, by residuals or parities, where no
  // set names these. False: as plans were made before they could.
  bool may_choose_joint_strategies = true;
  std::stop_token stop = {};
};

// What `spend` buys for `sets`: measured by residuals (Gaussian noise) or parities (Laplace noise) where a
// set names them, or where all sets leave their strategy open and the objective is smaller so; otherwise as
// ShapeOf() chooses. Errors: those of ShapeOf() and BuyCounts(); INVALID_ARGUMENT
// ("workload.query_sets[i].strategy") where a set names one of the two and not all can be measured so.
absl::StatusOr<WorkloadPlan> PlanWorkload(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                          const std::vector<QuerySet>& sets, const Spend& spend,
                                          std::optional<Mechanism> mechanism,
                                          const PlanOptions& options = {});

// What `spend` buys for sets of statistics, each valid: the same share for each draw, and the costs of draws
// add up to the spend at most. Errors: INVALID_ARGUMENT with a path ("workload.query_sets[1].strategy")
// or a field ("spend...", "mechanism"); those of DrawsFor(), BuyStatistics() and ChargeFor().
absl::StatusOr<WorkloadPlan> PlanStatistics(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                            std::span<const AskedStatistics> sets, const Spend& spend,
                                            std::optional<Mechanism> mechanism);

// What `spend` buys for `draws`, which DrawsFor() gave for `sets` and the mechanism of the spend, as
// PlanStatistics() buys it. Errors: those of BuyStatistics() and ChargeFor().
struct DrawsPurchase {
  NoisePurchase bought;
  std::vector<BoughtDraw> draws;
};
absl::StatusOr<DrawsPurchase> BuyDraws(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                       std::span<const AskedStatistics> sets,
                                       std::span<const StatisticsDraw> draws, const Spend& spend);

// The error that a request is to reach, in records: all its answers together stay within `max_error` of the
// truth with at least the probability `confidence`, bounded answer by answer (accuracy.h); or else the root
// of the mean squared error is at most `rmse`: the mean over the answers of each set, then over the sets by
// their weights.
struct Target {
  double max_error = 0;
  double confidence = 0.95;
  std::optional<double> rmse = {};
  bool operator==(const Target&) const = default;
};

// The plan of least cost that reaches the target, in integer units of the budget: epsilon or rho under ZCDP
// and RDP, whichever costs less (or what `mechanism` says); epsilon under PURE and ADVANCED. The strategies
// are those that make the worst variance least, or the mean one for `rmse`; residuals and parities as in
// PlanWorkload().
// Errors: INVALID_ARGUMENT ("target.max_error", "target.confidence", "target.rmse") also when no budget
// reaches it, ("workload.query_sets[i].weight") for weights beside `max_error`, which holds for all answers
// alike; that of PlanWorkload() for a set that names residuals or parities in vain.
absl::StatusOr<WorkloadPlan> PlanForTarget(const Domain& domain, const UnitBound& unit, const RuleSpec& rule,
                                           const std::vector<QuerySet>& sets, const Target& target,
                                           std::optional<Mechanism> mechanism,
                                           const PlanOptions& options = {});

// The errors of all answers of each set, counted; and those of some sets together.
std::vector<ErrorClasses> ErrorClassesOf(const Domain& domain, const WorkloadShape& shape);
ErrorClasses OfAllSets(std::span<const ErrorClasses> sets);

}  // namespace curator::dp
