#include "dp/synthesis/mwem/mwem.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <random>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/models/product_model.h"
#include "dp/synthesis/synthesis_workload.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr int64_t kRecords = 20'000;

// Attribute 1 follows 0, attribute 2 follows 1, attribute 3 is nearly constant.
std::vector<std::vector<uint32_t>> CorrelatedRows() {
  std::mt19937_64 random(17);
  std::vector<std::vector<uint32_t>> rows;
  for (int64_t i = 0; i < kRecords; ++i) {
    const auto a = static_cast<uint32_t>(random() % 4);
    const auto b = random() % 10 < 8 ? a : static_cast<uint32_t>(random() % 4);
    const auto c = random() % 10 < 7 ? b / 2 : static_cast<uint32_t>(random() % 2);
    const auto d = static_cast<uint32_t>(random() % 20 == 0 ? 1 + random() % 4 : 0);
    rows.push_back({a, b, c, d});
  }
  return rows;
}

SynthesisInput Input(Spend spend, RuleKind kind) {
  const Domain domain = CodedDomain({4, 4, 2, 5});
  RuleSpec rule;
  rule.kind = kind;
  rule.epsilon = Epsilon(100 * kEpsilonUnitsPerOne);
  if (kind != RuleKind::kPure) rule.delta = Delta(1'000'000'000);
  return {.domain = domain,
          .unit_bound = {},
          .rule = rule,
          .spend = spend,
          .workload = WholeMarginals(AllKWayMarginals(domain, 2, {}).value()),
          .settings = {},
          .assume_records = kRecords};
}

std::unique_ptr<SynthesisModel> Fit(const SynthesisInput& input, const SealedTableHandle& table,
                                    uint64_t seed) {
  seeded::SeededBits bits(seed);
  const Mwem mwem;
  Kernel kernel(table, input.domain, input.unit_bound, Meter(mwem.Plan(input)->draws), bits);
  Pacer pacer{std::stop_token()};
  return mwem.Fit(input, kernel, pacer, NoProgress()).value();
}

std::unique_ptr<SynthesisModel> Fit(const SynthesisInput& input, uint64_t seed) {
  static const auto* const table = new auto(SealRows(input.domain, CorrelatedRows()).value());
  return Fit(input, *table, seed);
}

// Pupils of 30 schools: sector, sex and points. Most numbers of points occur in no record.
std::vector<std::vector<uint32_t>> PupilRows() {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  std::vector<std::vector<uint32_t>> rows;
  for (uint32_t school = 0; school < 30; ++school) {
    const double mean = 100 + 16 * normal(random);
    for (int pupil = 0; pupil < 37; ++pupil) {
      const auto sex = static_cast<uint32_t>(random() % 2);
      const double points = std::clamp(mean + 24 * normal(random), 0.0, 200.0);
      rows.push_back({school % 2, sex, static_cast<uint32_t>(std::lround(points))});
    }
  }
  return rows;
}

// The mean over the workload of half the L1 distance between shares.
double TotalVariation(const SynthesisInput& input, const SynthesisModel& model) {
  const auto rows = CorrelatedRows();
  double mean = 0;
  for (const AttributeSet& set : SetsOf(input.workload)) {
    std::vector<double> shares(static_cast<size_t>(*input.domain.CellCount(set)));
    for (const auto& row : rows) {
      size_t cell = 0;
      for (const uint32_t a : set)
        cell = cell * static_cast<size_t>(input.domain.attributes()[a].size()) + row[a];
      shares[cell] += 1.0 / kRecords;
    }
    const auto counts = model.Marginal(set).value();
    for (size_t i = 0; i < shares.size(); ++i) {
      mean += std::abs(shares[i] - counts[i] / static_cast<double>(model.records())) / 2 /
              static_cast<double>(input.workload.size());
    }
  }
  return mean;
}

double UniformTotalVariation(const SynthesisInput& input) {
  Pacer pacer{std::stop_token()};
  const auto uniform =
      ProductModel::Create(input.domain, {{0, 1, 2, 3}, kRecords, {ProductComponent{}}, {}}, pacer).value();
  return TotalVariation(input, *uniform);
}

TEST(Mwem, ComesCloseToACorrelatedTableUnderEveryRule) {
  const Epsilon one(kEpsilonUnitsPerOne);
  const SynthesisInput inputs[] = {
      Input({.epsilon = one}, RuleKind::kPure), Input({.rho = Rho(kRhoUnitsPerOne / 100)}, RuleKind::kZcdp),
      Input({.epsilon = one}, RuleKind::kZcdp), Input({.epsilon = one}, RuleKind::kAdvanced),
      Input({.epsilon = one, .delta = Delta(1'000'000)}, RuleKind::kAdvanced)};
  for (const SynthesisInput& input : inputs) {
    const auto model = Fit(input, 1);
    EXPECT_LT(TotalVariation(input, *model), 0.02) << RuleName(input.rule.kind);
    EXPECT_NEAR(static_cast<double>(model->records()), kRecords, 300);
  }
  EXPECT_GT(UniformTotalVariation(inputs[0]), 0.3);
}

TEST(Mwem, BeatsUniformWithSelectionsAtASmallBudget) {
  SynthesisInput input = Input({.epsilon = Epsilon(kEpsilonUnitsPerOne / 20)}, RuleKind::kPure);
  input.settings = {{"rounds", "3"}};
  EXPECT_LT(TotalVariation(input, *Fit(input, 2)), UniformTotalVariation(input) / 2);
}

TEST(Mwem, AveragesItsIteratesWhenAsked) {
  SynthesisInput input = Input({.epsilon = Epsilon(kEpsilonUnitsPerOne)}, RuleKind::kPure);
  input.settings = {{"iterate", "average"}, {"rounds", "4"}};
  const auto average = Fit(input, 3);
  EXPECT_LT(TotalVariation(input, *average), UniformTotalVariation(input));
  input.settings["iterate"] = "last";
  EXPECT_NE(Fit(input, 3)->Serialize(), average->Serialize());
}

TEST(Mwem, TheSameDrawsGiveTheSameBytes) {
  const SynthesisInput input = Input({.epsilon = Epsilon(kEpsilonUnitsPerOne)}, RuleKind::kPure);
  EXPECT_EQ(Fit(input, 4)->Serialize(), Fit(input, 4)->Serialize());
  EXPECT_NE(Fit(input, 4)->Serialize(), Fit(input, 5)->Serialize());
}

TEST(Mwem, CoversExactlyTheWorkloadsAttributes) {
  SynthesisInput input = Input({.epsilon = Epsilon(kEpsilonUnitsPerOne)}, RuleKind::kPure);
  input.workload = WholeMarginals(std::vector<AttributeSet>{{0, 1}, {3}});
  const auto model = Fit(input, 6);
  EXPECT_EQ(model->attributes(), (AttributeSet{0, 1, 3}));
  EXPECT_TRUE(model->Marginal({0, 3}).ok());
  EXPECT_FALSE(model->Marginal({2}).ok());
}

TEST(Mwem, TellsOfEveryMeasurement) {
  SynthesisInput input = Input({.epsilon = Epsilon(kEpsilonUnitsPerOne)}, RuleKind::kPure);
  input.settings = {{"rounds", "3"}};
  const std::vector<std::string> lines = Fit(input, 7)->Transcript();
  ASSERT_EQ(lines.size(), 5u);
  EXPECT_THAT(lines.back(), testing::HasSubstr("settled"));
}

// Weights that fall below the least float in one round may have to rise in the next: with these seeds the fit
// had not one record left when they were lost.
TEST(Mwem, KeepsTheNumberOfRecordsWhereMostCellsAreEmpty) {
  SynthesisInput input = Input({.rho = Rho(kRhoUnitsPerOne / 4)}, RuleKind::kZcdp);
  input.domain = CodedDomain({2, 2, 201});
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 2, {}).value());
  input.assume_records.reset();
  const std::vector<std::vector<uint32_t>> rows = PupilRows();
  const SealedTableHandle table = SealRows(input.domain, rows).value();
  for (const uint64_t seed : {40, 121, 124, 186})
    EXPECT_NEAR(static_cast<double>(Fit(input, table, seed)->records()), 30 * 37, 30) << seed;
}

TEST(Mwem, SurvivesAnEnormousBudget) {
  const SynthesisInput input = Input({.epsilon = Epsilon(100'000 * kEpsilonUnitsPerOne)}, RuleKind::kPure);
  EXPECT_LT(TotalVariation(input, *Fit(input, 8)), 0.01);
}

}  // namespace
}  // namespace curator::dp
