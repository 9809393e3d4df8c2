#include "dp/workload/values.h"

#include <algorithm>
#include <variant>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

constexpr size_t kMostListed = 8;

std::string Quoted(std::string_view value) {
  constexpr size_t kMostShown = 60;
  return absl::StrCat("\"", std::string(value.substr(0, kMostShown)),
                      value.size() > kMostShown ? "...\"" : "\"");
}

// "Female, Male", "A, B, C, ... (40 in all)".
std::string SomeLabels(const Attribute& attribute) {
  std::string list;
  for (uint32_t code = 0; code < attribute.size() && code < kMostListed; ++code)
    absl::StrAppend(&list, code > 0 ? ", " : "", attribute.Label(code));
  if (attribute.size() > static_cast<int64_t>(kMostListed))
    absl::StrAppend(&list, ", ... (", attribute.size(), " in all)");
  return list;
}

using NumberRead = std::variant<double, NumberFault>;

// Whether this is the bin's interval. Its ends are compared as numbers: labels of older releases, which
// requests repeat, have exponents ("[90000, 1e+05)").
bool IsIntervalOf(const NumericKind& kind, uint32_t code, std::string_view label, size_t comma) {
  if (code + 1 >= kind.edges.size()) return false;  // missing values
  const std::string_view from = label.substr(1, comma - 1);
  const std::string_view to = TrimBlanks(label.substr(comma + 1, label.size() - comma - 2));
  const bool is_last = code + 2 == kind.edges.size();
  return label.ends_with(is_last ? ']' : ')') && ReadNumber(from) == NumberRead(kind.edges[code]) &&
         ReadNumber(to) == NumberRead(kind.edges[code + 1]);
}

std::optional<uint32_t> CodeOfLabel(const Attribute& attribute, std::string_view label) {
  if (const auto* date = std::get_if<DateKind>(&attribute.kind())) {
    const std::optional<int64_t> bin = DateBinOfLabel(*date, label);
    return bin ? std::optional(static_cast<uint32_t>(*bin)) : std::nullopt;
  }
  if (std::holds_alternative<CategoricalKind>(attribute.kind()) || !label.starts_with("["))
    return std::nullopt;
  const size_t comma = label.find(',');
  const std::optional<uint32_t> code = attribute.CodeOfText(label.substr(1, comma - 1));
  if (!code || comma == std::string_view::npos) return std::nullopt;
  if (const auto* numeric = std::get_if<NumericKind>(&attribute.kind()))
    return IsIntervalOf(*numeric, *code, label, comma) ? code : std::nullopt;
  return attribute.Label(*code) == label ? code : std::nullopt;
}

absl::StatusOr<uint32_t> CategoryCode(const Attribute& attribute, std::string_view value) {
  if (const std::optional<uint32_t> code = attribute.CodeOfText(value)) return *code;
  return absl::InvalidArgumentError(absl::StrCat(Quoted(value), " is no value of ", attribute.name(),
                                                 "; there are: ", SomeLabels(attribute)));
}

absl::Status OutsideError(const Attribute& attribute, std::string_view value) {
  return absl::InvalidArgumentError(
      absl::StrCat(Quoted(value), " ", attribute.WhyTextOutside(value), " of ", attribute.name()));
}

// The integers of a bin.
struct IntegerBin {
  int64_t first = 0;
  int64_t last = 0;
};
IntegerBin BinOf(const IntegerKind& kind, uint32_t code) {
  const Int128 first = Int128{kind.min} + Int128{code} * kind.bin_width;
  return {static_cast<int64_t>(first),
          static_cast<int64_t>(std::min<Int128>(first + kind.bin_width - 1, kind.max))};
}

enum class End { kFrom, kTo };

absl::Status NoEndError(const Attribute& attribute, std::string_view value) {
  return absl::InvalidArgumentError(absl::StrCat(Quoted(value), " is no end of an interval of ",
                                                 attribute.name(), ": it lies in no order"));
}

