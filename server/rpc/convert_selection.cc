#include "rpc/convert_selection.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "rpc/convert_workload.h"

namespace curator::rpc {
namespace {

absl::StatusOr<service::OutputSource> SourceFromProto(const v1::OutputSource& source,
                                                      const std::string& path) {
  switch (source.source_case()) {
    case v1::OutputSource::kAttribute:
      return service::OutputSource(source.attribute());
    case v1::OutputSource::kStatistic:
      return service::OutputSource(source.statistic());
    case v1::OutputSource::SOURCE_NOT_SET:
      break;
  }
  return InvalidField(path + ".source", "must be an attribute of the groups or the position of a statistic");
}

// How deep a condition may still be, and how many comparisons it may still have.
struct ConditionLimits {
  int levels_left = service::kMostConditionDepth;
  size_t& comparisons_left;
};
absl::StatusOr<service::GroupCondition> GroupConditionFromProto(const v1::GroupCondition& condition,
                                                                const std::string& path,
                                                                ConditionLimits limits);

absl::StatusOr<service::GroupCondition> JoinedFromProto(service::GroupCondition::Kind kind,
                                                        const v1::GroupConditions& conditions,
                                                        const std::string& path,
                                                        const ConditionLimits& limits) {
  if (conditions.conditions().empty()) return InvalidField(path, "needs at least one condition");
  service::GroupCondition result{.kind = kind};
  for (int i = 0; i < conditions.conditions_size(); ++i) {
    ASSIGN_OR_RETURN(service::GroupCondition operand,
                     GroupConditionFromProto(conditions.conditions(i),
                                             absl::StrCat(path, ".conditions[", i, "]"), limits));
    result.operands.push_back(std::move(operand));
  }
  return result;
}

absl::StatusOr<service::GroupCondition> GroupConditionFromProto(const v1::GroupCondition& condition,
                                                                const std::string& path,
                                                                ConditionLimits limits) {
  using Kind = service::GroupCondition::Kind;
  if (limits.levels_left-- == 0) {
    return InvalidField("selection.having",
                        absl::StrCat("is nested deeper than ", service::kMostConditionDepth));
  }
  switch (condition.condition_case()) {
    case v1::GroupCondition::kCompare: {
      if (limits.comparisons_left-- == 0) {
        return InvalidField("selection.having",
                            absl::StrCat("has more than ", service::kMostGroupConditions, " comparisons"));
      }
      service::GroupCondition result{
          .compare = {.statistic = condition.compare().statistic(), .value = condition.compare().value()}};
      ASSIGN_OR_RETURN(result.compare.op,
                       rpc::FromProto(condition.compare().operator_(), path + ".compare.operator"));
      return result;
    }
    case v1::GroupCondition::kAllOf:
      return JoinedFromProto(Kind::kAllOf, condition.all_of(), path + ".all_of", limits);
    case v1::GroupCondition::kAnyOf:
      return JoinedFromProto(Kind::kAnyOf, condition.any_of(), path + ".any_of", limits);
    case v1::GroupCondition::kNot: {
      service::GroupCondition result{.kind = Kind::kNot};
      ASSIGN_OR_RETURN(service::GroupCondition operand,
                       GroupConditionFromProto(condition.not_(), path + ".not", limits));
      result.operands.push_back(std::move(operand));
      return result;
    }
    case v1::GroupCondition::CONDITION_NOT_SET:
      break;
  }
  return InvalidField(path, "must be one of compare, all_of, any_of and not");
}

}  // namespace

absl::StatusOr<service::Selection> FromProto(const v1::Selection& selection) {
  service::Selection result;
  for (int i = 0; i < selection.columns_size(); ++i) {
    const v1::OutputColumn& column = selection.columns(i);
    ASSIGN_OR_RETURN(service::OutputSource source,
                     SourceFromProto(column.source(), absl::StrCat("selection.columns[", i, "]")));
    result.columns.push_back({column.name(), std::move(source)});
  }
  if (selection.has_having()) {
    size_t comparisons_left = service::kMostGroupConditions;
    ASSIGN_OR_RETURN(result.having, GroupConditionFromProto(selection.having(), "selection.having",
                                                            {.comparisons_left = comparisons_left}));
  }
  for (int i = 0; i < selection.order_by_size(); ++i) {
    const v1::SortKey& key = selection.order_by(i);
    ASSIGN_OR_RETURN(service::OutputSource source,
                     SourceFromProto(key.source(), absl::StrCat("selection.order_by[", i, "]")));
    result.order_by.push_back({std::move(source), key.descending()});
  }
  if (selection.has_limit()) result.limit = selection.limit();
  if (selection.has_offset()) result.offset = selection.offset();
  return result;
}

}  // namespace curator::rpc
