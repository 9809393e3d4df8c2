#include "dp/synthesis/rap/cpu_projector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/descent.h"

namespace curator::dp {
namespace {

absl::Status CheckMarginal(const MarginalAnswer& marginal, const RelaxedLayout& layout) {
  if (marginal.positions.empty() || marginal.positions.size() > kMostFactors)
    return absl::InvalidArgumentError("a measured marginal has 1 to 16 attributes");
  size_t cells = 1;
  for (size_t i = 0; i < marginal.positions.size(); ++i) {
    if (marginal.positions[i] >= layout.sizes().size() ||
        (i > 0 && marginal.positions[i] <= marginal.positions[i - 1])) {
      return absl::InvalidArgumentError("the positions of a measured marginal must rise within the layout");
    }
    cells *= layout.sizes()[marginal.positions[i]];
    if (cells > marginal.answers.size()) break;
  }
  if (cells != marginal.answers.size())
    return absl::InvalidArgumentError("a measured marginal has not one answer for each of its cells");
  return absl::OkStatus();
}

absl::Status CheckPolynomial(const PolynomialAnswer& polynomial, const RelaxedLayout& layout) {
  for (const ProductTerm& term : polynomial.terms) {
    if (term.columns.empty() || term.columns.size() > kMostFactors)
      return absl::InvalidArgumentError("a term has 1 to 16 columns");
    for (const uint32_t column : term.columns) {
      if (column >= layout.columns())
        return absl::InvalidArgumentError(
            absl::StrCat("column ", column, " is not one of the ", layout.columns()));
      if (std::ranges::count(term.columns, column) > 1)
        return absl::InvalidArgumentError(absl::StrCat("a term has column ", column, " twice"));
    }
  }
  return absl::OkStatus();
}

absl::Status CheckProblem(const ProjectionProblem& problem, const RelaxedRows& rows) {
  if (rows.parameters.size() != rows.layout.elements())
    return absl::InvalidArgumentError("the parameters do not fill their layout");
  for (const MarginalAnswer& marginal : problem.marginals)
    RETURN_IF_ERROR(CheckMarginal(marginal, rows.layout));
  for (const PolynomialAnswer& polynomial : problem.polynomials)
    RETURN_IF_ERROR(CheckPolynomial(polynomial, rows.layout));
  return absl::OkStatus();
}

// The step lengths of Adam.
class Pace {
 public:
  explicit Pace(const ProjectionRule& rule) : rule_(rule) {}

  void Shorten(double factor) { scale_ *= factor; }
  bool IsShort() const { return scale_ < 1.0 / 64; }

  AdamStep Next() {
    constexpr double kFirstDecay = 0.9;
    constexpr double kSecondDecay = 0.999;
    first_power_ *= kFirstDecay;
    second_power_ *= kSecondDecay;
    const double done = static_cast<double>(steps_++) / static_cast<double>(rule_.most_steps);
    const double rate =
        scale_ * static_cast<double>(rule_.rate) * (1 - done * (1 - static_cast<double>(rule_.last_rate)));
    return {.rate = static_cast<float>(rate * std::sqrt(1 - second_power_) / (1 - first_power_)),
            .first_decay = static_cast<float>(kFirstDecay),
            .second_decay = static_cast<float>(kSecondDecay),
            .least_root = 1e-8F,
            .bound = rule_.bound};
  }

 private:
  const ProjectionRule& rule_;
  double scale_ = 1;
  double first_power_ = 1;
  double second_power_ = 1;
  int64_t steps_ = 0;
};

// Whether a rule ends at these losses.
bool IsOver(const std::vector<double>& losses, const ProjectionRule& rule) {
  if (losses.back() <= rule.enough) return true;
  if (rule.least_gain > 0) return false;
  const auto patience = static_cast<size_t>(std::max<int64_t>(1, rule.patience));
  if (losses.size() <= patience) return false;
  const double before = losses[losses.size() - 1 - patience];
  return before - losses.back() < rule.tolerance * before;
}

// By how many standard deviations a shadow's answers are moved: little beside the noise, and much beside what
// single precision leaves of their differences.
constexpr double kShadowShift = 0.2;

ProjectionProblem ShiftedForShadow(const ProjectionProblem& problem) {
  ProjectionProblem shifted = problem;
  for (size_t i = 0; i < shifted.marginals.size(); ++i) {
    MarginalAnswer& marginal = shifted.marginals[i];
    const float shift = static_cast<float>(kShadowShift) / std::sqrt(marginal.weight);
    for (size_t cell = 0; cell < marginal.answers.size(); ++cell)
      marginal.answers[cell] += shift * ShadowSign(i, cell);
  }
  return shifted;
}

// Rows that are fitted beside others, to answers with a little more noise; and what both show of the error.
class Shadow {
 public:
  // All must outlive it. Takes the shadow of `rows`, or starts where they do.
  Shadow(const ProjectionProblem& problem, const ProjectionRule& rule, const ProjectionLoops& loops,
         Executor& executor, RelaxedRows& rows)
      : problem_(ShiftedForShadow(problem)),
        rule_(rule),
        is_warm_(rows.shadow.size() > 0),
        rows_{.layout = rows.layout,
              .parameters = rows.shadow.size() > 0 ? std::move(rows.shadow) : rows.parameters},
        descent_(problem_, ProductList(), rule.relaxation, rule.gradient_mode, loops, executor, rows_),
        answers_(static_cast<double>(ProductsOf(problem))),
        next_look_(std::max<int64_t>(1, rule.least_steps * 4 / 5)) {}

