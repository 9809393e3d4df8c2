// NoisyGroupMarginals: what is counted; on all pairs of small neighbouring tables what the counts move by and
// what their draws lose, which the price covers and some reach; broken variants are caught.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>

#include "dp/accounting/rule.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/group_sizes.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/noise/drbg.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

// A school's type and region, and a pupil's score.
const Domain& Schools() {
  static const Domain domain = CodedDomain({2, 3, 10});
  return domain;
}

using Pupils = std::vector<std::vector<uint32_t>>;

SealedTableHandle Seal(const std::vector<Pupils>& schools, RowOwner owner = RowOwner::kUnit) {
  SealedTableBuilder builder(Schools(), owner);
  uint32_t number = 0;
  for (const Pupils& pupils : schools) {
    for (const std::vector<uint32_t>& codes : pupils) (void)builder.AppendRow(codes, number);
    if (!pupils.empty()) ++number;
  }
  return std::move(builder).Build().value();
}

std::vector<std::vector<int64_t>> Count(const std::vector<Pupils>& schools,
                                        const std::vector<GroupMarginal>& marginals) {
  return GroupMarginals(*Seal(schools), Schools(), marginals).value();
}

TEST(GroupMarginals, CountEachGroupOnceHoweverManyRecordsItHas) {
  const std::vector<Pupils> schools = {Pupils(30, {0, 2, 5}), Pupils(1, {0, 1, 5}), Pupils(7, {1, 2, 5})};
  const auto counts = Count(schools, {{{0}, {}}, {{1}, {}}, {{0, 1}, {}}});
  EXPECT_THAT(counts[0], ElementsAre(2, 1));
  EXPECT_THAT(counts[1], ElementsAre(0, 1, 2));
  EXPECT_THAT(counts[2], ElementsAre(0, 1, 1, 0, 0, 1));
  EXPECT_THAT(Count({}, {{{0}, {}}})[0], ElementsAre(0, 0));
}

TEST(GroupMarginals, OfRecordsThatDisagreeTheLeastCellCountsInAnyOrder) {
  Pupils pupils = {{1, 0, 5}, {0, 2, 5}, {1, 1, 5}};
  std::ranges::sort(pupils);
  do {
    const auto counts = Count({pupils}, {{{0}, {}}, {{0, 1}, {}}});
    EXPECT_THAT(counts[0], ElementsAre(1, 0));
    EXPECT_THAT(counts[1], ElementsAre(0, 0, 1, 0, 0, 0));
  } while (std::ranges::next_permutation(pupils).found);
}

TEST(GroupMarginals, CountGroupsByTheirMeanRoundedDown) {
  const std::vector<Pupils> schools = {
      {{0, 0, 3}, {0, 0, 3}, {0, 0, 4}}, {{0, 0, 9}}, {{1, 0, 3}, {1, 0, 4}}, {{1, 0, 0}}};
  const MeanBins bins{2, {0, 3 * kStepsOfACode + 512, 9 * kStepsOfACode}};
  const auto counts = Count(schools, {{{0}, bins}, {{}, bins}});
  EXPECT_THAT(counts[0], ElementsAre(1, 0, 1, 1, 1, 0));
  EXPECT_THAT(counts[1], ElementsAre(2, 1, 1));
}

// Everything that may be asked of these groups, in several marginals at once.
std::vector<std::vector<GroupMarginal>> Questions() {
  const MeanBins bins{2, {0, 2 * kStepsOfACode, 6 * kStepsOfACode}};
  return {{{{0}, {}}}, {{{0, 1}, bins}}, {{{}, bins}}, {{{0}, bins}, {{1}, {}}, {{0, 1}, {}}}};
}

// Schools of up to three pupils who agree or not, and none.
std::vector<Pupils> SomeSchools() {
  return {{},
          {{0, 0, 0}},
          {{1, 2, 9}},
          {{1, 2, 9}, {1, 2, 0}, {1, 2, 1}},
          {{0, 1, 4}, {1, 0, 8}},
          {{1, 1, 9}, {0, 2, 9}}};
}

using Neighbours = std::pair<std::vector<Pupils>, std::vector<Pupils>>;

