// Expressions of conditions, compared with the logic of SQL (true, false and unknown) record by record.
#include "service/workloads/resolve_expression.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <random>

#include "base/errors.h"

namespace curator::service {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using Kind = Expression::Kind;
using Op = dp::ComparisonOperator;
using Truth = std::optional<bool>;  // none: unknown

constexpr uint32_t kAge = 0;
constexpr uint32_t kGrade = 1;
constexpr uint32_t kSex = 2;

// age: 0..4 and missing; grade: low, mid, high, the catch-all and missing; sex: f, m, the catch-all; zone.
const dp::Domain& People() {
  static const dp::Domain domain =
      dp::Domain::Create(
          {dp::Attribute::Create("age", dp::IntegerKind{.min = 0, .max = 4}, dp::Missing{{}, "unknown"})
               .value(),
           dp::Attribute::Create(
               "grade",
               dp::CategoricalKind{.values = {"low", "mid", "high"}, .catch_all = "other", .ordered = true},
               dp::Missing{{}, "none"})
               .value(),
           dp::Attribute::Create("sex", dp::CategoricalKind{{"f", "m"}, "x"}).value(),
           dp::Attribute::Create("zone", dp::CodedKind{3}).value()})
          .value();
  return domain;
}

Expression Of(Condition condition) {
  return {.condition = std::move(condition)};
}
Expression Compare(const std::string& attribute, Op op, const std::string& value) {
  return Of({.attribute = attribute, .values = {}, .between = {}, .compare = Comparison{op, value}});
}
Expression In(const std::string& attribute, const std::vector<std::string>& values) {
  return Of({.attribute = attribute, .values = values, .between = {}});
}
Expression Between(const std::string& attribute, const std::string& from, const std::string& to) {
  return Of({.attribute = attribute, .values = {}, .between = ValueInterval{from, to}});
}
Expression IsMissing(const std::string& attribute) {
  return Of({.attribute = attribute, .values = {}, .between = {}, .is_missing = true});
}
Expression All(std::vector<Expression> operands) {
  return {.kind = Kind::kAllOf, .operands = std::move(operands)};
}
Expression Any(std::vector<Expression> operands) {
  return {.kind = Kind::kAnyOf, .operands = std::move(operands)};
}
Expression Not(Expression operand) {
  return {.kind = Kind::kNot, .operands = {std::move(operand)}};
}

absl::StatusOr<ResolvedPredicate> Resolved(const Expression& expression,
                                           const dp::Domain& domain = People()) {
  PredicateAllowance allowance;
  return ResolvePredicate(domain, {.all_of = {}, .expression = expression}, allowance);
}

// "expression.not.condition.compare.value: ..."
std::string Refusal(const Expression& expression) {
  const absl::Status status = Resolved(expression).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(FieldViolationOf(status)) << status;
  return std::string(status.message());
}

// The codes of one attribute of People() at which an expression about it alone is true.
std::vector<uint32_t> CodesOf(const Expression& expression) {
  const absl::StatusOr<ResolvedPredicate> resolved = Resolved(expression);
  EXPECT_TRUE(resolved.ok()) << resolved.status();
  if (!resolved.ok()) return {};
  EXPECT_EQ(resolved->attributes.size(), 1u);
  return resolved->cells;
}

TEST(Expressions, MissingValuesAreUnknownAndSoIsTheOpposite) {
  EXPECT_THAT(CodesOf(Compare("age", Op::kGreater, "2")), ElementsAre(3, 4));
  EXPECT_THAT(CodesOf(Not(Compare("age", Op::kGreater, "2"))), ElementsAre(0, 1, 2));
  EXPECT_THAT(CodesOf(Not(Not(Compare("age", Op::kGreater, "2")))), ElementsAre(3, 4));
  EXPECT_THAT(CodesOf(Compare("age", Op::kNotEqual, "2")), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(CodesOf(Not(In("age", {"2", "3"}))), ElementsAre(0, 1, 4));
  EXPECT_THAT(CodesOf(Not(Between("age", "2", "3"))), ElementsAre(0, 1, 4));
  EXPECT_THAT(CodesOf(Any({Compare("age", Op::kLess, "2"), Compare("age", Op::kGreaterOrEqual, "2")})),
              ElementsAre(0, 1, 2, 3, 4))
      << "of a missing value neither is true";
}

TEST(Expressions, WhatAsksForMissingValuesIsTrueOrFalseOfEveryRecord) {
  EXPECT_THAT(CodesOf(IsMissing("age")), ElementsAre(5));
  EXPECT_THAT(CodesOf(Not(IsMissing("age"))), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(CodesOf(Not(In("age", {"2", "unknown"}))), ElementsAre(0, 1, 3, 4));
  EXPECT_THAT(CodesOf(Compare("age", Op::kEqual, "unknown")), ElementsAre(5));
  EXPECT_THAT(CodesOf(Not(Compare("age", Op::kEqual, "unknown"))), ElementsAre(0, 1, 2, 3, 4));
  EXPECT_THAT(CodesOf(Not(Compare("age", Op::kNotEqual, "unknown"))), ElementsAre(5));
  EXPECT_THAT(CodesOf(Any({Compare("age", Op::kLess, "2"), IsMissing("age")})), ElementsAre(0, 1, 5));
}

TEST(Expressions, TheCatchAllOfAnOrderIsUnknownOnlyWhereOrderMatters) {
  EXPECT_THAT(CodesOf(Compare("grade", Op::kLess, "high")), ElementsAre(0, 1));
  EXPECT_THAT(CodesOf(Not(Compare("grade", Op::kLess, "high"))), ElementsAre(2));
  EXPECT_THAT(CodesOf(Not(Between("grade", "low", "mid"))), ElementsAre(2));
  EXPECT_THAT(CodesOf(Not(In("grade", {"low"}))), ElementsAre(1, 2, 3));
  EXPECT_THAT(CodesOf(Compare("grade", Op::kNotEqual, "low")), ElementsAre(1, 2, 3));
  EXPECT_THAT(CodesOf(Not(In("grade", {"other", "none"}))), ElementsAre(0, 1, 2));
}

TEST(Expressions, AreCellsOfTheAttributesThatDecide) {
  const auto either = Resolved(Any({In("sex", {"f"}), In("zone", {"2"})}));
  ASSERT_TRUE(either.ok()) << either.status();
  EXPECT_THAT(either->attributes, ElementsAre(2, 3));
  EXPECT_THAT(either->cells, ElementsAre(0, 1, 2, 5, 8));
  EXPECT_EQ(either->words, "sex = f or zone = 2");
  const auto of_one = Resolved(
      Any({In("sex", {"f"}), All({In("sex", {"m"}), Any({In("zone", {"0"}), In("zone", {"1", "2"})})})}));
  ASSERT_TRUE(of_one.ok()) << of_one.status();
  EXPECT_THAT(of_one->attributes, ElementsAre(2)) << "the zone does not matter";
  EXPECT_THAT(of_one->cells, ElementsAre(0, 1));
}

TEST(Expressions, ThatAreTrueOfEveryRecordHaveNoAttributes) {
  const auto all = Resolved(
      Any({Compare("age", Op::kLess, "2"), Compare("age", Op::kGreaterOrEqual, "2"), IsMissing("age")}));
  ASSERT_TRUE(all.ok()) << all.status();
  EXPECT_THAT(all->attributes, IsEmpty());
  EXPECT_THAT(all->cells, IsEmpty());
  PredicateAllowance allowance;
  EXPECT_EQ(ResolvePredicate(People(), {}, allowance).value(),
            (ResolvedPredicate{.attributes = {}, .cells = {}, .words = "all records"}));
}

TEST(Expressions, AreSaidInWords) {
  const auto words = [](const Expression& expression) { return Resolved(expression)->words; };
  const Expression adult = Compare("age", Op::kGreaterOrEqual, "3");
  EXPECT_EQ(words(Any({adult, In("sex", {"f"})})), "age >= 3 or sex = f");
  EXPECT_EQ(words(All({Any({adult, In("sex", {"f"})}), In("zone", {"1", "2"})})),
            "(age >= 3 or sex = f) and zone in {1 .. 2}");
  EXPECT_EQ(words(Any({All({adult, In("sex", {"f"})}), Not(IsMissing("grade"))})),
            "age >= 3 and sex = f or not (grade is missing)");
  EXPECT_EQ(words(Not(Any({adult, Compare("grade", Op::kNotEqual, "low")}))),
            "not (age >= 3 or grade != low)");
  EXPECT_EQ(words(All({In("sex", {"f"}), adult})), "age >= 3 and sex = f") << "as a list of conditions";
}

TEST(Expressions, RefusalsNameTheField) {
  EXPECT_THAT(
      Refusal(Any({In("sex", {"f"}), Not(Compare("age", Op::kLess, "9"))})),
      HasSubstr("expression.any_of.expressions[1].not.condition.compare.value: \"age < 9\": the value "
                "is above the largest value, 4 of age"));
  EXPECT_THAT(Refusal(All({In("sex", {"f"}), In("zone", {"1", "7"})})),
              HasSubstr("expression.all_of.expressions[1].condition.in[1]: "));
  EXPECT_THAT(Refusal(Between("age", "3", "2")), HasSubstr("expression.condition.between.to: "));
  EXPECT_THAT(Refusal(In("agee", {"1"})), HasSubstr("expression.condition.attribute: "));
  EXPECT_THAT(Refusal(IsMissing("sex")),
              HasSubstr("expression.condition.is_missing: \"sex\" has no bin for missing values"));
  EXPECT_THAT(Refusal(Of({.attribute = "age", .values = {}, .between = {}})),
              HasSubstr("expression.condition: needs exactly one of"));
  EXPECT_THAT(Refusal(Of({.attribute = "age", .values = {"1"}, .between = {}, .is_missing = true})),
              HasSubstr("expression.condition: needs exactly one of"));
  EXPECT_THAT(Refusal(Any({})), HasSubstr("expression: has no expression"));
  EXPECT_THAT(Refusal(All({In("sex", {"f"}), In("sex", {"m"})})),
              HasSubstr("expression: no value of \"sex\" fulfils all its conditions"));
  EXPECT_THAT(Refusal(All({Any({In("sex", {"f"}), In("zone", {"1"})}), In("sex", {"m"}), In("zone", {"2"})})),
              HasSubstr("expression: is true of no record"));
  PredicateAllowance allowance;
  const Condition women{.attribute = "sex", .values = {"f"}, .between = {}};
  EXPECT_THAT(
      std::string(ResolvePredicate(People(), {.all_of = {women}, .expression = In("sex", {"m"})}, allowance)
                      .status()
                      .message()),
      HasSubstr("expression: is given beside all_of"));
}

// What conditions on different attributes say is asked as such, whatever its form, so that one release
// answers all forms.
TEST(Expressions, ThatConditionsSayAreConditions) {
  PredicateAllowance allowance;
  const auto form = [&](const PredicateRequest& predicate) {
    return ResolvePredicateForm(People(), predicate, {}, allowance);
  };
  const Condition adult{.attribute = "age", .values = {}, .between = ValueInterval{"3", "4"}};
  const Condition women{.attribute = "sex", .values = {"f"}, .between = {}};
  const auto listed = form({.all_of = {women, adult}});
  ASSERT_TRUE(listed.ok() && listed->conditions);
  const auto same = [&](const Expression& expression) {
    const auto other = form({.all_of = {}, .expression = expression});
    ASSERT_TRUE(other.ok()) << other.status();
    ASSERT_TRUE(other->conditions) << other->predicate.words;
    EXPECT_EQ(Conjunction(People(), *other->conditions, {}), Conjunction(People(), *listed->conditions, {}))
        << other->predicate.words;
  };
  same(All({Of(adult), Of(women)}));
  same(All({Compare("age", Op::kGreater, "2"), All({In("sex", {"f"})})}));
  same(Not(Any({Compare("age", Op::kLess, "3"), Compare("sex", Op::kNotEqual, "f")})));
  same(All({Any({In("age", {"3"}), In("age", {"4"})}), In("sex", {"f"})}));
  EXPECT_FALSE(form({.all_of = {}, .expression = Any({Of(adult), Of(women)})})->conditions);
}

TEST(Expressions, AreCountedByCellsOfOtherAttributes) {
  PredicateAllowance allowance;
  const auto form = ResolvePredicateForm(
      People(), {.all_of = {}, .expression = Any({In("grade", {"mid"}), In("zone", {"1"})})}, {kSex},
      allowance);
  ASSERT_TRUE(form.ok()) << form.status();
  ASSERT_FALSE(form->conditions);
  EXPECT_EQ(SizeOfPredicate(People(), form->predicate, {kSex}).terms, 5 * 3 * 3);
  const dp::QueryGroup group = PredicateQueries(People(), form->predicate, {kSex});
  EXPECT_THAT(group.attributes, ElementsAre(kGrade, kSex, 3));
  const auto& queries = std::get<std::vector<dp::LinearQuery>>(group.queries);
  ASSERT_EQ(queries.size(), 3u);
  for (uint32_t sex = 0; sex < 3; ++sex) {
    dp::LinearQuery meant;
    for (uint32_t cell = 0; cell < 45; ++cell) {
      if (cell / 3 % 3 == sex && (cell / 9 == 1 || cell % 3 == 1)) meant.push_back({cell, 1});
    }
    EXPECT_EQ(queries[sex], meant);
  }
  EXPECT_TRUE(dp::ValidateQueries(People(), std::vector{group}).ok());
  const absl::Status refused =
      ResolvePredicateForm(People(), {.all_of = {}, .expression = Not(In("sex", {"f"}))}, {kSex}, allowance)
          .status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "expression.not.condition.attribute");
}

// Reference: SQL's three values.
Truth Both(Truth one, Truth other) {
  if (one == false || other == false) return false;
  return one && other ? Truth(true) : std::nullopt;
}
Truth Opposite(Truth one) {
  return one ? Truth(!*one) : std::nullopt;
}

// Whether a record fulfils a condition, from its codes; conditions are those of RandomLeaf().
struct Leaf {
  Expression expression;
  std::function<Truth(const std::vector<uint32_t>&)> meaning;
};

class RandomExpressions {
 public:
  explicit RandomExpressions(uint64_t seed) : random_(seed) {}

  Leaf Tree(int depth) {
    const int choice = depth == 0 ? 0 : Below(4);
    if (choice == 0) return RandomLeaf();
    Leaf first = Tree(depth - 1);
    if (choice == 1) {
      return {Not(first.expression), [first](const auto& codes) { return Opposite(first.meaning(codes)); }};
    }
    Leaf second = Tree(depth - 1);
    if (choice == 2) {
      return {All({first.expression, second.expression}), [first, second](const auto& codes) {
                return Both(first.meaning(codes), second.meaning(codes));
              }};
    }
    return {Any({first.expression, second.expression}), [first, second](const auto& codes) {
              return Opposite(Both(Opposite(first.meaning(codes)), Opposite(second.meaning(codes))));
            }};
  }

 private:
  int Below(int limit) { return static_cast<int>(random_() % static_cast<uint64_t>(limit)); }

  Leaf RandomLeaf() {
    const auto value = static_cast<uint32_t>(1 + Below(3));
    switch (Below(6)) {
      case 0:
        return {Compare("age", Op::kLess, std::to_string(value)),
                [=](const auto& codes) { return codes[kAge] == 5 ? Truth() : codes[kAge] < value; }};
      case 1:
        return {Compare("age", Op::kNotEqual, std::to_string(value)),
                [=](const auto& codes) { return codes[kAge] == 5 ? Truth() : codes[kAge] != value; }};
      case 2:
        return {Compare("grade", Op::kGreaterOrEqual, "mid"),
                [](const auto& codes) { return codes[kGrade] >= 3 ? Truth() : codes[kGrade] >= 1; }};
      case 3:
        return {IsMissing("grade"), [](const auto& codes) { return Truth(codes[kGrade] == 4); }};
      case 4:
        return {In("grade", {"other", "low"}), [](const auto& codes) {
                  return codes[kGrade] == 4 ? Truth() : codes[kGrade] == 0 || codes[kGrade] == 3;
                }};
      default:
        return {In("sex", {"m"}), [](const auto& codes) { return Truth(codes[kSex] == 1); }};
    }
  }

  std::mt19937_64 random_;
};

// The cells over age, grade and sex that have this property.
std::vector<std::vector<uint32_t>> RecordsWith(const std::function<bool(const std::vector<uint32_t>&)>& has) {
  std::vector<std::vector<uint32_t>> records;
  for (uint32_t age = 0; age < 6; ++age) {
    for (uint32_t grade = 0; grade < 5; ++grade) {
      for (uint32_t sex = 0; sex < 3; ++sex) {
        if (has({age, grade, sex})) records.push_back({age, grade, sex});
      }
    }
  }
  return records;
}

std::vector<std::vector<uint32_t>> RecordsOf(const ResolvedPredicate& predicate) {
  return RecordsWith([&](const std::vector<uint32_t>& codes) {
    if (predicate.attributes.empty()) return true;
    uint32_t cell = 0;
    for (const uint32_t attribute : predicate.attributes)
      cell = cell * static_cast<uint32_t>(People().attributes()[attribute].size()) + codes[attribute];
    return std::ranges::binary_search(predicate.cells, cell);
  });
}

TEST(Expressions, HoldForTheRecordsOfThreeValuedLogic) {
  RandomExpressions random(20261128);
  int resolved = 0;
  for (int i = 0; i < 3000; ++i) {
    const Leaf tree = random.Tree(5);
    const auto meant = RecordsWith([&](const auto& codes) { return tree.meaning(codes) == true; });
    const absl::StatusOr<ResolvedPredicate> predicate = Resolved(tree.expression);
    ASSERT_EQ(predicate.ok(), !meant.empty()) << predicate.status();
    if (!predicate.ok()) continue;
    ++resolved;
    ASSERT_EQ(RecordsOf(*predicate), meant) << predicate->words;
  }
  EXPECT_GT(resolved, 1500);
}

// The logic of two values differs on these expressions, so the test above notices it.
TEST(Expressions, HoldForOtherRecordsThanThoseOfTwoValuedLogic) {
  RandomExpressions random(20261128);
  int different = 0;
  for (int i = 0; i < 300; ++i) {
    const Leaf tree = random.Tree(1);
    if (tree.expression.kind != Kind::kNot) continue;
    const auto leaf = Resolved(tree.expression.operands[0]);
    const auto negated = Resolved(tree.expression);
    if (!leaf.ok() || !negated.ok()) continue;
    if (RecordsOf(*leaf).size() + RecordsOf(*negated).size() != size_t{6 * 5 * 3}) ++different;
  }
  EXPECT_GT(different, 10);
}

Expression Nested(size_t levels) {
  Expression nested = In("sex", {"f"});
  for (size_t i = 1; i < levels; ++i) nested = Not(std::move(nested));
  return nested;
}

TEST(Expressions, AreLimitedInDepthAndNumberOfConditions) {
  EXPECT_TRUE(Resolved(Nested(kDeepestExpression)).ok());
  EXPECT_THAT(Refusal(Nested(kDeepestExpression + 1)), HasSubstr("deeper than 40 levels"));
  EXPECT_TRUE(Resolved(Any(std::vector<Expression>(1024, In("sex", {"f"})))).ok());
  EXPECT_THAT(Refusal(Any(std::vector<Expression>(1025, In("sex", {"f"})))),
              HasSubstr("more than 1024 conditions"));
}

dp::Domain Coded(const std::vector<int64_t>& sizes) {
  std::vector<dp::Attribute> attributes;
  for (const int64_t size : sizes)
    attributes.push_back(
        dp::Attribute::Create("a" + std::to_string(attributes.size()), dp::CodedKind{size}).value());
  return dp::Domain::Create(std::move(attributes)).value();
}

TEST(Expressions, TakeCellsAndStepsOfOneRequestTogether) {
  const dp::Domain domain = Coded({1 << 21, 2, 2});
  const auto either = [](const std::string& last) {
    return PredicateRequest{.all_of = {}, .expression = Any({In("a0", {"7"}), In(last, {"1"})})};
  };
  PredicateAllowance allowance;
  EXPECT_TRUE(ResolvePredicate(domain, either("a1"), allowance).ok());
  const absl::Status second = ResolvePredicate(domain, either("a2"), allowance).status();
  EXPECT_EQ(FieldViolationOf(second)->field, "expression");
  EXPECT_THAT(std::string(second.message()), HasSubstr("left of the 4194304 cells"));
  PredicateAllowance other;
  const PredicateRequest all{.all_of = {},
                             .expression = Any({In("a0", {"7"}), In("a1", {"1"}), In("a2", {"1"})})};
  EXPECT_THAT(std::string(ResolvePredicate(domain, all, other).status().message()), HasSubstr("cells"));
  std::vector<Expression> many(100, In("a0", {"7"}));
  many.push_back(In("a1", {"1"}));
  EXPECT_THAT(
      std::string(
          ResolvePredicate(domain, {.all_of = {}, .expression = Any(many)}, other).status().message()),
      HasSubstr("too many conditions for the cells"));
}

TEST(Expressions, OfManyAttributesOverflowNoNumber) {
  const dp::Domain domain = Coded(std::vector<int64_t>(70, 2));
  std::vector<Expression> each;
  for (int i = 0; i < 70; ++i) each.push_back(In("a" + std::to_string(i), {"1"}));
  EXPECT_EQ(Resolved(Any(each), domain).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(Resolved(All(each), domain).status().code(), absl::StatusCode::kInvalidArgument);
  PredicateAllowance allowance;
  const auto form = ResolvePredicateForm(domain, {.all_of = {}, .expression = All(each)}, {}, allowance);
  ASSERT_TRUE(form.ok()) << "a box is no list of cells";
  EXPECT_EQ(form->conditions->size(), 70u);
}

}  // namespace
}  // namespace curator::service
