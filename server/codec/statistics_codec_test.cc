#include "codec/statistics_codec.h"

#include <gtest/gtest.h>

#include "codec/draw_identity.h"
#include "codec/release_codec.h"

namespace curator::codec {
namespace {

constexpr char kTag[] = "test";

dp::AskedStatistics Asked() {
  return {.statistics = {{.kind = dp::StatisticKind::kMean, .column = 5},
                         {.kind = dp::StatisticKind::kCount},
                         {.kind = dp::StatisticKind::kQuantile, .column = 5, .thousandths = 250}},
          .by = {1},
          .where = {0, 2},
          .cells = {0, 1, 2, 7, 9, 10},
          .condition = "age >= 65 or smoker = yes",
          .quantiles = dp::QuantileWay::kTree};
}

std::vector<dp::StatisticsDraw> Draws() {
  return {{.set = 0,
           .what = dp::SumDraw{.value = {.kind = dp::SummedValue::Kind::kValue, .column = 5, .centre = -12}}},
          {.set = 0,
           .what = dp::SumDraw{.blocks = dp::CodeBlocks{.column = 5, .width = 16}},
           .shares_of_share = 3},
          {.set = 0, .what = dp::QuantileDraw{.column = 5, .thousandths = 250}},
          {.set = 0, .what = dp::UnitsDraw()}};
}

dp::WorkloadRelease Release() {
  dp::WorkloadRelease release;
  release.asked.push_back({.query_class = dp::QueryClass::kStatistics});
  release.asked[0].statistics = Asked();
  release.asked[0].by = {1};
  release.event = "four draws";
  release.statistics.draws = Draws();
  release.statistics.bought = std::vector<dp::BoughtDraw>(
      4, {.noise = {.mechanism = dp::Mechanism::kDiscreteGaussian, .parameter = {7, 2}},
          .epsilon = dp::Epsilon(11)});
  release.statistics.values = {{-3, 4}, {1}, {}, {9, 9, 9}};
  return release;
}

TEST(StatisticsCodec, WhatIsWrittenIsRead) {
  CanonicalWriter writer(kTag, 1);
  WriteStatistics(writer, Asked());
  WriteDraws(writer, Draws());
  const std::string bytes = std::move(writer).Take();
  CanonicalReader reader(bytes, kTag, 1);
  dp::AskedStatistics asked = ReadStatistics(reader);
  asked.condition = Asked().condition;
  EXPECT_EQ(asked, Asked());
  EXPECT_EQ(ReadDraws(reader), Draws());
  EXPECT_TRUE(reader.Finish().ok());
}

TEST(StatisticsCodec, TheWordsOfAConditionAreNoPartOfTheRequest) {
  dp::AskedStatistics other = Asked();
  other.condition = "smoker = yes or age >= 65";
  CanonicalWriter one(kTag, 1);
  WriteStatistics(one, Asked());
  CanonicalWriter two(kTag, 1);
  WriteStatistics(two, other);
  EXPECT_EQ(std::move(one).Take(), std::move(two).Take());
}

TEST(StatisticsCodec, AReleaseIsReadAsItWasStored) {
  const std::string bytes = EncodeRelease(Release());
  const absl::StatusOr<dp::WorkloadRelease> read = DecodeWorkloadRelease(bytes);
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(*read, Release());
  EXPECT_EQ(EncodeRelease(*read), bytes);
}

TEST(StatisticsCodec, TheCellsOfConditionsAreCountedWithoutBeingMade) {
  dp::WorkloadRelease release = Release();
  EXPECT_EQ(ConditionCells(EncodeRelease(release)), 6);
  release.asked.push_back(release.asked[0]);
  release.asked[1].statistics->cells = {3};
  EXPECT_EQ(ConditionCells(EncodeRelease(release)), 7);
  release.asked[0].statistics->cells.clear();
  EXPECT_EQ(ConditionCells(EncodeRelease(release)), 1);
  EXPECT_EQ(ConditionCells("no release"), 0);
}

TEST(StatisticsCodec, AReleaseOfTooManySetsOrWithDrawsOfNoSetOrWithoutTheirValuesIsDamaged) {
  dp::WorkloadRelease of_no_set = Release();
  of_no_set.statistics.draws[1].set = 1;
  dp::WorkloadRelease without_values = Release();
  without_values.statistics.values.pop_back();
  dp::WorkloadRelease without_noise = Release();
  without_noise.statistics.bought.pop_back();
  dp::WorkloadRelease of_many_sets = Release();
  of_many_sets.asked.resize(dp::kMostStatistics + 1, of_many_sets.asked[0]);
  for (const dp::WorkloadRelease& damaged : {of_no_set, without_values, without_noise, of_many_sets})
    EXPECT_EQ(DecodeWorkloadRelease(EncodeRelease(damaged)).status().code(), absl::StatusCode::kDataLoss);
}

TEST(StatisticsCodec, AnyCutOffReleaseIsDamaged) {
  const std::string bytes = EncodeRelease(Release());
  for (size_t length = 0; length < bytes.size(); ++length)
    EXPECT_FALSE(DecodeWorkloadRelease(std::string_view(bytes).substr(0, length)).ok()) << length;
}

// Runs that touch, or come twice, are no encoding of any cells.
TEST(StatisticsCodec, CellsHaveOneEncoding) {
  for (const std::vector<int64_t>& runs :
       std::vector<std::vector<int64_t>>{{int64_t{0} << 32 | 2, int64_t{3} << 32 | 4},
                                         {int64_t{5} << 32 | 6, int64_t{1} << 32 | 2},
                                         {int64_t{4} << 32 | 3},
                                         {int64_t{0} << 32 | dp::kMostGroupCells}}) {
    CanonicalWriter writer(kTag, 1);
    writer.Integer(1);  // statistic: a count of all records
    writer.Integer(0);
    writer.Integer(0);
    writer.Integer(500);
    writer.Integer(0);  // by nothing
    writer.Integer(1);  // where: the attribute 0
    writer.Integer(0);
    writer.Integer(static_cast<int64_t>(runs.size()));
    for (const int64_t run : runs) writer.Integer(run);
    writer.Integer(0);
    const std::string bytes = std::move(writer).Take();
    CanonicalReader reader(bytes, kTag, 1);
    ReadStatistics(reader);
    EXPECT_FALSE(reader.Finish().ok());
  }
}

TEST(StatisticsCodec, AnotherConditionOrAnotherDrawIsAnotherIdentity) {
  const DrawIdentity identity{
      .dataset_id = "d", .method = "workload", .statistics = {Asked()}, .statistics_draws = Draws()};
  DrawIdentity other_cells = identity;
  other_cells.statistics[0].cells.pop_back();
  DrawIdentity other_centre = identity;
  std::get<dp::SumDraw>(other_centre.statistics_draws[0].what).value.centre = -11;
  DrawIdentity none = identity;
  none.statistics.clear();
  none.statistics_draws.clear();
  for (const DrawIdentity& other : {other_cells, other_centre, none})
    EXPECT_NE(HashOf(other), HashOf(identity));
}

}  // namespace
}  // namespace curator::codec
