#include "dp/kernel/group_sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/groups.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/noise/drbg.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

const Domain& OneAttribute() {
  static const Domain domain = CodedDomain({3});
  return domain;
}

SealedTableHandle GroupsOfSizes(const std::vector<size_t>& sizes, RowOwner owner) {
  CodesOfGroups groups;
  for (const size_t size : sizes) groups.emplace_back(size, 1);
  return SealGroups(OneAttribute(), groups, owner);
}

const std::vector<int64_t> kBins = {1, 2, 4, 8};

TEST(GroupSizes, CountsGroupsByTheNumberOfTheirRecords) {
  const SealedTableHandle table = GroupsOfSizes({1, 2, 3, 3, 8, 100}, RowOwner::kItselfInGroup);
  EXPECT_THAT(GroupSizes(*table, kBins), ElementsAre(1, 3, 0, 2));
  EXPECT_THAT(GroupSizes(*table, std::vector<int64_t>{1}), ElementsAre(6));
  EXPECT_THAT(GroupSizes(*GroupsOfSizes({}, RowOwner::kItselfInGroup), kBins), ElementsAre(0, 0, 0, 0));
}

// How far neighbours' counts of groups are apart, over all tables of up to two groups of up to nine records.
struct Apart {
  int64_t l1 = 0;
  int64_t l2_squared = 0;
  int64_t linf = 0;

  void Compare(const std::vector<size_t>& one, const std::vector<size_t>& other,
               std::span<const int64_t> bins) {
    const auto a = GroupSizes(*GroupsOfSizes(one, RowOwner::kItselfInGroup), bins);
    const auto b = GroupSizes(*GroupsOfSizes(other, RowOwner::kItselfInGroup), bins);
    int64_t sum = 0;
    int64_t squares = 0;
    for (size_t i = 0; i < a.size(); ++i) {
      sum += std::abs(a[i] - b[i]);
      squares += (a[i] - b[i]) * (a[i] - b[i]);
      linf = std::max(linf, std::abs(a[i] - b[i]));
    }
    l1 = std::max(l1, sum);
    l2_squared = std::max(l2_squared, squares);
  }

  bool Within(const Sensitivity& bound) const {
    return l1 <= bound.l1 && l2_squared <= bound.l2_squared && linf <= bound.linf;
  }
};

Apart OfRecords(NeighbourRelation relation, std::span<const int64_t> bins) {
  Apart apart;
  for (size_t first = 0; first < 9; ++first) {
    for (size_t second = 0; second < 9; ++second) {
      if (relation == NeighbourRelation::kAddRemove) {
        apart.Compare({first, second}, {first + 1, second}, bins);
      } else {
        apart.Compare({first + 1, second}, {first, second + 1}, bins);
      }
    }
  }
  return apart;
}

Apart OfGroups(NeighbourRelation relation, std::span<const int64_t> bins) {
  Apart apart;
  for (size_t one = 1; one < 9; ++one) {
    for (size_t other = 1; other < 9; ++other) {
      apart.Compare(
          {5, one},
          relation == NeighbourRelation::kAddRemove ? std::vector<size_t>{5} : std::vector<size_t>{5, other},
          bins);
    }
  }
  return apart;
}

constexpr NeighbourRelation kRelations[] = {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne};

TEST(GroupSizesSensitivity, BoundsWhatOneUnitMovesAndIsReachedInL1) {
  const std::vector<int64_t> each_size = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  const std::vector<int64_t> one_bin = {1};
  for (const NeighbourRelation relation : kRelations) {
    for (const std::vector<int64_t>& bins : {each_size, kBins, one_bin}) {
      const Sensitivity records = GroupSizesSensitivity(relation, GroupRole::kAroundRecord, bins.size());
      EXPECT_TRUE(OfRecords(relation, bins).Within(records)) << bins.size();
      const Sensitivity groups = GroupSizesSensitivity(relation, GroupRole::kUnit, bins.size());
      EXPECT_TRUE(OfGroups(relation, bins).Within(groups)) << bins.size();
    }
    EXPECT_EQ(OfRecords(relation, each_size).l1,
              GroupSizesSensitivity(relation, GroupRole::kAroundRecord, each_size.size()).l1);
    EXPECT_EQ(OfGroups(relation, each_size).l1,
              GroupSizesSensitivity(relation, GroupRole::kUnit, each_size.size()).l1);
  }
}

