#include "bench/mwem_paper/parity_baseline.h"

#include <bit>
#include <cmath>

#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/models/clique_fit.h"

namespace curator::bench {

std::vector<dp::QueryGroup> Parities(const dp::Domain& domain, int k) {
  std::vector<dp::QueryGroup> groups;
  for (int order = 1; order <= k; ++order) {
    std::vector<dp::AttributeSet> sets = dp::AllKWayMarginals(domain, order, {}).value();
    for (dp::AttributeSet& set : sets) {
      dp::LinearQuery query;
      for (uint32_t cell = 0; cell < (1U << order); ++cell)
        query.push_back({cell, std::popcount(cell) % 2 == 0 ? 1 : -1});
      groups.push_back({std::move(set), std::vector<dp::LinearQuery>{std::move(query)}});
    }
  }
  return groups;
}

std::vector<double> FitAllParities(const BenchTable& table, double epsilon, int k, int seed) {
  const dp::UnitBound unit{dp::NeighbourRelation::kAddRemove, 1};
  const auto units = static_cast<int64_t>(epsilon * 1e12);
  const std::vector<dp::QueryGroup> groups = Parities(table.domain, k);
  const dp::Sensitivity one = dp::RecordCountSensitivity(unit).value();
  const dp::Sensitivity all = dp::QueriesSensitivity(table.domain, unit, groups).value();
  const dp::NoiseSpec count_noise = dp::LaplaceNoiseFor(one, dp::Epsilon(units / 20)).value();
  const dp::NoiseSpec noise = dp::LaplaceNoiseFor(all, dp::Epsilon(units - units / 20)).value();
  PaidKernel paid(table, {{dp::NoiseEvent(count_noise, one), 1}, {dp::NoiseEvent(noise, all), 1}}, seed);
  const auto records = static_cast<double>(paid.kernel().NoisyRecordCount(count_noise).value());
  const auto answers = paid.kernel().NoisyCounts(groups, noise).value();

  dp::Pacer pacer{std::stop_token()};
  dp::AttributeSet every;
  for (uint32_t a = 0; a < table.domain.size(); ++a) every.push_back(a);
  const double count_deviation = dp::ForecastError(count_noise).standard_deviation;
  dp::CliqueFit fit(table.domain, every, {std::max(1.0, records), count_deviation}, 1 << 26);
  if (!fit.Join(every).ok()) return {};
  const double deviation = dp::ForecastError(noise).standard_deviation;
  if (!fit.Add({{{}, dp::EveryCell()}, {records}, count_deviation}, pacer).ok()) return {};
  for (size_t i = 0; i < groups.size(); ++i) {
    const std::vector<double> answer(answers[i].begin(), answers[i].end());
    if (!fit.Add({groups[i], answer, deviation}, pacer).ok()) return {};
  }
  const dp::ReplayRule rule{.most_sweeps = 300, .converged = 0.01, .prior_weight = 1 / deviation};
  if (!fit.Replay(rule, pacer).ok()) return {};
  return fit.Marginals(std::span(&every, 1), pacer).value().front();
}

}  // namespace curator::bench
