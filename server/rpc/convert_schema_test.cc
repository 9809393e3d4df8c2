#include "rpc/convert_schema.h"

#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"

namespace curator::rpc {
namespace {

v1::Schema Parse(const std::string& text) {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &schema));
  return schema;
}

struct BadSchema {
  const char* text;
  const char* field;
};

void ExpectRefused(const BadSchema& bad) {
  const absl::Status status = FromProto(Parse(bad.text)).status();
  ASSERT_TRUE(FieldViolationOf(status).has_value()) << bad.text << status;
  EXPECT_EQ(FieldViolationOf(status)->field, bad.field);
}

TEST(ConvertSchema, EveryKindOfAttributeSurvivesTheWayInAndOut) {
  const v1::Schema schema = Parse(R"pb(
    attributes {
      name: "sex"
      categorical { values: "Female" values: "Male" catch_all: "?" }
    }
    attributes {
      name: "age"
      integer { min: 17 max: 90 bin_width: 5 }
    }
    attributes {
      name: "income"
      numeric { edges: 0 edges: 1000.5 edges: 5000 }
    }
    attributes {
      name: "zone"
      coded { size: 7 }
    }
    unit { person { id_column: "pid" max_records: 3 } }
  )pb");
  const absl::StatusOr<dp::Schema> inside = FromProto(schema);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*inside), schema));
}

TEST(ConvertSchema, DatesAndHowCellsAreWrittenSurviveTheWayInAndOut) {
  const v1::Schema schema = Parse(R"pb(
    attributes {
      name: "pain"
      categorical { values: "none" values: "low" catch_all: "other" ordered: true }
      missing { tokens: "" tokens: "?" bin: "unknown" }
      reading {
        column: "Schmerz"
        fold_case: true
        synonyms { value: "none" texts: "0" texts: "keine" }
      }
    }
    attributes {
      name: "income"
      numeric { min: 0 max: 1000 step: 100 }
      reading { decimal_sign: "," thousands_separator: "." }
    }
    attributes {
      name: "visit"
      date { from: "2019-01-15" to: "2020-12-31" bins: MONTH time_zone: "Europe/Berlin" }
      reading { date_formats: "DD.MM.YYYY" }
    }
    attributes {
      name: "shift"
      date { edges: "2019-01-01" edges: "2019-01-01T12:00:00" edges: "2020-01-01" }
    }
    unit { record {} }
    format { separator: "\t" }
    domain_from_records: true
  )pb");
  const absl::StatusOr<dp::Schema> inside = FromProto(schema);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(inside->domain.attributes()[2].size(), 24);
  EXPECT_EQ(inside->domain.attributes()[2].Label(23), "2020-12");
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*inside), schema))
      << ToProto(*inside).DebugString();
}

TEST(ConvertSchema, MeasuresSurviveTheWayInAndOut) {
  const v1::Schema schema = Parse(R"pb(
    attributes {
      name: "income"
      integer { min: 0 max: 9999 bin_width: 1000 }
    }
    unit { record {} }
    measures { name: "income" low: 0 high: 200000 resolution: 100 }
    measures {
      name: "change"
      low: -1
      high: 1
      resolution: 0.1
      missing { tokens: "" tokens: "k.A." }
      reading { column: "Delta" decimal_sign: "," thousands_separator: "." }
    }
  )pb");
  const absl::StatusOr<dp::Schema> inside = FromProto(schema);
  ASSERT_TRUE(inside.ok()) << inside.status();
  ASSERT_EQ(inside->domain.measures().size(), 2u);
  EXPECT_EQ(inside->domain.measures()[1].steps(), 20);
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*inside), schema))
      << ToProto(*inside).DebugString();
}

constexpr char kConstrained[] = R"pb(
  attributes {
    name: "start"
    date { from: "2019-01-15" to: "2020-12-31" bins: MONTH }
  }
  attributes {
    name: "end"
    date { from: "2019-01-15" to: "2020-12-31" bins: MONTH }
  }
  attributes {
    name: "city"
    categorical { values: "Bonn" values: "Mainz" values: "Trier" catch_all: "other" }
  }
  attributes {
    name: "income"
    numeric { edges: 0 edges: 0.5 edges: 1000 }
  }
  unit { record {} }
)pb";

