#include "dp/workload/statistics/quantile_reading.h"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numeric>

#include "dp/noise/testing/drawn_noise.h"
#include "dp/workload/noise_combination.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

const NoiseSpec kLaplace{Mechanism::kDiscreteLaplace, {14, 1}};
const NoiseSpec kGaussian{Mechanism::kDiscreteGaussian, {400, 1}};

// The values of the tree for these numbers of records, without noise.
std::vector<int64_t> Measured(const IntervalTree& tree, const std::vector<int64_t>& bins) {
  std::vector<int64_t> measured;
  for (const CodeInterval& interval : tree.Intervals().sides) {
    measured.push_back(
        std::accumulate(bins.begin() + interval.first, bins.begin() + interval.last + 1, int64_t{0}));
  }
  return measured;
}

std::vector<int64_t> Plus(std::vector<int64_t> values, const std::vector<int64_t>& noise) {
  for (size_t i = 0; i < values.size(); ++i) values[i] += noise[i];
  return values;
}

TEST(QuantileReader, KnowsTheWeightsOfEachComparison) {
  for (const auto& [bins, branching] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 2}, {9, 2}, {17, 4}, {40, 64}}) {
    const IntervalTree tree(bins, branching);
    const Boxes boxes = tree.Intervals();
    Eigen::MatrixXd nodes = Eigen::MatrixXd::Zero(tree.nodes(), bins);
    for (Eigen::Index i = 0; i < nodes.rows(); ++i) {
      const CodeInterval interval = boxes.sides[static_cast<size_t>(i)];
      for (Eigen::Index bin = interval.first; bin <= Eigen::Index{interval.last}; ++bin) nodes(i, bin) = 1;
    }
    const Eigen::MatrixXd solution = (nodes.transpose() * nodes).inverse() * nodes.transpose();
    for (uint32_t last = 0; last < bins; ++last) {
      for (const double share : {0.1, 0.5, 0.9}) {
        Eigen::VectorXd wanted = Eigen::VectorXd::Constant(bins, -share);
        wanted.head(last + 1).array() += 1;
        const Eigen::VectorXd weights = solution.transpose() * wanted;
        EXPECT_LE(weights.cwiseAbs().maxCoeff(), 1 + 1e-9);
        const IntervalTree::WeightSums sums = tree.WeightSumsOf({0, last}, -share);
        EXPECT_NEAR(sums.squares, weights.squaredNorm(), 1e-9);
        EXPECT_NEAR(sums.fourth, weights.array().pow(4).sum(), 1e-9);
        double squares = 0;
        for (const WeightedValues& each : tree.WeightsOf({0, last}, -share))
          squares += each.count * each.weight * each.weight;
        EXPECT_NEAR(squares, weights.squaredNorm(), 1e-9);
      }
    }
  }
}

TEST(QuantileReader, ReadsTheFirstCodeThatReachesTheShare) {
  const IntervalTree tree(5, 2);
  const std::vector<double> ranks = RanksOf(tree, Measured(tree, {2, 0, 4, 3, 1}));
  EXPECT_NEAR(ranks.back(), 10, 1e-9);
  const NoiseSpec none{Mechanism::kDiscreteLaplace, {1, 1'000'000}};
  const auto read = [&](int32_t thousandths) {
    QuantileReader reader(tree, none, thousandths, 0.95);
    return reader.Read(ranks);
  };
  EXPECT_EQ(read(100).code, 0);
  EXPECT_EQ(read(250).code, 2);
  EXPECT_EQ(read(550).code, 2);
  EXPECT_EQ(read(650).code, 3);
  EXPECT_EQ(read(950).code, 4);
  EXPECT_EQ(read(650).low, 3);
  EXPECT_EQ(read(650).high, 3);
}

