// Schemas, datasets, rules and relations between the wire and plain types. Protobuf ends here.
//
// Errors: INVALID_ARGUMENT with the field's path as the caller wrote it. Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/schema.pb.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "service/access.h"

namespace curator::rpc {

absl::StatusOr<dp::Schema> FromProto(const v1::Schema& schema);
v1::Schema ToProto(const dp::Schema& schema);

// ADD_REMOVE when unspecified.
absl::StatusOr<dp::NeighbourRelation> FromProto(v1::NeighbourRelation relation);

absl::StatusOr<dp::RuleSpec> FromProto(const v1::BudgetLimit& limit);
v1::BudgetLimit ToProto(const dp::RuleSpec& rule);
v1::Rule ToProto(dp::RuleKind kind);

// Into a message that has both fields "as in Dataset".
template <typename Message>
void SetFacts(const ledger::DatasetFacts& facts, Message& message) {
  message.set_domain_from_records(facts.domain_from_records);
  message.set_rows_from_query(facts.rows_from_query);
}

// The dataset with what `viewer` may see: grantees only for the owner.
v1::Dataset ToProto(const service::DatasetView& dataset, const Principal& viewer);

}  // namespace curator::rpc
