// Layer 5 of the audit, for the samplers: does the time of a draw tell what was drawn, or from what? A
// report, not a gate.
//
// For noise, the draws above the median magnitude against those below: whoever times a single draw learns
// something of its magnitude if the two differ. For selection, scores that are all equal against scores that
// one candidate dominates: two tables. Beside it a selection by rejection from a uniform proposal, whose time
// does depend on the scores: it shows that the measurement can see such a thing.
//
// Prints mean nanoseconds of both classes, without the slowest tenth, and Welch's t; |t| above 4.5 means that
// they differ.
#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <numeric>
#include <vector>

#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "dp/noise/drbg.h"
#include "dp/noise/exponential_mechanism.h"
#include "dp/noise/noise_spec.h"
#include "host/entropy.h"
#include "tests/statistical/welch.h"

namespace curator::statistics {
namespace {

constexpr int kDraws = 400'000;
constexpr int kSelections = 20'000;
constexpr double kKept = 0.9;

using Times = std::vector<double>;

double NanosecondsNow() {
  return std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

double Mean(const Times& times) {
  return std::accumulate(times.begin(), times.end(), 0.0) / static_cast<double>(times.size());
}

void Print(const char* name, const Times& one, const Times& other) {
  const TwoSamples kept = Cropped({one, other}, kKept);
  std::printf("%-44s %10.1f %10.1f %8.1f\n", name, Mean(kept.one), Mean(kept.other),
              WelchT(kept.one, kept.other));
}

template <typename Sampler>
void ReportDraws(const char* name, const Sampler& sampler, int64_t median) {
  dp::Drbg bits(host::NewDrawKey());
  Times small;
  Times large;
  for (int i = 0; i < kDraws; ++i) {
    const double start = NanosecondsNow();
    const int64_t value = sampler.Draw(bits);
    const double time = NanosecondsNow() - start;
    (std::abs(value) <= median ? small : large).push_back(time);
  }
  Print(name, small, large);
}

// The same for whole batches: the time of 1,000 draws against the sum of their magnitudes.
template <typename Sampler>
void ReportBatches(const char* name, const Sampler& sampler, double mean_magnitude) {
  dp::Drbg bits(host::NewDrawKey());
  std::vector<int64_t> values(1000);
  Times small;
  Times large;
  for (int i = 0; i < kDraws / 20; ++i) {
    const double start = NanosecondsNow();
    sampler.Fill(bits, values);
    const double time = NanosecondsNow() - start;
    double magnitude = 0;
    for (const int64_t value : values) magnitude += std::abs(static_cast<double>(value)) / 1000;
    (magnitude <= mean_magnitude ? small : large).push_back(time);
  }
  Print(name, small, large);
}

// What the product does not do: exact, but its number of rounds tells how the scores are spread.
size_t SelectByRejection(dp::BitSource& bits, const std::vector<int64_t>& scores) {
  const int64_t best = *std::max_element(scores.begin(), scores.end());
  dp::BitBuffer buffer(bits, 1);
  while (true) {
    const size_t i = buffer.NextBelow(scores.size());
    if (buffer.NextBelow(uint64_t{1} << (best - scores[i])) == 0) return i;  // with a probability of 2^-gap
  }
}

template <typename Select>
void ReportSelection(const char* name, const Select& select) {
  dp::Drbg bits(host::NewDrawKey());
  const std::vector<int64_t> equal(100, 0);
  std::vector<int64_t> dominated(100, -60);
  dominated[37] = 0;
  Times on_equal;
  Times on_dominated;
  std::vector<uint64_t> coins(kSelections);
  bits.Fill(coins);
  for (const uint64_t coin : coins) {
    const bool first = (coin & 1) == 0;
    const double start = NanosecondsNow();
    const volatile size_t selected = select(bits, first ? equal : dominated);
    static_cast<void>(selected);
    (first ? on_equal : on_dominated).push_back(NanosecondsNow() - start);
  }
  Print(name, on_equal, on_dominated);
}

void ReportAll() {
  const auto laplace = dp::DiscreteLaplace::Create({10, 1}).value();
  const auto gaussian = dp::DiscreteGaussian::Create({100, 1}).value();
  std::printf("%-44s %10s %10s %8s\n", "", "ns, one", "ns, other", "t");
  ReportDraws("laplace, scale 10: small, large", laplace, dp::DiscreteLaplaceHalfWidth({10, 1}, 0.5).value());
  ReportDraws("gaussian, sigma 10: small, large", gaussian,
              dp::DiscreteGaussianHalfWidth({100, 1}, 0.5).value());
  ReportBatches("laplace x 1000: small, large", laplace, dp::DiscreteLaplaceMeanAbsoluteValue({10, 1}));
  ReportBatches("gaussian x 1000: small, large", gaussian, dp::DiscreteGaussianMeanAbsoluteValue({100, 1}));
  ReportSelection("selection of 100: equal, dominated",
                  [](dp::BitSource& bits, const std::vector<int64_t>& scores) {
                    return dp::DrawExponential(bits, scores, {1, 2}).value();
                  });
  ReportSelection("selection by rejection: equal, dominated", SelectByRejection);
}

}  // namespace
}  // namespace curator::statistics

int main() {
  curator::statistics::ReportAll();
}
