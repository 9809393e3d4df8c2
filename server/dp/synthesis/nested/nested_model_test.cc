#include "dp/synthesis/nested/nested_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "dp/data/coded_columns.h"
#include "dp/domain/testing_domain.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

absl::StatusOr<std::unique_ptr<SynthesisModel>> Restored(const Domain& domain, std::string_view bytes) {
  Pacer pacer{std::stop_token()};
  return NestedModel::Restore(domain, bytes, {}, pacer);
}

using testing::ElementsAre;

NestedModelParts NormalParts() {
  NestedModelParts parts;
  for (int i = 0; i <= 80; ++i) parts.numbers.push_back(0.25 * i);
  parts.draws = {{.mean = 9, .between = 2, .within = 3}};
  parts.sizes = {{.least = 10, .most = 30, .groups = 50}};
  parts.transcript = {"one line"};
  return parts;
}

const Domain& Responses() {
  static const Domain domain = CodedDomain({81});
  return domain;
}

TEST(SizeClasses, AreTheNearestThatAreNotNegativeWithTheSameSum) {
  const std::vector<int64_t> bins = {1, 2, 4};
  const auto classes = EstimateSizes(bins, 9, std::vector<int64_t>{-2, 5, 9});
  EXPECT_EQ(classes[0].groups, 0);
  EXPECT_DOUBLE_EQ(classes[1].groups, 4);
  EXPECT_DOUBLE_EQ(classes[2].groups, 8);
  EXPECT_EQ(classes[1].most, 3);
  EXPECT_EQ(classes[2].most, 9);
  EXPECT_DOUBLE_EQ(RecordsIn(classes), 4 * 2.5 + 8 * 6.5);
}

TEST(SizeClasses, HoldOneGroupAtLeast) {
  EXPECT_DOUBLE_EQ(GroupsIn(EstimateSizes(std::vector<int64_t>{1, 2}, 9, std::vector<int64_t>{-7, -9})), 1);
  const auto equal = EstimateSizes(std::vector<int64_t>{1}, 30, std::vector<int64_t>{12});
  EXPECT_EQ(RecordsIn(equal), 360) << "all of the same public size";
}

TEST(SizeClasses, OfAKnownNumberOfRecordsAreTheNearestThatHoldIt) {
  const std::vector<int64_t> bins = {1, 2, 4, 100};
  const std::vector<int64_t> noisy = {-2, 5, 9, 3};  // the last is noise of 300 groups' records
  const auto classes = EstimateSizesOf(70, bins, 200, noisy);
  EXPECT_NEAR(RecordsIn(classes), 70, 1e-9);
  // The distance to the noisy numbers grows in every direction that keeps the records.
  const double price = (9 - classes[2].groups) / 51.5;
  EXPECT_NEAR(5 - classes[1].groups, price * 2.5, 1e-9);
  EXPECT_EQ(classes[0].groups, 0);
  EXPECT_EQ(classes[3].groups, 0) << "a price of " << price << " is more than 3 groups of 150 are worth";
}

TEST(SizeClasses, HoldAKnownNumberOfRecordsHoweverFewGroupsWereSeen) {
  for (const std::vector<int64_t>& noisy : {std::vector<int64_t>{-7, -9}, {0, 0}, {1000, 1}}) {
    for (const double records : {1.0, 17.0, 1e6})
      EXPECT_NEAR(RecordsIn(EstimateSizesOf(records, std::vector<int64_t>{1, 4}, 9, noisy)), records,
                  records * 1e-9);
  }
}

TEST(NestedModel, DrawsGroupsWhoseMembersResembleEachOther) {
  const NestedModel model(Responses(), NormalParts());
  seeded::SeededBits bits(1);
  std::vector<std::vector<double>> groups;
  ASSERT_TRUE(model
                  .SampleGroups(bits, 60'000,
                                [&](int64_t group, std::span<const uint32_t> codes) {
                                  EXPECT_LE(group, static_cast<int64_t>(groups.size()));
                                  if (group == static_cast<int64_t>(groups.size())) groups.emplace_back();
                                  EXPECT_EQ(group, static_cast<int64_t>(groups.size()) - 1);
                                  groups.back().push_back(0.25 * codes[0]);
                                  return absl::OkStatus();
                                })
                  .ok());
  double within = 0;
  double degrees = 0;
  std::vector<double> means;
  groups.pop_back();  // cut short
  for (const std::vector<double>& group : groups) {
    EXPECT_GE(group.size(), 10u);
    EXPECT_LE(group.size(), 30u);
    const double mean = std::accumulate(group.begin(), group.end(), 0.0) / static_cast<double>(group.size());
    means.push_back(mean);
    for (const double response : group) within += (response - mean) * (response - mean);
    degrees += static_cast<double>(group.size() - 1);
  }
  const double grand = std::accumulate(means.begin(), means.end(), 0.0) / static_cast<double>(means.size());
  double between = 0;
  for (const double mean : means)
    between += (mean - grand) * (mean - grand) / static_cast<double>(means.size());
  EXPECT_NEAR(grand, 9, 0.2);
  EXPECT_NEAR(std::sqrt(within / degrees), 3, 0.15) << "a little less, as responses are cut at the bounds";
  EXPECT_NEAR(between, 4 + 9 / 20.0, 0.5);
}

