// The public facts about a table: its attributes and measures, in order, the constraints between attributes,
// and the unit that its guarantee protects.
//
// All of it is declared by the owner before a record is read; nothing here is learned from private records.
// Thread-safe: immutable values.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/attribute.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/constraint.h"
#include "dp/domain/measure.h"

namespace curator::dp {

inline constexpr size_t kMaxAttributes = 4096;
inline constexpr size_t kMaxMeasures = 256;

class Domain {
 public:
  // Errors: INVALID_ARGUMENT ("attributes[3].name", "measures[1].name") for no attributes, too many, or
  // repeated names. A measure may have the name of an attribute.
  static absl::StatusOr<Domain> Create(std::vector<Attribute> attributes, std::vector<Measure> measures = {});

  // This domain with these constraints, in place of those that it has. Errors: INVALID_ARGUMENT
  // ("constraints[2].order.upper") for more than kMaxConstraints, one that repeats another, and those of
  // Constraint::Create(). That all together can be fulfilled is not checked.
  absl::StatusOr<Domain> WithConstraints(std::vector<ConstraintRule> rules) const;

  const std::vector<Attribute>& attributes() const { return attributes_; }
  const std::vector<Measure>& measures() const { return measures_; }
  const std::vector<Constraint>& constraints() const { return constraints_; }
  size_t size() const { return attributes_.size(); }

  // INVALID_ARGUMENT, naming the near misses, when there is no such attribute.
  absl::StatusOr<uint32_t> IndexOf(std::string_view name) const;

  // The product of the sizes, or none when it exceeds 2^62. The empty set has one cell.
  std::optional<int64_t> CellCount(const AttributeSet& set) const;

  // The sizes of the attributes of `set`, which is within the domain, in its order.
  std::vector<int64_t> SizesOf(const AttributeSet& set) const;

  // INVALID_ARGUMENT (no field path) unless `set` is strictly rising and within the domain.
  absl::Status CheckSet(const AttributeSet& set) const;

  bool operator==(const Domain&) const = default;

 private:
  Domain() = default;
  std::vector<Attribute> attributes_;
  std::vector<Measure> measures_;
  std::vector<Constraint> constraints_;
};

// The neighbouring datasets of the guarantee, and the unit that owns records.
enum class NeighbourRelation { kAddRemove, kReplaceOne };
struct RecordUnit {
  bool operator==(const RecordUnit&) const = default;
};

// A person owns at most max_records records; the id column, which is never released, names the owner.
struct PersonUnit {
  std::string id_column;
  int64_t max_records = 1;
  bool operator==(const PersonUnit&) const = default;
};
inline constexpr int64_t kMaxRecordsPerUnit = 1'000'000;
inline constexpr int64_t kNoRecordBound = std::numeric_limits<int64_t>::max();

// All records that share a group id are one unit, at most max_records of them; with kNoRecordBound any
// number, but then counts of records are refused.
struct GroupUnit {
  std::string id_column;
  int64_t max_records = 1;
  bool operator==(const GroupUnit&) const = default;
};
using PrivacyUnit = std::variant<RecordUnit, PersonUnit, GroupUnit>;

// Two levels: records lie in groups (pupils in schools), and one attribute is what was measured of each. The
// groups may be the privacy unit; where a record is the unit, a record's group is as private as the record.
struct Nesting {
  std::string
      group_column;  // distinguishes groups; never released, not an attribute; of a group unit, its id column
  uint32_t response = 0;  // an attribute whose codes stand for numbers (response.h)
  // Of a record unit: no group has more records, which is promised by the owner and checked at import. None
  // is left out to keep it: a record would then take the place of one that is removed, and two would change.
  // A group unit has its own bound.
  int64_t max_group_size = kNoRecordBound;
  // Attributes that all records of a group share, as the owner says: import does not check it.
  AttributeSet group_attributes = {};
  bool operator==(const Nesting&) const = default;
};

// Everything public about a dataset.
struct Schema {
  Domain domain;
  PrivacyUnit unit;
  std::optional<Nesting> nesting = std::nullopt;
  char separator = ',';  // between the columns of files: one of , ; | and a tab
  // Ranges, categories or bins were chosen by somebody who had seen records.
  bool domain_from_records = false;
  bool operator==(const Schema&) const = default;
};

// Puts domain, unit and nesting together; an empty group column is that of the group unit. Errors:
// INVALID_ARGUMENT ("unit.person.id_column") when the id column is empty or is an attribute or a measure, or
// max_records is outside 1..kMaxRecordsPerUnit (of a group, kNoRecordBound will do); the same of the group
// column ("nesting.group_column"), which must be the id column of a group unit; for a nesting of persons'
// records ("nesting"); for a response that is no number ("nesting.response"), and one among the group
// attributes, or these not ascending ("nesting.group_attributes"); for two attributes, or two
// measures, that are read from one column, and for one that is read from the id column
// ("attributes[3].reading.column"); for a measure that is read from an attribute's column of numbers with
// another decimal sign or thousands separator ("measures[0].reading").
absl::StatusOr<Schema> CreateSchema(Domain domain, PrivacyUnit unit,
                                    std::optional<Nesting> nesting = std::nullopt);

// The id column of a person's or group's unit; none when the unit is a record.
std::optional<std::string> IdColumnOf(const PrivacyUnit& unit);

// The one column of ids that is kept beside the attributes: of the units, or of the groups in which records
// that are units of their own lie; none where there are neither.
std::optional<std::string> IdColumnOf(const Schema& schema);

// The bound of what one unit can change: at most `max_records` records enter, leave or change
// (kNoRecordBound: any number).
struct UnitBound {
  NeighbourRelation relation = NeighbourRelation::kAddRemove;
  int64_t max_records = 1;
  bool operator==(const UnitBound&) const = default;
};

UnitBound UnitBoundOf(const Schema& schema, NeighbourRelation relation);

}  // namespace curator::dp
