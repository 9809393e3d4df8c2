#include "dp/domain/attribute.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/cell_reading.h"
#include "dp/domain/number_style.h"
#include "dp/domain/numbers.h"

namespace curator::dp {

// Standard maps throughout: those of Abseil do not survive an allocation that fails while they grow.
struct Attribute::TextIndex {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  using Codes = std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>>;
  using Texts = std::unordered_set<std::string, Hash, std::equal_to<>>;

  Codes categories;  // as they are listed
  Codes cells;       // how cells write them, folded; empty: as they are listed
  Texts missing;     // tokens, folded where cells are
  std::optional<DateReader> date_cells;
};

namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

absl::StatusOr<int64_t> CheckedSize(std::string_view field, uint64_t bins) {
  if (bins <= static_cast<uint64_t>(kMaxAttributeSize)) return static_cast<int64_t>(bins);
  return InvalidField(field,
                      absl::StrCat("makes ", bins, " bins; at most ", kMaxAttributeSize, " are allowed"));
}

// Letters from A to Z become small.
std::string Folded(std::string_view text) {
  return absl::AsciiStrToLower(std::string(text));
}

absl::StatusOr<int64_t> CheckedSizeOf(const CategoricalKind& kind) {
  if (kind.values.empty()) return InvalidField("categorical.values", "is empty");
  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < kind.values.size(); ++i) {
    const std::string field = absl::StrCat("categorical.values[", i, "]");
    RETURN_IF_ERROR(CheckText(field, kind.values[i]));
    const auto [first, is_new] = seen.emplace(kind.values[i], i);
    if (!is_new)
      return InvalidField(field,
                          absl::StrCat("repeats values[", first->second, "], \"", kind.values[i], "\""));
  }
  if (kind.catch_all) {
    RETURN_IF_ERROR(CheckText("categorical.catch_all", *kind.catch_all));
    if (seen.contains(*kind.catch_all)) {
      return InvalidField(
          "categorical.catch_all",
          absl::StrCat("\"", *kind.catch_all, "\" is one of the values; it must be one more category"));
    }
  }
  return CheckedSize("categorical.values", kind.values.size() + (kind.catch_all ? 1 : 0));
}

// The number of integers from `min` to `max`, less one: the number itself may not fit.
uint64_t SpanOf(int64_t min, int64_t max) {
  return static_cast<uint64_t>(max) - static_cast<uint64_t>(min);
}

absl::StatusOr<int64_t> CheckedSizeOf(const IntegerKind& kind) {
  if (kind.min > kind.max) {
    return InvalidField("integer.max", absl::StrCat(kind.max, " is below min, ", kind.min));
  }
  if (kind.bin_width < 1) {
    return InvalidField("integer.bin_width", absl::StrCat("must be at least 1: got ", kind.bin_width));
  }
  const uint64_t last_code = SpanOf(kind.min, kind.max) / static_cast<uint64_t>(kind.bin_width);
  if (last_code == std::numeric_limits<uint64_t>::max())
    return InvalidField("integer.bin_width", "makes 2^64 bins");
  return CheckedSize("integer.bin_width", last_code + 1);
}

absl::StatusOr<int64_t> CheckedSizeOf(const NumericKind& kind) {
  if (kind.edges.size() < 2) {
    return InvalidField("numeric.edges", absl::StrCat("must have at least 2 edges: got ", kind.edges.size()));
  }
  for (size_t i = 0; i < kind.edges.size(); ++i) {
    const std::string field = absl::StrCat("numeric.edges[", i, "]");
    if (!std::isfinite(kind.edges[i])) return InvalidField(field, "is not a finite number");
    if (i > 0 && !(kind.edges[i - 1] < kind.edges[i])) {
      return InvalidField(field,
                          absl::StrCat(WriteNumber(kind.edges[i]), " is not above the edge before it, ",
                                       WriteNumber(kind.edges[i - 1])));
    }
  }
  return CheckedSize("numeric.edges", kind.edges.size() - 1);
}

absl::StatusOr<int64_t> CheckedSizeOf(const CodedKind& kind) {
  if (kind.size < 1) return InvalidField("coded.size", absl::StrCat("must be at least 1: got ", kind.size));
  return CheckedSize("coded.size", static_cast<uint64_t>(kind.size));
}

