#include "dp/synthesis/models/product_model.h"

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
  return ProductModel::Restore(domain, bytes, pacer);
}

using ::testing::ElementsAre;

std::unique_ptr<SynthesisModel> Model(const Domain& domain, ProductModelParts parts) {
  Pacer pacer{std::stop_token()};
  return ProductModel::Create(domain, std::move(parts), pacer).value();
}

ProductModelParts SmallParts() {
  return {.attributes = {0, 2},
          .records = 60,
          .components = {{1.0, {{{0}, {0, std::log(2)}}}}, {1.0, {{{0, 2}, {0, 0, std::log(4), 0, 0, 0}}}}},
          .transcript = {"one line"}};
}

const Domain& SmallDomain() {
  static const Domain domain = CodedDomain({2, 5, 3});
  return domain;
}

TEST(ProductModel, AveragesItsComponents) {
  const auto model = Model(SmallDomain(), SmallParts());
  // Weights {1, 1, 1, 2, 2, 2} and {1, 1, 4, 1, 1, 1}: the sum is 18, over 60 records.
  const std::vector<double> cells = model->Marginal({0, 2}).value();
  const std::vector<double> expected = {2, 2, 5, 3, 3, 3};
  for (size_t i = 0; i < 6; ++i) EXPECT_NEAR(cells[i], expected[i] * 60 / 18, 1e-4);
  EXPECT_NEAR(model->Marginal({0})->at(0), 9.0 * 60 / 18, 1e-4);
  EXPECT_EQ(model->records(), 60);
  EXPECT_THAT(model->attributes(), ElementsAre(0, 2));
  EXPECT_THAT(model->Transcript(), ElementsAre("one line"));
}

TEST(ProductModel, RefusesMarginalsThatItDoesNotCover) {
  EXPECT_EQ(Model(SmallDomain(), SmallParts())->Marginal({1}).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(ProductModel, IsRestoredToTheLastBit) {
  const auto model = Model(SmallDomain(), SmallParts());
  const std::string bytes = model->Serialize();
  const auto restored = Restored(SmallDomain(), bytes).value();
  EXPECT_EQ(restored->Serialize(), bytes);
  EXPECT_EQ(restored->Marginal({0, 2}).value(), model->Marginal({0, 2}).value());
}

TEST(ProductModel, IsNotRestoredToItsEndAfterAStop) {
  const Domain wide = CodedDomain({2048, 1024});
  ProductModelParts parts = SmallParts();
  parts.attributes = {0, 1};
  parts.components = {{1.0, {}}};
  const std::string bytes = Model(wide, std::move(parts))->Serialize();
  EXPECT_TRUE(Restored(wide, bytes).ok());
  std::stop_source source;
  source.request_stop();
  EXPECT_EQ(Restored(wide, bytes, source.get_token()).status().code(), absl::StatusCode::kCancelled);
}

TEST(ProductModel, RefusesBytesThatItDidNotWrite) {
  const std::string bytes = Model(SmallDomain(), SmallParts())->Serialize();
  for (size_t length = 0; length < bytes.size(); length += 7) {
    EXPECT_EQ(Restored(SmallDomain(), bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
  }
  EXPECT_EQ(Restored(SmallDomain(), bytes + "x").status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Restored(CodedDomain({2, 5, 4}), bytes).status().code(), absl::StatusCode::kDataLoss);
  EXPECT_EQ(Restored(CodedDomain({2}), bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ProductModel, RefusesNumbersThatAreNotFinite) {
  ProductModelParts parts = SmallParts();
  parts.components[0].factors[0].logarithms[1] = std::nan("");
  const std::string bytes = Model(SmallDomain(), parts)->Serialize();
  EXPECT_EQ(Restored(SmallDomain(), bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ProductModel, IsUniformWhereAllWeightsVanish) {
  ProductModelParts parts{
      .attributes = {0}, .records = 10, .components = {{1e-9, {{{0}, {-60, -60}}}}}, .transcript = {}};
  const auto model = Model(SmallDomain(), parts);
  EXPECT_THAT(model->Marginal({0}).value(), ElementsAre(5, 5));
}

TEST(ProductModel, SamplesRecordsInProportion) {
  const auto model = Model(SmallDomain(), SmallParts());
  constexpr int64_t kRows = 180'000;
  std::vector<double> counts(6);
  seeded::SeededBits bits(9);
  ASSERT_TRUE(model
                  ->Sample(bits, kRows,
                           [&](std::span<const uint32_t> codes) {
                             EXPECT_EQ(codes.size(), 2u);
                             counts[codes[0] * 3 + codes[1]] += 1;
                             return absl::OkStatus();
                           })
                  .ok());
  const std::vector<double> expected = {2, 2, 5, 3, 3, 3};
  // Seven standard deviations of a binomial count.
  for (size_t i = 0; i < 6; ++i)
    EXPECT_NEAR(counts[i], expected[i] * 10'000, 7 * std::sqrt(expected[i] * 10'000));
}

TEST(ProductModel, StopsSamplingAtTheSinksError) {
  const auto model = Model(SmallDomain(), SmallParts());
  seeded::SeededBits bits(9);
  int rows = 0;
  const absl::Status stopped = model->Sample(bits, 1'000'000, [&](std::span<const uint32_t>) {
    return ++rows == 10 ? absl::CancelledError("enough") : absl::OkStatus();
  });
  EXPECT_EQ(stopped.code(), absl::StatusCode::kCancelled);
  EXPECT_EQ(rows, 10);
  EXPECT_FALSE(model->Sample(bits, -1, [](std::span<const uint32_t>) { return absl::OkStatus(); }).ok());
}

}  // namespace
}  // namespace curator::dp