TEST(GroupSizesSensitivityCanary, TheSensitivityOfGroupsUsedForRecordsIsCaught) {
  EXPECT_FALSE(OfRecords(NeighbourRelation::kAddRemove, kBins)
                   .Within(GroupSizesSensitivity(NeighbourRelation::kAddRemove, GroupRole::kUnit, 4)));
}

TEST(CheckSizeBins, RefusesBinsThatDoNotRiseFromOne) {
  for (const std::vector<int64_t>& bins :
       {std::vector<int64_t>{}, {0, 1}, {2, 3}, {1, 1}, {1, 3, 2}, std::vector<int64_t>(70'000, 1)})
    EXPECT_FALSE(CheckSizeBins(bins).ok());
}

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
const NoiseSpec kNoise{Mechanism::kDiscreteLaplace, {2, 1}};

Meter PaidFor(GroupRole role) {
  return Meter({{NoiseEvent(kNoise, GroupSizesSensitivity(kRecord.relation, role, kBins.size())), 1}});
}

TEST(NoisyGroupSizes, LosesNoMoreThanItsPriceOnNeighbours) {
  // Scale 2 and L1 2: epsilon 1.
  Drbg bits{DrawKey(DrawKey::Bytes{})};
  const SealedTableHandle one = GroupsOfSizes({3, 7}, RowOwner::kItselfInGroup);
  const SealedTableHandle other = GroupsOfSizes({4, 7}, RowOwner::kItselfInGroup);
  const GroupSizesDraw draw{
      .role = GroupRole::kAroundRecord, .least_sizes = kBins, .noise = kNoise, .values = {0, 5, -3, 0}};
  const Interval loss = LogProbability(draw, *one, OneAttribute(), kRecord).value() -
                        LogProbability(draw, *other, OneAttribute(), kRecord).value();
  EXPECT_NEAR(loss.Upper(), 1, 1e-12);
  GroupSizesDraw short_of_a_bin = draw;
  short_of_a_bin.values.pop_back();
  EXPECT_EQ(LogProbability(short_of_a_bin, *one, OneAttribute(), kRecord).status().code(),
            absl::StatusCode::kInvalidArgument);
}

TEST(NoisyGroupSizes, AreReplayedWithoutATableAndRefusedOfOtherTables) {
  Drbg bits{DrawKey(DrawKey::Bytes{})};
  Transcript transcript;
  Kernel kernel(GroupsOfSizes({1, 2, 9}, RowOwner::kItselfInGroup), OneAttribute(), kRecord,
                PaidFor(GroupRole::kAroundRecord), bits);
  RecordingQueries recording(kernel, transcript);
  const auto drawn = recording.NoisyGroupSizes(GroupRole::kAroundRecord, kBins, kNoise).value();
  EXPECT_FALSE(recording.NoisyGroupSizes(GroupRole::kAroundRecord, kBins, kNoise).ok()) << "paid for once";
  ReplayingQueries same(transcript, OneAttribute());
  EXPECT_EQ(same.NoisyGroupSizes(GroupRole::kAroundRecord, kBins, kNoise).value(), drawn);
  ReplayingQueries another(transcript, OneAttribute());
  EXPECT_FALSE(another.NoisyGroupSizes(GroupRole::kUnit, kBins, kNoise).ok());
  for (const auto& [owner, role] : {std::pair(RowOwner::kUnit, GroupRole::kAroundRecord),
                                    std::pair(RowOwner::kItselfInGroup, GroupRole::kUnit)}) {
    Kernel wrong(GroupsOfSizes({1}, owner), OneAttribute(), kRecord, PaidFor(role), bits);
    EXPECT_EQ(wrong.NoisyGroupSizes(role, kBins, kNoise).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
}

}  // namespace
}  // namespace curator::dp
