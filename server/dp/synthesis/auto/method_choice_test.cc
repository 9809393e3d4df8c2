#include "dp/synthesis/auto/method_choice.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

SynthesisInput InputOver(const std::vector<int64_t>& sizes, int k) {
  const Domain domain = CodedDomain(sizes);
  return {.domain = domain,
          .unit_bound = {},
          .rule = {},
          .spend = {},
          .workload = WholeMarginals(AllKWayMarginals(domain, k, {}).value())};
}

std::string FirstChoice(const SynthesisInput& input, int64_t rho_units, int64_t records) {
  return ChooseMethods(input, {.is_pure = false, .units = rho_units}, records).front().method;
}

std::string FirstPureChoice(const SynthesisInput& input, double epsilon, int64_t records) {
  const auto units = static_cast<int64_t>(epsilon * 1e12);
  return ChooseMethods(input, {.is_pure = true, .units = units}, records).front().method;
}

constexpr int64_t kRho = 1'000'000'000'000;

// Fourteen attributes of a census, up to a hundred values.
TEST(ChooseMethods, MeasuresAllPairsOnlyWhereNoiseLeavesMostOfThemLegible) {
  const SynthesisInput input = InputOver({85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}, 3);
  EXPECT_EQ(FirstChoice(input, kRho / 5000, 65'536), "aim");
  EXPECT_EQ(FirstChoice(input, kRho / 50, 16'384), "aim");
  EXPECT_EQ(FirstChoice(input, kRho, 65'536), "priview");
}

TEST(ChooseMethods, MoreRecordsDoWhatMoreBudgetDoes) {
  const SynthesisInput input = InputOver(std::vector<int64_t>(17, 2), 3);
  EXPECT_EQ(FirstChoice(input, kRho / 5000, 16'384), "mwem");
  EXPECT_EQ(FirstChoice(input, kRho / 5000, 1'048'576), "priview");
}

TEST(ChooseMethods, ConstraintsAreLeftToMethodsThatKeepToThem) {
  SynthesisInput input = InputOver(std::vector<int64_t>(17, 2), 3);
  input.domain = input.domain.WithConstraints({OrderRule{.lower = 0, .upper = 1}}).value();
  for (const MethodChoice& choice : ChooseMethods(input, {.is_pure = false, .units = kRho}, 1'048'576))
    EXPECT_EQ(choice.method, "aim");
}

// With pairs that are nothing but noise a hundred attributes are answered worse than by independence.
TEST(ChooseMethods, TheMoreAttributesThereAreTheLessNoiseAllPairsMayHave) {
  EXPECT_EQ(FirstChoice(InputOver(std::vector<int64_t>(20, 2), 2), kRho / 100, 16'384), "priview");
  EXPECT_EQ(FirstChoice(InputOver(std::vector<int64_t>(110, 2), 2), kRho / 100, 65'536), "aim");
}

TEST(ChooseMethods, ATableOfAFewCellsThatNoiseHidesIsLeftToSingleMeasurements) {
  const SynthesisInput input = InputOver(std::vector<int64_t>(6, 2), 3);
  EXPECT_EQ(FirstChoice(input, kRho / 50, 64), "mwem");
  EXPECT_EQ(FirstChoice(input, kRho / 50, 4096), "priview");
}

TEST(ChooseMethods, UnderAPureBudgetFewViewsAreMeasuredAtOnce) {
  const SynthesisInput narrow = InputOver(std::vector<int64_t>(17, 2), 3);
  EXPECT_EQ(FirstPureChoice(narrow, 0.1, 16'384), "priview");
  EXPECT_EQ(FirstPureChoice(narrow, 1, 16'384), "priview");
  EXPECT_EQ(FirstPureChoice(InputOver(std::vector<int64_t>(110, 2), 2), 1, 4096), "priview");
}

TEST(ChooseMethods, UnderAPureBudgetRoundsChooseAmongWidePairsUnlessAllAreHidden) {
  const SynthesisInput census = InputOver({85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2}, 3);
  EXPECT_EQ(FirstPureChoice(census, 1, 32'768), "aim");
  EXPECT_EQ(FirstPureChoice(census, 0.1, 32'768), "priview");
}

TEST(ChooseMethods, NothingButOneWayMarginalsIsMeasuredWhereNoiseHidesEvenThem) {
  const SynthesisInput input = InputOver(std::vector<int64_t>(6, 2), 3);
  const MethodChoice hidden = ChooseMethods(input, {.is_pure = false, .units = kRho / 10'000}, 64).front();
  EXPECT_EQ(hidden.method, "aim");
  EXPECT_EQ(hidden.settings.at("rounds"), "0");
  const MethodChoice pure = ChooseMethods(input, {.is_pure = true, .units = kRho / 10}, 64).front();
  EXPECT_EQ(pure.settings, hidden.settings);
  EXPECT_NE(ChooseMethods(input, {.is_pure = true, .units = kRho / 10}, 1024).front().settings,
            hidden.settings);
}

TEST(ChooseMethods, OneWayMarginalsNeedNoPairs) {
  EXPECT_EQ(FirstChoice(InputOver({100, 3, 4}, 1), kRho, 65'536), "aim");
}

TEST(ChooseMethods, OnlySomeMethodsAnswerQueriesThatAreNoMarginals) {
  SynthesisInput input = InputOver({4, 4}, 2);
  input.workload[0].queries = Parity();
  const std::vector<MethodChoice> choices = ChooseMethods(input, {.is_pure = true, .units = kRho}, 1024);
  ASSERT_EQ(choices.size(), 2);
  EXPECT_EQ(choices[0].method, "mwem");
  EXPECT_EQ(choices[1].method, "rap");
}

}  // namespace
}  // namespace curator::dp
