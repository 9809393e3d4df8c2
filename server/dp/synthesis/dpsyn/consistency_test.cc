#include "dp/synthesis/dpsyn/consistency.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "dp/synthesis/dpsyn/estimate_views.h"
#include "dp/synthesis/dpsyn/testing/views.h"
#include "dp/synthesis/dpsyn/views_model.h"
#include "dp/synthesis/testing/pacer_probe.h"

namespace curator::dp {
namespace {

const std::vector<int64_t> kSizes = {2, 3, 4, 2, 5, 3};
const std::vector<AttributeSet> kSets = {{}, {0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {0, 4, 5}, {1, 2, 4}, {5}};

Pacer Patient() {
  return Pacer{std::stop_token()};
}

TEST(SharedSets, AreClosedUnderIntersectionAndSortedBySize) {
  const std::vector<SharedSet> shared = SharedSets({{0, 1, 2}, {1, 2, 3}, {2, 3, 4}, {0, 4}}).value();
  std::vector<AttributeSet> sets;
  for (const SharedSet& each : shared) sets.push_back(each.set);
  EXPECT_THAT(sets, testing::UnorderedElementsAre(AttributeSet{}, AttributeSet{0}, AttributeSet{2},
                                                  AttributeSet{4}, AttributeSet{1, 2}, AttributeSet{2, 3}));
  EXPECT_TRUE(std::ranges::is_sorted(sets, {}, &AttributeSet::size));
  EXPECT_THAT(shared.front().views, testing::ElementsAre(0, 1, 2, 3));
}

TEST(SharedSets, RefuseBeforeTheyCompareTooMany) {
  std::vector<AttributeSet> singles;
  for (uint32_t attribute = 0; attribute < 8192; ++attribute) singles.push_back({attribute});
  EXPECT_EQ(SharedSets(singles).status().code(), absl::StatusCode::kInvalidArgument);
  singles.resize(100);
  EXPECT_TRUE(SharedSets(singles).ok());
}

TEST(SharedSets, StopWhenToldTo) {
  std::vector<AttributeSet> singles;
  for (uint32_t attribute = 0; attribute < 1500; ++attribute) singles.push_back({attribute});
  std::stop_source source;
  source.request_stop();
  Pacer pacer(source.get_token());
  EXPECT_EQ(SharedSets(singles, pacer).status().code(), absl::StatusCode::kCancelled);
  EXPECT_LT(PacerProbe::LongestStride(pacer), 2 * Pacer::kMostSteps);
}

TEST(MakeConsistent, LeavesAllViewsInAgreementOnEverythingThatTheyShare) {
  const Domain domain = CodedDomain(kSizes);
  const TestRows rows = ChainedRows(kSizes, 500, 1);
  const std::vector<SharedSet> shared = SharedSets(kSets).value();
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    std::vector<ViewTable> views = NoisyViews(domain, kSets, rows, seed);
    Pacer pacer = Patient();
    ASSERT_TRUE(MakeConsistent(shared, views, pacer).ok());
    EXPECT_LT(LargestDisagreement(shared, views), 1e-9);
    for (const ViewTable& view : views) EXPECT_NEAR(TotalOf(view), TotalOf(views[0]), 1e-9);
  }
}

TEST(MakeConsistent, NeverBreaksAnEarlierAgreement) {
  const Domain domain = CodedDomain(kSizes);
  const std::vector<SharedSet> shared = SharedSets(kSets).value();
  std::vector<ViewTable> views = NoisyViews(domain, kSets, ChainedRows(kSizes, 500, 1), 3);
  for (size_t done = 1; done <= shared.size(); ++done) {
    Pacer pacer = Patient();
    ASSERT_TRUE(MakeConsistent({shared[done - 1]}, views, pacer).ok());
    const std::vector<SharedSet> earlier(shared.begin(), shared.begin() + static_cast<ptrdiff_t>(done));
    EXPECT_LT(LargestDisagreement(earlier, views), 1e-9) << done;
  }
}

TEST(MakeConsistentCanary, SharedSetsThatAreNotClosedUnderIntersectionAreCaught) {
  const Domain domain = CodedDomain(kSizes);
  const std::vector<SharedSet> shared = SharedSets(kSets).value();
  std::vector<SharedSet> large = shared;
  std::erase_if(large, [](const SharedSet& each) { return each.set.size() < 2; });
  std::vector<ViewTable> views = NoisyViews(domain, kSets, ChainedRows(kSizes, 500, 1), 3);
  Pacer pacer = Patient();
  ASSERT_TRUE(MakeConsistent(large, views, pacer).ok());
  EXPECT_GT(LargestDisagreement(large, views), 1e-3);
}

// The weights of the paper, restated for different noise, on two views that share one attribute.
TEST(MakeConsistent, WeighsByInverseVarianceAndSpreadsTheDifferenceEvenly) {
  const Domain domain = CodedDomain({2, 3, 4});
  std::vector<ViewTable> views = {MakeView(domain, {0, 1}, 10, 2), MakeView(domain, {0, 2}, 9, 1)};
  const std::vector<SharedSet> all = SharedSets({{0, 1}, {0, 2}}).value();
  Pacer pacer = Patient();
  ASSERT_TRUE(MakeConsistent({all[1]}, views, pacer).ok());
  // Three cells of variance 2, four of variance 1: weights (1/6) : (1/4).
  const double average = (30.0 / 6 + 36.0 / 4) / (1.0 / 6 + 1.0 / 4);
  for (const double cell : views[0].cells) EXPECT_NEAR(cell, 10 + (average - 30) / 3, 1e-12);
  for (const double cell : views[1].cells) EXPECT_NEAR(cell, 9 + (average - 36) / 4, 1e-12);
}

TEST(MakeConsistent, MakesTheExpectedErrorOfNoViewWorse) {
  const Domain domain = CodedDomain(kSizes);
  const TestRows rows = ChainedRows(kSizes, 500, 1);
  const std::vector<SharedSet> shared = SharedSets(kSets).value();
  std::vector<double> before(kSets.size());
  std::vector<double> after(kSets.size());
  for (uint64_t seed = 1; seed <= 200; ++seed) {
    std::vector<ViewTable> views = NoisyViews(domain, kSets, rows, seed);
    for (size_t i = 0; i < views.size(); ++i) before[i] += SquaredError({views[i]}, domain, rows);
    Pacer pacer = Patient();
    ASSERT_TRUE(MakeConsistent(shared, views, pacer).ok());
    for (size_t i = 0; i < views.size(); ++i) after[i] += SquaredError({views[i]}, domain, rows);
  }
  for (size_t i = 0; i < kSets.size(); ++i) EXPECT_LT(after[i], before[i]) << i;
}

TEST(Ripple, TakesADeficitFromTheNeighboursInEqualParts) {
  ViewTable view = MakeView(CodedDomain({2, 3}), {0, 1}, 10, 1);
  view.cells[4] = -6;  // (1, 1): neighbours (0, 1), (1, 0), (1, 2)
  Pacer pacer = Patient();
  ASSERT_TRUE(Ripple(0.5, view, pacer).ok());
  EXPECT_THAT(view.cells, testing::ElementsAre(10, 8, 10, 8, 0, 8));
}

TEST(Ripple, EndsWithTheSameTotalAndNoCellBelowTheThreshold) {
  const Domain domain = CodedDomain({5, 4, 6});
  for (uint64_t seed = 1; seed <= 10; ++seed) {
    for (const int records : {0, 3, 100}) {
      ViewTable view = NoisyViews(domain, {{0, 1, 2}}, ChainedRows({5, 4, 6}, records, 2), seed)[0];
      const double total = TotalOf(view);
      Pacer pacer = Patient();
      ASSERT_TRUE(Ripple(0.25, view, pacer).ok());
      EXPECT_GE(*std::ranges::min_element(view.cells), -0.25);
      EXPECT_NEAR(TotalOf(view), total > 0 ? total : std::max(total, -30.0), total > 0 ? 1e-9 : 1e3);
    }
  }
}

class EveryEstimator : public testing::TestWithParam<Estimator> {};

TEST_P(EveryEstimator, EndsWithViewsThatAgreeAndHaveNoNegativeCounts) {
  const Domain domain = CodedDomain(kSizes);
  const std::vector<SharedSet> shared = SharedSets(kSets).value();
  for (const int records : {0, 5, 2000}) {
    for (uint64_t seed = 1; seed <= 5; ++seed) {
      Pacer pacer = Patient();
      const std::vector<ViewTable> views =
          EstimateViews({.estimator = GetParam()}, shared,
                        NoisyViews(domain, kSets, ChainedRows(kSizes, records, 1), seed), pacer)
              .value();
      EXPECT_LT(LargestDisagreement(shared, views), 1e-9 * (1 + records));
      for (const ViewTable& view : views) {
        EXPECT_GE(*std::ranges::min_element(view.cells), 0);
        EXPECT_NEAR(TotalOf(view), TotalOf(views[0]), 1e-9 * (1 + records));
      }
    }
  }
}

TEST_P(EveryEstimator, IsCloserToTheTruthThanTheMeasurements) {
  const Domain domain = CodedDomain(kSizes);
  const TestRows rows = ChainedRows(kSizes, 500, 1);
  const std::vector<SharedSet> shared = SharedSets(kSets).value();
  double before = 0;
  double after = 0;
  for (uint64_t seed = 1; seed <= 40; ++seed) {
    std::vector<ViewTable> views = NoisyViews(domain, kSets, rows, seed);
    before += SquaredError(views, domain, rows);
    Pacer pacer = Patient();
    after +=
        SquaredError(EstimateViews({.estimator = GetParam()}, shared, views, pacer).value(), domain, rows);
  }
  EXPECT_LT(after, 0.8 * before);
}

// Also where a view of this attribute alone is taken at its word in the end: it was averaged before.
TEST_P(EveryEstimator, LeavesInTheCountsOfOneAttributeTheNoiseOfAllItsViewsTogether) {
  const Domain domain = CodedDomain({4, 3, 2});
  const TestRows rows = ChainedRows({4, 3, 2}, 4000, 1);
  const std::vector<AttributeSet> sets = {{0}, {0, 1}, {0, 2}};
  const std::vector<SharedSet> shared = SharedSets(sets).value();
  const std::vector<double> truth = CountedView(domain, {0}, rows).cells;
  double squares = 0;
  double forecast = 0;
  for (uint64_t seed = 1; seed <= 400; ++seed) {
    Pacer pacer = Patient();
    std::vector<ViewTable> views =
        EstimateViews({.estimator = GetParam()}, shared, NoisyViews(domain, sets, rows, seed), pacer).value();
    for (size_t i = 0; i < truth.size(); ++i)
      squares += (views[0].cells[i] - truth[i]) * (views[0].cells[i] - truth[i]) / 1600;
    forecast = ViewsModel::Create(domain, {.attributes = {0, 1, 2},
                                           .records = 4000,
                                           .views = std::move(views),
                                           .table = std::nullopt,
                                           .transcript = {}})
                   .value()
                   ->CellNoise({0})
                   .value()
                   .value();
  }
  EXPECT_NEAR(std::sqrt(squares), forecast, 0.1 * forecast);
}

INSTANTIATE_TEST_SUITE_P(All, EveryEstimator, testing::Values(Estimator::kShrunk, Estimator::kRipple),
                         [](const auto& each) {
                           return each.param == Estimator::kShrunk ? "Shrunk" : "Ripple";
                         });

}  // namespace
}  // namespace curator::dp
