#include "bench/nested_slides.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "bench/nested_data.h"
#include "dp/kernel/utility/group_scores.h"

namespace curator::bench {
namespace {

// The region over which suprema are taken: the smallest deviation within groups decides how large they are.
dp::NormalGroups Region(const NestedTable& table) {
  dp::NormalGroups grid{.values = table.numbers, .low = table.low, .high = table.high};
  for (int i = 0; i <= 24; ++i) grid.means.push_back(-3 + 0.25 * i);
  for (int i = 0; i <= 12; ++i) grid.betweens.push_back(std::pow(4.0, static_cast<double>(i) / 12));
  for (int i = 0; i <= 24; ++i)
    grid.withins.push_back(0.23 * std::pow(2 / 0.23, static_cast<double>(i) / 24));
  return grid;
}

struct Weighed {
  std::vector<std::vector<double>> records;  // by group
  std::vector<double> groups;                // exponents of the whole integrand
};

dp::GroupSums SumsOf(const dp::NormalGroupGrid& grid, const std::vector<uint32_t>& codes,
                     const std::vector<double>& weights) {
  dp::GroupSums sums;
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto weight = static_cast<int64_t>(std::lround(weights[i] * static_cast<double>(dp::kWholeRecord)));
    const Int128 weighted = static_cast<Int128>(weight) * grid.values[codes[i]];
    sums.weight += weight;
    sums.sum += weighted;
    sums.squares += weighted * grid.values[codes[i]];
  }
  return sums;
}

std::vector<double> LogDensities(const dp::GroupGrid& grid, const dp::GroupSums& sums, double power) {
  const size_t length = dp::RowLengthOf(grid);
  std::vector<double> all(dp::RowsOf(grid) * length);
  for (size_t row = 0; row < dp::RowsOf(grid); ++row)
    dp::LogDensitiesOfRow(grid, sums, power, row, std::span(all).subspan(row * length, length));
  return all;
}

double LargestMagnitude(const std::vector<double>& values) {
  double largest = 0;
  for (const double value : values) largest = std::max(largest, std::abs(value));
  return largest;
}

// From 0 for the least risk to 1 for the largest.
std::vector<double> Risks(std::vector<double> sensitivities) {
  const auto [least, most] = std::ranges::minmax_element(sensitivities);
  const double low = *least;
  const double span = *most - low;
  for (double& each : sensitivities) each = (each - low) / span;
  return sensitivities;
}

double Quantile(std::vector<double> values, double share) {
  std::ranges::sort(values);
  return values[static_cast<size_t>(share * static_cast<double>(values.size() - 1))];
}

class Simulation {
 public:
  explicit Simulation(uint64_t seed)
      : table_(SimulatedTable(100, 50, seed)), region_(Region(table_)), grid_(dp::GridOf(region_)) {
    FindRisks();
  }

  void Print(const std::string& name, double factor, bool weighs_records, bool weighs_groups) const {
    const auto& normal = std::get<dp::NormalGroupGrid>(grid_);
    std::vector<double> total(dp::RowsOf(grid_) * dp::RowLengthOf(grid_));
    std::vector<double> sensitivities;
    size_t record = 0;
    for (size_t g = 0; g < table_.groups.size(); ++g) {
      std::vector<double> weights;
      for (size_t i = 0; i < table_.groups[g].size(); ++i, ++record)
        weights.push_back(weighs_records ? factor * (1 - record_risks_[record]) : 1);
      const double power = weighs_groups ? std::max(0.01, 1 - group_risks_[g]) : 1;
      const auto densities = LogDensities(grid_, SumsOf(normal, table_.groups[g], weights), power);
      sensitivities.push_back(LargestMagnitude(densities));
      for (size_t j = 0; j < total.size(); ++j) total[j] += densities[j];
    }
    const auto [tau_squared, sigma_squared] = PosteriorMeans(total);
    std::printf("| %s | %.3f | %.3f | %.1f | %.1f | %.1f |\n", name.c_str(), sigma_squared, tau_squared,
                Quantile(sensitivities, 0.25), Quantile(sensitivities, 0.5), Quantile(sensitivities, 0.75));
  }

 private:
  // By leaving each group, and each record, out.
  void FindRisks() {
    const auto& normal = std::get<dp::NormalGroupGrid>(grid_);
    std::vector<double> of_groups;
    std::vector<double> of_records;
    for (const std::vector<uint32_t>& codes : table_.groups) {
      const std::vector<double> ones(codes.size(), 1);
      const dp::GroupSums whole = SumsOf(normal, codes, ones);
      const auto with = LogDensities(grid_, whole, 1);
      of_groups.push_back(LargestMagnitude(with));
      for (const uint32_t code : codes) {
        dp::GroupSums others = whole;
        const dp::GroupSums one = SumsOf(normal, {code}, {1});
        others.weight -= one.weight;
        others.sum -= one.sum;
        others.squares -= one.squares;
        auto moved = LogDensities(grid_, others, 1);
        for (size_t j = 0; j < moved.size(); ++j) moved[j] = with[j] - moved[j];
        of_records.push_back(LargestMagnitude(moved));
      }
    }
    record_risks_ = Risks(of_records);
    group_risks_ = Risks(of_groups);
  }

  std::pair<double, double> PosteriorMeans(const std::vector<double>& log_densities) const {
    const double best = *std::ranges::max_element(log_densities);
    double total = 0;
    double tau_squared = 0;
    double sigma_squared = 0;
    for (size_t j = 0; j < log_densities.size(); ++j) {
      const double probability = std::exp(log_densities[j] - best);
      const size_t row = j / region_.means.size();
      total += probability;
      tau_squared += probability * std::pow(region_.betweens[row / region_.withins.size()], 2);
      sigma_squared += probability * std::pow(region_.withins[row % region_.withins.size()], 2);
    }
    return {tau_squared / total, sigma_squared / total};
  }

  NestedTable table_;
  dp::NormalGroups region_;
  dp::GroupGrid grid_;
  std::vector<double> record_risks_;
  std::vector<double> group_risks_;
};

}  // namespace

void PrintSlidesTable(uint64_t first_seed, int simulations) {
  for (int i = 0; i < simulations; ++i) {
    const Simulation simulation(first_seed + static_cast<uint64_t>(i));
    std::printf("\nSeed %d\n\n| weights | sigma^2 | tau^2 | first quartile | median | third quartile |\n",
                static_cast<int>(first_seed) + i);
    std::printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
    simulation.Print("none", 1, false, false);
    for (const double factor : {1.0, 0.5, 0.1})
      simulation.Print("records x " + std::to_string(factor).substr(0, 3), factor, true, false);
    for (const double factor : {1.0, 0.5, 0.1})
      simulation.Print("groups, records x " + std::to_string(factor).substr(0, 3), factor, true, true);
  }
}

}  // namespace curator::bench
