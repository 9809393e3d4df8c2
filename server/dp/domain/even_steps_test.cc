#include "dp/domain/even_steps.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "base/errors.h"
#include "dp/domain/attribute.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

std::string FieldAtFault(EvenSteps steps) {
  const absl::Status status = EdgesOf(steps).status();
  return status.ok() ? "" : FieldViolationOf(status)->field;
}

TEST(EvenSteps, AreTheDoublesNearestToTheirDecimals) {
  EXPECT_EQ(EdgesOf({0, 1, 0.25}).value(), (std::vector<double>{0, 0.25, 0.5, 0.75, 1}));
  const std::vector<double> tenths = EdgesOf({-20, 40, 0.1}).value();
  ASSERT_EQ(tenths.size(), 601u);
  for (int i = 0; i <= 600; ++i) {
    const int tenth = i - 200;
    const std::string decimal = (tenth < 0 ? "-" : "") + std::to_string(std::abs(tenth) / 10) + "." +
                                std::to_string(std::abs(tenth) % 10);
    EXPECT_EQ(tenths[static_cast<size_t>(i)], std::get<double>(ReadNumber(decimal))) << decimal;
  }
}

// Adding up steps gives 0.30000000000000004 for the third.
TEST(EvenStepsCanary, ADecimalLiesInTheBinThatItBegins) {
  const Attribute score =
      Attribute::Create("score", NumericKind{.edges = {}, .even = EvenSteps{0, 1, 0.1}}).value();
  EXPECT_EQ(score.Encode("0.3"), 3u);
  EXPECT_EQ(score.Label(3), "[0.3, 0.4)");
  EXPECT_LT(0.3, 0 + 3 * 0.1) << "by sums it would lie in [0.2, 0.30000000000000004)";
}

TEST(EvenSteps, MustDivideTheDistanceBetweenTheBounds) {
  EXPECT_EQ(FieldAtFault({0, 100, 0.5}), "");
  EXPECT_EQ(FieldAtFault({0, 100, 0.3}), "numeric.step");
  EXPECT_EQ(FieldAtFault({0, 1, 2}), "numeric.step");
  EXPECT_EQ(FieldAtFault({0, 1, 0}), "numeric.step");
  EXPECT_EQ(FieldAtFault({0, 1, -0.5}), "numeric.step");
}

TEST(EvenSteps, NeedFiniteBoundsInOrderAndFewDigits) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  EXPECT_EQ(FieldAtFault({1, 1, 1}), "numeric.max");
  EXPECT_EQ(FieldAtFault({2, 1, 1}), "numeric.max");
  EXPECT_EQ(FieldAtFault({-kInfinity, 1, 1}), "numeric.min");
  EXPECT_EQ(FieldAtFault({0, std::nan(""), 1}), "numeric.max");
  EXPECT_EQ(FieldAtFault({0, 1, kInfinity}), "numeric.step");
  EXPECT_EQ(FieldAtFault({0, 1.0 / 3, 1}), "numeric.max");
  EXPECT_EQ(FieldAtFault({0, 1e300, 1e299}), "numeric.max");
  EXPECT_EQ(FieldAtFault({0, 1e15, 0.001}), "numeric.step") << "too large for three digits";
}

TEST(EvenSteps, MakeNoMoreBinsThanAnAttributeMayHave) {
  EXPECT_EQ(FieldAtFault({0, 1 << 24, 1}), "");
  EXPECT_EQ(FieldAtFault({0, (1 << 24) + 1, 1}), "numeric.step");
}

TEST(EvenSteps, StandInPlaceOfEdgesAndAreKept) {
  const NumericKind even{.edges = {}, .even = EvenSteps{-0.0, 4, 2}};
  const Attribute attribute = Attribute::Create("x", even).value();
  EXPECT_EQ(attribute.size(), 2);
  const auto& kind = std::get<NumericKind>(attribute.kind());
  EXPECT_EQ(kind.edges, (std::vector<double>{0, 2, 4}));
  EXPECT_EQ(kind.even, (EvenSteps{0, 4, 2}));
  EXPECT_FALSE(std::signbit(kind.even->min));
  EXPECT_NE(kind, (NumericKind{{0, 2, 4}})) << "a schema is kept as it was written";
  EXPECT_EQ(
      FieldViolationOf(Attribute::Create("x", NumericKind{{0, 2, 4}, EvenSteps{0, 4, 2}}).status())->field,
      "numeric.edges");
}

TEST(EncodeClamped, TakesNumbersBeyondTheBinsToTheNearestAndNothingElse) {
  const Attribute integer = Attribute::Create("i", IntegerKind{10, 19, 5}).value();
  EXPECT_EQ(integer.EncodeClamped("12"), 0u);
  EXPECT_EQ(integer.EncodeClamped("-3"), 0u);
  EXPECT_EQ(integer.EncodeClamped("20"), 1u);
  EXPECT_EQ(integer.EncodeClamped("99999999999999999999"), 1u);
  EXPECT_EQ(integer.EncodeClamped("-99999999999999999999"), 0u);
  EXPECT_EQ(integer.EncodeClamped("12.5"), std::nullopt);
  EXPECT_EQ(integer.EncodeClamped(""), std::nullopt);
  const Attribute number = Attribute::Create("n", NumericKind{{0, 1, 2, 3}}).value();
  EXPECT_EQ(number.EncodeClamped("1.5"), 1u);
  EXPECT_EQ(number.EncodeClamped("-1e999"), 0u);
  EXPECT_EQ(number.EncodeClamped("3.0001"), 2u);
  EXPECT_EQ(number.EncodeClamped("nan"), std::nullopt);
  EXPECT_EQ(number.EncodeClamped("inf"), std::nullopt);
  EXPECT_EQ(number.EncodeClamped("n/a"), std::nullopt);
  const Attribute category = Attribute::Create("c", CategoricalKind{{"1", "2"}, std::nullopt}).value();
  EXPECT_EQ(category.EncodeClamped("2"), 1u);
  EXPECT_EQ(category.EncodeClamped("3"), std::nullopt);
}

}  // namespace
}  // namespace curator::dp
