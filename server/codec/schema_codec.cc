#include "codec/schema_codec.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::codec {
namespace {

constexpr char kTag[] = "curator.schema";
// A schema without the features of version 2 (even steps, a nesting) is encoded in version 1, so that it
// keeps its bytes and hash.
constexpr int64_t kFirstVersion = 1;
constexpr int64_t kSecondVersion = 2;
// Its attributes also say which cells are missing and how cells are written, and the schema ends with the
// separator and with whether the domain is from records. Dates and ordered categories need it.
constexpr int64_t kThirdVersion = 3;
// It ends with the measures. A schema without any is encoded in an earlier one.
constexpr int64_t kFourthVersion = 4;
// It ends with the measures, then the constraints. A schema without constraints is encoded in an earlier one.
constexpr int64_t kFifthVersion = 5;
// Its nesting ends with the attributes of groups. A schema without any is encoded in an earlier one.
constexpr int64_t kSixthVersion = 6;

// Permanent: stored documents contain them.
enum KindTag : int64_t {
  kCategorical = 1,
  kInteger = 2,
  kNumeric = 3,
  kCoded = 4,
  kEvenNumeric = 5,
  kDate = 6,
  kOrdered = 7
};
enum RuleTag : int64_t { kOrder = 1, kPairs = 2 };
enum UnitTag : int64_t { kRecord = 1, kPerson = 2, kGroup = 3 };

void WriteKind(CanonicalWriter& writer, const dp::CategoricalKind& kind) {
  writer.Integer(kind.ordered ? kOrdered : kCategorical);
  writer.Integer(static_cast<int64_t>(kind.values.size()));
  for (const std::string& value : kind.values) writer.Text(value);
  writer.Integer(kind.catch_all ? 1 : 0);
  if (kind.catch_all) writer.Text(*kind.catch_all);
}

void WriteKind(CanonicalWriter& writer, const dp::IntegerKind& kind) {
  writer.Integer(kInteger);
  writer.Integer(kind.min);
  writer.Integer(kind.max);
  writer.Integer(kind.bin_width);
}

void WriteKind(CanonicalWriter& writer, const dp::NumericKind& kind) {
  if (kind.even) {
    writer.Integer(kEvenNumeric);
    for (const double number : {kind.even->min, kind.even->max, kind.even->step}) writer.Real(number);
    return;
  }
  writer.Integer(kNumeric);
  writer.Integer(static_cast<int64_t>(kind.edges.size()));
  for (const double edge : kind.edges) writer.Real(edge);
}

void WriteKind(CanonicalWriter& writer, const dp::CodedKind& kind) {
  writer.Integer(kCoded);
  writer.Integer(kind.size);
}

void WriteKind(CanonicalWriter& writer, const dp::DateKind& kind) {
  writer.Integer(kDate);
  writer.Integer(kind.from);
  writer.Integer(kind.until);
  writer.Integer(static_cast<int64_t>(kind.bins));
  writer.Integer(static_cast<int64_t>(kind.edges.size()));
  for (const int64_t edge : kind.edges) writer.Integer(edge);
  writer.Text(kind.zone);
}

void WriteTexts(CanonicalWriter& writer, const std::vector<std::string>& texts) {
  writer.Integer(static_cast<int64_t>(texts.size()));
  for (const std::string& text : texts) writer.Text(text);
}

// Of an attribute or a measure.
void WriteCells(CanonicalWriter& writer, const std::optional<dp::Missing>& missing,
                const dp::Reading& reading) {
  writer.Integer(missing ? 1 : 0);
  if (missing) {
    WriteTexts(writer, missing->tokens);
    writer.Integer(missing->bin ? 1 : 0);
    if (missing->bin) writer.Text(*missing->bin);
  }
  writer.Text(reading.column);
  writer.Integer(reading.fold_case ? 1 : 0);
  writer.Integer(static_cast<int64_t>(reading.synonyms.size()));
  for (const dp::Synonym& synonym : reading.synonyms) {
    writer.Text(synonym.value);
    WriteTexts(writer, synonym.texts);
  }
  writer.Integer(reading.decimal_sign);
  writer.Integer(reading.thousands_separator);
  WriteTexts(writer, reading.date_formats);
}

void WriteMeasures(CanonicalWriter& writer, const std::vector<dp::Measure>& measures) {
  writer.Integer(static_cast<int64_t>(measures.size()));
  for (const dp::Measure& measure : measures) {
    writer.Text(measure.name());
    const dp::EvenSteps& bounds = measure.bounds();
    for (const double number : {bounds.min, bounds.max, bounds.step}) writer.Real(number);
    WriteCells(writer, measure.missing(), measure.reading());
  }
}

void WriteRule(CanonicalWriter& writer, const dp::OrderRule& rule) {
  writer.Integer(kOrder);
  writer.Integer(rule.lower);
  writer.Integer(rule.upper);
  writer.Integer(rule.strict ? 1 : 0);
}

void WriteRule(CanonicalWriter& writer, const dp::PairsRule& rule) {
  writer.Integer(kPairs);
  for (const uint32_t attribute : rule.attributes) writer.Integer(attribute);
  writer.Integer(static_cast<int64_t>(rule.allowed.size()));
  for (const auto& [first, second] : rule.allowed) {
    writer.Integer(first);
    writer.Integer(second);
  }
}

void WriteConstraints(CanonicalWriter& writer, const std::vector<dp::Constraint>& constraints) {
  writer.Integer(static_cast<int64_t>(constraints.size()));
  for (const dp::Constraint& constraint : constraints)
    std::visit([&](const auto& rule) { WriteRule(writer, rule); }, constraint.rule());
}

void WriteUnit(CanonicalWriter& writer, const dp::RecordUnit&) {
  writer.Integer(kRecord);
}

void WriteUnit(CanonicalWriter& writer, const dp::PersonUnit& unit) {
  writer.Integer(kPerson);
  writer.Text(unit.id_column);
  writer.Integer(unit.max_records);
}

void WriteUnit(CanonicalWriter& writer, const dp::GroupUnit& unit) {
  writer.Integer(kGroup);
  writer.Text(unit.id_column);
  writer.Integer(unit.max_records);
}

void WriteNesting(CanonicalWriter& writer, const std::optional<dp::Nesting>& nesting, int64_t version) {
  writer.Integer(nesting ? 1 : 0);
  if (!nesting) return;
  writer.Text(nesting->group_column);
  writer.Integer(nesting->response);
  writer.Integer(nesting->max_group_size);
  if (version < kSixthVersion) return;
  writer.Integer(static_cast<int64_t>(nesting->group_attributes.size()));
  for (const uint32_t attribute : nesting->group_attributes) writer.Integer(attribute);
}

bool NeedsThirdVersion(const dp::Attribute& attribute) {
  const auto* categorical = std::get_if<dp::CategoricalKind>(&attribute.kind());
  return attribute.missing() || attribute.reading() != dp::Reading{} ||
         std::holds_alternative<dp::DateKind>(attribute.kind()) ||
         (categorical != nullptr && categorical->ordered);
}

bool NeedsSecondVersion(const dp::Attribute& attribute) {
  const auto* numeric = std::get_if<dp::NumericKind>(&attribute.kind());
  return numeric != nullptr && numeric->even.has_value();
}

// The first that can encode it.
int64_t VersionOf(const dp::Schema& schema) {
  if (schema.nesting && !schema.nesting->group_attributes.empty()) return kSixthVersion;
  if (!schema.domain.constraints().empty()) return kFifthVersion;
  if (!schema.domain.measures().empty()) return kFourthVersion;
  const std::vector<dp::Attribute>& attributes = schema.domain.attributes();
  if (schema.separator != ',' || schema.domain_from_records ||
      std::ranges::any_of(attributes, NeedsThirdVersion))
    return kThirdVersion;
  if (schema.nesting || std::ranges::any_of(attributes, NeedsSecondVersion)) return kSecondVersion;
  return kFirstVersion;
}

int64_t VersionOf(std::string_view bytes) {
  for (const int64_t version :
       {kSixthVersion, kFifthVersion, kFourthVersion, kThirdVersion, kSecondVersion}) {
    if (CanonicalReader(bytes, kTag, version).ok()) return version;
  }
  return kFirstVersion;
}

// 0 or 1.
bool ReadFlag(CanonicalReader& reader) {
  const int64_t flag = reader.Integer();
  if (flag != 0 && flag != 1) reader.Refuse();
  return flag == 1;
}

char ReadCharacter(CanonicalReader& reader) {
  const int64_t code = reader.Integer();
  if (code < 0 || code > 127) reader.Refuse();
  return static_cast<char>(code);
}

// Between the columns of files.
char ReadSeparator(CanonicalReader& reader) {
  const char separator = ReadCharacter(reader);
  if (std::string_view(",;|\t").find(separator) == std::string_view::npos) reader.Refuse();
  return separator;
}

std::vector<std::string> ReadTexts(CanonicalReader& reader) {
  std::vector<std::string> texts;
  for (int64_t left = reader.Count(); left > 0; --left) texts.push_back(reader.Text());
  return texts;
}

dp::DateKind ReadDate(CanonicalReader& reader) {
  dp::DateKind kind;
  kind.from = reader.Integer();
  kind.until = reader.Integer();
  const int64_t bins = reader.Integer();
  if (bins < 0 || bins > static_cast<int64_t>(dp::DateBins::kListed)) reader.Refuse();
  kind.bins = static_cast<dp::DateBins>(bins);
  for (int64_t left = reader.Count(); left > 0; --left) kind.edges.push_back(reader.Integer());
  kind.zone = reader.Text();
  return kind;
}

std::optional<dp::Missing> ReadMissing(CanonicalReader& reader) {
  if (!ReadFlag(reader)) return std::nullopt;
  dp::Missing missing{.tokens = ReadTexts(reader), .bin = std::nullopt};
  if (ReadFlag(reader)) missing.bin = reader.Text();
  return missing;
}

dp::Reading ReadReading(CanonicalReader& reader) {
  dp::Reading reading;
  reading.column = reader.Text();
  reading.fold_case = ReadFlag(reader);
  for (int64_t left = reader.Count(); left > 0; --left) {
    std::string value = reader.Text();
    reading.synonyms.push_back({std::move(value), ReadTexts(reader)});
  }
  reading.decimal_sign = ReadCharacter(reader);
  reading.thousands_separator = ReadCharacter(reader);
  reading.date_formats = ReadTexts(reader);
  return reading;
}

dp::CategoricalKind ReadCategorical(CanonicalReader& reader, bool ordered) {
  dp::CategoricalKind kind{.values = {}, .catch_all = std::nullopt, .ordered = ordered};
  for (int64_t left = reader.Count(); left > 0; --left) kind.values.push_back(reader.Text());
  const int64_t has_catch_all = reader.Integer();
  if (has_catch_all == 1) kind.catch_all = reader.Text();
  if (has_catch_all != 0 && has_catch_all != 1) reader.Refuse();
  return kind;
}

dp::NumericKind ReadNumeric(CanonicalReader& reader) {
  dp::NumericKind kind;
  for (int64_t left = reader.Count(); left > 0; --left) kind.edges.push_back(reader.Real());
  return kind;
}

dp::EvenSteps ReadSteps(CanonicalReader& reader) {
  dp::EvenSteps steps;
  steps.min = reader.Real();
  steps.max = reader.Real();
  steps.step = reader.Real();
  return steps;
}

dp::AttributeKind ReadKind(CanonicalReader& reader) {
  switch (reader.Integer()) {
    case kCategorical:
      return ReadCategorical(reader, false);
    case kOrdered:
      return ReadCategorical(reader, true);
    case kDate:
      return ReadDate(reader);
    case kInteger: {
      dp::IntegerKind kind;
      kind.min = reader.Integer();
      kind.max = reader.Integer();
      kind.bin_width = reader.Integer();
      return kind;
    }
    case kNumeric:
      return ReadNumeric(reader);
    case kEvenNumeric:
      return dp::NumericKind{.edges = {}, .even = ReadSteps(reader)};
    case kCoded:
      return dp::CodedKind{.size = reader.Integer()};
    default:
      reader.Refuse();
      return {};
  }
}

dp::PrivacyUnit ReadUnit(CanonicalReader& reader) {
  switch (reader.Integer()) {
    case kRecord:
      return dp::RecordUnit{};
    case kPerson: {
      std::string id_column = reader.Text();
      return dp::PersonUnit{.id_column = std::move(id_column), .max_records = reader.Integer()};
    }
    case kGroup: {
      std::string id_column = reader.Text();
      return dp::GroupUnit{.id_column = std::move(id_column), .max_records = reader.Integer()};
    }
    default:
      reader.Refuse();
      return {};
  }
}

// Of an attribute or a code.
uint32_t ReadNumber(CanonicalReader& reader) {
  const int64_t number = reader.Integer();
  if (number < 0 || number > std::numeric_limits<uint32_t>::max()) reader.Refuse();
  return static_cast<uint32_t>(number);
}

std::optional<dp::Nesting> ReadNesting(CanonicalReader& reader, int64_t version) {
  const int64_t is_nested = reader.Integer();
  if (is_nested == 0) return std::nullopt;
  dp::Nesting nesting;
  nesting.group_column = reader.Text();
  const int64_t response = reader.Integer();
  nesting.max_group_size = reader.Integer();
  if (is_nested != 1 || response < 0 || response > std::numeric_limits<uint32_t>::max()) reader.Refuse();
  nesting.response = static_cast<uint32_t>(response);
  if (version < kSixthVersion) return nesting;
  for (int64_t left = reader.Count(8); left > 0; --left)
    nesting.group_attributes.push_back(ReadNumber(reader));
  return nesting;
}

struct DeclaredAttribute {
  std::string name;
  dp::AttributeKind kind;
  std::optional<dp::Missing> missing;
  dp::Reading reading;
};

DeclaredAttribute ReadAttribute(CanonicalReader& reader, int64_t version) {
  DeclaredAttribute declared;
  declared.name = reader.Text();
  declared.kind = ReadKind(reader);
  if (version < kThirdVersion) return declared;
  declared.missing = ReadMissing(reader);
  declared.reading = ReadReading(reader);
  return declared;
}

struct DeclaredMeasure {
  std::string name;
  dp::EvenSteps bounds;
  std::optional<dp::Missing> missing;
  dp::Reading reading;
};

std::vector<DeclaredMeasure> ReadMeasures(CanonicalReader& reader) {
  std::vector<DeclaredMeasure> measures;
  constexpr int64_t kLeastMeasureBytes = 8 * 8;  // a name, three numbers, and how cells are read
  for (int64_t left = reader.Count(kLeastMeasureBytes); left > 0; --left) {
    DeclaredMeasure declared;
    declared.name = reader.Text();
    declared.bounds = ReadSteps(reader);
    declared.missing = ReadMissing(reader);
    declared.reading = ReadReading(reader);
    measures.push_back(std::move(declared));
  }
  return measures;
}

dp::OrderRule ReadOrder(CanonicalReader& reader) {
  dp::OrderRule rule;
  rule.lower = ReadNumber(reader);
  rule.upper = ReadNumber(reader);
  rule.strict = ReadFlag(reader);
  return rule;
}

dp::PairsRule ReadPairs(CanonicalReader& reader) {
  dp::PairsRule rule;
  for (uint32_t& attribute : rule.attributes) attribute = ReadNumber(reader);
  constexpr int64_t kPairBytes = 2 * 8;
  for (int64_t left = reader.Count(kPairBytes); left > 0; --left) {
    const uint32_t first = ReadNumber(reader);
    rule.allowed.push_back({first, ReadNumber(reader)});
  }
  return rule;
}

std::vector<dp::ConstraintRule> ReadConstraints(CanonicalReader& reader) {
  std::vector<dp::ConstraintRule> rules;
  constexpr int64_t kLeastRuleBytes = 4 * 8;  // a tag, two attributes, and what is between them
  for (int64_t left = reader.Count(kLeastRuleBytes); left > 0; --left) {
    switch (reader.Integer()) {
      case kOrder:
        rules.emplace_back(ReadOrder(reader));
        break;
      case kPairs:
        rules.emplace_back(ReadPairs(reader));
        break;
      default:
        reader.Refuse();
    }
  }
  return rules;
}

absl::StatusOr<dp::Domain> DomainOf(std::vector<DeclaredAttribute> attributes,
                                    std::vector<DeclaredMeasure> measures,
                                    std::vector<dp::ConstraintRule> rules) {
  std::vector<dp::Attribute> created;
  for (DeclaredAttribute& one : attributes) {
    ASSIGN_OR_RETURN(dp::Attribute attribute,
                     dp::Attribute::Create(std::move(one.name), std::move(one.kind), std::move(one.missing),
                                           std::move(one.reading)));
    created.push_back(std::move(attribute));
  }
  std::vector<dp::Measure> columns;
  for (DeclaredMeasure& one : measures) {
    ASSIGN_OR_RETURN(
        dp::Measure measure,
        dp::Measure::Create(std::move(one.name), one.bounds, std::move(one.missing), std::move(one.reading)));
    columns.push_back(std::move(measure));
  }
  ASSIGN_OR_RETURN(dp::Domain domain, dp::Domain::Create(std::move(created), std::move(columns)));
  if (rules.empty()) return domain;
  return domain.WithConstraints(std::move(rules));
}

absl::StatusOr<dp::Schema> ReadSchema(std::string_view bytes) {
  const int64_t version = VersionOf(bytes);
  CanonicalReader reader(bytes, kTag, version);
  std::vector<DeclaredAttribute> declared;
  constexpr int64_t kLeastAttributeBytes = 3 * 8;  // a name, a kind's tag, its size
  for (int64_t left = reader.Count(kLeastAttributeBytes); left > 0; --left)
    declared.push_back(ReadAttribute(reader, version));
  dp::PrivacyUnit unit = ReadUnit(reader);
  std::optional<dp::Nesting> nesting =
      version >= kSecondVersion ? ReadNesting(reader, version) : std::nullopt;
  const char separator = version >= kThirdVersion ? ReadSeparator(reader) : ',';
  const bool domain_from_records = version >= kThirdVersion && ReadFlag(reader);
  std::vector<DeclaredMeasure> measures;
  if (version >= kFourthVersion) measures = ReadMeasures(reader);
  std::vector<dp::ConstraintRule> rules;
  if (version >= kFifthVersion) rules = ReadConstraints(reader);
  RETURN_IF_ERROR(reader.Finish());

  ASSIGN_OR_RETURN(dp::Domain domain, DomainOf(std::move(declared), std::move(measures), std::move(rules)));
  ASSIGN_OR_RETURN(dp::Schema schema,
                   dp::CreateSchema(std::move(domain), std::move(unit), std::move(nesting)));
  schema.separator = separator;
  schema.domain_from_records = domain_from_records;
  return schema;
}

}  // namespace

