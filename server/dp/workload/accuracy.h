// How far all answers of a request together can be off: public facts about noise, in floating point. Nothing
// here decides a price but by way of a spend that is then counted exactly.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/workload/measurement.h"
#include "dp/workload/noise_spec.h"

namespace curator::dp {

// Answers with errors of one distribution.
struct ErrorClass {
  AnswerError error;
  int64_t answers = 0;
};
using ErrorClasses = std::vector<ErrorClass>;

// Counts errors. Where they are of more than kMostErrorClasses kinds, those of similar variance are counted
// as the worst of them, at most some percent larger.
inline constexpr size_t kMostErrorClasses = 64;
ErrorClasses Classified(std::span<const AnswerError> errors);
ErrorClasses Merged(std::span<const ErrorClass> classes);

// At least the probability that some answer's error exceeds `max_error`: the sum over the answers of their
// own (exact for sums of measured values, Chernoff's bound for least squares; see TailOf()). At most 1.
double SimultaneousTail(const NoiseSpec& noise, const ErrorClasses& classes, double max_error);

// Whether that is more than `allowed`; what adds less than a millionth of it may be rounded up.
bool ExceedsTail(const NoiseSpec& noise, const ErrorClasses& classes, double max_error, double allowed);

// The smallest whole error that all answers stay within with probability `confidence` by ExceedsTail().
// Errors: INVALID_ARGUMENT ("confidence_level") unless 0 < confidence < 1.
absl::StatusOr<double> SimultaneousError(const NoiseSpec& noise, const ErrorClasses& classes,
                                         double confidence);

// The root of the mean variance of all answers, in records.
double MeanDeviation(const NoiseSpec& noise, const ErrorClasses& classes);

}  // namespace curator::dp