TEST(ConvertSchema, ConstraintsSurviveTheWayInAndOut) {
  const v1::Schema schema = Parse(absl::StrCat(kConstrained, R"pb(
    constraints { order { lower: "start" upper: "end" } }
    constraints { order { lower: "end" upper: "start" strict: true } }
    constraints {
      allowed_pairs {
        attributes: "city"
        attributes: "income"
        pairs { values: "Bonn" values: "0.5" }
        pairs { values: "Trier" values: "0" }
      }
    }
    constraints {
      allowed_pairs {
        attributes: "start"
        attributes: "city"
        pairs { values: "2019-01-15" values: "Bonn" }
        pairs { values: "2019-03-01" values: "Mainz" }
      }
    }
  )pb"));
  const absl::StatusOr<dp::Schema> inside = FromProto(schema);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(std::get<dp::PairsRule>(inside->domain.constraints()[3].rule()).allowed,
            (std::vector<std::array<uint32_t, 2>>{{0, 0}, {2, 1}}));
  EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*inside), schema))
      << ToProto(*inside).DebugString();
}

TEST(ConvertSchema, AnErrorInAConstraintNamesThePathOfTheField) {
  const auto pairs = [](const std::string& rest) {
    return absl::StrCat("constraints { allowed_pairs { attributes: \"city\" attributes: \"income\" ", rest,
                        " } }");
  };
  const auto order = [](const std::string& upper) {
    return absl::StrCat("constraints { order { lower: \"start\" upper: \"", upper, "\" } }");
  };
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"constraints {}", "constraints[0].rule"},
      {order("begin"), "constraints[0].order.upper"},
      {order("start"), "constraints[0].order.upper"},
      {order("city"), "constraints[0].order.upper"},
      {order("income"), "constraints[0].order.upper"},
      {order("end") + order("end"), "constraints[1]"},
      {"constraints { allowed_pairs { attributes: \"city\" } }", "constraints[0].allowed_pairs.attributes"},
      {pairs(""), "constraints[0].allowed_pairs.pairs"},
      {pairs("pairs { values: \"Bonn\" }"), "constraints[0].allowed_pairs.pairs[0].values"},
      {pairs("pairs { values: \"Bonn\" values: \"-1\" }"), "constraints[0].allowed_pairs.pairs[0].values[1]"},
      {pairs("pairs { values: \"other\" values: \"1\" }"), "constraints[0].allowed_pairs.pairs[0]"},
      {pairs("pairs { values: \"Bonn\" values: \"1\" } pairs { values: \"Bonn\" values: \"2\" }"),
       "constraints[0].allowed_pairs.pairs[1]"}};
  for (const auto& [text, field] : bad)
    ExpectRefused({absl::StrCat(kConstrained, text).c_str(), field.c_str()});
}

TEST(ConvertSchema, ASchemaHasAtMost64Constraints) {
  std::string text = kConstrained;
  for (int i = 0; i < 65; ++i) text += "constraints { order { lower: \"start\" upper: \"end\" } }";
  ExpectRefused({text.c_str(), "constraints"});
}

TEST(ConvertSchema, AnErrorInAMeasureNamesThePathOfTheField) {
  constexpr char kGood[] = R"pb(attributes {
                                  name: "a"
                                  coded { size: 2 }
                                }
                                measures { name: "m" low: 0 high: 1 resolution: 0.5 }
  )pb";
  EXPECT_TRUE(FromProto(Parse(kGood)).ok());
  const std::pair<const char*, const char*> bad[] = {
      {R"pb(name: "x" low: 0 high: 1)pb", "measures[1].resolution"},
      {R"pb(name: "x" low: 0.25 high: 1 resolution: 0.5)pb", "measures[1].low"},
      {R"pb(name: "x" low: 0 high: 0.75 resolution: 0.5)pb", "measures[1].high"},
      {R"pb(name: "x" low: 0 high: 1048577 resolution: 1)pb", "measures[1].resolution"},
      {R"pb(name: "x" low: 0 high: nan resolution: 1)pb", "measures[1].high"},
      {R"pb(low: 0 high: 1 resolution: 1)pb", "measures[1].name"},
      {R"pb(name: "m" low: 0 high: 1 resolution: 1)pb", "measures[1].name"},
      {R"pb(name: "x"
            low: 0
            high: 1
            resolution: 1
            missing { bin: "none" })pb",
       "measures[1].missing.bin"},
      {R"pb(name: "x"
            low: 0
            high: 1
            resolution: 1
            reading { fold_case: true })pb",
       "measures[1].reading.fold_case"},
      {R"pb(name: "x"
            low: 0
            high: 1
            resolution: 1
            reading { decimal_sign: ",," })pb",
       "measures[1].reading.decimal_sign"},
      {R"pb(name: "x"
            low: 0
            high: 1
            resolution: 1
            reading { column: "m" })pb",
       "measures[1].reading.column"}};
  for (const auto& [measure, field] : bad) {
    const std::string text = std::string(kGood) + "measures {" + measure + "}";
    ExpectRefused({text.c_str(), field});
  }
}

