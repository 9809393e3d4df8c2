// What shares of a request's budget buy: noise, selections, and what the whole is charged.
//
// A synthesizer splits the amount of its budget, in whole units, among its draws; what does not divide is not
// spent. A pure budget is split in epsilon and buys discrete Laplace noise; a zCDP budget is split in rho and
// buys discrete Gaussian noise, and exponential mechanisms by their exact cost. Thread-safe: plain values and
// pure functions.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// An amount of a budget: of epsilon or of rho, in units of 1e-12.
struct BudgetShare {
  bool is_pure = true;
  int64_t units = 0;

  BudgetShare Of(int64_t part) const { return {.is_pure = is_pure, .units = part}; }

  // The field of the request that a share is a part of: "spend.epsilon" or "spend.rho".
  std::string_view field() const { return is_pure ? "spend.epsilon" : "spend.rho"; }

  // INVALID_ARGUMENT (field()): "is too small to be split over `what`".
  absl::Status TooSmallFor(std::string_view what) const;
};

// All units of the budget.
BudgetShare WholeOf(const Budget& budget);

// `percent` (0 to 100) of `units`, rounded down, without overflow.
inline int64_t PercentOf(int64_t units, int64_t percent) {
  return units / 100 * percent + units % 100 * percent / 100;
}

// The units for the noisy number of records: `units` / `parts`, at least 1.
int64_t RecordCountUnits(int64_t units, int64_t parts);

// The noise that costs exactly `share` on a vector of this sensitivity; `share` has at least one unit.
// Errors: those of LaplaceNoiseFor() and GaussianNoiseFor().
absl::StatusOr<NoiseSpec> NoiseFor(const BudgetShare& share, const Sensitivity& sensitivity);

// The largest epsilon of one exponential mechanism that costs at most `share`. Of a pure share: the share
// itself. Of a share of rho: by the exact cost (bounded range, dp/accounting/event.h), to a relative
// precision of 2^-24. Errors: INVALID_ARGUMENT (share.field()), "is too small to pay for `what`", when there
// is none.
absl::StatusOr<Epsilon> SelectionEpsilonFor(const BudgetShare& share, std::string_view what);

// The event that `draws` of a request are charged (ChargeFor()). Errors: those of BudgetOf() and ChargeFor().
absl::StatusOr<Event> EventToCharge(const SynthesisInput& input, const std::vector<CountedEvent>& draws);

// The standard deviation of `noise`, at least 0.05, because noise may vanish at enormous budgets and fits
// divide by it.
double DeviationForFit(const NoiseSpec& noise);

// `unit` under ADD_REMOVE.
UnitBound UnderAddRemove(const UnitBound& unit);

}  // namespace curator::dp
