#include "service/resolve_names.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"

namespace curator::service {

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
  if (condition.between.has_value() == !condition.values.empty())
    return InvalidField(path, "needs either values (in) or an interval (between), and not both");
  if (condition.between) {
    ASSIGN_OR_RETURN(const dp::CodeInterval codes,
                     ResolveInterval(domain, attribute, *condition.between, path + ".between"));
    return ResolvedCondition{attribute, {codes}};
  }
  std::vector<uint32_t> codes;
  for (size_t i = 0; i < condition.values.size(); ++i) {
    const absl::StatusOr<uint32_t> code =
        dp::CodeOfValue(domain.attributes()[attribute], condition.values[i]);
    if (!code.ok()) return AtPath(absl::StrCat(path, ".in[", i, "]"), "", code.status());
    codes.push_back(*code);
  }
  return ResolvedCondition{attribute, dp::RunsOf(std::move(codes))};
}

std::string WordsOf(const dp::Domain& domain, const std::vector<ResolvedCondition>& conditions) {
  std::string words;
  for (const ResolvedCondition& condition : conditions) {
    absl::StrAppend(&words, words.empty() ? "" : " and ",
                    dp::DescribeCondition(domain.attributes()[condition.attribute], condition.runs));
  }
  return words.empty() ? "all records" : words;
}

}  // namespace curator::service
