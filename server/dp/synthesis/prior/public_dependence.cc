#include "dp/synthesis/prior/public_dependence.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/data/count_marginals.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostPairCells = int64_t{1} << 20;
constexpr int64_t kMostBatchCells = int64_t{1} << 22;

// The natural logarithm of x > 0, from elementary operations alone: the C library's depends on the processor,
// and what is measured must not. ln(m 2^e) = e ln 2 + 2 atanh((m - 1) / (m + 1)), m in [sqrt(1/2), sqrt(2)).
double ReproducibleLog(double x) {
  constexpr double kLn2 = 6.93147180559945286227e-01;
  int exponent = 0;
  double m = std::frexp(x, &exponent);
  if (m < 0.70710678118654752) {
    m *= 2;
    --exponent;
  }
  const double z = (m - 1) / (m + 1);
  double sum = 0;
  for (int k = 29; k >= 1; k -= 2) sum = sum * z * z + 1.0 / k;
  return 2 * z * sum + exponent * kLn2;
}

// sum c ln c over the cells, and how many of them are taken.
struct Entropy {
  double sum = 0;
  int64_t taken = 0;
};

Entropy EntropyOf(const std::vector<int64_t>& counts) {
  Entropy entropy;
  for (const int64_t count : counts) {
    if (count == 0) continue;
    entropy.sum += static_cast<double>(count) * ReproducibleLog(static_cast<double>(count));
    ++entropy.taken;
  }
  return entropy;
}

double SharedNats(const Entropy& one, const Entropy& other, const Entropy& joint, int64_t rows) {
  const auto n = static_cast<double>(rows);
  const double plain = (joint.sum - one.sum - other.sum) / n + ReproducibleLog(n);
  const double excess = static_cast<double>(one.taken - 1) * static_cast<double>(other.taken - 1) / (2 * n);
  return std::max(0.0, plain - excess);
}

// 0 for a set that is not counted.
int64_t CountedCells(const Domain& domain, const AttributeSet& set) {
  const int64_t cells = domain.CellCount(set).value_or(kMostPairCells + 1);
  return cells <= kMostPairCells ? cells : 0;
}

// Every two of `attributes` that are counted, by their positions, in batches of at most kMostBatchCells.
using Batch = std::vector<std::pair<size_t, size_t>>;
std::vector<Batch> BatchesOf(const Domain& domain, const AttributeSet& attributes) {
  std::vector<Batch> batches;
  int64_t left = 0;
  for (size_t i = 0; i < attributes.size(); ++i) {
    for (size_t j = i + 1; j < attributes.size(); ++j) {
      const int64_t cells = CountedCells(domain, {attributes[i], attributes[j]});
      if (cells == 0) continue;
      if (batches.empty() || cells > left) {
        batches.emplace_back();
        left = kMostBatchCells;
      }
      batches.back().emplace_back(i, j);
      left -= cells;
    }
  }
  return batches;
}

// Grows the edge (a, b) into a clique.
std::vector<size_t> Grown(const Domain& domain, const PublicDependence& dependence, size_t a, size_t b,
                          double threshold, int64_t most_cells) {
  const AttributeSet& attributes = dependence.attributes();
  const auto size = [&](size_t i) { return domain.attributes()[attributes[i]].size(); };
  std::vector<size_t> clique = {a, b};
  int64_t cells = size(a) * size(b);
  while (true) {
    size_t best = attributes.size();
    double most = 0;
    for (size_t i = 0; i < attributes.size(); ++i) {
      if (std::ranges::find(clique, i) != clique.end() || size(i) > most_cells / cells) continue;
      double shared = 0;
      bool joined = true;
      for (const size_t member : clique) {
        joined = joined && dependence.Between(i, member) > threshold;
        shared += dependence.Between(i, member);
      }
      if (joined && shared > most) {
        best = i;
        most = shared;
      }
    }
    if (best == attributes.size()) return clique;
    clique.push_back(best);
    cells *= size(best);
  }
}

}  // namespace

