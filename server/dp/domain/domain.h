// The public facts about a table: its attributes, in order, and the unit that its guarantee protects.
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

namespace curator::dp {

inline constexpr size_t kMaxAttributes = 4096;

// A set of attributes, as rising indices into a Domain.
using AttributeSet = std::vector<uint32_t>;

class Domain {
 public:
  // Errors: INVALID_ARGUMENT ("attributes[3].name") for no attributes, too many, or repeated names.
  static absl::StatusOr<Domain> Create(std::vector<Attribute> attributes);

  const std::vector<Attribute>& attributes() const { return attributes_; }
  size_t size() const { return attributes_.size(); }

  // INVALID_ARGUMENT, naming the near misses, when there is no such attribute.
  absl::StatusOr<uint32_t> IndexOf(std::string_view name) const;

  // The product of the sizes, or none when it exceeds 2^62. The empty set has one cell.
  std::optional<int64_t> CellCount(const AttributeSet& set) const;

  // INVALID_ARGUMENT (no field path) unless `set` is strictly rising and within the domain.
  absl::Status CheckSet(const AttributeSet& set) const;

  bool operator==(const Domain&) const = default;

 private:
  Domain() = default;
  std::vector<Attribute> attributes_;
};

// Who one record belongs to, for the guarantee.
enum class NeighbourRelation { kAddRemove, kReplaceOne };
struct RecordUnit {
  bool operator==(const RecordUnit&) const = default;
};
struct PersonUnit {  // a person owns at most max_records records; which, the id column says (it is never
                     // released)
  std::string id_column;
  int64_t max_records = 1;
  bool operator==(const PersonUnit&) const = default;
};
inline constexpr int64_t kMaxRecordsPerUnit = 1'000'000;
inline constexpr int64_t kNoRecordBound = std::numeric_limits<int64_t>::max();

struct GroupUnit {  // all records that share a group id, at most max_records of them; with kNoRecordBound any
                    // number: then counts of records are refused
  std::string id_column;
  int64_t max_records = 1;
  bool operator==(const GroupUnit&) const = default;
};
using PrivacyUnit = std::variant<RecordUnit, PersonUnit, GroupUnit>;

// Everything public about a dataset.
struct Schema {
  Domain domain;
  PrivacyUnit unit;
  bool operator==(const Schema&) const = default;
};

// Puts domain and unit together. Errors: INVALID_ARGUMENT ("unit.person.id_column") when the id column is
// empty or is an attribute, or max_records is outside 1..kMaxRecordsPerUnit (of a group, kNoRecordBound will
// do).
absl::StatusOr<Schema> CreateSchema(Domain domain, PrivacyUnit unit);

// The id column of a person's or group's unit; none when the unit is a record.
std::optional<std::string> IdColumnOf(const PrivacyUnit& unit);

// How much one unit can change counts: at most `max_records` records enter, leave or change (kNoRecordBound:
// any number).
struct UnitBound {
  NeighbourRelation relation = NeighbourRelation::kAddRemove;
  int64_t max_records = 1;
  bool operator==(const UnitBound&) const = default;
};

UnitBound UnitBoundOf(const Schema& schema, NeighbourRelation relation);

}  // namespace curator::dp
