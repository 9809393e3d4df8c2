#include "k_means.h"

#include <limits>
#include <random>
#include <utility>

namespace curator::bench {
namespace {

struct Nearest {
  size_t centre = 0;
  double squared_distance = std::numeric_limits<double>::infinity();
};

Nearest NearestOf(const std::vector<double>& point, const Points& centres) {
  Nearest nearest;
  for (size_t centre = 0; centre < centres.size(); ++centre) {
    double squares = 0;
    for (size_t i = 0; i < point.size(); ++i)
      squares += (point[i] - centres[centre][i]) * (point[i] - centres[centre][i]);
    if (squares < nearest.squared_distance) nearest = {.centre = centre, .squared_distance = squares};
  }
  return nearest;
}

Points FirstCentres(const Points& points, size_t count, std::mt19937_64& random) {
  Points centres = {points[random() % points.size()]};
  while (centres.size() < count) {
    std::vector<double> sums;
    double sum = 0;
    for (const auto& point : points) sums.push_back(sum += NearestOf(point, centres).squared_distance);
    const double at = sum * static_cast<double>(random() >> 11) * 0x1p-53;
    size_t picked = 0;
    while (picked + 1 < points.size() && sums[picked] <= at) ++picked;
    centres.push_back(points[picked]);
  }
  return centres;
}

// A centre that no point is nearest to stays where it is.
Points MovedToMeans(const Points& points, const Points& centres) {
  Points sums(centres.size(), std::vector<double>(centres.front().size()));
  std::vector<double> counts(centres.size());
  for (const auto& point : points) {
    const size_t centre = NearestOf(point, centres).centre;
    counts[centre] += 1;
    for (size_t i = 0; i < point.size(); ++i) sums[centre][i] += point[i];
  }
  for (size_t centre = 0; centre < centres.size(); ++centre) {
    if (counts[centre] == 0) sums[centre] = centres[centre];
    for (double& sum : sums[centre]) sum /= counts[centre] == 0 ? 1 : counts[centre];
  }
  return sums;
}

}  // namespace

Points CentresOf(const Points& points, size_t count) {
  std::mt19937_64 random(1);
  Points best;
  double least = std::numeric_limits<double>::infinity();
  for (int run = 0; run < 5; ++run) {
    Points centres = FirstCentres(points, count, random);
    for (int round = 0; round < 30; ++round) centres = MovedToMeans(points, centres);
    const double cost = CostOf(points, centres);
    if (cost >= least) continue;
    least = cost;
    best = std::move(centres);
  }
  return best;
}

double CostOf(const Points& points, const Points& centres) {
  double cost = 0;
  for (const auto& point : points) cost += NearestOf(point, centres).squared_distance;
  return cost / static_cast<double>(points.size());
}

}  // namespace curator::bench
