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
#include "dp/domain/dates.h"
#include "dp/domain/even_steps.h"

namespace curator::dp {

struct CategoricalKind {
  std::vector<std::string> values;
  std::optional<std::string>
      catch_all;         // one more category, for values not listed and for empty cells that are not missing
  bool ordered = false;  // the values are listed in their order; the catch-all is not in it
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

using AttributeKind = std::variant<CategoricalKind, IntegerKind, NumericKind, CodedKind, DateKind>;

// Which cells are missing values.
struct Missing {
  std::vector<std::string>
      tokens;  // no category, synonym or catch-all is one; for Create() none stand for "", "?", "N",
               // "NA", "N/A", "NULL", "NaN", "-", without those that are
  std::optional<std::string> bin;  // the label of one more bin, the last code; none: their rows are rejected
  bool operator==(const Missing&) const = default;
};

struct Synonym {
  std::string value;  // a listed one
  std::vector<std::string> texts;
  bool operator==(const Synonym&) const = default;
};

// How cells are written. It changes no bin.
struct Reading {
  std::string column;  // in the header of files; empty: the attribute's name
  bool fold_case = false;
  std::vector<Synonym> synonyms;
  char decimal_sign = '.';                // or ','
  char thousands_separator = '\0';        // none, or one of . , ' _ and a blank
  std::vector<std::string> date_formats;  // beside ISO 8601 (dates.h)
  bool operator==(const Reading&) const = default;
};

// Its bins are numbered 0..size()-1; a bin's number is its code.
class Attribute {
 public:
  // Names, categories, synonyms and labels are 1 to kMaxTextLength bytes, without control characters and
  // without blanks at their ends (cells are compared without those). A negative zero among edges becomes
  // zero. Errors: INVALID_ARGUMENT with a field path below the attribute ("integer.bin_width").
  static absl::StatusOr<Attribute> Create(std::string name, AttributeKind kind,
                                          std::optional<Missing> missing = std::nullopt,
                                          Reading reading = {});

  const std::string& name() const { return name_; }
  const AttributeKind& kind() const { return kind_; }
  const std::optional<Missing>& missing() const { return missing_; }
  const Reading& reading() const { return reading_; }
  // In the header of files.
  const std::string& column() const { return reading_.column.empty() ? name_ : reading_.column; }
  int64_t size() const { return size_; }  // >= 1 and <= kMaxAttributeSize

  // Ranges and prefixes run over the codes 0..run_size()-1: all but that of missing values and, of ordered
  // categories, the catch-all. >= 1.
  int64_t run_size() const;
  // Of the bin for missing values; none when there is no such bin.
  std::optional<uint32_t> missing_code() const;

  // The code of a cell of a file, or none when the value lies outside the domain and there is no catch-all,
  // or is missing and has no bin. Blanks and tabs around the value do not count. An empty cell that is not
  // missing is the catch-all or outside. Integers and codes are read exactly: an optional sign, digits, and
  // at most a fraction of zeros ("39", "+39", "-1", "39.0"). Numbers are decimals with an optional exponent;
  // NaN, infinities and overflow are outside. Both in the declared way of writing.
  std::optional<uint32_t> Encode(std::string_view cell) const;

  // Like Encode(), but a number below all bins gets the first code and one above them the last of run_size().
  std::optional<uint32_t> EncodeClamped(std::string_view cell) const;

  // The code of a value as queries and labels write it: Encode() without synonyms, tokens, and other ways of
  // writing. A category is found by its exact text.
  std::optional<uint32_t> CodeOfText(std::string_view text) const;

  // The reason why Encode() found nothing, for the owner, without repeating the cell: "is above the largest
  // value, 90". One of a few texts for each attribute.
  std::string WhyOutside(std::string_view cell) const;

  // The same of CodeOfText().
  std::string WhyTextOutside(std::string_view text) const;

  // The label of a bin: the category, "[30, 35)", "17", the code, "2019-03", or that of missing values. The
  // last interval of numbers is closed: "[85, 90]". `code` is below size().
  std::string Label(uint32_t code) const { return IntervalLabel(code, code); }

  // The bins first..last as one interval: "[30, 45)". A single category, integer or code is written alone; a
  // run of several categories, codes or periods is written from the first to the last: "Mon .. Fri". A run
  // that ends with the bin for missing values: "[30, 90] .. missing". first <= last < size().
  std::string IntervalLabel(uint32_t first, uint32_t last) const;

  // A value of the bin `code`, chosen by 64 uniform bits: a uniform integer of an integer bin, a number of a
  // numeric interval (with a few digits more than the interval's width has), the category, the code, a day
  // of a date's bin (a time where the bin has no whole day), and the first token of missing values. Numbers
  // and dates are written plainly, whatever the reading.
  std::string ValueInside(uint32_t code, uint64_t randomness) const;

  bool operator==(const Attribute& other) const {
    return name_ == other.name_ && kind_ == other.kind_ && missing_ == other.missing_ &&
           reading_ == other.reading_;
  }

 private:
  struct TextIndex;
  class IndexBuilder;
  Attribute() = default;

  std::optional<uint32_t> CodeOfCell(std::string_view text) const;
  std::string WhyKindLacks(std::string_view plain, const std::optional<int64_t>& date) const;
  bool IsMissing(std::string_view text) const;

  std::string name_;
  AttributeKind kind_;
  std::optional<Missing> missing_;
  Reading reading_;
  int64_t size_ = 0;
  std::shared_ptr<const TextIndex> texts_;  // of categories, tokens and dates; follows from the rest
};

inline constexpr int64_t kMaxAttributeSize = int64_t{1} << 24;
inline constexpr size_t kMaxTextLength = 1024;

}  // namespace curator::dp
