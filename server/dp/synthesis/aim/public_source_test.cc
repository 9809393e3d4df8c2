#include "dp/synthesis/aim/public_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/testing/pacer_probe.h"
#include "dp/synthesis/testing/public_rows.h"

namespace curator::dp {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

// Two by two: three quarters of 400 records on the diagonal.
PublicSource HalfAlike(Pacer& pacer) {
  const Domain domain = CodedDomain({2, 2});
  std::vector<std::vector<uint32_t>> rows;
  for (uint32_t i = 0; i < 400; ++i) rows.push_back({i % 2, i % 4 == 0 ? 1 - i % 2 : i % 2});
  return PublicSource::Of(domain, *PublicRows(domain, rows), {{0, 1}}, {{0}, {1}}, OnlyThisThread(), pacer)
      .value();
}

double SumOfCells(const std::vector<double>& cells, size_t one, size_t other) {
  return cells[one] + cells[other];
}

TEST(PublicSource, HasTheModelsOneWayMarginalsAndThePublicOddsRatio) {
  Pacer pacer{std::stop_token()};
  const Domain domain = CodedDomain({2, 2});
  std::vector<std::vector<uint32_t>> rows(150, {0, 0});
  rows.insert(rows.end(), 50, {0, 1});
  rows.insert(rows.end(), 70, {1, 0});
  rows.insert(rows.end(), 130, {1, 1});
  const PublicSource source =
      PublicSource::Of(domain, *PublicRows(domain, rows), {{0, 1}}, {{0}, {1}}, OnlyThisThread(), pacer)
          .value();
  const std::vector<double> said = source.CountsOf(0, {600, 300, 200, 900}, pacer).value();
  EXPECT_NEAR(SumOfCells(said, 0, 1), 900, 0.1);
  EXPECT_NEAR(SumOfCells(said, 0, 2), 800, 0.1);
  // One record, of 2,000 of the model, lies as in the model.
  const double odds = said[0] * said[3] / (said[1] * said[2]);
  EXPECT_NEAR(odds, (150.3 * 130.45) / (50.15 * 70.1), 1e-6 * odds);
}

TEST(PublicSource, SaysNothingAgainstItself) {
  Pacer pacer{std::stop_token()};
  const PublicSource source = HalfAlike(pacer);
  const std::vector<double> estimate = {1000, 1000, 0, 2000};
  const std::vector<double> said = source.CountsOf(0, estimate, pacer).value();
  EXPECT_THAT(said, ElementsAre(DoubleNear(1000, 1e-6), DoubleNear(1000, 1e-6), DoubleNear(0, 1e-6),
                                DoubleNear(2000, 1e-6)));
  EXPECT_FALSE(source.Contradicts(0, said, estimate));
}

TEST(PublicSource, LeavesCellsEmptyWhereTheModelHasNothing) {
  Pacer pacer{std::stop_token()};
  const PublicSource source = HalfAlike(pacer);
  const std::vector<double> said = source.CountsOf(0, {500, 0, 700, 800}, pacer).value();
  EXPECT_EQ(said[1], 0);
  EXPECT_GT(said[0], 0);
}

TEST(PublicSource, ContradictsAnEstimateByMoreThanChance) {
  Pacer pacer{std::stop_token()};
  const PublicSource source = HalfAlike(pacer);
  const std::vector<double> independent = {500, 500, 500, 500};
  const std::vector<double> said = source.CountsOf(0, independent, pacer).value();
  EXPECT_TRUE(source.Contradicts(0, said, independent));
}

TEST(PublicSource, IsOffByAsMuchAsItsNumberOfRecordsSays) {
  Pacer pacer{std::stop_token()};
  const PublicSource source = HalfAlike(pacer);
  // Of 400 records: the root of n^2 (1 - 1/16 - 1/16 - 1/4) / 400 / 4 cells.
  EXPECT_NEAR(source.DeviationOf(0, std::vector<double>(4, 1000.0)), 4000 * std::sqrt(0.625 / 1600), 1e-9);
}

TEST(PublicSource, LosesTrustWhereOneWayMarginalsDiffer) {
  Pacer pacer{std::stop_token()};
  PublicSource alike = HalfAlike(pacer);
  PublicSource other = HalfAlike(pacer);
  const std::vector<double> said(4, 1000.0);
  const double before = alike.DeviationOf(0, said);
  ASSERT_TRUE(alike.LearnFromOneWays({{2000, 2000}, {1000, 3000}}, 1, pacer).ok());
  ASSERT_TRUE(other.LearnFromOneWays({{3000, 1000}, {3000, 1000}}, 1, pacer).ok());
  EXPECT_DOUBLE_EQ(alike.DeviationOf(0, said), before);
  EXPECT_GT(other.DeviationOf(0, said), 5 * before);
}

TEST(PublicSource, LosesTrustWhereAMeasuredMarginalDiffers) {
  Pacer pacer{std::stop_token()};
  PublicSource source = HalfAlike(pacer);
  const std::vector<double> said = {1000, 1000, 0, 2000};
  const double before = source.DeviationOf(0, said);
  const std::vector<int64_t> agrees = {1003, 998, 1, 2004};
  ASSERT_TRUE(source.LearnFrom(0, agrees, said, 3, pacer).ok());
  EXPECT_DOUBLE_EQ(source.DeviationOf(0, said), before) << "it is worth no more records than it has";
  const std::vector<int64_t> differs = {200, 1800, 800, 1200};
  ASSERT_TRUE(source.LearnFrom(0, differs, said, 3, pacer).ok());
  EXPECT_GT(source.DeviationOf(0, said), 3 * before);
}

TEST(PublicSource, LearnsLittleFromMuchNoise) {
  Pacer pacer{std::stop_token()};
  PublicSource source = HalfAlike(pacer);
  const std::vector<double> said = {1000, 1000, 0, 2000};
  const double before = source.DeviationOf(0, said);
  const std::vector<int64_t> noisy = {3000, -1200, 2100, 200};
  ASSERT_TRUE(source.LearnFrom(0, noisy, said, 1500, pacer).ok());
  EXPECT_LT(source.DeviationOf(0, said), 1.2 * before);
}

TEST(PublicSource, OfEqualRecordsIsOffByARecord) {
  Pacer pacer{std::stop_token()};
  const Domain domain = CodedDomain({2, 2});
  const auto table = PublicRows(domain, {{1, 1}, {1, 1}});
  PublicSource source =
      PublicSource::Of(domain, *table, {{0, 1}}, {{0}, {1}}, OnlyThisThread(), pacer).value();
  const std::vector<double> estimate = {100, 200, 300, 400};
  const std::vector<double> said = source.CountsOf(0, estimate, pacer).value();
  for (const double cell : said) EXPECT_TRUE(std::isfinite(cell) && cell >= 0) << cell;
  EXPECT_EQ(source.DeviationOf(0, said), 1);
  const std::vector<int64_t> measured = {100, 200, 300, 400};
  ASSERT_TRUE(source.LearnFrom(0, measured, said, 5, pacer).ok());
  EXPECT_EQ(source.DeviationOf(0, said), 1);
}

// Of 2^20 records, four marginals are counted between two checks.
TEST(PublicSource, ChecksWhetherToStopWhileItCounts) {
  const std::vector<int64_t> sizes(12, 2);
  const Domain domain = CodedDomain(sizes);
  const auto table =
      PublicRows(domain, std::vector<std::vector<uint32_t>>(1 << 20, std::vector<uint32_t>(12)));
  const std::vector<AttributeSet> candidates = AllKWayMarginals(domain, 2, {}).value();
  Pacer pacer{std::stop_token()};
  ASSERT_TRUE(PublicSource::Of(domain, *table, candidates, {{0}, {1}}, OnlyThisThread(), pacer).ok());
  EXPECT_GE(PacerProbe::Checks(pacer), std::ssize(candidates) / 4);
}

TEST(PublicSource, StopsWhenAsked) {
  std::stop_source stop;
  stop.request_stop();
  Pacer pacer(stop.get_token());
  const Domain domain = CodedDomain({2, 2});
  EXPECT_EQ(
      PublicSource::Of(domain, *PublicRows(domain, {{0, 0}}), {{0, 1}}, {{0}, {1}}, OnlyThisThread(), pacer)
          .status()
          .code(),
      absl::StatusCode::kCancelled);
}

}  // namespace
}  // namespace curator::dp
