#include "dp/queries/marginals.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/int128.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

absl::Status TooManyMarginals(std::string_view count, const WorkloadLimits& limits) {
  return InvalidField("workload", absl::StrCat("has ", std::string(count), " marginals; at most ",
                                               limits.max_marginals, " are answered in one request"));
}

// n choose k, or more than `limit` as limit + 1.
int64_t Binomial(int64_t n, int64_t k, int64_t limit) {
  Int128 value = 1;
  for (int64_t i = 1; i <= k; ++i) {
    value = value * (n - k + i) / i;  // exact: a product of i consecutive numbers
    if (value > limit) return limit + 1;
  }
  return static_cast<int64_t>(value);
}

absl::StatusOr<AttributeSet> ChosenAttributes(const Domain& domain, std::span<const uint32_t> attributes) {
  AttributeSet chosen(attributes.begin(), attributes.end());
  if (chosen.empty()) {
    for (uint32_t i = 0; i < domain.size(); ++i) chosen.push_back(i);
  }
  std::sort(chosen.begin(), chosen.end());
  if (std::adjacent_find(chosen.begin(), chosen.end()) != chosen.end()) {
    return InvalidField("workload.attributes", "names an attribute twice");
  }
  if (chosen.back() >= domain.size()) {
    return InvalidField(
        "workload.attributes",
        absl::StrCat("has the index ", chosen.back(), "; the domain has ", domain.size(), " attributes"));
  }
  return chosen;
}

// The next k-subset of {0, ..., n - 1} in lexicographic order; false after the last.
bool NextSubset(std::vector<size_t>& subset, size_t n) {
  const size_t k = subset.size();
  for (size_t i = k; i-- > 0;) {
    if (subset[i] + (k - i) < n) {
      ++subset[i];
      for (size_t j = i + 1; j < k; ++j) subset[j] = subset[j - 1] + 1;
      return true;
    }
  }
  return false;
}

absl::Status ValidateSet(const Domain& domain, const AttributeSet& set, size_t position) {
  const std::string field = absl::StrCat("workload.marginals[", position, "]");
  if (set.empty()) return InvalidField(field, "has no attribute");
  for (size_t i = 1; i < set.size(); ++i) {
    if (set[i - 1] >= set[i]) return InvalidField(field, "must list rising indices, none twice");
  }
  if (set.back() >= domain.size()) {
    return InvalidField(
        field, absl::StrCat("has the index ", set.back(), "; the domain has ", domain.size(), " attributes"));
  }
  return absl::OkStatus();
}

// Every k-subset, whatever its cells.
absl::StatusOr<std::vector<AttributeSet>> AllSets(const Domain& domain, int k,
                                                  std::span<const uint32_t> attributes,
                                                  const WorkloadLimits& limits) {
  ASSIGN_OR_RETURN(const AttributeSet chosen, ChosenAttributes(domain, attributes));
  const int64_t n = static_cast<int64_t>(chosen.size());
  if (k < 1 || k > n) {
    return InvalidField("workload.k", absl::StrCat("is ", k, "; it must lie between 1 and ", n,
                                                   ", the number of attributes"));
  }
  const int64_t count = Binomial(n, std::min<int64_t>(k, n - k), limits.max_marginals);
  if (count > limits.max_marginals) {
    return TooManyMarginals(absl::StrCat("more than ", limits.max_marginals), limits);
  }
  if (count > limits.max_attributes / k) {
    return InvalidField("workload",
                        absl::StrCat("has ", count, " sets of ", k, " attributes each; at most ",
                                     limits.max_attributes, " attributes of sets are taken in one request"));
  }
  std::vector<AttributeSet> sets;
  sets.reserve(static_cast<size_t>(count));
  std::vector<size_t> subset(static_cast<size_t>(k));
  for (size_t i = 0; i < subset.size(); ++i) subset[i] = i;
  do {
    AttributeSet set;
    for (const size_t i : subset) set.push_back(chosen[i]);
    sets.push_back(std::move(set));
  } while (NextSubset(subset, chosen.size()));
  return sets;
}

}  // namespace

