#include "dp/kernel/owner/nested_risk.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr int kMeans = 33;
constexpr double kLogTwoPi = 1.8378770664093453;

// What the likelihood needs to know of a group: sums over its members, weighted.
struct WeightedSums {
  double weight = 0;
  double mean = 0;
  double squares = 0;  // of the distances from the mean

  bool empty() const { return weight <= 0; }

  WeightedSums Without(double value, double its_weight) const {
    const double left = weight - its_weight;
    // A group of this member alone, up to rounding.
    if (left <= 1e-9 * weight) return {};
    const double distance = value - mean;
    return {.weight = left,
            .mean = mean - its_weight * distance / left,
            .squares = std::max(0.0, squares - its_weight * distance * distance * weight / left)};
  }
};

enum class Place { kBeforeLogarithm, kInsideIntegral };  // of a group's weight: A, or B and C

struct Deviations {
  double between_squared = 1;
  double within_squared = 1;
  double log_between_squared = 0;
  double log_within_squared = 0;
};

// A group's contribution as a function of nu: constant + slope * (nu - mean)^2, slope <= 0.
struct Parabola {
  double constant = 0;
  double slope = 0;
  double mean = 0;

  double At(double nu) const { return constant + slope * (nu - mean) * (nu - mean); }
};

// The integrals in closed form: completing the square in mu leaves
// exp(-A (mean - nu)^2 / (2 (sigma^2 + A tau^2))) times constants, with A the sum of the records' weights.
Parabola ContributionOf(const WeightedSums& sums, double group_weight, Place place, const Deviations& at) {
  if (sums.empty()) return {};
  const double of_mean = at.within_squared + sums.weight * at.between_squared;
  const double members =
      -0.5 * (sums.weight * (kLogTwoPi + at.log_within_squared) + sums.squares / at.within_squared);
  const double shrinkage = 0.5 * (at.log_within_squared - std::log(of_mean));
  Parabola parabola{.constant = group_weight * (members + shrinkage),
                    .slope = -0.5 * group_weight * sums.weight / of_mean,
                    .mean = sums.mean};
  if (place == Place::kInsideIntegral) {
    parabola.constant = group_weight * (members - 0.5 * (kLogTwoPi + at.log_between_squared)) +
                        0.5 * (kLogTwoPi - std::log(group_weight) + at.log_between_squared) + shrinkage;
  }
  return parabola;
}

class Sensitivities {
 public:
  explicit Sensitivities(const RiskGrid& grid) : means_(grid.means) {
    for (const double between : grid.betweens) {
      for (const double within : grid.withins) {
        deviations_.push_back({.between_squared = between * between,
                               .within_squared = within * within,
                               .log_between_squared = 2 * std::log(between),
                               .log_within_squared = 2 * std::log(within)});
      }
    }
  }

  double OfGroup(const WeightedSums& sums, double group_weight, Place place) const {
    double largest = 0;
    for (const Deviations& at : deviations_) {
      const Parabola parabola = ContributionOf(sums, group_weight, place, at);
      largest = std::max(largest, LargestOver(parabola, Parabola{}));
    }
    return largest;
  }

  double OfRecord(const WeightedSums& all, const WeightedSums& others, double group_weight,
                  Place place) const {
    double largest = 0;
    for (const Deviations& at : deviations_) {
      largest = std::max(largest, LargestOver(ContributionOf(all, group_weight, place, at),
                                              ContributionOf(others, group_weight, place, at)));
    }
    return largest;
  }

 private:
  // Of |a - b| over the means: a parabola again, so its ends and the means around its turn are enough.
  double LargestOver(const Parabola& a, const Parabola& b) const {
    const auto distance = [&](double nu) { return std::abs(a.At(nu) - b.At(nu)); };
    double largest = std::max(distance(means_.front()), distance(means_.back()));
    const double curvature = a.slope - b.slope;
    if (curvature == 0) return largest;
    const double turn = (a.slope * a.mean - b.slope * b.mean) / curvature;
    const auto above = std::ranges::lower_bound(means_, turn);
    if (above != means_.end()) largest = std::max(largest, distance(*above));
    if (above != means_.begin()) largest = std::max(largest, distance(*(above - 1)));
    return largest;
  }

  const std::vector<double>& means_;
  std::vector<Deviations> deviations_;
};

// One number for each distinct value of each group, and one for each group.
using ByRecord = std::vector<std::vector<double>>;
using ByGroup = std::vector<double>;

struct Weighting {
  std::string name;
  std::string option;
  Place place = Place::kInsideIntegral;
  ByGroup of_group;
  ByRecord of_record;
};

struct Weighed {
  ByGroup of_group;
  ByRecord of_record;
};

