#include "dp/data/joint_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "dp/data/joint_counter.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

Domain DomainOf(const std::vector<int64_t>& sizes) {
  std::vector<Attribute> attributes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back(Attribute::Create("a" + std::to_string(i), CodedKind{sizes[i]}).value());
  }
  return Domain::Create(std::move(attributes)).value();
}

std::vector<AttributeSet> AllPairs(uint32_t attributes) {
  std::vector<AttributeSet> pairs;
  for (uint32_t a = 0; a < attributes; ++a) {
    for (uint32_t b = a + 1; b < attributes; ++b) pairs.push_back({a, b});
  }
  return pairs;
}

// Every set in exactly one joint, within it; joints within the limit, unless they are no larger than a set.
void ExpectSound(const Domain& domain, const std::vector<AttributeSet>& sets, int64_t max_cells) {
  std::map<size_t, int> covered;
  for (const Joint& joint : PlanJoints(domain, sets, max_cells)) {
    EXPECT_TRUE(domain.CheckSet(joint.attributes).ok());
    const bool is_within = *domain.CellCount(joint.attributes) <= max_cells;
    // A set beyond the limit is its own joint; sets within it come along for nothing.
    const bool has_own_set = std::any_of(joint.members.begin(), joint.members.end(),
                                         [&](size_t member) { return sets[member] == joint.attributes; });
    EXPECT_TRUE(is_within || has_own_set);
    for (const size_t member : joint.members) {
      ++covered[member];
      EXPECT_TRUE(std::includes(joint.attributes.begin(), joint.attributes.end(), sets[member].begin(),
                                sets[member].end()));
    }
  }
  EXPECT_EQ(covered.size(), sets.size());
  for (const auto& [member, times] : covered) EXPECT_EQ(times, 1) << member;
}

TEST(PlanJoints, CoversEverySetOnce) {
  std::mt19937_64 random(8);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> sizes(1 + random() % 12);
    for (int64_t& size : sizes) size = static_cast<int64_t>(1 + random() % 30);
    std::vector<AttributeSet> sets(random() % 60);
    for (AttributeSet& set : sets) {
      for (uint32_t i = 0; i < sizes.size(); ++i) {
        if (random() % 4 == 0) set.push_back(i);
      }
    }
    ExpectSound(DomainOf(sizes), sets, static_cast<int64_t>(random() % 5000));
  }
}

TEST(PlanJoints, CountsAllPairsOfSmallAttributesAtOnce) {
  const std::vector<Joint> joints = PlanJoints(DomainOf({4, 4, 4, 4, 4}), AllPairs(5), 1024);
  ASSERT_EQ(joints.size(), 1u);
  EXPECT_THAT(joints[0].attributes, ElementsAre(0, 1, 2, 3, 4));
  EXPECT_EQ(joints[0].members.size(), 10u);
}

TEST(PlanJoints, GrowsNoJointBeyondTheLimit) {
  const Domain domain = DomainOf({4, 4, 4, 4, 4});
  for (const Joint& joint : PlanJoints(domain, AllPairs(5), 1023)) {
    EXPECT_LE(*domain.CellCount(joint.attributes), 1023);
  }
  EXPECT_EQ(PlanJoints(domain, AllPairs(5), 0).size(), 10u)
      << "where nothing fits, each set is its own joint";
}

