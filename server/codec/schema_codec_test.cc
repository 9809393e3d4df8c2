#include "codec/schema_codec.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"

namespace curator::codec {
namespace {

dp::AttributeKind RandomKind(std::mt19937_64& random) {
  const auto text = [&random](size_t i) {
    return std::to_string(i) + std::string(random() % 5, 'x') + "\xc3\xa9";
  };
  switch (random() % 6) {
    case 0: {
      dp::CategoricalKind kind;
      kind.ordered = random() % 2 == 0;
      const size_t values = 1 + random() % 6;
      for (size_t i = 0; i < values; ++i) kind.values.push_back(text(i));
      if (random() % 2 == 0) kind.catch_all = text(values);
      return kind;
    }
    case 1: {
      const int64_t min = static_cast<int64_t>(random());
      const int64_t span = static_cast<int64_t>(random() % 1000);
      return dp::IntegerKind{std::min(min, std::numeric_limits<int64_t>::max() - span),
                             std::min(min, std::numeric_limits<int64_t>::max() - span) + span,
                             static_cast<int64_t>(1 + random() % 50)};
    }
    case 2: {
      dp::NumericKind kind;
      double edge = static_cast<double>(random()) / 3 - 1e18;
      for (size_t left = 2 + random() % 5; left > 0; --left) {
        kind.edges.push_back(edge);
        edge = left % 2 == 0 ? std::nextafter(edge, 1e300) : edge + 1e6 / 7;
      }
      return kind;
    }
    case 3:
      return dp::NumericKind{.edges = {}, .even = dp::EvenSteps{-2, 4, random() % 2 == 0 ? 0.25 : 0.5}};
    case 4: {
      dp::DateKind kind{.from = static_cast<int64_t>(random() % 1'000'000), .bins = dp::DateBins::kWeek};
      kind.until = kind.from + 1 + static_cast<int64_t>(random() % 10'000'000);
      if (random() % 2 == 0) kind.zone = "Europe/Berlin";
      if (random() % 2 == 0) return kind;
      kind.bins = dp::DateBins::kListed;
      kind.edges = {kind.from, kind.until};
      return kind;
    }
    default:
      return dp::CodedKind{static_cast<int64_t>(1 + random() % (dp::kMaxAttributeSize - 1))};
  }
}

std::optional<dp::Missing> RandomMissing(std::mt19937_64& random) {
  if (random() % 2 == 0) return std::nullopt;
  dp::Missing missing;
  if (random() % 2 == 0) missing.tokens = {"", "none"};
  if (random() % 2 == 0) missing.bin = "unknown";
  return missing;
}

dp::Reading RandomReading(const dp::AttributeKind& kind, std::mt19937_64& random) {
  dp::Reading reading;
  if (const auto* categorical = std::get_if<dp::CategoricalKind>(&kind)) {
    reading.fold_case = random() % 2 == 0;
    if (random() % 2 == 0) reading.synonyms = {{categorical->values.front(), {"other text"}}};
  } else if (std::holds_alternative<dp::DateKind>(kind)) {
    if (random() % 2 == 0) reading.date_formats = {"DD.MM.YYYY"};
  } else if (random() % 2 == 0) {
    reading.decimal_sign = ',';
    if (random() % 2 == 0) reading.thousands_separator = '.';
  }
  return reading;
}

dp::Measure RandomMeasure(size_t i, std::mt19937_64& random) {
  const auto steps = static_cast<double>(random() % 1000);
  const double resolution = random() % 2 == 0 ? 0.25 : 100;
  std::optional<dp::Missing> missing = RandomMissing(random);
  if (missing) missing->bin.reset();
  dp::Reading reading = RandomReading(dp::CodedKind{1}, random);
  if (random() % 4 == 0) reading.column = "measured " + std::to_string(i);
  return dp::Measure::Create("m" + std::to_string(i), {-steps * resolution, resolution, resolution},
                             std::move(missing), std::move(reading))
      .value();
}

// The domain with some of the constraints that it can have.
dp::Domain Constrained(const dp::Domain& domain, std::mt19937_64& random) {
  std::vector<dp::ConstraintRule> rules;
  const auto attribute = [&] { return static_cast<uint32_t>(random() % domain.size()); };
  for (size_t left = random() % 4; left > 0; --left) {
    dp::ConstraintRule rule = dp::OrderRule{attribute(), attribute(), random() % 2 == 0};
    if (random() % 2 == 0) rule = dp::PairsRule{{attribute(), attribute()}, {{1, 0}, {0, 0}}};
    rules.push_back(rule);
    if (!domain.WithConstraints(rules).ok()) rules.pop_back();
  }
  return domain.WithConstraints(rules).value();
}

dp::PrivacyUnit RandomUnit(std::mt19937_64& random) {
  const int64_t records = static_cast<int64_t>(1 + random() % dp::kMaxRecordsPerUnit);
  if (random() % 3 == 0) return dp::PersonUnit{"pid", records};
  if (random() % 2 == 0) return dp::GroupUnit{"household", records};
  return dp::RecordUnit{};
}

dp::Schema RandomSchema(std::mt19937_64& random) {
  std::vector<dp::Attribute> attributes;
  for (size_t i = 0, size = 1 + random() % 6; i < size; ++i) {
    const dp::AttributeKind kind = RandomKind(random);
    std::optional<dp::Missing> missing = RandomMissing(random);
    dp::Reading reading = RandomReading(kind, random);
    if (random() % 4 == 0) reading.column = "column " + std::to_string(i);
    attributes.push_back(
        dp::Attribute::Create("a" + std::to_string(i), kind, std::move(missing), std::move(reading)).value());
  }
  std::vector<dp::Measure> measures;
  for (size_t left = random() % 2 == 0 ? 0 : random() % 4; left > 0; --left)
    measures.push_back(RandomMeasure(left, random));
  const dp::Domain domain =
      Constrained(dp::Domain::Create(std::move(attributes), std::move(measures)).value(), random);
  const dp::PrivacyUnit unit = RandomUnit(random);
  dp::Nesting nesting{.group_column = "school", .response = static_cast<uint32_t>(random() % domain.size())};
  if (const auto* group = std::get_if<dp::GroupUnit>(&unit)) {
    nesting.group_column = group->id_column;
  } else if (random() % 2 == 0) {
    nesting.max_group_size = 1 + static_cast<int64_t>(random() % 100);
  }
  for (uint32_t attribute = 0; attribute < domain.size(); ++attribute) {
    if (attribute != nesting.response && random() % 4 == 0) nesting.group_attributes.push_back(attribute);
  }
  // A nesting of persons, or with a response that is no number, is none.
  absl::StatusOr<dp::Schema> nested = dp::CreateSchema(domain, unit, nesting);
  dp::Schema schema = nested.ok() ? *std::move(nested) : dp::CreateSchema(domain, unit).value();
  if (random() % 4 == 0) schema.separator = ';';
  schema.domain_from_records = random() % 4 == 0;
  return schema;
}

TEST(SchemaCodec, EverySchemaComesBackAsItWas) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 500; ++round) {
    const dp::Schema schema = RandomSchema(random);
    const absl::StatusOr<dp::Schema> decoded = DecodeSchema(EncodeSchema(schema));
    ASSERT_TRUE(decoded.ok()) << decoded.status();
    ASSERT_EQ(*decoded, schema);
    ASSERT_EQ(EncodeSchema(*decoded), EncodeSchema(schema));
  }
}

