#include "dp/accounting/calculators/stated_composition.h"

#include <algorithm>
#include <limits>

#include "absl/status/status.h"
#include "base/status_macros.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/checked.h"

namespace curator::dp {
namespace {

Interval StatedDeltas(const std::vector<Stated>& stated) {
  Interval sum(0);
  for (const Stated& s : stated) sum = sum + Interval(s.count) * s.delta;
  return sum;
}

bool IsPositive(const Interval& value) {
  return value.CertainlyAbove(Interval(0));
}

Interval LogOfInverseSlack(const Interval& slack) {
  return -Log(slack);
}

}  // namespace

std::optional<std::vector<Stated>> StatedOf(const Schedule& schedule) {
  std::vector<Stated> stated;
  for (const CountedEvent& part : schedule) {
    if (const auto* e = std::get_if<ApproximateEvent>(&part.event.what)) {
      stated.push_back({Interval::Of(e->epsilon), Interval::Of(e->delta), part.count});
      continue;
    }
    const std::optional<Interval> epsilon = EpsilonOf(part.event);
    if (!epsilon) return std::nullopt;
    stated.push_back({*epsilon, Interval(0), part.count});
  }
  return stated;
}

Interval SlackOf(const std::vector<Stated>& stated, const Interval& delta) {
  Interval log_kept(0);
  for (const Stated& s : stated) log_kept = log_kept + Interval(s.count) * Log1p(-s.delta);
  const Interval kept = Exp(log_kept);
  // The quotient would be NaN, which is not below 0: as if something were left.
  if (!IsPositive(kept)) return Interval(-1);
  // 1 - (1 - delta)/kept = (kept - (1 - delta))/kept, with kept - 1 = expm1(log_kept).
  return (Expm1(log_kept) + delta) / kept;
}

absl::StatusOr<double> BasicEpsilon(const Schedule& schedule, const Interval& delta) {
  Interval epsilons(0);
  Interval deltas(0);
  int64_t gaussians = 0;
  for (const CountedEvent& part : schedule) {
    if (std::holds_alternative<GaussianEvent>(part.event.what)) {
      ASSIGN_OR_RETURN(gaussians, CheckedAdd(gaussians, part.count));
    } else if (const auto* e = std::get_if<ApproximateEvent>(&part.event.what)) {
      epsilons = epsilons + Interval(part.count) * Interval::Of(e->epsilon);
      deltas = deltas + Interval(part.count) * Interval::Of(e->delta);
    } else if (const std::optional<Interval> epsilon = EpsilonOf(part.event)) {
      epsilons = epsilons + Interval(part.count) * *epsilon;
    } else {
      return absl::FailedPreconditionError("basic composition cannot count " + Describe(part.event));
    }
  }
  if (deltas.CertainlyAbove(delta)) return kInfinity;
  if (gaussians == 0) return epsilons.Upper();
  const Interval share = (delta - deltas) / Interval(gaussians);
  if (!IsPositive(share)) return kInfinity;
  for (const CountedEvent& part : schedule) {
    if (!std::holds_alternative<GaussianEvent>(part.event.what)) continue;
    const double epsilon = GaussianEpsilon(Sqrt(*SquaredMuOf(part.event)), share);
    epsilons = epsilons + Interval(part.count) * Interval::OfDouble(epsilon);
  }
  return epsilons.Upper();
}

double DworkRothblumVadhan(const Stated& stated, const Interval& delta) {
  const Interval count(stated.count);
  const Interval slack = delta - count * stated.delta;
  if (!IsPositive(slack)) return kInfinity;
  return (Sqrt(Interval(2) * count * LogOfInverseSlack(slack)) * stated.epsilon +
          count * stated.epsilon * Expm1(stated.epsilon))
      .Upper();
}

double KairouzOhViswanathSimple(const Stated& stated, const Interval& delta) {
  const Interval count(stated.count);
  const Interval slack = SlackOf({stated}, delta);
  if (!IsPositive(slack)) return kInfinity;
  return (count * stated.epsilon * Tanh(stated.epsilon / Interval(2)) +
          stated.epsilon * Sqrt(Interval(2) * count * LogOfInverseSlack(slack)))
      .Upper();
}

double HeterogeneousBound::least() const {
  return *std::min_element(terms.begin(), terms.end());
}

HeterogeneousBound KairouzOhViswanathHeterogeneous(const std::vector<Stated>& stated, const Interval& delta) {
  const Interval slack = SlackOf(stated, delta);
  const bool none_left = Interval(0).CertainlyAbove(slack);
  Interval sum(0);
  Interval drift(0);
  Interval squares(0);
  for (const Stated& s : stated) {
    const Interval count(s.count);
    sum = sum + count * s.epsilon;
    drift = drift + count * s.epsilon * Tanh(s.epsilon / Interval(2));
    squares = squares + count * s.epsilon * s.epsilon;
  }
  if (none_left) return {{kInfinity, kInfinity, kInfinity}};
  if (!IsPositive(slack)) return {{sum.Upper(), kInfinity, kInfinity}};
  const Interval e = Exp(Interval(1));
  return {{sum.Upper(), (drift + Sqrt(Interval(2) * squares * Log(e + Sqrt(squares) / slack))).Upper(),
           (drift + Sqrt(Interval(2) * squares * LogOfInverseSlack(slack))).Upper()}};
}

double WhitehouseValue(const std::vector<Stated>& stated, const Interval& delta) {
  const Interval slack = delta - StatedDeltas(stated);
  if (!IsPositive(slack)) return kInfinity;
  Interval squares(0);
  for (const Stated& s : stated) squares = squares + Interval(s.count) * s.epsilon * s.epsilon;
  return (Sqrt(Interval(2) * LogOfInverseSlack(slack) * squares) + squares / Interval(2)).Upper();
}

}  // namespace curator::dp
