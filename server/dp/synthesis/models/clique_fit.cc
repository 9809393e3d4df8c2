#include "dp/synthesis/models/clique_fit.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/models/portable_math.h"

namespace curator::dp {
namespace {

constexpr int64_t kMostTabulated = int64_t{1} << 26;

// Carrying changes on adds up the rounding of floats, so weights are recomputed now and then.
constexpr int64_t kSweepsBetweenCalibrations = 32;

// A weight below 1e-30 is 0, and no factor raises it again, although the log-factors that it stands for may
// rise. Until these may have risen by more than this it is still negligible (e^30 < 1e14).
constexpr double kMostRisen = 30;

}  // namespace

CliqueFit::CliqueFit(const Domain& domain, AttributeSet attributes, NoisyRecords records, int64_t max_cells,
                     int64_t max_separator)
    : domain_(domain),
      count_(records),
      max_cells_(max_cells),
      max_separator_(max_separator),
      graph_(domain, std::move(attributes)) {
  log_base_ = PortableLog(std::max(1.0, count_.answer));
  for (const int64_t size : domain.SizesOf(graph_.attributes()))
    log_base_ -= PortableLog(static_cast<double>(size));
}

bool CliqueFit::Fits(const AttributeSet& set) const {
  if (graph_.Connects(set)) return true;
  if (unfit_.contains(set)) return false;
  if (graph_.HasRoomFor(set, max_cells_, max_separator_)) return true;
  unfit_.insert(set);
  return false;
}

bool CliqueFit::FitsInto(const AttributeSet& set, int64_t most_cells) const {
  return Fits(set) && (most_cells >= max_cells_ || graph_.HasRoomFor(set, most_cells, max_separator_));
}

absl::Status CliqueFit::Join(const AttributeSet& set) {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  if (!IsSubset(set, graph_.attributes()))
    return absl::InvalidArgumentError("a measured set has an attribute that the fit does not cover");
  if (graph_.Connects(set)) return absl::OkStatus();
  if (!Fits(set)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a measurement would need tables of more than ", max_cells_, " cells"));
  }
  graph_.Connect(set);
  tables_.reset();
  return absl::OkStatus();
}

absl::Status CliqueFit::SetBase(std::vector<LogFactor> base, Pacer& pacer) {
  for (const LogFactor& factor : base) RETURN_IF_ERROR(Join(factor.set));
  base_ = std::move(base);
  if (base_.empty()) return absl::OkStatus();
  ASSIGN_OR_RETURN(CliqueTables tables, CliqueTables::Create(domain_, graph_.Tree(), pacer));
  RETURN_IF_ERROR(tables.Calibrate(log_base_, base_, pacer));
  log_base_ += PortableLog(std::max(1.0, count_.answer)) - PortableLog(tables.total());
  return absl::OkStatus();
}

absl::Status CliqueFit::Add(NoisyAnswers measurement, Pacer& pacer) {
  const AttributeSet set = measurement.group.attributes;
  RETURN_IF_ERROR(Join(set));
  tables_.reset();
  auto own = std::ranges::find(sets_, set, [](const MeasuredSet& each) { return each.factor().set; });
  if (own == sets_.end()) own = sets_.emplace(sets_.end(), set, domain_.CellCount(set).value_or(0));
  const std::vector<double> none(measurement.answers.size());
  return own->Add({.measured = std::move(measurement), .lambdas = none, .fitted = none}, pacer);
}

absl::Status CliqueFit::MakeTables(Pacer& pacer) {
  if (tables_) return absl::OkStatus();
  ASSIGN_OR_RETURN(CliqueTables tables, CliqueTables::Create(domain_, graph_.Tree(), pacer));
  tables_.emplace(std::move(tables));
  placed_.clear();
  members_.assign(tables_->tree().size(), {});
  for (size_t i = 0; i < sets_.size(); ++i) {
    const size_t clique = CliqueHolding(tables_->tree(), sets_[i].factor().set);
    ASSIGN_OR_RETURN(DenseMarginal marginal,
                     DenseMarginal::Create(tables_->layout(clique), sets_[i].factor().set, pacer));
    placed_.push_back({.clique = clique, .marginal = std::move(marginal)});
    members_[clique].push_back(i);
  }
  return Calibrate(pacer);
}

std::vector<LogFactor> CliqueFit::factors() const {
  std::vector<LogFactor> factors = base_;
  for (const MeasuredSet& set : sets_) factors.push_back(set.factor());
  return factors;
}

absl::Status CliqueFit::Calibrate(Pacer& pacer) {
  risen_ = 0;
  return tables_->Calibrate(log_base_, factors(), pacer);
}

absl::StatusOr<double> CliqueFit::Update(size_t set, const ReplayRule& rule, Pacer& pacer) {
  const Placed& placed = placed_[set];
  ASSIGN_OR_RETURN(std::vector<double> weights, placed.marginal.Sum(tables_->weights(placed.clique), pacer));
  for (double& weight : weights) weight = std::max(weight, kLeastSum);
  ASSIGN_OR_RETURN(const MeasuredSet::Moved moved, sets_[set].Update(rule, weights, pacer));
  std::vector<float> factors(moved.logarithms.size());
  for (size_t cell = 0; cell < factors.size(); ++cell)
    factors[cell] = static_cast<float>(PortableExp(moved.logarithms[cell]));
  risen_ += std::max(0.0, *std::ranges::max_element(moved.logarithms));
  RETURN_IF_ERROR(tables_->Scale(placed.clique, placed.marginal, factors, pacer));
  return moved.largest;
}

absl::StatusOr<double> CliqueFit::Sweep(const ReplayRule& rule, Pacer& pacer) {
  double largest = 0;
  for (const CliqueTables::Move& move : tables_->walk()) {
    RETURN_IF_ERROR(tables_->Carry(move, pacer));
    if (!move.down) continue;
    const std::vector<size_t>& members = members_[move.edge];
    for (size_t i = members.size(); i-- > 0;) {
      ASSIGN_OR_RETURN(const double moved, Update(members[i], rule, pacer));
      largest = std::max(largest, moved);
      if (risen_ > kMostRisen) RETURN_IF_ERROR(Calibrate(pacer));
    }
  }
  return largest;
}

absl::StatusOr<Replayed> CliqueFit::Replay(const ReplayRule& rule, Pacer& pacer) {
  RETURN_IF_ERROR(MakeTables(pacer));
  Replayed replayed;
  while (replayed.sweeps < rule.most_sweeps) {
    ASSIGN_OR_RETURN(replayed.largest_move, Sweep(rule, pacer));
    ++replayed.sweeps;
    if (replayed.largest_move <= rule.converged) break;
    if (replayed.sweeps % kSweepsBetweenCalibrations == 0) RETURN_IF_ERROR(Calibrate(pacer));
  }
  RETURN_IF_ERROR(Calibrate(pacer));
  return replayed;
}

absl::StatusOr<std::vector<std::vector<double>>> CliqueFit::Marginals(std::span<const AttributeSet> sets,
                                                                      Pacer& pacer) {
  RETURN_IF_ERROR(MakeTables(pacer));
  for (const AttributeSet& set : sets) {
    if (!IsSubset(set, graph_.attributes()))
      return absl::InvalidArgumentError("a set has an attribute that the fit does not cover");
    if (domain_.CellCount(set).value_or(kMostTabulated + 1) > kMostTabulated)
      return absl::InvalidArgumentError("a marginal has too many cells to be tabulated");
  }
  return tables_->Marginals(sets, pacer);
}

int64_t CliqueFit::CellsToEstimate(const AttributeSet& set) const {
  return tables_->EffortOf(set).largest;
}

double CliqueFit::records() const {
  return std::max(1.0, tables_ ? tables_->total() : count_.answer);
}

}  // namespace curator::dp