TEST(SchemaCodec, EveryPrefixAndEveryExtraByteIsRefused) {
  std::mt19937_64 random(4);
  for (int round = 0; round < 20; ++round) {
    const std::string bytes = EncodeSchema(RandomSchema(random));
    for (size_t length = 0; length < bytes.size(); ++length) {
      ASSERT_EQ(DecodeSchema(bytes.substr(0, length)).status().code(), absl::StatusCode::kDataLoss);
    }
    ASSERT_EQ(DecodeSchema(bytes + '\0').status().code(), absl::StatusCode::kDataLoss);
  }
}

TEST(SchemaCodec, AChangedByteIsRefusedOrReadAsAnotherSchema) {
  std::mt19937_64 random(5);
  for (int round = 0; round < 20; ++round) {
    const dp::Schema schema = RandomSchema(random);
    const std::string bytes = EncodeSchema(schema);
    for (size_t i = 0; i < bytes.size(); ++i) {
      std::string changed = bytes;
      changed[i] = static_cast<char>(changed[i] ^ (1 << (random() % 8)));
      const absl::StatusOr<dp::Schema> decoded = DecodeSchema(changed);
      if (decoded.ok()) {
        ASSERT_NE(*decoded, schema);
      }
    }
  }
}

TEST(SchemaCodec, UnknownVersionsAndOtherDocumentsAreRefused) {
  CanonicalWriter future("curator.schema", 4);
  EXPECT_EQ(DecodeSchema(std::move(future).Take()).status().code(), absl::StatusCode::kDataLoss);
  CanonicalWriter other("curator.release", 1);
  EXPECT_EQ(DecodeSchema(std::move(other).Take()).status().code(), absl::StatusCode::kDataLoss);
}

