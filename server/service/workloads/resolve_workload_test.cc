// Questions by name: how conditions are put together, and where too much is refused.
#include "service/workloads/resolve_workload.h"

#include <cmath>

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
  PredicatesQuery query;
  for (const std::vector<Condition>& all_of : predicates) query.predicates.push_back({.all_of = all_of});
  return ResolveCounts(PeopleSchema().domain, {{query}});
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

Expression Of(Condition condition) {
  return {.condition = std::move(condition)};
}

Expression Either(Condition one, Condition other) {
  return {.kind = Expression::Kind::kAnyOf, .operands = {Of(std::move(one)), Of(std::move(other))}};
}

Condition Compared(const std::string& attribute, dp::ComparisonOperator op, const std::string& value) {
  return {.attribute = attribute, .values = {}, .between = std::nullopt, .compare = Comparison{op, value}};
}

absl::StatusOr<std::vector<dp::AskedSet>> ResolveExpressions(const std::vector<Expression>& expressions,
                                                             const std::vector<std::string>& by) {
  PredicatesQuery query{.predicates = {}, .by = by};
  for (const Expression& expression : expressions)
    query.predicates.push_back({.all_of = {}, .expression = expression});
  return ResolveCounts(PeopleSchema().domain, {{query}});
}

TEST(ResolveWorkload, ExpressionsAreSumsOfTheCellsThatFulfilThem) {
  const auto asked = ResolveExpressions(
      {Either(RegionIn({"0"}), Compared("age", dp::ComparisonOperator::kGreaterOrEqual, "90")),
       Either(RegionIn({"1"}), AgeBetween("0", "9"))},
      {"sex"});
  ASSERT_TRUE(asked.ok()) << asked.status();
  const std::vector<dp::QueryGroup>& groups = asked->at(0).queries.groups;
  ASSERT_EQ(groups.size(), 1u) << "predicates of the same attributes are one group";
  EXPECT_EQ(groups[0].attributes, (dp::AttributeSet{0, 1, 2}));
  const auto& queries = std::get<std::vector<dp::LinearQuery>>(groups[0].queries);
  ASSERT_EQ(queries.size(), 4u);
  EXPECT_EQ(queries[0].size(), size_t{10 + 3});
  EXPECT_EQ(queries[3].back().cell, 77u) << "age 90 and region 1, of the second sex";
  EXPECT_THAT(asked->at(0).words,
              ::testing::ElementsAre("region = 0 or age >= 90", "region = 1 or age in [0, 10)"));
}

TEST(ResolveWorkload, ExpressionsThatConditionsSayAreTheSameQueries) {
  const Expression young = {.kind = Expression::Kind::kNot,
                            .operands = {Of(Compared("age", dp::ComparisonOperator::kGreater, "29"))}};
  EXPECT_EQ(ResolveExpressions({young}, {})->at(0).queries.groups,
            GroupsOfPredicates({{AgeBetween("0", "29")}}));
  const Expression women = {
      .kind = Expression::Kind::kAllOf,
      .operands = {young, Of(Compared("sex", dp::ComparisonOperator::kNotEqual, "Male"))}};
  const Condition female{.attribute = "sex", .values = {"Female"}, .between = std::nullopt};
  EXPECT_EQ(ResolveExpressions({women}, {})->at(0).queries.groups,
            GroupsOfPredicates({{AgeBetween("0", "29"), female}}));
}

TEST(ResolveWorkload, ExpressionsThatCannotBeCountedAreRefusedByTheirField) {
  const Expression all = Either(AgeBetween("0", "49"), AgeBetween("50", "99"));
  const absl::Status nothing = ResolveExpressions({all}, {}).status();
  EXPECT_EQ(FieldOf(nothing), "workload.query_sets[0].predicates.predicates[0].expression");
  EXPECT_THAT(std::string(nothing.message()), HasSubstr("holds for every record"));
  EXPECT_TRUE(ResolveExpressions({all}, {"sex"}).ok());
  EXPECT_EQ(FieldOf(ResolveExpressions({Of(AgeBetween("0", "9")), all}, {"age"}).status()),
            "workload.query_sets[0].predicates.predicates[0].expression.condition.attribute");
  EXPECT_EQ(
      FieldOf(
          ResolveExpressions({all, Either(AgeBetween("0", "9"), AgeBetween("5", "9"))}, {"sex"}).status()),
      "workload.query_sets[0].predicates.predicates[1].expression.any_of.expressions[1].condition.between."
      "from");
}

TEST(ResolveWorkload, ThresholdsTakeComparisons) {
  ThresholdsQuery query;
  query.conditions = {Compared("age", dp::ComparisonOperator::kLess, "30"),
                      Compared("sex", dp::ComparisonOperator::kNotEqual, "Male")};
  query.at_least = {2};
  const auto asked = ResolveCounts(PeopleSchema().domain, {{query}});
  ASSERT_TRUE(asked.ok()) << asked.status();
  EXPECT_THAT(asked->at(0).words, ::testing::ElementsAre("2 of (age < 30, sex != Male)"));
  ASSERT_EQ(asked->at(0).queries.groups.size(), 1u);
  EXPECT_EQ(asked->at(0).queries.groups[0].queries,
            (decltype(dp::QueryGroup::queries)(std::vector<dp::LinearQuery>{{{0, 1}, {1, 1}, {2, 1}}})));
  query.conditions.push_back({.attribute = "age", .values = {}, .between = std::nullopt, .is_missing = true});
  EXPECT_EQ(FieldOf(ResolveCounts(PeopleSchema().domain, {{query}}).status()),
            "workload.query_sets[0].thresholds.conditions[2].is_missing");
}

