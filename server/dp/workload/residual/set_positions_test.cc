#include "dp/workload/residual/set_positions.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <random>
#include <set>

namespace curator::dp {
namespace {

std::vector<const AttributeSet*> PointersTo(const std::vector<AttributeSet>& sets) {
  std::vector<const AttributeSet*> pointers;
  for (const AttributeSet& set : sets) pointers.push_back(&set);
  return pointers;
}

AttributeSet Chosen(const AttributeSet& set, size_t subset) {
  AttributeSet chosen;
  for (size_t i = 0; i < set.size(); ++i) {
    if ((subset >> i & 1) != 0) chosen.push_back(set[i]);
  }
  return chosen;
}

// Some sets of up to `largest` of `attributes` attributes and all of their subsets, in any order.
std::vector<AttributeSet> RandomClosedSets(std::mt19937_64& random, uint32_t attributes, size_t largest) {
  std::set<AttributeSet> closed;
  for (int i = 0; i < 12; ++i) {
    std::set<uint32_t> members;
    for (size_t j = 0; j < largest; ++j) members.insert(static_cast<uint32_t>(random() % attributes));
    const AttributeSet set(members.begin(), members.end());
    for (size_t subset = 0; subset < SubsetsOfSize(set.size()); ++subset) closed.insert(Chosen(set, subset));
  }
  std::vector<AttributeSet> sets(closed.begin(), closed.end());
  std::ranges::shuffle(sets, random);
  return sets;
}

TEST(SetPositions, FindEverySetAndAllOfItsSubsetsInAnyOrder) {
  std::mt19937_64 random(20261129);
  for (int round = 0; round < 50; ++round) {
    const std::vector<AttributeSet> sets = RandomClosedSets(random, 3 + round % 20, 1 + round % 6);
    const auto positions = SetPositions::Create(PointersTo(sets));
    ASSERT_TRUE(positions.has_value());
    for (uint32_t i = 0; i < sets.size(); ++i) {
      EXPECT_EQ(positions->Find(sets[i]), i);
      const std::vector<uint32_t> subsets = positions->SubsetsOf(sets[i]);
      for (size_t subset = 0; subset < subsets.size(); ++subset)
        EXPECT_EQ(sets[subsets[subset]], Chosen(sets[i], subset));
    }
  }
}

TEST(SetPositions, FindNoSetThatIsNotThere) {
  const std::vector<AttributeSet> sets = {{}, {2}, {5}, {9}, {2, 9}};
  const SetPositions positions = SetPositions::Create(PointersTo(sets)).value();
  EXPECT_EQ(positions.Find({2, 9}), 4u);
  for (const AttributeSet& other :
       std::vector<AttributeSet>{{0}, {3}, {10}, {2, 5}, {5, 9}, {2, 10}, {9, 10}, {2, 9, 10}})
    EXPECT_EQ(positions.Find(other), std::nullopt);
  EXPECT_EQ(SetPositions().Find({}), std::nullopt);
}

TEST(SetPositions, AreOfSetsThatAreThereOnceWithAllOfTheirSubsets) {
  for (const std::vector<AttributeSet>& sets :
       std::vector<std::vector<AttributeSet>>{{},
                                              {{1}},
                                              {{}, {1}, {1}},
                                              {{}, {}},
                                              {{}, {1}, {1, 2}},
                                              {{}, {2}, {1, 2}},
                                              {{}, {1}, {2}, {3}, {1, 2}, {1, 3}, {1, 2, 3}},
                                              {{}, {1}, {2}, {3}, {1, 2}, {2, 3}, {1, 2, 3}}})
    EXPECT_FALSE(SetPositions::Create(PointersTo(sets)).has_value());
}

}  // namespace
}  // namespace curator::dp
