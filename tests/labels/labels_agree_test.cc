// Labels of bins are made twice, by the server from its domain and by the command line from the schema it was
// sent, so that an answer's cells need no labels on the wire. They must be the same texts.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>
#include <string>

#include "client/cli/output/labels.h"
#include "dp/domain/attribute.h"
#include "dp/domain/domain.h"
#include "rpc/convert_schema.h"

namespace curator {
namespace {

// Compares every bin of every attribute. Returns how many were compared.
int64_t ExpectTheSameLabels(const v1::Schema& wire) {
  const absl::StatusOr<dp::Schema> schema = rpc::FromProto(wire);
  EXPECT_TRUE(schema.ok()) << schema.status() << wire.ShortDebugString();
  if (!schema.ok()) return 0;
  int64_t compared = 0;
  for (size_t i = 0; i < schema->domain.size(); ++i) {
    const dp::Attribute& attribute = schema->domain.attributes()[i];
    const v1::Attribute& sent = wire.attributes(static_cast<int>(i));
    EXPECT_EQ(cli::BinsOf(sent), attribute.size()) << sent.ShortDebugString();
    if (cli::BinsOf(sent) != attribute.size()) return compared;
    for (int64_t code = 0; code < attribute.size(); ++code, ++compared)
      EXPECT_EQ(cli::LabelOf(sent, code), attribute.Label(static_cast<uint32_t>(code)))
          << sent.ShortDebugString();
  }
  return compared;
}

v1::Attribute& Named(v1::Schema& schema) {
  v1::Attribute& attribute = *schema.add_attributes();
  attribute.set_name("a" + std::to_string(schema.attributes_size()));
  return attribute;
}

void AddInteger(v1::Schema& schema, int64_t min, int64_t max, int64_t width) {
  v1::Integer& integer = *Named(schema).mutable_integer();
  integer.set_min(min);
  integer.set_max(max);
  if (width > 0) integer.set_bin_width(width);
}

void AddNumeric(v1::Schema& schema, const std::vector<double>& edges) {
  v1::Numeric& numeric = *Named(schema).mutable_numeric();
  for (const double edge : edges) numeric.add_edges(edge);
}

void AddEven(v1::Schema& schema, double min, double max, double step) {
  v1::Numeric& numeric = *Named(schema).mutable_numeric();
  numeric.set_min(min);
  numeric.set_max(max);
  numeric.set_step(step);
}

TEST(Labels, OfEvenStepsAreTheSameOnBothSides) {
  v1::Schema schema;
  AddEven(schema, -20, 40, 0.1);
  AddEven(schema, 0, 1, 0.001);
  AddEven(schema, -0.75, 2.25, 0.125);
  AddEven(schema, 1e6, 1e6 + 1, 0.01);
  AddEven(schema, -3, 4, 7);
  AddEven(schema, 0, 9e-9, 1e-9);
  AddEven(schema, 0, 1e15, 1e14);
  EXPECT_GT(ExpectTheSameLabels(schema), 1700);
}

TEST(Labels, AreTheSameOnBothSidesForEveryKind) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  v1::Schema schema;
  v1::Categorical& categories = *Named(schema).mutable_categorical();
  for (const char* value : {"Female", "Some college", "größe", "<=50K", "a,b", "[1, 2)"})
    categories.add_values(value);
  categories.set_catch_all("?");
  Named(schema).mutable_categorical()->add_values("only");
  Named(schema).mutable_coded()->set_size(300);
  AddInteger(schema, 17, 90, 0);
  AddInteger(schema, 17, 90, 5);
  AddInteger(schema, -3, 3, 100);
  AddInteger(schema, 0, 9, 5);
  AddInteger(schema, 5, 5, 1);
  AddInteger(schema, kMin, kMax, kMax);
  AddInteger(schema, kMax - 10, kMax, 3);
  AddNumeric(schema, {0, 1});
  AddNumeric(schema, {-1e300, -0.0, 0.1, 1.0 / 3, 20000, 1e21, 1e300});
  AddNumeric(schema, {-1.5, std::nextafter(-1.5, 0), 5e-324, 0.30000000000000004});
  EXPECT_GT(ExpectTheSameLabels(schema), 400);
}

TEST(Labels, AreTheSameOnBothSidesForRandomSchemas) {
  std::mt19937_64 random(11);
  int64_t compared = 0;
  for (int trial = 0; trial < 300; ++trial) {
    v1::Schema schema;
    const int64_t min = static_cast<int64_t>(random() % 2000) - 1000;
    const int64_t width = 1 + static_cast<int64_t>(random() % 40);
    AddInteger(schema, min, min + static_cast<int64_t>(random() % 300), width);
    std::vector<double> edges = {static_cast<double>(min)};
    for (size_t i = 0; i < 1 + random() % 8; ++i)
      edges.push_back(edges.back() + std::ldexp(1.0 + static_cast<double>(random() % 1000),
                                                -static_cast<int>(random() % 12)));
    AddNumeric(schema, edges);
    compared += ExpectTheSameLabels(schema);
  }
  EXPECT_GT(compared, 5000);
}

// A label that is cut to six digits, as streams print, would merge neighbouring bins.
TEST(LabelsCanary, RoundedEdgesAreAnotherText) {
  v1::Schema schema;
  AddNumeric(schema, {0.1, 0.30000000000000004, 1});
  EXPECT_NE(cli::LabelOf(schema.attributes(0), 0), "[0.1, 0.3)");
}

}  // namespace
}  // namespace curator
