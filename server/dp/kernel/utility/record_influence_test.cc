#include "dp/kernel/utility/record_influence.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dp/kernel/testing/groups.h"
#include "dp/kernel/utility/group_scores.h"

namespace curator::dp {
namespace {

std::vector<double> LogDensities(const GroupGrid& grid, std::span<const int64_t> weights,
                                 std::span<const uint32_t> codes) {
  const GroupSums group = SumsOf(grid, weights, codes);
  std::vector<double> all(RowsOf(grid) * RowLengthOf(grid));
  for (size_t row = 0; row < RowsOf(grid); ++row) {
    LogDensitiesOfRow(grid, group, 1, row,
                      std::span(all).subspan(row * RowLengthOf(grid), RowLengthOf(grid)));
  }
  return all;
}

// How far apart one more record of this code moves the logarithms of a group of `others`.
double Moved(const GroupGrid& grid, std::span<const int64_t> weights, std::vector<uint32_t> others,
             uint32_t code) {
  const auto before = LogDensities(grid, weights, others);
  others.push_back(code);
  const auto after = LogDensities(grid, weights, others);
  double least = 1e300;
  double most = -1e300;
  for (size_t j = 0; j < before.size(); ++j) {
    least = std::min(least, after[j] - before[j]);
    most = std::max(most, after[j] - before[j]);
  }
  return most - least;
}

// The largest share of its bound by which a record of any code moves groups, extreme ones and at random.
double LargestShareOfTheBound(const GroupGrid& grid, std::span<const int64_t> weights, double bound_factor) {
  std::mt19937_64 random(3);
  std::vector<std::vector<uint32_t>> groups = {{}};
  for (uint32_t code = 0; code < weights.size(); ++code) {
    for (const size_t members : {size_t{1}, size_t{5}, size_t{1000}}) groups.emplace_back(members, code);
  }
  for (int i = 0; i < 300; ++i)
    groups.push_back(RandomGroup(30, static_cast<uint32_t>(weights.size()), random));
  double share = 0;
  for (const std::vector<uint32_t>& others : groups) {
    for (uint32_t code = 0; code < weights.size(); ++code) {
      const double weight = static_cast<double>(weights[code]) / static_cast<double>(kWholeRecord);
      if (weights[code] == 0) continue;
      const double bound = bound_factor * SpreadOfOneRecord(grid, code, weight);
      share = std::max(share, Moved(grid, weights, others, code) / bound);
    }
  }
  return share;
}

std::vector<GroupGrid> Grids() {
  NormalGroups narrow = SmallNormalModel();
  narrow.withins = {2};
  narrow.betweens = {0.001, 30};
  NormalGroups wide = SmallNormalModel();
  wide.withins = {0.01, 100};
  return {GridOf(SmallNormalModel()), GridOf(narrow), GridOf(wide), GridOf(SmallBinomialModel())};
}

TEST(RecordInfluence, BoundsWhatOneRecordAddsWhateverItsGroupAndTheWeights) {
  for (const GroupGrid& grid : Grids()) {
    for (const RecordWeights kind : {RecordWeights::kOne, RecordWeights::kScalar, RecordWeights::kVector}) {
      EXPECT_LE(LargestShareOfTheBound(grid, WeightsOfCodes(grid, 5, kind, 1.5), 1), 1 + 1e-9);
    }
    // Weights that no rule would give: the theorem asks only that they are functions of the record.
    EXPECT_LE(LargestShareOfTheBound(grid, std::vector<int64_t>{1, 65536, 30000, 2000, 0}, 1), 1 + 1e-6);
  }
}

TEST(RecordInfluence, OfTheBoundIsReachedByALoneRecord) {
  const GroupGrid grid = GridOf(SmallNormalModel());
  EXPECT_GT(LargestShareOfTheBound(grid, WeightsOfCodes(grid, 5, RecordWeights::kVector, 1.5), 1), 0.95);
}

TEST(RecordInfluenceCanary, ABoundThatIsTooSmallByATenthIsCaught) {
  const GroupGrid grid = GridOf(SmallNormalModel());
  EXPECT_GT(LargestShareOfTheBound(grid, WeightsOfCodes(grid, 5, RecordWeights::kVector, 1.5), 0.9), 1);
}

// The bound of ALGORITHMS by Jensen's inequality, its absolute values doubled: never below ours.
TEST(RecordInfluence, IsNoLooserThanByJensensInequality) {
  const NormalGroups model = SmallNormalModel();
  const GroupGrid grid = GridOf(model);
  for (uint32_t code = 0; code < 5; ++code) {
    const double farthest = std::max(model.values[code] - model.low, model.high - model.values[code]);
    for (const double weight : {0.01, 0.3, 1.0}) {
      double largest = 0;
      for (const double within : model.withins) {
        for (const double between : model.betweens) {
          const double half_log = std::log(2 * 3.14159265358979 * within * within) / 2;
          const double drop = (farthest * farthest + between * between) / (2 * within * within);
          largest = std::max({largest, weight * std::abs(half_log), weight * std::abs(half_log + drop)});
        }
      }
      EXPECT_LE(SpreadOfOneRecord(grid, code, weight), 2 * largest * (1 + 1e-8));
    }
  }
}

TEST(WeightsOfCodes, AreTheLargestThatKeepToTheWidth) {
  for (const GroupGrid& grid : Grids()) {
    for (const double width : {0.01, 1.0, 7.0, 500.0}) {
      const auto vector = WeightsOfCodes(grid, 5, RecordWeights::kVector, width);
      EXPECT_LE(LargestSpread(grid, vector), width);
      for (uint32_t code = 0; code < 5; ++code) {
        const double more = static_cast<double>(vector[code] + 1) / static_cast<double>(kWholeRecord);
        EXPECT_TRUE(vector[code] == kWholeRecord || SpreadOfOneRecord(grid, code, more) > width) << code;
      }
      const auto scalar = WeightsOfCodes(grid, 5, RecordWeights::kScalar, width);
      EXPECT_EQ(scalar, std::vector<int64_t>(5, *std::ranges::min_element(vector)));
    }
  }
}

TEST(WeightsOfCodes, AreLeastForTheResponsesNearTheBounds) {
  const auto weights = WeightsOfCodes(GridOf(SmallNormalModel()), 5, RecordWeights::kVector, 1);
  EXPECT_LT(weights[0], weights[1]);
  EXPECT_LT(weights[1], weights[2]);
  EXPECT_LT(weights[4], weights[3]);
}

TEST(WeightsOfCodes, DoNotDependOnTheUnitsOfTheResponse) {
  NormalGroups scaled = SmallNormalModel();
  for (std::vector<double>* axis : {&scaled.values, &scaled.means, &scaled.betweens, &scaled.withins}) {
    for (double& number : *axis) number *= 1024;
  }
  scaled.low *= 1024;
  scaled.high *= 1024;
  EXPECT_EQ(WeightsOfCodes(GridOf(scaled), 5, RecordWeights::kVector, 1),
            WeightsOfCodes(GridOf(SmallNormalModel()), 5, RecordWeights::kVector, 1));
}

}  // namespace
}  // namespace curator::dp