std::optional<uint32_t> CodeOfInteger(const IntegerKind& kind, std::string_view text) {
  const auto read = ReadInteger(text);
  const int64_t* const value = std::get_if<int64_t>(&read);
  if (value == nullptr || *value < kind.min || *value > kind.max) return std::nullopt;
  return static_cast<uint32_t>(SpanOf(kind.min, *value) / static_cast<uint64_t>(kind.bin_width));
}

std::optional<uint32_t> CodeOfNumber(const NumericKind& kind, std::string_view text) {
  const auto read = ReadNumber(text);
  const double* const value = std::get_if<double>(&read);
  if (value == nullptr || *value < kind.edges.front() || *value > kind.edges.back()) return std::nullopt;
  const auto above = std::upper_bound(kind.edges.begin(), kind.edges.end(), *value);
  if (above == kind.edges.end()) return static_cast<uint32_t>(kind.edges.size() - 2);  // the last edge itself
  return static_cast<uint32_t>(above - kind.edges.begin() - 1);
}

IntegerKind IntegersOf(const CodedKind& kind) {
  return {.min = 0, .max = kind.size - 1};
}

std::optional<uint32_t> CodeOfDate(const DateKind& kind, std::optional<int64_t> seconds) {
  if (!seconds || *seconds < kind.from || *seconds >= kind.until) return std::nullopt;
  return static_cast<uint32_t>(DateBinOf(kind, *seconds));
}

// The integers of one bin.
struct IntegerBin {
  int64_t first = 0;
  int64_t last = 0;
};

IntegerBin BinOf(const IntegerKind& kind, uint32_t code) {
  const uint64_t width = static_cast<uint64_t>(kind.bin_width);
  const uint64_t first = static_cast<uint64_t>(kind.min) + code * width;
  const uint64_t left = static_cast<uint64_t>(kind.max) - first;
  return {static_cast<int64_t>(first), static_cast<int64_t>(first + std::min(left, width - 1))};
}

std::string IntegerLabel(const IntegerKind& kind, uint32_t first_code, uint32_t last_code) {
  const int64_t first = BinOf(kind, first_code).first;
  const int64_t last = BinOf(kind, last_code).last;
  if (first == last) return absl::StrCat(first);
  if (last == kind.max) return absl::StrCat("[", first, ", ", last, "]");
  return absl::StrCat("[", first, ", ", last + 1, ")");
}

std::string NumericLabel(const NumericKind& kind, uint32_t first_code, uint32_t last_code) {
  const bool closed = last_code + 2 == kind.edges.size();
  return absl::StrCat("[", WriteNumber(kind.edges[first_code]), ", ", WriteNumber(kind.edges[last_code + 1]),
                      closed ? "]" : ")");
}

std::string CategoryOf(const CategoricalKind& kind, uint32_t code) {
  return code < kind.values.size() ? kind.values[code] : kind.catch_all.value_or("");
}

std::string RunLabel(std::string first, const std::string& last) {
  return first == last ? std::move(first) : absl::StrCat(first, " .. ", last);
}

std::string IntegerInside(const IntegerKind& kind, uint32_t code, uint64_t randomness) {
  const IntegerBin bin = BinOf(kind, code);
  const absl::uint128 values = absl::uint128(SpanOf(bin.first, bin.last)) + 1;
  const uint64_t offset = absl::Uint128High64(values * randomness);
  return absl::StrCat(static_cast<int64_t>(static_cast<uint64_t>(bin.first) + offset));
}

std::string NumberInside(const NumericKind& kind, uint32_t code, uint64_t randomness) {
  const double low = kind.edges[code];
  const double high = kind.edges[code + 1];
  const double share = std::ldexp(static_cast<double>(randomness >> 11), -53);  // in [0, 1)
  const double value = std::clamp(low * (1 - share) + high * share, low, std::nextafter(high, low));
  const double width = high / 2 - low / 2;  // halved: the difference itself may overflow
  if (width < 1e-290) return WriteNumber(value);
  const int digits = std::max(3 - static_cast<int>(std::floor(std::log10(width))), 0);
  std::string text = WriteFixed(value, digits);
  return CodeOfNumber(kind, text) == code ? text : WriteNumber(value);
}

