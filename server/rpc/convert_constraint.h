// Constraints of a schema, between their wire form and dp/domain.
//
// Thread-safe: pure functions.
#pragma once

#include "absl/status/statusor.h"
#include "curator/v1/schema.pb.h"
#include "dp/domain/domain.h"

namespace curator::rpc {

// INVALID_ARGUMENT with a field path below the constraint ("allowed_pairs.pairs[3].values[0]") when it has no
// rule, or names attributes that `domain` does not have, or values that lie in none of their bins.
absl::StatusOr<dp::ConstraintRule> FromProto(const v1::Constraint& constraint, const dp::Domain& domain);

// A bin of an allowed pair is written as the first of its values. `domain` has the rule's attributes.
v1::Constraint ToProto(const dp::ConstraintRule& rule, const dp::Domain& domain);

}  // namespace curator::rpc