absl::StatusOr<std::vector<AttributeSet>> AllKWayMarginals(const Domain& domain, int k,
                                                           std::span<const uint32_t> attributes,
                                                           const WorkloadLimits& limits) {
  ASSIGN_OR_RETURN(std::vector<AttributeSet> sets, AllSets(domain, k, attributes, limits));
  RETURN_IF_ERROR(TotalCells(domain, sets, limits).status());
  return sets;
}

absl::StatusOr<KWayMarginals> KWayMarginalsUpTo(const Domain& domain, int k,
                                                std::span<const uint32_t> attributes, int64_t most_cells,
                                                const WorkloadLimits& limits) {
  constexpr char kField[] = "workload.max_cells";
  if (most_cells < 1) return InvalidField(kField, absl::StrCat("is ", most_cells, "; it must be at least 1"));
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> all, AllSets(domain, k, attributes, limits));
  KWayMarginals kept;
  std::optional<int64_t> smallest;
  for (const AttributeSet& set : all) {
    const std::optional<int64_t> cells = domain.CellCount(set);
    if (cells && *cells <= most_cells) kept.sets.push_back(set);
    if (cells) smallest = std::min(*cells, smallest.value_or(*cells));
  }
  if (kept.sets.empty()) {
    const std::string least = smallest ? absl::StrCat(*smallest, " cells") : "more than 2^62 cells";
    return InvalidField(kField,
                        absl::StrCat("is ", most_cells, ", which leaves no marginal of ", k,
                                     k == 1 ? " attribute" : " attributes", ": the smallest has ", least));
  }
  kept.left_out = static_cast<int64_t>(all.size() - kept.sets.size());
  RETURN_IF_ERROR(TotalCells(domain, kept.sets, limits).status());
  return kept;
}

absl::Status ValidateMarginals(const Domain& domain, std::span<const AttributeSet> marginals,
                               const WorkloadLimits& limits) {
  if (marginals.empty()) return InvalidField("workload", "asks for no marginal");
  if (static_cast<int64_t>(marginals.size()) > limits.max_marginals) {
    return TooManyMarginals(absl::StrCat(marginals.size()), limits);
  }
  // Sets that rise, as all of one size do when they are enumerated, repeat none.
  const bool rise = std::ranges::adjacent_find(marginals, std::greater_equal<>()) == marginals.end();
  std::set<AttributeSet> seen;
  for (size_t i = 0; i < marginals.size(); ++i) {
    RETURN_IF_ERROR(ValidateSet(domain, marginals[i], i));
    if (!rise && !seen.insert(marginals[i]).second) {
      return InvalidField(absl::StrCat("workload.marginals[", i, "]"),
                          absl::StrCat("repeats the marginal of ", NamesOf(domain, marginals[i])));
    }
  }
  return TotalCells(domain, marginals, limits).status();
}

absl::StatusOr<int64_t> TotalCells(const Domain& domain, std::span<const AttributeSet> marginals,
                                   const WorkloadLimits& limits) {
  int64_t total = 0;
  for (const AttributeSet& set : marginals) {
    const std::optional<int64_t> cells = domain.CellCount(set);
    if (limits.max_cells_of_one < limits.max_cells && (!cells || *cells > limits.max_cells_of_one)) {
      return InvalidField("workload",
                          absl::StrCat("has the marginal of ", NamesOf(domain, set), " with ",
                                       cells ? absl::StrCat(*cells) : "more than 2^62", " cells; at most ",
                                       limits.max_cells_of_one, " are taken in a single marginal"));
    }
    if (!cells || *cells > limits.max_cells - total) {
      return InvalidField("workload", absl::StrCat("has more cells than the limit of ", limits.max_cells,
                                                   " (the marginal of ", NamesOf(domain, set), " alone has ",
                                                   cells ? absl::StrCat(*cells) : "more than 2^62", ")"));
    }
    total += *cells;
  }
  return total;
}

std::string NamesOf(const Domain& domain, const AttributeSet& set) {
  std::string names;
  for (const uint32_t attribute : set) {
    absl::StrAppend(&names, names.empty() ? "" : ", ", domain.attributes()[attribute].name());
  }
  return names;
}

}  // namespace curator::dp
