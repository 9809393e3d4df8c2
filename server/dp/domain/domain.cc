#include "dp/domain/domain.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>
#include <utility>

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

// The names of a domain, of many the first ones; "..." for a long name.
std::string SomeNames(const std::vector<Attribute>& attributes) {
  constexpr size_t kMostNamed = 10;
  std::vector<std::string> names;
  for (size_t i = 0; i < std::min(attributes.size(), kMostNamed); ++i)
    names.push_back(attributes[i].name().size() > kMaxComparedLength ? "..." : attributes[i].name());
  if (attributes.size() <= kMostNamed) return absl::StrJoin(names, ", ");
  return absl::StrCat(absl::StrJoin(names, ", "), " and ", attributes.size() - kMostNamed, " more");
}

absl::Status CheckIdColumn(const Domain& domain, std::string_view field, const std::string& id_column) {
  if (TrimBlanks(id_column).empty()) return InvalidField(field, "is empty");
  if (TrimBlanks(id_column).size() != id_column.size())
    return InvalidField(field, "begins or ends with a blank");
  if (id_column.size() > kMaxTextLength) {
    return InvalidField(field, absl::StrCat("has more than ", kMaxTextLength, " bytes"));
  }
  if (domain.IndexOf(id_column).ok())
    return InvalidField(field, absl::StrCat("\"", id_column, "\" is an attribute; an id is never released"));
  return absl::OkStatus();
}

absl::Status CheckRecordBound(std::string_view field, int64_t records) {
  if (records >= 1 && records <= kMaxRecordsPerUnit) return absl::OkStatus();
  return InvalidField(field, absl::StrCat("must be from 1 to ", kMaxRecordsPerUnit, ": got ", records));
}

absl::Status CheckBoundedUnit(const Domain& domain, const std::string& field, const std::string& id_column,
                              int64_t max_records) {
  RETURN_IF_ERROR(CheckIdColumn(domain, field + ".id_column", id_column));
  return CheckRecordBound(field + ".max_records", max_records);
}

// Records are the unit, and lie in groups.
absl::Status CheckRecordsInGroups(const Domain& domain, const Nesting& nesting) {
  RETURN_IF_ERROR(CheckIdColumn(domain, "nesting.group_column", nesting.group_column));
  if (nesting.max_group_size == kNoRecordBound) return absl::OkStatus();
  return CheckRecordBound("nesting.max_group_size", nesting.max_group_size);
}

absl::Status CheckGroupsAsUnits(const GroupUnit& group, const Nesting& nesting) {
  if (nesting.group_column != group.id_column) {
    return InvalidField("nesting.group_column",
                        absl::StrCat("must be the id column of the privacy unit, \"", group.id_column,
                                     "\": got \"", nesting.group_column, "\""));
  }
  if (nesting.max_group_size == kNoRecordBound) return absl::OkStatus();
  return InvalidField("nesting.max_group_size",
                      "a group that is the privacy unit has unit.group.max_records");
}

absl::Status CheckNesting(const Domain& domain, const PrivacyUnit& unit, const Nesting& nesting) {
  if (nesting.response >= domain.size())
    return InvalidField("nesting.response", "is not one of the attributes");
  const Attribute& response = domain.attributes()[nesting.response];
  if (!std::holds_alternative<IntegerKind>(response.kind()) &&
      !std::holds_alternative<NumericKind>(response.kind())) {
    return InvalidField(
        "nesting.response",
        absl::StrCat("\"", response.name(), "\" does not stand for numbers: it must be integer or numeric"));
  }
  if (response.missing_code()) {
    return InvalidField(
        "nesting.response",
        absl::StrCat("\"", response.name(), "\" has a bin for missing values, which stands for no number"));
  }
  if (std::holds_alternative<PersonUnit>(unit)) {
    return InvalidField("nesting",
                        "a person's records may lie in several groups, and no bound is known of what they "
                        "change together: the privacy unit of nested data is the record or the group");
  }
  if (const auto* group = std::get_if<GroupUnit>(&unit)) return CheckGroupsAsUnits(*group, nesting);
  return CheckRecordsInGroups(domain, nesting);
}

// In files; the id column's name is no attribute's name, and may not be an attribute's column.
absl::Status CheckColumns(const Domain& domain, const std::optional<std::string>& id_column) {
  std::unordered_map<std::string, std::string> read_from;
  for (size_t i = 0; i < domain.size(); ++i) {
    const Attribute& attribute = domain.attributes()[i];
    const std::string field = absl::StrCat("attributes[", i, "].reading.column");
    if (attribute.column() == id_column)
      return InvalidField(
          field, absl::StrCat("\"", *id_column, "\" is the column of ids, which are never released"));
    const auto [first, is_new] = read_from.emplace(attribute.column(), attribute.name());
    if (!is_new)
      return InvalidField(
          field, absl::StrCat("\"", attribute.column(), "\" is read by \"", first->second, "\", too"));
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
  std::unordered_map<std::string, size_t> seen;
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
  if (near.empty()) {
    absl::StrAppend(&message, "; there are: ", SomeNames(attributes_));
  } else {
    absl::StrAppend(&message, "; did you mean ", absl::StrJoin(near, " or "), "?");
  }
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

std::vector<int64_t> Domain::SizesOf(const AttributeSet& set) const {
  std::vector<int64_t> sizes;
  sizes.reserve(set.size());
  for (const uint32_t attribute : set) sizes.push_back(attributes_[attribute].size());
  return sizes;
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

absl::StatusOr<Schema> CreateSchema(Domain domain, PrivacyUnit unit, std::optional<Nesting> nesting) {
  if (const auto* person = std::get_if<PersonUnit>(&unit)) {
    RETURN_IF_ERROR(CheckBoundedUnit(domain, "unit.person", person->id_column, person->max_records));
  }
  if (const auto* group = std::get_if<GroupUnit>(&unit)) {
    const int64_t bound = group->max_records == kNoRecordBound ? 1 : group->max_records;
    RETURN_IF_ERROR(CheckBoundedUnit(domain, "unit.group", group->id_column, bound));
    if (nesting && nesting->group_column.empty()) nesting->group_column = group->id_column;
  }
  if (nesting) RETURN_IF_ERROR(CheckNesting(domain, unit, *nesting));
  Schema schema{.domain = std::move(domain), .unit = std::move(unit), .nesting = std::move(nesting)};
  RETURN_IF_ERROR(CheckColumns(schema.domain, IdColumnOf(schema)));
  return schema;
}

std::optional<std::string> IdColumnOf(const PrivacyUnit& unit) {
  if (const auto* person = std::get_if<PersonUnit>(&unit)) return person->id_column;
  if (const auto* group = std::get_if<GroupUnit>(&unit)) return group->id_column;
  return std::nullopt;
}

std::optional<std::string> IdColumnOf(const Schema& schema) {
  if (std::optional<std::string> of_unit = IdColumnOf(schema.unit)) return of_unit;
  if (schema.nesting) return schema.nesting->group_column;
  return std::nullopt;
}

UnitBound UnitBoundOf(const Schema& schema, NeighbourRelation relation) {
  UnitBound bound{.relation = relation, .max_records = 1};
  if (const auto* person = std::get_if<PersonUnit>(&schema.unit)) bound.max_records = person->max_records;
  if (const auto* group = std::get_if<GroupUnit>(&schema.unit)) bound.max_records = group->max_records;
  return bound;
}

}  // namespace curator::dp
