// Predicates (conditions that must all hold, or an expression with "or" and "not") resolved to the cells of
// their attributes that fulfil them.
//
// Conditions are true, false or unknown of a record, as in SQL; a record fulfils an expression that is true.
// Missing values, and of ordered categories the catch-all where order matters, are unknown; `is_missing`, and
// a list or a comparison for equality that names the bin of missing values, are true or false of every
// record.
//
// From public facts alone. Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"
#include "service/workloads/query_classes.h"
#include "service/workloads/resolve_conditions.h"

namespace curator::service {

inline constexpr size_t kMostConditionsOfExpression = 1024;

// What the predicates of one request may take together: one for each request. Not thread-safe.
inline constexpr int64_t kMostPredicateCells = int64_t{1} << 22;
inline constexpr int64_t kMostPredicateSteps = int64_t{1} << 28;  // cells times conditions: about a second
class PredicateAllowance {
 public:
  // INVALID_ARGUMENT (`path`) when less is left.
  absl::Status Take(int64_t cells, int64_t steps, const std::string& path);

 private:
  int64_t cells_ = kMostPredicateCells;
  int64_t steps_ = kMostPredicateSteps;
};

struct ResolvedPredicate {
  dp::AttributeSet attributes;  // those that decide; none: every record fulfils it
  std::vector<uint32_t> cells;  // of the marginal over them that fulfil it, rising; none without attributes
  std::string words;            // "age >= 65 or smoker = yes"; "all records" of an empty predicate
  bool operator==(const ResolvedPredicate&) const = default;
};

// Errors: INVALID_ARGUMENT with the field's path below the predicate ("all_of[1].between.from",
// "expression.any_of.expressions[0].condition.compare.value"): for a condition that cannot be asked, with the
// nearest that can; for a predicate that no record can fulfil; for an expression that is deeper than
// kDeepestExpression, has more conditions than kMostConditionsOfExpression, or has attributes with more cells
// than `allowance` has, before anything is built.
absl::StatusOr<ResolvedPredicate> ResolvePredicate(const dp::Domain& domain,
                                                   const PredicateRequest& predicate,
                                                   PredicateAllowance& allowance);

// The same, without cells where conditions on different attributes say it: `conditions`, one for each
// attribute in rising order, all of which must hold; they have any number of cells. Errors: likewise, and for
// a condition on an attribute of `by`.
struct PredicateForm {
  std::optional<std::vector<ResolvedCondition>> conditions;
  ResolvedPredicate predicate;  // beside `conditions` perhaps only its words
};
absl::StatusOr<PredicateForm> ResolvePredicateForm(const dp::Domain& domain,
                                                   const PredicateRequest& predicate,
                                                   const dp::AttributeSet& by, PredicateAllowance& allowance);

// Counts the records that fulfil a predicate: one query for each cell of `by`, which has none of its
// attributes. The predicate has attributes and cells.
QueryGroupSize SizeOfPredicate(const dp::Domain& domain, const ResolvedPredicate& predicate,
                               const dp::AttributeSet& by);
dp::QueryGroup PredicateQueries(const dp::Domain& domain, const ResolvedPredicate& predicate,
                                const dp::AttributeSet& by);

}  // namespace curator::service
