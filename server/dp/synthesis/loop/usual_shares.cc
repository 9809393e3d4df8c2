#include "dp/synthesis/loop/usual_shares.h"

#include <algorithm>
#include <cmath>

#include "dp/synthesis/loop/candidates.h"

namespace curator::dp {
namespace {

constexpr int64_t kGuessedRecordsOfLoop = 20'000;

}  // namespace

LoopFacts FactsOf(const SynthesisInput& input, const LoopSchedule& schedule, const BudgetShare& budget) {
  LoopFacts facts{.records = static_cast<double>(
                      std::max<int64_t>(1, input.assume_records.value_or(kGuessedRecordsOfLoop))),
                  .attributes = static_cast<double>(schedule.attributes.size()),
                  .mean_size = 0,
                  .candidate_cells = MeanCells(input.domain, schedule.candidates),
                  .candidates = std::ssize(schedule.candidates),
                  .budget = budget};
  for (const int64_t size : input.domain.SizesOf(schedule.attributes))
    facts.mean_size += static_cast<double>(size) / facts.attributes;
  return facts;
}

double ExpectedNoise(const BudgetShare& whole, double counts) {
  const double amount = static_cast<double>(whole.units) / 1e12;
  return whole.is_pure ? counts / amount : 0.8 * std::sqrt(counts / (2 * amount));
}

double NoiseShare(const LoopFacts& facts, double counts) {
  return ExpectedNoise(facts.budget, counts) / facts.records;
}

int64_t UsualOneWayPercent(const LoopFacts& facts) {
  if (facts.candidates == 0) return 99;
  const double lost = facts.mean_size * NoiseShare(facts, facts.attributes);
  double percent = 180 * std::sqrt(lost);
  if (facts.budget.is_pure) {
    const double share =
        facts.attributes / (facts.attributes + static_cast<double>(UsualMeasurements(facts)));
    percent = std::max(percent, 100 * share * std::sqrt(share));
  }
  return std::clamp<int64_t>(static_cast<int64_t>(percent), 2, 80);
}

int64_t UsualMeasurements(const LoopFacts& facts) {
  const double signal = 0.004 / NoiseShare(facts, 1);
  const double narrow = std::sqrt(std::sqrt(8 / std::max(8.0, facts.candidate_cells)));
  double measurements = 1.5 * facts.attributes * std::sqrt(signal) * narrow;
  if (facts.budget.is_pure) measurements = std::min(measurements, 13 * std::sqrt(std::sqrt(signal)));
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(measurements, 1.0 * kMostMeasurements)));
}

}  // namespace curator::dp
