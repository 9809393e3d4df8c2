#include "service/workloads/selection.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/errors.h"

namespace curator::service {
namespace {

constexpr double kNoNumber = std::numeric_limits<double>::quiet_NaN();
using Operator = dp::ComparisonOperator;

// region (3 bins and one for missing values) and sex (2 bins); two counts for each of the 8 groups.
class SelectionTest : public ::testing::Test {
 protected:
  static dp::Domain MakeDomain() {
    const auto attribute = [](const char* name, std::vector<std::string> values, bool has_missing) {
      std::optional<dp::Missing> missing;
      if (has_missing) missing = dp::Missing{.tokens = {}, .bin = "missing"};
      return *dp::Attribute::Create(name, dp::CategoricalKind{.values = std::move(values)}, missing);
    };
    return *dp::Domain::Create({attribute("region", {"north", "east", "south"}, true),
                                attribute("sex", {"f", "m"}, false), attribute("other", {"x"}, false)});
  }

  std::vector<int64_t> Shown(const Selection& selection) const {
    return GroupsShown(domain_, *asked_.front().statistics, selection, answers_).value();
  }
  absl::Status Check(const Selection& selection) const { return CheckSelection(domain_, asked_, selection); }
  std::string FieldOf(const Selection& selection) const {
    const auto violation = FieldViolationOf(Check(selection));
    return violation ? violation->field : "";
  }

  static GroupCondition Compare(int32_t statistic, Operator op, double value) {
    return {.compare = {.statistic = statistic, .op = op, .value = value}};
  }
  static GroupCondition Join(GroupCondition::Kind kind, std::vector<GroupCondition> operands) {
    return {.kind = kind, .operands = std::move(operands)};
  }