// Edges of even steps, and one zero, so that equal schemas have equal bytes.
absl::Status MakeEdges(NumericKind& kind) {
  if (kind.even) {
    if (!kind.edges.empty()) return InvalidField("numeric.edges", "are given beside min, max and step");
    ASSIGN_OR_RETURN(kind.edges, EdgesOf(*kind.even));
    kind.even = {kind.even->min + 0.0, kind.even->max + 0.0, kind.even->step};
  }
  for (double& edge : kind.edges) edge += 0.0;
  return absl::OkStatus();
}

enum class Side { kBelow, kAbove };

// On which side of the bins, whose lowest value is `least`, a number outside of them lies; none when it is no
// number.
template <typename Number>
std::optional<Side> SideOf(const std::variant<Number, NumberFault>& read, Number least) {
  if (const Number* const value = std::get_if<Number>(&read))
    return *value < least ? Side::kBelow : Side::kAbove;
  switch (std::get<NumberFault>(read)) {
    case NumberFault::kTooSmall:
      return Side::kBelow;
    case NumberFault::kTooLarge:
      return Side::kAbove;
    case NumberFault::kNotANumber:
      break;
  }
  return std::nullopt;
}

std::string WhyOutsideRange(const std::variant<int64_t, NumberFault>& read, int64_t min, int64_t max) {
  const std::optional<Side> side = SideOf(read, min);
  if (!side) return "is not an integer";
  return *side == Side::kBelow ? absl::StrCat("is below the smallest value, ", min)
                               : absl::StrCat("is above the largest value, ", max);
}

std::string WhyOutsideEdges(const std::variant<double, NumberFault>& read, const NumericKind& kind) {
  const std::optional<Side> side = SideOf(read, kind.edges.front());
  if (!side) return "is not a finite number";
  return *side == Side::kBelow ? absl::StrCat("is below the first edge, ", WriteNumber(kind.edges.front()))
                               : absl::StrCat("is above the last edge, ", WriteNumber(kind.edges.back()));
}

std::string WhyOutsideDates(std::optional<int64_t> seconds, const DateKind& kind) {
  if (!seconds) return "is no day or time such as 2019-03-14 or 2019-03-14T09:30:00";
  return *seconds < kind.from
             ? absl::StrCat("is before the range, which begins at ", WriteDeclaredTime(kind.from))
             : absl::StrCat("is after the range, which ends before ", WriteDeclaredTime(kind.until));
}

// Of a cell. It names the ways that are read, of many formats the first ones.
std::string WhyNoDate(const std::vector<std::string>& formats) {
  constexpr size_t kMostNamed = 3;
  std::string why = "is no date such as 2019-03-14";
  for (size_t i = 0; i < std::min(formats.size(), kMostNamed); ++i) absl::StrAppend(&why, " or ", formats[i]);
  if (formats.size() > kMostNamed)
    absl::StrAppend(&why, " or ", formats.size() - kMostNamed, " more formats");
  return why;
}

// Of one part of an attribute.
absl::Status CheckReading(const Reading& reading, const AttributeKind& kind) {
  const bool is_categorical = std::holds_alternative<CategoricalKind>(kind);
  const bool is_date = std::holds_alternative<DateKind>(kind);
  RETURN_IF_ERROR(CheckColumnAndSigns(reading));
  if (StyleOf(reading) != NumberStyle{} && (is_categorical || is_date)) {
    return InvalidField("reading", "has a decimal sign or thousands separator, which only numbers have");
  }
  if (!reading.synonyms.empty() && !is_categorical)
    return InvalidField("reading.synonyms", "are for categories only");
  if (!reading.date_formats.empty() && !is_date)
    return InvalidField("reading.date_formats", "are for dates only");
  constexpr size_t kMostFormats = 16;  // a cell is tried in each
  if (reading.date_formats.size() > kMostFormats)
    return InvalidField("reading.date_formats", absl::StrCat("are more than ", kMostFormats));
  return absl::OkStatus();
}

}  // namespace

// Builds an attribute's index and checks, on the way, that no text means two things.
class Attribute::IndexBuilder {
 public:
  explicit IndexBuilder(Attribute& attribute) : attribute_(attribute) {}

  absl::Status Build() {
    if (const auto* categorical = std::get_if<CategoricalKind>(&attribute_.kind_))
      RETURN_IF_ERROR(AddCategories(*categorical));
    if (const auto* date = std::get_if<DateKind>(&attribute_.kind_)) {
      ASSIGN_OR_RETURN(index_->date_cells, DateReader::Create(*date, attribute_.reading_.date_formats));
    }
    if (attribute_.missing_) RETURN_IF_ERROR(AddMissing(*attribute_.missing_));
    attribute_.texts_ = index_;
    return absl::OkStatus();
  }

