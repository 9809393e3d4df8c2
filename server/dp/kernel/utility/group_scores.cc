#include "dp/kernel/utility/group_scores.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <limits>
#include <numbers>

#include "dp/kernel/utility/record_influence.h"

namespace curator::dp {
namespace {

constexpr double kSteps = static_cast<double>(int64_t{1} << kUtilityLatticeBits);
constexpr double kRecords = static_cast<double>(kWholeRecord);
constexpr size_t kRowsAtOnce = 16;

// |x| < 2^51: adding 1.5 2^52 leaves the nearest integer in the low bits.
int64_t Nearest(double x) {
  constexpr double kShift = 0x1.8p52;
  return std::bit_cast<int64_t>(x + kShift) - std::bit_cast<int64_t>(kShift);
}

// A group's statistics under the normal model, in public units from `low`.
template <typename Real>
struct NormalGroup {
  Real weight;
  Real mean;
  Real squares;  // weighted, around the mean
};

template <typename Real>
NormalGroup<Real> NormalOf(const NormalGroupGrid& grid, const GroupSums& group) {
  // Exact integers around the mean rounded down: its remainder is below 1, in steps.
  const int64_t divisor = std::max<int64_t>(1, group.weight);
  const Int128 floor = group.sum / divisor;
  const Int128 rest = group.sum - floor * group.weight;
  const Int128 squares = group.squares - 2 * floor * group.sum + floor * floor * group.weight;
  const auto weight = static_cast<Real>(group.weight);
  const auto part = static_cast<Real>(rest) / static_cast<Real>(divisor);
  const auto step = static_cast<Real>(grid.step);
  const Real around = static_cast<Real>(squares) - static_cast<Real>(rest) * part;
  return {.weight = weight / static_cast<Real>(kRecords),
          .mean = (static_cast<Real>(floor) + part) * step,
          .squares = std::max(around, Real(0)) / static_cast<Real>(kRecords) * step * step};
}

// The logarithms of a row are constant + slope (mean of the group - mean of the candidate)^2.
template <typename Real>
struct NormalRow {
  Real constant;
  Real slope;
};

template <typename Real>
NormalRow<Real> RowOf(const NormalGroupGrid& grid, const NormalGroup<Real>& group, Real power, size_t row) {
  const size_t within = row % grid.precision.size();
  const double between_squared = grid.between_squared[row / grid.precision.size()];
  const auto precision = static_cast<Real>(grid.precision[within]);
  const Real widened = 1 + group.weight * static_cast<Real>(between_squared * grid.precision[within]);
  Real twice =
      power * (group.weight * static_cast<Real>(grid.log_square[within]) + group.squares * precision) +
      std::log(widened);
  if (power != 1) {
    twice += std::log(power) -
             (1 - power) * std::log(2 * std::numbers::pi_v<Real> * static_cast<Real>(between_squared));
  }
  return {.constant = -twice / 2, .slope = -power * group.weight * precision / widened / 2};
}

// A group whose weights are all 0 contributes nothing; computing that takes as long as for any other group.
double Says(const GroupSums& sums) {
  return sums.weight == 0 ? 0 : 1;
}

void NormalDensities(const NormalGroupGrid& grid, const GroupSums& sums, double power, size_t row,
                     std::span<double> log_densities) {
  const auto group = NormalOf<double>(grid, sums);
  auto [constant, slope] = RowOf(grid, group, power, row);
  constant *= Says(sums);
  for (size_t m = 0; m < log_densities.size(); ++m) {
    const double distance = group.mean - grid.means[m];
    log_densities[m] = constant + slope * (distance * distance);
  }
}

void BinomialDensities(const BinomialGroupGrid& grid, const GroupSums& sums, size_t row,
                       std::span<double> log_densities) {
  const double successes = static_cast<double>(sums.sum) / kRecords;
  const double failures = static_cast<double>(static_cast<Int128>(sums.weight) - sums.sum) / kRecords;
  std::array<double, kEffectPoints> density{};
  double largest = -std::numeric_limits<double>::infinity();
  for (size_t q = 0; q < kEffectPoints; ++q) {
    density[q] = successes * grid.log_success[q] + failures * grid.log_failure[q];
    largest = std::max(largest, density[q]);
  }
  const size_t candidates = grid.rows() * grid.row_length();
  std::ranges::fill(log_densities, 0);
  for (size_t q = 0; q < kEffectPoints; ++q) {
    const double likelihood = std::exp(density[q] - largest);
    const double* shares = grid.shares.data() + q * candidates + row * grid.row_length();
    for (size_t m = 0; m < log_densities.size(); ++m) log_densities[m] += likelihood * shares[m];
  }
  for (double& each : log_densities) each = std::log(each) * Says(sums);
}

void AddInExtendedPrecision(const NormalGroupGrid& grid, const GroupSums& sums, size_t row,
                            std::span<int64_t> scores) {
  const auto group = NormalOf<long double>(grid, sums);
  const auto [constant, slope] = RowOf<long double>(grid, group, 1, row);
  for (size_t m = 0; m < scores.size(); ++m) {
    const long double distance = group.mean - static_cast<long double>(grid.means[m]);
    scores[m] += sums.times *
                 std::llround((constant + slope * distance * distance) * static_cast<long double>(kSteps));
  }
}

// The figures of a group that are the same for all rows.
struct Clipping {
  double power = 1;
  double best = 0;    // what its logarithms are compared with..
  double weight = 1;  // ..and how the difference counts
};

struct Extremes {
  double best;
  double worst;
};

Extremes ExtremesOf(const GroupGrid& grid, const GroupSums& group, double power, std::span<double> buffer) {
  Extremes found{-std::numeric_limits<double>::infinity(), std::numeric_limits<double>::infinity()};
  for (size_t row = 0; row < RowsOf(grid); ++row) {
    LogDensitiesOfRow(grid, group, power, row, buffer);
    for (const double each : buffer) {
      found.best = std::max(found.best, each);
      found.worst = std::min(found.worst, each);
    }
  }
  return found;
}

Clipping ClippingOf(const LatticeGroups& question, const GroupSums& group, std::span<double> buffer) {
  const Extremes plain = ExtremesOf(question.grid, group, 1, buffer);
  if (question.group == GroupWeight::kOne) return {.power = 1, .best = plain.best, .weight = 1};
  const double clip = static_cast<double>(-*question.low) / kSteps;
  const double weight = std::min(1.0, clip / std::max(clip, plain.best - plain.worst));
  if (question.group == GroupWeight::kOutside) return {.power = 1, .best = plain.best, .weight = weight};
  return {.power = weight, .best = ExtremesOf(question.grid, group, weight, buffer).best, .weight = 1};
}

// Calls work(i) for every i below `count`, on the cores that are free.
template <typename Work>
void ShareOut(Executor& executor, size_t count, size_t at_once, const Work& work) {
  std::atomic<size_t> next = 0;
  const size_t pieces = (count + at_once - 1) / at_once;
  executor.RunOnFreeCores(static_cast<int>(std::clamp<size_t>(pieces, 1, 64)), [&](int /*core*/) {
    for (size_t start = next.fetch_add(at_once); start < count; start = next.fetch_add(at_once))
      work(start, std::min(count, start + at_once));
  });
}

// Adds `times` the nearest integer to steps(m) to each score m.
template <typename Steps>
void AddSteps(int64_t times, std::span<int64_t> scores, const Steps& steps) {
  if (times == 1) {
    for (size_t m = 0; m < scores.size(); ++m) scores[m] += Nearest(steps(m));
  } else {
    for (size_t m = 0; m < scores.size(); ++m) scores[m] += times * Nearest(steps(m));
  }
}

// The largest weight of a group whose logarithms are computed in doubles.
double MostWeightInDoubles(const GroupGrid& grid) {
  const auto* normal = std::get_if<NormalGroupGrid>(&grid);
  return normal == nullptr ? std::numeric_limits<double>::infinity()
                           : kMostInDoubles / LargestTerm(*normal) * kRecords;
}

void AddUnclipped(const GroupGrid& grid, const GroupSums& group, double most_weight_in_doubles, size_t row,
                  std::span<double> buffer, std::span<int64_t> scores) {
  if (static_cast<double>(group.weight) > most_weight_in_doubles)
    return AddInExtendedPrecision(std::get<NormalGroupGrid>(grid), group, row, scores);
  LogDensitiesOfRow(grid, group, 1, row, buffer);
  AddSteps(group.times, scores, [&](size_t m) { return buffer[m] * kSteps; });
}

void AddClipped(const LatticeGroups& question, const Clipping& clipping, const GroupSums& group, size_t row,
                std::span<double> buffer, std::span<int64_t> scores) {
  const auto low = static_cast<double>(*question.low);
  const double weight = clipping.weight * kSteps;
  LogDensitiesOfRow(question.grid, group, clipping.power, row, buffer);
  // Within low..0 whatever the number is, NaN included: all that the theorem asks for.
  AddSteps(group.times, scores, [&](size_t m) {
    const double steps = weight * (buffer[m] - clipping.best);
    return steps >= low ? std::min(steps, 0.0) : low;
  });
}

}  // namespace

void LogDensitiesOfRow(const GroupGrid& grid, const GroupSums& group, double power, size_t row,
                       std::span<double> log_densities) {
  if (const auto* normal = std::get_if<NormalGroupGrid>(&grid)) {
    NormalDensities(*normal, group, power, row, log_densities);
  } else {
    BinomialDensities(std::get<BinomialGroupGrid>(grid), group, row, log_densities);
  }
}

std::vector<int64_t> ScoresOfGroups(const LatticeGroups& question, std::span<const GroupSums> groups,
                                    Executor& executor) {
  const size_t length = RowLengthOf(question.grid);
  const size_t rows = RowsOf(question.grid);
  std::vector<Clipping> clippings(question.low ? groups.size() : 0);
  ShareOut(executor, clippings.size(), 1, [&](size_t from, size_t to) {
    std::vector<double> buffer(length);
    for (size_t g = from; g < to; ++g) clippings[g] = ClippingOf(question, groups[g], buffer);
  });
  const double most_in_doubles = MostWeightInDoubles(question.grid);
  std::vector<int64_t> scores(rows * length);
  ShareOut(executor, rows, kRowsAtOnce, [&](size_t from, size_t to) {
    std::vector<double> buffer(length);
    for (size_t row = from; row < to; ++row) {
      const std::span<int64_t> of_row = std::span(scores).subspan(row * length, length);
      for (size_t g = 0; g < groups.size(); ++g) {
        if (question.low) {
          AddClipped(question, clippings[g], groups[g], row, buffer, of_row);
        } else {
          AddUnclipped(question.grid, groups[g], most_in_doubles, row, buffer, of_row);
        }
      }
    }
  });
  return scores;
}

}  // namespace curator::dp
