// Whether a rule of the dataset's owner refuses a request that would be charged, decided on public facts of
// the request alone: who makes it, its kind, its attributes, its price and the time.
//
// The rules are those of the dataset's record, which may be outdated: the ledger makes a new charge only
// while the dataset has them (ledger::ChargeRequest::refusal_rules_hash).
//
// Thread-safe: pure functions, but for the clock.
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "absl/functional/function_ref.h"
#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "codec/refusal_rules_codec.h"
#include "dp/queries/linear_queries.h"
#include "dp/workload/statistics/asked_statistics.h"
#include "ledger/ledger.h"
#include "ledger/types.h"
#include "service/access.h"
#include "service/charges/pricing.h"

namespace curator::service {

// What rules see of a request. Holds references, which must outlive it.
struct RuledRequest {
  const Principal& principal;
  int64_t kind = 0;  // codec::kRuledWorkload, ...
  // The attributes that it uses, by their places in the domain, and the measures, by theirs after the
  // attributes; none: all of them, because what a mechanism outside of this server reads cannot be observed.
  std::optional<std::set<uint32_t>> attributes;
  const Price& price;
  const std::vector<ledger::Account>& accounts;  // those of the price
  absl::Time now = absl::Now();
};

// Adds the attributes over which the queries are.
void AddAttributesOf(std::span<const dp::QueryGroup> groups, std::set<uint32_t>& attributes);
// Those of the groups, the measures that are asked of, and the attributes that have the name of such a
// measure or are read from its column: an owner who refuses an attribute refuses its numbers.
void AddAttributesOf(const dp::Domain& domain, const dp::AskedStatistics& asked,
                     std::set<uint32_t>& attributes);
// Adds the attribute by which the dataset is divided, for a request that names parts: it selects records by
// their bins.
void AddPartitionAttribute(const DatasetView& dataset, std::set<uint32_t>& attributes);

// RefusedByRule() when a rule refuses the request: the message has the rule's name and note, and what of the
// caller's own request to change. `request` is called only where the dataset has rules. Errors: DATA_LOSS for
// rules that cannot be read, so that nothing is let pass; those of the ledger, which knows the principal's
// pseudonym: rules list principals by these.
absl::Status CheckNoRuleRefuses(ledger::Ledger& ledger, const DatasetView& dataset,
                                absl::FunctionRef<RuledRequest()> request);

// The name of the first rule that refuses the request; empty when there is none. Errors as above.
absl::StatusOr<std::string> RuleThatRefuses(ledger::Ledger& ledger, const DatasetView& dataset,
                                            absl::FunctionRef<RuledRequest()> request);

}  // namespace curator::service
