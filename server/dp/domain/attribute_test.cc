#include "dp/domain/attribute.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "base/errors.h"

namespace curator::dp {
namespace {

constexpr int64_t kSmallest = std::numeric_limits<int64_t>::min();
constexpr int64_t kLargest = std::numeric_limits<int64_t>::max();

Attribute Make(AttributeKind kind) {
  return Attribute::Create("a", std::move(kind)).value();
}

FieldViolation ViolationOf(AttributeKind kind) {
  const auto created = Attribute::Create("a", std::move(kind));
  EXPECT_EQ(created.status().code(), absl::StatusCode::kInvalidArgument);
  return FieldViolationOf(created.status()).value_or(FieldViolation{});
}

TEST(Attribute, SizeIsTheNumberOfBins) {
  EXPECT_EQ(Make(CategoricalKind{{"Female", "Male"}, {}}).size(), 2);
  EXPECT_EQ(Make(CategoricalKind{{"Female", "Male"}, "?"}).size(), 3);
  EXPECT_EQ(Make(IntegerKind{17, 90, 5}).size(), 15);
  EXPECT_EQ(Make(IntegerKind{17, 91, 5}).size(), 15);
  EXPECT_EQ(Make(IntegerKind{17, 92, 5}).size(), 16);
  EXPECT_EQ(Make(NumericKind{{0, 1000, 5000, 20000}}).size(), 3);
  EXPECT_EQ(Make(CodedKind{7}).size(), 7);
}

TEST(Attribute, EveryFaultOfADeclarationNamesItsField) {
  const double infinity = std::numeric_limits<double>::infinity();
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(ViolationOf(CategoricalKind{}).field, "categorical.values");
  EXPECT_EQ(ViolationOf(CategoricalKind{{"x", ""}, {}}).field, "categorical.values[1]");
  EXPECT_EQ(ViolationOf(CategoricalKind{{"x", "y", "x"}, {}}),
            (FieldViolation{"categorical.values[2]", "repeats values[0], \"x\""}));
  EXPECT_EQ(ViolationOf(CategoricalKind{{" x"}, {}}).description, "begins or ends with a blank");
  EXPECT_EQ(ViolationOf(CategoricalKind{{"x\ny"}, {}}).description, "contains a control character");
  EXPECT_EQ(ViolationOf(CategoricalKind{{std::string(1025, 'x')}, {}}).field, "categorical.values[0]");
  EXPECT_EQ(ViolationOf(CategoricalKind{{"x"}, "x"}).field, "categorical.catch_all");
  EXPECT_EQ(ViolationOf(CategoricalKind{{"x"}, ""}).field, "categorical.catch_all");
  EXPECT_EQ(ViolationOf(IntegerKind{5, 4, 1}), (FieldViolation{"integer.max", "4 is below min, 5"}));
  EXPECT_EQ(ViolationOf(IntegerKind{0, 4, 0}).field, "integer.bin_width");
  EXPECT_EQ(ViolationOf(IntegerKind{kSmallest, kLargest, 1}).field, "integer.bin_width");
  EXPECT_EQ(ViolationOf(IntegerKind{0, kMaxAttributeSize, 1}).description,
            "makes 16777217 bins; at most 16777216 are allowed");
  EXPECT_EQ(ViolationOf(NumericKind{{1}}).field, "numeric.edges");
  EXPECT_EQ(ViolationOf(NumericKind{{0, nan}}).field, "numeric.edges[1]");
  EXPECT_EQ(ViolationOf(NumericKind{{-infinity, 0}}).field, "numeric.edges[0]");
  EXPECT_EQ(ViolationOf(NumericKind{{0, 2, 2}}),
            (FieldViolation{"numeric.edges[2]", "2 is not above the edge before it, 2"}));
  EXPECT_EQ(ViolationOf(CodedKind{0}).field, "coded.size");
  EXPECT_EQ(FieldViolationOf(Attribute::Create("", CodedKind{1}).status())->field, "name");
}

TEST(Attribute, EncodesCategoriesAndSendsTheRestToTheCatchAll) {
  const Attribute with = Make(CategoricalKind{{"Female", "Male"}, "?"});
  EXPECT_EQ(with.Encode("Male"), 1u);
  EXPECT_EQ(with.Encode("  Male\t"), 1u);
  EXPECT_EQ(with.Encode("?"), 2u);
  EXPECT_EQ(with.Encode("male"), 2u);
  EXPECT_EQ(with.Encode(""), 2u);
  const Attribute without = Make(CategoricalKind{{"Female", "Male"}, {}});
  EXPECT_EQ(without.Encode("male"), std::nullopt);
  EXPECT_EQ(without.Encode(""), std::nullopt);
}

TEST(Attribute, EncodesIntegersExactlyIntoBins) {
  const Attribute age = Make(IntegerKind{17, 90, 5});
  EXPECT_EQ(age.Encode("17"), 0u);
  EXPECT_EQ(age.Encode("21"), 0u);
  EXPECT_EQ(age.Encode(" +22 "), 1u);
  EXPECT_EQ(age.Encode("90.0"), 14u);
  for (const char* outside :
       {"16", "91", "", "39.5", "nan", "99999999999999999999", "-99999999999999999999"}) {
    EXPECT_EQ(age.Encode(outside), std::nullopt) << outside;
  }
  // Doubles would put these two into one bin.
  const Attribute wide = Make(IntegerKind{kLargest - 3, kLargest, 1});
  EXPECT_EQ(wide.Encode("9223372036854775806"), 2u);
  EXPECT_EQ(wide.Encode("9223372036854775807"), 3u);
  EXPECT_EQ(Make(IntegerKind{kSmallest, kLargest, kLargest}).Encode("9223372036854775807"), 2u);
}

TEST(Attribute, EncodesNumbersIntoHalfOpenIntervalsTheLastClosed) {
  const Attribute income = Make(NumericKind{{0, 1000, 5000, 20000}});
  EXPECT_EQ(income.Encode("0"), 0u);
  EXPECT_EQ(income.Encode("-0.0"), 0u);
  EXPECT_EQ(income.Encode("999.999"), 0u);
  EXPECT_EQ(income.Encode("1e3"), 1u);
  EXPECT_EQ(income.Encode("20000"), 2u);
  for (const char* outside : {"-0.001", "20000.001", "", "nan", "inf", "-inf", "1e400", "ten"}) {
    EXPECT_EQ(income.Encode(outside), std::nullopt) << outside;
  }
}

TEST(Attribute, EncodesCodesWithinTheirSize) {
  const Attribute zone = Make(CodedKind{7});
  EXPECT_EQ(zone.Encode("0"), 0u);
  EXPECT_EQ(zone.Encode("6"), 6u);
  EXPECT_EQ(zone.Encode("7"), std::nullopt);
  EXPECT_EQ(zone.Encode("-1"), std::nullopt);
}

TEST(Attribute, SaysWhyAValueIsOutsideWithoutRepeatingIt) {
  EXPECT_EQ(Make(CategoricalKind{{"x"}, {}}).WhyOutside("secret"),
            "is not a listed value, and there is no catch-all");
  const Attribute age = Make(IntegerKind{17, 90, 5});
  EXPECT_EQ(age.WhyOutside(" "), "is empty");
  EXPECT_EQ(age.WhyOutside("16"), "is below the smallest value, 17");
  EXPECT_EQ(age.WhyOutside("99999999999999999999"), "is above the largest value, 90");
  EXPECT_EQ(age.WhyOutside("secret"), "is not an integer");
  const Attribute income = Make(NumericKind{{0, 1000}});
  EXPECT_EQ(income.WhyOutside("-1e400"), "is below the first edge, 0");
  EXPECT_EQ(income.WhyOutside("1000.5"), "is above the last edge, 1000");
  EXPECT_EQ(income.WhyOutside("nan"), "is not a finite number");
  EXPECT_EQ(Make(CodedKind{7}).WhyOutside("7"), "is above the largest value, 6");
}

TEST(Attribute, LabelsBinsForPeople) {
  const Attribute age = Make(IntegerKind{17, 90, 5});
  EXPECT_EQ(age.Label(0), "[17, 22)");
  EXPECT_EQ(age.Label(14), "[87, 90]");
  EXPECT_EQ(age.IntervalLabel(1, 3), "[22, 37)");
  EXPECT_EQ(Make(IntegerKind{17, 90, 1}).Label(3), "20");
  EXPECT_EQ(Make(IntegerKind{17, 22, 5}).Label(1), "22");
  EXPECT_EQ(Make(IntegerKind{kSmallest, kLargest, kLargest}).Label(2),
            "[9223372036854775806, 9223372036854775807]");
  const Attribute income = Make(NumericKind{{0, 0.5, 20000}});
  EXPECT_EQ(income.Label(0), "[0, 0.5)");
  EXPECT_EQ(income.Label(1), "[0.5, 20000]");
  EXPECT_EQ(income.IntervalLabel(0, 1), "[0, 20000]");
  const Attribute sex = Make(CategoricalKind{{"Female", "Male"}, "?"});
  EXPECT_EQ(sex.Label(2), "?");
  EXPECT_EQ(sex.IntervalLabel(0, 1), "Female .. Male");
  EXPECT_EQ(Make(CodedKind{7}).Label(6), "6");
}

TEST(Attribute, AValueInsideABinEncodesToThatBin) {
  const std::vector<Attribute> attributes = {Make(CategoricalKind{{"Female", "Male"}, "?"}),
                                             Make(IntegerKind{17, 90, 5}),
                                             Make(IntegerKind{kSmallest, kLargest, kLargest}),
                                             Make(CodedKind{7}),
                                             Make(NumericKind{{0, 1000, 5000, 20000}}),
                                             Make(NumericKind{{-1.7e308, 1.7e308}}),
                                             Make(NumericKind{{0, 5e-324, 1e-323, 1e-300, 1}}),
                                             Make(NumericKind{{1, 1.0000000000000002, 1.0000000000000004}}),
                                             Make(NumericKind{{1e15, 1e15 + 1, 1e16}})};
  std::mt19937_64 random(7);
  for (const Attribute& attribute : attributes) {
    for (uint32_t code = 0; code < attribute.size(); ++code) {
      EXPECT_EQ(attribute.Encode(attribute.ValueInside(code, 0)), code);
      EXPECT_EQ(attribute.Encode(attribute.ValueInside(code, std::numeric_limits<uint64_t>::max())), code);
      for (int i = 0; i < 200; ++i) {
        const std::string value = attribute.ValueInside(code, random());
        ASSERT_EQ(attribute.Encode(value), code) << value;
      }
    }
  }
}

TEST(Attribute, IntegersInsideABinAreAllReached) {
  const Attribute age = Make(IntegerKind{17, 90, 5});
  std::mt19937_64 random(7);
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(age.ValueInside(14, random()));
  EXPECT_THAT(seen, testing::ElementsAre("87", "88", "89", "90"));
}

TEST(Attribute, NumbersInsideABinHaveFewDigits) {
  EXPECT_EQ(Make(NumericKind{{0, 1000}}).ValueInside(0, uint64_t{1} << 63), "500.0");
  EXPECT_LE(Make(NumericKind{{0, 0.5}}).ValueInside(0, 0x123456789abcdef0).size(), 6u);
}

TEST(Attribute, EqualDeclarationsAreEqualAndDifferentOnesAreNot) {
  EXPECT_EQ(Make(CategoricalKind{{"x"}, "?"}), Make(CategoricalKind{{"x"}, "?"}));
  EXPECT_NE(Make(CategoricalKind{{"x"}, "?"}), Make(CategoricalKind{{"x"}, {}}));
  EXPECT_EQ(Make(NumericKind{{-0.0, 1}}), Make(NumericKind{{0.0, 1}}));
  EXPECT_NE(Make(IntegerKind{0, 6, 1}), Make(CodedKind{7}));
}

}  // namespace
}  // namespace curator::dp
