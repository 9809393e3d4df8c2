#include "dp/domain/constraint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "dp/domain/domain.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;

std::vector<Attribute> Pair(AttributeKind first, AttributeKind second,
                            std::optional<Missing> missing = std::nullopt) {
  return {Attribute::Create("a", std::move(first), missing).value(),
          Attribute::Create("b", std::move(second), missing).value()};
}

// One row for each code of "a", "x" where the code of "b" is forbidden.
std::vector<std::string> Forbidden(const std::vector<Attribute>& attributes, const ConstraintRule& rule) {
  const Constraint constraint = Constraint::Create(attributes, rule).value();
  std::vector<std::string> rows;
  for (uint32_t a = 0; a < attributes[0].size(); ++a) {
    std::string& row = rows.emplace_back();
    for (uint32_t b = 0; b < attributes[1].size(); ++b) row += constraint.Forbids(a, b) ? 'x' : '.';
  }
  return rows;
}

using Rows = std::vector<std::string>;
constexpr OrderRule kAtMost{.lower = 0, .upper = 1};
constexpr OrderRule kBelow{.lower = 0, .upper = 1, .strict = true};
constexpr OrderRule kAtLeast{.lower = 1, .upper = 0};

TEST(Constraint, OrdersIntegersByTheirBins) {
  const std::vector<Attribute> ones = Pair(IntegerKind{0, 2}, IntegerKind{0, 2});
  EXPECT_EQ(Forbidden(ones, kAtMost), (Rows{"...", "x..", "xx."}));
  EXPECT_EQ(Forbidden(ones, kBelow), (Rows{"x..", "xx.", "xxx"}));
  EXPECT_EQ(Forbidden(ones, kAtLeast), (Rows{".xx", "..x", "..."}));
  const std::vector<Attribute> wide = Pair(IntegerKind{0, 9, 5}, IntegerKind{3, 8, 2});
  EXPECT_EQ(Forbidden(wide, kAtMost), (Rows{"...", "x.."})) << "5 to 9 against 3 to 4, 5 to 6, 7 to 8";
  EXPECT_EQ(Forbidden(wide, kAtLeast), (Rows{".xx", "..."})) << "5 to 6 is above 0 to 4";
}

TEST(Constraint, AnIntervalOfNumbersLacksItsEndButForTheLast) {
  const std::vector<Attribute> numbers = Pair(NumericKind{{0, 1, 2}}, NumericKind{{-1, 0, 1}});
  EXPECT_EQ(Forbidden(numbers, kAtMost), (Rows{"x.", "x."}));
  EXPECT_EQ(Forbidden(numbers, kBelow), (Rows{"x.", "xx"}));
  const std::vector<Attribute> mixed = Pair(IntegerKind{4, 5}, NumericKind{{4, 5, 6}});
  EXPECT_EQ(Forbidden(mixed, kAtMost), (Rows{"..", "x."}));
  EXPECT_EQ(Forbidden(mixed, kAtLeast), (Rows{".x", ".."}));
}

TEST(Constraint, ComparesIntegersWithNumbersExactly) {
  constexpr int64_t kLargestInteger = std::numeric_limits<int64_t>::max();
  const std::vector<Attribute> large =
      Pair(IntegerKind{kLargestInteger - 1, kLargestInteger}, NumericKind{{0, 0x1p63}});
  EXPECT_EQ(Forbidden(large, kBelow), (Rows{".", "."})) << "2^63 - 1 is below 2^63";
  const std::vector<Attribute> halves = Pair(IntegerKind{-2, 0}, NumericKind{{-1.5, -0.5, 1e300}});
  EXPECT_EQ(Forbidden(halves, kAtMost), (Rows{"..", "..", "x."})) << "-1 lies below -0.5, and 0 does not";
  EXPECT_EQ(Forbidden(halves, kAtLeast), (Rows{"xx", ".x", ".."}));
}

