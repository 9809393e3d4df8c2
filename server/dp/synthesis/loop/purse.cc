#include "dp/synthesis/loop/purse.h"

#include "base/status_macros.h"
#include "dp/sensitivity/spend.h"

namespace curator::dp {
namespace {

constexpr int64_t kPartsForRecords = 50;  // see RecordCountUnits()

}  // namespace

absl::StatusOr<Purse> Purse::Open(const SynthesisInput& input) {
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  return Purse(input.unit_bound, WholeOf(budget));
}

absl::StatusOr<NoiseSpec> Purse::BuyNoise(int64_t units, const Sensitivity& own,
                                          const absl::StatusOr<Sensitivity>& removal, int64_t times,
                                          std::string_view what) {
  if (units < 1 || units > left_ / times) return whole_.TooSmallFor(what);
  ASSIGN_OR_RETURN(const NoiseSpec noise, NoiseFor(whole_.Of(units), own));
  left_ -= units * times;
  draws_.push_back({NoiseEvent(noise, own), times});
  is_linear_ = is_linear_ && removal.ok();
  if (is_linear_) removals_.push_back({NoiseEvent(noise, *removal), times});
  return noise;
}

absl::StatusOr<NoiseSpec> Purse::BuyRecordCount() {
  ASSIGN_OR_RETURN(const Sensitivity own, RecordCountSensitivity(unit_));
  return BuyNoise(RecordCountUnits(whole_.units, kPartsForRecords), own,
                  RecordCountSensitivity(UnderAddRemove(unit_)), 1, "the number of records");
}

absl::StatusOr<NoiseSpec> Purse::BuyCounts(int64_t units, int64_t marginals, int64_t times,
                                           std::string_view what) {
  ASSIGN_OR_RETURN(const Sensitivity own, MarginalsSensitivity(unit_, marginals));
  return BuyNoise(units, own, MarginalsSensitivity(UnderAddRemove(unit_), marginals), times, what);
}

absl::StatusOr<NoiseSpec> Purse::BuyErrors(int64_t units, int64_t candidates, int64_t times,
                                           std::string_view what) {
  ASSIGN_OR_RETURN(const Sensitivity own, ErrorsSensitivity(unit_, candidates));
  return BuyNoise(units, own, ErrorsSensitivity(UnderAddRemove(unit_), candidates), times, what);
}

absl::StatusOr<Epsilon> Purse::BuySelections(int64_t units, int64_t times, std::string_view what) {
  if (units > left_ / times) return whole_.TooSmallFor(what);
  ASSIGN_OR_RETURN(const Epsilon selection, SelectionEpsilonFor(whole_.Of(units), what));
  ASSIGN_OR_RETURN(const Sensitivity own, MarginalsSensitivity(unit_, 1));
  const absl::StatusOr<Sensitivity> removal = MarginalsSensitivity(UnderAddRemove(unit_), 1);
  left_ -= units * times;
  draws_.push_back({{ExponentialMechanismEvent{selection}}, times});
  is_linear_ = is_linear_ && removal.ok() && own.l1 % removal->l1 == 0;
  if (is_linear_) {
    const int64_t divisor = own.l1 / removal->l1;
    const Epsilon range((selection.units() + divisor - 1) / divisor);
    removals_.push_back({{ExponentialMechanismEvent{range}}, times});
  }
  return selection;
}

std::optional<LinearDraws> Purse::linear() const {
  if (!is_linear_) return std::nullopt;
  return LinearDraws{.draws = draws_, .removals = removals_};
}

}  // namespace curator::dp
