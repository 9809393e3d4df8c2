#include "dp/accounting/comparison.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "absl/status/status.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/units.h"

namespace curator::dp {
namespace {

using MaybeStated = std::optional<std::vector<Stated>>;

absl::Status NoStatedPrivacy() {
  return absl::FailedPreconditionError("counts mechanisms with a stated epsilon only");
}

// For remarks, which are never parsed.
std::string Rounded(double number) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.6g", number);
  return text.data();
}

absl::StatusOr<double> DworkRothblumVadhanOf(const MaybeStated& stated, const Interval& delta) {
  if (!stated) return NoStatedPrivacy();
  if (stated->size() != 1) return absl::FailedPreconditionError("counts equal mechanisms only");
  return DworkRothblumVadhan(stated->front(), delta);
}

absl::StatusOr<double> KairouzOhViswanathOf(const MaybeStated& stated, const Interval& delta) {
  if (!stated) return NoStatedPrivacy();
  const double different = KairouzOhViswanathHeterogeneous(*stated, delta).least();
  if (stated->size() != 1) return different;
  return std::min(different, KairouzOhViswanathSimple(stated->front(), delta));
}

absl::StatusOr<double> OptimalOf(const MaybeStated& stated, const Interval& delta, Effort effort) {
  if (!stated) return NoStatedPrivacy();
  if (effort == Effort::kBounded) return absl::OutOfRangeError("not computed here: it may take long");
  return OptimalPureEpsilon(*stated, delta);
}

absl::StatusOr<double> AdvancedOf(const MaybeStated& stated, const Interval& delta) {
  if (!stated) return NoStatedPrivacy();
  return WhitehouseValue(*stated, delta);
}

// How much is computed, and for whom.
struct Work {
  Effort effort = Effort::kThorough;
  const std::stop_token& stop;
};

// Why a calculator that takes milliseconds for each of `mechanisms` is left out; none when it is not.
std::optional<absl::Status> TooMuch(size_t mechanisms, Effort effort) {
  if (effort == Effort::kThorough || mechanisms <= kMostMechanismsBounded) return std::nullopt;
  return absl::OutOfRangeError("not computed here: more than " + std::to_string(kMostMechanismsBounded) +
                               " different mechanisms");
}

// Takes milliseconds for each continuous Gaussian.
absl::StatusOr<double> BasicOf(const Schedule& schedule, const Interval& delta, Effort effort) {
  const auto gaussians = std::ranges::count_if(schedule, [](const CountedEvent& part) {
    return std::holds_alternative<GaussianEvent>(part.event.what);
  });
  if (const std::optional<absl::Status> too_much = TooMuch(static_cast<size_t>(gaussians), effort))
    return *too_much;
  return BasicEpsilon(schedule, delta);
}

using Rows = std::vector<CalculatedEpsilon>;

void AddStated(const Schedule& schedule, const Interval& delta, Effort effort, Rows& rows) {
  const MaybeStated stated = StatedOf(schedule);
  const Validity sum = stated ? Validity::kAdaptive : Validity::kFixedSchedule;
  const auto add = [&rows](std::string_view name, Validity validity, absl::StatusOr<double> epsilon) {
    rows.push_back({name, validity, BoundSide::kUpper, std::move(epsilon), ""});
  };
  add("basic", sum, BasicOf(schedule, delta, effort));
  add("dwork-rothblum-vadhan", Validity::kFixedSchedule, DworkRothblumVadhanOf(stated, delta));
  add("kairouz-oh-viswanath", Validity::kFixedSchedule, KairouzOhViswanathOf(stated, delta));
  add("optimal", Validity::kFixedSchedule, OptimalOf(stated, delta, effort));
  add("advanced", Validity::kAdaptive, AdvancedOf(stated, delta));
}

void AddZcdp(const Schedule& schedule, const Interval& delta, Rows& rows) {
  const absl::StatusOr<Interval> rho = TightZcdp(schedule);
  const auto add = [&](std::string_view name, const auto& convert) {
    if (!rho.ok()) {
      rows.push_back({name, Validity::kAdaptive, BoundSide::kUpper, rho.status(), ""});
      return;
    }
    rows.push_back(
        {name, Validity::kAdaptive, BoundSide::kUpper, convert(*rho), "rho " + Rounded(rho->Upper())});
  };
  add("zcdp-loose", [&](const Interval& sum) { return LooseZcdpEpsilon(sum, delta); });
  add("zcdp-tight", [&](const Interval& sum) { return EpsilonOfZcdp(sum, delta).Upper(); });
}

void AddRenyi(const Schedule& schedule, const Interval& delta, Effort effort, Rows& rows) {
  const std::optional<absl::Status> too_much = TooMuch(schedule.size(), effort);
  const absl::StatusOr<RenyiEpsilon> best =
      too_much ? absl::StatusOr<RenyiEpsilon>(*too_much) : RenyiEpsilonOverReals(schedule, delta);
  if (!best.ok()) {
    rows.push_back({"rdp", Validity::kFixedSchedule, BoundSide::kUpper, best.status(), ""});
    return;
  }
  rows.push_back(
      {"rdp", Validity::kFixedSchedule, BoundSide::kUpper, best->epsilon, "order " + Rounded(best->order)});
}

absl::StatusOr<double> GaussianDpOf(const Schedule& schedule, const Interval& delta) {
  const absl::StatusOr<Interval> squared_mu = SquaredMuOfSchedule(schedule);
  if (!squared_mu.ok()) return squared_mu.status();
  return GaussianEpsilon(Sqrt(*squared_mu), delta);
}

absl::Status NotOneVariance() {
  return absl::FailedPreconditionError(
      "counts discrete Gaussians of one variance whose coordinates shift by at most 1 only");
}

absl::StatusOr<double> DiscreteGaussianOf(const Schedule& schedule, const Interval& delta) {
  Rational variance;
  int64_t shifted = 0;
  for (const CountedEvent& part : schedule) {
    const auto* e = std::get_if<DiscreteGaussianEvent>(&part.event.what);
    if (e == nullptr || !HasUnitShifts(*e)) return NotOneVariance();
    if (shifted != 0 && !(variance == e->sigma_squared)) return NotOneVariance();
    variance = e->sigma_squared;
    ASSIGN_OR_RETURN(const int64_t more, CheckedMultiply(e->l2_sensitivity_squared, part.count));
    ASSIGN_OR_RETURN(shifted, CheckedAdd(shifted, more));
  }
  if (shifted == 0) return NotOneVariance();
  return UnitShiftsEpsilon(variance, shifted, delta);
}

NumericalOptions OptionsFor(Sides sides, const Work& work) {
  return {.sides = sides,
          .limits = work.effort == Effort::kBounded ? kBoundedLimits : NumericalLimits(),
          .stop = work.stop};
}

absl::StatusOr<double> NumericalUpper(const Schedule& schedule, const Interval& delta, const Work& work) {
  if (const std::optional<absl::Status> too_much = TooMuch(schedule.size(), work.effort)) return *too_much;
  // Epsilon falls as delta grows, so the lower end of delta gives an upper bound, and the other way round.
  const absl::StatusOr<CertifiedBounds> bounds =
      NumericalEpsilon(schedule, delta.Lower(), OptionsFor(Sides::kUpper, work));
  if (!bounds.ok()) return bounds.status();
  return bounds->upper;
}

void AddExact(const Schedule& schedule, const Interval& delta, Rows& rows) {
  rows.push_back(
      {"gaussian-dp", Validity::kFixedSchedule, BoundSide::kUpper, GaussianDpOf(schedule, delta), "exact"});
  rows.push_back({"discrete-gaussian", Validity::kFixedSchedule, BoundSide::kUpper,
                  DiscreteGaussianOf(schedule, delta), "its own curve"});
}

void AddNumericalUpper(const Schedule& schedule, const Interval& delta, const Work& work, Rows& rows) {
  rows.push_back({"numerical", Validity::kFixedSchedule, BoundSide::kUpper,
                  NumericalUpper(schedule, delta, work), "certified"});
}

void AddNumericalLower(const Schedule& schedule, const Interval& delta, const Work& work, Rows& rows) {
  if (!rows.back().epsilon.ok()) return;
  const absl::StatusOr<CertifiedBounds> bounds =
      NumericalEpsilon(schedule, delta.Upper(), OptionsFor(Sides::kLower, work));
  if (!bounds.ok() || !bounds->lower) return;
  rows.push_back({"numerical-lower", Validity::kFixedSchedule, BoundSide::kLower, *bounds->lower,
                  "nothing can be below"});
}

// Merges equal mechanisms: the order of a schedule does not matter, and calculators have less work.
absl::StatusOr<Schedule> Gathered(const Schedule& schedule) {
  Schedule gathered;
  for (const CountedEvent& part : schedule) {
    const auto equal = std::find_if(gathered.begin(), gathered.end(),
                                    [&](const CountedEvent& other) { return other.event == part.event; });
    if (equal == gathered.end()) {
      gathered.push_back(part);
    } else {
      ASSIGN_OR_RETURN(equal->count, CheckedAdd(equal->count, part.count));
    }
  }
  return gathered;
}

// A NaN is replaced by an error.
void RefuseNan(Rows& rows) {
  for (CalculatedEpsilon& row : rows) {
    if (!row.epsilon.ok()) row.remark.clear();
    if (row.epsilon.ok() && std::isnan(*row.epsilon)) {
      row.epsilon = absl::OutOfRangeError("cannot be computed for this schedule");  // not covered: none known
    }
  }
}

absl::Status CheckDelta(Delta delta) {
  if (delta.units() > 0 && delta.units() < kDeltaUnitsPerOne) return absl::OkStatus();
  return InvalidField("delta", "must lie between 0 and 1");
}

Rows ClosedForms(const Schedule& schedule, const Interval& delta, Effort effort) {
  Rows rows;
  AddStated(schedule, delta, effort, rows);
  AddZcdp(schedule, delta, rows);
  AddRenyi(schedule, delta, effort, rows);
  AddExact(schedule, delta, rows);
  return rows;
}

}  // namespace

