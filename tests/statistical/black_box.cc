#include "tests/statistical/black_box.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>
#include <utility>

#include "tests/statistical/binomial.h"
#include "tests/statistical/frequencies.h"

namespace curator::statistics {
namespace {

using Sample = std::vector<int64_t>;  // sorted

struct Range {
  int64_t low = -Event::kNoLimit;
  int64_t high = Event::kNoLimit;
};

uint64_t Count(const Sample& sample, Range range) {
  const auto first = std::lower_bound(sample.begin(), sample.end(), range.low);
  return static_cast<uint64_t>(std::upper_bound(first, sample.end(), range.high) - first);
}

struct Halves {
  Sample first;
  Sample second;
};

Halves Split(const Sample& sample) {
  const auto middle = sample.begin() + static_cast<std::ptrdiff_t>(sample.size() / 2);
  Halves halves{Sample(sample.begin(), middle), Sample(middle, sample.end())};
  std::sort(halves.first.begin(), halves.first.end());
  std::sort(halves.second.begin(), halves.second.end());
  return halves;
}

// Events worth considering: around 200 quantiles of both samples.
std::vector<Range> Candidates(const Sample& one, const Sample& other) {
  std::set<int64_t> thresholds;
  for (const Sample* sample : {&one, &other}) {
    for (size_t i = 0; i < 200; ++i) thresholds.insert((*sample)[i * sample->size() / 200]);
  }
  std::vector<Range> ranges;
  for (const int64_t threshold : thresholds) {
    ranges.push_back({.low = threshold});
    ranges.push_back({.high = threshold});
    ranges.push_back({threshold, threshold});
  }
  return ranges;
}

// Of what a pair of bounds, "P(E) >= p and Q(E) <= q", proves.
using Loss = std::function<double(double p, double q)>;

double ProvedLoss(const Sample& often, const Sample& rarely, Range range, const Loss& loss) {
  const double p = ProbabilityLowerBound(often.size(), Count(often, range), kFalseAlarm / 2);
  const double q = ProbabilityUpperBound(rarely.size(), Count(rarely, range), kFalseAlarm / 2);
  return loss(p, q);
}

LowerBound BestLowerBound(const PairOfSamples& samples, const Loss& loss) {
  const Halves table = Split(samples.on_table);
  const Halves neighbour = Split(samples.on_neighbour);
  const Halves* chosen_often = &table;
  const Halves* chosen_rarely = &neighbour;
  Range chosen;
  double best = 0;
  for (const Range range : Candidates(table.first, neighbour.first)) {
    for (const auto& [often, rarely] : {std::pair(&table, &neighbour), std::pair(&neighbour, &table)}) {
      const double value = ProvedLoss(often->first, rarely->first, range, loss);
      if (value <= best) continue;
      best = value;
      chosen = range;
      chosen_often = often;
      chosen_rarely = rarely;
    }
  }
  LowerBound bound;
  bound.value = std::max(0.0, ProvedLoss(chosen_often->second, chosen_rarely->second, chosen, loss));
  std::ostringstream event;
  event << chosen.low << " <= output <= " << chosen.high << ": " << Count(chosen_often->second, chosen)
        << " of " << chosen_often->second.size() << " against " << Count(chosen_rarely->second, chosen)
        << " of " << chosen_rarely->second.size();
  bound.event = event.str();
  return bound;
}

}  // namespace

LowerBound PureLossLowerBound(const PairOfSamples& samples) {
  return BestLowerBound(samples, [](double p, double q) { return p > 0 ? std::log(p / q) : 0; });
}

LowerBound DeltaLowerBound(const PairOfSamples& samples, double epsilon) {
  return BestLowerBound(samples, [epsilon](double p, double q) { return p - std::exp(epsilon) * q; });
}

double DeltaOfCount(const std::function<double(int64_t x)>& log_probability, double epsilon) {
  double delta = 0;
  for (int64_t x = -2000; x <= 2000; ++x) {
    const double p = std::exp(log_probability(x));
    const double q = std::exp(log_probability(x - 1));
    delta += std::max(0.0, p - std::exp(epsilon) * q);
  }
  return delta;
}

}  // namespace curator::statistics
