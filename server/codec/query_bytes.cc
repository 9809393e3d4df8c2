#include "codec/query_bytes.h"

#include <cstdint>
#include <variant>
#include <vector>

namespace curator::codec {
namespace {

void WriteGroup(CanonicalWriter& writer, const dp::QueryGroup& group) {
  WriteSet(writer, group.attributes);
  writer.Integer(static_cast<int64_t>(group.queries.index()));
  if (const auto* boxes = std::get_if<dp::Boxes>(&group.queries)) {
    writer.Integer(static_cast<int64_t>(boxes->sides.size()));
    for (const dp::CodeInterval& side : boxes->sides) writer.Integer(int64_t{side.first} << 32 | side.last);
  } else if (const auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&group.queries)) {
    writer.Integer(static_cast<int64_t>(queries->size()));
    for (const dp::LinearQuery& query : *queries) {
      writer.Integer(static_cast<int64_t>(query.size()));
      for (const dp::WeightedCell& term : query) {
        writer.Integer(term.cell);
        writer.Integer(term.weight);
      }
    }
  } else if (const auto* parity = std::get_if<dp::Parity>(&group.queries)) {
    writer.Integer(parity->weight);
  }
}

}  // namespace

void WriteSet(CanonicalWriter& writer, const dp::AttributeSet& set) {
  writer.Integer(static_cast<int64_t>(set.size()));
  for (const uint32_t attribute : set) writer.Integer(attribute);
}

void WriteGroups(CanonicalWriter& writer, std::span<const dp::QueryGroup> groups) {
  writer.Integer(static_cast<int64_t>(groups.size()));
  for (const dp::QueryGroup& group : groups) WriteGroup(writer, group);
}

dp::AttributeSet ReadSet(CanonicalReader& reader) {
  dp::AttributeSet set(static_cast<size_t>(reader.Count()));
  for (uint32_t& attribute : set) {
    const int64_t value = reader.Integer();
    if (value < 0 || value > UINT32_MAX) reader.Refuse();
    attribute = static_cast<uint32_t>(value);
  }
  return set;
}

void WriteNoise(CanonicalWriter& writer, const dp::NoiseSpec& noise) {
  writer.Integer(noise.mechanism == dp::Mechanism::kDiscreteLaplace ? 1 : 2);
  writer.Integer(noise.parameter.numerator);
  writer.Integer(noise.parameter.denominator);
}

dp::NoiseSpec ReadNoise(CanonicalReader& reader) {
  const int64_t mechanism = reader.Integer();
  if (mechanism != 1 && mechanism != 2) reader.Refuse();
  dp::NoiseSpec noise;
  noise.mechanism = mechanism == 1 ? dp::Mechanism::kDiscreteLaplace : dp::Mechanism::kDiscreteGaussian;
  noise.parameter.numerator = reader.Integer();
  noise.parameter.denominator = reader.Integer();
  if (noise.parameter.numerator < 0 || noise.parameter.denominator <= 0) reader.Refuse();
  return noise;
}

std::vector<int64_t> ReadValues(CanonicalReader& reader) {
  std::vector<int64_t> values(static_cast<size_t>(reader.Count()));
  for (int64_t& value : values) value = reader.Integer();
  return values;
}

void WriteValues(CanonicalWriter& writer, const std::vector<int64_t>& values) {
  writer.Integer(static_cast<int64_t>(values.size()));
  for (const int64_t value : values) writer.Integer(value);
}

void WriteLists(CanonicalWriter& writer, const std::vector<std::vector<int64_t>>& lists) {
  size_t numbers = 1;
  for (const std::vector<int64_t>& values : lists) numbers += 1 + values.size();
  writer.Expect(8 * numbers);
  writer.Integer(static_cast<int64_t>(lists.size()));
  for (const std::vector<int64_t>& values : lists) WriteValues(writer, values);
}

}  // namespace curator::codec