absl::StatusOr<std::vector<CalculatedEpsilon>> CompareCalculators(const Schedule& listed, Delta delta,
                                                                  Effort effort,
                                                                  const std::stop_token& stop) {
  RETURN_IF_ERROR(CheckDelta(delta));
  const Work work{effort, stop};
  ASSIGN_OR_RETURN(const Schedule schedule, Gathered(listed));
  const Interval target = Interval::Of(delta);
  Rows rows = ClosedForms(schedule, target, effort);
  RETURN_IF_ERROR(CheckGoesOn(stop));
  AddNumericalUpper(schedule, target, work, rows);
  AddNumericalLower(schedule, target, work, rows);
  RETURN_IF_ERROR(CheckGoesOn(stop));  // else a row would say it
  RefuseNan(rows);
  return rows;
}

absl::StatusOr<CalculatedEpsilon> LeastUpperBound(const Schedule& listed, Delta delta,
                                                  const std::stop_token& stop) {
  RETURN_IF_ERROR(CheckDelta(delta));
  ASSIGN_OR_RETURN(const Schedule schedule, Gathered(listed));
  const Interval target = Interval::Of(delta);
  Rows rows;
  AddExact(schedule, target, rows);
  const bool is_exact =
      std::any_of(rows.begin(), rows.end(), [](const auto& row) { return row.epsilon.ok(); });
  if (!is_exact) {
    rows = ClosedForms(schedule, target, Effort::kBounded);
    RETURN_IF_ERROR(CheckGoesOn(stop));
    AddNumericalUpper(schedule, target, {Effort::kBounded, stop}, rows);
  }
  RETURN_IF_ERROR(CheckGoesOn(stop));
  RefuseNan(rows);
  const CalculatedEpsilon* least = nullptr;
  for (const CalculatedEpsilon& row : rows) {
    if (row.epsilon.ok() && (least == nullptr || *row.epsilon < *least->epsilon)) least = &row;
  }
  if (least == nullptr) return absl::FailedPreconditionError("no calculator can count this schedule");
  if (!std::isfinite(*least->epsilon)) return absl::OutOfRangeError("no finite epsilon holds at this delta");
  return *least;
}

}  // namespace curator::dp
