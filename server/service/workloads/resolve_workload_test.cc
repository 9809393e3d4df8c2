// Questions by name: how conditions are put together, and where too much is refused.
#include "service/workloads/resolve_workload.h"

#include "service/testing/fixture.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;

Condition AgeBetween(const std::string& from, const std::string& to) {
  return {.attribute = "age", .values = {}, .between = ValueInterval{from, to}};
}

Condition RegionIn(const std::vector<std::string>& codes) {
  return {.attribute = "region", .values = codes, .between = std::nullopt};
}

absl::StatusOr<std::vector<dp::AskedSet>> ResolvePredicates(
    const std::vector<std::vector<Condition>>& predicates) {
  return ResolveWorkload(PeopleSchema().domain, {{PredicatesQuery{.predicates = predicates, .by = {}}}});
}

std::vector<dp::QueryGroup> GroupsOfPredicates(const std::vector<std::vector<Condition>>& predicates) {
  return ResolvePredicates(predicates)->at(0).queries.groups;
}

TEST(ResolveWorkload, ConditionsOnOneAttributeBecomeTheOneThatFulfilsThemAll) {
  EXPECT_EQ(GroupsOfPredicates({{AgeBetween("0", "49"), AgeBetween("20", "99")}}),
            GroupsOfPredicates({{AgeBetween("20", "49")}}));
  EXPECT_EQ(GroupsOfPredicates({{RegionIn({"0", "1", "3"}), AgeBetween("0", "9"), RegionIn({"0", "3"})}}),
            GroupsOfPredicates({{AgeBetween("0", "9"), RegionIn({"0", "3"})}}));
}

TEST(ResolveWorkload, ConditionsThatNoValueFulfilsAreRefusedByTheirPredicate) {
  const absl::Status refused =
      ResolvePredicates({{AgeBetween("0", "9")}, {AgeBetween("0", "9"), AgeBetween("50", "59")}}).status();
  EXPECT_EQ(FieldOf(refused), "workload.query_sets[0].predicates.predicates[1].all_of");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("no value of \"age\""));
}

TEST(ResolveWorkload, PredicatesInARowThatAreNoIntervalsOfTheSameAttributesAreOneGroup) {
  const std::vector<dp::QueryGroup> groups =
      GroupsOfPredicates({{RegionIn({"0", "2"})}, {RegionIn({"1", "3"})}});
  ASSERT_EQ(groups.size(), 1u);
  EXPECT_EQ(groups[0].attributes, (dp::AttributeSet{2}));
  const std::vector<dp::LinearQuery> queries = {{{0, 1}, {2, 1}}, {{1, 1}, {3, 1}}};
  EXPECT_EQ(std::get<std::vector<dp::LinearQuery>>(groups[0].queries), queries);
}

TEST(ResolveWorkload, MoreConditionsThanAreAnsweredAreRefusedByTheirNumber) {
  const absl::Status refused =
      ResolvePredicates({std::vector<Condition>(4097, AgeBetween("0", "9"))}).status();
  EXPECT_EQ(FieldOf(refused), "workload.query_sets[0].predicates.predicates[0].all_of");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has 4097 conditions"));
  EXPECT_TRUE(ResolvePredicates({std::vector<Condition>(4096, AgeBetween("0", "9"))}).ok());
}

