#include "dp/queries/linear_queries.h"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdlib>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/queries/marginals.h"

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
    return absl::InvalidArgumentError("a box needs one interval for each attribute of its marginal");
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

absl::Status CheckParity(const Domain& domain, const AttributeSet& set, const Parity& parity) {
  const bool is_binary = std::ranges::all_of(
      set, [&](uint32_t attribute) { return domain.attributes()[attribute].size() == 2; });
  if (!is_binary) return absl::InvalidArgumentError("a parity is of attributes of two codes each");
  if (parity.weight >= 1 && parity.weight <= kLargestWeight) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("a weight of a parity must lie between 1 and ", kLargestWeight, ": ", parity.weight));
}

template <typename T>
T ParityOf(std::span<const T> counts) {
  T parity = 0;
  for (size_t cell = 0; cell < counts.size(); ++cell)
    parity += std::popcount(cell) % 2 == 0 ? counts[cell] : -counts[cell];
  return parity;
}

template <typename T>
std::vector<T> AnswersFrom(const Domain& domain, const QueryGroup& group, std::span<const T> counts) {
  if (const auto* parity = std::get_if<Parity>(&group.queries))
    return {static_cast<T>(parity->weight) * ParityOf(counts)};
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
    } else if (const auto* parity = std::get_if<Parity>(&group.queries)) {
      RETURN_IF_ERROR(CheckParity(domain, group.attributes, *parity));
      left -= 1;
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
  if (std::holds_alternative<Parity>(group.queries)) return 1;
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

namespace {

// Attribute by attribute. After the first i of them, tables[j] holds, for y in those and x in the others, the
// sum over cells that end in x and agree with y exactly j times among the first i (j = at_least: at least j
// times). One more attribute turns, for each value v of it,
//   tables[j][v] into tables[j - 1][v] + (sum over all values of tables[j]) - tables[j][v].
template <typename T>
std::vector<T> Thresholds(const Domain& domain, const AttributeSet& set, int64_t at_least,
                          std::span<const T> counts) {
  if (at_least == static_cast<int64_t>(set.size())) return {counts.begin(), counts.end()};
  const auto most = static_cast<size_t>(at_least);
  std::vector<std::vector<T>> tables(most + 1, std::vector<T>(counts.size()));
  tables[0].assign(counts.begin(), counts.end());
  size_t stride = counts.size();
  for (const uint32_t attribute : set) {
    const auto size = static_cast<size_t>(domain.attributes()[attribute].size());
    const size_t outer = counts.size() / stride;
    stride /= size;
    for (size_t high = 0; high < outer; ++high) {
      for (size_t low = 0; low < stride; ++low) {
        const size_t first = high * stride * size + low;
        // From the highest: what comes from a lower table must still be there.
        for (size_t j = most + 1; j-- > 0;) {
          T sum = 0;
          for (size_t v = 0; v < size; ++v) sum += tables[j][first + v * stride];
          for (size_t v = 0; v < size; ++v) {
            const size_t at = first + v * stride;
            const T matching = j == 0 ? T{0} : tables[j - 1][at];
            // Cells that have matched often enough stay; the others stay only where they differ.
            tables[j][at] = j == most ? sum + matching : sum - tables[j][at] + matching;
          }
        }
      }
    }
  }
  return std::move(tables[most]);
}

}  // namespace

std::vector<int64_t> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                   std::span<const int64_t> counts) {
  return Thresholds(domain, set, at_least, counts);
}

std::vector<double> CountsAtLeast(const Domain& domain, const AttributeSet& set, int64_t at_least,
                                  std::span<const double> counts) {
  return Thresholds(domain, set, at_least, counts);
}

LinearQuery ThresholdQuery(const Domain& domain, const AttributeSet& set, int64_t at_least, int64_t cell) {
  std::vector<int64_t> codes(set.size(), 0);
  std::vector<int64_t> wanted(set.size(), 0);
  int64_t cells = 1;
  for (size_t i = set.size(); i-- > 0;) {
    const int64_t size = domain.attributes()[set[i]].size();
    wanted[i] = cell % size;
    cell /= size;
    cells *= size;
  }
  LinearQuery query;
  for (int64_t other = 0; other < cells; ++other) {
    int64_t matches = 0;
    for (size_t i = 0; i < set.size(); ++i) matches += codes[i] == wanted[i] ? 1 : 0;
    if (matches >= at_least) query.push_back({.cell = static_cast<uint32_t>(other), .weight = 1});
    for (size_t i = set.size(); i-- > 0;) {
      if (++codes[i] < domain.attributes()[set[i]].size()) break;
      codes[i] = 0;
    }
  }
  return query;
}

}  // namespace curator::dp