TEST(Constraint, OrdersDatesByDaysAndListedTimesBySeconds) {
  const int64_t day = 86'400;
  const DateKind days{.from = -day, .until = 2 * day, .bins = DateBins::kDay};
  EXPECT_EQ(Forbidden(Pair(days, days), kBelow), (Rows{"x..", "xx.", "xxx"}));
  EXPECT_EQ(Forbidden(Pair(days, days), kAtMost), (Rows{"...", "x..", "xx."}));
  const DateKind halves{.from = 0, .until = day, .bins = DateBins::kListed, .edges = {0, day / 2, day}};
  EXPECT_EQ(Forbidden(Pair(halves, halves), kAtMost), (Rows{"..", "x."}));
  EXPECT_EQ(Forbidden(Pair(days, halves), kAtMost), (Rows{"..", "..", "xx"})) << "days against times";
}

TEST(Constraint, OrdersEqualListsOfOrderedCategories) {
  const CategoricalKind pain{{"none", "low", "high"}, "other", true};
  EXPECT_EQ(Forbidden(Pair(pain, pain), kAtMost), (Rows{"....", "x...", "xx..", "...."}));
  const CategoricalKind fewer{{"none", "low"}, std::nullopt, true};
  const absl::Status status = Constraint::Create(Pair(pain, fewer), kAtMost).status();
  EXPECT_EQ(FieldViolationOf(status)->field, "order.upper");
  EXPECT_THAT(status.message(), HasSubstr("only equal lists are compared"));
}

TEST(Constraint, AllowsMissingValuesAndTheCatchAllWithEveryValue) {
  const std::vector<Attribute> integers =
      Pair(IntegerKind{0, 1}, IntegerKind{0, 1}, Missing{.tokens = {}, .bin = "none"});
  EXPECT_EQ(Forbidden(integers, kBelow), (Rows{"x..", "xx.", "..."}));
  const CategoricalKind city{{"Bonn", "Mainz"}, "other"};
  EXPECT_EQ(Forbidden(Pair(city, CodedKind{2}), PairsRule{{0, 1}, {{1, 0}}}), (Rows{"xx", ".x", ".."}));
}

TEST(Constraint, ForbidsThePairsThatAreNotListedInEitherOrderOfTheAttributes) {
  const std::vector<Attribute> codes = Pair(CodedKind{2}, CodedKind{3});
  EXPECT_EQ(Forbidden(codes, PairsRule{{0, 1}, {{1, 2}, {0, 1}}}), (Rows{"x.x", "xx."}));
  const Constraint turned = Constraint::Create(codes, PairsRule{{1, 0}, {{2, 1}, {1, 0}}}).value();
  EXPECT_EQ(turned, Constraint::Create(codes, PairsRule{{0, 1}, {{0, 1}, {1, 2}}}).value());
  EXPECT_EQ(turned.attributes(), (std::array<uint32_t, 2>{0, 1}));
}

// The definition: a pair of bins is forbidden where no two of their values fulfil the order.
TEST(Constraint, ForbidsExactlyTheBinsWithoutValuesThatFulfilTheOrder) {
  std::mt19937_64 random(11);
  const auto kind = [&random] {
    const auto min = static_cast<int64_t>(random() % 9) - 4;
    return IntegerKind{min, min + static_cast<int64_t>(random() % 12),
                       1 + static_cast<int64_t>(random() % 4)};
  };
  int created = 0;
  for (int round = 0; round < 300; ++round) {
    const std::array<IntegerKind, 2> kinds = {kind(), kind()};
    const std::vector<Attribute> attributes = Pair(kinds[0], kinds[1]);
    const uint32_t lower = random() % 2;
    const OrderRule rule{.lower = lower, .upper = 1 - lower, .strict = random() % 2 == 0};
    std::vector<std::string> expected(static_cast<size_t>(attributes[0].size()),
                                      std::string(static_cast<size_t>(attributes[1].size()), 'x'));
    bool is_possible = false;
    for (int64_t a = kinds[0].min; a <= kinds[0].max; ++a) {
      for (int64_t b = kinds[1].min; b <= kinds[1].max; ++b) {
        const int64_t below = lower == 0 ? a : b;
        const int64_t above = lower == 0 ? b : a;
        if (below > above || (rule.strict && below == above)) continue;
        is_possible = true;
        expected[*attributes[0].Encode(std::to_string(a))][*attributes[1].Encode(std::to_string(b))] = '.';
      }
    }
    ASSERT_EQ(Constraint::Create(attributes, rule).ok(), is_possible);
    if (!is_possible) continue;
    ++created;
    ASSERT_EQ(Forbidden(attributes, rule), expected);
  }
  EXPECT_GT(created, 100);
}

