#include "dp/synthesis/dpsyn/reconstruction.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "dp/synthesis/dpsyn/testing/views.h"

namespace curator::dp {
namespace {

constexpr double kNear = 1e-6;

class EveryReconstruction : public testing::TestWithParam<bool> {
 protected:
  std::vector<double> Rebuild(const Domain& domain, const std::vector<ViewTable>& views,
                              const AttributeSet& set) {
    Pacer pacer{std::stop_token()};
    ViewTable table = MakeView(domain, set, 1, 1);
    const std::vector<ViewTable> known = KnownMarginals(views, set);
    const absl::Status fitted = GetParam() ? FitProportionally(known, 1e-12, 500, table, pacer)
                                           : FitLeastSquares(known, table, pacer);
    EXPECT_TRUE(fitted.ok());
    return table.cells;
  }
};

TEST_P(EveryReconstruction, GivesTheMarginalOfAViewThatHoldsIt) {
  const Domain domain = CodedDomain({2, 3, 4});
  const TestRows rows = ChainedRows({2, 3, 4}, 100, 1);
  const std::vector<double> cells = Rebuild(domain, {CountedView(domain, {0, 1, 2}, rows)}, {0, 2});
  const std::vector<double> truth = CountedView(domain, {0, 2}, rows).cells;
  for (size_t i = 0; i < cells.size(); ++i) EXPECT_NEAR(cells[i], truth[i], kNear);
}

TEST_P(EveryReconstruction, AgreesWithAllViewsThatKnowAPart) {
  const Domain domain = CodedDomain({2, 3, 4});
  ViewTable truth = MakeView(domain, {0, 1, 2}, 0, 1);
  for (size_t cell = 0; cell < truth.cells.size(); ++cell)
    truth.cells[cell] = 100 + static_cast<double>(cell * 7 % 13);
  std::vector<ViewTable> pairs = {MakeView(domain, {0, 1}, 0, 1), MakeView(domain, {1, 2}, 0, 1),
                                  MakeView(domain, {0, 2}, 0, 1)};
  for (ViewTable& pair : pairs) pair.cells = Marginalized(truth, pair.set);
  ViewTable whole = MakeView(domain, {0, 1, 2}, 0, 1);
  whole.cells = Rebuild(domain, pairs, {0, 1, 2});
  for (const ViewTable& pair : pairs)
    EXPECT_THAT(Marginalized(whole, pair.set), testing::Pointwise(testing::DoubleNear(1e-4), pair.cells));
}

INSTANTIATE_TEST_SUITE_P(All, EveryReconstruction, testing::Bool(),
                         [](const auto& entropy) { return entropy.param ? "Entropy" : "LeastSquares"; });

TEST(FitProportionally, MakesAttributesIndependentGivenWhatTheyShare) {
  const Domain domain = CodedDomain({2, 2, 2});
  std::vector<ViewTable> views = {MakeView(domain, {0, 1}, 0, 1), MakeView(domain, {1, 2}, 0, 1)};
  views[0].cells = {10, 20, 30, 40};
  views[1].cells = {8, 32, 15, 45};
  Pacer pacer{std::stop_token()};
  ViewTable table = MakeView(domain, {0, 1, 2}, 1, 1);
  ASSERT_TRUE(FitProportionally(KnownMarginals(views, {0, 1, 2}), 1e-12, 100, table, pacer).ok());
  EXPECT_NEAR(table.cells[0], 10.0 * 8 / 40, kNear);
  EXPECT_NEAR(table.cells[7], 40.0 * 45 / 60, kNear);
}

TEST(FitLeastSquares, TakesMoreAttributesOfOneValueThanAMaskHasBits) {
  const Domain domain = CodedDomain(std::vector<int64_t>(70, 1));
  AttributeSet all(70);
  std::iota(all.begin(), all.end(), 0);
  Pacer pacer{std::stop_token()};
  ViewTable table = MakeView(domain, all, 1, 1);
  ASSERT_TRUE(FitLeastSquares(std::vector<ViewTable>{MakeView(domain, all, 42, 1)}, table, pacer).ok());
  EXPECT_THAT(table.cells, testing::Pointwise(testing::DoubleNear(kNear), {42.0}));
}

TEST(FitLeastSquares, IsTheShortestTableWithTheseMarginals) {
  const Domain domain = CodedDomain({2, 2});
  std::vector<ViewTable> views = {MakeView(domain, {0}, 0, 1), MakeView(domain, {1}, 0, 1)};
  views[0].cells = {30, 70};
  views[1].cells = {40, 60};
  Pacer pacer{std::stop_token()};
  ViewTable table = MakeView(domain, {0, 1}, 1, 1);
  ASSERT_TRUE(FitLeastSquares(views, table, pacer).ok());
  // Any other is this plus t (1, -1, -1, 1), to which it is orthogonal.
  EXPECT_THAT(table.cells, testing::Pointwise(testing::DoubleNear(kNear), {10.0, 20.0, 30.0, 40.0}));
}

std::vector<ViewTable> Singles(const ViewTable& truth) {
  std::vector<ViewTable> singles;
  for (size_t i = 0; i < truth.set.size(); ++i)
    singles.push_back({{truth.set[i]}, {truth.sizes[i]}, Marginalized(truth, {truth.set[i]}), 0});
  return singles;
}

TEST(ProjectOnto, EndsWithTheKnownMarginalsAndNoNegativeCount) {
  const std::vector<int64_t> sizes = {4, 5, 3};
  const Domain domain = CodedDomain(sizes);
  const TestRows rows = ChainedRows(sizes, 300, 1);
  const std::vector<ViewTable> known = Singles(CountedView(domain, {0, 1, 2}, rows));
  ViewTable table = NoisyViews(domain, {{0, 1, 2}}, rows, 3)[0];
  Pacer pacer{std::stop_token()};
  ASSERT_TRUE(ProjectOnto(known, 1e-9, 1000, table, pacer).ok());
  EXPECT_GE(*std::ranges::min_element(table.cells), 0);
  for (const ViewTable& single : known)
    EXPECT_THAT(Marginalized(table, single.set), testing::Pointwise(testing::DoubleNear(1e-3), single.cells));
}

// One large cell among many empty ones: scaling would make it pay for all the noise above 0.
TEST(ProjectOnto, TakesNoiseFromSmallCellsRatherThanFromALargeOne) {
  const Domain domain = CodedDomain({2, 60});
  ViewTable truth = MakeView(domain, {0, 1}, 0, 1);
  truth.cells[0] = 10'000;
  truth.cells[60] = 2'000;
  ViewTable noisy = truth;
  for (size_t cell = 0; cell < noisy.cells.size(); ++cell) noisy.cells[cell] += cell % 2 == 0 ? 60 : -60;
  Pacer pacer{std::stop_token()};
  ViewTable projected = noisy;
  ASSERT_TRUE(ProjectOnto(Singles(truth), 1e-9, 100, projected, pacer).ok());
  ViewTable scaled = noisy;
  for (double& cell : scaled.cells) cell = std::max(0.0, cell);
  const std::vector<ViewTable> total = {{{}, {}, {12'000}, 0}};
  ASSERT_TRUE(FitProportionally(total, 1e-9, 100, scaled, pacer).ok());
  EXPECT_LT(std::abs(projected.cells[0] - 10'000), 100);
  EXPECT_GT(std::abs(scaled.cells[0] - 10'000), 1000);
}

}  // namespace
}  // namespace curator::dp