std::string EncodeSchema(const dp::Schema& schema) {
  const int64_t version = VersionOf(schema);
  CanonicalWriter writer(kTag, version);
  writer.Integer(static_cast<int64_t>(schema.domain.size()));
  for (const dp::Attribute& attribute : schema.domain.attributes()) {
    writer.Text(attribute.name());
    std::visit([&](const auto& kind) { WriteKind(writer, kind); }, attribute.kind());
    if (version >= kThirdVersion) WriteCells(writer, attribute.missing(), attribute.reading());
  }
  std::visit([&](const auto& unit) { WriteUnit(writer, unit); }, schema.unit);
  if (version >= kSecondVersion) WriteNesting(writer, schema.nesting, version);
  if (version >= kThirdVersion) {
    writer.Integer(schema.separator);
    writer.Integer(schema.domain_from_records ? 1 : 0);
  }
  if (version >= kFourthVersion) WriteMeasures(writer, schema.domain.measures());
  if (version >= kFifthVersion) WriteConstraints(writer, schema.domain.constraints());
  return std::move(writer).Take();
}

absl::StatusOr<dp::Schema> DecodeSchema(std::string_view bytes) {
  absl::StatusOr<dp::Schema> schema = ReadSchema(bytes);
  // Decoded documents must encode to the same bytes: each schema has one encoding.
  if (!schema.ok() || EncodeSchema(*schema) != bytes) {
    return absl::DataLossError("a stored schema is malformed");
  }
  return schema;
}

}  // namespace curator::codec
