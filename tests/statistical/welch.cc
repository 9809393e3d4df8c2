#include "tests/statistical/welch.h"

#include <algorithm>
#include <cmath>
#include <iterator>

namespace curator::statistics {
namespace {

struct Summary {
  double mean = 0;
  double variance_of_mean = 0;
};

Summary Summarise(const std::vector<double>& values) {
  const auto n = static_cast<double>(values.size());
  double sum = 0;
  for (const double value : values) sum += value;
  const double mean = sum / n;
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  return {mean, squares / (n - 1) / n};
}

std::vector<double> UpTo(const std::vector<double>& values, double limit) {
  std::vector<double> kept;
  std::copy_if(values.begin(), values.end(), std::back_inserter(kept),
               [limit](double value) { return value <= limit; });
  return kept;
}

}  // namespace

double WelchT(const std::vector<double>& one, const std::vector<double>& other) {
  const Summary first = Summarise(one);
  const Summary second = Summarise(other);
  const double difference = first.mean - second.mean;
  return difference == 0 ? 0 : difference / std::sqrt(first.variance_of_mean + second.variance_of_mean);
}

TwoSamples Cropped(const TwoSamples& samples, double share) {
  std::vector<double> all(samples.one);
  all.insert(all.end(), samples.other.begin(), samples.other.end());
  const auto position =
      all.begin() + static_cast<std::ptrdiff_t>(share * static_cast<double>(all.size() - 1));
  std::nth_element(all.begin(), position, all.end());
  const double limit = *position;
  return {UpTo(samples.one, limit), UpTo(samples.other, limit)};
}

}  // namespace curator::statistics
