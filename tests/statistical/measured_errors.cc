#include "tests/statistical/measured_errors.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <random>
#include <utility>

#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/half_widths.h"
#include "dp/workload/residual/residual_errors.h"
#include "dp/workload/residual/residual_reader.h"

namespace curator::statistics {
namespace {

constexpr double kLevel = 0.95;
constexpr size_t kRecords = 200;

using Rows = std::vector<std::vector<uint32_t>>;

Rows RandomRows(const dp::Domain& domain) {
  std::mt19937_64 random(1);
  Rows rows(kRecords);
  for (std::vector<uint32_t>& row : rows) {
    for (const dp::Attribute& attribute : domain.attributes())
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(attribute.size())));
  }
  return rows;
}

std::vector<int64_t> TrueAnswers(const dp::Domain& domain, const Rows& rows, const dp::QueryGroup& group) {
  std::vector<int64_t> counts(static_cast<size_t>(domain.CellCount(group.attributes).value()));
  for (const std::vector<uint32_t>& row : rows) {
    size_t cell = 0;
    for (const uint32_t attribute : group.attributes)
      cell = cell * static_cast<size_t>(domain.attributes()[attribute].size()) + row[attribute];
    ++counts[cell];
  }
  return dp::AnswersFromCounts(domain, group, counts);
}

// A group, and what its answers are held against.
struct Expected {
  const dp::QueryGroup* group = nullptr;
  const dp::SetPlan* plan = nullptr;  // of its set,
  size_t source = 0;                  // and what answers it, but for residuals
  std::vector<int64_t> truth;
  std::vector<double> half_widths;
};

// The half widths of a group's answers: one for each, or one for all.
std::vector<double> HalfWidthsOf(const dp::ResidualErrors& errors, const dp::QueryGroup& group) {
  std::vector<double> half_widths;
  for (const dp::ResidualError& error : errors.ErrorsOf(group))
    half_widths.push_back(dp::ResidualErrors::HalfWidthOf(error, kLevel));
  return half_widths;
}

std::vector<Expected> ExpectedOf(const dp::Domain& domain, const dp::WorkloadPlan& plan, const Rows& rows) {
  std::vector<Expected> all;
  const dp::JointMeasurement& joint = plan.shape.joint;
  std::optional<dp::ResidualErrors> residual;
  if (plan.residual) residual = dp::ResidualErrors::Create(domain, *plan.residual).value();
  const std::vector<std::vector<int64_t>> no_values(joint.measured.size());
  dp::AnswerReader reader(domain, joint.measured, no_values);
  dp::HalfWidths widths(plan.bought.noise, kLevel);
  for (size_t i = 0; i < plan.shape.asked.size(); ++i) {
    const std::vector<dp::QueryGroup>& groups = plan.shape.asked[i].groups;
    for (size_t j = 0; j < groups.size(); ++j) {
      Expected& expected = all.emplace_back(Expected{&groups[j],
                                                     &joint.plans[i],
                                                     residual ? 0 : joint.plans[i].sources[j],
                                                     TrueAnswers(domain, rows, groups[j]),
                                                     {}});
      if (residual) {
        expected.half_widths = HalfWidthsOf(*residual, groups[j]);
      } else {
        const dp::EstimateWeights weights = reader.WeightsOf(groups[j], *expected.plan, expected.source);
        for (const dp::AnswerError& error : reader.ErrorsOf(groups[j], *expected.plan, expected.source))
          expected.half_widths.push_back(widths.Of(error, weights).value());
      }
      expected.half_widths.resize(expected.truth.size(), expected.half_widths.front());
    }
  }
  return all;
}

// Of one draw.
struct Sums {
  double squares = 0;
  int64_t held = 0;
  int64_t answers = 0;
};

template <typename AnswersOf>
Sums SumsOf(const std::vector<Expected>& expected, const AnswersOf& answers_of) {
  Sums sums;
  for (const Expected& each : expected) {
    const std::vector<double> answers = answers_of(each);
    for (size_t i = 0; i < answers.size(); ++i) {
      const double error = answers[i] - static_cast<double>(each.truth[i]);
      sums.squares += error * error;
      sums.held += std::abs(error) <= each.half_widths[i] ? 1 : 0;
    }
    sums.answers += static_cast<int64_t>(answers.size());
  }
  return sums;
}

// Whole marginals are counted as such: their price is that of marginals.
std::vector<std::vector<int64_t>> Measure(dp::Kernel& kernel, const dp::WorkloadPlan& plan) {
  if (plan.residual)
    return kernel.NoisyProducts(plan.residual->queries, plan.residual->sigma_squared).value();
  std::vector<dp::AttributeSet> marginals;
  for (const dp::QueryGroup& group : plan.shape.joint.measured) {
    if (std::holds_alternative<dp::EveryCell>(group.queries)) marginals.push_back(group.attributes);
  }
  return marginals.size() == plan.shape.joint.measured.size()
             ? kernel.NoisyCounts(marginals, plan.bought.noise).value()
             : kernel.NoisyCounts(plan.shape.joint.measured, plan.bought.noise).value();
}

