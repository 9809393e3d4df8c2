#include "dp/synthesis/aim/public_source.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/status_macros.h"
#include "dp/data/count_marginals.h"

namespace curator::dp {
namespace {

// Raking a few attributes has then converged far within the noise.
constexpr int kRakingSweeps = 10;
// One-way marginals are scaled to the measured ones, so that what is left of their difference is in the
// dependence: this share of its square is assumed.
constexpr double kLeftOfOneWays = 0.25;
// Projected one-way marginals have about half of the variance of their noise.
constexpr double kLeftByProjection = 0.5;
// As many well measured marginals are needed to outweigh what was expected.
constexpr double kWeightOfExpectation = 2;
// How far squared differences exceed what chance explains before they count as knowledge.
constexpr double kContradiction = 1;
constexpr double kRecordsOfTheModel = 1;
// So many records, each once for every marginal, are counted between two looks at the pacer, or one marginal.
constexpr int64_t kRecordsAtOnce = int64_t{1} << 22;

// One attribute of a row-major marginal: cell (o * size + code) * inner + i has the code.
struct Axis {
  size_t outer = 1;
  size_t size = 1;
  size_t inner = 1;
};

std::vector<Axis> AxesOf(const std::vector<int64_t>& sizes) {
  std::vector<Axis> axes;
  size_t inner = 1;
  for (const int64_t size : sizes) inner *= static_cast<size_t>(size);
  size_t outer = 1;
  for (const int64_t size : sizes) {
    const auto own = static_cast<size_t>(size);
    inner /= own;
    axes.push_back({.outer = outer, .size = own, .inner = inner});
    outer *= own;
  }
  return axes;
}

std::vector<double> SumsOf(const Axis& axis, const std::vector<double>& cells) {
  std::vector<double> sums(axis.size);
  size_t cell = 0;
  for (size_t o = 0; o < axis.outer; ++o) {
    for (double& sum : sums) {
      for (size_t i = 0; i < axis.inner; ++i) sum += cells[cell++];
    }
  }
  return sums;
}

void ScaleBy(const std::vector<double>& factors, const Axis& axis, std::vector<double>& cells) {
  size_t cell = 0;
  for (size_t o = 0; o < axis.outer; ++o) {
    for (const double factor : factors) {
      for (size_t i = 0; i < axis.inner; ++i) cells[cell++] *= factor;
    }
  }
}

double SumOf(std::span<const double> cells) {
  double sum = 0;
  for (const double cell : cells) sum += cell;
  return sum;
}

double SquaredDistance(std::span<const double> one, std::span<const double> other) {
  double squares = 0;
  for (size_t i = 0; i < one.size(); ++i) squares += (one[i] - other[i]) * (one[i] - other[i]);
  return squares;
}

absl::StatusOr<std::vector<std::vector<int64_t>>> CountInTurn(const Domain& domain, const PublicTable& table,
                                                              const std::vector<AttributeSet>& sets,
                                                              Executor& executor, Pacer& pacer) {
  const int64_t rows = std::max<int64_t>(1, table.rows());
  const auto at_once = static_cast<ptrdiff_t>(std::max<int64_t>(1, kRecordsAtOnce / rows));
  std::vector<std::vector<int64_t>> counts;
  for (auto next = sets.begin(); next != sets.end();) {
    RETURN_IF_ERROR(pacer.Check());
    const auto last = next + std::min(at_once, sets.end() - next);
    ASSIGN_OR_RETURN(auto counted,
                     CountMarginals(table, domain, std::vector<AttributeSet>(next, last), executor));
    std::ranges::move(counted, std::back_inserter(counts));
    next = last;
  }
  return counts;
}

double SpreadOf(const std::vector<int64_t>& counts, double rows) {
  double squares = 0;
  for (const int64_t count : counts) {
    const double share = static_cast<double>(count) / rows;
    squares += share * share;
  }
  return std::max(0.0, 1 - squares);
}

}  // namespace

double PublicVariance::value() const {
  const double mean = (kWeightOfExpectation * expected_ + seen_) / (kWeightOfExpectation + weights_);
  return std::max(least_, mean);
}

void PublicVariance::LearnFromOneWays(double squares, double noise, double spread) {
  one_ways_ = spread > 0 ? std::max(0.0, squares - noise) / spread : 0;
  expected_ = least_ + kLeftOfOneWays * one_ways_;
}

void PublicVariance::LearnFromMarginal(double squares, double noise, double deviation, double spread) {
  if (!(spread > 0)) return;
  const double usual = least_ + one_ways_;
  const double own = deviation / spread;
  const double weight = usual * usual / (usual * usual + own * own);
  seen_ += weight * (squares - noise) / spread;
  weights_ += weight;
}

absl::StatusOr<PublicSource> PublicSource::Of(const Domain& domain, const PublicTable& table,
                                              std::vector<AttributeSet> candidates,
                                              const std::vector<AttributeSet>& one_ways, Executor& executor,
                                              Pacer& pacer) {
  PublicSource source(static_cast<double>(table.rows()));
  source.rows_ = static_cast<double>(table.rows());
  ASSIGN_OR_RETURN(source.one_way_counts_, CountInTurn(domain, table, one_ways, executor, pacer));
  ASSIGN_OR_RETURN(source.counts_, CountInTurn(domain, table, candidates, executor, pacer));
  for (size_t i = 0; i < candidates.size(); ++i) {
    RETURN_IF_ERROR(pacer.Advance(std::ssize(source.counts_[i])));
    source.sizes_.push_back(domain.SizesOf(candidates[i]));
    source.spreads_.push_back(SpreadOf(source.counts_[i], source.rows_));
  }
  source.taken_.resize(candidates.size());
  return source;
}

absl::Status PublicSource::LearnFromOneWays(const std::vector<std::vector<double>>& estimates,
                                            double deviation, Pacer& pacer) {
  double squares = 0;
  double noise = 0;
  double spread = 0;
  for (size_t i = 0; i < estimates.size(); ++i) {
    RETURN_IF_ERROR(pacer.Advance(std::ssize(estimates[i])));
    const double records = SumOf(estimates[i]);
    for (size_t code = 0; code < estimates[i].size(); ++code) {
      const double off =
          estimates[i][code] - static_cast<double>(one_way_counts_[i][code]) * (records / rows_);
      squares += off * off;
      noise += kLeftByProjection * deviation * deviation;
    }
    spread += records * records * SpreadOf(one_way_counts_[i], rows_);
  }
  variance_.LearnFromOneWays(squares, noise, spread);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<double>> PublicSource::CountsOf(size_t candidate,
                                                           const std::vector<double>& estimate,
                                                           Pacer& pacer) const {
  RETURN_IF_ERROR(pacer.Advance(std::ssize(estimate)));
  const double records = SumOf(estimate);
  const double of_model = records > 0 ? kRecordsOfTheModel / records : 0;
  std::vector<double> cells(estimate.size());
  for (size_t i = 0; i < cells.size(); ++i) {
    const double counted = static_cast<double>(counts_[candidate][i]);
    cells[i] = estimate[i] > 0 ? counted + of_model * estimate[i] : 0;
  }
  const std::vector<Axis> axes = AxesOf(sizes_[candidate]);
  std::vector<std::vector<double>> wanted;
  for (const Axis& axis : axes) wanted.push_back(SumsOf(axis, estimate));
  for (int sweep = 0; sweep < kRakingSweeps; ++sweep) {
    for (size_t a = 0; a < axes.size(); ++a) {
      RETURN_IF_ERROR(pacer.Advance(std::ssize(cells)));
      std::vector<double> factors = SumsOf(axes[a], cells);
      for (size_t code = 0; code < factors.size(); ++code)
        factors[code] = factors[code] > 0 ? wanted[a][code] / factors[code] : 0;
      ScaleBy(factors, axes[a], cells);
    }
  }
  return cells;
}

absl::Status PublicSource::LearnFrom(size_t candidate, std::span<const int64_t> noisy,
                                     std::span<const double> said, double deviation, Pacer& pacer) {
  RETURN_IF_ERROR(pacer.Advance(std::ssize(noisy)));
  double squares = 0;
  for (size_t i = 0; i < noisy.size(); ++i) {
    const double off = static_cast<double>(noisy[i]) - said[i];
    squares += off * off;
  }
  const double records = SumOf(said);
  const auto cells = static_cast<double>(noisy.size());
  const double variance = deviation * deviation;
  variance_.LearnFromMarginal(squares, cells * variance, variance * std::sqrt(2 * cells),
                              records * records * spreads_[candidate]);
  return absl::OkStatus();
}

double PublicSource::DeviationOf(size_t candidate, std::span<const double> said) const {
  const double of_a_cell = spreads_[candidate] * variance_.value() / static_cast<double>(said.size());
  // Also where the public table has one record, or all of them are alike, there is a chance of others.
  return std::max(1.0, SumOf(said) * std::sqrt(of_a_cell));
}

bool PublicSource::Contradicts(size_t candidate, std::span<const double> said,
                               std::span<const double> estimate) const {
  const double records = SumOf(said);
  const double chance = records * records * spreads_[candidate] * variance_.value();
  return SquaredDistance(said, estimate) > kContradiction * chance;
}

}  // namespace curator::dp