absl::StatusOr<uint32_t> IntegerEnd(const Attribute& attribute, const IntegerKind& kind,
                                    std::string_view value, End end) {
  const std::optional<uint32_t> code = attribute.CodeOfText(value);
  if (!code) return OutsideError(attribute, value);
  if (code == attribute.missing_code()) return NoEndError(attribute, value);
  const int64_t number = std::get<int64_t>(ReadInteger(TrimBlanks(value)));
  const IntegerBin bin = BinOf(kind, *code);
  if (number == (end == End::kFrom ? bin.first : bin.last)) return *code;
  std::string nearest;
  if (end == End::kFrom) {
    nearest = absl::StrCat(bin.first);
    if (*code + 1 < attribute.size()) absl::StrAppend(&nearest, " and ", BinOf(kind, *code + 1).first);
  } else {
    if (*code > 0) nearest = absl::StrCat(BinOf(kind, *code - 1).last, " and ");
    absl::StrAppend(&nearest, bin.last);
  }
  return absl::InvalidArgumentError(absl::StrCat(number, " cuts the bin ", attribute.Label(*code), " of ",
                                                 attribute.name(), "; the nearest that does not: ", nearest));
}

// The position of an edge; `from` is not the last and `to` not the first.
absl::StatusOr<size_t> EdgeAt(const Attribute& attribute, const NumericKind& kind, std::string_view value,
                              End end) {
  const std::optional<uint32_t> code = attribute.CodeOfText(value);
  if (!code) return OutsideError(attribute, value);
  if (code == attribute.missing_code()) return NoEndError(attribute, value);
  const double number = std::get<double>(ReadNumber(TrimBlanks(value)));
  const size_t lowest = end == End::kFrom ? 0 : 1;
  const size_t highest = kind.edges.size() - (end == End::kFrom ? 2 : 1);
  const auto above = static_cast<size_t>(std::lower_bound(kind.edges.begin(), kind.edges.end(), number) -
                                         kind.edges.begin());
  if (above >= lowest && above <= highest && kind.edges[above] == number) return above;
  const size_t upper = std::clamp(above, lowest, highest);
  const size_t lower = std::clamp(above == 0 ? 0 : above - 1, lowest, highest);
  std::string nearest = WriteNumber(kind.edges[lower]);
  if (upper != lower) absl::StrAppend(&nearest, " and ", WriteNumber(kind.edges[upper]));
  return absl::InvalidArgumentError(
      absl::StrCat(WriteNumber(number), " is no edge that an interval of ", attribute.name(), " can ",
                   end == End::kFrom ? "begin" : "end", " at; the nearest: ", nearest));
}

// A label of a bin, a day or a time; `to` is the last day of the interval, or the time at which it ends.
absl::StatusOr<uint32_t> DateEnd(const Attribute& attribute, const DateKind& kind, std::string_view value,
                                 End end) {
  if (attribute.missing_code() && attribute.CodeOfText(value) == attribute.missing_code())
    return NoEndError(attribute, value);
  if (const std::optional<uint32_t> labelled = CodeOfLabel(attribute, TrimBlanks(value))) return *labelled;
  const absl::StatusOr<DeclaredTime> time = ParseDeclaredTime(TrimBlanks(value));
  if (!time.ok()) return OutsideError(attribute, value);
  constexpr int64_t kSecondsOfDay = 86'400;
  const int64_t cut = time->seconds + (end == End::kTo && time->is_day ? kSecondsOfDay : 0);
  if (cut < kind.from || cut > kind.until || (end == End::kFrom && cut == kind.until))
    return OutsideError(attribute, value);
  if (end == End::kTo && cut == kind.from) {
    return absl::InvalidArgumentError(absl::StrCat(Quoted(value), " is where the range of ", attribute.name(),
                                                   " begins: nothing is before it"));
  }
  const int64_t bin = DateBinOf(kind, end == End::kFrom ? cut : cut - 1);
  const DateInterval dates = DatesOfBin(kind, bin);
  if (cut == (end == End::kFrom ? dates.from : dates.until)) return static_cast<uint32_t>(bin);
  return absl::InvalidArgumentError(absl::StrCat(
      Quoted(value), " cuts the bin ", attribute.Label(static_cast<uint32_t>(bin)), " of ", attribute.name(),
      ", which holds ", WriteDeclaredTime(dates.from), " up to before ", WriteDeclaredTime(dates.until)));
}

