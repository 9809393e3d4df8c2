#include "dp/kernel/utility/group_scores.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <thread>
#include <vector>

#include "dp/kernel/testing/groups.h"
#include "dp/kernel/utility/record_influence.h"

namespace curator::dp {
namespace {

constexpr double kStep = 0x1p-20;

double LogNormal(double x, double mean, double deviation) {
  const double z = (x - mean) / deviation;
  return -0.5 * z * z - std::log(deviation) - 0.5 * std::log(2 * std::numbers::pi);
}

// ln of the integral over mu of (prod_j f(y_j | mu)^a_j phi(mu))^power, numerically.
double ByIntegration(const NormalGroups& model, size_t candidate, const std::vector<double>& weights,
                     double power, const std::vector<uint32_t>& codes) {
  const double mean = model.means[candidate % model.means.size()];
  const double within = model.withins[candidate / model.means.size() % model.withins.size()];
  const double between = model.betweens[candidate / model.means.size() / model.withins.size()];
  double integral = 0;
  const double width = between / 400;
  for (int i = -8000; i <= 8000; ++i) {
    const double mu = mean + i * width;
    double exponent = LogNormal(mu, mean, between);
    for (const uint32_t code : codes) exponent += weights[code] * LogNormal(model.values[code], mu, within);
    integral += std::exp(power * exponent) * width;
  }
  return std::log(integral);
}

std::vector<int64_t> Units(const std::vector<double>& weights) {
  std::vector<int64_t> units;
  for (const double weight : weights)
    units.push_back(std::llround(weight * static_cast<double>(kWholeRecord)));
  return units;
}

std::vector<double> LogDensities(const GroupGrid& grid, const GroupSums& group, double power = 1) {
  std::vector<double> all(RowsOf(grid) * RowLengthOf(grid));
  for (size_t row = 0; row < RowsOf(grid); ++row) {
    LogDensitiesOfRow(grid, group, power, row,
                      std::span(all).subspan(row * RowLengthOf(grid), RowLengthOf(grid)));
  }
  return all;
}

const std::vector<std::vector<uint32_t>> kGroups = {{3}, {0, 4}, {1, 2, 2, 3}, {4, 4, 4}};
const std::vector<double> kAll = {1, 1, 1, 1, 1};
const std::vector<double> kSome = {0.25, 0.5, 1, 0.125, 0};

TEST(LogDensities, OfNormalGroupsAreTheIntegralOverTheGroupsMean) {
  const NormalGroups model = SmallNormalModel();
  const GroupGrid grid = GridOf(model);
  for (const std::vector<double>& weights : {kAll, kSome}) {
    for (const std::vector<uint32_t>& codes : kGroups) {
      for (const double power : {1.0, 0.3}) {
        const auto values = LogDensities(grid, SumsOf(grid, Units(weights), codes), power);
        // A group whose members all have weight 0 says nothing, whatever the power.
        if (codes == kGroups.back() && weights == kSome) {
          EXPECT_EQ(values, std::vector<double>(values.size(), 0.0));
          continue;
        }
        for (size_t j = 0; j < values.size(); ++j)
          EXPECT_NEAR(values[j], ByIntegration(model, j, weights, power, codes), 1e-4) << j;
      }
    }
  }
}

TEST(LogDensities, OfGroupsThatDoNotDifferAreThoseOfIndependentMembers) {
  NormalGroups model = SmallNormalModel();
  model.betweens = {0};
  model.withins = {2};
  model.means = {1};
  const GroupGrid grid = GridOf(model);
  const std::vector<uint32_t> codes = {2, 4};
  EXPECT_NEAR(LogDensities(grid, SumsOf(grid, Units(kAll), codes))[0],
              LogNormal(0, 1, 2) + LogNormal(3, 1, 2), 1e-9);
}

TEST(LogDensities, OfBinomialGroupsAreThoseOfABetaDistributionWhereItsEdgesDoNotMatter) {
  BinomialGroups model = SmallBinomialModel();
  model.edge = 1e-6;
  model.means = {0.3, 0.5};
  model.correlations = {0.1, 0.3};
  const GroupGrid grid = GridOf(model);
  const auto log_beta = [](double a, double b) {
    return std::lgamma(a) + std::lgamma(b) - std::lgamma(a + b);
  };
  const auto exact = [&](size_t j, double successes, double failures) {
    const double size = 1 / model.correlations[j / 2] - 1;
    const double a = size * model.means[j % 2];
    const double b = size - a;
    return log_beta(a + successes, b + failures) - log_beta(a, b);
  };
  const std::vector<uint32_t> codes = {0, 3, 1, 2, 2};  // two successes
  const auto values = LogDensities(grid, SumsOf(grid, Units(kAll), codes));
  for (size_t j = 1; j < values.size(); ++j)  // up to what is the same for all candidates
    EXPECT_NEAR(values[j] - values[0], exact(j, 2, 3) - exact(0, 2, 3), 2e-3);
}

TEST(LogDensities, OfBinomialGroupsStayFiniteForTheLargestGroups) {
  const GroupGrid grid = GridOf(SmallBinomialModel());
  GroupSums group{.times = 1, .weight = ((int64_t{1} << 31) - 1) * kWholeRecord, .sum = 0, .squares = 0};
  for (const int share : {0, 1, 2}) {
    group.sum = static_cast<Int128>(group.weight) * share / 2;
    for (const double value : LogDensities(grid, group)) EXPECT_TRUE(std::isfinite(value));
  }
}

LatticeGroups Unclipped(const GroupGrid& grid) {
  return {.grid = grid,
          .weights = Units(kAll),
          .group = GroupWeight::kOne,
          .low = std::nullopt,
          .role = GroupRole::kAroundRecord};
}

// A group of all codes, each `copies` times, as the model sees it.
GroupSums LargeGroup(const GroupGrid& grid, int64_t copies) {
  const std::vector<uint32_t> codes = {0, 1, 2, 3, 4};
  GroupSums sums = SumsOf(grid, Units(kAll), codes);
  sums.weight *= copies;
  sums.sum *= copies;
  sums.squares *= copies;
  return sums;
}

// Doubles against extended precision: neighbouring groups around the size where one gives way to the other
// have scores that differ by what the next members add.
TEST(ScoresOfGroups, OfLargeGroupsAreAsExactAsOfSmallOnes) {
  const GroupGrid grid = GridOf(SmallNormalModel());
  const auto& normal = std::get<NormalGroupGrid>(grid);
  const auto turn = static_cast<int64_t>(kMostInDoubles / LargestTerm(normal) / 5);
  const LatticeGroups question = Unclipped(grid);
  std::vector<std::vector<int64_t>> scores;
  for (int64_t copies = turn - 2; copies <= turn + 3; ++copies) {
    const GroupSums group = LargeGroup(grid, copies);
    scores.push_back(ScoresOfGroups(question, std::span(&group, 1), OnlyThisThread()));
  }
  const int64_t error = ErrorInSteps(grid);
  for (size_t j = 0; j < scores[0].size(); ++j) {
    const int64_t first = scores[1][j] - scores[0][j];
    for (size_t i = 2; i < scores.size(); ++i)
      EXPECT_LE(std::abs(scores[i][j] - scores[i - 1][j] - first), 4 * error) << j;
  }
}

TEST(ScoresOfGroups, DoNotOverflowForTheLargestGroups) {
  NormalGroups model = SmallNormalModel();
  model.withins = {5.0 / 40};  // a record moves a logarithm by at most 800
  const GroupGrid grid = GridOf(model);
  const GroupSums group = LargeGroup(grid, ((int64_t{1} << 31) - 1) / 5);
  for (const int64_t score : ScoresOfGroups(Unclipped(grid), std::span(&group, 1), OnlyThisThread()))
    EXPECT_LT(std::abs(score), int64_t{1} << 61);
}

TEST(ScoresOfGroups, CountAGroupAsOftenAsItOccurs) {
  for (const GroupGrid& grid : {GridOf(SmallNormalModel()), GridOf(SmallBinomialModel())}) {
    for (const std::optional<int64_t> low : {std::optional<int64_t>(), std::optional<int64_t>(-1'500'000)}) {
      LatticeGroups question = Unclipped(grid);
      question.low = low;
      GroupSums group = SumsOf(grid, question.weights, kGroups[2]);
      const std::vector<GroupSums> three(3, group);
      group.times = 3;
      EXPECT_EQ(ScoresOfGroups(question, std::span(&group, 1), OnlyThisThread()),
                ScoresOfGroups(question, three, OnlyThisThread()));
    }
  }
}

std::vector<int64_t> Clipped(const GroupGrid& grid, GroupWeight weight, double clip,
                             const std::vector<uint32_t>& codes) {
  LatticeGroups question = Unclipped(grid);
  question.group = weight;
  question.low = -std::llround(clip / kStep);
  const GroupSums group = SumsOf(grid, question.weights, codes);
  return ScoresOfGroups(question, std::span(&group, 1), OnlyThisThread());
}

TEST(ScoresOfGroups, AreClippedRelativeToTheBestCandidate) {
  const GroupGrid grid = GridOf(SmallNormalModel());
  const std::vector<uint32_t> codes = {0, 3, 4};
  const auto exact = LogDensities(grid, SumsOf(grid, Units(kAll), codes));
  const double best = *std::ranges::max_element(exact);
  const auto scores = Clipped(grid, GroupWeight::kOne, 2, codes);
  for (size_t j = 0; j < exact.size(); ++j)
    EXPECT_NEAR(static_cast<double>(scores[j]) * kStep, std::max(exact[j] - best, -2.0), kStep);
}

TEST(ScoresOfGroups, WithAGroupsWeightKeepTheOrderOfAllCandidatesWithinTheClip) {
  const GroupGrid grid = GridOf(SmallNormalModel());
  const std::vector<uint32_t> codes = {0, 3, 4};
  const auto exact = LogDensities(grid, SumsOf(grid, Units(kAll), codes));
  const auto [worst, best] = std::ranges::minmax_element(exact);
  const auto scores = Clipped(grid, GroupWeight::kOutside, 2, codes);
  for (size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NEAR(static_cast<double>(scores[j]) * kStep, 2 * (exact[j] - *best) / (*best - *worst), 2 * kStep);
  }
  const double power = 2 / (*best - *worst);
  const auto inside = LogDensities(grid, SumsOf(grid, Units(kAll), codes), power);
  const double best_inside = *std::ranges::max_element(inside);
  const auto scores_inside = Clipped(grid, GroupWeight::kInside, 2, codes);
  for (size_t j = 0; j < exact.size(); ++j) {
    EXPECT_NEAR(static_cast<double>(scores_inside[j]) * kStep, std::max(inside[j] - best_inside, -2.0),
                2 * kStep);
  }
}

TEST(ScoresOfGroups, LieWithinTheClipWhateverTheNumbersAre) {
  NormalGroups model = SmallNormalModel();
  model.betweens = {1e-200, 1, 4};  // a square without a logarithm
  const GroupGrid grid = GridOf(model);
  for (const std::vector<uint32_t>& codes : kGroups) {
    for (const int64_t score : Clipped(grid, GroupWeight::kInside, 2, codes)) {
      EXPECT_GE(score, -2 * (int64_t{1} << 20));
      EXPECT_LE(score, 0);
    }
  }
}

TEST(ScoresOfGroups, OfGroupsWithoutWeightAreZero) {
  for (const GroupModel& model : {GroupModel(SmallNormalModel()), GroupModel(SmallBinomialModel())}) {
    const GroupGrid grid = GridOf(model);
    const std::vector<GroupSums> groups = {SumsOf(grid, Units({0, 0, 0, 0, 0}), kGroups[2]), GroupSums{}};
    for (const std::optional<int64_t> low : {std::optional<int64_t>(), std::optional<int64_t>(-1'500'000)}) {
      LatticeGroups question = Unclipped(grid);
      question.low = low;
      const std::vector<int64_t> scores = ScoresOfGroups(question, groups, OnlyThisThread());
      EXPECT_EQ(scores, std::vector<int64_t>(scores.size(), 0));
    }
  }
}

// All calls at once, each on a thread of its own.
class ThreadsForAll final : public Executor {
 public:
  void RunOnFreeCores(int most, const std::function<void(int)>& work) override {
    std::vector<std::jthread> threads;
    for (int i = 1; i < std::min(most, 4); ++i) threads.emplace_back(work, i);
    work(0);
  }
};

TEST(ScoresOfGroups, AreTheSameOnAnyNumberOfCores) {
  NormalGroups model = SmallNormalModel();
  model.withins.clear();
  for (int i = 1; i <= 60; ++i) model.withins.push_back(0.05 * i);
  const GroupGrid grid = GridOf(model);
  std::vector<GroupSums> groups;
  for (const auto& codes : kGroups) groups.push_back(SumsOf(grid, Units(kAll), codes));
  ThreadsForAll threads;
  for (const std::optional<int64_t> low : {std::optional<int64_t>(), std::optional<int64_t>(-1'500'000)}) {
    LatticeGroups question = Unclipped(grid);
    question.low = low;
    EXPECT_EQ(ScoresOfGroups(question, groups, threads), ScoresOfGroups(question, groups, OnlyThisThread()));
  }
}

}  // namespace
}  // namespace curator::dp