 private:
  std::string Cell(const std::string& text) const {
    return attribute_.reading_.fold_case ? Folded(text) : text;
  }
  // Of a category or a synonym, the catch-all included.
  bool IsCell(const std::string& text) const {
    if (!index_->cells.empty()) return index_->cells.contains(Cell(text));
    const auto* categorical = std::get_if<CategoricalKind>(&attribute_.kind_);
    return categorical != nullptr && (index_->categories.contains(text) || categorical->catch_all == text);
  }

  absl::Status AddCategories(const CategoricalKind& kind) {
    for (size_t i = 0; i < kind.values.size(); ++i)
      index_->categories.emplace(kind.values[i], static_cast<uint32_t>(i));
    if (!attribute_.reading_.fold_case && attribute_.reading_.synonyms.empty()) return absl::OkStatus();
    const size_t size = kind.values.size() + (kind.catch_all ? 1 : 0);
    for (uint32_t code = 0; code < size; ++code) {
      const auto [first, is_new] = index_->cells.emplace(Cell(CategoryOf(kind, code)), code);
      if (is_new) continue;
      return InvalidField("reading.fold_case",
                          absl::StrCat("makes the values \"", CategoryOf(kind, first->second), "\" and \"",
                                       CategoryOf(kind, code), "\" the same"));
    }
    const std::vector<Synonym>& synonyms = attribute_.reading_.synonyms;
    for (size_t i = 0; i < synonyms.size(); ++i) {
      RETURN_IF_ERROR(AddSynonym(synonyms[i], kind, absl::StrCat("reading.synonyms[", i, "]")));
    }
    return absl::OkStatus();
  }

  absl::Status AddSynonym(const Synonym& synonym, const CategoricalKind& kind, const std::string& path) {
    const auto value = index_->categories.find(synonym.value);
    const bool is_catch_all = kind.catch_all && *kind.catch_all == synonym.value;
    if (value == index_->categories.end() && !is_catch_all)
      return InvalidField(path + ".value", absl::StrCat("\"", synonym.value, "\" is none of the values"));
    const auto code = is_catch_all ? static_cast<uint32_t>(kind.values.size()) : value->second;
    for (size_t i = 0; i < synonym.texts.size(); ++i) {
      const std::string field = absl::StrCat(path, ".texts[", i, "]");
      RETURN_IF_ERROR(CheckText(field, synonym.texts[i]));
      const auto [first, is_new] = index_->cells.emplace(Cell(synonym.texts[i]), code);
      if (!is_new && first->second != code)
        return InvalidField(field, absl::StrCat("\"", synonym.texts[i], "\" is another value's text, too"));
    }
    return absl::OkStatus();
  }

  absl::Status AddMissing(Missing& missing) {
    if (missing.tokens.empty()) {
      for (const std::string_view token : kDefaultMissingTokens) {
        if (!IsCell(std::string(token))) missing.tokens.emplace_back(token);
      }
    }
    RETURN_IF_ERROR(CheckMissingTokens(missing.tokens));
    for (size_t i = 0; i < missing.tokens.size(); ++i) {
      const std::string field = absl::StrCat("missing.tokens[", i, "]");
      const std::string& token = missing.tokens[i];
      if (IsCell(token)) {
        return InvalidField(field, absl::StrCat("\"", token, "\" is also a value or a synonym of one"));
      }
      index_->missing.insert(Cell(token));
    }
    if (!missing.bin) return absl::OkStatus();
    RETURN_IF_ERROR(CheckText("missing.bin", *missing.bin));
    if (missing.bin->starts_with('[') || IsLabel(*missing.bin))
      return InvalidField("missing.bin", absl::StrCat("\"", *missing.bin, "\" may be another bin's label"));
    return absl::OkStatus();
  }

  // Whether a query could mean another bin by this text.
  bool IsLabel(const std::string& text) const {
    if (const auto* categorical = std::get_if<CategoricalKind>(&attribute_.kind_))
      return index_->categories.contains(text) || categorical->catch_all == text;
    const bool is_number = std::holds_alternative<double>(ReadNumber(text));
    return is_number || (text.front() >= '0' && text.front() <= '9');
  }