absl::StatusOr<uint32_t> EndCode(const Attribute& attribute, const std::string& value, End end) {
  if (const auto* integer = std::get_if<IntegerKind>(&attribute.kind()))
    return IntegerEnd(attribute, *integer, value, end);
  if (const auto* numeric = std::get_if<NumericKind>(&attribute.kind())) {
    ASSIGN_OR_RETURN(const size_t edge, EdgeAt(attribute, *numeric, value, end));
    return static_cast<uint32_t>(end == End::kFrom ? edge : edge - 1);
  }
  if (const auto* date = std::get_if<DateKind>(&attribute.kind()))
    return DateEnd(attribute, *date, value, end);
  ASSIGN_OR_RETURN(const uint32_t code, CodeOfValue(attribute, value));
  if (code >= attribute.run_size()) return NoEndError(attribute, value);
  return code;
}

// Whether no other value is in its bin.
bool IsAlone(const Attribute& attribute, uint32_t code) {
  if (code == attribute.missing_code() || std::holds_alternative<CodedKind>(attribute.kind())) return true;
  if (const auto* integer = std::get_if<IntegerKind>(&attribute.kind()))
    return BinOf(*integer, code).first == BinOf(*integer, code).last;
  return false;
}

}  // namespace

absl::StatusOr<uint32_t> CodeOfValue(const Attribute& attribute, std::string_view value) {
  if (std::holds_alternative<CategoricalKind>(attribute.kind())) return CategoryCode(attribute, value);
  if (const std::optional<uint32_t> labelled = CodeOfLabel(attribute, value)) return *labelled;
  const std::optional<uint32_t> code = attribute.CodeOfText(value);
  if (!code) return OutsideError(attribute, value);
  if (IsAlone(attribute, *code)) return *code;
  return absl::InvalidArgumentError(absl::StrCat(Quoted(value), " is only a part of the bin ",
                                                 attribute.Label(*code), " of ", attribute.name(),
                                                 "; ask for the whole bin"));
}

absl::StatusOr<CodeInterval> CodesBetween(const Attribute& attribute, const std::optional<std::string>& from,
                                          const std::optional<std::string>& to) {
  CodeInterval codes{.first = 0, .last = static_cast<uint32_t>(attribute.run_size() - 1)};
  if (from) {
    const absl::StatusOr<uint32_t> first = EndCode(attribute, *from, End::kFrom);
    if (!first.ok()) return InvalidField("from", std::string(first.status().message()));
    codes.first = *first;
  }
  if (to) {
    const absl::StatusOr<uint32_t> last = EndCode(attribute, *to, End::kTo);
    if (!last.ok()) return InvalidField("to", std::string(last.status().message()));
    codes.last = *last;
  }
  if (codes.first <= codes.last) return codes;
  return InvalidField(
      "to", absl::StrCat("lies before the interval begins: no value of ", attribute.name(), " is in it"));
}

CodeRuns RunsOf(std::vector<uint32_t> codes) {
  std::ranges::sort(codes);
  CodeRuns runs;
  for (const uint32_t code : codes) {
    if (runs.empty() || code > runs.back().last + 1) {
      runs.push_back({code, code});
    } else {
      runs.back().last = code;
    }
  }
  return runs;
}

CodeRuns CommonTo(const CodeRuns& one, const CodeRuns& other) {
  CodeRuns common;
  for (size_t i = 0, j = 0; i < one.size() && j < other.size();) {
    const CodeInterval both{std::max(one[i].first, other[j].first), std::min(one[i].last, other[j].last)};
    if (both.first <= both.last) common.push_back(both);
    ++(one[i].last < other[j].last ? i : j);
  }
  return common;
}

std::string DescribeCondition(const Attribute& attribute, const CodeRuns& runs) {
  const bool is_named = std::holds_alternative<CategoricalKind>(attribute.kind()) ||
                        std::holds_alternative<CodedKind>(attribute.kind());
  if (runs.size() == 1 && !is_named)
    return absl::StrCat(attribute.name(), " in ", attribute.IntervalLabel(runs[0].first, runs[0].last));
  if (runs.size() == 1 && runs[0].first == runs[0].last)
    return absl::StrCat(attribute.name(), " = ", attribute.Label(runs[0].first));
  std::string list;
  size_t listed = 0;
  for (const CodeInterval& run : runs) {
    if (listed++ == kMostListed) {
      absl::StrAppend(&list, ", ...");
      break;
    }
    absl::StrAppend(&list, list.empty() ? "" : ", ", attribute.IntervalLabel(run.first, run.last));
  }
  return absl::StrCat(attribute.name(), " in {", list, "}");
}

}  // namespace curator::dp