TEST(ResolveWorkload, MoreSetsOfAttributesThanAreAnsweredAreRefusedByTheirNumber) {
  const std::vector<std::vector<std::string>> sets(100'001, {"sex"});
  const auto marginals = ResolveWorkload(
      PeopleSchema().domain, {{MarginalsQuery{.sets = sets, .k = std::nullopt, .attributes = {}}}});
  EXPECT_EQ(FieldOf(marginals.status()), "workload.query_sets[0].marginals.sets");
  EXPECT_THAT(std::string(marginals.status().message()), HasSubstr("more than 100000 sets of attributes"));
}

// 24 such query sets took 1.5 GB a copy before their memory was taken.
TEST(ResolveWorkload, MoreAttributesOfSetsThanAreHeldAreRefusedByTheirNumber) {
  std::vector<dp::Attribute> attributes;
  for (int i = 0; i < 2100; ++i)
    attributes.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{1}).value());
  const dp::Domain domain = dp::Domain::Create(attributes).value();
  const auto all = [&](size_t of, int k) {
    std::vector<std::string> names;
    for (size_t i = 0; i < of; ++i) names.push_back(attributes[i].name());
    return QuerySetRequest{MarginalsQuery{.sets = {}, .k = k, .attributes = names}};
  };
  const auto alone = ResolveWorkload(domain, {all(2100, 2099)});
  EXPECT_EQ(FieldOf(alone.status()), "workload.query_sets[0].marginals.all_k_way");
  EXPECT_THAT(std::string(alone.status().message()), HasSubstr("at most 4194304 attributes of sets"));
  const auto together = ResolveWorkload(domain, {all(2000, 1999), all(500, 499)});
  EXPECT_EQ(FieldOf(together.status()), "workload.query_sets[1].marginals.all_k_way");
  EXPECT_THAT(std::string(together.status().message()), HasSubstr("more than 4194304 attributes of sets"));
  EXPECT_TRUE(ResolveWorkload(domain, {all(2000, 1999), all(400, 399)}).ok());
}

// Of sex (2), age and region: see PeopleSchema().
TEST(ResolveWorkload, MarginalsAboveASizeAreLeftOut) {
  const dp::Domain domain = PeopleSchema().domain;
  const auto up_to = [](int64_t cells) {
    return std::vector<QuerySetRequest>{
        {MarginalsQuery{.sets = {}, .k = 1, .attributes = {}, .max_cells = cells}}};
  };
  const auto kept = ResolveWorkload(domain, up_to(2));
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->at(0).queries.groups.size(), 1u);
  EXPECT_EQ(domain.CellCount(kept->at(0).queries.groups[0].attributes), 2);
  EXPECT_EQ(MarginalsLeftOut(domain, up_to(2)), static_cast<int64_t>(domain.size()) - 1);
  EXPECT_EQ(MarginalsLeftOut(domain, up_to(1'000'000)), 0);
  const absl::Status nothing = ResolveWorkload(domain, up_to(1)).status();
  EXPECT_EQ(FieldOf(nothing), "workload.query_sets[0].marginals.all_k_way.max_cells");
  EXPECT_THAT(std::string(nothing.message()), HasSubstr("the smallest has 2 cells"));
  EXPECT_EQ(MarginalsLeftOut(domain, up_to(1)), 0);
}

// Leaving marginals out makes no request larger than it could be without.
TEST(ResolveWorkload, AttributesOfSetsThatAreLeftOutAreCountedToo) {
  std::vector<dp::Attribute> attributes;
  for (int i = 0; i < 85; ++i)
    attributes.push_back(
        dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{i < 3 ? 1 : 2}).value());
  const dp::Domain domain = dp::Domain::Create(attributes).value();
  const QuerySetRequest one{MarginalsQuery{.sets = {}, .k = 3, .attributes = {}, .max_cells = 1}};
  EXPECT_EQ(ResolveWorkload(domain, {one})->at(0).queries.groups.size(), 1u);
  const absl::Status refused = ResolveWorkload(domain, std::vector<QuerySetRequest>(15, one)).status();
  EXPECT_EQ(FieldOf(refused), "workload.query_sets[14].marginals.all_k_way");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("attributes of sets"));
}

// Of 85 attributes there are 98,770 sets of three, and 3,655 of one or two.
TEST(ResolveWorkload, ParitiesOfAllSizesTogetherAreAtMostAsManyAsMarginals) {
  std::vector<dp::Attribute> flags;
  for (int i = 0; i < 85; ++i)
    flags.push_back(dp::Attribute::Create("flag" + std::to_string(i), dp::CodedKind{2}).value());
  const dp::Domain domain = dp::Domain::Create(std::move(flags)).value();
  const auto up_to = [&](int k) {
    return ResolveWorkload(domain, {{ParitiesQuery{.sets = {}, .k = k, .attributes = {}}}});
  };
  EXPECT_EQ(FieldOf(up_to(3).status()), "workload.query_sets[0].parities.up_to_k_way");
  EXPECT_EQ(up_to(2)->at(0).queries.groups.size(), 3655u);
}

}  // namespace
}  // namespace curator::service
