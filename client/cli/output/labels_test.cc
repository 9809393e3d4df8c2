// The bins and labels that the command line shows: the server's, made from the schema that it was sent.
#include <google/protobuf/util/json_util.h>
#include <gtest/gtest.h>

#include <limits>

#include "absl/strings/str_cat.h"
#include "client/cli/commands/dataset_document.h"
#include "client/cli/output/answer_rows.h"

namespace curator::cli {
namespace {

v1::Schema SchemaOf(const std::string& json) {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::util::JsonStringToMessage(json, &schema).ok()) << json;
  return schema;
}

v1::MarginalHeader MarginalOf(std::vector<std::pair<std::string, int64_t>> attributes) {
  v1::MarginalHeader marginal;
  for (const auto& [name, size] : attributes) {
    marginal.add_attributes(name);
    marginal.add_sizes(size);
  }
  return marginal;
}

// Of the cells of the schema's first attribute.
std::vector<std::string> LabelsOf(const v1::Schema& schema) {
  std::vector<std::string> labels;
  const int64_t bins = BinsOf(schema.attributes(0));
  if (bins == 0) return labels;
  const CellLabels cells =
      CellLabels::Create(schema, MarginalOf({{schema.attributes(0).name(), bins}})).value();
  for (size_t cell = 0; cell < static_cast<size_t>(bins); ++cell) labels.push_back(cells.Of(0, cell));
  return labels;
}

std::vector<std::string> LabelsOf(const std::string& attribute) {
  return LabelsOf(SchemaOf("{\"attributes\":[" + attribute + "]}"));
}

using Labels = std::vector<std::string>;

TEST(Labels, ACategoryHasItsCatchAllLast) {
  EXPECT_EQ(LabelsOf(R"({"name":"sex","categorical":{"values":["Female","Male"],"catchAll":"?"}})"),
            (Labels{"Female", "Male", "?"}));
  EXPECT_EQ(LabelsOf(R"({"name":"sex","categorical":{"values":["Female","Male"]}})"),
            (Labels{"Female", "Male"}));
}

TEST(Labels, IntegersAreIntervalsAndTheLastIsClosed) {
  EXPECT_EQ(LabelsOf(R"({"name":"age","integer":{"min":17,"max":28,"binWidth":5}})"),
            (Labels{"[17, 22)", "[22, 27)", "[27, 28]"}));
  EXPECT_EQ(LabelsOf(R"({"name":"age","integer":{"min":-1,"max":1}})"), (Labels{"-1", "0", "1"}));
  EXPECT_EQ(LabelsOf(R"({"name":"age","integer":{"min":17,"max":22,"binWidth":5}})"),
            (Labels{"[17, 22)", "22"}));
}

TEST(Labels, TheWidestIntegersDoNotOverflow) {
  v1::Schema schema;
  v1::Attribute& attribute = *schema.add_attributes();
  attribute.set_name("n");
  attribute.mutable_integer()->set_min(std::numeric_limits<int64_t>::min());
  attribute.mutable_integer()->set_max(std::numeric_limits<int64_t>::max());
  attribute.mutable_integer()->set_bin_width(std::numeric_limits<int64_t>::max());
  ASSERT_EQ(BinsOf(attribute), 3);
  EXPECT_EQ(LabelsOf(schema).at(2), "[9223372036854775806, 9223372036854775807]");
}

TEST(Labels, NumbersAreIntervalsAndTheLastIsClosed) {
  EXPECT_EQ(LabelsOf(R"({"name":"income","numeric":{"edges":[0,0.5,20000]}})"),
            (Labels{"[0, 0.5)", "[0.5, 20000]"}));
}

TEST(Labels, EvenStepsAreTheirDecimals) {
  EXPECT_EQ(LabelsOf(R"({"name":"x","numeric":{"min":-0.1,"max":0.4,"step":0.1}})"),
            (Labels{"[-0.1, 0)", "[0, 0.1)", "[0.1, 0.2)", "[0.2, 0.3)", "[0.3, 0.4]"}));
  const v1::Schema schema =
      SchemaOf(R"({"attributes":[{"name":"x","numeric":{"min":0,"max":100,"step":0.5}}]})");
  EXPECT_EQ(DescribeKind(schema.attributes(0)), "numeric, 0 to 100 by 0.5");
  EXPECT_EQ(BinsOf(schema.attributes(0)), 200);
}

TEST(Labels, StepsThatNoServerWouldAcceptMakeNoBins) {
  for (const char* steps :
       {R"({"min":0,"max":1,"step":0.3})", R"({"min":0,"max":1,"step":0})", R"({"min":1,"max":0,"step":1})",
        R"({"min":0,"max":"NaN","step":1})", R"({"min":0,"max":1e300,"step":1})", R"({"max":1,"step":-1})"}) {
    EXPECT_EQ(LabelsOf(absl::StrCat(R"({"name":"x","numeric":)", steps, "}")), Labels{}) << steps;
  }
}

std::string KindOf(const std::string& attribute) {
  return DescribeKind(SchemaOf("{\"attributes\":[" + attribute + "]}").attributes(0));
}

TEST(Labels, DatesAreTheirPeriodsAndMissingValuesTheLastBin) {
  const std::string visit =
      R"({"name":"visit","missing":{"bin":"?"},
          "date":{"from":"2019-01-15","to":"2019-06-30","bins":"QUARTER"}})";
  EXPECT_EQ(LabelsOf(visit), (Labels{"2019-Q1", "2019-Q2", "?"}));
  EXPECT_EQ(KindOf(visit), "date, 2019-01-15 to 2019-06-30 by quarter; missing values are \"?\"");
  const std::string shift =
      R"({"name":"s","date":{"edges":["2019-01-01","2019-06-01T06:00","2020-01-01"],
          "timeZone":"Europe/Berlin"}})";
  EXPECT_EQ(LabelsOf(shift),
            (Labels{"[2019-01-01, 2019-06-01T06:00:00)", "[2019-06-01T06:00:00, 2020-01-01)"}));
  EXPECT_EQ(KindOf(shift), "date, 2019-01-01 up to before 2020-01-01 in 2 listed bins, in Europe/Berlin");
}

