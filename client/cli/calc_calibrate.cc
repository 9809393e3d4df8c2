// `curator calc calibrate`: the least noise that keeps a promise.
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/text.h"
#include "client/cli/syntax/calc_number.h"
#include "dp/accounting/calculators/discrete_gaussian.h"
#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/zcdp.h"
#include "dp/accounting/zcdp_conversion.h"

namespace curator::cli {
namespace {

// What one mechanism needs; `value` is its scale or sigma, rounded up, or why there is none.
struct Calibration {
  std::string mechanism;
  std::string parameter;
  absl::StatusOr<double> value;
  std::string how;
};

// Of discrete Laplace noise the variance is 1/(2 sinh^2(1/(2 scale))).
double StandardDeviation(const Calibration& calibration) {
  if (calibration.parameter == "sigma") return *calibration.value;
  if (calibration.mechanism == "laplace") return *calibration.value * std::sqrt(2.0);
  return 1 / (std::sqrt(2.0) * std::sinh(1 / (2 * *calibration.value)));
}

Row RowOf(const Calibration& calibration) {
  if (!calibration.value.ok()) {
    return {calibration.mechanism, calibration.parameter, std::monostate(),
            std::monostate(),      std::monostate(),      std::string(calibration.value.status().message())};
  }
  return {calibration.mechanism, calibration.parameter,          RoundedUpText(*calibration.value),
          *calibration.value,    StandardDeviation(calibration), calibration.how};
}

// A sigma for sensitivity 1 and then for `sensitivity`, rounded up.
double Scaled(double sigma, const dp::Rational& sensitivity) {
  return (dp::Interval::OfDouble(sigma) * dp::Interval::Of(sensitivity)).Upper();
}

absl::Status NeedsWholeShift() {
  return absl::InvalidArgumentError("noise on whole numbers needs a whole sensitivity");
}

std::vector<Calibration> ForPure(dp::Epsilon epsilon, const dp::Rational& sensitivity) {
  const double scale = (dp::Interval::Of(sensitivity) / dp::Interval::Of(epsilon)).Upper();
  absl::StatusOr<double> discrete = scale;
  if (sensitivity.denominator != 1) discrete = NeedsWholeShift();
  return {{"laplace", "scale", scale, "l1/epsilon"}, {"discrete-laplace", "scale", discrete, "l1/epsilon"}};
}

absl::StatusOr<double> DiscreteGaussianSigma(const dp::Interval& epsilon, const dp::Interval& delta,
                                             const dp::Rational& sensitivity) {
  if (sensitivity.denominator != 1) return NeedsWholeShift();
  ASSIGN_OR_RETURN(const int64_t thousandths,
                   dp::DiscreteGaussianSigmaThousandths(epsilon, delta, sensitivity.numerator));
  return dp::Interval::Of(dp::Rational{thousandths, 1000}).Upper();
}

std::vector<Calibration> ForApproximate(dp::Epsilon promise, dp::Delta promised_delta,
                                        const dp::Rational& sensitivity) {
  const dp::Interval epsilon = dp::Interval::Of(promise);
  const dp::Interval delta = dp::Interval::Of(promised_delta);
  const double rho = dp::LargestZcdp(epsilon, delta).Lower();
  absl::StatusOr<double> by_zcdp = absl::OutOfRangeError("no rho keeps this promise");
  if (rho > 0) by_zcdp = Scaled(dp::GaussianSigmaOfZcdp(rho), sensitivity);
  absl::StatusOr<double> classic = dp::ClassicGaussianSigma(epsilon, delta);
  if (classic.ok()) classic = Scaled(*classic, sensitivity);
  return {{"gaussian", "sigma", Scaled(dp::GaussianSigma(epsilon, delta), sensitivity),
           "analytic (Balle, Wang 2018)"},
          {"gaussian", "sigma", classic, "textbook, for epsilon <= 1 only"},
          {"discrete-gaussian", "sigma", DiscreteGaussianSigma(epsilon, delta, sensitivity),
           "its own curve, one count"},
          {"discrete-gaussian", "sigma", by_zcdp, "zcdp, any number of counts"}};
}

std::vector<Calibration> ForZcdp(dp::Rho rho, const dp::Rational& sensitivity) {
  const double sigma = Scaled(dp::GaussianSigmaOfZcdp(dp::Interval::Of(rho).Lower()), sensitivity);
  return {{"gaussian", "sigma", sigma, "l2/sqrt(2 rho)"},
          {"discrete-gaussian", "sigma", sigma, "l2/sqrt(2 rho)"}};
}

absl::StatusOr<std::vector<Calibration>> Calibrations(const CalibrateNoise& command) {
  ASSIGN_OR_RETURN(const dp::Rational sensitivity, ParsePositive(command.sensitivity, "sensitivity"));
  if (!command.rho.empty()) {
    ASSIGN_OR_RETURN(const dp::Rho rho, ParseRho(command.rho));
    return ForZcdp(rho, sensitivity);
  }
  ASSIGN_OR_RETURN(const dp::Epsilon epsilon, ParseEpsilon(command.epsilon));
  std::vector<Calibration> all = ForPure(epsilon, sensitivity);
  if (command.delta.empty()) return all;
  ASSIGN_OR_RETURN(const dp::Delta delta, ParseDelta(command.delta));
  for (Calibration& one : ForApproximate(epsilon, delta, sensitivity)) all.push_back(std::move(one));
  return all;
}

}  // namespace

absl::Status Run(Session& session, const CalibrateNoise& command) {
  ASSIGN_OR_RETURN(const std::vector<Calibration> calibrations, Calibrations(command));
  Table table{"calibrations",
              "",
              {{"mechanism", "mechanism"},
               {"parameter", "parameter"},
               ColumnForPeople("value", "value"),
               ColumnForPrograms("value", "value"),
               {"standard_deviation", "std dev", Align::kRight},
               {"how", "how"}},
              {}};
  for (const Calibration& calibration : calibrations) table.rows.push_back(RowOf(calibration));
  Document document;
  document.fields = {{"sensitivity", "sensitivity", command.sensitivity}};
  document.tables.push_back(std::move(table));
  document.notes = {"the sensitivity is L1 for Laplace noise and L2 for Gaussian noise"};
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