TEST(SchemaCodec, ASecondEncodingOfTheSameSchemaIsRefused) {
  CanonicalWriter writer("curator.schema", 1);
  writer.Integer(1);
  writer.Text("a");
  writer.Integer(3);  // numeric
  writer.Integer(2);
  writer.Real(-0.0);
  writer.Real(1);
  writer.Integer(1);  // unit: record
  EXPECT_EQ(DecodeSchema(std::move(writer).Take()).status().code(), absl::StatusCode::kDataLoss);
}

TEST(SchemaCodec, EachSchemaIsWrittenInTheFirstVersionThatCanSayIt) {
  const dp::Domain edges =
      dp::Domain::Create({dp::Attribute::Create("x", dp::NumericKind{{0, 1, 2}}).value()}).value();
  const dp::Domain even =
      dp::Domain::Create({dp::Attribute::Create("x", dp::NumericKind{{}, dp::EvenSteps{0, 2, 1}}).value()})
          .value();
  const auto version = [](const dp::Schema& schema) {
    int tried = 1;
    while (!CanonicalReader(EncodeSchema(schema), "curator.schema", tried).ok()) ++tried;
    return tried;
  };
  const auto attribute = [](dp::AttributeKind kind, std::optional<dp::Missing> missing = std::nullopt,
                            dp::Reading reading = {}) {
    return dp::CreateSchema(dp::Domain::Create({dp::Attribute::Create("x", std::move(kind),
                                                                      std::move(missing), std::move(reading))
                                                    .value()})
                                .value(),
                            dp::RecordUnit{})
        .value();
  };
  EXPECT_EQ(version(dp::CreateSchema(edges, dp::RecordUnit{}).value()), 1);
  EXPECT_EQ(version(dp::CreateSchema(even, dp::RecordUnit{}).value()), 2);
  EXPECT_EQ(version(dp::CreateSchema(edges, dp::RecordUnit{}, dp::Nesting{"g", 0}).value()), 2);
  EXPECT_EQ(version(attribute(dp::CodedKind{2}, dp::Missing{})), 3);
  EXPECT_EQ(version(attribute(dp::CategoricalKind{{"x"}, std::nullopt, true})), 3);
  EXPECT_EQ(version(attribute(dp::DateKind{.from = 0, .until = 1})), 3);
  dp::Reading column;
  column.column = "y";
  EXPECT_EQ(version(attribute(dp::CodedKind{2}, std::nullopt, column)), 3);
  dp::Schema semicolons = attribute(dp::CodedKind{2});
  semicolons.separator = ';';
  EXPECT_EQ(version(semicolons), 3);
  dp::Schema from_records = attribute(dp::CodedKind{2});
  from_records.domain_from_records = true;
  EXPECT_EQ(version(from_records), 3);
  const dp::Domain measured =
      dp::Domain::Create(edges.attributes(), {dp::Measure::Create("x", {0, 9, 0.5}).value()}).value();
  EXPECT_EQ(version(dp::CreateSchema(measured, dp::RecordUnit{}).value()), 4);
  const dp::Domain two = dp::Domain::Create({dp::Attribute::Create("x", dp::CodedKind{2}).value(),
                                             dp::Attribute::Create("y", dp::CodedKind{2}).value()})
                             .value();
  EXPECT_EQ(version(dp::CreateSchema(two.WithConstraints({}).value(), dp::RecordUnit{}).value()), 1);
  EXPECT_EQ(
      version(dp::CreateSchema(two.WithConstraints({dp::OrderRule{0, 1}}).value(), dp::RecordUnit{}).value()),
      5);
}