// Half widths of small noise are found for each code by itself, which may be a million.
TEST(QuantileReader, BoundsTheHalfWidthsThatExceedItsSteps) {
  for (const NoiseSpec& noise :
       {NoiseSpec{Mechanism::kDiscreteLaplace, {1, 2}}, NoiseSpec{Mechanism::kDiscreteGaussian, {1, 2}}}) {
    for (const int64_t branching : {2, 7, 100}) {
      const IntervalTree tree(100, branching);
      std::vector<double> ranks(100);
      std::iota(ranks.begin(), ranks.end(), 1);
      QuantileReader exact(tree, noise, 300, 0.95);
      QuantileReader bounded(tree, noise, 300, 0.95, 0);
      for (int64_t code = 0; code < 100; ++code) {
        EXPECT_GE(bounded.HalfWidth(code), exact.HalfWidth(code)) << branching << " " << code;
        EXPECT_LE(bounded.HalfWidth(code), 4 * exact.HalfWidth(code)) << branching << " " << code;
      }
      const QuantileCodes one = exact.Read(ranks);
      const QuantileCodes other = bounded.Read(ranks);
      EXPECT_EQ(other.code, one.code);
      EXPECT_LE(other.low, one.low);
      EXPECT_GE(other.high, one.high);
    }
  }
}

TEST(QuantileReader, ReadsNothingOfNoRecordsAndKeepsAllCodes) {
  const IntervalTree tree(5, 2);
  QuantileReader reader(tree, kGaussian, 500, 0.95);
  const QuantileCodes read = reader.Read(RanksOf(tree, Measured(tree, {-1, 0, 0, 0, 0})));
  EXPECT_EQ(read.code, std::nullopt);
  EXPECT_EQ(read.low, 0);
  EXPECT_EQ(read.high, 4);
}

TEST(QuantileReader, PutsTheEstimateIntoItsInterval) {
  seeded::SeededBits bits(3);
  const IntervalTree tree(100, 5);
  std::vector<int64_t> bins(100, 1);
  for (const NoiseSpec& noise : {kGaussian, kLaplace}) {
    for (const int32_t thousandths : {10, 500, 900}) {
      QuantileReader reader(tree, noise, thousandths, 0.8);
      for (int draw = 0; draw < 300; ++draw) {
        const QuantileCodes read =
            reader.Read(RanksOf(tree, Plus(Measured(tree, bins), DrawnNoise(noise, bits, tree.nodes()))));
        EXPECT_LE(read.low, read.high);
        if (!read.code) continue;
        EXPECT_LE(read.low, *read.code);
        EXPECT_GE(read.high, *read.code);
      }
    }
  }
}

// Of P - q T at one code over many draws: how often it is within the half width, in percent.
double HeldAt(const IntervalTree& tree, const NoiseSpec& noise, uint32_t code, double share, double width) {
  constexpr int kDraws = 4000;
  seeded::SeededBits bits(code + 1);
  int held = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const std::vector<double> ranks = RanksOf(tree, DrawnNoise(noise, bits, tree.nodes()));
    held += std::abs(ranks[code] - share * ranks.back()) <= width ? 1 : 0;
  }
  return 100 * held / double{kDraws};
}

TEST(QuantileReader, HasHalfWidthsThatHoldTheirLevel) {
  const IntervalTree tree(64, 4);
  for (const NoiseSpec& noise : {kGaussian, kLaplace}) {
    QuantileReader reader(tree, noise, 250, 0.95);
    for (const uint32_t code : {0U, 15U, 31U, 40U, 63U}) {
      const double held = HeldAt(tree, noise, code, 0.25, reader.HalfWidth(code));
      EXPECT_GT(held, 94) << code;
      EXPECT_LT(held, 96.5) << code;
    }
  }
}