absl::StatusOr<PublicDependence> PublicDependence::Of(const Domain& domain, const PublicTable& table,
                                                      AttributeSet attributes, Pacer& pacer) {
  if (attributes.size() > kMostDependent) {
    return InvalidField("settings.measure",
                        absl::StrCat("what to measure is chosen among at most ", kMostDependent,
                                     " attributes: take measure=given and a workload"));
  }
  const size_t n = attributes.size();
  PublicDependence dependence;
  dependence.nats_.assign(n * n, 0.0);
  std::vector<Entropy> single;
  for (const uint32_t attribute : attributes) {
    single.emplace_back();
    if (CountedCells(domain, {attribute}) == 0) continue;  // nor is any pair of it
    RETURN_IF_ERROR(pacer.Check());
    ASSIGN_OR_RETURN(const std::vector<int64_t> counts, CountMarginal(table, domain, {attribute}));
    single.back() = EntropyOf(counts);
  }
  for (const Batch& batch : BatchesOf(domain, attributes)) {
    std::vector<AttributeSet> pairs;
    for (const auto& [i, j] : batch) pairs.push_back({attributes[i], attributes[j]});
    RETURN_IF_ERROR(pacer.Check());
    ASSIGN_OR_RETURN(const auto counts, CountMarginals(table, domain, pairs));
    for (size_t k = 0; k < batch.size(); ++k) {
      const auto& [i, j] = batch[k];
      const double nats = SharedNats(single[i], single[j], EntropyOf(counts[k]), table.rows());
      dependence.nats_[i * n + j] = nats;
      dependence.nats_[j * n + i] = nats;
    }
  }
  dependence.attributes_ = std::move(attributes);
  return dependence;
}

int64_t DependenceCells(const Domain& domain, const AttributeSet& attributes) {
  int64_t cells = 0;
  for (size_t i = 0; i < attributes.size(); ++i) {
    cells += CountedCells(domain, {attributes[i]});
    for (size_t j = i + 1; j < attributes.size(); ++j)
      cells += CountedCells(domain, {attributes[i], attributes[j]});
  }
  return cells;
}

int64_t DependenceBytes(const Domain& domain, const AttributeSet& attributes) {
  constexpr int64_t kPerPair = 128;  // its number, and its places in a batch and in what is counted
  if (attributes.size() > kMostDependent) return 0;
  const int64_t cells = DependenceCells(domain, attributes);
  const auto n = static_cast<int64_t>(attributes.size());
  return kPerPair * n * n +
         CountingBytes(n * n, std::min(cells, kMostBatchCells), std::min(cells, kMostPairCells));
}

std::vector<AttributeSet> DependentCliques(const Domain& domain, const PublicDependence& dependence,
                                           double threshold, int64_t most_cells, int64_t most_cliques) {
  const AttributeSet& attributes = dependence.attributes();
  const size_t n = attributes.size();
  std::vector<std::pair<size_t, size_t>> edges;
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = i + 1; j < n; ++j) {
      const std::optional<int64_t> cells = domain.CellCount({attributes[i], attributes[j]});
      if (dependence.Between(i, j) > threshold && cells && *cells <= most_cells) edges.emplace_back(i, j);
    }
  }
  std::stable_sort(edges.begin(), edges.end(), [&](const auto& a, const auto& b) {
    return dependence.Between(a.first, a.second) > dependence.Between(b.first, b.second);
  });
  std::set<AttributeSet> cliques;
  std::vector<bool> joined(n * n);
  std::vector<bool> covered(n);
  for (const auto& [a, b] : edges) {
    if (joined[a * n + b] || static_cast<int64_t>(cliques.size()) >= most_cliques) continue;
    AttributeSet clique;
    const std::vector<size_t> members = Grown(domain, dependence, a, b, threshold, most_cells);
    for (const size_t member : members) {
      covered[member] = true;
      clique.push_back(attributes[member]);
      for (const size_t other : members) joined[member * n + other] = true;
    }
    std::ranges::sort(clique);
    cliques.insert(std::move(clique));
  }
  for (size_t i = 0; i < n; ++i) {
    if (!covered[i]) cliques.insert({attributes[i]});
  }
  return {cliques.begin(), cliques.end()};
}

std::vector<AttributeSet> NearlyIndependent(const PublicDependence& dependence, double threshold,
                                            int64_t most) {
  const size_t n = dependence.attributes().size();
  std::vector<double> shared(n);
  for (size_t i = 0; i < n; ++i) {
    for (size_t j = 0; j < n; ++j) shared[i] += dependence.Between(i, j);
  }
  std::vector<size_t> order(n);
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return shared[a] > shared[b]; });
  std::vector<size_t> roots;
  for (const size_t candidate : order) {
    const bool is_independent = std::ranges::all_of(
        roots, [&](size_t root) { return dependence.Between(candidate, root) <= threshold; });
    if (is_independent && static_cast<int64_t>(roots.size()) < most) roots.push_back(candidate);
  }
  std::ranges::sort(roots);
  std::vector<AttributeSet> sets;
  for (const size_t root : roots) sets.push_back({dependence.attributes()[root]});
  return sets;
}

}  // namespace curator::dp