TEST(SchemaCodec, VersionTwoOfWhatVersionOneCanSayIsRefused) {
  for (const int64_t version : {1, 2}) {
    CanonicalWriter writer("curator.schema", version);
    writer.Integer(1);
    writer.Text("a");
    writer.Integer(4);  // coded
    writer.Integer(2);
    writer.Integer(1);                    // unit: record
    if (version == 2) writer.Integer(0);  // no nesting
    EXPECT_EQ(DecodeSchema(std::move(writer).Take()).ok(), version == 1);
  }
}

TEST(SchemaCodec, ASeparatorThatFilesCannotHaveIsRefused) {
  for (const char separator : {';', '\t', '|', ',', 'x', ' ', '\0', '"'}) {
    CanonicalWriter writer("curator.schema", 3);
    writer.Integer(1);
    writer.Text("a");
    writer.Integer(4);  // coded
    writer.Integer(2);
    writer.Integer(0);     // no missing values
    writer.Text("");       // the column is the attribute's name
    writer.Integer(0);     // letters are as they are
    writer.Integer(0);     // no synonyms
    writer.Integer('.');   // the decimal sign
    writer.Integer('\0');  // no thousands separator
    writer.Integer(0);     // no formats of dates
    writer.Integer(1);     // unit: record
    writer.Integer(0);     // no nesting
    writer.Integer(separator);
    writer.Integer(1);  // the domain is from records
    EXPECT_EQ(DecodeSchema(std::move(writer).Take()).ok(),
              std::string_view(";\t|,").find(separator) != std::string_view::npos)
        << separator;
  }
}

TEST(SchemaCodec, EvenStepsInVersionOneAreRefused) {
  CanonicalWriter writer("curator.schema", 1);
  writer.Integer(1);
  writer.Text("a");
  writer.Integer(5);  // even steps
  for (const double number : {0.0, 2.0, 1.0}) writer.Real(number);
  writer.Integer(1);  // unit: record
  EXPECT_EQ(DecodeSchema(std::move(writer).Take()).status().code(), absl::StatusCode::kDataLoss);
}

std::string HashOf(const dp::Schema& schema) {
  std::string hex;
  for (const char byte : Sha256(EncodeSchema(schema))) {
    constexpr char kDigits[] = "0123456789abcdef";
    hex += {kDigits[static_cast<unsigned char>(byte) >> 4], kDigits[static_cast<unsigned char>(byte) & 15]};
  }
  return hex;
}

// A schema without measures, as the fourth version writes it.
TEST(SchemaCodec, VersionFourOfWhatVersionThreeCanSayIsRefused) {
  for (const int64_t measures : {0, 1}) {
    CanonicalWriter writer("curator.schema", 4);
    writer.Integer(1);
    writer.Text("a");
    writer.Integer(4);  // coded
    writer.Integer(2);
    writer.Integer(0);  // no missing values
    writer.Text("");    // the column is the attribute's name
    for (const int64_t number : {0, 0, int{'.'}, 0, 0})
      writer.Integer(number);  // as cells are usually written
    writer.Integer(1);         // unit: record
    writer.Integer(0);         // no nesting
    writer.Integer(',');       // the separator
    writer.Integer(0);         // the domain is not from records
    writer.Integer(measures);
    if (measures == 1) {
      writer.Text("m");
      for (const double number : {0.0, 2.0, 0.5}) writer.Real(number);
      writer.Integer(0);
      writer.Text("");
      for (const int64_t number : {0, 0, int{'.'}, 0, 0}) writer.Integer(number);
    }
    EXPECT_EQ(DecodeSchema(std::move(writer).Take()).ok(), measures == 1);
  }
}