TEST(PlanJoints, SetsOfOneAttributeAndOfNoneFallInWithOthers) {
  const std::vector<Joint> joints = PlanJoints(DomainOf({4, 4, 4}), {{}, {2}, {0}, {0, 1}, {2}, {}}, 64);
  ASSERT_EQ(joints.size(), 1u);
  EXPECT_THAT(joints[0].members, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_EQ(PlanJoints(DomainOf({4}), {{}, {}}, 64).size(), 1u);
}

TEST(PlanJoints, CoversAllPairsOfAHundredAttributesWithFewJoints) {
  // Six pairs for each joint of four attributes are the most that fit.
  const size_t joints = PlanJoints(DomainOf(std::vector<int64_t>(100, 16)), AllPairs(100), 1 << 16).size();
  EXPECT_LE(joints, 4950u / 4);
}

TEST(PlanJoints, RepeatedSetsAreCountedOnce) {
  EXPECT_EQ(PlanJoints(DomainOf({400, 400}), {{0, 1}, {0, 1}, {0, 1}}, 0).size(), 1u);
}

TEST(PlanJoints, ManySetsArePlannedInSteps) {
  const std::vector<int64_t> sizes(100, 3);
  const std::vector<AttributeSet> pairs = AllPairs(100);
  ExpectSound(DomainOf(sizes), pairs, 1000);
}

TEST(PlanForRows, DependsOnTheMagnitudeOfTheNumberOfRowsAlone) {
  EXPECT_EQ(MagnitudeOf(0), 0);
  EXPECT_EQ(MagnitudeOf(1), 1);
  EXPECT_EQ(MagnitudeOf(1'000'000), 1 << 19);
  const Domain domain = DomainOf({7, 9, 16, 5, 15, 10, 8, 24, 9, 6});
  const auto plan = [&](int64_t rows) {
    std::vector<AttributeSet> attributes;
    for (const Joint& joint : PlanForRows(domain, AllPairs(10), rows)) attributes.push_back(joint.attributes);
    return attributes;
  };
  EXPECT_EQ(plan(600'000), plan(1'000'000));
  EXPECT_LT(plan(10'000'000).size(), plan(2'000).size()) << "more rows make larger joints worth their sums";
}

TEST(PlanForRows, NoPlanOfTheComparedOnesCostsLess) {
  const Domain domain = DomainOf({7, 9, 16, 5, 15, 10, 8, 24, 9, 6});
  const std::vector<AttributeSet> pairs = AllPairs(10);
  const int64_t rows = 1 << 20;
  const double chosen = CountingCost(domain, pairs, PlanForRows(domain, pairs, rows), rows);
  for (const int64_t limit : {1 << 15, 1 << 16, 1 << 17, 1 << 18})
    EXPECT_LE(chosen, CountingCost(domain, pairs, PlanJoints(domain, pairs, limit), rows)) << limit;
}

TEST(ProjectCounts, SumsOverWhatIsLeftOut) {
  const Domain domain = DomainOf({2, 3, 2});
  const std::vector<uint32_t> counts = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12};
  const AttributeSet all = {0, 1, 2};
  EXPECT_EQ(ProjectCounts(domain, all, counts, all), counts);
  EXPECT_THAT(ProjectCounts(domain, all, counts, {0, 2}), ElementsAre(9, 12, 27, 30));
  EXPECT_THAT(ProjectCounts(domain, all, counts, {1}), ElementsAre(18, 26, 34));
  EXPECT_THAT(ProjectCounts(domain, all, counts, {2}), ElementsAre(36, 42));
  EXPECT_THAT(ProjectCounts(domain, all, counts, {0}), ElementsAre(21, 57));
  EXPECT_THAT(ProjectCounts(domain, all, counts, {}), ElementsAre(78));
}

TEST(ProjectToEach, GivesWhatEachProjectionGivesByItself) {
  std::mt19937_64 random(9);
  for (int round = 0; round < 300; ++round) {
    std::vector<int64_t> sizes(1 + random() % 6);
    for (int64_t& size : sizes) size = static_cast<int64_t>(1 + random() % 5);
    const Domain domain = DomainOf(sizes);
    AttributeSet all;
    for (uint32_t i = 0; i < sizes.size(); ++i) all.push_back(i);
    std::vector<uint32_t> counts(static_cast<size_t>(*domain.CellCount(all)));
    for (uint32_t& count : counts) count = static_cast<uint32_t>(random() % 1000);
    std::vector<AttributeSet> to(random() % 12);
    for (AttributeSet& set : to) {
      for (const uint32_t attribute : all) {
        if (random() % 2 == 0) set.push_back(attribute);
      }
    }
    const auto each = ProjectToEach(domain, all, counts, to);
    ASSERT_EQ(each.size(), to.size());
    for (size_t i = 0; i < to.size(); ++i) ASSERT_EQ(each[i], ProjectCounts(domain, all, counts, to[i])) << i;
  }
}

}  // namespace
}  // namespace curator::dp
