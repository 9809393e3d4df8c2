#include "dp/domain/domain.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/cell_reading.h"
#include "dp/domain/near_names.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

absl::Status CheckIdColumn(const Domain& domain, std::string_view field, const std::string& id_column) {
  if (TrimBlanks(id_column).empty()) return InvalidField(field, "is empty");
  if (TrimBlanks(id_column).size() != id_column.size())
    return InvalidField(field, "begins or ends with a blank");
  if (id_column.size() > kMaxTextLength) {
    return InvalidField(field, absl::StrCat("has more than ", kMaxTextLength, " bytes"));
  }
  if (domain.IndexOf(id_column).ok())
    return InvalidField(field, absl::StrCat("\"", id_column, "\" is an attribute; an id is never released"));
  const auto is_id = [&id_column](const Measure& measure) { return measure.name() == id_column; };
  if (std::ranges::any_of(domain.measures(), is_id))
    return InvalidField(field, absl::StrCat("\"", id_column, "\" is a measure; an id is never released"));
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

// What describes a group is an attribute, and not what is measured of its records.
absl::Status CheckGroupAttributes(const Domain& domain, const Nesting& nesting) {
  const AttributeSet& set = nesting.group_attributes;
  if (set.empty()) return absl::OkStatus();
  if (absl::Status known = domain.CheckSet(set); !known.ok())
    return InvalidField("nesting.group_attributes", std::string(known.message()));
  if (!std::ranges::binary_search(set, nesting.response)) return absl::OkStatus();
  return InvalidField("nesting.group_attributes",
                      absl::StrCat("has the response, \"", domain.attributes()[nesting.response].name(),
                                   "\", which differs between the records of a group"));
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
  RETURN_IF_ERROR(CheckGroupAttributes(domain, nesting));
  if (std::holds_alternative<PersonUnit>(unit)) {
    return InvalidField("nesting",
                        "a person's records may lie in several groups, and no bound is known of what they "
                        "change together: the privacy unit of nested data is the record or the group");
  }
  if (const auto* group = std::get_if<GroupUnit>(&unit)) return CheckGroupsAsUnits(*group, nesting);
  return CheckRecordsInGroups(domain, nesting);
}

// In files, of the attributes or of the measures, which are `list`. The id column's name is none of their
// names, and may not be one's column; nor may two of a list read one column.
template <typename Columns>
absl::Status CheckColumns(const std::string& list, const Columns& columns,
                          const std::optional<std::string>& id_column) {
  std::unordered_map<std::string, std::string> read_from;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string field = absl::StrCat(list, "[", i, "].reading.column");
    if (columns[i].column() == id_column)
      return InvalidField(
          field, absl::StrCat("\"", *id_column, "\" is the column of ids, which are never released"));
    const auto [first, is_new] = read_from.emplace(columns[i].column(), columns[i].name());
    if (!is_new)
      return InvalidField(
          field, absl::StrCat("\"", columns[i].column(), "\" is read by \"", first->second, "\", too"));
  }
  return absl::OkStatus();
}

bool HasNumbers(const Attribute& attribute) {
  return !std::holds_alternative<CategoricalKind>(attribute.kind()) &&
         !std::holds_alternative<DateKind>(attribute.kind());
}

// A column that is read as an attribute and as a measure is written in one way.
absl::Status CheckSigns(const Domain& domain) {
  std::unordered_map<std::string_view, const Attribute*> readers;
  for (const Attribute& attribute : domain.attributes()) readers.emplace(attribute.column(), &attribute);
  for (size_t i = 0; i < domain.measures().size(); ++i) {
    const Measure& measure = domain.measures()[i];
    const auto reader = readers.find(measure.column());
    if (reader == readers.end() || !HasNumbers(*reader->second)) continue;
    if (StyleOf(reader->second->reading()) == StyleOf(measure.reading())) continue;
    return InvalidField(
        absl::StrCat("measures[", i, "].reading"),
        absl::StrCat("\"", measure.column(), "\" is read by the attribute \"", reader->second->name(),
                     "\", too, with another decimal sign or thousands separator; a column is "
                     "written in one way"));
  }
  return absl::OkStatus();
}

// Of the attributes or the measures, which are `list`.
template <typename Columns>
absl::Status CheckNames(const std::string& list, const Columns& columns, size_t most) {
  if (columns.size() > most) {
    return InvalidField(list,
                        absl::StrCat("has ", columns.size(), " ", list, "; at most ", most, " are allowed"));
  }
  std::unordered_map<std::string_view, size_t> seen;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [first, is_new] = seen.emplace(columns[i].name(), i);
    if (is_new) continue;
    return InvalidField(absl::StrCat(list, "[", i, "].name"),
                        absl::StrCat("repeats ", list, "[", first->second, "], \"", columns[i].name(), "\""));
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<Domain> Domain::Create(std::vector<Attribute> attributes, std::vector<Measure> measures) {
  if (attributes.empty()) return InvalidField("attributes", "is empty");
  RETURN_IF_ERROR(CheckNames("attributes", attributes, kMaxAttributes));
  RETURN_IF_ERROR(CheckNames("measures", measures, kMaxMeasures));
  Domain domain;
  domain.attributes_ = std::move(attributes);
  domain.measures_ = std::move(measures);
  return domain;
}

absl::StatusOr<Domain> Domain::WithConstraints(std::vector<ConstraintRule> rules) const {
  if (rules.size() > kMaxConstraints) {
    return InvalidField("constraints", absl::StrCat("has ", rules.size(), " constraints; at most ",
                                                    kMaxConstraints, " are allowed"));
  }
  Domain domain = *this;
  domain.constraints_.clear();
  for (size_t i = 0; i < rules.size(); ++i) {
    const std::string field = absl::StrCat("constraints[", i, "]");
    absl::StatusOr<Constraint> constraint = Constraint::Create(attributes_, std::move(rules[i]));
    if (!constraint.ok()) return WithinField(field, constraint.status());
    const auto first = std::ranges::find(domain.constraints_, *constraint);
    if (first != domain.constraints_.end()) {
      return InvalidField(field,
                          absl::StrCat("repeats constraints[", first - domain.constraints_.begin(), "]"));
    }
    domain.constraints_.push_back(*std::move(constraint));
  }
  return domain;
}

absl::StatusOr<uint32_t> Domain::IndexOf(std::string_view name) const {
  for (size_t i = 0; i < attributes_.size(); ++i) {
    if (attributes_[i].name() == name) return static_cast<uint32_t>(i);
  }
  const bool is_measure =
      std::ranges::any_of(measures_, [&](const Measure& measure) { return measure.name() == name; });
  const std::string quoted = absl::StrCat("\"", std::string(name.substr(0, kMaxTextLength)), "\"");
  const std::string message = is_measure ? quoted + " is a measure, without bins; an attribute is needed"
                                         : "there is no attribute " + quoted;
  std::vector<std::string_view> names;
  for (const Attribute& attribute : attributes_) names.push_back(attribute.name());
  return absl::InvalidArgumentError(message + NearNames(names, name));
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
  RETURN_IF_ERROR(CheckColumns("attributes", schema.domain.attributes(), IdColumnOf(schema)));
  RETURN_IF_ERROR(CheckColumns("measures", schema.domain.measures(), IdColumnOf(schema)));
  RETURN_IF_ERROR(CheckSigns(schema.domain));
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