WeightedSums SumsOf(const RiskGroup& group, const std::vector<double>& weights) {
  WeightedSums sums;
  for (size_t i = 0; i < group.values.size(); ++i) {
    const double weight = weights[i] * static_cast<double>(group.counts[i]);
    sums.weight += weight;
    sums.mean += weight * group.values[i];
  }
  sums.mean /= sums.weight;
  for (size_t i = 0; i < group.values.size(); ++i) {
    const double distance = group.values[i] - sums.mean;
    sums.squares += weights[i] * static_cast<double>(group.counts[i]) * distance * distance;
  }
  return sums;
}

Weighed Weigh(const std::vector<RiskGroup>& groups, const Weighting& weighting, const Sensitivities& grid) {
  Weighed weighed;
  for (size_t g = 0; g < groups.size(); ++g) {
    const WeightedSums sums = SumsOf(groups[g], weighting.of_record[g]);
    weighed.of_group.push_back(grid.OfGroup(sums, weighting.of_group[g], weighting.place));
    std::vector<double>& records = weighed.of_record.emplace_back();
    for (size_t i = 0; i < groups[g].values.size(); ++i) {
      const WeightedSums others = sums.Without(groups[g].values[i], weighting.of_record[g][i]);
      records.push_back(grid.OfRecord(sums, others, weighting.of_group[g], weighting.place));
    }
  }
  return weighed;
}

double LeastOf(const ByRecord& numbers) {
  double least = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& group : numbers) least = std::min(least, *std::ranges::min_element(group));
  return least;
}

double LargestOf(const ByRecord& numbers) {
  double largest = 0;
  for (const std::vector<double>& group : numbers)
    largest = std::max(largest, *std::ranges::max_element(group));
  return largest;
}

// Weights have logarithms.
constexpr double kLeastWeight = 1e-9;

// share * least / own, at most share.
double WeightFor(double share, double least, double own) {
  return own > least ? std::max(kLeastWeight, share * least / own) : share;
}

ByRecord WeightsOfRecords(const ByRecord& sensitivities, double share) {
  const double least = LeastOf(sensitivities);
  ByRecord weights = sensitivities;
  for (std::vector<double>& group : weights) {
    for (double& each : group) each = WeightFor(share, least, each);
  }
  return weights;
}

ByGroup WeightsOfGroups(const ByGroup& sensitivities) {
  const double least = *std::ranges::min_element(sensitivities);
  ByGroup weights = sensitivities;
  for (double& each : weights) each = WeightFor(1, least, each);
  return weights;
}

Quartiles QuartilesOf(std::vector<std::pair<double, int64_t>> counted) {
  std::ranges::sort(counted);
  int64_t all = 0;
  for (const auto& [value, count] : counted) all += count;
  // The least value that at least a share of all does not exceed.
  const auto at = [&](int64_t quarters) {
    const int64_t wanted = std::max<int64_t>(1, (all * quarters + 3) / 4);
    auto found = counted.begin();
    for (int64_t so_far = found->second; so_far < wanted; so_far += found->second) ++found;
    return found->first;
  };
  return {.least = at(0), .first = at(1), .median = at(2), .third = at(3), .largest = at(4)};
}

void AppendRows(const std::vector<RiskGroup>& groups, const Weighting& weighting, const Weighed& weighed,
                std::vector<RiskRow>& of_groups, std::vector<RiskRow>& of_records) {
  std::vector<std::pair<double, int64_t>> by_group;
  std::vector<std::pair<double, int64_t>> by_record;
  for (size_t g = 0; g < groups.size(); ++g) {
    by_group.emplace_back(weighed.of_group[g], 1);
    for (size_t i = 0; i < groups[g].values.size(); ++i)
      by_record.emplace_back(weighed.of_record[g][i], groups[g].counts[i]);
  }
  of_groups.push_back(
      {weighting.name, weighting.option, RiskLevel::kGroup, QuartilesOf(std::move(by_group))});
  of_records.push_back(
      {weighting.name, weighting.option, RiskLevel::kRecord, QuartilesOf(std::move(by_record))});
}

// The fit by moments: the analysis of variance.
struct Moments {
  double mean = 0;  // of the groups' means
  double error_of_mean = 0;
  double between_squared = 0;  // may come out below 0
  double within_squared = 0;
};

Moments MomentsOf(const std::vector<RiskGroup>& groups) {
  Moments fit;
  const auto count = static_cast<double>(groups.size());
  std::vector<WeightedSums> sums;
  double members = 0;
  double inverse_sizes = 0;
  for (const RiskGroup& group : groups) {
    sums.push_back(SumsOf(group, std::vector<double>(group.values.size(), 1)));
    fit.within_squared += sums.back().squares;
    fit.mean += sums.back().mean / count;
    members += sums.back().weight;
    inverse_sizes += 1 / sums.back().weight / count;
  }
  fit.within_squared /= std::max(1.0, members - count);
  double of_means = 0;
  for (const WeightedSums& each : sums) of_means += (each.mean - fit.mean) * (each.mean - fit.mean);
  of_means /= std::max(1.0, count - 1);
  fit.between_squared = of_means - fit.within_squared * inverse_sizes;
  fit.error_of_mean = std::sqrt(of_means / count);
  return fit;
}

