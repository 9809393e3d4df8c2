// What a method that measures marginals spends: every draw that it buys from a request's budget, with its
// price under the dataset's own relation and, for the accounts of parts, under ADD_REMOVE.
//
// What is bought is charged in full whether or not it is drawn; what is not bought is not spent.
//
// Not thread-safe. Public facts alone.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"
#include "dp/noise/noise_spec.h"
#include "dp/sensitivity/part_cost.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

class Purse {
 public:
  // All of the request's budget. Errors: INVALID_ARGUMENT ("spend...").
  static absl::StatusOr<Purse> Open(const SynthesisInput& input);

  const BudgetShare& whole() const { return whole_; }
  int64_t left() const { return left_; }  // in units of whole()

  // Each buys for a public number of units, adds its draws to draws(), and fails with INVALID_ARGUMENT
  // (whole().field()) where the units do not suffice for `what`.

  // The noise of the number of records: a fiftieth of the whole, at least one unit.
  absl::StatusOr<NoiseSpec> BuyRecordCount();

  // The noise of `marginals` marginals that are counted together, for `units`; `times` times.
  absl::StatusOr<NoiseSpec> BuyCounts(int64_t units, int64_t marginals, int64_t times, std::string_view what);

  // The exponential mechanism of a marginal that is approximated worst, for `units`; `times` times.
  absl::StatusOr<Epsilon> BuySelections(int64_t units, int64_t times, std::string_view what);

  // The noise of the errors of `candidates` estimates, for `units`; `times` times.
  absl::StatusOr<NoiseSpec> BuyErrors(int64_t units, int64_t candidates, int64_t times,
                                      std::string_view what);

  // In the order in which they were bought.
  const std::vector<CountedEvent>& draws() const { return draws_; }

  // The draws, when all are linear in the records that change (dp/sensitivity/part_cost.h). They are noise on
  // marginals, on their number and on errors of estimates of them, and selections whose scores are sums over
  // the cells of one marginal times a public weight; the range of a selection falls with the sensitivity of
  // its scores.
  std::optional<LinearDraws> linear() const;

 private:
  Purse(UnitBound unit, BudgetShare whole) : unit_(unit), whole_(whole), left_(whole.units) {}

  absl::StatusOr<NoiseSpec> BuyNoise(int64_t units, const Sensitivity& own,
                                     const absl::StatusOr<Sensitivity>& removal, int64_t times,
                                     std::string_view what);

  UnitBound unit_;
  BudgetShare whole_;
  int64_t left_;
  std::vector<CountedEvent> draws_;
  std::vector<CountedEvent> removals_;
  bool is_linear_ = true;
};

}  // namespace curator::dp
