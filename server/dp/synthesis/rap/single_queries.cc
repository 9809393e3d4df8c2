#include "dp/synthesis/rap/single_queries.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

Boxes OneBoxForEachCell(const Domain& domain, const AttributeSet& set) {
  Boxes boxes;
  std::vector<uint32_t> codes(set.size(), 0);
  const int64_t cells = domain.CellCount(set).value_or(0);
  boxes.sides.reserve(static_cast<size_t>(cells) * set.size());
  for (int64_t cell = 0; cell < cells; ++cell) {
    for (const uint32_t code : codes) boxes.sides.push_back({code, code});
    for (size_t i = set.size(); i-- > 0;) {
      if (++codes[i] < domain.attributes()[set[i]].size()) break;
      codes[i] = 0;
    }
  }
  return boxes;
}

}  // namespace

absl::StatusOr<std::vector<QueryGroup>> AsSingleQueries(const Domain& domain,
                                                        std::span<const QueryGroup> workload) {
  std::vector<QueryGroup> groups;
  for (const QueryGroup& group : workload) {
    if (IsWholeMarginal(group)) {
      groups.push_back(
          {.attributes = group.attributes, .queries = OneBoxForEachCell(domain, group.attributes)});
      continue;
    }
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries) {
        if (!std::ranges::all_of(query, [](const WeightedCell& term) { return term.weight == 1; }))
          return InvalidField("settings.measure",
                              "queries can be measured by themselves where all weights are 1");
      }
    }
    groups.push_back(group);
  }
  return groups;
}

int64_t CountQueries(const Domain& domain, std::span<const QueryGroup> groups) {
  int64_t count = 0;
  for (const QueryGroup& group : groups) count += NumberOfQueries(domain, group);
  return count;
}

int64_t MostTerms(const Domain& domain, std::span<const QueryGroup> groups, int64_t count) {
  std::vector<int64_t> terms;
  for (const QueryGroup& group : groups) {
    if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
      const size_t width = group.attributes.size();
      for (size_t first = 0; first < boxes->sides.size(); first += width) {
        int64_t cells = 1;  // at most those of a marginal that one request may ask for
        for (size_t i = first; i < first + width; ++i)
          cells *= int64_t{boxes->sides[i].last} - int64_t{boxes->sides[i].first} + 1;
        terms.push_back(cells);
      }
    } else if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries) terms.push_back(static_cast<int64_t>(query.size()));
    } else {
      terms.resize(terms.size() + static_cast<size_t>(NumberOfQueries(domain, group)), 1);
    }
  }
  std::ranges::sort(terms, std::greater<>());
  int64_t sum = 0;
  for (size_t i = 0; i < terms.size() && static_cast<int64_t>(i) < count; ++i) sum += terms[i];
  return sum;
}

int64_t SelectionBytes(const Domain& domain, std::span<const QueryGroup> groups) {
  // A candidate's estimate, the same rounded, its answer, score, name (16), gap and weight.
  constexpr int64_t kCandidateBytes = 8 + 8 + 8 + 8 + 16 + 8 + 8;
  constexpr int64_t kCountBytes = 8 + 8;  // and its estimate
  int64_t bytes = 0;
  for (const QueryGroup& group : groups) {
    bytes += kCandidateBytes * NumberOfQueries(domain, group);
    bytes += kCountBytes * domain.CellCount(group.attributes).value_or(0);
    if (const auto* boxes = std::get_if<Boxes>(&group.queries))
      bytes += static_cast<int64_t>(boxes->sides.size() * sizeof(CodeInterval));
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries)
        bytes += static_cast<int64_t>(sizeof(LinearQuery) + query.size() * sizeof(WeightedCell));
    }
  }
  return bytes;
}

absl::StatusOr<PolynomialAnswer> PolynomialOf(const Domain& domain, const RelaxedLayout& layout,
                                              const QueryGroup& single) {
  ASSIGN_OR_RETURN(const std::vector<size_t> positions, layout.PositionsOf(single.attributes));
  if (positions.size() > kMostFactors)
    return absl::InvalidArgumentError(
        absl::StrCat("a query looks at more than ", kMostFactors, " attributes"));
  PolynomialAnswer polynomial;
  const std::vector<LinearQuery> queries = TermsOf(domain, single);
  for (const WeightedCell& counted : queries.front()) {
    ProductTerm term{.coefficient = static_cast<float>(counted.weight)};
    size_t cell = counted.cell;
    for (size_t i = positions.size(); i-- > 0;) {
      const size_t size = layout.sizes()[positions[i]];
      term.columns.push_back(static_cast<uint32_t>(layout.first_columns()[positions[i]] + cell % size));
      cell /= size;
    }
    std::ranges::reverse(term.columns);
    polynomial.terms.push_back(std::move(term));
  }
  return polynomial;
}

}  // namespace curator::dp
