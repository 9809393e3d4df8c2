#include "dp/domain/attribute.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "absl/numeric/int128.h"
#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::dp {

// Standard maps throughout: those of Abseil do not survive an allocation that fails while they grow.
struct Attribute::CategoryIndex {
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>()(text); }
  };
  std::unordered_map<std::string, uint32_t, Hash, std::equal_to<>> codes;
};

namespace {

template <typename... Visitors>
struct Overloaded : Visitors... {
  using Visitors::operator()...;
};
template <typename... Visitors>
Overloaded(Visitors...) -> Overloaded<Visitors...>;

absl::Status CheckText(std::string_view field, std::string_view text) {
  if (text.empty()) return InvalidField(field, "is empty");
  if (text.size() > kMaxTextLength) {
    return InvalidField(
        field, absl::StrCat("has ", text.size(), " bytes; at most ", kMaxTextLength, " are allowed"));
  }
  if (TrimBlanks(text).size() != text.size()) return InvalidField(field, "begins or ends with a blank");
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), is_control))
    return InvalidField(field, "contains a control character");
  return absl::OkStatus();
}

absl::StatusOr<int64_t> CheckedSize(std::string_view field, uint64_t bins) {
  if (bins <= static_cast<uint64_t>(kMaxAttributeSize)) return static_cast<int64_t>(bins);
  return InvalidField(field,
                      absl::StrCat("makes ", bins, " bins; at most ", kMaxAttributeSize, " are allowed"));
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

std::optional<uint32_t> EncodeInteger(const IntegerKind& kind, std::string_view text) {
  const auto read = ReadInteger(text);
  const int64_t* const value = std::get_if<int64_t>(&read);
  if (value == nullptr || *value < kind.min || *value > kind.max) return std::nullopt;
  return static_cast<uint32_t>(SpanOf(kind.min, *value) / static_cast<uint64_t>(kind.bin_width));
}

std::optional<uint32_t> EncodeNumber(const NumericKind& kind, std::string_view text) {
  const auto read = ReadNumber(text);
  const double* const value = std::get_if<double>(&read);
  if (value == nullptr || *value < kind.edges.front() || *value > kind.edges.back()) return std::nullopt;
  const auto above = std::upper_bound(kind.edges.begin(), kind.edges.end(), *value);
  if (above == kind.edges.end()) return static_cast<uint32_t>(kind.edges.size() - 2);  // the last edge itself
  return static_cast<uint32_t>(above - kind.edges.begin() - 1);
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
  return EncodeNumber(kind, text) == code ? text : WriteNumber(value);
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

}  // namespace

absl::StatusOr<Attribute> Attribute::Create(std::string name, AttributeKind kind) {
  RETURN_IF_ERROR(CheckText("name", name));
  if (auto* numeric = std::get_if<NumericKind>(&kind)) RETURN_IF_ERROR(MakeEdges(*numeric));
  ASSIGN_OR_RETURN(const int64_t size, std::visit([](const auto& k) { return CheckedSizeOf(k); }, kind));
  Attribute attribute;
  attribute.name_ = std::move(name);
  attribute.kind_ = std::move(kind);
  attribute.size_ = size;
  if (const auto* categorical = std::get_if<CategoricalKind>(&attribute.kind_)) {
    auto index = std::make_shared<CategoryIndex>();
    for (size_t i = 0; i < categorical->values.size(); ++i) {
      index->codes.emplace(categorical->values[i], static_cast<uint32_t>(i));
    }
    attribute.categories_ = std::move(index);
  }
  return attribute;
}

std::optional<uint32_t> Attribute::Encode(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  return std::visit(Overloaded{[&](const CategoricalKind& kind) -> std::optional<uint32_t> {
                                 const auto found = categories_->codes.find(text);
                                 if (found != categories_->codes.end()) return found->second;
                                 if (kind.catch_all) return static_cast<uint32_t>(kind.values.size());
                                 return std::nullopt;
                               },
                               [&](const IntegerKind& kind) { return EncodeInteger(kind, text); },
                               [&](const NumericKind& kind) { return EncodeNumber(kind, text); },
                               [&](const CodedKind& kind) {
                                 return EncodeInteger({.min = 0, .max = kind.size - 1}, text);
                               }},
                    kind_);
}

std::optional<uint32_t> Attribute::EncodeClamped(std::string_view cell) const {
  if (const std::optional<uint32_t> inside = Encode(cell)) return inside;
  const std::string_view text = TrimBlanks(cell);
  std::optional<Side> side;
  if (const auto* integer = std::get_if<IntegerKind>(&kind_)) side = SideOf(ReadInteger(text), integer->min);
  if (const auto* numeric = std::get_if<NumericKind>(&kind_))
    side = SideOf(ReadNumber(text), numeric->edges.front());
  if (!side) return std::nullopt;
  return *side == Side::kBelow ? 0 : static_cast<uint32_t>(size_ - 1);
}

std::string Attribute::WhyOutside(std::string_view cell) const {
  const std::string_view text = TrimBlanks(cell);
  if (text.empty()) return "is empty";
  return std::visit(
      Overloaded{
          [&](const CategoricalKind&) -> std::string {
            return "is not a listed value, and there is no catch-all";
          },
          [&](const IntegerKind& kind) { return WhyOutsideRange(ReadInteger(text), kind.min, kind.max); },
          [&](const NumericKind& kind) { return WhyOutsideEdges(ReadNumber(text), kind); },
          [&](const CodedKind& kind) { return WhyOutsideRange(ReadInteger(text), 0, kind.size - 1); }},
      kind_);
}

std::string Attribute::IntervalLabel(uint32_t first, uint32_t last) const {
  return std::visit(
      Overloaded{[&](const CategoricalKind& kind) {
                   return RunLabel(CategoryOf(kind, first), CategoryOf(kind, last));
                 },
                 [&](const IntegerKind& kind) { return IntegerLabel(kind, first, last); },
                 [&](const NumericKind& kind) { return NumericLabel(kind, first, last); },
                 [&](const CodedKind&) { return RunLabel(absl::StrCat(first), absl::StrCat(last)); }},
      kind_);
}

std::string Attribute::ValueInside(uint32_t code, uint64_t randomness) const {
  return std::visit(Overloaded{[&](const CategoricalKind& kind) { return CategoryOf(kind, code); },
                               [&](const IntegerKind& kind) { return IntegerInside(kind, code, randomness); },
                               [&](const NumericKind& kind) { return NumberInside(kind, code, randomness); },
                               [&](const CodedKind&) { return absl::StrCat(code); }},
                    kind_);
}

}  // namespace curator::dp
