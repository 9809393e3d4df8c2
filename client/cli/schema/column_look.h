// What a look at one column learns from its cells, and how it proposes to declare the column.
//
// Not thread-safe: belongs to one look.
#pragma once

#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <string_view>

#include "curator/v1/schema.pb.h"
#include "dp/domain/attribute.h"
#include "dp/domain/dates.h"
#include "dp/domain/number_style.h"

namespace curator::cli {

// The cells that could be read in one way of writing, and what they span.
template <typename Number>
struct ReadCells {
  int64_t cells = 0;
  Number least = {};
  Number largest = {};

  void Add(Number number) {
    if (cells == 0 || number < least) least = number;
    if (cells == 0 || largest < number) largest = number;
    ++cells;
  }
};

// The different texts of a column, while there are few.
class DifferentTexts {
 public:
  void Add(std::string_view text);
  bool are_few() const { return !are_many_; }
  const std::set<std::string, std::less<>>& texts() const { return texts_; }

 private:
  std::set<std::string, std::less<>> texts_;
  bool are_many_ = false;
};

class ColumnLook {
 public:
  enum class Texts { kKept, kNotKept };
  explicit ColumnLook(Texts texts) : texts_kept_(texts == Texts::kKept) {}

  // A cell without blanks at its ends.
  void Add(std::string_view cell);

  // Sets the kind and the way of writing, without ranges, categories and bins. Returns a sentence for the
  // owner, or nothing.
  std::string ProposeKind(v1::Attribute& attribute) const;
  // After ProposeKind(): sets them, too; needs the texts. Leaves the kind empty where none could be made.
  std::string ProposeDomain(v1::Attribute& attribute) const;

  static constexpr size_t kStyles = 8;
  static constexpr size_t kFormats = 12;

 private:
  void AddNumber(std::string_view cell);
  void AddDate(std::string_view cell);
  std::string ProposeDate(v1::Attribute& attribute) const;
  bool AreMost(int64_t cells) const;

  const bool texts_kept_;
  int64_t missing_ = 0;
  int64_t cells_ = 0;  // that are not missing
  std::array<ReadCells<int64_t>, kStyles> integers_;
  std::array<ReadCells<double>, kStyles> numbers_;
  std::array<ReadCells<int64_t>, kFormats> dates_;
  DifferentTexts texts_;
};

}  // namespace curator::cli