TEST(ConvertSchema, AnErrorInADateOrInHowCellsAreWrittenNamesThePathOfTheField) {
  const BadSchema kBad[] = {
      {R"pb(attributes {
              name: "x"
              date { to: "2019-01-01" bins: DAY }
            })pb",
       "attributes[0].date.from"},
      {R"pb(attributes {
              name: "x"
              date { from: "1.1.2019" to: "2019-01-01" bins: DAY }
            })pb",
       "attributes[0].date.from"},
      {R"pb(attributes {
              name: "x"
              date { from: "2019-01-01" to: "2019-01-01" }
            })pb",
       "attributes[0].date.bins"},
      {R"pb(attributes {
              name: "x"
              date { from: "2019-01-01" edges: "2019-01-01" edges: "2019-01-02" }
            })pb",
       "attributes[0].date.edges"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
              reading { decimal_sign: ",," }
            })pb",
       "attributes[0].reading.decimal_sign"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            attributes {
              name: "y"
              coded { size: 2 }
              reading { column: "x" }
            })pb",
       "attributes[1].reading.column"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
              reading { column: "pid" }
            }
            unit { person { id_column: "pid" max_records: 1 } })pb",
       "attributes[0].reading.column"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            format { separator: "x" })pb",
       "format.separator"},
      {R"pb(attributes {
              name: "x"
              integer { min: 0 max: 2 }
              missing { bin: "unknown" }
            }
            nesting { group_column: "g" response: "x" })pb",
       "nesting.response"},
  };
  for (const BadSchema& bad : kBad) ExpectRefused(bad);
}

TEST(ConvertSchema, EvenStepsAndANestingSurviveTheWayInAndOut) {
  for (const char* unit : {"", "unit { group { id_column: \"school\" } }"}) {
    v1::Schema schema = Parse(R"pb(
      attributes {
        name: "sex"
        categorical { values: "F" values: "M" }
      }
      attributes {
        name: "score"
        numeric { min: -20 max: 40 step: 0.1 }
      }
      nesting { group_column: "school" response: "score" })pb");
    schema.MergeFrom(Parse(unit));
    if (!schema.has_unit()) schema.mutable_nesting()->set_max_group_size(400);
    const absl::StatusOr<dp::Schema> inside = FromProto(schema);
    ASSERT_TRUE(inside.ok()) << inside.status();
    EXPECT_EQ(inside->domain.attributes()[1].size(), 600);
    EXPECT_EQ(inside->nesting->response, 1u);
    if (!schema.has_unit()) schema.mutable_unit()->mutable_record();
    EXPECT_TRUE(google::protobuf::util::MessageDifferencer::Equals(ToProto(*inside), schema));
  }
}

constexpr char kSchools[] = R"pb(
  attributes {
    name: "sector"
    coded { size: 2 }
  }
  attributes {
    name: "score"
    integer { min: 0 max: 9 }
  }
  attributes {
    name: "region"
    coded { size: 3 }
  }
  nesting { group_column: "school" response: "score" })pb";

TEST(ConvertSchema, AttributesOfGroupsComeOutInTheOrderOfTheSchema) {
  v1::Schema schema = Parse(kSchools);
  for (const char* name : {"region", "sector"}) schema.mutable_nesting()->add_group_attributes(name);
  const absl::StatusOr<dp::Schema> inside = FromProto(schema);
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(inside->nesting->group_attributes, (dp::AttributeSet{0, 2}));
  const v1::Schema shown = ToProto(*inside);
  ASSERT_EQ(shown.nesting().group_attributes_size(), 2);
  EXPECT_EQ(shown.nesting().group_attributes(0), "sector");
  EXPECT_EQ(shown.nesting().group_attributes(1), "region");
}

TEST(ConvertSchema, AttributesOfGroupsThatAreUnknownOrRepeatedOrTheResponseAreRefusedByTheirField) {
  const auto refused = [](std::vector<std::string> names) {
    v1::Schema schema = Parse(kSchools);
    for (const std::string& name : names) schema.mutable_nesting()->add_group_attributes(name);
    return std::string(FromProto(schema).status().message());
  };
  EXPECT_THAT(refused({"sector", "sectr"}), ::testing::HasSubstr("nesting.group_attributes[1]"));
  EXPECT_THAT(refused({"sector", "region", "sector"}), ::testing::HasSubstr("nesting.group_attributes[2]"));
  EXPECT_THAT(refused({"sector", "score"}), ::testing::HasSubstr("nesting.group_attributes"));
  EXPECT_THAT(refused({"school"}), ::testing::HasSubstr("nesting.group_attributes[0]"));
}

