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

std::vector<int64_t> SizesOf(const Domain& domain, const AttributeSet& set) {
  std::vector<int64_t> sizes;
  for (const uint32_t attribute : set) sizes.push_back(domain.attributes()[attribute].size());
  return sizes;
}

absl::Status CheckBoxes(const Domain& domain, const QueryGroup& group, const Boxes& boxes) {
  const size_t sides = group.attributes.size();
  if (boxes.sides.empty()) return absl::InvalidArgumentError("a group has no queries");
  if (boxes.sides.size() % sides != 0)
    return absl::InvalidArgumentError("a box has not one interval for each attribute of its marginal");
  const std::vector<int64_t> sizes = SizesOf(domain, group.attributes);
  int64_t left = kMostBoxSteps;
  for (size_t at = 0; at < boxes.sides.size(); at += sides) {
    const std::span<const CodeInterval> box = std::span(boxes.sides).subspan(at, sides);
    for (size_t side = 0; side < sides; ++side) {
      if (box[side].first > box[side].last || box[side].last >= sizes[side]) {
        return absl::InvalidArgumentError(absl::StrCat("an interval from code ", box[side].first, " to ",
                                                       box[side].last, " is none of the ", sizes[side],
                                                       " bins of its attribute"));
      }
    }
    left -= BoxSteps(box);
    if (left < 0) {
      return absl::InvalidArgumentError(
          absl::StrCat("the boxes have more than ", kMostBoxSteps, " corners together, which is the limit"));
    }
  }
  return absl::OkStatus();
}

OneRecord Of(const Domain& domain, const AttributeSet& attributes, const Boxes& boxes) {
  const std::vector<int64_t> cover = BoxCover(SizesOf(domain, attributes), boxes.sides);
  const int64_t most = *std::ranges::max_element(cover);
  const auto queries = static_cast<int64_t>(boxes.sides.size() / attributes.size());
  return {.l1 = most,
          .l2_squared = most,
          .largest = 1,
          .spans = queries,
          .spans_squared = queries,
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

OneRecord Of(const Domain& domain, const QueryGroup& group) {
  if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) return Of(*queries);
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) return Of(domain, group.attributes, *boxes);
  return OfEveryCell(domain.CellCount(group.attributes).value_or(0));
}

template <typename T>
std::vector<T> AnswersFrom(const Domain& domain, const QueryGroup& group, std::span<const T> counts) {
  if (const auto* boxes = std::get_if<Boxes>(&group.queries))
    return BoxSums(SizesOf(domain, group.attributes), boxes->sides, counts);
  const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries);
  if (queries == nullptr) return {counts.begin(), counts.end()};
  std::vector<T> answers;
  answers.reserve(queries->size());
  for (const LinearQuery& query : *queries) {
    T answer = 0;
    for (const WeightedCell& term : query) answer += static_cast<T>(term.weight) * counts[term.cell];
    answers.push_back(answer);
  }
  return answers;
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
    } else if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
      RETURN_IF_ERROR(CheckBoxes(domain, group, *boxes));
      left -= static_cast<int64_t>(boxes->sides.size());
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
  if (const auto* boxes = std::get_if<Boxes>(&group.queries))
    return static_cast<int64_t>(boxes->sides.size() / group.attributes.size());
  return domain.CellCount(group.attributes).value_or(0);
}

std::vector<int64_t> AnswersFromCounts(const Domain& domain, const QueryGroup& group,
                                       std::span<const int64_t> counts) {
  return AnswersFrom(domain, group, counts);
}

std::vector<double> AnswersFromEstimates(const Domain& domain, const QueryGroup& group,
                                         std::span<const double> estimates) {
  return AnswersFrom(domain, group, estimates);
}

Boxes AllIntervals(int64_t size) {
  Boxes boxes;
  boxes.sides.reserve(static_cast<size_t>(size * (size + 1) / 2));
  for (uint32_t first = 0; first < size; ++first) {
    for (uint32_t last = first; last < size; ++last) boxes.sides.push_back({first, last});
  }
  return boxes;
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
    const OneRecord one = Of(domain, group);
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