TEST(ResolveWorkload, MoreConditionsThanAreAnsweredAreRefusedByTheirNumber) {
  const absl::Status refused =
      ResolvePredicates({std::vector<Condition>(4097, AgeBetween("0", "9"))}).status();
  EXPECT_EQ(FieldOf(refused), "workload.query_sets[0].predicates.predicates[0].all_of");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("has 4097 conditions"));
  EXPECT_TRUE(ResolvePredicates({std::vector<Condition>(4096, AgeBetween("0", "9"))}).ok());
}

TEST(ResolveWorkload, MoreSetsOfAttributesThanAreAnsweredAreRefusedByTheirNumber) {
  const std::vector<std::vector<std::string>> sets((1 << 18) + 1, {"sex"});
  const auto marginals = ResolveCounts(PeopleSchema().domain,
                                       {{MarginalsQuery{.sets = sets, .k = std::nullopt, .attributes = {}}}});
  EXPECT_EQ(FieldOf(marginals.status()), "workload.query_sets[0].marginals.sets");
  EXPECT_THAT(std::string(marginals.status().message()), HasSubstr("more than 262144 sets of attributes"));
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
  const auto alone = ResolveCounts(domain, {all(2100, 2099)});
  EXPECT_EQ(FieldOf(alone.status()), "workload.query_sets[0].marginals.all_k_way");
  EXPECT_THAT(std::string(alone.status().message()), HasSubstr("at most 4194304 attributes of sets"));
  const auto together = ResolveCounts(domain, {all(2000, 1999), all(500, 499)});
  EXPECT_EQ(FieldOf(together.status()), "workload.query_sets[1].marginals.all_k_way");
  EXPECT_THAT(std::string(together.status().message()), HasSubstr("more than 4194304 attributes of sets"));
  EXPECT_TRUE(ResolveCounts(domain, {all(2000, 1999), all(400, 399)}).ok());
}

// Of sex (2), age and region: see PeopleSchema().
TEST(ResolveWorkload, MarginalsAboveASizeAreLeftOut) {
  const dp::Domain domain = PeopleSchema().domain;
  const auto up_to = [](int64_t cells) {
    return std::vector<QuerySetRequest>{
        {MarginalsQuery{.sets = {}, .k = 1, .attributes = {}, .max_cells = cells}}};
  };
  const auto kept = ResolveCounts(domain, up_to(2));
  ASSERT_TRUE(kept.ok()) << kept.status();
  ASSERT_EQ(kept->at(0).queries.groups.size(), 1u);
  EXPECT_EQ(domain.CellCount(kept->at(0).queries.groups[0].attributes), 2);
  EXPECT_EQ(MarginalsLeftOut(domain, up_to(2)), static_cast<int64_t>(domain.size()) - 1);
  EXPECT_EQ(MarginalsLeftOut(domain, up_to(1'000'000)), 0);
  const absl::Status nothing = ResolveCounts(domain, up_to(1)).status();
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
  EXPECT_EQ(ResolveCounts(domain, {one})->at(0).queries.groups.size(), 1u);
  const absl::Status refused = ResolveCounts(domain, std::vector<QuerySetRequest>(15, one)).status();
  EXPECT_EQ(FieldOf(refused), "workload.query_sets[14].marginals.all_k_way");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("attributes of sets"));
}

TEST(ResolveWorkload, WeightsAreNumbersOfSetsThatAPlanWeighs) {
  const auto field = [](double weight, QuerySetRequest set) {
    set.weight = weight;
    return FieldOf(ResolveWorkload(PeopleSchema(), {set}).status());
  };
  const QuerySetRequest prefixes{PrefixesQuery{.attribute = "age"}};
  EXPECT_EQ(field(1e-6, prefixes), "");
  EXPECT_EQ(field(1e6, prefixes), "");
  for (const double weight : {0.0, -1.0, 1e-7, 1e7, std::nan("")})
    EXPECT_EQ(field(weight, prefixes), "workload.query_sets[0].weight") << weight;
  const QuerySetRequest statistics{StatisticsQuery{.statistics = {{.kind = dp::StatisticKind::kCount}}}};
  EXPECT_EQ(field(1, statistics), "");
  EXPECT_EQ(field(2, statistics), "workload.query_sets[0].weight");
}

TEST(ResolveCounts, AModelsAnswersHaveNoWeights) {
  QuerySetRequest prefixes{PrefixesQuery{.attribute = "age"}};
  prefixes.weight = 2;
  EXPECT_EQ(FieldOf(ResolveCounts(PeopleSchema().domain, {prefixes}).status()),
            "workload.query_sets[0].weight");
}

// Of 117 attributes there are 260,130 sets of three, and 6,903 of one or two.
TEST(ResolveWorkload, ParitiesOfAllSizesTogetherAreAtMostAsManyAsMarginals) {
  std::vector<dp::Attribute> flags;
  for (int i = 0; i < 117; ++i)
    flags.push_back(dp::Attribute::Create("flag" + std::to_string(i), dp::CodedKind{2}).value());
  const dp::Domain domain = dp::Domain::Create(std::move(flags)).value();
  const auto up_to = [&](int k) {
    return ResolveCounts(domain, {{ParitiesQuery{.sets = {}, .k = k, .attributes = {}}}});
  };
  EXPECT_EQ(FieldOf(up_to(3).status()), "workload.query_sets[0].parities.up_to_k_way");
  EXPECT_EQ(up_to(2)->at(0).queries.groups.size(), 6903u);
}

}  // namespace
}  // namespace curator::service