TEST(SchemaCodec, VersionFourIsFrozen) {
  dp::Reading german;
  german.column = "Einkommen";
  german.decimal_sign = ',';
  german.thousands_separator = '.';
  const dp::Schema schema =
      dp::CreateSchema(
          dp::Domain::Create(
              {dp::Attribute::Create("sex", dp::CategoricalKind{{"Female", "Male"}, "?"}).value()},
              {dp::Measure::Create("income", {0, 200'000, 100}, dp::Missing{{"", "?"}}, german).value(),
               dp::Measure::Create("change", {-1, 1, 0.1}).value()})
              .value(),
          dp::PersonUnit{"pid", 3})
          .value();
  EXPECT_EQ(HashOf(schema), "bee99b22cbd3a63156f2c3bae6cb2f524d97b0bbe1195549dc6d2d6c88d24f1c");
}

TEST(SchemaCodec, VersionThreeIsFrozen) {
  dp::Reading folded;
  folded.fold_case = true;
  folded.synonyms = {{"low", {"l", "little"}}};
  dp::Reading german;
  german.column = "Einkommen";
  german.decimal_sign = ',';
  german.thousands_separator = '.';
  dp::Reading formats;
  formats.date_formats = {"DD.MM.YYYY"};
  dp::Schema schema =
      dp::CreateSchema(
          dp::Domain::Create(
              {dp::Attribute::Create("pain", dp::CategoricalKind{{"none", "low"}, "other", true},
                                     dp::Missing{{"", "?"}, "unknown"}, folded)
                   .value(),
               dp::Attribute::Create("income", dp::IntegerKind{0, 9999, 1000}, dp::Missing{}, german).value(),
               dp::Attribute::Create("visit",
                                     dp::DateKind{.from = 0,
                                                  .until = 86'400,
                                                  .bins = dp::DateBins::kQuarter,
                                                  .edges = {},
                                                  .zone = "Europe/Berlin"},
                                     std::nullopt, formats)
                   .value()})
              .value(),
          dp::PersonUnit{"pid", 3})
          .value();
  schema.separator = '\t';
  schema.domain_from_records = true;
  EXPECT_EQ(HashOf(schema), "25df93ba83dfc97f29213f47e9763ea5a2614298b88d17d6a52c33234d138d8c");
}

TEST(SchemaCodec, VersionTwoIsFrozen) {
  const dp::Schema schema =
      dp::CreateSchema(
          dp::Domain::Create(
              {dp::Attribute::Create("sex", dp::CategoricalKind{{"Female", "Male"}, "?"}).value(),
               dp::Attribute::Create("score", dp::NumericKind{{}, dp::EvenSteps{-20, 40, 0.1}}).value()})
              .value(),
          dp::RecordUnit{}, dp::Nesting{"school", 1, 400})
          .value();
  EXPECT_EQ(HashOf(schema), "9293e52ed5c2dc6b37a33d0a37957f25d000e1081ae26ed0989d6591b7f1edf7");
}

// The bytes are hashed into ledgers: they may never change without a new version.
TEST(SchemaCodec, VersionOneIsFrozen) {
  const dp::Schema schema =
      dp::CreateSchema(
          dp::Domain::Create(
              {dp::Attribute::Create("sex", dp::CategoricalKind{{"Female", "Male"}, "?"}).value(),
               dp::Attribute::Create("age", dp::IntegerKind{17, 90, 5}).value(),
               dp::Attribute::Create("income", dp::NumericKind{{0, 0.1}}).value(),
               dp::Attribute::Create("zone", dp::CodedKind{7}).value()})
              .value(),
          dp::PersonUnit{"pid", 3})
          .value();
  EXPECT_EQ(HashOf(schema), "021e867515b8d6562273308da589ba26a144c6fe59ae69f6447f8247c6f627c6");
}

}  // namespace
}  // namespace curator::codec