  Attribute& attribute_;
  const std::shared_ptr<TextIndex> index_ = std::make_shared<TextIndex>();
};

absl::StatusOr<Attribute> Attribute::Create(std::string name, AttributeKind kind,
                                            std::optional<Missing> missing, Reading reading) {
  RETURN_IF_ERROR(CheckText("name", name));
  if (auto* numeric = std::get_if<NumericKind>(&kind)) RETURN_IF_ERROR(MakeEdges(*numeric));
  ASSIGN_OR_RETURN(const int64_t size, std::visit([](const auto& k) { return CheckedSizeOf(k); }, kind));
  RETURN_IF_ERROR(CheckReading(reading, kind));
  const bool has_missing_bin = missing && missing->bin;
  if (size + (has_missing_bin ? 1 : 0) > kMaxAttributeSize)
    return InvalidField("missing.bin", absl::StrCat("is one bin more than ", kMaxAttributeSize));
  Attribute attribute;
  attribute.name_ = std::move(name);
  attribute.kind_ = std::move(kind);
  attribute.missing_ = std::move(missing);
  attribute.reading_ = std::move(reading);
  attribute.size_ = size + (has_missing_bin ? 1 : 0);
  RETURN_IF_ERROR(IndexBuilder(attribute).Build());
  return attribute;
}

int64_t Attribute::run_size() const {
  const int64_t known = size_ - (missing_code() ? 1 : 0);
  const auto* categorical = std::get_if<CategoricalKind>(&kind_);
  const bool leaves_catch_all_out = categorical != nullptr && categorical->ordered && categorical->catch_all;
  return known - (leaves_catch_all_out ? 1 : 0);
}

std::optional<uint32_t> Attribute::missing_code() const {
  if (!missing_ || !missing_->bin) return std::nullopt;
  return static_cast<uint32_t>(size_ - 1);
}

bool Attribute::IsMissing(std::string_view text) const {
  if (!missing_) return false;
  return reading_.fold_case ? texts_->missing.contains(Folded(text)) : texts_->missing.contains(text);
}

// Of a cell that is not missing.
std::optional<uint32_t> Attribute::CodeOfCell(std::string_view text) const {
  std::string buffer;
  const NumberStyle style = StyleOf(reading_);
  return std::visit(
      Overloaded{
          [&](const CategoricalKind& kind) -> std::optional<uint32_t> {
            const TextIndex::Codes& codes = texts_->cells.empty() ? texts_->categories : texts_->cells;
            const auto found = reading_.fold_case ? codes.find(Folded(text)) : codes.find(text);
            if (found != codes.end()) return found->second;
            if (kind.catch_all) return static_cast<uint32_t>(kind.values.size());
            return std::nullopt;
          },
          [&](const IntegerKind& kind) { return CodeOfInteger(kind, InPlainStyle(text, style, buffer)); },
          [&](const NumericKind& kind) { return CodeOfNumber(kind, InPlainStyle(text, style, buffer)); },
          [&](const CodedKind& kind) {
            return CodeOfInteger(IntegersOf(kind), InPlainStyle(text, style, buffer));
          },
          [&](const DateKind& kind) { return CodeOfDate(kind, texts_->date_cells->Read(text)); }},
      kind_);
}

std::optional<uint32_t> Attribute::Encode(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  return IsMissing(text) ? missing_code() : CodeOfCell(text);
}

std::optional<uint32_t> Attribute::EncodeClamped(std::string_view cell) const {
  if (const std::optional<uint32_t> inside = Encode(cell)) return inside;
  std::string buffer;
  const std::string_view trimmed = TrimBlanks(cell);
  if (IsMissing(trimmed)) return std::nullopt;
  const std::string_view text = InPlainStyle(trimmed, StyleOf(reading_), buffer);
  std::optional<Side> side;
  if (const auto* integer = std::get_if<IntegerKind>(&kind_)) side = SideOf(ReadInteger(text), integer->min);
  if (const auto* numeric = std::get_if<NumericKind>(&kind_))
    side = SideOf(ReadNumber(text), numeric->edges.front());
  if (!side) return std::nullopt;
  return *side == Side::kBelow ? 0 : static_cast<uint32_t>(run_size() - 1);
}

