// How often intervals hold the true answer, and what they take to compute.
//
//   interval_coverage [DRAWS]     DRAWS of the noise (default 4,000) for each row, from a fixed key; where
//                                 there are few bins, 20 times as many
//
// For each strategy, mechanism and size of the noise, at levels of 80%, 95% and 99%: the share of all
// intervals of all draws that hold the true answer, the share for the answer with the fewest, and the mean
// half width in standard deviations of the answers. Then the processor time of all half widths of large
// requests.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "dp/noise/drbg.h"
#include "dp/noise/testing/drawn_noise.h"
#include "dp/workload/half_widths.h"
#include "dp/workload/interval_tree.h"
#include "dp/workload/measurement.h"

namespace curator::dp {
namespace {

constexpr double kLevels[] = {0.8, 0.95, 0.99};

std::vector<CodeInterval> RandomIntervals(int64_t bins, int count) {
  std::mt19937_64 random(11);
  std::vector<CodeInterval> intervals;
  for (int i = 0; i < count; ++i) {
    const auto one = static_cast<uint32_t>(random() % static_cast<uint64_t>(bins));
    const auto other = static_cast<uint32_t>(random() % static_cast<uint64_t>(bins));
    intervals.push_back({std::min(one, other), std::max(one, other)});
  }
  return intervals;
}

// A way to answer intervals of one attribute; branching 0 for sums of measured bins.
struct Way {
  std::string name;
  int64_t bins;
  int64_t branching;
  std::vector<CodeInterval> intervals;
};

std::vector<AnswerError> ErrorsOfWay(const Way& way, const IntervalTree* tree) {
  if (tree != nullptr) return TreeErrors(*tree, {{0}, Boxes{way.intervals}});
  std::vector<AnswerError> errors;
  for (const CodeInterval& interval : way.intervals) {
    const int64_t terms = int64_t{interval.last} - interval.first + 1;
    const auto factor = static_cast<double>(terms);
    errors.push_back({.variance_factor = factor, .terms = terms, .fourth_factor = factor});
  }
  return errors;
}

// The noise in each answer.
std::vector<double> NoiseOfAnswers(const Way& way, const IntervalTree* tree,
                                   const std::vector<int64_t>& values) {
  std::vector<double> bins;
  if (tree != nullptr) {
    bins = tree->EstimateBins(values);
  } else {
    bins.assign(values.begin(), values.end());
  }
  std::vector<double> below = {0};
  for (const double bin : bins) below.push_back(below.back() + bin);
  std::vector<double> errors;
  for (const CodeInterval& interval : way.intervals)
    errors.push_back(below[interval.last + size_t{1}] - below[interval.first]);
  return errors;
}

void Report(const Way& way, const NoiseSpec& noise, int draws) {
  std::optional<IntervalTree> tree;
  if (way.branching > 0) tree.emplace(way.bins, way.branching);
  const IntervalTree* made = tree ? &*tree : nullptr;
  const std::vector<AnswerError> errors = ErrorsOfWay(way, made);
  const EstimateWeights weights = tree ? WeightsIn(*tree) : nullptr;
  const double deviation = ForecastError(noise).standard_deviation;
  std::vector<std::vector<double>> widths;
  for (const double level : kLevels) {
    HalfWidths half_widths(noise, level);
    std::vector<double>& of_level = widths.emplace_back();
    for (const AnswerError& error : errors) of_level.push_back(half_widths.Of(error, weights).value());
  }
  std::vector<std::vector<int64_t>> held(widths.size(), std::vector<int64_t>(errors.size(), 0));
  Drbg bits(DrawKey(DrawKey::Bytes{1}));
  for (int draw = 0; draw < draws; ++draw) {
    const std::vector<double> noises =
        NoiseOfAnswers(way, made, DrawnNoise(noise, bits, made != nullptr ? made->nodes() : way.bins));
    for (size_t level = 0; level < widths.size(); ++level) {
      for (size_t i = 0; i < noises.size(); ++i)
        held[level][i] += std::abs(noises[i]) <= widths[level][i] ? 1 : 0;
    }
  }
  std::printf("| %s | %s, %.3g |", way.name.c_str(),
              noise.mechanism == Mechanism::kDiscreteLaplace ? "Laplace" : "Gaussian", deviation);
  for (size_t level = 0; level < widths.size(); ++level) {
    double all = 0;
    double least = 1;
    double deviations = 0;
    for (size_t i = 0; i < errors.size(); ++i) {
      const double share = static_cast<double>(held[level][i]) / draws;
      all += share / static_cast<double>(errors.size());
      least = std::min(least, share);
      deviations += widths[level][i] / deviation / std::sqrt(errors[i].variance_factor) /
                    static_cast<double>(errors.size());
    }
    std::printf(" %.2f (%.1f) %.3f |", 100 * all, 100 * least, deviations);
  }
  std::printf("\n");
  std::fflush(stdout);
}

void ReportTime(const char* name, int64_t bins, int64_t branching, const std::vector<CodeInterval>& intervals,
                const NoiseSpec& noise) {
  const IntervalTree tree(bins, branching);
  const std::clock_t start = std::clock();
  const std::vector<AnswerError> errors = TreeErrors(tree, {{0}, Boxes{intervals}});
  const std::clock_t middle = std::clock();
  HalfWidths half_widths(noise, 0.95);
  double sum = 0;
  for (const AnswerError& error : errors) sum += half_widths.Of(error, WeightsIn(tree)).value();
  const std::clock_t end = std::clock();
  std::printf("| %s, %ld branches, %s | %.2f | %.2f |\n", name, static_cast<long>(branching),
              noise.mechanism == Mechanism::kDiscreteLaplace ? "Laplace" : "Gaussian",
              static_cast<double>(middle - start) / CLOCKS_PER_SEC,
              static_cast<double>(end - middle) / CLOCKS_PER_SEC);
  if (!(sum > 0)) std::exit(1);
}

std::vector<Way> Ways() {
  const std::vector<CodeInterval> few = RandomIntervals(1024, 100);
  const std::vector<CodeInterval> many = RandomIntervals(1024, 3000);
  std::vector<CodeInterval> bins;
  for (uint32_t bin = 0; bin < 64; ++bin) bins.push_back({bin, bin});
  return {{"measured itself", 64, 0, bins},
          {"sums of a histogram of 1,024 bins", 1024, 0, few},
          {"3,000 such sums", 1024, 0, many},
          {"bins of a tree of 64, 2 branches", 64, 2, bins},
          {"a tree of 6 bins, 3 branches", 6, 3, RandomIntervals(6, 60)},
          {"a tree of 1,024 bins, 2 branches", 1024, 2, few},
          {"a tree of 1,024 bins, 8 branches", 1024, 8, few},
          {"a tree of 1,024 bins, 32 branches", 1024, 32, few},
          {"3,000 intervals of that of 2 branches", 1024, 2, many}};
}

std::vector<CodeInterval> Prefixes(int64_t bins) {
  std::vector<CodeInterval> prefixes;
  for (int64_t bin = 0; bin < bins; ++bin) prefixes.push_back({0, static_cast<uint32_t>(bin)});
  return prefixes;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  using namespace curator::dp;
  const int draws = argc > 1 ? std::atoi(argv[1]) : 4000;
  constexpr Mechanism kLaplace = Mechanism::kDiscreteLaplace;
  constexpr Mechanism kGaussian = Mechanism::kDiscreteGaussian;
  std::printf(
      "| answers | noise and its deviation | 80%% | 95%% | 99%% |\n| --- | --- | --- | --- | --- |\n");
  for (const Way& way : Ways()) {
    for (const NoiseSpec& noise : {NoiseSpec{kLaplace, {1, 1}}, NoiseSpec{kLaplace, {40, 1}},
                                   NoiseSpec{kGaussian, {2, 1}}, NoiseSpec{kGaussian, {1600, 1}}})
      Report(way, noise, way.bins <= 64 ? 20 * draws : draws);
  }
  std::printf("\n| request | s for errors | s for half widths |\n| --- | --- | --- |\n");
  for (const NoiseSpec& noise : {NoiseSpec{kLaplace, {40, 1}}, NoiseSpec{kGaussian, {1600, 1}}}) {
    for (const int64_t branching : {2, 32})
      ReportTime("all prefixes of 2^20 bins", 1 << 20, branching, Prefixes(1 << 20), noise);
    ReportTime("2^21 intervals of 2^20 bins", 1 << 20, 2, RandomIntervals(1 << 20, 1 << 21), noise);
    ReportTime("100 intervals of 2^20 bins", 1 << 20, 2, RandomIntervals(1 << 20, 100), noise);
  }
  return 0;
}
