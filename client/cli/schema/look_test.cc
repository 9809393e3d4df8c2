#include "client/cli/schema/look.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/cli/schema/template.h"
#include "rpc/convert_attribute.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

class Looks : public ::testing::Test {
 protected:
  Look At(const std::string& csv, LookFor what) {
    std::ofstream(path_, std::ios::binary) << csv;
    const auto header = ReadCsvHeader(path_);
    EXPECT_TRUE(header.ok()) << header.status();
    const auto look =
        LookAt(path_, *header, *UnfilledSchema(*header, path_), what, absl::FromUnixSeconds(1000));
    EXPECT_TRUE(look.ok()) << look.status();
    return look.value_or(Look());
  }
  // A column of these cells, one a line, in quotes.
  v1::Attribute Column(const std::vector<std::string>& cells, LookFor what = LookFor::kKinds) {
    std::string csv = "x,y\n";
    for (const std::string& cell : cells) absl::StrAppend(&csv, "\"", cell, "\",1\n");
    const Look look = At(csv, what);
    notes_ = look.notes;
    return look.file.schema.attributes(0);
  }

  const curator::testing::ScratchFolder folder_;
  const std::string path_ = (folder_ / "people.csv").string();
  std::vector<std::string> notes_;
};

TEST_F(Looks, KindsAreProposedWithoutARangeACategoryOrABin) {
  const Look look =
      At("id,age,pay,day,sex\n1,39,12.5,2019-03-31,F\n2,?,13.25,2019-04-01T12:00:00,M\n3,50,,2020-01-01,F\n",
         LookFor::kKinds);
  std::vector<std::string> attributes;
  for (const v1::Attribute& attribute : look.file.schema.attributes())
    attributes.push_back(JsonOf(attribute));
  EXPECT_THAT(attributes, ElementsAre(R"({"name": "id", "integer": {}})", R"({"name": "age", "integer": {}})",
                                      R"({"name": "pay", "numeric": {}})", R"({"name": "day", "date": {}})",
                                      R"({"name": "sex", "categorical": {}})"));
  EXPECT_FALSE(look.file.schema.domain_from_records());
  ASSERT_EQ(look.file.looks.size(), 1u);
  EXPECT_EQ(look.file.looks[0].content_hash().size(), 32u);
  EXPECT_EQ(look.file.looks[0].time().seconds(), 1000);
  EXPECT_FALSE(look.file.looks[0].accepted_domain());
  EXPECT_THAT(look.notes, IsEmpty());
}

// The law of a look for kinds: records that are written in the same way give the same file.
TEST_F(Looks, OtherRecordsOfTheSameKindsGiveTheSameProposal) {
  const auto proposal = [this](const std::string& csv) {
    SchemaFile file = At(csv, LookFor::kKinds).file;
    file.looks.clear();
    return TextOf(file);
  };
  EXPECT_EQ(proposal("a,b,c\n1,x,2019-01-01\n"),
            proposal("a,b,c\n-77,y,1950-12-31\n99,?,\n5,zz,1999-01-01\n"));
}

TEST_F(Looks, WaysOfWritingAreProposed) {
  EXPECT_EQ(JsonOf(Column({"1,234", "99", "1,234,567"})),
            R"({"name": "x", "integer": {}, "reading": {"thousandsSeparator": ","}})");
  EXPECT_EQ(JsonOf(Column({"1.234,5", "99"})),
            R"({"name": "x", "numeric": {}, "reading": {"decimalSign": ",", "thousandsSeparator": "."}})");
  EXPECT_EQ(JsonOf(Column({"0,5", "-3"})),
            R"({"name": "x", "numeric": {}, "reading": {"decimalSign": ","}})");
  EXPECT_EQ(JsonOf(Column({"31.12.2019", "1.2.2020"})),
            R"({"name": "x", "date": {}, "reading": {"dateFormats": ["DD.MM.YYYY"]}})");
  EXPECT_EQ(JsonOf(Column({"12/31/2019", "2/1/2020"})),
            R"({"name": "x", "date": {}, "reading": {"dateFormats": ["MM/DD/YYYY"]}})");
}

