#include "dp/synthesis/rap/cpu_projector.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
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

  AdamStep Next() {
    constexpr double kFirstDecay = 0.9;
    constexpr double kSecondDecay = 0.999;
    first_power_ *= kFirstDecay;
    second_power_ *= kSecondDecay;
    const double done = static_cast<double>(steps_++) / static_cast<double>(rule_.most_steps);
    const double rate =
        static_cast<double>(rule_.rate) * (1 - done * (1 - static_cast<double>(rule_.last_rate)));
    return {.rate = static_cast<float>(rate * std::sqrt(1 - second_power_) / (1 - first_power_)),
            .first_decay = static_cast<float>(kFirstDecay),
            .second_decay = static_cast<float>(kSecondDecay),
            .least_root = 1e-8F,
            .bound = rule_.bound};
  }

 private:
  const ProjectionRule& rule_;
  double first_power_ = 1;
  double second_power_ = 1;
  int64_t steps_ = 0;
};

// Whether a rule ends at these losses.
bool IsOver(const std::vector<double>& losses, const ProjectionRule& rule) {
  if (losses.back() <= rule.enough) return true;
  const auto patience = static_cast<size_t>(std::max<int64_t>(1, rule.patience));
  if (losses.size() <= patience) return false;
  const double before = losses[losses.size() - 1 - patience];
  return before - losses.back() < rule.tolerance * before;
}

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
  Pace pace(rule);
  ASSIGN_OR_RETURN(const double first_loss, descent.Loss(pacer));
  std::vector<double> losses = {first_loss};
  while (projected.steps < rule.most_steps && !IsOver(losses, rule)) {
    if (++projected.steps == rule.most_steps) {
      RETURN_IF_ERROR(descent.LastStep(pace.Next(), pacer));
    } else {
      ASSIGN_OR_RETURN(const double loss, descent.StepToLoss(pace.Next(), pacer));
      losses.push_back(loss);
    }
    progress(static_cast<double>(projected.steps) / static_cast<double>(rule.most_steps));
  }
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
