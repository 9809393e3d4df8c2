#include "dp/workload/residual/residual_reader.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>
#include <utility>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/noise/product_gaussian.h"
#include "dp/workload/residual/testing/measured_residuals.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

double LargestError(const std::vector<double>& answers, const std::vector<int64_t>& exact) {
  double largest = answers.size() == exact.size() ? 0 : INFINITY;
  for (size_t i = 0; i < std::min(answers.size(), exact.size()); ++i)
    largest = std::max(largest, std::abs(answers[i] - static_cast<double>(exact[i])));
  return largest;
}

// A domain with known counts, and an axis for each attribute.
struct Known {
  Domain domain;
  ResidualMeasurement measurement;
  std::vector<int64_t> counts;
  std::vector<std::vector<int64_t>> values;
};

Known KnownOf(std::mt19937_64& random, const std::vector<int64_t>& sizes,
              const std::vector<bool>& is_helmert) {
  std::vector<AxisQueries> axes;
  size_t cells = 1;
  for (size_t i = 0; i < sizes.size(); ++i) {
    axes.push_back(is_helmert[i] ? AxisQueries() : RandomAxis(random, sizes[i]));
    cells *= static_cast<size_t>(sizes[i]);
  }
  Known known{.domain = CodedDomain(sizes),
              .measurement = MeasurementOfAllSets(random, std::move(axes)),
              .counts = RandomCounts(random, cells),
              .values = {}};
  known.values = ValuesWithoutNoise(known.domain, known.measurement, known.counts);
  return known;
}

// Over each measured set, every cell and the last half of the codes of each attribute.
std::vector<QueryGroup> GroupsOf(const Known& known) {
  std::vector<QueryGroup> groups;
  for (const ProductGroup& measured : known.measurement.queries.groups) {
    groups.push_back({measured.attributes, EveryCell()});
    Boxes box;
    for (const int64_t size : known.domain.SizesOf(measured.attributes))
      box.sides.push_back({static_cast<uint32_t>(size / 2), static_cast<uint32_t>(size - 1)});
    if (!box.sides.empty()) groups.push_back({measured.attributes, box});
    if (measured.attributes.size() == 1)
      groups.push_back({measured.attributes, std::vector<LinearQuery>{{{0, 3}, {1, -2}}, {{1, 1}}}});
  }
  return groups;
}

double LargestErrorOf(const Known& known) {
  ResidualReader reader = ResidualReader::Create(known.domain, known.measurement, known.values).value();
  double largest = 0;
  for (const QueryGroup& group : GroupsOf(known)) {
    EXPECT_TRUE(reader.errors().CanRead(group));
    const std::vector<int64_t> exact =
        AnswersFromCounts(known.domain, group, MarginalOf(known.domain, group.attributes, known.counts));
    largest = std::max(largest, LargestError(reader.AnswersOf(group), exact));
  }
  return largest;
}

TEST(ResidualReader, GivesTheTrueAnswersOfValuesWithoutNoise) {
  std::mt19937_64 random(1);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {7}, {true})), 1e-8);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {7}, {false})), 1e-8);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {2, 2, 2, 2}, {true, true, true, true})), 1e-8);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {3, 5}, {false, false})), 1e-8);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {3, 2, 4}, {true, true, true})), 1e-8);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {3, 2, 4}, {false, true, false})), 1e-8);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {2, 6, 5}, {true, false, true})), 1e-8);
}

TEST(ResidualReader, GivesTheTrueAnswersOfTablesBeyondTheCache) {
  std::mt19937_64 random(2);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {30, 40, 50}, {true, false, true})), 1e-7);
  EXPECT_LT(LargestErrorOf(KnownOf(random, {3, 150, 170}, {true, true, true})), 1e-7);
}

TEST(ResidualReaderCanary, ValuesInAnotherOrderGiveOtherAnswers) {
  std::mt19937_64 random(3);
  Known known = KnownOf(random, {3, 2, 4}, {true, true, true});
  std::ranges::reverse(known.values[0]);
  EXPECT_GT(LargestErrorOf(known), 1);
}

TEST(ResidualReaderCanary, ValuesOfAnotherMultiplierGiveOtherAnswers) {
  std::mt19937_64 random(4);
  Known known = KnownOf(random, {3, 2, 4}, {true, true, true});
  ++known.measurement.queries.groups[0].multiplier;
  EXPECT_GT(LargestErrorOf(known), 1);
}

