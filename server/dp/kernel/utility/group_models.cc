#include "dp/kernel/utility/group_models.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::dp {
namespace {

constexpr int kValueBits = 30;

absl::Status CheckAxis(std::span<const double> axis, double least, double most, std::string_view name) {
  if (axis.empty()) return absl::InvalidArgumentError("there are no candidates to choose from");
  for (const double number : axis) {
    if (number >= least && number <= most) continue;
    return absl::InvalidArgumentError(
        absl::StrCat("the ", std::string(name), " of the model must lie from ", least, " to ", most));
  }
  return absl::OkStatus();
}

absl::Status CheckSizes(size_t numbers, int64_t codes, double candidates, int64_t most) {
  if (static_cast<int64_t>(numbers) != codes) {
    return absl::InvalidArgumentError(
        absl::StrCat("there are ", numbers, " numbers for ", codes, " codes of the response"));
  }
  if (candidates > static_cast<double>(most))
    return absl::OutOfRangeError(absl::StrCat("there are more than ", most, " candidates"));
  return absl::OkStatus();
}

absl::Status Check(const NormalGroups& model, int64_t codes) {
  const bool is_interval =
      model.low < model.high && model.low >= -kLargestNormalNumber && model.high <= kLargestNormalNumber;
  if (!is_interval) {
    return absl::InvalidArgumentError(
        absl::StrCat("responses must have bounds low < high within ", kLargestNormalNumber, " of 0"));
  }
  const double most = kLargestNormalNumber;
  RETURN_IF_ERROR(CheckAxis(model.means, model.low, model.high, "means"));
  RETURN_IF_ERROR(CheckAxis(model.betweens, 0, most, "deviations between groups"));
  RETURN_IF_ERROR(CheckAxis(model.withins, std::max(1e-6, (model.high - model.low) / kMostRangeInWithins),
                            most, "deviations within groups"));
  if (std::ranges::any_of(model.values, [](double value) { return !std::isfinite(value); }))
    return absl::InvalidArgumentError("a response is not a finite number");
  return CheckSizes(model.values.size(), codes,
                    static_cast<double>(model.means.size()) * static_cast<double>(model.betweens.size()) *
                        static_cast<double>(model.withins.size()),
                    kMostUtilityValues);
}

absl::Status Check(const BinomialGroups& model, int64_t codes) {
  if (!(model.edge >= 1e-6 && model.edge <= 0.25))
    return absl::InvalidArgumentError("the edge of probabilities must lie from 1e-6 to 0.25");
  RETURN_IF_ERROR(CheckAxis(model.means, model.edge, 1 - model.edge, "means"));
  RETURN_IF_ERROR(CheckAxis(model.correlations, 1e-6, 1 - 1e-6, "intraclass correlations"));
  if (std::ranges::any_of(model.successes, [](uint8_t success) { return success > 1; }))
    return absl::InvalidArgumentError("a response is neither a success (1) nor a failure (0)");
  return CheckSizes(model.successes.size(), codes,
                    static_cast<double>(model.means.size()) * static_cast<double>(model.correlations.size()),
                    kMostBinomialCandidates);
}

NormalGroupGrid Grid(const NormalGroups& model) {
  NormalGroupGrid grid;
  grid.span = model.high - model.low;
  grid.step = std::ldexp(grid.span, -kValueBits);
  for (const double value : model.values)
    grid.values.push_back(std::llround((std::clamp(value, model.low, model.high) - model.low) / grid.step));
  for (const double mean : model.means) grid.means.push_back(mean - model.low);
  for (const double between : model.betweens) grid.between_squared.push_back(between * between);
  for (const double within : model.withins) {
    grid.precision.push_back(1 / (within * within));
    grid.log_square.push_back(std::log(2 * std::numbers::pi * within * within));
  }
  grid.largest_between_squared = *std::ranges::max_element(grid.between_squared);
  grid.least_log_square = *std::ranges::min_element(grid.log_square);
  return grid;
}

BinomialGroupGrid Grid(const BinomialGroups& model) {
  BinomialGroupGrid grid{.successes = model.successes,
                         .log_success = {},
                         .log_failure = {},
                         .correlations = model.correlations.size(),
                         .means = model.means.size(),
                         .shares = {}};
  const double farthest = std::log((1 - model.edge) / model.edge);
  for (size_t q = 0; q < kEffectPoints; ++q) {
    const double log_odds =
        farthest * (2 * static_cast<double>(q) / static_cast<double>(kEffectPoints - 1) - 1);
    grid.log_success.push_back(-std::log1p(std::exp(-log_odds)));
    grid.log_failure.push_back(-std::log1p(std::exp(log_odds)));
  }
  const size_t candidates = grid.rows() * grid.row_length();
  grid.shares.resize(kEffectPoints * candidates);
  std::vector<double> density(kEffectPoints);
  for (size_t j = 0; j < candidates; ++j) {
    const double correlation = model.correlations[j / grid.means];
    const double size = (1 - correlation) / correlation;  // of the beta distribution
    const double mean = model.means[j % grid.means];
    // The beta density times p (1 - p), the width of a point of even log-odds.
    for (size_t q = 0; q < kEffectPoints; ++q)
      density[q] = size * (mean * grid.log_success[q] + (1 - mean) * grid.log_failure[q]);
    const double largest = *std::ranges::max_element(density);
    double total = 0;
    for (double& each : density) total += each = std::exp(each - largest);
    for (size_t q = 0; q < kEffectPoints; ++q) {
      grid.shares[q * candidates + j] =
          (1 - kLeastPointShare) * density[q] / total + kLeastPointShare / static_cast<double>(kEffectPoints);
    }
  }
  return grid;
}

}  // namespace

size_t RowsOf(const GroupGrid& grid) {
  return std::visit([](const auto& kind) { return kind.rows(); }, grid);
}

size_t RowLengthOf(const GroupGrid& grid) {
  return std::visit([](const auto& kind) { return kind.row_length(); }, grid);
}

absl::Status CheckGroupModel(const GroupModel& model, int64_t codes) {
  return std::visit([codes](const auto& kind) { return Check(kind, codes); }, model);
}

GroupGrid GridOf(const GroupModel& model) {
  return std::visit([](const auto& kind) -> GroupGrid { return Grid(kind); }, model);
}

GroupSums SumsOf(const GroupGrid& grid, std::span<const int64_t> weights, std::span<const uint32_t> codes) {
  GroupSums sums;
  if (const auto* normal = std::get_if<NormalGroupGrid>(&grid)) {
    for (const uint32_t code : codes) {
      const Int128 weighted = static_cast<Int128>(weights[code]) * normal->values[code];
      sums.weight += weights[code];
      sums.sum += weighted;
      sums.squares += weighted * normal->values[code];
    }
    return sums;
  }
  const auto& binomial = std::get<BinomialGroupGrid>(grid);
  for (const uint32_t code : codes) {
    sums.weight += weights[code];
    if (binomial.successes[code] == 1) sums.sum += weights[code];
  }
  return sums;
}

}  // namespace curator::dp
