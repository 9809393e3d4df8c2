// The rules by which the owner of a dataset refuses requests: added, removed, listed. What they refuse:
// service/charges/refusals_by_rule.h.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, and those of
// FindDataset(), NOT_FOUND and PERMISSION_DENIED.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "codec/refusal_rules_codec.h"
#include "service/access.h"

namespace curator::service {

struct RefusalRuleOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  codec::RefusalRule rule;  // its lists in any order
};

// Adds the rule, and returns it as it is stored. The same rule again changes nothing. Errors:
// INVALID_ARGUMENT ("rule.attributes[0]", ...) for a name, an attribute, a principal or a counter that there
// is not, and for times that no request can be made at; ALREADY_EXISTS when the dataset has another rule of
// this name; FAILED_PRECONDITION when it has codec::kMostRefusalRules or they would take more than
// ledger::kMostRefusalRulesBytes, and for a public dataset.
absl::StatusOr<codec::RefusalRule> AddRefusalRule(const Access& access, const RefusalRuleOrder& order,
                                                  Intent intent);

struct RefusalRuleRemoval {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  std::string rule;  // its name
};

// NOT_FOUND when the dataset has no rule of this name. A repetition of the request changes nothing.
absl::Status RemoveRefusalRule(const Access& access, const RefusalRuleRemoval& order, Intent intent);

// By name. For a principal that may not list all: those that may refuse a request of its own, which say of
// principals no more than that it is one of them.
absl::StatusOr<std::vector<codec::RefusalRule>> ListRefusalRules(const Access& access,
                                                                 const Principal& principal,
                                                                 const DatasetName& dataset);

}  // namespace curator::service