std::vector<Neighbours> NeighboursOf(NeighbourRelation relation) {
  std::vector<Neighbours> all;
  const Pupils other = {{0, 1, 5}, {0, 1, 6}};
  for (const Pupils& one : SomeSchools()) {
    for (const Pupils& instead : SomeSchools()) {
      const bool adds = one.empty() != instead.empty();
      if (relation == NeighbourRelation::kReplaceOne || adds) all.push_back({{other, one}, {other, instead}});
    }
  }
  return all;
}

template <typename Counts>
Sensitivity LargestMove(NeighbourRelation relation, const Counts& counts_of) {
  Sensitivity most;
  for (const auto& [one, other] : NeighboursOf(relation)) {
    const std::vector<std::vector<int64_t>> a = counts_of(one);
    const std::vector<std::vector<int64_t>> b = counts_of(other);
    Sensitivity moved;
    for (size_t i = 0; i < a.size(); ++i) {
      for (size_t cell = 0; cell < a[i].size(); ++cell) {
        const int64_t by = std::abs(a[i][cell] - b[i][cell]);
        moved.l1 += by;
        moved.l2_squared += by * by;
        moved.linf = std::max(moved.linf, by);
      }
    }
    most.l1 = std::max(most.l1, moved.l1);
    most.l2_squared = std::max(most.l2_squared, moved.l2_squared);
    most.linf = std::max(most.linf, moved.linf);
  }
  return most;
}

constexpr NeighbourRelation kBoth[] = {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne};

TEST(GroupMarginalsSensitivity, IsTheLargestChangeOverAllNeighbours) {
  for (const NeighbourRelation relation : kBoth) {
    for (const std::vector<GroupMarginal>& marginals : Questions()) {
      EXPECT_EQ(GroupMarginalsSensitivity(relation, std::ssize(marginals)).value(),
                LargestMove(relation, [&](const auto& schools) { return Count(schools, marginals); }));
    }
  }
  EXPECT_FALSE(GroupMarginalsSensitivity(NeighbourRelation::kAddRemove, 0).ok());
}

TEST(GroupMarginalsSensitivityCanary, CountingRecordsInsteadOfGroupsIsCaught) {
  const auto records_of = [](const std::vector<Pupils>& schools) {
    return CountMarginals(*Seal(schools), Schools(), {{0}}).value();
  };
  EXPECT_GT(LargestMove(NeighbourRelation::kAddRemove, records_of).l1,
            GroupMarginalsSensitivity(NeighbourRelation::kAddRemove, 1).value().l1);
}

// One record more, as if records were the units of the table.
TEST(GroupMarginalsSensitivityCanary, TheSensitivityOfGroupsUsedForRecordsIsCaught) {
  const std::vector<GroupMarginal> marginals = {{{0}, {}}};
  const auto without = Count({{{1, 0, 0}}}, marginals);
  const auto with = Count({{{1, 0, 0}, {0, 0, 0}}}, marginals);
  EXPECT_THAT(without[0], ElementsAre(0, 1));
  EXPECT_THAT(with[0], ElementsAre(1, 0)) << "two counts change";
  EXPECT_EQ(GroupMarginalsSensitivity(NeighbourRelation::kAddRemove, 1).value().l1, 1);
}

// Whether a draw of noise of this scale loses more than an epsilon of 1 on some neighbours, and as much.
struct Lost {
  bool more = false;
  bool as_much = false;
};

Lost LossOf(NeighbourRelation relation, const std::vector<GroupMarginal>& marginals, int64_t scale) {
  const UnitBound unit{relation, kNoRecordBound};
  const Interval price = Interval::Of(Epsilon(kEpsilonUnitsPerOne));
  Lost lost;
  for (const auto& [one, other] : NeighboursOf(relation)) {
    // Noise is the least likely where every count is far beyond the larger of the two.
    GroupMarginalsDraw draw{marginals, {Mechanism::kDiscreteLaplace, {scale, 1}}, {}};
    const auto a = Count(one, marginals);
    const auto b = Count(other, marginals);
    for (size_t i = 0; i < a.size(); ++i) {
      std::vector<int64_t>& values = draw.values.emplace_back();
      for (size_t cell = 0; cell < a[i].size(); ++cell) values.push_back(a[i][cell] > b[i][cell] ? 90 : -90);
    }
    const Interval loss = LogProbability(draw, *Seal(one), Schools(), unit).value() -
                          LogProbability(draw, *Seal(other), Schools(), unit).value();
    lost.more = lost.more || loss.CertainlyAbove(price);
    lost.as_much = lost.as_much || !price.CertainlyAbove(loss);
  }
  return lost;
}