TEST(ConvertSchema, ATypographicSeparatorIsRefusedWithThePlainOneThatStandsForIt) {
  v1::Schema schema;
  v1::Attribute& attribute = *schema.add_attributes();
  attribute.set_name("pay");
  attribute.mutable_integer()->set_max(9);
  attribute.mutable_reading()->set_thousands_separator("\xE2\x80\x99");
  const absl::Status refused = FromProto(schema).status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "attributes[0].reading.thousands_separator");
  EXPECT_THAT(std::string(refused.message()),
              ::testing::HasSubstr("' also stands for a right quotation mark"));
}

TEST(ConvertSchema, TheGroupColumnOfAGroupUnitMayBeLeftOut) {
  const absl::StatusOr<dp::Schema> inside = FromProto(Parse(R"pb(
    attributes {
      name: "score"
      integer { min: 0 max: 1 }
    }
    unit { group { id_column: "school" max_records: 9 } }
    nesting { response: "score" })pb"));
  ASSERT_TRUE(inside.ok()) << inside.status();
  EXPECT_EQ(inside->nesting->group_column, "school");
}

TEST(ConvertSchema, ABinWidthThatIsAbsentIsOneAndAUnitThatIsAbsentIsTheRecord) {
  const absl::StatusOr<dp::Schema> inside = FromProto(Parse(R"pb(attributes {
                                                                   name: "age"
                                                                   integer { min: 0 max: 9 }
                                                                 })pb"));
  ASSERT_TRUE(inside.ok());
  EXPECT_EQ(inside->domain.attributes()[0].size(), 10);
  EXPECT_TRUE(std::holds_alternative<dp::RecordUnit>(inside->unit));
}

TEST(ConvertSchema, AnErrorNamesThePathOfTheField) {
  const BadSchema kBad[] = {
      {R"pb(attributes { name: "x" })pb", "attributes[0]"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            attributes {
              name: "y"
              integer { min: 3 max: 2 }
            })pb",
       "attributes[1].integer.max"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            unit { person { max_records: 2 } })pb",
       "unit.person.id_column"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            unit { person { id_column: "p" } })pb",
       "unit.person.max_records"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            unit { person { id_column: "p" max_records: 1000001 } })pb",
       "unit.person.max_records"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            unit { person { id_column: "x" max_records: 2 } })pb",
       "unit.person.id_column"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            unit { group { id_column: "x" } })pb",
       "unit.group.id_column"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            unit { group { id_column: "g" max_records: 0 } })pb",
       "unit.group.max_records"},
  };
  for (const BadSchema& bad : kBad) ExpectRefused(bad);
}

TEST(ConvertSchema, AnErrorInEvenStepsOrANestingNamesThePathOfTheField) {
  const BadSchema kBad[] = {
      {R"pb(attributes {
              name: "x"
              numeric { min: 0 max: 1 }
            })pb",
       "attributes[0].numeric.step"},
      {R"pb(attributes {
              name: "x"
              numeric { max: 1 step: 1 }
            })pb",
       "attributes[0].numeric.min"},
      {R"pb(attributes {
              name: "x"
              numeric { min: 0 max: 1 step: 0.5 edges: 0 edges: 1 }
            })pb",
       "attributes[0].numeric.edges"},
      {R"pb(attributes {
              name: "x"
              numeric { min: 0 max: 1 step: 0.3 }
            })pb",
       "attributes[0].numeric.step"},
      {R"pb(attributes {
              name: "x"
              coded { size: 2 }
            }
            nesting { group_column: "g" response: "x" })pb",
       "nesting.response"},
      {R"pb(attributes {
              name: "x"
              integer { min: 0 max: 2 }
            }
            nesting { group_column: "g" response: "y" })pb",
       "nesting.response"},
      {R"pb(attributes {
              name: "x"
              integer { min: 0 max: 2 }
            }
            nesting { response: "x" })pb",
       "nesting.group_column"},
      {R"pb(attributes {
              name: "x"
              integer { min: 0 max: 2 }
            }
            nesting { group_column: "g" response: "x" max_group_size: 0 })pb",
       "nesting.max_group_size"},
      {R"pb(attributes {
              name: "x"
              integer { min: 0 max: 2 }
            }
            unit { person { id_column: "p" max_records: 2 } }
            nesting { group_column: "g" response: "x" })pb",
       "nesting"},
  };
  for (const BadSchema& bad : kBad) ExpectRefused(bad);
}

}  // namespace
}  // namespace curator::rpc
