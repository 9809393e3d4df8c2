#include "dp/workload/linear_queries.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"
#include "base/status_macros.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

constexpr int64_t kMaxSensitivity = int64_t{1} << 53;

absl::Status CheckQuery(const LinearQuery& query, int64_t cells) {
  if (query.empty()) return absl::InvalidArgumentError("a query has no terms");
  int64_t last = -1;
  for (const WeightedCell& term : query) {
    if (term.cell >= cells)
      return absl::InvalidArgumentError(
          absl::StrCat("cell ", term.cell, " is not one of the ", cells, " of the marginal"));
    if (term.cell <= last) return absl::InvalidArgumentError("the cells of a query must rise strictly");
    last = term.cell;
    if (term.weight == 0 || std::abs(int64_t{term.weight}) > kLargestWeight) {
      return absl::InvalidArgumentError(absl::StrCat("a weight must lie between 1 and ", kLargestWeight,
                                                     " or their negatives: ", term.weight));
    }
  }
  return absl::OkStatus();
}

// What one record can do to the answers of a group.
struct OneRecord {
  Int128 l1 = 0;          // of the weights of one cell
  Int128 l2_squared = 0;  // likewise
  int64_t largest = 0;    // weight, in absolute value
  Int128 spans = 0;       // summed over queries
  Int128 spans_squared = 0;
  int64_t largest_span = 0;
  bool has_negative = false;
};

OneRecord OfEveryCell(int64_t cells) {
  return {.l1 = 1,
          .l2_squared = 1,
          .largest = 1,
          .spans = cells,
          .spans_squared = cells,
          .largest_span = 1,
          .has_negative = false};
}

OneRecord Of(const std::vector<LinearQuery>& queries) {
  OneRecord record;
  std::vector<WeightedCell> terms;
  for (const LinearQuery& query : queries) {
    int64_t least = 0;
    int64_t most = 0;
    for (const WeightedCell& term : query) {
      least = std::min<int64_t>(least, term.weight);
      most = std::max<int64_t>(most, term.weight);
      terms.push_back(term);
    }
    const int64_t span = most - least;
    record.has_negative = record.has_negative || least < 0;
    record.largest = std::max({record.largest, most, -least});
    record.spans += span;
    record.spans_squared += static_cast<Int128>(span) * span;
    record.largest_span = std::max(record.largest_span, span);
  }
  std::ranges::sort(terms, {}, &WeightedCell::cell);
  for (size_t first = 0; first < terms.size();) {
    Int128 l1 = 0;
    Int128 l2_squared = 0;
    size_t next = first;
    for (; next < terms.size() && terms[next].cell == terms[first].cell; ++next) {
      const int64_t weight = terms[next].weight;
      l1 += std::abs(weight);
      l2_squared += weight * weight;
    }
    record.l1 = std::max(record.l1, l1);
    record.l2_squared = std::max(record.l2_squared, l2_squared);
    first = next;
  }
  return record;
}

}  // namespace

absl::Status ValidateQueries(const Domain& domain, std::span<const QueryGroup> groups) {
  if (groups.empty()) return absl::InvalidArgumentError("there are no queries");
  int64_t left = kMostQueryTerms;
  for (const QueryGroup& group : groups) {
    RETURN_IF_ERROR(ValidateMarginals(domain, std::span(&group.attributes, 1)));
    ASSIGN_OR_RETURN(const int64_t cells, TotalCells(domain, std::span(&group.attributes, 1)));
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      if (queries->empty()) return absl::InvalidArgumentError("a group has no queries");
      for (const LinearQuery& query : *queries) {
        RETURN_IF_ERROR(CheckQuery(query, cells));
        left -= static_cast<int64_t>(query.size());
      }
    } else {
      left -= cells;
    }
    if (left < 0) {
      return absl::InvalidArgumentError(absl::StrCat("the queries have more than ", kMostQueryTerms,
                                                     " terms together, which is the limit"));
    }
  }
  return absl::OkStatus();
}

int64_t NumberOfQueries(const Domain& domain, const QueryGroup& group) {
  if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries))
    return static_cast<int64_t>(queries->size());
  return domain.CellCount(group.attributes).value_or(0);
}

std::vector<int64_t> AnswersFromCounts(const QueryGroup& group, std::span<const int64_t> counts) {
  const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries);
  if (queries == nullptr) return {counts.begin(), counts.end()};
  std::vector<int64_t> answers;
  answers.reserve(queries->size());
  for (const LinearQuery& query : *queries) {
    int64_t answer = 0;
    for (const WeightedCell& term : query) answer += term.weight * counts[term.cell];
    answers.push_back(answer);
  }
  return answers;
}

absl::StatusOr<Sensitivity> QueriesSensitivity(const Domain& domain, const UnitBound& unit,
                                               std::span<const QueryGroup> groups) {
  RETURN_IF_ERROR(
      MarginalsSensitivity(unit, 1).status());  // the unit's record bound is one that can be counted with
  RETURN_IF_ERROR(ValidateQueries(domain, groups));
  const bool replaces = unit.relation == NeighbourRelation::kReplaceOne;
  const Int128 m = unit.max_records;
  Int128 l1 = 0;
  Int128 l2_squared = 0;
  Int128 linf = 0;
  for (const QueryGroup& group : groups) {
    const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries);
    const OneRecord one =
        queries != nullptr ? Of(*queries) : OfEveryCell(domain.CellCount(group.attributes).value_or(0));
    const int sides = one.has_negative ? 4 : 2;
    const Int128 record_l1 = replaces ? std::min(2 * one.l1, one.spans) : one.l1;
    const Int128 record_l2_squared =
        replaces ? std::min(sides * one.l2_squared, one.spans_squared) : one.l2_squared;
    if (record_l2_squared <= kMaxSensitivity) {  // else m^2 times it might not fit
      l1 += m * record_l1;
      l2_squared += m * m * record_l2_squared;
      linf = std::max<Int128>(linf, m * (replaces ? one.largest_span : one.largest));
    }
    if (std::max({l1, l2_squared, record_l2_squared}) > kMaxSensitivity)
      return absl::OutOfRangeError("the sensitivity of these queries exceeds 2^53");
  }
  return Sensitivity{.l1 = static_cast<int64_t>(l1),
                     .l2_squared = static_cast<int64_t>(l2_squared),
                     .linf = static_cast<int64_t>(linf)};
}

}  // namespace curator::dp
