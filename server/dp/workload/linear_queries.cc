#include "dp/workload/linear_queries.h"

#include <algorithm>
#include <cstdlib>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

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

}  // namespace curator::dp
