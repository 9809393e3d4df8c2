#include "bench/nested_posterior.h"

#include <algorithm>
#include <cmath>

#include "dp/domain/domain.h"
#include "dp/kernel/utility/group_scores.h"
#include "dp/kernel/utility/group_utility.h"
#include "dp/kernel/utility/record_influence.h"
#include "dp/synthesis/nested/nested_settings.h"
#include "dp/workload/testing_domain.h"

namespace curator::bench {
namespace {

dp::SynthesisInput InputFor(const NestedTable& table) {
  const auto codes = static_cast<int64_t>(table.numbers.size());
  dp::NestedFacts facts{.group_column = "group",
                        .response = 0,
                        .numbers = table.numbers,
                        .lower = table.low,
                        .upper = table.high,
                        .resolution = table.numbers[1] - table.numbers[0],
                        .group_size_bound = std::nullopt,
                        .unit = dp::NestedUnit::kRecord};
  return {.domain = dp::CodedDomain({codes}),
          .unit_bound = {},
          .rule = {},
          .spend = {},
          .workload = {},
          .settings = {},
          .assume_records = std::nullopt,
          .prior = nullptr,
          .nested = std::move(facts)};
}

dp::QuestionOnGroups Ask(const NestedTable& table, const Weighting& weighting, const dp::NormalGroups& grid,
                         double usual_width) {
  const dp::UnitBound unit;
  const double width = std::min(dp::kLargestClip, weighting.width_factor * usual_width);
  const auto codes = static_cast<int64_t>(table.numbers.size());
  if (!weighting.protects_groups && !weighting.pays_for_group) {
    return dp::OnLattice(
               dp::RecordsInGroups{
                   .attribute = 0, .model = grid, .records = weighting.records, .width = width},
               codes, unit)
        .value();
  }
  const dp::GroupRole role = weighting.pays_for_group ? dp::GroupRole::kAroundRecord : dp::GroupRole::kUnit;
  return dp::OnLattice(dp::ClippedGroups{.attribute = 0,
                                         .model = grid,
                                         .records = weighting.records,
                                         .width = width,
                                         .group = weighting.group,
                                         .clip = weighting.clip,
                                         .role = role},
                       codes, unit)
      .value();
}

// A weighted mean and deviation.
struct Moments {
  double sum = 0;
  double squares = 0;

  void Add(double probability, double x) {
    sum += probability * x;
    squares += probability * x * x;
  }
  double Deviation() const { return std::sqrt(std::max(0.0, squares - sum * sum)); }
};

}  // namespace

dp::NormalGroups GridFor(const NestedTable& table) {
  return std::get<dp::NormalGroups>(
      dp::ReadNestedSettings(InputFor(table), dp::NestedSettingsTable({})).value().model);
}

Scored Score(const NestedTable& table, const Weighting& weighting) {
  const dp::NestedSettings settings =
      dp::ReadNestedSettings(InputFor(table), dp::NestedSettingsTable({})).value();
  const auto& grid = std::get<dp::NormalGroups>(settings.model);
  const dp::QuestionOnGroups question = Ask(table, weighting, grid, settings.width);
  std::vector<dp::GroupSums> groups;
  double weight = 0;
  double records = 0;
  for (const std::vector<uint32_t>& codes : table.groups) {
    groups.push_back(dp::SumsOf(question.lattice.grid, question.lattice.weights, codes));
    weight += static_cast<double>(groups.back().weight) / static_cast<double>(dp::kWholeRecord);
    records += static_cast<double>(codes.size());
  }
  Scored scored{.grid = grid,
                .scores = {},
                .range = std::ldexp(static_cast<double>(question.range), -dp::kUtilityLatticeBits),
                .mean_weight = weight / records};
  for (const int64_t score : dp::ScoresOfGroups(question.lattice, groups, OnlyThisThread()))
    scored.scores.push_back(std::ldexp(static_cast<double>(score), -dp::kUtilityLatticeBits));
  return scored;
}

Summary Summarise(const Scored& scored, const Reference& reference, double epsilon) {
  const double best = *std::ranges::max_element(scored.scores);
  std::vector<double> probabilities;
  double total = 0;
  for (const double score : scored.scores) {
    probabilities.push_back(std::exp(epsilon * (score - best) / scored.range));
    total += probabilities.back();
  }
  Moments nu;
  Moments tau;
  Moments sigma;
  Moments share;
  Moments error;
  Summary summary;
  for (size_t j = 0; j < probabilities.size(); ++j) {
    const double p = probabilities[j] / total;
    const dp::NestedParameters point = dp::ParametersAt(scored.grid, j);
    const double of_groups =
        point.between * point.between / (point.between * point.between + point.within * point.within);
    nu.Add(p, point.mean);
    tau.Add(p, point.between);
    sigma.Add(p, point.within);
    share.Add(p, of_groups);
    error.Add(p, of_groups - reference.group_share());
    if (point.between == scored.grid.betweens.front() || point.between == scored.grid.betweens.back())
      summary.at_the_edge += p;
  }
  summary.nu_mean = nu.sum;
  summary.nu_deviation = nu.Deviation();
  summary.tau_mean = tau.sum;
  summary.tau_deviation = tau.Deviation();
  summary.sigma_mean = sigma.sum;
  summary.sigma_deviation = sigma.Deviation();
  summary.group_share = share.sum;
  summary.share_error = std::sqrt(error.squares);
  return summary;
}

}  // namespace curator::bench
