#include "dp/synthesis/models/factored_fit.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;

constexpr ReplayRule kLong{.most_sweeps = 5000, .converged = 1e-9, .prior_weight = 0.05};

NoisyAnswers Cells(AttributeSet set, std::vector<double> answers) {
  return {.group = {std::move(set), EveryCell()}, .answers = std::move(answers), .standard_deviation = 2};
}

struct Fitting {
  Pacer pacer{std::stop_token()};
  Domain domain = CodedDomain({2, 3, 2, 2, 4});
  FactoredFit fit{domain, {.answer = 100, .standard_deviation = 1}, 1000};

  void Add(NoisyAnswers measurement) { ASSERT_TRUE(fit.Add(std::move(measurement), pacer).ok()); }
  void Replay() { ASSERT_TRUE(fit.Replay(kLong, FactoredFit::Which::kAll, pacer).ok()); }
  std::vector<double> Marginal(const AttributeSet& set) {
    return fit.Marginals(std::span(&set, 1), pacer).value()[0];
  }
};

TEST(FactoredFit, JoinsOnlyWhatMeasurementsTouch) {
  Fitting own;
  own.Add(Cells({0, 2}, {40, 10, 20, 30}));
  own.Add(Cells({1}, {50, 30, 20}));
  own.Replay();
  ASSERT_EQ(own.fit.parts().size(), 2u);
  EXPECT_THAT(own.fit.parts()[0].attributes, ElementsAre(0, 2));
  EXPECT_THAT(own.fit.parts()[1].attributes, ElementsAre(1));
  EXPECT_NEAR(own.Marginal({3})[1], 50, 0.2);
  EXPECT_NEAR(own.Marginal({0, 1})[0], 50 * 0.5, 0.2);  // independent
  own.Add(Cells({1, 2}, {30, 20, 10, 20, 10, 10}));
  EXPECT_EQ(own.fit.parts().size(), 1u);
  EXPECT_THAT(own.fit.parts()[0].attributes, ElementsAre(0, 1, 2));
}

// The paper's section 4: the product over components is what the one table would be.
TEST(FactoredFit, IsTheDenseFitInAnotherForm) {
  Fitting lazy;
  Fitting whole;
  ASSERT_TRUE(whole.fit.Join({0, 1, 2, 3, 4}, whole.pacer).ok());
  std::mt19937_64 random(5);
  std::uniform_real_distribution<double> noise(-2, 2);
  std::vector<std::vector<uint32_t>> rows;
  for (int i = 0; i < 100; ++i) {
    const auto code = static_cast<uint32_t>(random() % 2);
    rows.push_back(
        {code, static_cast<uint32_t>(random() % 2) + code, random() % 4 == 0 ? 1 - code : code, code, 3});
  }
  for (const AttributeSet& set : std::vector<AttributeSet>{{0, 2}, {1}, {4}, {1, 2}, {3}}) {
    std::vector<double> answers(static_cast<size_t>(*lazy.domain.CellCount(set)));
    for (double& answer : answers) answer = noise(random);
    for (const auto& row : rows) {
      size_t cell = 0;
      for (const uint32_t a : set)
        cell = cell * static_cast<size_t>(lazy.domain.attributes()[a].size()) + row[a];
      ++answers[cell];
    }
    lazy.Add(Cells(set, answers));
    whole.Add(Cells(set, answers));
    lazy.Replay();
    whole.Replay();
  }
  EXPECT_EQ(lazy.fit.parts().size(), 3u);
  EXPECT_EQ(whole.fit.parts().size(), 1u);
  const std::vector<double> joint = whole.Marginal({0, 1, 2, 3, 4});
  const std::vector<double> product = lazy.Marginal({0, 1, 2, 3, 4});
  // Each component finds its own compromise about the number of records, so they differ a little.
  for (size_t i = 0; i < joint.size(); ++i) EXPECT_NEAR(product[i], joint[i], 0.05 + 0.02 * joint[i]);
}

TEST(FactoredFit, MergingKeepsTheWeights) {
  Fitting own;
  own.Add(Cells({0, 2}, {40, 10, 20, 30}));
  own.Add(Cells({1}, {50, 30, 20}));
  own.Replay();
  const std::vector<double> before = own.Marginal({0, 1, 2});
  ASSERT_TRUE(own.fit.Join({0, 1}, own.pacer).ok());
  const std::vector<double> after = own.Marginal({0, 1, 2});
  for (size_t i = 0; i < before.size(); ++i) EXPECT_NEAR(after[i], before[i], 0.02 * before[i]);
}

TEST(FactoredFit, RefusesWhatWouldNotFitAndKnowsBefore) {
  Pacer pacer{std::stop_token()};
  const Domain domain = CodedDomain({10, 10, 10, 5});
  FactoredFit fit(domain, {100, 1}, 110);
  EXPECT_TRUE(fit.Fits({0, 1}));
  EXPECT_FALSE(fit.Fits({0, 1, 2}));
  ASSERT_TRUE(fit.Join({0, 1}, pacer).ok());
  EXPECT_TRUE(fit.Fits({0}));
  EXPECT_TRUE(fit.Fits({2}));
  EXPECT_FALSE(fit.Fits({1, 2}));
  EXPECT_FALSE(fit.Fits({2, 3}));  // 100 + 50 cells
  EXPECT_EQ(fit.Join({1, 2}, pacer).code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(fit.Join({7}, pacer).code(), absl::StatusCode::kInvalidArgument);
}

TEST(CellsOfComponents, FollowThePublicStructureOfTheWorkload) {
  const Domain domain = CodedDomain({2, 3, 4, 5, 100'000});
  const ComponentCells apart =
      CellsOfComponents(domain, std::vector<AttributeSet>{{0, 1}, {1, 2}, {3}}, 1000);
  EXPECT_EQ(apart.largest, 24);
  EXPECT_EQ(apart.all, 29);
  const ComponentCells large = CellsOfComponents(domain, std::vector<AttributeSet>{{0, 1}, {3, 4}}, 1000);
  EXPECT_EQ(large.largest, 1000);
  EXPECT_EQ(large.all, 1000) << "no more than may be held";
}

}  // namespace
}  // namespace curator::dp