TEST(ResidualReader, GivesTheSameAnswersInAnyOrder) {
  std::mt19937_64 random(5);
  const Known known = KnownOf(random, {3, 2, 4}, {true, false, true});
  const std::vector<QueryGroup> groups = GroupsOf(known);
  ResidualReader reader = ResidualReader::Create(known.domain, known.measurement, known.values).value();
  std::vector<std::vector<double>> answers;
  for (const QueryGroup& group : groups) answers.push_back(reader.AnswersOf(group));
  for (size_t i = groups.size(); i-- > 0;) EXPECT_EQ(reader.AnswersOf(groups[i]), answers[i]);
}

TEST(ResidualReader, RefusesValuesThatAreNotThoseOfTheMeasurement) {
  std::mt19937_64 random(6);
  Known known = KnownOf(random, {3, 2}, {true, true});
  const auto is_readable = [&](const std::vector<std::vector<int64_t>>& values) {
    return ResidualReader::Create(known.domain, known.measurement, values).ok();
  };
  EXPECT_TRUE(is_readable(known.values));
  std::vector<std::vector<int64_t>> values = known.values;
  values[0].push_back(0);
  EXPECT_FALSE(is_readable(values)) << "a value too many";
  values = known.values;
  values.pop_back();
  EXPECT_FALSE(is_readable(values)) << "the values of a group are missing";
  known.measurement.queries.groups.pop_back();
  known.measurement.sigma_squared.pop_back();
  known.values.pop_back();
  EXPECT_FALSE(is_readable(known.values)) << "the empty set is missing";
}

// For each group the share of answers whose intervals hold the true ones, over many draws.
std::vector<double> Coverages(const Known& known, const std::vector<QueryGroup>& groups, int draws) {
  constexpr double kLevel = 0.95;
  seeded::SeededBits bits(7);
  std::vector<ProductGaussian> noises;
  for (size_t i = 0; i < known.values.size(); ++i) {
    noises.push_back(ProductGaussian::Create(known.measurement.sigma_squared[i],
                                             VarianceFactors(known.domain, known.measurement.queries,
                                                             known.measurement.queries.groups[i]))
                         .value());
  }
  std::vector<double> covered(groups.size());
  for (int draw = 0; draw < draws; ++draw) {
    std::vector<std::vector<int64_t>> values = known.values;
    for (size_t i = 0; i < values.size(); ++i) {
      std::vector<int64_t> noise(values[i].size());
      noises[i].Fill(bits, noise);
      for (size_t k = 0; k < noise.size(); ++k) values[i][k] += noise[k];
    }
    ResidualReader reader = ResidualReader::Create(known.domain, known.measurement, values).value();
    for (size_t i = 0; i < groups.size(); ++i) {
      const std::vector<int64_t> exact = AnswersFromCounts(
          known.domain, groups[i], MarginalOf(known.domain, groups[i].attributes, known.counts));
      const std::vector<ResidualError> errors = reader.errors().ErrorsOf(groups[i]);
      const std::vector<double> answers = reader.AnswersOf(groups[i]);
      const double width = ResidualErrors::HalfWidthOf(errors.back(), kLevel);
      const double error = std::abs(answers.back() - static_cast<double>(exact.back()));
      covered[i] += error <= width ? 1.0 / draws : 0;
    }
  }
  return covered;
}

TEST(ResidualReader, AnswersLieWithinTheirHalfWidthsAsOftenAsTheLevelSays) {
  constexpr int kDraws = 4000;
  const double slack = 4 * std::sqrt(0.95 * 0.05 / kDraws);
  std::mt19937_64 random(8);
  Known known = KnownOf(random, {3, 2, 4}, {false, true, true});
  std::ranges::fill(known.measurement.sigma_squared, Rational{100, 1});
  const std::vector<QueryGroup> groups = GroupsOf(known);
  const std::vector<double> coverages = Coverages(known, groups, kDraws);
  for (size_t i = 0; i < groups.size(); ++i) {
    EXPECT_GE(coverages[i], 0.95 - slack) << i;
    EXPECT_LE(coverages[i], 0.955 + slack) << i;
  }
}

}  // namespace
}  // namespace curator::dp