TEST(NestedModel, SamplesWhatItsMarginalSays) {
  NestedModelParts parts = NormalParts();
  parts.draws.push_back({.mean = 15, .between = 1, .within = 1});
  const NestedModel model(Responses(), std::move(parts));
  EXPECT_EQ(model.records(), 1000);
  const std::vector<double> counts = model.Marginal({0}).value();
  EXPECT_NEAR(std::accumulate(counts.begin(), counts.end(), 0.0), 1000, 1e-6);
  seeded::SeededBits bits(2);
  std::vector<double> sampled(81);
  constexpr int kRows = 400'000;
  ASSERT_TRUE(model
                  .Sample(bits, kRows,
                          [&](std::span<const uint32_t> codes) {
                            sampled[codes[0]] += 1000.0 / kRows;
                            return absl::OkStatus();
                          })
                  .ok());
  double distance = 0;
  for (size_t i = 0; i < sampled.size(); ++i) distance += std::abs(sampled[i] - counts[i]) / 1000;
  EXPECT_LT(distance, 0.03);
}

TEST(NestedModel, OfZerosAndOnesHasTheSharesOfItsGroups) {
  NestedModelParts parts;
  parts.numbers = {0, 1};
  parts.edge = 0.01;
  parts.draws = {{.mean = 0.3, .between = 0.1, .within = 0}};
  parts.sizes = {{.least = 5, .most = 5, .groups = 10}};
  const NestedModel model(CodedDomain({2}), std::move(parts));
  EXPECT_NEAR(model.Marginal({0}).value()[1] / 50, 0.3, 0.01);
  seeded::SeededBits bits(3);
  double ones = 0;
  ASSERT_TRUE(model
                  .Sample(bits, 50'000,
                          [&](std::span<const uint32_t> codes) {
                            ones += codes[0];
                            return absl::OkStatus();
                          })
                  .ok());
  EXPECT_NEAR(ones / 50'000, 0.3, 0.02);
}

TEST(NestedModel, HasNoMoreRecordsThanATableMayHave) {
  NestedModelParts parts = NormalParts();
  parts.sizes = {{.least = 1 << 20, .most = 1 << 20, .groups = 0x1p61}};
  EXPECT_EQ(NestedModel(Responses(), std::move(parts)).records(), kMaxRows);
}

TEST(NestedModel, IsTheSameWhenRestored) {
  const NestedModel model(Responses(), NormalParts());
  const std::string bytes = model.Serialize();
  const auto restored = Restored(Responses(), bytes).value();
  EXPECT_EQ(restored->Serialize(), bytes);
  EXPECT_EQ(restored->Marginal({0}).value(), model.Marginal({0}).value());
  EXPECT_THAT(restored->Transcript(), ElementsAre("one line"));
}

TEST(NestedModel, RefusesBytesThatItDidNotWrite) {
  const std::string bytes = NestedModel(Responses(), NormalParts()).Serialize();
  EXPECT_EQ(Restored(CodedDomain({80}), bytes).status().code(), absl::StatusCode::kDataLoss);
  for (size_t length = 0; length < bytes.size(); length += 7)
    EXPECT_EQ(Restored(Responses(), bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
  const auto broken = [](const std::function<void(NestedModelParts&)>& breaks) {
    NestedModelParts parts = NormalParts();
    breaks(parts);
    return NestedModel(Responses(), std::move(parts)).Serialize();
  };
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const std::string& wrong : {broken([](NestedModelParts& parts) { parts.sizes[0].least = 0; }),
                                   broken([=](NestedModelParts& parts) { parts.sizes[0].groups = nan; }),
                                   broken([](NestedModelParts& parts) { parts.sizes[0].most = 5; }),
                                   broken([](NestedModelParts& parts) { parts.draws[0].within = 0; }),
                                   broken([=](NestedModelParts& parts) { parts.draws[0].mean = nan; }),
                                   broken([](NestedModelParts& parts) { parts.numbers[1] = 0; }),
                                   broken([](NestedModelParts& parts) { parts.joined_method = "nested"; })})
    EXPECT_EQ(Restored(Responses(), wrong).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::dp