std::vector<double> Evenly(double low, double high) {
  std::vector<double> numbers;
  for (int i = 0; i < kMeans; ++i) numbers.push_back(low + (high - low) * i / (kMeans - 1));
  return numbers;
}

std::vector<double> InEqualRatios(double low, double high, int count) {
  std::vector<double> numbers;
  for (int i = 0; i < count; ++i) numbers.push_back(low * std::pow(high / low, i / (count - 1.0)));
  return numbers;
}

absl::Status CheckInput(const std::vector<RiskGroup>& groups, const RiskGrid& grid) {
  if (groups.empty()) return absl::InvalidArgumentError("there are no groups");
  if (grid.means.empty() || grid.betweens.empty() || grid.withins.empty())
    return absl::InvalidArgumentError("the grid is empty");
  for (const RiskGroup& group : groups) {
    if (group.values.empty() || group.values.size() != group.counts.size())
      return absl::InvalidArgumentError("a group has no records");
    if (std::ranges::any_of(group.counts, [](int64_t count) { return count < 1; }))
      return absl::InvalidArgumentError("a response occurs less than once");
  }
  return absl::OkStatus();
}

}  // namespace

int DeviationsFor(const std::vector<RiskGroup>& groups) {
  constexpr double kMostSteps = 1e7;
  double distinct = 1;
  for (const RiskGroup& group : groups) distinct += static_cast<double>(group.values.size());
  return std::clamp(static_cast<int>(std::sqrt(kMostSteps / distinct)), 4, 15);
}

RiskGrid RiskGridAround(const std::vector<RiskGroup>& groups, double least, int per_deviation) {
  const Moments fit = MomentsOf(groups);
  const double within = std::max(std::sqrt(fit.within_squared), least);
  const double between = std::max(std::sqrt(std::max(fit.between_squared, 0.0)), least);
  const double reach = 3 * fit.error_of_mean;
  RiskGrid grid;
  grid.means = Evenly(fit.mean - reach, fit.mean + reach);
  grid.betweens = InEqualRatios(std::max(between / 5, least), 2 * between, per_deviation);
  grid.withins = InEqualRatios(std::max(within / 5, least), 2 * within, per_deviation);
  return grid;
}

RiskGrid RiskGridOver(double low, double high, double resolution, int per_deviation) {
  if (low == high)
    return RiskGridOver(low - resolution / 2, high + resolution / 2, resolution, per_deviation);
  RiskGrid grid;
  grid.means = Evenly(low, high);
  grid.betweens = InEqualRatios((high - low) / 100, (high - low) / 4, per_deviation);
  grid.withins = grid.betweens;
  return grid;
}

absl::StatusOr<std::vector<RiskRow>> NestedRisk(const std::vector<RiskGroup>& groups, const RiskGrid& grid) {
  RETURN_IF_ERROR(CheckInput(groups, grid));
  const Sensitivities sensitivities(grid);
  std::vector<RiskRow> rows;
  std::vector<RiskRow> of_records;
  const auto weigh = [&](const Weighting& weighting) {
    Weighed weighed = Weigh(groups, weighting, sensitivities);
    AppendRows(groups, weighting, weighed, rows, of_records);
    return weighed;
  };
  const auto equally = [&](double weight) {
    ByRecord weights;
    for (const RiskGroup& group : groups) weights.emplace_back(group.values.size(), weight);
    return weights;
  };
  const ByGroup ones(groups.size(), 1);
  const Weighed plain = weigh({"none", "", Place::kBeforeLogarithm, ones, equally(1)});
  const double scalar = WeightFor(1, LeastOf(plain.of_record), LargestOf(plain.of_record));
  weigh({"scalar", "A", Place::kBeforeLogarithm, ByGroup(groups.size(), scalar), equally(1)});
  weigh({"scalar", "C", Place::kInsideIntegral, ones, equally(scalar)});
  const ByGroup by_group = WeightsOfGroups(plain.of_group);
  weigh({"group", "A", Place::kBeforeLogarithm, by_group, equally(1)});
  weigh({"group", "B", Place::kInsideIntegral, by_group, equally(1)});
  for (const double share : {1.0, 0.5, 0.1}) {
    const ByRecord by_record = WeightsOfRecords(plain.of_record, share);
    const Weighed vector =
        weigh({absl::StrCat("vector ", share), "C", Place::kInsideIntegral, ones, by_record});
    weigh({absl::StrCat("vector and group ", share), "C", Place::kInsideIntegral,
           WeightsOfGroups(vector.of_group), by_record});
  }
  rows.insert(rows.end(), of_records.begin(), of_records.end());
  return rows;
}

}  // namespace curator::dp
