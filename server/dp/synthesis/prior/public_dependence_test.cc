#include "dp/synthesis/prior/public_dependence.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dp/domain/testing_domain.h"
#include "dp/synthesis/testing/laws.h"
#include "dp/synthesis/testing/public_rows.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;

constexpr int kDependentRows = 4000;

// a1 is a0, a2 follows a1 mostly, a3 and a4 are independent of all; a5 depends on a4 a little.
const PublicTable& Table(const Domain& domain) {
  static const auto* const table = [&] {
    std::mt19937_64 random(3);
    Rows rows;
    for (int i = 0; i < kDependentRows; ++i) {
      const auto a = static_cast<uint32_t>(random() % 4);
      const auto c = random() % 10 < 7 ? a : static_cast<uint32_t>(random() % 4);
      const auto d = static_cast<uint32_t>(random() % 3);
      const auto e = static_cast<uint32_t>(random() % 2);
      const auto f = random() % 10 < 4 ? e : static_cast<uint32_t>(random() % 2);
      rows.push_back({a, a, c, d, e, f});
    }
    return new auto(PublicRows(domain, rows));
  }();
  return **table;
}

PublicDependence DependenceOf(const Domain& domain, const PublicTable& table,
                              const AttributeSet& attributes) {
  Pacer pacer{std::stop_token()};
  return PublicDependence::Of(domain, table, attributes, pacer).value();
}

struct World6 {
  Domain domain = CodedDomain({4, 4, 4, 3, 2, 2});
  PublicDependence dependence = DependenceOf(domain, Table(domain), {0, 1, 2, 3, 4, 5});
};

TEST(PublicDependence, IsTheEntropyForEqualAttributesAndNothingForIndependentOnes) {
  const World6 world;
  EXPECT_NEAR(world.dependence.Between(0, 1), std::log(4.0), 0.01);
  EXPECT_LT(world.dependence.Between(0, 3), 0.002);
  EXPECT_LT(world.dependence.Between(3, 4), 0.002);
  EXPECT_EQ(world.dependence.Between(1, 0), world.dependence.Between(0, 1));
}

// 100 values twice in 4,000 rows: the plain estimate is about 1.2 nats for independent attributes.
TEST(PublicDependence, TakesAwayWhatIndependentAttributesSeemToShareInFewRows) {
  const Domain domain = CodedDomain({60, 60});
  const auto table = PublicRows(domain, RandomRows({60, 60}, 20'000, 4));
  EXPECT_LT(DependenceOf(domain, *table, {0, 1}).Between(0, 1), 0.01);
}

TEST(DependentCliques, JoinsWhatDependsAndLeavesTheRestAlone) {
  const World6 world;
  EXPECT_THAT(DependentCliques(world.domain, world.dependence, 0.05, 64, 10),
              ElementsAre(AttributeSet{0, 1, 2}, AttributeSet{3}, AttributeSet{4, 5}));
}

TEST(DependentCliques, KeepsWithinItsCells) {
  const World6 world;
  EXPECT_THAT(DependentCliques(world.domain, world.dependence, 0.05, 16, 10),
              ElementsAre(AttributeSet{0, 1}, AttributeSet{0, 2}, AttributeSet{1, 2}, AttributeSet{3},
                          AttributeSet{4, 5}));
  EXPECT_THAT(DependentCliques(world.domain, world.dependence, 0.05, 3, 10),
              ElementsAre(AttributeSet{0}, AttributeSet{1}, AttributeSet{2}, AttributeSet{3}, AttributeSet{4},
                          AttributeSet{5}));
}

TEST(DependentCliques, MakesNoMoreCliquesThanAllowed) {
  const World6 world;
  EXPECT_THAT(
      DependentCliques(world.domain, world.dependence, 0.05, 16, 1),
      ElementsAre(AttributeSet{0, 1}, AttributeSet{2}, AttributeSet{3}, AttributeSet{4}, AttributeSet{5}));
}

TEST(NearlyIndependent, TakesOneOfThoseThatDependOnEachOther) {
  const World6 world;
  EXPECT_THAT(
      NearlyIndependent(world.dependence, 0.05, 10),
      ElementsAre(AttributeSet{0}, AttributeSet{3}, testing::AnyOf(AttributeSet{4}, AttributeSet{5})));
  EXPECT_THAT(NearlyIndependent(world.dependence, 0.05, 1), ElementsAre(AttributeSet{0}));
}

}  // namespace
}  // namespace curator::dp
