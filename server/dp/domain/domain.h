// The public facts about a table: its attributes, in order, and the finitely many bins of each.
//
// All of it is declared by the owner before a record is read; nothing here is learned from private records.
// Thread-safe: immutable values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::dp {

struct CategoricalKind {
  std::vector<std::string> values;
  std::optional<std::string> catch_all;  // one more category, for empty cells and values not listed
  bool operator==(const CategoricalKind&) const = default;
};
struct IntegerKind {  // bins of `bin_width` integers from `min`; the last may be narrower
  int64_t min = 0;
  int64_t max = 0;
  int64_t bin_width = 1;
  bool operator==(const IntegerKind&) const = default;
};
struct NumericKind {  // intervals [edges[i], edges[i+1]), the last one closed; edges finite and strictly
                      // rising
  std::vector<double> edges;
  bool operator==(const NumericKind&) const = default;
};
struct CodedKind {  // the codes 0..size-1 themselves
  int64_t size = 0;
  bool operator==(const CodedKind&) const = default;
};

using AttributeKind = std::variant<CategoricalKind, IntegerKind, NumericKind, CodedKind>;

// One attribute. Its bins are numbered 0..size()-1; a bin's number is its code.
class Attribute {
 public:
  // Errors: INVALID_ARGUMENT with a field path below the attribute ("integer.bin_width").
  static absl::StatusOr<Attribute> Create(std::string name, AttributeKind kind);

  const std::string& name() const { return name_; }
  const AttributeKind& kind() const { return kind_; }
  int64_t size() const { return size_; }  // >= 1 and <= kMaxAttributeSize

  // The code of a cell of a CSV file (without surrounding blanks), or none when the value lies outside the
  // domain and there is no catch-all.
  std::optional<uint32_t> Encode(std::string_view cell) const;

  // A bin for people: the category, "[30, 35)", "17", or the code.
  std::string Label(uint32_t code) const;

  bool operator==(const Attribute&) const = default;

 private:
  Attribute() = default;
  std::string name_;
  AttributeKind kind_;
  int64_t size_ = 0;
};

inline constexpr int64_t kMaxAttributeSize = int64_t{1} << 24;
inline constexpr size_t kMaxAttributes = 4096;

// A set of attributes, as rising indices into a Domain.
using AttributeSet = std::vector<uint32_t>;

class Domain {
 public:
  // Errors: INVALID_ARGUMENT ("attributes[3].name") for no attributes, too many, empty or repeated names.
  static absl::StatusOr<Domain> Create(std::vector<Attribute> attributes);

  const std::vector<Attribute>& attributes() const { return attributes_; }
  size_t size() const { return attributes_.size(); }

  // INVALID_ARGUMENT, naming the near misses, when there is no such attribute.
  absl::StatusOr<uint32_t> IndexOf(std::string_view name) const;

  // The product of the sizes, or none when it exceeds 2^62. The empty set has one cell.
  std::optional<int64_t> CellCount(const AttributeSet& set) const;

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
struct GroupUnit {  // all records that share a group id, at most max_records of them
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

// How much one unit can change counts: at most `records` records enter, leave or change.
struct UnitBound {
  NeighbourRelation relation = NeighbourRelation::kAddRemove;
  int64_t max_records = 1;
};

}  // namespace curator::dp
