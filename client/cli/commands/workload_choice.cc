#include "client/cli/commands/workload_choice.h"

#include <string>
#include <utility>

#include "base/status_macros.h"
#include "client/cli/output/files.h"
#include "client/cli/syntax/where.h"

namespace curator::cli {
namespace {

void AddNames(const std::vector<std::string>& names, google::protobuf::RepeatedPtrField<std::string>* field) {
  for (const std::string& name : names) *field->Add() = name;
}

void AddKWay(int k, const std::vector<std::string>& attributes, v1::AllKWay* all) {
  all->set_k(k);
  AddNames(attributes, all->mutable_attributes());
}

void AddNamedSets(const WorkloadChoice& choice, v1::Workload& workload) {
  if (choice.marginals > 0) {
    AddKWay(choice.marginals, choice.attributes,
            workload.add_query_sets()->mutable_marginals()->mutable_all_k_way());
  }
  for (const std::vector<std::string>& names : choice.ranges)
    AddNames(names, workload.add_query_sets()->mutable_ranges()->mutable_attributes());
  for (const std::string& name : choice.prefixes)
    workload.add_query_sets()->mutable_prefixes()->set_attribute(name);
}

absl::Status AddThresholds(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  for (const std::string& text : choice.thresholds) {
    ASSIGN_OR_RETURN(ParsedThresholds parsed, ParseThresholds(text));
    RETURN_IF_ERROR(CheckEnds(parsed.conditions, schema));
    v1::Thresholds& thresholds = *workload.add_query_sets()->mutable_thresholds();
    for (v1::Condition& condition : parsed.conditions.conditions)
      *thresholds.add_conditions() = std::move(condition);
    for (const int32_t least : parsed.at_least) thresholds.add_at_least(least);
    thresholds.set_k(parsed.each);
    AddNames(choice.by, thresholds.mutable_by());
  }
  return absl::OkStatus();
}

// All of --where are one query set: their sensitivity is that of all of them together.
absl::Status AddPredicates(const WorkloadChoice& choice, const v1::Schema& schema, v1::Workload& workload) {
  if (choice.where.empty()) return absl::OkStatus();
  v1::Predicates& predicates = *workload.add_query_sets()->mutable_predicates();
  for (const std::string& text : choice.where) {
    ASSIGN_OR_RETURN(ParsedConditions parsed, ParseWhere(text));
    RETURN_IF_ERROR(CheckEnds(parsed, schema));
    v1::Predicate& predicate = *predicates.add_predicates();
    for (v1::Condition& condition : parsed.conditions) *predicate.add_all_of() = std::move(condition);
  }
  AddNames(choice.by, predicates.mutable_by());
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<v1::Workload> WorkloadOf(const WorkloadChoice& choice, const v1::Schema& schema) {
  v1::Workload workload;
  if (!choice.file.empty()) {
    ASSIGN_OR_RETURN(workload, ReadWorkload(choice.file));
  }
  AddNamedSets(choice, workload);
  RETURN_IF_ERROR(AddThresholds(choice, schema, workload));
  if (choice.parities > 0) {
    AddKWay(choice.parities, choice.attributes,
            workload.add_query_sets()->mutable_parities()->mutable_up_to_k_way());
  }
  RETURN_IF_ERROR(AddPredicates(choice, schema, workload));
  for (v1::QuerySet& set : *workload.mutable_query_sets()) {
    if (!set.has_marginals() && set.strategy() == v1::STRATEGY_UNSPECIFIED) set.set_strategy(choice.strategy);
  }
  return workload;
}

v1::Spend SpendOf(const SpendChoice& choice) {
  v1::Spend spend;
  spend.set_epsilon(choice.epsilon);
  spend.set_delta(choice.delta);
  spend.set_rho(choice.rho);
  return spend;
}

}  // namespace curator::cli
