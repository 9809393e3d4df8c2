#include "dp/workload/accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/errors.h"

namespace curator::dp {
namespace {

// One of a class that is at least as wide: a sum of more values of symmetric, unimodal noise lies farther out
// (Anderson 1955), and the bounds for least squares grow with the variance.
AnswerError Wider(const AnswerError& one, const AnswerError& other) {
  return one.variance_factor >= other.variance_factor ? one : other;
}

using Key = std::pair<bool, double>;  // sums of values apart from estimates, by variance

Key KeyOf(const AnswerError& error) {
  return {error.terms > 0, error.variance_factor};
}

}  // namespace

ErrorClasses Merged(std::span<const ErrorClass> classes) {
  std::map<Key, ErrorClass> counted;
  for (const ErrorClass& each : classes) {
    ErrorClass& found = counted[KeyOf(each.error)];
    found.error = each.error;
    found.answers += each.answers;
  }
  // A coarser and coarser grid of variances, until few enough kinds are left.
  for (double step = 1.02; counted.size() > kMostErrorClasses; step = step * step) {
    std::map<Key, ErrorClass> coarse;
    for (const auto& [key, each] : counted) {
      ErrorClass& found = coarse[{key.first, std::floor(std::log(key.second) / std::log(step))}];
      found.error = found.answers == 0 ? each.error : Wider(found.error, each.error);
      found.answers += each.answers;
    }
    std::map<Key, ErrorClass> again;
    for (const auto& [key, each] : coarse) again[KeyOf(each.error)] = each;
    counted = std::move(again);
  }
  ErrorClasses result;
  for (const auto& [key, each] : counted) result.push_back(each);
  return result;
}

ErrorClasses Classified(std::span<const AnswerError> errors) {
  std::map<Key, ErrorClass> counted;
  for (const AnswerError& error : errors) {
    ErrorClass& found = counted[KeyOf(error)];
    found.error = error;
    ++found.answers;
  }
  ErrorClasses classes;
  for (const auto& [key, each] : counted) classes.push_back(each);
  return Merged(classes);
}

double SimultaneousTail(const NoiseSpec& noise, const ErrorClasses& classes, double max_error) {
  double tail = 0;
  for (const ErrorClass& each : classes)
    tail += static_cast<double>(each.answers) * TailOf(noise, each.error, max_error);
  return std::min(1.0, tail);
}

absl::StatusOr<double> SimultaneousError(const NoiseSpec& noise, const ErrorClasses& classes,
                                         double confidence) {
  if (!(confidence > 0 && confidence < 1))
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  double high = 1;
  while (high < 0x1p60 && SimultaneousTail(noise, classes, high) > 1 - confidence) high *= 2;
  double low = -1;  // too small, or below every error
  while (high - low > 1) {
    const double middle = std::floor((low + high) / 2);
    (SimultaneousTail(noise, classes, middle) > 1 - confidence ? low : high) = middle;
  }
  return high;
}

double MeanDeviation(const NoiseSpec& noise, const ErrorClasses& classes) {
  double variance = 0;
  double answers = 0;
  for (const ErrorClass& each : classes) {
    variance += each.error.variance_factor * static_cast<double>(each.answers);
    answers += static_cast<double>(each.answers);
  }
  return std::sqrt(variance / answers) * ForecastError(noise).standard_deviation;
}

}  // namespace curator::dp