Sums DrawOnce(const dp::Domain& domain, const dp::WorkloadPlan& plan, const std::vector<Expected>& expected,
              dp::Kernel& kernel) {
  const std::vector<std::vector<int64_t>> values = Measure(kernel, plan);
  if (plan.residual) {
    dp::ResidualReader reader = dp::ResidualReader::Create(domain, *plan.residual, values).value();
    return SumsOf(expected, [&](const Expected& each) { return reader.AnswersOf(*each.group); });
  }
  dp::AnswerReader reader(domain, plan.shape.joint.measured, values);
  return SumsOf(expected, [&](const Expected& each) {
    const dp::GroupAnswers answers = reader.AnswersOf(*each.group, *each.plan, each.source);
    return answers.counts.empty() ? answers.estimates
                                  : std::vector<double>(answers.counts.begin(), answers.counts.end());
  });
}

}  // namespace

dp::Spend RhoOf(double rho) {
  return {.rho = dp::Rho(std::llround(rho * static_cast<double>(dp::kRhoUnitsPerOne)))};
}

dp::Spend EpsilonOf(double epsilon) {
  return {.epsilon = dp::Epsilon(std::llround(epsilon * static_cast<double>(dp::kEpsilonUnitsPerOne)))};
}

absl::StatusOr<dp::WorkloadPlan> PlanOf(const dp::Domain& domain, const dp::UnitBound& unit,
                                        std::vector<dp::QuerySet> sets, const dp::Spend& spend, Choice choice,
                                        dp::ErrorMeasure objective) {
  dp::RuleSpec rule{.kind = dp::RuleKind::kPure, .epsilon = dp::Epsilon(1000 * dp::kEpsilonUnitsPerOne)};
  if (spend.rho) {
    rule.kind = dp::RuleKind::kZcdp;
    rule.delta = dp::Delta(1'000'000'000'000);
  }
  if (choice == Choice::kJoint) {
    for (dp::QuerySet& set : sets) set.strategy = spend.rho ? dp::Strategy::kResidual : dp::Strategy::kParity;
  }
  return dp::PlanWorkload(
      domain, unit, rule, sets, spend, std::nullopt,
      {.objective = objective, .may_choose_joint_strategies = choice != Choice::kEachSetByItself});
}

MeasuredErrors DrawErrors(const dp::Domain& domain, const dp::UnitBound& unit, const dp::WorkloadPlan& plan,
                          int64_t draws, dp::BitSource& bits) {
  const Rows rows = RandomRows(domain);
  const std::vector<Expected> expected = ExpectedOf(domain, plan, rows);
  std::vector<dp::CountedEvent> schedule = plan.bought.draws;
  schedule.front().count = draws;
  dp::Kernel kernel(dp::SealRows(domain, rows).value(), domain, unit, dp::Meter(std::move(schedule)), bits);
  double sum = 0;
  double sum_of_squares = 0;
  int64_t held = 0;
  MeasuredErrors errors;
  for (int64_t draw = 0; draw < draws; ++draw) {
    const Sums sums = DrawOnce(domain, plan, expected, kernel);
    const double mean = sums.squares / static_cast<double>(sums.answers);
    sum += mean;
    sum_of_squares += mean * mean;
    held += sums.held;
    errors.answers += sums.answers;
  }
  const auto count = static_cast<double>(draws);
  errors.mean_square = sum / count;
  errors.deviation_of_it =
      std::sqrt((sum_of_squares / count - errors.mean_square * errors.mean_square) / count);
  errors.held = static_cast<double>(held) / static_cast<double>(errors.answers);
  return errors;
}

double ForecastOf(const dp::Domain& domain, const dp::WorkloadPlan& plan) {
  const std::vector<dp::ErrorClasses> of_sets = dp::ErrorClassesOf(domain, plan.shape);
  const double deviation =
      dp::MeanDeviation(dp::ForecastNoiseOf(plan.shape, plan.bought), dp::OfAllSets(of_sets));
  return deviation * deviation;
}

double RootMeanErrorOf(const dp::Domain& domain, const dp::WorkloadPlan& plan) {
  const std::vector<dp::ErrorClasses> of_sets = dp::ErrorClassesOf(domain, plan.shape);
  const dp::ForecastNoise noise = dp::ForecastNoiseOf(plan.shape, plan.bought);
  double sum = 0;
  for (const dp::ErrorClasses& classes : of_sets) sum += std::pow(dp::MeanDeviation(noise, classes), 2);
  return std::sqrt(sum / static_cast<double>(of_sets.size()));
}

double LargestErrorOf(const dp::Domain& domain, const dp::WorkloadPlan& plan) {
  const dp::ForecastNoise noise = dp::ForecastNoiseOf(plan.shape, plan.bought);
  double largest = 0;
  for (const dp::ErrorClasses& of_set : dp::ErrorClassesOf(domain, plan.shape)) {
    for (const dp::ErrorClass& each : of_set)
      largest = std::max(largest, dp::MeanDeviation(noise, {{each.error, 1}}));
  }
  return largest;
}

}  // namespace curator::statistics
