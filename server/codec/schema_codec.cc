#include "codec/schema_codec.h"

#include <cstdint>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "base/status_macros.h"
#include "codec/canonical_bytes.h"

namespace curator::codec {
namespace {

constexpr char kTag[] = "curator.schema";
constexpr int64_t kVersion = 1;

// Permanent: they are in stored documents.
enum KindTag : int64_t { kCategorical = 1, kInteger = 2, kNumeric = 3, kCoded = 4 };
enum UnitTag : int64_t { kRecord = 1, kPerson = 2, kGroup = 3 };

void WriteKind(CanonicalWriter& writer, const dp::CategoricalKind& kind) {
  writer.Integer(kCategorical);
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
  writer.Integer(kNumeric);
  writer.Integer(static_cast<int64_t>(kind.edges.size()));
  for (const double edge : kind.edges) writer.Real(edge);
}

void WriteKind(CanonicalWriter& writer, const dp::CodedKind& kind) {
  writer.Integer(kCoded);
  writer.Integer(kind.size);
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

dp::CategoricalKind ReadCategorical(CanonicalReader& reader) {
  dp::CategoricalKind kind;
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

dp::AttributeKind ReadKind(CanonicalReader& reader) {
  switch (reader.Integer()) {
    case kCategorical:
      return ReadCategorical(reader);
    case kInteger: {
      dp::IntegerKind kind;
      kind.min = reader.Integer();
      kind.max = reader.Integer();
      kind.bin_width = reader.Integer();
      return kind;
    }
    case kNumeric:
      return ReadNumeric(reader);
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

absl::StatusOr<dp::Schema> ReadSchema(std::string_view bytes) {
  CanonicalReader reader(bytes, kTag, kVersion);
  std::vector<std::pair<std::string, dp::AttributeKind>> declared;
  constexpr int64_t kLeastAttributeBytes = 3 * 8;  // a name, a kind's tag, its size
  for (int64_t left = reader.Count(kLeastAttributeBytes); left > 0; --left) {
    std::string name = reader.Text();
    declared.emplace_back(std::move(name), ReadKind(reader));
  }
  dp::PrivacyUnit unit = ReadUnit(reader);
  RETURN_IF_ERROR(reader.Finish());

  std::vector<dp::Attribute> attributes;
  for (auto& [name, kind] : declared) {
    ASSIGN_OR_RETURN(dp::Attribute attribute, dp::Attribute::Create(std::move(name), std::move(kind)));
    attributes.push_back(std::move(attribute));
  }
  ASSIGN_OR_RETURN(dp::Domain domain, dp::Domain::Create(std::move(attributes)));
  return dp::CreateSchema(std::move(domain), std::move(unit));
}

}  // namespace

std::string EncodeSchema(const dp::Schema& schema) {
  CanonicalWriter writer(kTag, kVersion);
  writer.Integer(static_cast<int64_t>(schema.domain.size()));
  for (const dp::Attribute& attribute : schema.domain.attributes()) {
    writer.Text(attribute.name());
    std::visit([&](const auto& kind) { WriteKind(writer, kind); }, attribute.kind());
  }
  std::visit([&](const auto& unit) { WriteUnit(writer, unit); }, schema.unit);
  return std::move(writer).Take();
}

absl::StatusOr<dp::Schema> DecodeSchema(std::string_view bytes) {
  absl::StatusOr<dp::Schema> schema = ReadSchema(bytes);
  // What is read must be what would be written: one schema has one encoding.
  if (!schema.ok() || EncodeSchema(*schema) != bytes) {
    return absl::DataLossError("a stored schema is malformed");
  }
  return schema;
}

}  // namespace curator::codec