  absl::Status Start(Pacer& pacer) { return descent_.Loss(pacer).status(); }
  absl::Status Step(const AdamStep& step, Pacer& pacer) { return descent_.StepToLoss(step, pacer).status(); }

  // Whether `fitted`, which has this loss after so many steps, gains too little. The expected squared error
  // of its answers, in deviations, is the loss, less the number of answers, plus twice the degrees of freedom
  // (Stein 1981). That differences of it are small beside the uncertainty of the loss does not matter: the
  // noise of the answers is the same in both.
  bool HasEnough(const Descent& fitted, double loss, int64_t steps, Pace& pace) {
    constexpr double kExplained = 1.25;  // squared deviations an answer
    constexpr double kStall = 0.9;       // of the loss at the last look
    constexpr double kWarmRate = 0.4;
    if (steps == 0) {
      first_loss_ = loss;
      // Rows that need little more: the first steps of Adam, which are of full length, would follow noise.
      if (is_warm_ && loss <= kExplained * answers_) pace.Shorten(kWarmRate);
    }
    if (steps < next_look_) return false;
    const double followed = fitted.FollowedNoise(descent_, kShadowShift);
    const double error = loss + 2 * followed;
    const bool gains = !last_error_ || *last_error_ - error >= rule_.least_gain * std::max(1.0, followed);
    // Steps of one length do not come nearer than their length.
    const bool is_explained = loss <= kExplained * answers_ && loss <= first_loss_;
    if (!is_explained && last_error_ && loss > kStall * last_loss_) pace.Shorten(0.5);
    last_error_ = error;
    last_loss_ = loss;
    next_look_ = std::max(rule_.least_steps, steps + std::max<int64_t>(1, steps / 4));
    return pace.IsShort() || (!gains && steps >= rule_.least_steps && is_explained);
  }

  AlignedFloats TakeParameters() { return std::move(rows_.parameters); }

 private:
  const ProjectionProblem problem_;
  const ProjectionRule& rule_;
  const bool is_warm_;  // the rows have been fitted before
  RelaxedRows rows_;
  Descent descent_;
  const double answers_;
  int64_t next_look_;
  std::optional<double> last_error_;
  double first_loss_ = 0;
  double last_loss_ = 0;
};

}  // namespace

absl::StatusOr<Projected> CpuProjector::Project(const ProjectionProblem& problem, RelaxedRows start,
                                                const ProjectionRule& rule, Pacer& pacer,
                                                const Progress& progress) const {
  RETURN_IF_ERROR(CheckProblem(problem, start));
  Projected projected{.rows = std::move(start)};
  if (rule.most_steps < 1) return projected;
  ASSIGN_OR_RETURN(ProductList products,
                   ProductList::Create(problem.polynomials, projected.rows.layout, pacer));
  Descent descent(problem, std::move(products), rule.relaxation, rule.gradient_mode, loops_, executor_,
                  projected.rows);
  std::optional<Shadow> shadow;
  if (rule.least_gain > 0 && problem.polynomials.empty()) {
    shadow.emplace(problem, rule, loops_, executor_, projected.rows);
    RETURN_IF_ERROR(shadow->Start(pacer));
  }
  Pace pace(rule);
  ASSIGN_OR_RETURN(const double first_loss, descent.Loss(pacer));
  std::vector<double> losses = {first_loss};
  while (projected.steps < rule.most_steps && !IsOver(losses, rule) &&
         !(shadow && shadow->HasEnough(descent, losses.back(), projected.steps, pace))) {
    const AdamStep step = pace.Next();
    if (++projected.steps == rule.most_steps) {
      RETURN_IF_ERROR(descent.LastStep(step, pacer));
    } else {
      ASSIGN_OR_RETURN(const double loss, descent.StepToLoss(step, pacer));
      losses.push_back(loss);
    }
    if (shadow) RETURN_IF_ERROR(shadow->Step(step, pacer));
    progress(static_cast<double>(projected.steps) / static_cast<double>(rule.most_steps));
  }
  if (shadow) projected.rows.shadow = shadow->TakeParameters();
  projected.first_loss = losses.front();
  projected.last_loss = losses.back();
  return projected;
}

AlignedFloats SharesOf(const RelaxedRows& rows, Relaxation relaxation, const ProjectionLoops& loops) {
  const ProjectionProblem nothing;
  RelaxedRows same = rows;
  Descent descent(nothing, ProductList(), relaxation, GradientMode::kByParameters, loops, OnlyThisThread(),
                  same);
  Pacer pacer{std::stop_token()};
  descent.Loss(pacer).IgnoreError();  // nothing to fit, no stop requested
  return std::move(descent.shares());
}

}  // namespace curator::dp
