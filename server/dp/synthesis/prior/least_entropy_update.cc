#include "dp/synthesis/prior/least_entropy_update.h"

#include <algorithm>
#include <numeric>

#include "base/status_macros.h"

namespace curator::dp {
namespace {

// Makes `y` sum to exactly what it should, up to rounding.
void ScaleToOne(std::vector<double>& y) {
  const double sum = std::accumulate(y.begin(), y.end(), 0.0);
  for (double& cell : y) cell /= sum;
}

// Cells in the order in which answer / mass rises, so that the first ones are cut (or raised) first.
std::vector<size_t> ByRatio(const std::vector<double>& clipped, std::span<const double> mass) {
  std::vector<size_t> order;
  for (size_t cell = 0; cell < clipped.size(); ++cell) {
    if (mass[cell] > 0) order.push_back(cell);
  }
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return clipped[a] * mass[b] < clipped[b] * mass[a]; });
  return order;
}

// min(clipped, factor * mass), with the factor at which it sums to 1. Where even all of the answers of cells
// with mass do not reach 1, the cells without mass share the rest by their answers.
std::vector<double> CutToOne(const std::vector<double>& clipped, std::span<const double> mass) {
  const std::vector<size_t> order = ByRatio(clipped, mass);
  double kept = 0;
  double mass_left = 0;
  for (const size_t cell : order) mass_left += mass[cell];
  std::vector<double> y(clipped.size());
  size_t next = 0;
  for (; next < order.size(); ++next) {
    const size_t cell = order[next];
    // Does a factor that takes this answer whole leave room for all others?
    if (kept + clipped[cell] / mass[cell] * mass_left >= 1) break;
    y[cell] = clipped[cell];
    kept += clipped[cell];
    mass_left -= mass[cell];
  }
  if (next < order.size()) {
    const double factor = (1 - kept) / mass_left;
    for (; next < order.size(); ++next) y[order[next]] = factor * mass[order[next]];
    return y;
  }
  double outside = 0;
  for (size_t cell = 0; cell < clipped.size(); ++cell) outside += mass[cell] > 0 ? 0 : clipped[cell];
  for (size_t cell = 0; cell < clipped.size(); ++cell) {
    if (!(mass[cell] > 0) && outside > 0) y[cell] = clipped[cell] * (1 - kept) / outside;
  }
  return y;
}

// max(clipped, factor * mass), with the factor at which it sums to 1.
std::vector<double> RaiseToOne(const std::vector<double>& clipped, std::span<const double> mass) {
  const std::vector<size_t> order = ByRatio(clipped, mass);
  std::vector<double> y = clipped;
  double fixed = std::accumulate(clipped.begin(), clipped.end(), 0.0);
  double mass_raised = 0;
  double factor = 0;
  for (size_t i = 0; i < order.size(); ++i) {
    fixed -= clipped[order[i]];
    mass_raised += mass[order[i]];
    factor = (1 - fixed) / mass_raised;
    const bool is_last = i + 1 == order.size();
    if (is_last || factor * mass[order[i + 1]] <= clipped[order[i + 1]]) break;
  }
  for (const size_t cell : order) y[cell] = std::max(clipped[cell], factor * mass[cell]);
  return y;
}

}  // namespace

absl::StatusOr<std::vector<double>> MassInCells(std::span<const uint32_t> cell_of_record, size_t cells,
                                                std::span<const double> weights, Pacer& pacer) {
  std::vector<double> mass(cells);
  RETURN_IF_ERROR(pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
    for (size_t record = start; record < start + length; ++record) {
      const uint32_t cell = cell_of_record[record];
      if (cell != kUncovered) mass[cell] += weights[record];
    }
  }));
  return mass;
}

absl::Status LeastEntropyUpdate(std::span<const uint32_t> cell_of_record, std::span<const double> target,
                                std::span<double> weights, Pacer& pacer) {
  // The uncovered records are one more cell, the last.
  const size_t rest = target.size();
  const auto cell_at = [&](size_t record) {
    const uint32_t cell = cell_of_record[record];
    return cell == kUncovered ? rest : size_t{cell};
  };
  std::vector<double> wanted(target.begin(), target.end());
  wanted.push_back(std::max(0.0, 1 - std::accumulate(target.begin(), target.end(), 0.0)));
  std::vector<double> mass(rest + 1);
  std::vector<double> records(rest + 1);
  RETURN_IF_ERROR(pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
    for (size_t record = start; record < start + length; ++record) {
      mass[cell_at(record)] += weights[record];
      ++records[cell_at(record)];
    }
  }));
  std::vector<double> factor(rest + 1);
  std::vector<double> even(rest + 1);
  for (size_t cell = 0; cell <= rest; ++cell) {
    if (mass[cell] > 0) {
      factor[cell] = wanted[cell] / mass[cell];
    } else if (records[cell] > 0) {
      even[cell] = wanted[cell] / records[cell];
    }
  }
  return pacer.InPieces(weights.size(), [&](size_t start, size_t length) {
    for (size_t record = start; record < start + length; ++record)
      weights[record] = weights[record] * factor[cell_at(record)] + even[cell_at(record)];
  });
}

std::vector<double> ProjectAnswers(std::span<const double> noisy, std::span<const uint8_t> reachable,
                                   std::span<const double> mass, Projection projection) {
  std::vector<double> clipped(noisy.size());
  double sum = 0;
  for (size_t cell = 0; cell < noisy.size(); ++cell) {
    clipped[cell] = reachable[cell] != 0 ? std::max(0.0, noisy[cell]) : 0.0;
    sum += clipped[cell];
  }
  std::vector<double> y;
  if (!(sum > 0)) {
    y.assign(mass.begin(), mass.end());
  } else if (projection == Projection::kScale) {
    y = std::move(clipped);
  } else {
    y = sum > 1 ? CutToOne(clipped, mass) : RaiseToOne(clipped, mass);
  }
  ScaleToOne(y);
  return y;
}

}  // namespace curator::dp
