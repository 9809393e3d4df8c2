#include "dp/synthesis/models/product_fit.h"

#include <algorithm>
#include <utility>

#include "base/status_macros.h"
#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
namespace {

// Weights are recomputed from their log-factors once some of these may have risen by more than this
// (e^60 < 1e27) since the last time: a weight that was 0 is still negligible then.
constexpr double kMostRise = 60;

}  // namespace

ProductFit::ProductFit(const DenseLayout& layout, double total)
    : layout_(layout), base_(total / static_cast<double>(layout.cells())) {
  weights_.assign(static_cast<size_t>(layout.cells()), static_cast<float>(base_));
}

absl::Status ProductFit::Add(NoisyAnswers measurement, Pacer& pacer) {
  const std::vector<double> none(measurement.answers.size());
  return Adopt({.measured = std::move(measurement), .lambdas = none, .fitted = none}, pacer);
}

absl::Status ProductFit::Adopt(WeighedAnswers measurement, Pacer& pacer) {
  const AttributeSet set = measurement.measured.group.attributes;
  auto own = std::ranges::find(sets_, set, [](const MeasuredSet& each) { return each.factor().set; });
  if (own == sets_.end()) {
    ASSIGN_OR_RETURN(DenseMarginal dense, DenseMarginal::Create(layout_, set, pacer));
    own = sets_.emplace(sets_.end(), set, dense.cells());
    marginals_.push_back(std::move(dense));
  }
  return own->Add(std::move(measurement), pacer);
}

absl::StatusOr<double> ProductFit::Update(size_t set, const ReplayRule& rule, Pacer& pacer) {
  ASSIGN_OR_RETURN(std::vector<double> cells, marginals_[set].Sum(weights_, pacer));
  for (double& weight : cells) weight = std::max(weight, kLeastSum);
  ASSIGN_OR_RETURN(const MeasuredSet::Moved moved, sets_[set].Update(rule, cells, pacer));
  std::vector<float> factors(moved.logarithms.size());
  for (size_t cell = 0; cell < factors.size(); ++cell)
    factors[cell] = static_cast<float>(PortableExp(moved.logarithms[cell]));
  risen_ += std::max(0.0, *std::ranges::max_element(moved.logarithms));
  RETURN_IF_ERROR(risen_ > kMostRise ? Refresh(pacer) : marginals_[set].Scale(factors, weights_, pacer));
  return moved.largest;
}

absl::StatusOr<Replayed> ProductFit::Replay(const ReplayRule& rule, Pacer& pacer) {
  Replayed replayed;
  while (replayed.sweeps < rule.most_sweeps) {
    replayed.largest_move = 0;
    for (size_t set = sets_.size(); set-- > 0;) {
      ASSIGN_OR_RETURN(const double move, Update(set, rule, pacer));
      replayed.largest_move = std::max(replayed.largest_move, move);
    }
    ++replayed.sweeps;
    if (replayed.largest_move <= rule.converged) break;
  }
  RETURN_IF_ERROR(Refresh(pacer));
  return replayed;
}

absl::Status ProductFit::Refresh(Pacer& pacer) {
  ASSIGN_OR_RETURN(weights_, ProductWeights(layout_, base_, factors(), marginals_, pacer));
  risen_ = 0;
  return absl::OkStatus();
}

std::vector<LogFactor> ProductFit::factors() const {
  std::vector<LogFactor> factors;
  for (const MeasuredSet& set : sets_) factors.push_back(set.factor());
  return factors;
}

std::vector<WeighedAnswers> ProductFit::measurements() const {
  std::vector<WeighedAnswers> all;
  for (const MeasuredSet& set : sets_)
    all.insert(all.end(), set.measurements().begin(), set.measurements().end());
  return all;
}

}  // namespace curator::dp