TEST(ExactRatioOfGroupMarginals, LosesWhatTheMeterTakesAndReachesIt) {
  for (const NeighbourRelation relation : kBoth) {
    for (const std::vector<GroupMarginal>& marginals : Questions()) {
      const int64_t l1 = GroupMarginalsSensitivity(relation, std::ssize(marginals)).value().l1;
      const Lost lost = LossOf(relation, marginals, l1);
      EXPECT_FALSE(lost.more);
      EXPECT_TRUE(lost.as_much) << "the price is higher than it need be";
    }
  }
}

TEST(ExactRatioOfGroupMarginalsCanary, OneGroupWhereTwoAreExchangedIsCaught) {
  EXPECT_TRUE(LossOf(NeighbourRelation::kReplaceOne, {{{0}, {}}}, 1).more);
}

TEST(ExactRatioOfGroupMarginalsCanary, OneMarginalsPriceForThreeIsCaught) {
  EXPECT_TRUE(LossOf(NeighbourRelation::kAddRemove, Questions()[3], 1).more);
}

constexpr UnitBound kGroup{NeighbourRelation::kAddRemove, kNoRecordBound};
const NoiseSpec kNoise{Mechanism::kDiscreteLaplace, {2, 1}};
const std::vector<GroupMarginal> kAsked = {{{0}, MeanBins{2, {0, 5 * kStepsOfACode}}}, {{0, 1}, {}}};

Meter PaidFor(size_t marginals) {
  return Meter(
      {{NoiseEvent(kNoise,
                   GroupMarginalsSensitivity(kGroup.relation, static_cast<int64_t>(marginals)).value()),
        1}});
}

TEST(NoisyGroupMarginals, AreReplayedWithoutATable) {
  Drbg bits{DrawKey(DrawKey::Bytes{})};
  Transcript transcript;
  Kernel kernel(Seal(SomeSchools()), Schools(), kGroup, PaidFor(2), bits);
  RecordingQueries recording(kernel, transcript);
  const auto drawn = recording.NoisyGroupMarginals(kAsked, kNoise).value();
  ASSERT_EQ(drawn.size(), 2u);
  EXPECT_EQ(drawn[0].size(), 4u);
  EXPECT_EQ(drawn[1].size(), 6u);
  EXPECT_FALSE(recording.NoisyGroupMarginals(kAsked, kNoise).ok()) << "paid for once";
  ReplayingQueries same(transcript, Schools());
  EXPECT_EQ(same.NoisyGroupMarginals(kAsked, kNoise).value(), drawn);
  ReplayingQueries another(transcript, Schools());
  EXPECT_FALSE(another.NoisyGroupMarginals({{kAsked[0]}}, kNoise).ok());
}

TEST(NoisyGroupMarginals, AreRefusedWhereGroupsAreNotTheUnits) {
  Drbg bits{DrawKey(DrawKey::Bytes{})};
  for (const RowOwner owner : {RowOwner::kItselfInGroup, RowOwner::kUnit}) {
    Kernel kernel(Seal({{{0, 0, 0}}}, owner), Schools(), {NeighbourRelation::kAddRemove, 1}, PaidFor(2),
                  bits);
    const absl::Status status = kernel.NoisyGroupMarginals(kAsked, kNoise).status();
    EXPECT_EQ(status.code(),
              owner == RowOwner::kUnit ? absl::StatusCode::kOk : absl::StatusCode::kFailedPrecondition);
  }
}

TEST(NoisyGroupMarginals, AreRefusedWhereTheyWereNotPaidForOrAreNone) {
  Drbg bits{DrawKey(DrawKey::Bytes{})};
  Kernel kernel(Seal({{{0, 0, 0}}}), Schools(), kGroup, PaidFor(1), bits);
  EXPECT_EQ(kernel.NoisyGroupMarginals(kAsked, kNoise).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(kernel.NoisyGroupMarginals({}, kNoise).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.NoisyGroupMarginals({{{{9}, {}}}}, kNoise).status().code(),
            absl::StatusCode::kInvalidArgument);
}

}  // namespace
}  // namespace curator::dp
