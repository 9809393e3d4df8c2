#include "dp/domain/domain.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

constexpr size_t kMaxNearMisses = 3;
constexpr size_t kMaxComparedLength = 64;  // longer names are not worth the time of a comparison

// Levenshtein's distance between two short texts.
size_t EditDistance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), size_t{0});
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = std::exchange(row[0], i);
    for (size_t j = 1; j <= b.size(); ++j) {
      const size_t replaced = diagonal + (a[i - 1] == b[j - 1] ? 0 : 1);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, replaced});
    }
  }
  return row[b.size()];
}

std::string Lowered(std::string_view text) {
  std::string lowered(text);
  absl::AsciiStrToLower(&lowered);
  return lowered;
}

std::vector<std::string> NearMisses(const std::vector<Attribute>& attributes, std::string_view name) {
  if (name.empty() || name.size() > kMaxComparedLength) return {};
  const std::string wanted = Lowered(name);
  std::vector<std::string> near;
  for (const Attribute& attribute : attributes) {
    if (attribute.name().size() > kMaxComparedLength) continue;
    if (EditDistance(Lowered(attribute.name()), wanted) > 1 + wanted.size() / 4) continue;
    near.push_back(absl::StrCat("\"", attribute.name(), "\""));
    if (near.size() == kMaxNearMisses) break;
  }
  return near;
}

absl::Status CheckBoundedUnit(const Domain& domain, std::string_view field, const std::string& id_column,
                              int64_t max_records) {
  const std::string id_field = absl::StrCat(std::string(field), ".id_column");
  if (TrimBlanks(id_column).empty()) return InvalidField(id_field, "is empty");
  if (TrimBlanks(id_column).size() != id_column.size())
    return InvalidField(id_field, "begins or ends with a blank");
  if (id_column.size() > kMaxTextLength) {
    return InvalidField(id_field, absl::StrCat("has more than ", kMaxTextLength, " bytes"));
  }
  if (domain.IndexOf(id_column).ok()) {
    return InvalidField(id_field,
                        absl::StrCat("\"", id_column, "\" is an attribute; an id is never released"));
  }
  if (max_records < 1 || max_records > kMaxRecordsPerUnit) {
    return InvalidField(absl::StrCat(std::string(field), ".max_records"),
                        absl::StrCat("must be from 1 to ", kMaxRecordsPerUnit, ": got ", max_records));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Domain> Domain::Create(std::vector<Attribute> attributes) {
  if (attributes.empty()) return InvalidField("attributes", "is empty");
  if (attributes.size() > kMaxAttributes) {
    return InvalidField("attributes", absl::StrCat("has ", attributes.size(), " attributes; at most ",
                                                   kMaxAttributes, " are allowed"));
  }
  absl::flat_hash_map<std::string, size_t> seen;
  for (size_t i = 0; i < attributes.size(); ++i) {
    const auto [first, is_new] = seen.emplace(attributes[i].name(), i);
    if (!is_new) {
      return InvalidField(
          absl::StrCat("attributes[", i, "].name"),
          absl::StrCat("repeats attributes[", first->second, "], \"", attributes[i].name(), "\""));
    }
  }
  Domain domain;
  domain.attributes_ = std::move(attributes);
  return domain;
}

absl::StatusOr<uint32_t> Domain::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (attributes_[i].name() == name) return static_cast<uint32_t>(i);
  }
  std::string message =
      absl::StrCat("there is no attribute \"", std::string(name.substr(0, kMaxTextLength)), "\"");
  const std::vector<std::string> near = NearMisses(attributes_, name);
  if (!near.empty()) absl::StrAppend(&message, "; did you mean ", absl::StrJoin(near, " or "), "?");
  return absl::InvalidArgumentError(message);
}

std::optional<int64_t> Domain::CellCount(const AttributeSet& set) const {
  constexpr int64_t kLargest = int64_t{1} << 62;
  int64_t cells = 1;
  for (const uint32_t attribute : set) {
    if (attribute >= attributes_.size()) return std::nullopt;
    const int64_t size = attributes_[attribute].size();
    if (cells > kLargest / size) return std::nullopt;
    cells *= size;
  }
  return cells;
}

absl::Status Domain::CheckSet(const AttributeSet& set) const {
  for (size_t i = 0; i < set.size(); ++i) {
    if (set[i] >= attributes_.size()) {
      return absl::InvalidArgumentError(
          absl::StrCat("attribute ", set[i], " is not one of the ", attributes_.size(), " of the domain"));
    }
    if (i > 0 && set[i - 1] >= set[i])
      return absl::InvalidArgumentError("attributes of a set must rise strictly");
  }
  return absl::OkStatus();
}

absl::StatusOr<Schema> CreateSchema(Domain domain, PrivacyUnit unit) {
  if (const auto* person = std::get_if<PersonUnit>(&unit)) {
    RETURN_IF_ERROR(CheckBoundedUnit(domain, "unit.person", person->id_column, person->max_records));
  }
  if (const auto* group = std::get_if<GroupUnit>(&unit)) {
    const int64_t bound = group->max_records == kNoRecordBound ? 1 : group->max_records;
    RETURN_IF_ERROR(CheckBoundedUnit(domain, "unit.group", group->id_column, bound));
  }
  return Schema{.domain = std::move(domain), .unit = std::move(unit)};
}

std::optional<std::string> IdColumnOf(const PrivacyUnit& unit) {
  if (const auto* person = std::get_if<PersonUnit>(&unit)) return person->id_column;
  if (const auto* group = std::get_if<GroupUnit>(&unit)) return group->id_column;
  return std::nullopt;
}

UnitBound UnitBoundOf(const Schema& schema, NeighbourRelation relation) {
  UnitBound bound{.relation = relation, .max_records = 1};
  if (const auto* person = std::get_if<PersonUnit>(&schema.unit)) bound.max_records = person->max_records;
  if (const auto* group = std::get_if<GroupUnit>(&schema.unit)) bound.max_records = group->max_records;
  return bound;
}

}  // namespace curator::dp
