#include "service/workloads/resolve_conditions.h"

#include <algorithm>
#include <map>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/row_major.h"
namespace curator::service {
namespace {

constexpr int64_t kMostCounted = int64_t{1} << 62;

int64_t Times(int64_t a, int64_t b) {
  int64_t product = 0;
  return __builtin_mul_overflow(a, b, &product) || product > kMostCounted ? kMostCounted : product;
}

dp::AttributeSet AttributesOf(std::span<const ResolvedCondition> conditions, const dp::AttributeSet& by) {
  dp::AttributeSet attributes = by;
  for (const ResolvedCondition& condition : conditions) attributes.push_back(condition.attribute);
  std::ranges::sort(attributes);
  attributes.erase(std::unique(attributes.begin(), attributes.end()), attributes.end());
  return attributes;
}

bool AreIntervals(std::span<const ResolvedCondition> conditions) {
  return std::ranges::all_of(conditions, [](const auto& condition) { return condition.runs.size() == 1; });
}

int64_t CodesIn(const dp::CodeRuns& runs) {
  int64_t codes = 0;
  for (const dp::CodeInterval& run : runs) codes += int64_t{run.last} - run.first + 1;
  return codes;
}

// Calls `visit` with every cell of `attributes` in order: its position and its codes.
template <typename Visit>
void ForEachCell(const dp::Domain& domain, const dp::AttributeSet& attributes, const Visit& visit) {
  std::vector<uint32_t> codes(attributes.size());
  for (uint32_t cell = 0;; ++cell) {
    visit(cell, codes);
    size_t i = attributes.size();
    while (i > 0 && ++codes[i - 1] == domain.attributes()[attributes[i - 1]].size()) codes[--i] = 0;
    if (i == 0) return;
  }
}

// For each code of each attribute, the number of conditions that it satisfies.
std::vector<std::vector<int>> FulfilledBy(const dp::Domain& domain, const dp::AttributeSet& attributes,
                                          std::span<const ResolvedCondition> conditions) {
  std::vector<std::vector<int>> fulfilled;
  for (const uint32_t attribute : attributes) {
    std::vector<int> codes(static_cast<size_t>(domain.attributes()[attribute].size()));
    for (const ResolvedCondition& condition : conditions) {
      if (condition.attribute != attribute) continue;
      for (const dp::CodeInterval& run : condition.runs) {
        for (uint32_t code = run.first; code <= run.last; ++code) ++codes[code];
      }
    }
    fulfilled.push_back(std::move(codes));
  }
  return fulfilled;
}

dp::QueryGroup BoxesOf(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                       const dp::AttributeSet& by) {
  dp::QueryGroup group{.attributes = AttributesOf(conditions, by), .queries = {}};
  std::vector<dp::CodeInterval> box(group.attributes.size());
  std::vector<size_t> by_sides;
  for (size_t i = 0; i < box.size(); ++i) {
    for (const ResolvedCondition& condition : conditions) {
      if (condition.attribute == group.attributes[i]) box[i] = condition.runs.front();
    }
    if (std::ranges::binary_search(by, group.attributes[i])) by_sides.push_back(i);
  }
  dp::Boxes boxes;
  ForEachCell(domain, by, [&](uint32_t, const std::vector<uint32_t>& codes) {
    for (size_t i = 0; i < by_sides.size(); ++i) box[by_sides[i]] = {codes[i], codes[i]};
    boxes.sides.insert(boxes.sides.end(), box.begin(), box.end());
  });
  group.queries = std::move(boxes);
  return group;
}

absl::StatusOr<ResolvedCondition> ResolveIsMissing(const dp::Domain& domain, uint32_t index,
                                                   const std::string& path) {
  const dp::Attribute& attribute = domain.attributes()[index];
  const std::optional<uint32_t> missing = attribute.missing_code();
  if (!missing) {
    return InvalidField(path, absl::StrCat("\"", attribute.name(),
                                           "\" has no bin for missing values: every record has a value of "
                                           "it, so leave the condition out"));
  }
  return ResolvedCondition{.attribute = index,
                           .runs = {{*missing, *missing}},
                           .unknown_from = static_cast<uint32_t>(attribute.size()),
                           .words = attribute.name() + " is missing"};
}

absl::StatusOr<ResolvedCondition> ResolveComparison(const dp::Domain& domain, uint32_t index,
                                                    const Comparison& comparison, const std::string& path) {
  const dp::Attribute& attribute = domain.attributes()[index];
  absl::StatusOr<dp::ComparedCodes> codes = dp::CodesCompared(attribute, comparison.op, comparison.value);
  if (!codes.ok()) return AtPath(path, "", codes.status());
  return ResolvedCondition{.attribute = index,
                           .runs = std::move(codes->runs),
                           .unknown_from = codes->unknown_from,
                           .words = absl::StrCat(attribute.name(), " ",
                                                 std::string(dp::SignOf(comparison.op)), " ", codes->value)};
}

absl::StatusOr<ResolvedCondition> ResolveList(const dp::Domain& domain, uint32_t index,
                                              const std::vector<std::string>& values,
                                              const std::string& path) {
  const dp::Attribute& attribute = domain.attributes()[index];
  const auto size = static_cast<uint32_t>(attribute.size());
  ResolvedCondition resolved{
      .attribute = index, .runs = {}, .unknown_from = attribute.missing_code().value_or(size)};
  std::vector<uint32_t> codes;
  for (size_t i = 0; i < values.size(); ++i) {
    const absl::StatusOr<uint32_t> code = dp::CodeOfValue(attribute, values[i]);
    if (!code.ok()) return AtPath(absl::StrCat(path, "[", i, "]"), "", code.status());
    if (attribute.missing_code() == *code) resolved.unknown_from = size;
    codes.push_back(*code);
  }
  resolved.runs = dp::RunsOf(std::move(codes));
  return resolved;
}

}  // namespace

QueryGroupSize SizeOfConjunction(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                                 const dp::AttributeSet& by) {
  const int64_t queries = std::min(kMostCounted, domain.CellCount(by).value_or(kMostCounted));
  int64_t each = 1;
  if (AreIntervals(conditions)) {
    each = static_cast<int64_t>(conditions.size() + by.size());
  } else {
    return SizeOfThresholds(domain, conditions, std::vector<int>{1}, by);
  }
  return {.queries = queries, .terms = Times(queries, each)};
}

dp::QueryGroup Conjunction(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                           const dp::AttributeSet& by) {
  if (AreIntervals(conditions)) return BoxesOf(domain, conditions, by);
  return Thresholds(domain, conditions, std::vector<int>{static_cast<int>(conditions.size())}, by);
}

QueryGroupSize SizeOfThresholds(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                                std::span<const int> at_least, const dp::AttributeSet& by) {
  const auto thresholds = static_cast<int64_t>(at_least.size());
  const int64_t by_cells = std::min(kMostCounted, domain.CellCount(by).value_or(kMostCounted));
  const int64_t cells =
      std::min(kMostCounted, domain.CellCount(AttributesOf(conditions, by)).value_or(kMostCounted));
  QueryGroupSize size{.queries = Times(thresholds, by_cells), .terms = Times(thresholds, cells)};
  for (const ResolvedCondition& condition : conditions)
    size.terms = std::min(kMostCounted, size.terms + CodesIn(condition.runs));  // the memory to build them
  return size;
}

dp::QueryGroup Thresholds(const dp::Domain& domain, std::span<const ResolvedCondition> conditions,
                          std::span<const int> at_least, const dp::AttributeSet& by) {
  const dp::AttributeSet attributes = AttributesOf(conditions, by);
  const std::vector<int64_t> by_strides = dp::StridesWithin(attributes, domain.SizesOf(attributes), by);
  const std::vector<std::vector<int>> fulfilled = FulfilledBy(domain, attributes, conditions);
  const auto by_cells = static_cast<size_t>(domain.CellCount(by).value_or(1));
  std::vector<dp::LinearQuery> queries(at_least.size() * by_cells);
  ForEachCell(domain, attributes, [&](uint32_t cell, const std::vector<uint32_t>& codes) {
    int count = 0;
    int64_t by_cell = 0;
    for (size_t i = 0; i < codes.size(); ++i) {
      count += fulfilled[i][codes[i]];
      by_cell += by_strides[i] * codes[i];
    }
    for (size_t t = 0; t < at_least.size(); ++t) {
      if (count >= at_least[t]) queries[t * by_cells + static_cast<size_t>(by_cell)].push_back({cell, 1});
    }
  });
  return {.attributes = attributes, .queries = std::move(queries)};
}

int MostSatisfied(const dp::Domain& domain, std::span<const ResolvedCondition> conditions) {
  int most = 0;
  for (const std::vector<int>& codes : FulfilledBy(domain, AttributesOf(conditions, {}), conditions))
    most += *std::ranges::max_element(codes);
  return most;
}

absl::Status AtPath(const std::string& path, std::string_view inner, const absl::Status& status) {
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  if (!violation)
    return absl::IsInvalidArgument(status) ? InvalidField(path, std::string(status.message())) : status;
  const bool is_inside = violation->field.starts_with(inner);
  return InvalidField(is_inside ? path + violation->field.substr(inner.size()) : path,
                      violation->description);
}

absl::StatusOr<uint32_t> ResolveName(const dp::Domain& domain, const std::string& name,
                                     const std::string& path) {
  const absl::StatusOr<uint32_t> index = domain.IndexOf(name);
  if (!index.ok()) return AtPath(path, "", index.status());
  return *index;
}

absl::StatusOr<dp::AttributeSet> ResolveNames(const dp::Domain& domain, const std::vector<std::string>& names,
                                              const std::string& path) {
  if (names.size() > domain.size())
    return InvalidField(path,
                        absl::StrCat("names ", names.size(), " attributes; the dataset has ", domain.size()));
  dp::AttributeSet set;
  for (size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(const uint32_t index, ResolveName(domain, names[i], absl::StrCat(path, "[", i, "]")));
    set.push_back(index);
  }
  std::ranges::sort(set);
  if (const auto twice = std::ranges::adjacent_find(set); twice != set.end())
    return InvalidField(path, absl::StrCat("names ", domain.attributes()[*twice].name(), " twice"));
  return set;
}

absl::StatusOr<dp::CodeInterval> ResolveInterval(const dp::Domain& domain, uint32_t attribute,
                                                 const ValueInterval& interval, const std::string& path) {
  absl::StatusOr<dp::CodeInterval> codes =
      dp::CodesBetween(domain.attributes()[attribute], interval.from, interval.to);
  if (!codes.ok()) return WithinField(path, codes.status());
  return codes;
}

absl::StatusOr<ResolvedCondition> ResolveCondition(const dp::Domain& domain, const Condition& condition,
                                                   const std::string& path) {
  ASSIGN_OR_RETURN(const uint32_t attribute, ResolveName(domain, condition.attribute, path + ".attribute"));
  const int given = (condition.values.empty() ? 0 : 1) + (condition.between ? 1 : 0) +
                    (condition.compare ? 1 : 0) + (condition.is_missing ? 1 : 0);
  if (given != 1) {
    return InvalidField(path,
                        "needs exactly one of values (in), an interval (between), a comparison (compare) "
                        "and is_missing");
  }
  if (condition.is_missing) return ResolveIsMissing(domain, attribute, path + ".is_missing");
  if (condition.compare)
    return ResolveComparison(domain, attribute, *condition.compare, path + ".compare.value");
  if (!condition.between) return ResolveList(domain, attribute, condition.values, path + ".in");
  ASSIGN_OR_RETURN(const dp::CodeInterval codes,
                   ResolveInterval(domain, attribute, *condition.between, path + ".between"));
  const int64_t known = domain.attributes()[attribute].run_size();
  return ResolvedCondition{attribute, {codes}, static_cast<uint32_t>(known)};
}

std::string DescribeConditions(const dp::Domain& domain, const std::vector<ResolvedCondition>& conditions) {
  std::string words;
  for (const ResolvedCondition& condition : conditions) {
    absl::StrAppend(&words, words.empty() ? "" : " and ",
                    condition.words.empty()
                        ? dp::DescribeCondition(domain.attributes()[condition.attribute], condition.runs)
                        : condition.words);
  }
  return words.empty() ? "all records" : words;
}

}  // namespace curator::service