// Also where it was scaled from that of another code, whose weights have a slightly smaller kurtosis.
TEST(QuantileReader, HasHalfWidthsOfAtLeastTheOwnLawAtHighLevels) {
  for (const double level : {0.95, 0.999, 0.99999}) {
    for (const int64_t branching : {3, 8}) {
      const IntervalTree tree(120, branching);
      QuantileReader reader(tree, kLaplace, 250, level);
      for (int64_t code = 0; code < tree.bins(); ++code) {
        int64_t steps = int64_t{1} << 30;
        const std::vector<WeightedValues> weights = tree.WeightsOf({0, static_cast<uint32_t>(code)}, -0.25);
        const std::optional<double> own = CombinationHalfWidth(kLaplace, weights, level, steps);
        ASSERT_TRUE(own.has_value());
        EXPECT_GE(reader.HalfWidth(code), 0.9999 * *own) << code << " at " << level;
      }
    }
  }
}

TEST(QuantileReaderCanary, TheHalfWidthOfThePrefixAloneIsFoundOut) {
  const IntervalTree tree(64, 4);
  const double deviation = ForecastError(kGaussian).standard_deviation;
  const double prefix = 1.96 * deviation * std::sqrt(tree.WeightSumsOf({0, 55}, 0).squares);
  const double held = HeldAt(tree, kGaussian, 55, 0.9, prefix);
  EXPECT_TRUE(held < 94 || held > 96.5) << held;
}

// How often the interval holds the median of these numbers of records, whose code is `median`.
double HeldMedians(const std::vector<int64_t>& bins, int64_t median, const NoiseSpec& noise) {
  constexpr int kDraws = 2000;
  const IntervalTree tree(static_cast<int64_t>(bins.size()), 4);
  const std::vector<int64_t> exact = Measured(tree, bins);
  QuantileReader reader(tree, noise, 500, 0.95);
  seeded::SeededBits bits(9);
  int held = 0;
  for (int draw = 0; draw < kDraws; ++draw) {
    const QuantileCodes read = reader.Read(RanksOf(tree, Plus(exact, DrawnNoise(noise, bits, tree.nodes()))));
    held += read.low <= median && read.high >= median ? 1 : 0;
  }
  return 100 * held / double{kDraws};
}

TEST(QuantileReader, HoldsTheQuantileWithAtLeastItsLevel) {
  // Half of the records on either side of a long stretch without any.
  std::vector<int64_t> stretch(64, 0);
  stretch[10] = 500;
  stretch[50] = 500;
  for (const NoiseSpec& noise : {kGaussian, kLaplace}) {
    for (const int64_t each : {2, 20, 100})
      EXPECT_GT(HeldMedians(std::vector<int64_t>(64, each), 31, noise), 94) << each;
    EXPECT_GT(HeldMedians(stretch, 10, noise), 94);
  }
}

TEST(NumbersOfCode, AreTheEndsAndTheMiddleOfABin) {
  std::vector<Attribute> attributes;
  attributes.push_back(Attribute::Create("age", IntegerKind{.min = 18, .max = 99, .bin_width = 10}).value());
  attributes.push_back(Attribute::Create("year", IntegerKind{.min = 2000, .max = 2020}).value());
  attributes.push_back(Attribute::Create("weight", NumericKind{.edges = {0, 50, 80}}).value());
  std::vector<Measure> measures;
  measures.push_back(Measure::Create("x", {.min = -1, .max = 1, .step = 0.25}).value());
  const Domain domain = Domain::Create(std::move(attributes), std::move(measures)).value();
  const auto is = [&](uint32_t column, int64_t code, double low, double middle, double high) {
    const BinNumbers bin = NumbersOfCode(domain, column, code);
    EXPECT_EQ(bin.low, low);
    EXPECT_EQ(bin.middle, middle);
    EXPECT_EQ(bin.high, high);
  };
  is(0, 1, 28, 32.5, 37);
  is(0, 8, 98, 98.5, 99);
  is(1, 20, 2020, 2020, 2020);
  is(2, 1, 50, 65, 80);
  is(3, 3, -0.25, -0.25, -0.25);
}

}  // namespace
}  // namespace curator::dp
