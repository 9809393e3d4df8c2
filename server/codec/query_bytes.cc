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

}  // namespace curator::codec
