#include "rpc/convert_schema.h"

#include <google/protobuf/text_format.h>
#include <google/protobuf/util/message_differencer.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::rpc {
namespace {

v1::Schema Parse(const std::string& text) {
  v1::Schema schema;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &schema));
  return schema;
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
  const struct {
    const char* text;
    const char* field;
  } kBad[] = {
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
  for (const auto& bad : kBad) {
    const absl::Status status = FromProto(Parse(bad.text)).status();
    ASSERT_TRUE(FieldViolationOf(status).has_value()) << bad.text << status;
    EXPECT_EQ(FieldViolationOf(status)->field, bad.field);
  }
}

}  // namespace
}  // namespace curator::rpc