TEST(Constraint, RefusesWhatNoRowCouldFulfil) {
  const std::vector<Attribute> apart = Pair(IntegerKind{5, 9}, IntegerKind{0, 5});
  EXPECT_TRUE(Constraint::Create(apart, kAtMost).ok());
  EXPECT_EQ(
      FieldViolationOf(Constraint::Create(apart, kBelow).status()),
      (FieldViolation{"order", "no row could fulfil it: each value of \"b\" is at most the least of \"a\""}));
  EXPECT_EQ(FieldViolationOf(Constraint::Create(apart, PairsRule{{0, 1}, {}}).status())->field,
            "allowed_pairs.pairs");
}

TEST(Constraint, RefusesWrongAttributesAndPairs) {
  const std::vector<Attribute> codes = Pair(CodedKind{2}, CodedKind{3});
  const auto field = [&](const ConstraintRule& rule) {
    return FieldViolationOf(Constraint::Create(codes, rule).status())->field;
  };
  EXPECT_EQ(field(OrderRule{.lower = 2, .upper = 0}), "order.lower");
  EXPECT_EQ(field(OrderRule{.lower = 0, .upper = 0}), "order.upper");
  EXPECT_EQ(field(PairsRule{{1, 1}, {{0, 0}}}), "allowed_pairs.attributes[1]");
  EXPECT_EQ(field(PairsRule{{0, 1}, {{0, 0}, {1, 3}}}), "allowed_pairs.pairs[1]");
  EXPECT_EQ(field(PairsRule{{0, 1}, {{0, 0}, {1, 1}, {0, 0}}}), "allowed_pairs.pairs[2]");
  const CategoricalKind unordered{{"x", "y"}};
  EXPECT_THAT(Constraint::Create(Pair(unordered, CodedKind{2}), kAtMost).status().message(),
              HasSubstr("\"b\", of numbers, cannot be compared with \"a\", of categories without an order"));
}

TEST(Constraint, HasAtMostAMillionPairsOfBins) {
  EXPECT_TRUE(Constraint::Create(Pair(CodedKind{1 << 10}, CodedKind{1 << 10}), kAtMost).ok());
  EXPECT_EQ(FieldViolationOf(
                Constraint::Create(Pair(CodedKind{1 << 10}, CodedKind{(1 << 10) + 1}), kAtMost).status()),
            (FieldViolation{"order.upper",
                            "makes 1049600 pairs of bins; at most 1048576 are allowed in a constraint"}));
}

TEST(Constraint, IsOneOf64OfADomainAndRepeatsNone) {
  std::vector<Attribute> attributes;
  for (int i = 0; i < 12; ++i)
    attributes.push_back(Attribute::Create("a" + std::to_string(i), CodedKind{2}).value());
  const Domain domain = Domain::Create(attributes).value();
  std::vector<ConstraintRule> rules;
  for (uint32_t lower = 0; lower < 12; ++lower) {
    for (uint32_t upper = lower + 1; upper < 12 && rules.size() < kMaxConstraints; ++upper)
      rules.emplace_back(OrderRule{lower, upper});
  }
  const Domain constrained = domain.WithConstraints(rules).value();
  EXPECT_EQ(constrained.constraints().size(), 64u);
  EXPECT_NE(constrained, domain);
  rules.back() = rules.front();
  EXPECT_EQ(FieldViolationOf(domain.WithConstraints(rules).status()),
            (FieldViolation{"constraints[63]", "repeats constraints[0]"}));
  rules.back() = OrderRule{3, 3};
  EXPECT_EQ(FieldViolationOf(domain.WithConstraints(rules).status())->field, "constraints[63].order.upper");
  rules.emplace_back(OrderRule{1, 0});
  EXPECT_EQ(FieldViolationOf(domain.WithConstraints(rules).status())->field, "constraints");
}

}  // namespace
}  // namespace curator::dp
