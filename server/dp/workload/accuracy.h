// Error forecasts for all answers of a request together: public facts about noise, in floating point. They
// decide a price only through a spend, which is then counted exactly.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/measurement.h"

namespace curator::dp {

// Answers with errors of one distribution, or of some that it is at least as wide as.
struct ErrorClass {
  AnswerError error;
  int64_t answers = 0;
  double above = 0;  // by so much the variance factors that `error` stands for are overstated, all together
  bool operator==(const ErrorClass&) const = default;
};
using ErrorClasses = std::vector<ErrorClass>;

// Groups errors into at most kMostErrorClasses classes. Beyond that many distinct errors, those of similar
// variance are counted as the worst of them, some percent larger at most.
inline constexpr size_t kMostErrorClasses = 64;
ErrorClasses Classified(std::span<const AnswerError> errors);
ErrorClasses Merged(std::span<const ErrorClass> classes);

// Gaussian noise of which nothing shows but its variance: every answer is a combination of discrete Gaussian
// values of parameters of at least kLeastParameter on lattices of their own.
struct GaussianErrors {
  static constexpr double kLeastParameter = 0x1p16;
  double variance = 0;  // records^2, of an answer whose variance factor is 1
  bool operator==(const GaussianErrors&) const = default;
};

// The noise that variance factors are in units of: that of one measured value, or of an answer.
using ForecastNoise = std::variant<NoiseSpec, GaussianErrors>;

// At least the probability that an answer's error exceeds `error_bound` >= 0 in absolute value, and the half
// width of an interval that holds the true answer with probability `level`, 0 < level < 1.
double TailOf(const GaussianErrors& noise, const AnswerError& error, double error_bound);
double HalfWidthOf(const GaussianErrors& noise, const AnswerError& error, double level);

// Whether the sum over the answers of their own TailOf() at `max_error` exceeds `allowed`: a bound of the
// probability that some answer errs by more than `max_error`. Terms below a millionth of `allowed` may be
// rounded up.
bool ExceedsTail(const ForecastNoise& noise, const ErrorClasses& classes, double max_error, double allowed);

// The smallest error bound that holds for all answers together with probability `confidence`, by
// ExceedsTail(): an integer for noise on what is measured, otherwise up to a millionth of it above the
// smallest.
// Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < confidence < 1.
absl::StatusOr<double> SimultaneousError(const ForecastNoise& noise, const ErrorClasses& classes,
                                         double confidence);

// The square root of the mean variance of all answers, in records.
double MeanDeviation(const ForecastNoise& noise, const ErrorClasses& classes);

}  // namespace curator::dp
