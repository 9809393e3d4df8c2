#include "dp/workload/accuracy.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/errors.h"
#include "dp/workload/noise_combination.h"

namespace curator::dp {
namespace {

// At least as wide as both of two error distributions: a sum of more values of symmetric, unimodal noise has
// longer tails (Anderson 1955), and the bounds for other weights grow with both factors.
AnswerError Wider(const AnswerError& one, const AnswerError& other) {
  AnswerError wider = one.variance_factor >= other.variance_factor ? one : other;
  wider.fourth_factor = std::max(one.fourth_factor, other.fourth_factor);
  return wider;
}

// At least as wide as `widest` and all of `others` of its kind.
AnswerError AtLeast(AnswerError widest, std::span<const ErrorClass> others, bool are_sums) {
  for (const ErrorClass& each : others) {
    if ((each.error.terms > 0) == are_sums) widest = Wider(widest, each.error);
  }
  return widest;
}

// Adds the answers of `each`.
void AddTo(ErrorClass& found, const ErrorClass& each) {
  if (found.answers == 0) {
    found = each;
    return;
  }
  const auto overstated = [](const ErrorClass& one, double factor) {
    return one.above + static_cast<double>(one.answers) * (factor - one.error.variance_factor);
  };
  const AnswerError wider = Wider(found.error, each.error);
  found.above = overstated(found, wider.variance_factor) + overstated(each, wider.variance_factor);
  found.error = wider;
  found.answers += each.answers;
}

using ClassKey = std::pair<bool, double>;  // sums of values apart from estimates, by variance

ClassKey KeyOf(const AnswerError& error) {
  return {error.terms > 0, error.variance_factor};
}

double TailUnder(const ForecastNoise& noise, const AnswerError& error, double error_bound) {
  return std::visit([&](const auto& each) { return TailOf(each, error, error_bound); }, noise);
}

// A value of weight a adds at least kLeastParameter a^2 to the variance.
double LargestWeightIn(double variance) {
  return std::sqrt(variance / GaussianErrors::kLeastParameter);
}

}  // namespace

double TailOf(const GaussianErrors& noise, const AnswerError& error, double error_bound) {
  const double variance = noise.variance * error.variance_factor;
  return TailBoundOfGaussians(GaussianErrors::kLeastParameter, variance, LargestWeightIn(variance),
                              error_bound);
}

double HalfWidthOf(const GaussianErrors& noise, const AnswerError& error, double level) {
  const double variance = noise.variance * error.variance_factor;
  return HalfWidthBoundOfGaussians(GaussianErrors::kLeastParameter, variance, LargestWeightIn(variance),
                                   level);
}

ErrorClasses Merged(std::span<const ErrorClass> classes) {
  std::map<ClassKey, ErrorClass> counted;
  for (const ErrorClass& each : classes) AddTo(counted[KeyOf(each.error)], each);
  // Ever coarser grids of variances, until few enough classes are left.
  for (double step = 1.02; counted.size() > kMostErrorClasses; step = step * step) {
    std::map<ClassKey, ErrorClass> coarse;
    for (const auto& [key, each] : counted)
      AddTo(coarse[{key.first, std::floor(std::log(key.second) / std::log(step))}], each);
    std::map<ClassKey, ErrorClass> again;
    for (const auto& [key, each] : coarse) again[KeyOf(each.error)] = each;
    counted = std::move(again);
  }
  ErrorClasses result;
  for (const auto& [key, each] : counted) result.push_back(each);
  return result;
}

ErrorClasses Classified(std::span<const AnswerError> errors) {
  constexpr size_t kMostExact = 1024;
  const double step = std::log(1.01);
  std::map<ClassKey, ErrorClass> counted;
  for (const AnswerError& error : errors) {
    // Beyond kMostExact classes, further errors are counted on a grid of variances.
    const bool is_exact = counted.size() < kMostExact;
    const ClassKey key =
        is_exact ? KeyOf(error)
                 : ClassKey{error.terms > 0, -1 - std::ceil(std::log(error.variance_factor) / step)};
    AddTo(counted[key], {error, 1});
  }
  ErrorClasses classes;
  for (const auto& [key, each] : counted) classes.push_back(each);
  return Merged(classes);
}

bool ExceedsTail(const ForecastNoise& noise, const ErrorClasses& classes, double max_error, double allowed) {
  double tail = 0;
  for (const bool are_sums : {true, false}) {
    double answers = 0;  // remaining, of this kind
    for (const ErrorClass& each : classes) {
      if ((each.error.terms > 0) == are_sums) answers += static_cast<double>(each.answers);
    }
    // From the largest variance on: the tails of the remaining classes are no longer than the longest here.
    for (size_t i = classes.size(); i-- > 0;) {
      const ErrorClass& each = classes[i];
      if ((each.error.terms > 0) != are_sums) continue;
      const double own = TailUnder(noise, each.error, max_error);
      if (answers * own <= allowed * 1e-6) {
        const AnswerError longest = AtLeast(each.error, std::span(classes).first(i), are_sums);
        const double rest = longest == each.error ? own : TailUnder(noise, longest, max_error);
        if (answers * rest <= allowed * 1e-6) {
          tail += answers * rest;
          break;
        }
      }
      tail += static_cast<double>(each.answers) * own;
      if (tail > allowed) return true;
      answers -= static_cast<double>(each.answers);
    }
  }
  return tail > allowed;
}

absl::StatusOr<double> SimultaneousError(const ForecastNoise& noise, const ErrorClasses& classes,
                                         double confidence) {
  if (!(confidence > 0 && confidence < 1))
    return InvalidField("confidence_level", "must lie strictly between 0 and 1, e.g. 0.95");
  double high = 1;
  while (high < 0x1p60 && ExceedsTail(noise, classes, high, 1 - confidence)) high *= 2;
  constexpr double kStep = 1e-6;
  const bool is_integer = std::holds_alternative<NoiseSpec>(noise);
  double low = -1;  // too small, or below every error
  while (high - low > (is_integer ? 1 : kStep * high)) {
    const double middle = is_integer ? std::floor((low + high) / 2) : (low + high) / 2;
    (ExceedsTail(noise, classes, middle, 1 - confidence) ? low : high) = middle;
  }
  return high;
}

double MeanDeviation(const ForecastNoise& noise, const ErrorClasses& classes) {
  const auto* measured = std::get_if<NoiseSpec>(&noise);
  const double deviation = measured != nullptr ? ForecastError(*measured).standard_deviation
                                               : std::sqrt(std::get<GaussianErrors>(noise).variance);
  double variance = 0;
  double answers = 0;
  for (const ErrorClass& each : classes) {
    variance += each.error.variance_factor * static_cast<double>(each.answers) - each.above;
    answers += static_cast<double>(each.answers);
  }
  return std::sqrt(variance / answers) * deviation;
}

}  // namespace curator::dp
