#include "dp/workload/comparisons.h"

#include <algorithm>
#include <optional>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::dp {
namespace {

bool IsBelow(ComparisonOperator op) {
  return op == ComparisonOperator::kLess || op == ComparisonOperator::kLessOrEqual;
}

// Whether the value itself is on the side of the smaller values: of `<=` and `>`.
bool IsCutAfter(ComparisonOperator op) {
  return op == ComparisonOperator::kLessOrEqual || op == ComparisonOperator::kGreater;
}

// One comparison of one attribute, for messages.
struct Compared {
  const Attribute& attribute;
  ComparisonOperator op;
  std::string_view text;

  std::string With(ComparisonOperator sign, const std::string& value) const {
    return absl::StrCat(attribute.name(), " ", std::string(SignOf(sign)), " ", value);
  }

  std::string Shown() const {
    constexpr size_t kMostBytesShown = 60;
    const std::string_view trimmed = TrimBlanks(text);
    return absl::StrCat("\"", With(op, std::string(trimmed.substr(0, kMostBytesShown))),
                        trimmed.size() > kMostBytesShown ? "...\"" : "\"");
  }

  absl::Status Outside() const {
    return absl::InvalidArgumentError(
        absl::StrCat(Shown(), ": the value ", attribute.WhyTextOutside(text), " of ", attribute.name()));
  }

  absl::Status Cuts(std::string_view bin, const std::vector<std::string>& nearest) const {
    std::string list;
    for (const std::string& one : nearest) absl::StrAppend(&list, list.empty() ? "" : " and ", one);
    return absl::InvalidArgumentError(absl::StrCat(Shown(), " cuts the bin ", std::string(bin), " of ",
                                                   attribute.name(), "; the nearest that ",
                                                   nearest.size() == 1 ? "does" : "do", " not: ", list));
  }
};

// Codes below `position` are on the side of the smaller values.
struct Cut {
  int64_t position = 0;
  std::string value;
};

absl::StatusOr<Cut> CutOfInteger(const Compared& compared, const IntegerKind& kind) {
  const auto read = ReadInteger(TrimBlanks(compared.text));
  const int64_t* const number = std::get_if<int64_t>(&read);
  if (number == nullptr) return compared.Outside();
  const Int128 after = IsCutAfter(compared.op) ? 1 : 0;
  const Int128 cut = Int128{*number} + after;
  const Int128 end = Int128{kind.max} + 1;
  if (cut < kind.min || cut > end) return compared.Outside();
  const Int128 bin = (cut - kind.min) / kind.bin_width;
  const Int128 first = Int128{kind.min} + bin * kind.bin_width;
  if (cut == first) return Cut{static_cast<int64_t>(bin), absl::StrCat(*number)};
  if (cut == end) return Cut{static_cast<int64_t>(bin) + 1, absl::StrCat(*number)};
  const Int128 next = std::min<Int128>(first + kind.bin_width, end);
  std::vector<std::string> nearest;
  const auto add = [&](Int128 at) {
    const auto value = static_cast<int64_t>(at - after);
    if (value == at - after) nearest.push_back(compared.With(compared.op, absl::StrCat(value)));
  };
  if (!IsBelow(compared.op) || first > kind.min) add(first);
  if (IsBelow(compared.op) || next < end) add(next);
  return compared.Cuts(compared.attribute.Label(static_cast<uint32_t>(bin)), nearest);
}

// The last bin holds its upper edge; every other edge belongs to the bin that it begins.
absl::StatusOr<Cut> CutOfNumber(const Compared& compared, const NumericKind& kind) {
  const auto read = ReadNumber(TrimBlanks(compared.text));
  const double* const number = std::get_if<double>(&read);
  if (number == nullptr || *number < kind.edges.front() || *number > kind.edges.back())
    return compared.Outside();
  const auto bins = static_cast<int64_t>(kind.edges.size()) - 1;
  const bool is_last_edge = *number == kind.edges.back();
  const auto above = std::upper_bound(kind.edges.begin(), kind.edges.end(), *number) - kind.edges.begin();
  const int64_t bin = std::min<int64_t>(above - 1, bins - 1);
  const double from = kind.edges[static_cast<size_t>(bin)];
  if (is_last_edge && IsCutAfter(compared.op)) return Cut{bins, WriteNumber(*number)};
  if (*number == from && !IsCutAfter(compared.op)) return Cut{bin, WriteNumber(*number)};
  const ComparisonOperator sign =
      IsBelow(compared.op) ? ComparisonOperator::kLess : ComparisonOperator::kGreaterOrEqual;
  std::vector<std::string> nearest;
  if (!IsBelow(compared.op) || bin > 0) nearest.push_back(compared.With(sign, WriteNumber(from)));
  const std::string to = WriteNumber(kind.edges[static_cast<size_t>(bin) + 1]);
  if (bin + 1 < bins) {
    nearest.push_back(compared.With(sign, to));
  } else if (IsBelow(compared.op)) {
    nearest.push_back(compared.With(ComparisonOperator::kLessOrEqual, to));
  }
  return compared.Cuts(compared.attribute.Label(static_cast<uint32_t>(bin)), nearest);
}

absl::StatusOr<Cut> CutAtTime(const Compared& compared, const DateKind& kind, int64_t cut,
                              std::string value) {
  if (cut < kind.from || cut > kind.until) return compared.Outside();
  if (cut == kind.until) return Cut{compared.attribute.run_size(), std::move(value)};
  const int64_t bin = DateBinOf(kind, cut);
  const DateInterval dates = DatesOfBin(kind, bin);
  if (cut == dates.from) return Cut{bin, std::move(value)};
  const ComparisonOperator sign =
      IsBelow(compared.op) ? ComparisonOperator::kLess : ComparisonOperator::kGreaterOrEqual;
  std::vector<std::string> nearest;
  if (!IsBelow(compared.op) || dates.from > kind.from)
    nearest.push_back(compared.With(sign, WriteDeclaredTime(dates.from)));
  if (IsBelow(compared.op) || dates.until < kind.until)
    nearest.push_back(compared.With(sign, WriteDeclaredTime(dates.until)));
  return compared.Cuts(compared.attribute.Label(static_cast<uint32_t>(bin)), nearest);
}

absl::StatusOr<Cut> CutOfDate(const Compared& compared, const DateKind& kind) {
  const std::string_view text = TrimBlanks(compared.text);
  const bool after = IsCutAfter(compared.op);
  if (const std::optional<int64_t> bin = DateBinOfLabel(kind, text))
    return Cut{*bin + (after ? 1 : 0), DateLabel(kind, *bin, *bin)};
  const absl::StatusOr<DeclaredTime> time = ParseDeclaredTime(text);
  if (!time.ok()) return compared.Outside();
  if (after && !time->is_day) {
    return absl::InvalidArgumentError(absl::StrCat(compared.Shown(), ": a bin of ", compared.attribute.name(),
                                                   " ends before a time and begins at one; ", "write ",
                                                   IsBelow(compared.op) ? "< " : ">= ", std::string(text)));
  }
  constexpr int64_t kSecondsOfDay = 86'400;
  return CutAtTime(compared, kind, time->seconds + (after ? kSecondsOfDay : 0),
                   WriteDeclaredTime(time->seconds));
}

absl::StatusOr<Cut> CutOfCategory(const Compared& compared) {
  ASSIGN_OR_RETURN(const uint32_t code, CodeOfValue(compared.attribute, compared.text));
  return Cut{int64_t{code} + (IsCutAfter(compared.op) ? 1 : 0), compared.attribute.Label(code)};
}

absl::StatusOr<Cut> CutOf(const Compared& compared) {
  const Attribute& attribute = compared.attribute;
  const auto* const categorical = std::get_if<CategoricalKind>(&attribute.kind());
  if ((categorical != nullptr && !categorical->ordered) ||
      std::holds_alternative<CodedKind>(attribute.kind())) {
    return absl::InvalidArgumentError(absl::StrCat(compared.Shown(), ": the values of ", attribute.name(),
                                                   " are in no order; =, !=, a list (in) and an interval "
                                                   "(between) of them work"));
  }
  const std::optional<uint32_t> code = attribute.CodeOfText(compared.text);
  if (code && *code >= attribute.run_size())
    return absl::InvalidArgumentError(
        absl::StrCat(compared.Shown(), ": the value is in no order; = and != of it work"));
  if (categorical != nullptr) return CutOfCategory(compared);
  if (const auto* integer = std::get_if<IntegerKind>(&attribute.kind()))
    return CutOfInteger(compared, *integer);
  if (const auto* numeric = std::get_if<NumericKind>(&attribute.kind()))
    return CutOfNumber(compared, *numeric);
  return CutOfDate(compared, std::get<DateKind>(attribute.kind()));
}

// The codes below `codes` without one.
CodeRuns AllBut(uint32_t code, uint32_t codes) {
  CodeRuns runs;
  if (code > 0) runs.push_back({0, std::min(code, codes) - 1});
  if (code + 1 < codes) runs.push_back({code + 1, codes - 1});
  return runs;
}

absl::StatusOr<ComparedCodes> CodesEqual(const Compared& compared) {
  const Attribute& attribute = compared.attribute;
  ASSIGN_OR_RETURN(const uint32_t code, CodeOfValue(attribute, compared.text));
  const auto size = static_cast<uint32_t>(attribute.size());
  const bool is_missing = attribute.missing_code() == code;
  const uint32_t known = is_missing ? size : attribute.missing_code().value_or(size);
  ComparedCodes codes{.runs = {{code, code}}, .unknown_from = known, .value = attribute.Label(code)};
  if (compared.op == ComparisonOperator::kNotEqual) codes.runs = AllBut(code, known);
  if (!codes.runs.empty()) return codes;
  return absl::InvalidArgumentError(
      absl::StrCat(compared.Shown(), ": there is no other value of ", attribute.name()));
}

}  // namespace

