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

// Permanent: stored documents contain them.
enum KindTag : int64_t { kCategorical = 1, kInteger = 2, kNumeric = 3, kCoded = 4, kEvenNumeric = 5 };
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

void WriteNesting(CanonicalWriter& writer, const std::optional<dp::Nesting>& nesting) {
  writer.Integer(nesting ? 1 : 0);
  if (!nesting) return;
  writer.Text(nesting->group_column);
  writer.Integer(nesting->response);
  writer.Integer(nesting->max_group_size);
}

// Whether version 1 cannot encode it.
bool NeedsSecondVersion(const dp::Schema& schema) {
  if (schema.nesting) return true;
  return std::ranges::any_of(schema.domain.attributes(), [](const dp::Attribute& attribute) {
    const auto* numeric = std::get_if<dp::NumericKind>(&attribute.kind());
    return numeric != nullptr && numeric->even.has_value();
  });
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
    case kEvenNumeric: {
      dp::EvenSteps even;
      even.min = reader.Real();
      even.max = reader.Real();
      even.step = reader.Real();
      return dp::NumericKind{.edges = {}, .even = even};
    }
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

std::optional<dp::Nesting> ReadNesting(CanonicalReader& reader) {
  const int64_t is_nested = reader.Integer();
  if (is_nested == 0) return std::nullopt;
  dp::Nesting nesting;
  nesting.group_column = reader.Text();
  const int64_t response = reader.Integer();
  nesting.max_group_size = reader.Integer();
  if (is_nested != 1 || response < 0 || response > std::numeric_limits<uint32_t>::max()) reader.Refuse();
  nesting.response = static_cast<uint32_t>(response);
  return nesting;
}

absl::StatusOr<dp::Schema> ReadSchema(std::string_view bytes) {
  const bool is_second = CanonicalReader(bytes, kTag, kSecondVersion).ok();
  CanonicalReader reader(bytes, kTag, is_second ? kSecondVersion : kFirstVersion);
  std::vector<std::pair<std::string, dp::AttributeKind>> declared;
  constexpr int64_t kLeastAttributeBytes = 3 * 8;  // a name, a kind's tag, its size
  for (int64_t left = reader.Count(kLeastAttributeBytes); left > 0; --left) {
    std::string name = reader.Text();
    declared.emplace_back(std::move(name), ReadKind(reader));
  }
  dp::PrivacyUnit unit = ReadUnit(reader);
  std::optional<dp::Nesting> nesting = is_second ? ReadNesting(reader) : std::nullopt;
  RETURN_IF_ERROR(reader.Finish());

  std::vector<dp::Attribute> attributes;
  for (auto& [name, kind] : declared) {
    ASSIGN_OR_RETURN(dp::Attribute attribute, dp::Attribute::Create(std::move(name), std::move(kind)));
    attributes.push_back(std::move(attribute));
  }
  ASSIGN_OR_RETURN(dp::Domain domain, dp::Domain::Create(std::move(attributes)));
  return dp::CreateSchema(std::move(domain), std::move(unit), std::move(nesting));
}

}  // namespace

std::string EncodeSchema(const dp::Schema& schema) {
  const bool is_second = NeedsSecondVersion(schema);
  CanonicalWriter writer(kTag, is_second ? kSecondVersion : kFirstVersion);
  writer.Integer(static_cast<int64_t>(schema.domain.size()));
  for (const dp::Attribute& attribute : schema.domain.attributes()) {
    writer.Text(attribute.name());
    std::visit([&](const auto& kind) { WriteKind(writer, kind); }, attribute.kind());
  }
  std::visit([&](const auto& unit) { WriteUnit(writer, unit); }, schema.unit);
  if (is_second) WriteNesting(writer, schema.nesting);
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
