#include "dp/synthesis/rap/rap_candidates.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/row_major.h"
#include "dp/queries/linear_queries.h"
#include "dp/synthesis/rap/product_list.h"
#include "dp/synthesis/rap/projection_loops.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

// The columns of a cell's values.
std::vector<uint32_t> ColumnsOf(const RelaxedLayout& layout, const std::vector<size_t>& positions,
                                size_t cell) {
  std::vector<size_t> sizes;
  for (const size_t position : positions) sizes.push_back(layout.sizes()[position]);
  std::vector<uint32_t> columns(positions.size());
  CodesOfCell(sizes, cell, columns);
  for (size_t i = 0; i < positions.size(); ++i)
    columns[i] += static_cast<uint32_t>(layout.first_columns()[positions[i]]);
  return columns;
}

TermsTaken Products(int64_t count, size_t columns) {
  return {.terms = count, .bytes = count * FittingBytesOfATerm(columns)};
}

// Of each query of a threshold: AtLeast() has one product for 1-of-k and k-of-k, else one for each subset of
// so many columns or more.
TermsTaken TermsOfThreshold(size_t at_least, size_t attributes) {
  if (at_least == 1 || at_least == attributes) return Products(1, attributes);
  TermsTaken all;
  int64_t subsets = 1;  // of `size` columns
  for (size_t size = 1; size <= attributes; ++size) {
    subsets = subsets * static_cast<int64_t>(attributes - size + 1) / static_cast<int64_t>(size);
    if (size < at_least) continue;
    const TermsTaken these = Products(subsets, size);
    all = {.terms = all.terms + these.terms, .bytes = all.bytes + these.bytes};
  }
  return all;
}

// Calls work(query's terms, number of such queries), once or more.
template <typename Work>
void ForEachSize(const Domain& domain, const SingleQueries& queries, Work work) {
  const QueryGroup& group = queries.group;
  const size_t width = group.attributes.size();
  if (queries.at_least > 0) {
    work(TermsOfThreshold(static_cast<size_t>(queries.at_least), width), NumberOfQueries(domain, group));
  } else if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    for (size_t first = 0; first < boxes->sides.size(); first += width)
      work(Products(BoxCells(std::span(boxes->sides).subspan(first, width)), width), 1);
  } else if (const auto* listed = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
    for (const LinearQuery& query : *listed) work(Products(std::ssize(query), width), 1);
  }
}

// The sum over the `count` queries that take the most.
int64_t SumOfLargest(const std::map<int64_t, int64_t, std::greater<>>& queries_of, int64_t count) {
  int64_t sum = 0;
  for (const auto& [taken, queries] : queries_of) {
    const int64_t of_these = std::min(queries, count);
    sum += of_these * taken;
    count -= of_these;
  }
  return sum;
}

// The number of cells that share at least `at_least` values with one of them.
int64_t CellsOfThreshold(const Domain& domain, const AttributeSet& set, int64_t at_least) {
  std::vector<int64_t> sharing = {1};  // cells that share 0, 1, ... values, of the attributes so far
  for (const uint32_t attribute : set) {
    sharing.push_back(0);
    for (size_t shared = sharing.size(); shared-- > 0;) {
      sharing[shared] *= domain.attributes()[attribute].size() - 1;
      if (shared > 0) sharing[shared] += sharing[shared - 1];
    }
  }
  return std::accumulate(sharing.begin() + at_least, sharing.end(), int64_t{0});
}

// The most cells that one of the queries lists when it is measured by itself.
int64_t MostListed(const Domain& domain, const SingleQueries& queries) {
  if (queries.at_least > 0) return CellsOfThreshold(domain, queries.group.attributes, queries.at_least);
  int64_t most = 0;
  ForEachSize(domain, queries,
              [&](const TermsTaken& taken, int64_t /*queries*/) { most = std::max(most, taken.terms); });
  return most;
}

// QueriesSensitivity() has two tables of all cells' weights and copies them to find the worst record; its
// first sums, at most half as many, and a box's cover are beside them.
constexpr int64_t kSensitivityBytes = 2 * 8 + 2 * 8 + 8;  // a cell

// While the candidates of one marginal are scored.
int64_t ChoosingBytes(const Domain& domain, const SingleQueries& queries) {
  // A candidate's estimate, the same rounded, its answer, score, name (16), gap and weight.
  constexpr int64_t kCandidateBytes = 8 + 8 + 8 + 8 + 16 + 8 + 8;
  const QueryGroup& group = queries.group;
  int64_t listed = 0;  // a copy while a family is scored
  // Of counts and of their estimates, which become thresholds in at_least + 1 tables each.
  const bool is_threshold = queries.at_least > 0 && queries.at_least < std::ssize(group.attributes);
  int64_t tables = is_threshold ? queries.at_least + 2 : 2;
  if (const auto* boxes = std::get_if<Boxes>(&group.queries)) {
    listed += static_cast<int64_t>(boxes->sides.size() * sizeof(CodeInterval));
    ++tables;  // summed up
  }
  if (const auto* linear = std::get_if<std::vector<LinearQuery>>(&group.queries)) {
    for (const LinearQuery& query : *linear)
      listed += static_cast<int64_t>(sizeof(LinearQuery) + query.size() * sizeof(WeightedCell));
  }
  const int64_t of_a_cell = queries.at_least > 0 ? 8 * tables : std::max(8 * tables, kSensitivityBytes);
  return kCandidateBytes * NumberOfQueries(domain, group) +
         of_a_cell * domain.CellCount(group.attributes).value_or(0) + 2 * listed;
}

// While one query of the marginal is measured: its cells are listed in a vector that grows, or is copied.
int64_t MeasuringBytes(const Domain& domain, const SingleQueries& queries) {
  constexpr auto kListedBytes = static_cast<int64_t>(3 * sizeof(WeightedCell));
  return kSensitivityBytes * domain.CellCount(queries.group.attributes).value_or(0) +
         kListedBytes * MostListed(domain, queries);
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

TermsTaken MostTerms(const Domain& domain, std::span<const SingleQueries> all, int64_t count) {
  std::map<int64_t, int64_t, std::greater<>> by_terms;  // number of queries, the largest first
  std::map<int64_t, int64_t, std::greater<>> by_bytes;
  for (const SingleQueries& each : all) {
    ForEachSize(domain, each, [&](const TermsTaken& taken, int64_t queries) {
      by_terms[taken.terms] += queries;
      by_bytes[taken.bytes] += queries;
    });
  }
  return {.terms = SumOfLargest(by_terms, count), .bytes = SumOfLargest(by_bytes, count)};
}

int64_t SelectionBytes(const Domain& domain, std::span<const SingleQueries> all, int64_t count) {
  int64_t largest = 0;
  std::vector<int64_t> measured;
  for (const SingleQueries& each : all) {
    largest = std::max({largest, ChoosingBytes(domain, each), MeasuringBytes(domain, each)});
    measured.push_back(8 * domain.CellCount(each.group.attributes).value_or(0));
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
        absl::StrCat("a query depends on more than ", kMostFactors, " attributes"));
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
