// One attribute of a table: its name, its kind, and the finitely many bins that its values fall into.
//
// All of it is declared by the owner before a record is read; nothing here is learned from private records.
// Thread-safe: immutable values.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/domain/even_steps.h"

namespace curator::dp {

struct CategoricalKind {
  std::vector<std::string> values;
  std::optional<std::string>
      catch_all;  // one more category, for empty cells and values not listed; the last code
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
  std::optional<EvenSteps> even = std::nullopt;  // Create() makes the edges of these, when no edges are given
  bool operator==(const NumericKind&) const = default;
};
struct CodedKind {  // the codes 0..size-1 themselves
  int64_t size = 0;
  bool operator==(const CodedKind&) const = default;
};

using AttributeKind = std::variant<CategoricalKind, IntegerKind, NumericKind, CodedKind>;

// Its bins are numbered 0..size()-1; a bin's number is its code.
class Attribute {
 public:
  // Names and categories are 1 to kMaxTextLength bytes, without control characters and without blanks at
  // their ends (cells are compared without those). A negative zero among edges becomes zero. Errors:
  // INVALID_ARGUMENT with a field path below the attribute ("integer.bin_width").
  static absl::StatusOr<Attribute> Create(std::string name, AttributeKind kind);

  const std::string& name() const { return name_; }
  const AttributeKind& kind() const { return kind_; }
  int64_t size() const { return size_; }  // >= 1 and <= kMaxAttributeSize

  // The code of a cell of a CSV file, or none when the value lies outside the domain and there is no
  // catch-all. Blanks and tabs around the value do not count. An empty cell is the catch-all or outside.
  // Integers and codes are read exactly: an optional sign, digits, and at most a fraction of zeros ("39",
  // "+39", "-1", "39.0"). Numbers are decimals with an optional exponent; NaN, infinities and overflow are
  // outside.
  std::optional<uint32_t> Encode(std::string_view cell) const;

  // Like Encode(), but a number below all bins gets the first code and one above them the last.
  std::optional<uint32_t> EncodeClamped(std::string_view cell) const;

  // The reason why Encode() found nothing, for the owner, without repeating the cell: "is above the largest
  // value, 90".
  std::string WhyOutside(std::string_view cell) const;

  // The label of a bin: the category, "[30, 35)", "17", or the code. The last interval is closed: "[85, 90]".
  // `code` is below size().
  std::string Label(uint32_t code) const { return IntervalLabel(code, code); }

  // The bins first..last as one interval: "[30, 45)". A single category, integer or code is written alone; a
  // run of several categories or codes is written from the first to the last: "Mon .. Fri".
  // first <= last < size().
  std::string IntervalLabel(uint32_t first, uint32_t last) const;

  // A value that Encode() maps to `code`, chosen by 64 uniform bits: a uniform integer of an integer bin, a
  // number of a numeric interval (with a few digits more than the interval's width has), the category, the
  // code.
  std::string ValueInside(uint32_t code, uint64_t randomness) const;

  bool operator==(const Attribute& other) const { return name_ == other.name_ && kind_ == other.kind_; }

 private:
  struct CategoryIndex;
  Attribute() = default;

  std::string name_;
  AttributeKind kind_;
  int64_t size_ = 0;
  std::shared_ptr<const CategoryIndex>
      categories_;  // of a categorical kind: text to code; follows from kind_
};

inline constexpr int64_t kMaxAttributeSize = int64_t{1} << 24;
inline constexpr size_t kMaxTextLength = 1024;

}  // namespace curator::dp
