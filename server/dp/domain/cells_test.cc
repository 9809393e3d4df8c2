// How cells are read: missing values, synonyms, other ways of writing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/errors.h"
#include "dp/domain/attribute.h"
#include "dp/domain/number_style.h"

namespace curator::dp {
namespace {

const CategoricalKind kSex = {{"Female", "Male"}, std::nullopt};
const IntegerKind kAge = {0, 99, 10};
const Missing kUnknown = {{}, "unknown"};

Attribute Declared(AttributeKind kind, std::optional<Missing> missing, Reading reading = {}) {
  const auto attribute = Attribute::Create("a", std::move(kind), std::move(missing), std::move(reading));
  EXPECT_TRUE(attribute.ok()) << attribute.status();
  return attribute.value();
}

std::string FieldOf(AttributeKind kind, std::optional<Missing> missing, Reading reading = {}) {
  const auto attribute = Attribute::Create("a", std::move(kind), std::move(missing), std::move(reading));
  return FieldViolationOf(attribute.status()).value_or(FieldViolation{}).field;
}

Reading Numbers(char decimal_sign, char thousands_separator) {
  Reading reading;
  reading.decimal_sign = decimal_sign;
  reading.thousands_separator = thousands_separator;
  return reading;
}

TEST(MissingValues, HaveTheLastBinOfAnyKind) {
  const AttributeKind kinds[] = {kSex, kAge, NumericKind{{0, 1, 2}}, CodedKind{3},
                                 DateKind{.from = 0, .until = 86'400 * 3, .bins = DateBins::kDay}};
  for (const AttributeKind& kind : kinds) {
    const Attribute with = Declared(kind, kUnknown);
    const auto last = static_cast<uint32_t>(with.size() - 1);
    EXPECT_EQ(with.size(), Declared(kind, std::nullopt).size() + 1);
    EXPECT_EQ(with.missing_code(), last);
    EXPECT_EQ(with.run_size(), with.size() - 1);
    for (const char* cell : {"", "  ", "?", "NA", " N/A "}) EXPECT_EQ(with.Encode(cell), last) << cell;
    EXPECT_EQ(with.Label(last), "unknown");
    EXPECT_EQ(with.Encode(with.ValueInside(last, 7)), last);
    EXPECT_EQ(with.CodeOfText("unknown"), last);
    EXPECT_EQ(with.IntervalLabel(0, last), with.IntervalLabel(0, last - 1) + " .. unknown");
  }
}

TEST(MissingValues, WithoutABinRejectTheirRows) {
  const Attribute age = Declared(kAge, Missing{{"99"}, std::nullopt});
  EXPECT_EQ(age.size(), 10);
  EXPECT_FALSE(age.Encode("99"));
  EXPECT_EQ(age.WhyOutside("99"), "is missing");
  EXPECT_EQ(age.Encode("98"), 9u);
  EXPECT_EQ(age.WhyOutside(""), "is empty");
}

TEST(MissingValues, OfCategoriesAreNotTheCatchAll) {
  const Attribute sex = Declared(CategoricalKind{{"Female", "Male"}, "other"}, kUnknown);
  EXPECT_EQ(sex.size(), 4);
  EXPECT_EQ(sex.Encode("x"), 2u);
  EXPECT_EQ(sex.Encode(""), 3u);
}

TEST(MissingValues, TheUsualTokensAreTakenWithoutThoseThatAreValues) {
  EXPECT_THAT(Declared(kAge, Missing{}).missing()->tokens,
              ::testing::ElementsAre("", "?", "N", "NA", "N/A", "NULL", "NaN", "-"));
  const Attribute smoker = Declared(CategoricalKind{{"Y", "N"}, std::nullopt}, kUnknown);
  EXPECT_EQ(smoker.Encode("N"), 1u);
  EXPECT_EQ(smoker.Encode("NA"), 2u);
}

TEST(MissingValues, AreRefusedWhereTheyMeanTwoThings) {
  EXPECT_EQ(FieldOf(kSex, Missing{{"Male"}, "unknown"}), "missing.tokens[0]");
  EXPECT_EQ(FieldOf(kSex, Missing{{"", "a\nb"}, "unknown"}), "missing.tokens[1]");
  EXPECT_EQ(FieldOf(kSex, Missing{{""}, "Male"}), "missing.bin");
  EXPECT_EQ(FieldOf(kSex, Missing{{""}, ""}), "missing.bin");
  EXPECT_EQ(FieldOf(CategoricalKind{{"x"}, "other"}, Missing{{""}, "other"}), "missing.bin");
  EXPECT_EQ(FieldOf(kAge, Missing{{""}, "12"}), "missing.bin");
  EXPECT_EQ(FieldOf(kAge, Missing{{""}, "[0, 10)"}), "missing.bin");
  EXPECT_EQ(FieldOf(kSex, Missing{std::vector<std::string>(257, "x"), "unknown"}), "missing.tokens");
  EXPECT_EQ(FieldOf(CodedKind{kMaxAttributeSize}, kUnknown), "missing.bin");
}

TEST(MissingValues, AreNotTheCatchAllByItsName) {
  const CategoricalKind kind = {{"yes", "no"}, "NA"};
  EXPECT_EQ(FieldOf(kind, Missing{{"", "NA"}, "unknown"}), "missing.tokens[1]");
  const Attribute answer = Declared(kind, kUnknown);
  EXPECT_EQ(answer.Encode("NA"), 2u);
  EXPECT_EQ(answer.Encode("N/A"), 3u);
  EXPECT_EQ(answer.Encode(answer.ValueInside(2, 0)), 2u);
}

TEST(OrderedCategories, RunWithoutTheCatchAll) {
  const Attribute pain = Declared(CategoricalKind{{"none", "low", "high"}, "other", true}, kUnknown);
  EXPECT_EQ(pain.size(), 5);
  EXPECT_EQ(pain.run_size(), 3);
  EXPECT_EQ(Declared(CategoricalKind{{"none", "low", "high"}, "other"}, std::nullopt).run_size(), 4);
}

TEST(Categories, AreReadFoldedAndBySynonyms) {
  Reading reading;
  reading.fold_case = true;
  reading.synonyms = {{"Female", {"f", "W"}}, {"Male", {"m"}}};
  const Attribute sex = Declared(kSex, Missing{{"n/a"}, "unknown"}, reading);
  for (const char* cell : {"Female", "female", " FEMALE", "f", "F", "w"})
    EXPECT_EQ(sex.Encode(cell), 0u) << cell;
  EXPECT_EQ(sex.Encode("M"), 1u);
  EXPECT_EQ(sex.Encode("N/A"), 2u);
  EXPECT_FALSE(sex.Encode("x"));
  EXPECT_FALSE(sex.CodeOfText("female")) << "queries name values as they are listed";
  EXPECT_FALSE(sex.CodeOfText("f"));
}

TEST(Categories, ThatCellsCouldNotTellApartAreRefused) {
  Reading folded;
  folded.fold_case = true;
  EXPECT_EQ(FieldOf(CategoricalKind{{"a", "A"}, std::nullopt}, std::nullopt, folded), "reading.fold_case");
  EXPECT_EQ(FieldOf(CategoricalKind{{"Other", "x"}, "other"}, std::nullopt, folded), "reading.fold_case");
  Reading synonyms;
  synonyms.synonyms = {{"x", {"other"}}};
  EXPECT_EQ(FieldOf(CategoricalKind{{"x"}, "other"}, std::nullopt, synonyms), "reading.synonyms[0].texts[0]");
  synonyms.synonyms = {{"Female", {"f", "Male"}}};
  EXPECT_EQ(FieldOf(kSex, std::nullopt, synonyms), "reading.synonyms[0].texts[1]");
  synonyms.synonyms = {{"Women", {"f"}}};
  EXPECT_EQ(FieldOf(kSex, std::nullopt, synonyms), "reading.synonyms[0].value");
  synonyms.synonyms = {{"Female", {"f"}}};
  EXPECT_EQ(FieldOf(kSex, Missing{{"f"}, std::nullopt}, synonyms), "missing.tokens[0]");
  EXPECT_EQ(FieldOf(kAge, std::nullopt, synonyms), "reading.synonyms");
}

TEST(Numbers, AreReadWithADecimalCommaAndThousandsSeparators) {
  const NumericKind income = {{0, 1000, 100'000}};
  EXPECT_EQ(Declared(income, std::nullopt, Numbers(',', '.')).Encode("12.500,00"), 1u);
  EXPECT_EQ(Declared(income, std::nullopt, Numbers('.', ',')).Encode("69,637"), 1u);
  EXPECT_EQ(Declared(income, std::nullopt, Numbers(',', ' '))
                .Encode("12\xC2\xA0"
                        "500,5"),
            1u);
  EXPECT_EQ(Declared(income, std::nullopt, Numbers('.', '\''))
                .Encode("12\xE2\x80\x99"
                        "500"),
            1u);
  EXPECT_EQ(Declared(IntegerKind{0, 99'999, 1000}, std::nullopt, Numbers('.', ',')).Encode("69,637"), 69u);
  EXPECT_EQ(Declared(income, std::nullopt, Numbers(',', '\0')).Encode("0,5"), 0u);
  EXPECT_FALSE(Declared(income, std::nullopt, Numbers(',', '\0')).Encode("0.5"));
  EXPECT_EQ(Declared(income, std::nullopt, Numbers(',', '.')).CodeOfText("0.5"), 0u) << "a query's number";
}

TEST(Numbers, WithGroupsOfOtherSizesAreNone) {
  std::string buffer;
  const NumberStyle style{'.', ','};
  EXPECT_EQ(InPlainStyle("-1,234,567.25e2", style, buffer), "-1234567.25e2");
  EXPECT_EQ(InPlainStyle("1234567", style, buffer), "1234567");
  EXPECT_EQ(InPlainStyle(".5", style, buffer), ".5");
  for (const char* text :
       {"1,23", "1,2345", "1234,567", ",123", "1,234,", "1,,234", "1.2,345", "x", "1,234x"})
    EXPECT_EQ(InPlainStyle(text, style, buffer), "") << text;
}

TEST(Numbers, InAnotherStyleAreRejectedWithTheStyleThatWouldReadThem) {
  EXPECT_EQ(Declared(kAge, std::nullopt).WhyOutside("1,000"),
            "is not an integer; it would be a number with the decimal sign \".\" and the thousands separator "
            "\",\"");
  EXPECT_EQ(Declared(kAge, std::nullopt).WhyOutside("x"), "is not an integer");
  EXPECT_EQ(Declared(kAge, std::nullopt).WhyOutside("1.5"), "is not an integer");
}

TEST(Readings, ThatTheKindDoesNotHaveAreRefused) {
  EXPECT_EQ(FieldOf(kSex, std::nullopt, Numbers(',', '\0')), "reading");
  EXPECT_EQ(FieldOf(kAge, std::nullopt, Numbers(';', '\0')), "reading.decimal_sign");
  EXPECT_EQ(FieldOf(kAge, std::nullopt, Numbers('.', 'x')), "reading.thousands_separator");
  EXPECT_EQ(FieldOf(kAge, std::nullopt, Numbers(',', ',')), "reading.thousands_separator");
  Reading formats;
  formats.date_formats = {"DD.MM.YYYY"};
  EXPECT_EQ(FieldOf(kAge, std::nullopt, formats), "reading.date_formats");
  formats.date_formats.assign(17, "DD.MM.YYYY");
  EXPECT_EQ(FieldOf(DateKind{.from = 0, .until = 86'400}, std::nullopt, formats), "reading.date_formats");
  Reading column;
  column.column = " x";
  EXPECT_EQ(FieldOf(kAge, std::nullopt, column), "reading.column");
}

TEST(Dates, AreEncodedAndSayWhyTheyAreOutside) {
  const DateKind kind{.from = 0, .until = 86'400 * 31, .bins = DateBins::kWeek};
  Reading formats;
  formats.date_formats = {"DD.MM.YYYY"};
  const Attribute visit = Declared(kind, std::nullopt, formats);
  EXPECT_EQ(visit.Encode("1970-01-01"), 0u);
  EXPECT_EQ(visit.Encode("05.01.1970"), 1u);
  EXPECT_EQ(visit.WhyOutside("1969-12-31"), "is before the range, which begins at 1970-01-01");
  EXPECT_EQ(visit.WhyOutside("01.02.1970"), "is after the range, which ends before 1970-02-01");
  EXPECT_EQ(visit.WhyOutside("1/2/1970"), "is no date such as 2019-03-14 or DD.MM.YYYY");
  EXPECT_EQ(visit.WhyTextOutside("01.02.1970"), "is no day or time such as 2019-03-14 or 2019-03-14T09:30:00")
      << "queries are not written as the cells are";
  formats.date_formats = {"DD.MM.YYYY", "DD-MM-YYYY", "DD MM YYYY", "DD_MM_YYYY", "DD:MM:YYYY"};
  EXPECT_EQ(Declared(kind, std::nullopt, formats).WhyOutside("1/2/1970"),
            "is no date such as 2019-03-14 or DD.MM.YYYY or DD-MM-YYYY or DD MM YYYY or 2 more formats");
}

}  // namespace
}  // namespace curator::dp
