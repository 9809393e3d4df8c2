#include "dp/synthesis/models/factored_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dp/domain/testing_domain.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

absl::StatusOr<std::unique_ptr<SynthesisModel>> Restored(const Domain& domain, std::string_view bytes,
                                                         std::stop_token stop = {}) {
  Pacer pacer(std::move(stop));
  return FactoredModel::Restore(domain, bytes, pacer);
}

const Domain& SmallDomain() {
  static const Domain domain = CodedDomain({2, 3, 2, 2, 5});
  return domain;
}

// Attributes 0 and 3 in one part, 2 in another, 1 in none; 4 is not covered.
FactoredModelParts SmallParts() {
  return {
      .attributes = {0, 1, 2, 3},
      .records = 120,
      .parts = {{{0, 3}, {1.0, {{{0, 3}, {0, 0, 0, std::log(3)}}}}}, {{2}, {2.0, {{{2}, {0, std::log(2)}}}}}},
      .transcript = {"one line"}};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Model(FactoredModelParts parts) {
  Pacer pacer{std::stop_token()};
  return FactoredModel::Create(SmallDomain(), std::move(parts), pacer);
}

TEST(FactoredModel, MultipliesItsPartsAndIsUniformElsewhere) {
  const auto model = Model(SmallParts()).value();
  const std::vector<double> joint = model->Marginal({0, 1, 2, 3}).value();
  const double pair[2][2] = {{20, 20}, {20, 60}};
  const double two[2] = {1 / 3.0, 2 / 3.0};
  for (size_t a = 0; a < 2; ++a) {
    for (size_t b = 0; b < 3; ++b) {
      for (size_t c = 0; c < 2; ++c) {
        for (size_t d = 0; d < 2; ++d)
          EXPECT_NEAR(joint[((a * 3 + b) * 2 + c) * 2 + d], pair[a][d] / 3 * two[c], 1e-4);
      }
    }
  }
  EXPECT_NEAR(model->Marginal({0})->at(1), 80, 1e-4);
  EXPECT_NEAR(model->Marginal({1})->at(2), 40, 1e-4);
  EXPECT_FALSE(model->Marginal({4}).ok());
}

TEST(FactoredModel, SamplesWhatItsMarginalsSay) {
  const auto model = Model(SmallParts()).value();
  seeded::SeededBits bits(3);
  std::vector<double> joint(24);
  constexpr int kRows = 60'000;
  ASSERT_TRUE(model
                  ->Sample(bits, kRows,
                           [&](std::span<const uint32_t> codes) {
                             ++joint[((codes[0] * 3 + codes[1]) * 2 + codes[2]) * 2 + codes[3]];
                             return absl::OkStatus();
                           })
                  .ok());
  const std::vector<double> expected = model->Marginal({0, 1, 2, 3}).value();
  for (size_t i = 0; i < joint.size(); ++i) {
    const double p = expected[i] / 120;
    EXPECT_NEAR(joint[i], kRows * p, 6 * std::sqrt(kRows * p));
  }
}

TEST(FactoredModel, IsRestoredToTheLastBitAndNothingElseIs) {
  const auto model = Model(SmallParts()).value();
  const std::string bytes = model->Serialize();
  EXPECT_TRUE(FactoredModel::Wrote(bytes));
  const auto restored = Restored(SmallDomain(), bytes).value();
  EXPECT_EQ(restored->Serialize(), bytes);
  EXPECT_EQ(restored->Marginal({0, 2, 3}).value(), model->Marginal({0, 2, 3}).value());
  for (size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_EQ(Restored(SmallDomain(), bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Restored(CodedDomain({2, 3, 3, 2, 5}), bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(FactoredModel, RefusesPartsThatOverlapOrLieElsewhere) {
  FactoredModelParts overlapping = SmallParts();
  overlapping.parts.push_back({{3}, {}});
  EXPECT_FALSE(Model(overlapping).ok());
  FactoredModelParts outside = SmallParts();
  outside.parts.push_back({{4}, {}});
  EXPECT_FALSE(Model(outside).ok());
  FactoredModelParts mismatched = SmallParts();
  mismatched.parts[0].product.factors[0].logarithms.pop_back();
  EXPECT_FALSE(Model(mismatched).ok());
}

}  // namespace
}  // namespace curator::dp