std::optional<uint32_t> Attribute::CodeOfText(std::string_view written) const {
  const std::string_view text = TrimBlanks(written);
  if (missing_code() && text == *missing_->bin) return missing_code();
  return std::visit(Overloaded{[&](const CategoricalKind& kind) -> std::optional<uint32_t> {
                                 const auto found = texts_->categories.find(text);
                                 if (found != texts_->categories.end()) return found->second;
                                 if (kind.catch_all == text) return static_cast<uint32_t>(kind.values.size());
                                 return std::nullopt;
                               },
                               [&](const IntegerKind& kind) { return CodeOfInteger(kind, text); },
                               [&](const NumericKind& kind) { return CodeOfNumber(kind, text); },
                               [&](const CodedKind& kind) { return CodeOfInteger(IntegersOf(kind), text); },
                               [&](const DateKind& kind) {
                                 const absl::StatusOr<DeclaredTime> time = ParseDeclaredTime(text);
                                 return CodeOfDate(kind,
                                                   time.ok() ? std::optional(time->seconds) : std::nullopt);
                               }},
                    kind_);
}

// Of a number in the plain style; `date` is of a date.
std::string Attribute::WhyKindLacks(std::string_view plain, const std::optional<int64_t>& date) const {
  return std::visit(
      Overloaded{
          [&](const CategoricalKind&) -> std::string {
            return "is not a listed value, and there is no catch-all";
          },
          [&](const IntegerKind& kind) { return WhyOutsideRange(ReadInteger(plain), kind.min, kind.max); },
          [&](const NumericKind& kind) { return WhyOutsideEdges(ReadNumber(plain), kind); },
          [&](const CodedKind& kind) { return WhyOutsideRange(ReadInteger(plain), 0, kind.size - 1); },
          [&](const DateKind& kind) { return WhyOutsideDates(date, kind); }},
      kind_);
}

std::string Attribute::WhyOutside(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  if (IsMissing(text)) return "is missing";
  if (text.empty()) return "is empty";
  if (texts_->date_cells) {
    const std::optional<int64_t> date = texts_->date_cells->Read(text);
    return date ? WhyKindLacks(text, date) : WhyNoDate(reading_.date_formats);
  }
  std::string buffer;
  const NumberStyle style = StyleOf(reading_);
  const std::string_view plain = InPlainStyle(text, style, buffer);
  std::string why = WhyKindLacks(plain, std::nullopt);
  const bool is_of_numbers = !std::holds_alternative<CategoricalKind>(kind_);
  if (is_of_numbers && IsNoNumber(plain)) absl::StrAppend(&why, LikelyStyle(text, style));
  return why;
}

std::string Attribute::WhyTextOutside(std::string_view written) const {
  const std::string_view text = TrimBlanks(written);
  if (text.empty()) return "is empty";
  const absl::StatusOr<DeclaredTime> time = ParseDeclaredTime(text);
  return WhyKindLacks(text, time.ok() ? std::optional(time->seconds) : std::nullopt);
}

std::string Attribute::IntervalLabel(uint32_t first, uint32_t last) const {
  const std::optional<uint32_t> missing = missing_code();
  if (last == missing) {
    if (first == last) return *missing_->bin;
    return absl::StrCat(IntervalLabel(first, last - 1), " .. ", *missing_->bin);
  }
  return std::visit(
      Overloaded{[&](const CategoricalKind& kind) {
                   return RunLabel(CategoryOf(kind, first), CategoryOf(kind, last));
                 },
                 [&](const IntegerKind& kind) { return IntegerLabel(kind, first, last); },
                 [&](const NumericKind& kind) { return NumericLabel(kind, first, last); },
                 [&](const CodedKind&) { return RunLabel(absl::StrCat(first), absl::StrCat(last)); },
                 [&](const DateKind& kind) { return DateLabel(kind, first, last); }},
      kind_);
}

std::string Attribute::ValueInside(uint32_t code, uint64_t randomness) const {
  if (code == missing_code()) return missing_->tokens.front();
  return std::visit(Overloaded{[&](const CategoricalKind& kind) { return CategoryOf(kind, code); },
                               [&](const IntegerKind& kind) { return IntegerInside(kind, code, randomness); },
                               [&](const NumericKind& kind) { return NumberInside(kind, code, randomness); },
                               [&](const CodedKind&) { return absl::StrCat(code); },
                               [&](const DateKind& kind) { return DateInside(kind, code, randomness); }},
                    kind_);
}

}  // namespace curator::dp