std::string_view SignOf(ComparisonOperator op) {
  switch (op) {
    case ComparisonOperator::kEqual:
      return "=";
    case ComparisonOperator::kNotEqual:
      return "!=";
    case ComparisonOperator::kLess:
      return "<";
    case ComparisonOperator::kLessOrEqual:
      return "<=";
    case ComparisonOperator::kGreater:
      return ">";
    case ComparisonOperator::kGreaterOrEqual:
      break;
  }
  return ">=";
}

absl::StatusOr<ComparedCodes> CodesCompared(const Attribute& attribute, ComparisonOperator op,
                                            std::string_view value) {
  const Compared compared{attribute, op, value};
  if (op == ComparisonOperator::kEqual || op == ComparisonOperator::kNotEqual) return CodesEqual(compared);
  ASSIGN_OR_RETURN(Cut cut, CutOf(compared));
  const int64_t codes = attribute.run_size();
  const int64_t first = IsBelow(op) ? 0 : cut.position;
  const int64_t end = IsBelow(op) ? cut.position : codes;
  if (first >= end)
    return absl::InvalidArgumentError(
        absl::StrCat(compared.Shown(), ": no value of ", attribute.name(), " fulfils it"));
  return ComparedCodes{.runs = {{static_cast<uint32_t>(first), static_cast<uint32_t>(end - 1)}},
                       .unknown_from = static_cast<uint32_t>(codes),
                       .value = std::move(cut.value)};
}

}  // namespace curator::dp