TEST_F(Looks, TwoFormatsThatReadAllDatesAreSaidToTheOwner) {
  EXPECT_THAT(JsonOf(Column({"1/2/2019", "3/4/2020"})), HasSubstr("MM/DD/YYYY"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("or DD/MM/YYYY")));
}

TEST_F(Looks, CodesWithLeadingZerosAreTexts) {
  EXPECT_TRUE(Column({"00123", "04567", "98765"}).has_categorical());
  EXPECT_TRUE(Column({"0", "1", "0.5"}).has_numeric());
}

TEST_F(Looks, AFewCellsOfAnotherKindChangeNoKindAndAreSaidToTheOwner) {
  std::vector<std::string> cells(19, "7");
  cells.emplace_back("seven");
  EXPECT_TRUE(Column(cells).has_integer());
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("1 of 20 cells")));
  cells.emplace_back("eight");
  cells.emplace_back("nine");
  EXPECT_TRUE(Column(cells).has_categorical());
}

TEST_F(Looks, AColumnWithoutAValueStaysUnfilled) {
  EXPECT_EQ(JsonOf(Column({"", "NA", "?"})), R"({"name": "x"})");
  EXPECT_EQ(JsonOf(Column({"", "NA"}, LookFor::kDomain)), R"({"name": "x", "missing": {"bin": "missing"}})");
}

TEST_F(Looks, TheDomainIsTakenFromTheRecordsWhenItIsAccepted) {
  const Look look =
      At("age,pay,day,sex\n39,0.5,2019-03-31,M\n17,99.5,2019-12-24,F\n?,50,2019-04-01,M\n", LookFor::kDomain);
  EXPECT_TRUE(look.file.schema.domain_from_records());
  EXPECT_TRUE(look.file.looks[0].accepted_domain());
  std::vector<std::string> attributes;
  for (const v1::Attribute& attribute : look.file.schema.attributes()) {
    attributes.push_back(JsonOf(attribute));
    EXPECT_TRUE(rpc::FromProto(attribute).ok()) << attributes.back();
  }
  EXPECT_THAT(
      attributes,
      ElementsAre(R"({"name": "age", "integer": {"min": 17, "max": 39}, "missing": {"bin": "missing"}})",
                  R"({"name": "pay", "numeric": {"min": 0, "max": 100, "step": 2}})",
                  R"({"name": "day", "date": {"from": "2019-03-31", "to": "2019-12-24", "bins": "MONTH"}})",
                  R"({"name": "sex", "categorical": {"values": ["F", "M"]}})"));
}

TEST_F(Looks, EveryProposedDomainIsValidOrLeftOut) {
  for (const std::vector<std::string>& cells : {std::vector<std::string>{"1e308", "-1e308", "0.5"},
                                                {"9223372036854775807", "-9223372036854775808"},
                                                {"0.1", "0.1"},
                                                {"1e-300", "0.0"},
                                                {"0.001", "0.0173"},
                                                {"missing", ""},
                                                {"5", "5"},
                                                {"-0.35", "0.7"},
                                                {"0001-01-01", "9999-12-31"},
                                                {"123456", "7654321"}}) {
    const v1::Attribute attribute = Column(cells, LookFor::kDomain);
    if (attribute.kind_case() == v1::Attribute::KIND_NOT_SET) {
      EXPECT_THAT(notes_, Not(IsEmpty())) << cells.front();
      continue;
    }
    const auto made = rpc::FromProto(attribute);
    ASSERT_TRUE(made.ok()) << JsonOf(attribute) << made.status();
    for (const std::string& cell : cells) EXPECT_TRUE(made->Encode(cell)) << JsonOf(attribute) << " " << cell;
  }
}

TEST_F(Looks, FreeTextHasNoCategories) {
  std::vector<std::string> cells;
  for (int i = 0; i < 501; ++i) cells.push_back(absl::StrCat("text ", i));
  EXPECT_EQ(JsonOf(Column(cells, LookFor::kDomain)), R"({"name": "x"})");
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("very many different texts")));
  cells.pop_back();
  EXPECT_EQ(Column(cells, LookFor::kDomain).categorical().values_size(), 500);
}

}  // namespace
}  // namespace curator::cli
