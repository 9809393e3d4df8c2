#include "dp/synthesis/rap/relaxed_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <string>

#include "base/canonical_bytes.h"
#include "dp/domain/testing_domain.h"
#include "dp/synthesis/rap/projection.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// Three rows over attributes 0 and 2 of sizes 2 and 3: one certain, two not.
RelaxedModel SmallModel(const Domain& domain) {
  RelaxedLayout layout = RelaxedLayout::Create(domain, {0, 2}, 3).value();
  AlignedFloats shares(layout.elements());
  const float rows[3][5] = {{1, 0, 0, 0, 1}, {0.5F, 0.5F, 0.25F, 0.25F, 0.5F}, {0, 1, 0.125F, 0.875F, 0}};
  for (size_t row = 0; row < 3; ++row) {
    for (size_t column = 0; column < 5; ++column) shares[layout.ElementAt(row, column)] = rows[row][column];
  }
  return RelaxedModel(domain, std::move(layout), std::move(shares), 300, {"a line"});
}

TEST(RelaxedModel, AnswersWithTheAverageOfProductsOfItsRows) {
  const Domain domain = CodedDomain({2, 7, 3});
  const RelaxedModel model = SmallModel(domain);
  const std::vector<double> cells = model.Marginal({0, 2}).value();
  const std::vector<double> expected = {12.5, 12.5, 125, 25, 100, 25};
  ASSERT_EQ(cells.size(), 6U);
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(cells[i], expected[i], 1e-4);
  EXPECT_EQ(model.Marginal({}).value(), std::vector<double>{300});
  EXPECT_EQ(model.Marginal({1}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(model.Marginal({2, 0}).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(RelaxedModel, RoundsToRecordsWithTheMarginalsOfItsRows) {
  const Domain domain = CodedDomain({2, 7, 3});
  const RelaxedModel model = SmallModel(domain);
  std::map<std::pair<uint32_t, uint32_t>, int> counts;
  seeded::SeededBits bits(5);
  constexpr int kRecords = 30'000;
  ASSERT_TRUE(model
                  .Sample(bits, kRecords,
                          [&](std::span<const uint32_t> codes) {
                            ++counts[{codes[0], codes[1]}];
                            return absl::OkStatus();
                          })
                  .ok());
  const std::vector<double> cells = model.Marginal({0, 2}).value();
  for (uint32_t a = 0; a < 2; ++a) {
    for (uint32_t b = 0; b < 3; ++b) {
      const double expected = cells[a * 3 + b] / 300 * kRecords;
      EXPECT_NEAR((counts[{a, b}]), expected, 5 * std::sqrt(expected) + 1);
    }
  }
}

TEST(RelaxedModel, TakesFourBytesForEachRowAndValue) {
  const Domain domain = CodedDomain({500, 400});
  RelaxedLayout layout = RelaxedLayout::Create(domain, {0, 1}, 100).value();
  AlignedFloats shares(layout.elements());
  for (size_t row = 0; row < 100; ++row) {
    shares[layout.ElementAt(row, row)] = 1;
    shares[layout.ElementAt(row, 500 + row)] = 1;
  }
  const std::string bytes = RelaxedModel(domain, layout, shares, 5, {}).Serialize();
  EXPECT_LT(bytes.size(), 4 * 100 * 900 + 200);
}

TEST(RelaxedModel, RefusesBytesThatItDidNotWrite) {
  const Domain domain = CodedDomain({2, 7, 3});
  const std::string bytes = SmallModel(domain).Serialize();
  ASSERT_TRUE(RelaxedModel::Restore(domain, bytes).ok());
  EXPECT_EQ(RelaxedModel::Restore(domain, bytes.substr(1)).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(RelaxedModel::Restore(CodedDomain({2, 7, 4}), bytes).status().code(),
            absl::StatusCode::kDataLoss);
  // A share of 2, which is no distribution: the first row's first float becomes 0x40000000.
  std::string wrong = bytes;
  const size_t one = wrong.find(std::string("\x00\x00\x80\x3f", 4));
  ASSERT_NE(one, std::string::npos);
  wrong.replace(one, 4, std::string("\x00\x00\x00\x40", 4));
  EXPECT_EQ(RelaxedModel::Restore(domain, wrong).status().code(), absl::StatusCode::kDataLoss);
}

// Bytes of a model of one-valued attributes, each row certain of them.
std::string Claiming(const AttributeSet& attributes, int64_t rows, size_t stored_rows) {
  CanonicalWriter writer("curator.relaxed_model", 1);
  writer.Integer(static_cast<int64_t>(attributes.size()));
  for (const uint32_t attribute : attributes) writer.Integer(attribute);
  for (size_t i = 0; i < attributes.size(); ++i) writer.Integer(1);
  writer.Integer(rows);
  writer.Integer(5);
  std::string shares;
  for (size_t i = 0; i < stored_rows * attributes.size(); ++i) shares.append("\x00\x00\x80\x3f", 4);
  writer.Text(shares);
  writer.Integer(0);
  return std::move(writer).Take();
}

TEST(RelaxedModel, RefusesMoreRowsThanAFitMayHave) {
  const Domain domain = CodedDomain({1, 1});
  EXPECT_TRUE(RelaxedModel::Restore(domain, Claiming({0, 1}, 20'000, 20'000)).ok());
  EXPECT_EQ(RelaxedModel::Restore(domain, Claiming({0, 1}, 20'001, 20'001)).status().code(),
            absl::StatusCode::kDataLoss);
  // No attributes: whatever the number of rows, their shares take no bytes.
  for (const int64_t rows : {int64_t{1}, int64_t{1} << 40, INT64_MAX}) {
    EXPECT_EQ(RelaxedModel::Restore(domain, Claiming({}, rows, 0)).status().code(),
              absl::StatusCode::kDataLoss);
    EXPECT_EQ(RelaxedModel::Restore(domain, Claiming({0}, rows, 0)).status().code(),
              absl::StatusCode::kDataLoss);
  }
}

TEST(RelaxedModel, RestoresSharesWhoseSumHasDrifted) {
  constexpr int64_t kValues = 300'000;
  const Domain domain = CodedDomain({kValues});
  RelaxedLayout layout = RelaxedLayout::Create(domain, {0}, 1).value();
  AlignedFloats drifted(layout.elements());
  for (size_t code = 0; code < kValues; ++code) drifted[layout.ElementAt(0, code)] = 1.01F / kValues;
  const RelaxedModel model(domain, layout, Normalized(layout, drifted), 5, {});
  const auto restored = RelaxedModel::Restore(domain, model.Serialize());
  ASSERT_TRUE(restored.ok());
  EXPECT_EQ((*restored)->Marginal({0}).value(), model.Marginal({0}).value());
  const RelaxedModel as_it_was(domain, layout, drifted, 5, {});
  EXPECT_FALSE(RelaxedModel::Restore(domain, as_it_was.Serialize()).ok());
}

TEST(IndependentStart, HasTheGivenMarginalsOnAverage) {
  const Domain domain = CodedDomain({3});
  const RelaxedLayout layout = RelaxedLayout::Create(domain, {0}, 4000).value();
  const RelaxedRows rows = IndependentStart(layout, {{0.5, 0.3, 0.2}}, 50);
  // With so large a spread each row is its drawn value.
  std::vector<double> drawn(3);
  for (size_t row = 0; row < 4000; ++row) {
    size_t best = 0;
    for (size_t code = 1; code < 3; ++code) {
      if (rows.parameters[layout.ElementAt(row, code)] > rows.parameters[layout.ElementAt(row, best)])
        best = code;
    }
    drawn[best] += 1.0 / 4000;
  }
  EXPECT_NEAR(drawn[0], 0.5, 0.04);
  EXPECT_NEAR(drawn[1], 0.3, 0.04);
  EXPECT_NEAR(drawn[2], 0.2, 0.04);
}

TEST(PositiveShares, AreADistributionOfAnyNoise) {
  for (const std::vector<double>& noisy :
       std::vector<std::vector<double>>{{5, -3, 2}, {-1, -1}, {0, 0, 0}, {7}, {1e9, -1e9, 3}}) {
    double sum = 0;
    for (const double share : PositiveShares(noisy, 2)) {
      EXPECT_GT(share, 0);
      sum += share;
    }
    EXPECT_NEAR(sum, 1, 1e-12);
  }
}

// Of 50 values, of which a few have all records.
TEST(PositiveShares, OfNoisyCountsAreNearTheTrueOnes) {
  std::vector<double> counts(50);
  for (size_t i = 0; i < 5; ++i) counts[i] = 2000;
  std::vector<double> noisy = counts;
  for (size_t i = 0; i < noisy.size(); ++i) noisy[i] += i % 2 == 0 ? 400 : -400;
  const std::vector<double> shares = PositiveShares(noisy, 400);
  double off = 0;
  for (size_t i = 0; i < shares.size(); ++i) off += std::abs(shares[i] - counts[i] / 10'000);
  EXPECT_LT(off, 0.7) << "0.92 by clipping at 0 and scaling";
}

TEST(PositiveShares, OfNothingButNoiseAreEven) {
  for (const double share : PositiveShares({120, 80, 110, 90}, 40)) EXPECT_DOUBLE_EQ(share, 0.25);
}

}  // namespace
}  // namespace curator::dp
