#include "dp/synthesis/rap/single_queries.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/workload/threshold_counts.h"

namespace curator::dp {
namespace {

// The columns of a cell's values.
std::vector<uint32_t> ColumnsOf(const RelaxedLayout& layout, const std::vector<size_t>& positions,
                                size_t cell) {
  std::vector<uint32_t> columns(positions.size());
  for (size_t i = positions.size(); i-- > 0;) {
    const size_t size = layout.sizes()[positions[i]];
    columns[i] = static_cast<uint32_t>(layout.first_columns()[positions[i]] + cell % size);
    cell /= size;
  }
  return columns;
}

// Products of each query of a threshold: AtLeast() has one for 1-of-k and k-of-k, else one for each subset.
int64_t TermsOfThreshold(int64_t at_least, size_t attributes) {
  if (at_least == 1 || at_least == static_cast<int64_t>(attributes)) return 1;
  return int64_t{1} << attributes;
}

}  // namespace

absl::StatusOr<std::vector<SingleQueries>> AsSingleQueries(std::span<const QueryGroup> workload,
                                                           int64_t at_least) {
  std::vector<SingleQueries> all;
  for (const QueryGroup& group : workload) {
    if (IsWholeMarginal(group)) {
      const auto most = static_cast<int64_t>(group.attributes.size());
      all.push_back({.group = group, .at_least = std::min(at_least, most)});
      continue;
    }
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries) {
        if (!std::ranges::all_of(query, [](const WeightedCell& term) { return term.weight == 1; }))
          return InvalidField("settings.measure",
                              "queries can be measured by themselves where all weights are 1");
      }
    }
    all.push_back({.group = group});
  }
  return all;
}

int64_t CountQueries(const Domain& domain, std::span<const SingleQueries> all) {
  int64_t count = 0;
  for (const SingleQueries& queries : all) count += NumberOfQueries(domain, queries.group);
  return count;
}

int64_t MostTerms(const Domain& domain, std::span<const SingleQueries> all, int64_t count) {
  std::map<int64_t, int64_t, std::greater<>> queries_of;  // by their terms, the most first
  for (const SingleQueries& each : all) {
    const QueryGroup& group = each.group;
    if (each.at_least > 0) {
      queries_of[TermsOfThreshold(each.at_least, group.attributes.size())] += NumberOfQueries(domain, group);
    } else if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
      const size_t width = group.attributes.size();
      for (size_t first = 0; first < boxes->sides.size(); first += width) {
        int64_t cells = 1;  // at most those of a marginal that one request may ask for
        for (size_t i = first; i < first + width; ++i)
          cells *= int64_t{boxes->sides[i].last} - int64_t{boxes->sides[i].first} + 1;
        ++queries_of[cells];
      }
    } else if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
      for (const LinearQuery& query : *queries) ++queries_of[static_cast<int64_t>(query.size())];
    }
  }
  int64_t sum = 0;
  for (const auto& [terms, queries] : queries_of) {
    const int64_t taken = std::min(queries, count);
    sum += taken * terms;
    count -= taken;
  }
  return sum;
}

int64_t SelectionBytes(const Domain& domain, std::span<const SingleQueries> all, int64_t count) {
  // A candidate's estimate, the same rounded, its answer, score, name (16), gap and weight.
  constexpr int64_t kCandidateBytes = 8 + 8 + 8 + 8 + 16 + 8 + 8;
  int64_t largest = 0;
  std::vector<int64_t> measured;
  for (const SingleQueries& each : all) {
    const int64_t cells = domain.CellCount(each.group.attributes).value_or(0);
    // Of counts and of their estimates, which become thresholds in at_least + 1 tables each.
    const bool is_threshold = each.at_least > 0 && each.at_least < std::ssize(each.group.attributes);
    const int64_t tables = is_threshold ? each.at_least + 2 : 2;
    int64_t listed = 0;  // a copy while a family is looked at
    if (const auto* boxes = std::get_if<Boxes>(&each.group.queries))
      listed += static_cast<int64_t>(boxes->sides.size() * sizeof(CodeInterval));
    if (const auto* queries = std::get_if<std::vector<LinearQuery>>(&each.group.queries)) {
      for (const LinearQuery& query : *queries)
        listed += static_cast<int64_t>(sizeof(LinearQuery) + query.size() * sizeof(WeightedCell));
    }
    largest = std::max(
        largest, kCandidateBytes * NumberOfQueries(domain, each.group) + 8 * tables * cells + 2 * listed);
    measured.push_back(8 * cells);
  }
  std::ranges::sort(measured, std::greater<>());
  int64_t bytes = largest;
  for (size_t i = 0; i < measured.size() && static_cast<int64_t>(i) < count; ++i) bytes += measured[i];
  return bytes;
}

CandidateFamily CandidatesOf(const SingleQueries& queries) {
  return {.group = queries.group, .estimate = {}, .at_least = queries.at_least};
}

std::vector<double> AnswersFromCells(const Domain& domain, const SingleQueries& queries,
                                     std::span<const double> cells) {
  if (queries.at_least == 0) return AnswersFromEstimates(domain, queries.group, cells);
  return CountsAtLeast(domain, queries.group.attributes, queries.at_least, cells);
}

QueryGroup SingleGroup(const Domain& domain, const SingleQueries& queries, size_t index) {
  if (queries.at_least == 0) return SingleQuery(queries.group, index);
  const AttributeSet& set = queries.group.attributes;
  return {.attributes = set,
          .queries = std::vector<LinearQuery>{
              ThresholdQuery(domain, set, queries.at_least, static_cast<int64_t>(index))}};
}

absl::StatusOr<PolynomialAnswer> PolynomialOf(const Domain& domain, const RelaxedLayout& layout,
                                              const SingleQueries& queries, size_t index) {
  ASSIGN_OR_RETURN(const std::vector<size_t> positions, layout.PositionsOf(queries.group.attributes));
  if (positions.size() > kMostFactors)
    return absl::InvalidArgumentError(
        absl::StrCat("a query looks at more than ", kMostFactors, " attributes"));
  if (queries.at_least > 0)
    return AtLeast(static_cast<size_t>(queries.at_least), ColumnsOf(layout, positions, index));
  PolynomialAnswer polynomial;
  const QueryGroup single = SingleQuery(queries.group, index);
  const std::vector<LinearQuery> terms = TermsOf(domain, single);
  polynomial.terms.reserve(terms.front().size());
  for (const WeightedCell& counted : terms.front()) {
    polynomial.terms.push_back({.coefficient = static_cast<float>(counted.weight),
                                .columns = ColumnsOf(layout, positions, counted.cell)});
  }
  return polynomial;
}

}  // namespace curator::dp
