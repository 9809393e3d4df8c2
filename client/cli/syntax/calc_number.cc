#include "client/cli/syntax/calc_number.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::cli {
namespace {

absl::Status MustBePositive(const std::string& field) {
  return absl::InvalidArgumentError(absl::StrCat(field, ": must be positive"));
}

}  // namespace

absl::StatusOr<dp::Rational> ParsePositive(const std::string& text, const std::string& field) {
  ASSIGN_OR_RETURN(const dp::Epsilon number, dp::Epsilon::Parse(text, field));  // twelve places
  if (number.units() == 0) return MustBePositive(field);
  return dp::Reduced({number.units(), dp::kEpsilonUnitsPerOne});
}

absl::StatusOr<dp::Delta> ParseDelta(const std::string& text) {
  ASSIGN_OR_RETURN(const dp::Delta delta, dp::Delta::Parse(text, "delta"));
  if (delta.units() == 0 || delta.units() >= dp::kDeltaUnitsPerOne) {
    return absl::InvalidArgumentError("delta: must lie between 0 and 1");
  }
  return delta;
}

absl::StatusOr<dp::Epsilon> ParseEpsilon(const std::string& text) {
  absl::StatusOr<dp::Epsilon> epsilon = dp::Epsilon::Parse(text, "epsilon");
  if (epsilon.ok() && epsilon->units() == 0) return MustBePositive("epsilon");
  return epsilon;
}

absl::StatusOr<dp::Rho> ParseRho(const std::string& text) {
  absl::StatusOr<dp::Rho> rho = dp::Rho::Parse(text, "rho");
  if (rho.ok() && rho->units() == 0) return MustBePositive("rho");
  return rho;
}

}  // namespace curator::cli