TEST(Labels, OrderedCategoriesAndAnotherColumnAreShown) {
  const std::string pain =
      R"({"name":"pain","categorical":{"values":["no","yes"],"catchAll":"x","ordered":true},
          "reading":{"column":"Pain today"}})";
  EXPECT_EQ(KindOf(pain), "categorical, 2 values in order and \"x\"; from the column Pain today");
}

TEST(Labels, CodesAreThemselves) {
  EXPECT_EQ(LabelsOf(R"({"name":"zone","coded":{"size":3}})"), (Labels{"0", "1", "2"}));
}

TEST(Labels, AnAttributeOfNoKindHasNoBins) {
  EXPECT_EQ(BinsOf(v1::Attribute()), 0);
}

const char kSchema[] = R"({"attributes":[
    {"name":"sex","categorical":{"values":["f","m"]}}, {"name":"zone","coded":{"size":3}}]})";

TEST(CellLabels, TheLastAttributeVariesFastest) {
  const auto labels = CellLabels::Create(SchemaOf(kSchema), MarginalOf({{"sex", 2}, {"zone", 3}}));
  ASSERT_TRUE(labels.ok()) << labels.status();
  std::string cells;
  for (size_t cell = 0; cell < 6; ++cell) cells += labels->Of(0, cell) + labels->Of(1, cell) + " ";
  EXPECT_EQ(cells, "f0 f1 f2 m0 m1 m2 ");
}

TEST(CellLabelsCanary, AnAnswerThatIsNotTheSchemasIsCaught) {
  const v1::Schema schema = SchemaOf(kSchema);
  EXPECT_EQ(CellLabels::Create(schema, MarginalOf({{"sex", 3}})).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(CellLabels::Create(schema, MarginalOf({{"age", 2}})).status().code(),
            absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::cli
