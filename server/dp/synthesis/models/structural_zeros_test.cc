#include "dp/synthesis/models/structural_zeros.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "dp/domain/testing_domain.h"
#include "dp/synthesis/models/clique_fit.h"
#include "dp/synthesis/models/clique_model.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Domain Ordered(const std::vector<int64_t>& sizes, std::vector<ConstraintRule> rules) {
  return CodedDomain(sizes).WithConstraints(std::move(rules)).value();
}

class StructuralZeros : public testing::Test {
 protected:
  // A fit that keeps to all constraints of `domain`.
  CliqueFit FitOver(const Domain& domain, const AttributeSet& attributes) {
    CliqueFit fit(domain, attributes, {.answer = 100, .standard_deviation = 1}, 1 << 20);
    const std::vector<size_t> held = HeldConstraints(domain, attributes, 1 << 20, 1 << 12);
    EXPECT_TRUE(fit.SetBase(ZerosOf(domain, held), pacer_).ok());
    return fit;
  }

  std::vector<double> Marginal(CliqueFit& fit, const AttributeSet& set) {
    return fit.Marginals(std::span(&set, 1), pacer_).value().front();
  }

  Pacer pacer_{std::stop_token()};
};

TEST_F(StructuralZeros, WithoutMeasurementsAllowedCellsAreEqual) {
  const Domain domain = Ordered({3, 3}, {OrderRule{.lower = 0, .upper = 1}});
  CliqueFit fit = FitOver(domain, {0, 1});
  const std::vector<double> cells = Marginal(fit, {0, 1});
  for (size_t cell = 0; cell < cells.size(); ++cell)
    EXPECT_NEAR(cells[cell], cell / 3 > cell % 3 ? 0 : 100.0 / 6, 1e-3) << cell;
}

TEST_F(StructuralZeros, StayZeroWhateverIsMeasured) {
  const Domain domain = Ordered({2, 2, 2}, {OrderRule{.lower = 0, .upper = 1}});
  CliqueFit fit = FitOver(domain, {0, 1, 2});
  // Noise says that 40 records are where none can be.
  ASSERT_TRUE(fit.Add({{{0, 1}, EveryCell()}, {30, 20, 40, 10}, 1}, pacer_).ok());
  ASSERT_TRUE(fit.Add({{{1, 2}, EveryCell()}, {35, 30, 20, 15}, 1}, pacer_).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 500, .converged = 1e-6, .prior_weight = 0.01}, pacer_).ok());
  EXPECT_EQ(Marginal(fit, {0, 1})[2], 0);
  const std::vector<double> joint = Marginal(fit, {0, 1, 2});
  EXPECT_EQ(joint[4], 0);
  EXPECT_EQ(joint[5], 0);
  EXPECT_GT(joint[6], 0);
}

TEST_F(StructuralZeros, ValuesThatNoOtherValueMayMeetGetNothing) {
  // With 2 in `a0`, no value of `a1` is allowed.
  const Domain domain =
      Ordered({3, 2}, {PairsRule{.attributes = {0, 1}, .allowed = {{0, 0}, {0, 1}, {1, 1}}}});
  CliqueFit fit = FitOver(domain, {0, 1});
  ASSERT_TRUE(fit.Add({{{0}, EveryCell()}, {30, 30, 40}, 1}, pacer_).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 500, .converged = 1e-6, .prior_weight = 0.01}, pacer_).ok());
  EXPECT_EQ(Marginal(fit, {0})[2], 0);
  EXPECT_NEAR(Marginal(fit, {0})[0], 30, 1);
}

TEST_F(StructuralZeros, OfAChainForbidWhatFollowsFromThem) {
  const Domain domain =
      Ordered({4, 4, 4}, {OrderRule{.lower = 0, .upper = 1}, OrderRule{.lower = 1, .upper = 2}});
  CliqueFit fit = FitOver(domain, {0, 1, 2});
  ASSERT_TRUE(fit.Replay({.most_sweeps = 10}, pacer_).ok());
  const std::vector<double> ends = Marginal(fit, {0, 2});
  for (size_t cell = 0; cell < ends.size(); ++cell) EXPECT_EQ(ends[cell] == 0, cell / 4 > cell % 4) << cell;
}

TEST_F(StructuralZeros, ThatForbidEverythingLeaveTheModelUniform) {
  const Domain domain = Ordered({2, 2}, {PairsRule{.attributes = {0, 1}, .allowed = {{0, 0}}},
                                         PairsRule{.attributes = {0, 1}, .allowed = {{1, 1}}}});
  CliqueFit fit = FitOver(domain, {0, 1});
  ASSERT_TRUE(fit.Add({{{}, EveryCell()}, {100}, 1}, pacer_).ok());
  ASSERT_TRUE(fit.Replay({.most_sweeps = 100}, pacer_).ok());
  EXPECT_NEAR(fit.records(), 100, 2);
}

TEST_F(StructuralZeros, NoRecordOfALargeSampleHasOne) {
  const Domain domain = Ordered({20, 20}, {OrderRule{.lower = 0, .upper = 1, .strict = true}});
  CliqueFit fit = FitOver(domain, {0, 1});
  ASSERT_TRUE(fit.Replay({.most_sweeps = 10}, pacer_).ok());
  const auto model = CliqueModel::Create(
      domain,
      {.attributes = {0, 1}, .records = 100, .tree = fit.tree(), .factors = fit.factors(), .transcript = {}},
      pacer_);
  ASSERT_TRUE(model.ok());
  seeded::SeededBits bits(1);
  int64_t rows = 0;
  ASSERT_TRUE((*model)
                  ->Sample(bits, 100'000,
                           [&](std::span<const uint32_t> codes) {
                             EXPECT_LT(codes[0], codes[1]);
                             ++rows;
                             return absl::OkStatus();
                           })
                  .ok());
  EXPECT_EQ(rows, 100'000);
}

TEST_F(StructuralZeros, ThatDoNotFitIntoTheCliquesAreNotHeldAndSaidSo) {
  const Domain domain =
      Ordered({4, 4, 20, 20}, {OrderRule{.lower = 0, .upper = 1}, OrderRule{.lower = 2, .upper = 3}});
  EXPECT_THAT(HeldConstraints(domain, {0, 1, 2, 3}, 1000, 1 << 12), ElementsAre(0, 1));
  EXPECT_THAT(HeldConstraints(domain, {0, 1, 2, 3}, 100, 1 << 12), ElementsAre(0));
  EXPECT_THAT(HeldConstraints(domain, {0, 2, 3}, 1000, 1 << 12), ElementsAre(1));
  EXPECT_THAT(DescribeConstraints(domain, {0, 1, 2, 3}, {0}),
              ElementsAre(HasSubstr("no record breaks"), HasSubstr("warning: records may break")));
  EXPECT_THAT(DescribeConstraints(domain, {0, 2}, {}), IsEmpty());
}

}  // namespace
}  // namespace curator::dp
