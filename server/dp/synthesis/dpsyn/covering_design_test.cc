#include "dp/synthesis/dpsyn/covering_design.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <tuple>
#include <utility>

#include "dp/synthesis/dpsyn/view_table.h"
#include "dp/synthesis/testing/pacer_probe.h"

namespace curator::dp {
namespace {

AttributeSet All(uint32_t attributes) {
  AttributeSet all(attributes);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

std::vector<AttributeSet> SubsetsOf(const std::vector<AttributeSet>& sets, size_t strength) {
  Pacer pacer{std::stop_token()};
  return SubsetsWithin(sets, strength, pacer).value();
}

CoverRequest Binary(uint32_t attributes, size_t strength, int64_t width) {
  const std::vector<AttributeSet> one = {All(attributes)};
  return {.sizes = std::vector<int64_t>(attributes, 2),
          .targets = SubsetsOf(one, strength),
          .most_cells = int64_t{1} << width,
          .search_steps = 30'000};
}

std::vector<AttributeSet> Design(const CoverRequest& request) {
  Pacer pacer{std::stop_token()};
  return CoveringDesign(request, pacer).value();
}

std::vector<AttributeSet> Uncovered(const CoverRequest& request, const std::vector<AttributeSet>& blocks) {
  std::vector<AttributeSet> missing;
  for (const AttributeSet& target : request.targets) {
    if (std::ranges::none_of(blocks, [&](const AttributeSet& block) { return IsSubset(target, block); }))
      missing.push_back(target);
  }
  return missing;
}

TEST(CoveringDesign, HoldsEveryPairAndEveryTripleWithinTheBound) {
  for (const auto& [attributes, strength, width] :
       {std::tuple(9U, 2U, 3), {16U, 2U, 4}, {20U, 2U, 6}, {12U, 3U, 5}, {7U, 3U, 3}}) {
    const CoverRequest request = Binary(attributes, strength, width);
    const std::vector<AttributeSet> blocks = Design(request);
    EXPECT_THAT(Uncovered(request, blocks), testing::IsEmpty());
    for (const AttributeSet& block : blocks) EXPECT_LE(block.size(), static_cast<size_t>(width));
    EXPECT_GE(static_cast<int64_t>(blocks.size()), SchonheimBound(attributes, width, strength));
  }
}

TEST(CoveringDesign, ReachesTheLowerBoundOnAffinePlanes) {
  EXPECT_EQ(Design(Binary(8, 2, 4)).size(), 6U);    // as in the example of the paper
  EXPECT_EQ(Design(Binary(9, 2, 3)).size(), 12U);   // the affine plane of order 3
  EXPECT_EQ(Design(Binary(16, 2, 4)).size(), 20U);  // of order 4
  EXPECT_EQ(Design(Binary(64, 2, 8)).size(), 72U);  // of order 8
}

TEST(CoveringDesign, TakesNoMoreThanFiveFourthsOfTheLowerBoundForPairs) {
  for (const auto& [attributes, width] : {std::pair(16U, 8), {32U, 6}, {32U, 8}, {48U, 6}, {64U, 4}}) {
    const size_t blocks = Design(Binary(attributes, 2, width)).size();
    EXPECT_LE(static_cast<double>(blocks), 1.25 * static_cast<double>(SchonheimBound(attributes, width, 2)))
        << attributes << " " << width;
  }
}

TEST(CoveringDesign, IsTheSameEveryTime) {
  EXPECT_EQ(Design(Binary(13, 2, 5)), Design(Binary(13, 2, 5)));
}

TEST(CoveringDesign, KeepsViewsOfUnequalAttributesWithinTheirCells) {
  const std::vector<int64_t> sizes = {2, 9, 3, 16, 7, 2, 5, 4, 1, 10};
  const std::vector<AttributeSet> one = {All(10)};
  const CoverRequest request{.sizes = sizes, .targets = SubsetsOf(one, 2), .most_cells = 200};
  const std::vector<AttributeSet> blocks = Design(request);
  EXPECT_THAT(Uncovered(request, blocks), testing::IsEmpty());
  for (const AttributeSet& block : blocks) {
    int64_t cells = 1;
    for (const uint32_t attribute : block) cells *= sizes[attribute];
    EXPECT_LE(cells, 200);
  }
  EXPECT_LT(blocks.size(), 24U);  // of 45 pairs
}

TEST(CoveringDesign, SearchTakesAwayWhatGreedyLeaves) {
  CoverRequest request = Binary(16, 2, 6);
  request.search_steps = 0;
  const std::vector<AttributeSet> greedy = Design(request);
  request.search_steps = 30'000;
  Pacer pacer{std::stop_token()};
  EXPECT_LT(WithFewerBlocks(request, greedy, pacer)->size(), greedy.size());
}

TEST(SubsetsWithin, EndsAtItsLastStepOrWhenItHasEnough) {
  const std::vector<AttributeSet> sets(1000, All(500));
  Pacer pacer{std::stop_token()};
  const absl::Status refused = SubsetsWithin(sets, 2, pacer, int64_t{1} << 22).status();
  EXPECT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_LT(pacer.steps(), int64_t{1} << 23);
  Pacer other{std::stop_token()};
  EXPECT_GE(SubsetsWithin(sets, 2, other, int64_t{1} << 23, 4096)->size(), 4096U);
}

TEST(CoveringDesign, StopsWhenAskedTo) {
  std::stop_source source;
  source.request_stop();
  Pacer pacer(source.get_token());
  const CoverRequest request = Binary(200, 2, 6);
  EXPECT_EQ(CoveringDesign(request, pacer).status().code(), absl::StatusCode::kCancelled);
  EXPECT_LT(PacerProbe::LongestStride(pacer), 2 * Pacer::kMostSteps);
  const std::vector<AttributeSet> pairs = request.targets;
  EXPECT_EQ(WithFewerBlocks(request, pairs, pacer).status().code(), absl::StatusCode::kCancelled);
}

// Planning once took time in proportion to their cube.
TEST(CoveringDesign, TakesFewStepsForHundredsOfAttributes) {
  Pacer pacer{std::stop_token()};
  const auto blocks = CoveringDesign(Binary(200, 2, 6), pacer);
  EXPECT_LT(pacer.steps(), 30'000'000);
}

TEST(SchonheimBound, IsThatOfThePapers) {
  EXPECT_EQ(SchonheimBound(8, 4, 2), 6);
  EXPECT_EQ(SchonheimBound(64, 8, 2), 72);
  EXPECT_EQ(SchonheimBound(7, 3, 2), 7);
  EXPECT_EQ(SchonheimBound(8, 4, 3), 14);
  EXPECT_EQ(SchonheimBound(5, 9, 2), 1);
}

TEST(AffinePlane, HasEveryPairOnOneLine) {
  for (const size_t q : {2, 3, 4, 5, 7, 8}) {
    const std::vector<AttributeSet> lines = AffinePlaneLines(q * q, q);
    EXPECT_EQ(lines.size(), q * q + q);
    for (uint32_t a = 0; a < q * q; ++a) {
      for (uint32_t b = a + 1; b < q * q; ++b) {
        EXPECT_EQ(std::ranges::count_if(lines,
                                        [&](const AttributeSet& line) {
                                          return IsSubset({a, b}, line);
                                        }),
                  1);
      }
    }
  }
  EXPECT_THAT(AffinePlaneLines(10, 3), testing::IsEmpty());
}

}  // namespace
}  // namespace curator::dp