  const dp::Domain domain_ = MakeDomain();
  std::vector<dp::AskedSet> asked_ = {
      {.query_class = dp::QueryClass::kStatistics,
       .statistics = dp::AskedStatistics{
           .statistics = {{.kind = dp::StatisticKind::kCount}, {.kind = dp::StatisticKind::kDistinctUnits}},
           .by = {0, 1}}}};
  // Group by group.
  std::vector<double> answers_ = {5, 50, 7, kNoNumber, 5, 10, -1, 20, 9, 30, 5, 40, 2, 70, 3, 60};
};

TEST_F(SelectionTest, EverythingIsShownInItsOrderWithoutASelection) {
  EXPECT_EQ(Shown({}), std::vector<int64_t>({0, 1, 2, 3, 4, 5, 6, 7}));
  const auto shown = StatisticsShown(domain_, *asked_.front().statistics, {});
  ASSERT_EQ(shown.size(), 2);
  EXPECT_EQ(shown[0].name, "count");
}

TEST_F(SelectionTest, StatisticsAreThoseOfTheColumns) {
  Selection selection;
  selection.columns = {{"units", int32_t{1}}, {"where", std::string("region")}, {"n", int32_t{0}}};
  EXPECT_TRUE(Check(selection).ok());
  const std::vector<ShownStatistic> expected = {{1, "units"}, {0, "n"}};
  EXPECT_EQ(StatisticsShown(domain_, *asked_.front().statistics, selection), expected);
  selection.columns = {{"where", std::string("region")}};
  EXPECT_EQ(StatisticsShown(domain_, *asked_.front().statistics, selection).size(), 2);
}

TEST_F(SelectionTest, HavingComparesAnswers) {
  const auto shown = [this](Operator op, double value) { return Shown({.having = Compare(0, op, value)}); };
  EXPECT_EQ(shown(Operator::kEqual, 5), std::vector<int64_t>({0, 2, 5}));
  EXPECT_EQ(shown(Operator::kNotEqual, 5), std::vector<int64_t>({1, 3, 4, 6, 7}));
  EXPECT_EQ(shown(Operator::kLess, 3), std::vector<int64_t>({3, 6}));
  EXPECT_EQ(shown(Operator::kLessOrEqual, 3), std::vector<int64_t>({3, 6, 7}));
  EXPECT_EQ(shown(Operator::kGreater, 7), std::vector<int64_t>({4}));
  EXPECT_EQ(shown(Operator::kGreaterOrEqual, 7), std::vector<int64_t>({1, 4}));
}

TEST_F(SelectionTest, WhatIsNoNumberIsUnknownAndSoIsItsDenial) {
  using enum GroupCondition::Kind;
  const GroupCondition large = Compare(1, Operator::kGreater, 0);
  EXPECT_EQ(Shown({.having = large}), std::vector<int64_t>({0, 2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(Shown({.having = Join(kNot, {large})}), std::vector<int64_t>());
  // Unknown and true is unknown; unknown or true is true.
  const GroupCondition seven = Compare(0, Operator::kEqual, 7);
  EXPECT_EQ(Shown({.having = Join(kAllOf, {large, seven})}), std::vector<int64_t>());
  EXPECT_EQ(Shown({.having = Join(kAnyOf, {Join(kNot, {large}), seven})}), std::vector<int64_t>({1}));
}

TEST_F(SelectionTest, EqualGroupsStayInTheirOrder) {
  EXPECT_EQ(Shown({.order_by = {{int32_t{0}, false}}}), std::vector<int64_t>({3, 6, 7, 0, 2, 5, 1, 4}));
  EXPECT_EQ(Shown({.order_by = {{int32_t{0}, true}}}), std::vector<int64_t>({4, 1, 0, 2, 5, 7, 6, 3}));
  EXPECT_EQ(Shown({.order_by = {{int32_t{0}, true}, {int32_t{1}, false}}}),
            std::vector<int64_t>({4, 1, 2, 5, 0, 7, 6, 3}));
}

TEST_F(SelectionTest, WhatIsNoNumberAndMissingValuesComeLastInBothDirections) {
  EXPECT_EQ(Shown({.order_by = {{int32_t{1}, false}}}).back(), 1);
  EXPECT_EQ(Shown({.order_by = {{int32_t{1}, true}}}).back(), 1);
  EXPECT_EQ(Shown({.order_by = {{std::string("region"), true}}}),
            std::vector<int64_t>({4, 5, 2, 3, 0, 1, 6, 7}));
  EXPECT_EQ(Shown({.order_by = {{std::string("sex"), true}, {std::string("region"), false}}}),
            std::vector<int64_t>({1, 3, 5, 7, 0, 2, 4, 6}));
}

TEST_F(SelectionTest, LimitAndOffsetCountShownGroups) {
  const GroupCondition five = Compare(0, Operator::kEqual, 5);
  EXPECT_EQ(Shown({.having = five, .limit = 1, .offset = 1}), std::vector<int64_t>({2}));
  EXPECT_EQ(Shown({.limit = 0}), std::vector<int64_t>());
  EXPECT_EQ(Shown({.offset = 100}), std::vector<int64_t>());
  EXPECT_EQ(Shown({.limit = std::numeric_limits<int64_t>::max(), .offset = 7}), std::vector<int64_t>({7}));
}

TEST_F(SelectionTest, OnlyOneSetOfStatisticsHasRows) {
  EXPECT_EQ(FieldOf({}), "");
  asked_.push_back(asked_.front());
  EXPECT_EQ(FieldOf({}), "selection");
  asked_ = {{.query_class = dp::QueryClass::kRanges}};
  EXPECT_EQ(FieldOf({}), "selection");
}

TEST_F(SelectionTest, WhatIsNotAskedForIsRefusedWithItsPath) {
  EXPECT_EQ(FieldOf({.columns = {{"n", int32_t{2}}}}), "selection.columns[0].source.statistic");
  EXPECT_EQ(FieldOf({.columns = {{"n", int32_t{-1}}}}), "selection.columns[0].source.statistic");
  EXPECT_EQ(FieldOf({.columns = {{"n", std::string("other")}}}), "selection.columns[0].source.attribute");
  EXPECT_EQ(FieldOf({.columns = {{"n", int32_t{0}}, {"n", int32_t{1}}}}), "selection.columns[1].name");
  EXPECT_EQ(FieldOf({.columns = {{"", int32_t{0}}}}), "selection.columns[0].name");
  EXPECT_EQ(FieldOf({.columns = {{"a\nb", int32_t{0}}}}), "selection.columns[0].name");
  EXPECT_EQ(FieldOf({.order_by = {{int32_t{0}}, {int32_t{9}}}}), "selection.order_by[1].source.statistic");
  EXPECT_EQ(FieldOf({.limit = -1}), "selection.limit");
  EXPECT_EQ(FieldOf({.offset = -1}), "selection.offset");
}

TEST_F(SelectionTest, ConditionsAreCheckedToTheirEnds) {
  using enum GroupCondition::Kind;
  const GroupCondition bad = Compare(5, Operator::kLess, 0);
  EXPECT_EQ(FieldOf({.having = Join(kAnyOf, {Join(kNot, {bad})})}),
            "selection.having.any_of.conditions[0].not.compare.statistic");
  EXPECT_EQ(FieldOf({.having = Compare(0, Operator::kLess, kNoNumber)}), "selection.having.compare.value");
  EXPECT_EQ(FieldOf({.having = Join(kAllOf, {})}), "selection.having");
  GroupCondition deep = Compare(0, Operator::kLess, 0);
  for (int i = 1; i < kMostConditionDepth; ++i) deep = Join(kNot, {deep});
  EXPECT_EQ(FieldOf({.having = deep}), "");
  EXPECT_EQ(FieldOf({.having = Join(kNot, {deep})}), "selection.having");
  const GroupCondition many =
      Join(kAllOf, std::vector<GroupCondition>(kMostGroupConditions + 1, Compare(0, Operator::kLess, 0)));
  EXPECT_EQ(FieldOf({.having = many}), "selection.having");
}

TEST_F(SelectionTest, AnswersThatAreShownUnderManyNamesAreBounded) {
  constexpr int64_t kGroups = int64_t{1} << 20;
  const dp::Domain domain = *dp::Domain::Create({*dp::Attribute::Create("id", dp::CodedKind{kGroups})});
  asked_.front().statistics->by = {0};
  const auto field_of = [&](int names) {
    Selection selection{.columns = {{"id", "id"}}};
    for (int i = 0; i < names; ++i) selection.columns.push_back({"count " + std::to_string(i), int32_t{0}});
    const auto violation = FieldViolationOf(CheckSelection(domain, asked_, selection));
    return violation ? violation->field : "";
  };
  EXPECT_EQ(field_of(2), "");
  EXPECT_EQ(field_of(3), "selection.columns");
}

// More groups than are sorted at once.
TEST_F(SelectionTest, ManyGroupsThatAreEqualInAllKeysStayInTheirOrder) {
  constexpr uint32_t kGroups = 100'003;
  constexpr int64_t kDifferent = 7;
  const dp::Domain domain = *dp::Domain::Create({*dp::Attribute::Create("id", dp::CodedKind{kGroups})});
  const dp::AskedStatistics asked{.statistics = {{.kind = dp::StatisticKind::kCount}}, .by = {0}};
  std::vector<double> answers;
  for (int64_t group = 0; group < kGroups; ++group)
    answers.push_back(static_cast<double>(group * 31 % kDifferent));
  std::vector<int64_t> expected;
  for (int64_t answer = kDifferent - 1; answer >= 0; --answer) {
    for (int64_t group = 0; group < kGroups; ++group) {
      if (group * 31 % kDifferent == answer) expected.push_back(group);
    }
  }
  const Selection falling{.order_by = {{int32_t{0}, true}}};
  EXPECT_EQ(GroupsShown(domain, asked, falling, answers).value(), expected);
}

TEST_F(SelectionTest, NothingIsSelectedForAClientThatHasLeft) {
  std::stop_source client;
  client.request_stop();
  const Selection sorted{.order_by = {{int32_t{0}}}};
  for (const Selection& selection : {Selection(), sorted}) {
    EXPECT_EQ(GroupsShown(domain_, *asked_.front().statistics, selection, answers_, client.get_token())
                  .status()
                  .code(),
              absl::StatusCode::kCancelled);
  }
}

TEST_F(SelectionTest, StepsOfAllGroupsAreBounded) {
  using enum GroupCondition::Kind;
  constexpr int64_t kGroups = int64_t{1} << 20;
  const dp::Domain domain = *dp::Domain::Create({*dp::Attribute::Create("id", dp::CodedKind{kGroups})});
  asked_.front().statistics->by = {0};
  const auto denied = [](GroupCondition condition, int times) {
    for (int i = 0; i < times; ++i) condition = Join(kNot, {std::move(condition)});
    return condition;
  };
  const auto field_of = [&](size_t comparisons, size_t keys, int denials = 0) {
    const GroupCondition each = denied(Compare(0, Operator::kGreater, 100), denials);
    const Selection selection{.having = Join(kAllOf, std::vector<GroupCondition>(comparisons, each)),
                              .order_by = std::vector<SortKey>(keys, {int32_t{0}})};
    const auto violation = FieldViolationOf(CheckSelection(domain, asked_, selection));
    return violation ? violation->field : "";
  };
  EXPECT_EQ(field_of(255, 0), "");
  EXPECT_EQ(field_of(256, 0), "selection");
  EXPECT_EQ(field_of(3, 12), "");
  EXPECT_EQ(field_of(4, 12), "selection");
  EXPECT_EQ(field_of(5, 0, 50), "");
  EXPECT_EQ(field_of(5, 0, 51), "selection") << "conditions that join or deny others take steps, too";
}

}  // namespace
}  // namespace curator::service
