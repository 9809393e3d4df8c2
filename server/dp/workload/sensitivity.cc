#include "dp/workload/sensitivity.h"

#include <limits>
#include <numeric>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"

namespace curator::dp {
namespace {

constexpr int64_t kMaxSensitivity = int64_t{1} << 53;

absl::Status ValidateUnit(const UnitBound& unit) {
  if (unit.max_records < 1) return absl::InvalidArgumentError("a unit must be allowed at least one record");
  if (unit.max_records == kNoRecordBound) {
    return absl::FailedPreconditionError(
        "a unit of this dataset may own any number of records, so no number of records can be protected; "
        "only a "
        "dataset whose unit declares max_records can answer this");
  }
  if (unit.max_records > (int64_t{1} << 31)) {
    return absl::OutOfRangeError("a unit's record bound exceeds 2^31: its sensitivity cannot be counted");
  }
  return absl::OkStatus();
}

// The positive quotient in lowest terms, or INVALID_ARGUMENT when it does not fit or exceeds `limit`.
absl::StatusOr<Rational> NoiseParameter(Int128 numerator, Int128 denominator, int64_t limit,
                                        std::string_view field) {
  Int128 a = numerator;
  Int128 b = denominator;
  while (b != 0) {
    const Int128 rest = a % b;
    a = b;
    b = rest;
  }
  numerator /= a;
  denominator /= a;
  if (numerator > static_cast<Int128>(limit) * denominator) {
    return InvalidField(
        field,
        "is too small for this request: the noise would drown every answer; ask for less or spend more");
  }
  constexpr int64_t kFits = std::numeric_limits<int64_t>::max();
  if (numerator > kFits || denominator > kFits) {
    return InvalidField(
        field, "makes a noise parameter that cannot be held exactly; give fewer decimals or ask for less");
  }
  return Rational{static_cast<int64_t>(numerator), static_cast<int64_t>(denominator)};
}

}  // namespace

absl::StatusOr<Sensitivity> MarginalsSensitivity(const UnitBound& unit, int64_t marginals) {
  if (absl::Status valid = ValidateUnit(unit); !valid.ok()) return valid;
  if (marginals < 1) return absl::InvalidArgumentError("there must be at least one marginal");
  const Int128 m = unit.max_records;
  const Int128 sides = unit.relation == NeighbourRelation::kReplaceOne ? 2 : 1;
  const Int128 l1 = sides * m * marginals;
  const Int128 l2_squared = sides * m * m * marginals;
  if (marginals > kMaxSensitivity || l2_squared > kMaxSensitivity) {
    return absl::OutOfRangeError(absl::StrCat("the sensitivity of ", marginals,
                                              " marginals for units of at most ", unit.max_records,
                                              " records exceeds 2^53"));
  }
  return Sensitivity{.l1 = static_cast<int64_t>(l1),
                     .l2_squared = static_cast<int64_t>(l2_squared),
                     .linf = unit.max_records};
}

absl::StatusOr<Sensitivity> RecordCountSensitivity(const UnitBound& unit) {
  return MarginalsSensitivity({.relation = NeighbourRelation::kAddRemove, .max_records = unit.max_records},
                              1);
}

Event NoiseEvent(const NoiseSpec& noise, const Sensitivity& sensitivity) {
  if (noise.mechanism == Mechanism::kDiscreteLaplace) {
    return {DiscreteLaplaceEvent{
        .scale = noise.parameter, .l1_sensitivity = sensitivity.l1, .linf_sensitivity = sensitivity.linf}};
  }
  DiscreteGaussianEvent event{.sigma_squared = noise.parameter,
                              .l2_sensitivity_squared = sensitivity.l2_squared};
  const Int128 above = static_cast<Int128>(sensitivity.linf) + 1;
  if (above * above <= sensitivity.l2_squared) event.linf_sensitivity = sensitivity.linf;
  return {event};
}

absl::StatusOr<NoiseSpec> LaplaceNoiseFor(const Sensitivity& sensitivity, Epsilon epsilon) {
  if (epsilon.units() <= 0) return InvalidField("spend.epsilon", "must be greater than 0");
  auto scale = NoiseParameter(static_cast<Int128>(sensitivity.l1) * kEpsilonUnitsPerOne, epsilon.units(),
                              kMaxNoiseScale, "spend.epsilon");
  if (!scale.ok()) return scale.status();
  return NoiseSpec{.mechanism = Mechanism::kDiscreteLaplace, .parameter = *scale};
}

absl::StatusOr<NoiseSpec> GaussianNoiseFor(const Sensitivity& sensitivity, Rho rho) {
  if (rho.units() <= 0) return InvalidField("spend.rho", "must be greater than 0");
  auto variance = NoiseParameter(static_cast<Int128>(sensitivity.l2_squared) * kRhoUnitsPerOne,
                                 static_cast<Int128>(rho.units()) * 2, kMaxNoiseVariance, "spend.rho");
  if (!variance.ok()) return variance.status();
  return NoiseSpec{.mechanism = Mechanism::kDiscreteGaussian, .parameter = *variance};
}

}  // namespace curator::dp
