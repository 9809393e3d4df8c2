// Error forecasts for all answers of a request together: public facts about noise, in floating point. They
// decide a price only through a spend, which is then counted exactly.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/noise/noise_spec.h"
#include "dp/workload/measurement.h"

namespace curator::dp {

// Answers with errors of one distribution.
struct ErrorClass {
  AnswerError error;
  int64_t answers = 0;
  bool operator==(const ErrorClass&) const = default;
};
using ErrorClasses = std::vector<ErrorClass>;

// Groups errors into at most kMostErrorClasses classes. Beyond that many distinct errors, those of similar
// variance are counted as the worst of them, some percent larger at most.
inline constexpr size_t kMostErrorClasses = 64;
ErrorClasses Classified(std::span<const AnswerError> errors);
ErrorClasses Merged(std::span<const ErrorClass> classes);

// Whether the sum over the answers of their own TailOf() at `max_error` exceeds `allowed`: a bound of the
// probability that some answer errs by more than `max_error`. Terms below a millionth of `allowed` may be
// rounded up.
bool ExceedsTail(const NoiseSpec& noise, const ErrorClasses& classes, double max_error, double allowed);

// The smallest integer error bound that holds for all answers together with probability `confidence`, by
// ExceedsTail().
// Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < confidence < 1.
absl::StatusOr<double> SimultaneousError(const NoiseSpec& noise, const ErrorClasses& classes,
                                         double confidence);

// The square root of the mean variance of all answers, in records.
double MeanDeviation(const NoiseSpec& noise, const ErrorClasses& classes);

}  // namespace curator::dp
