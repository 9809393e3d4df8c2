#include "dp/synthesis/models/factored_fit.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/synthesis/models/dense_layout.h"
#include "dp/synthesis/models/factored_model.h"
#include "dp/synthesis/models/product_model.h"

namespace curator::dp {
namespace {

// The measurements of several components as those of one: each counts the number of records, which is kept
// once, with the sum of its lambdas; the weights are then the product of the components'.
std::vector<WeighedAnswers> Merged(const std::vector<std::vector<WeighedAnswers>>& all) {
  std::vector<WeighedAnswers> merged = {all.front().front()};
  for (const std::vector<WeighedAnswers>& own : all) {
    if (&own != &all.front()) merged.front().lambdas[0] += own.front().lambdas[0];
    merged.insert(merged.end(), own.begin() + 1, own.end());
  }
  return merged;
}

}  // namespace

FactoredFit::FactoredFit(const Domain& domain, NoisyRecords records, int64_t max_cells)
    : domain_(domain), count_(records), max_cells_(max_cells), component_of_(domain.size(), kNone) {}

FactoredFit::SetOfComponents FactoredFit::Touched(const AttributeSet& set) const {
  SetOfComponents touched;
  for (const uint32_t attribute : set) {
    if (component_of_[attribute] != kNone) touched.push_back(static_cast<size_t>(component_of_[attribute]));
  }
  std::ranges::sort(touched);
  const auto repeated = std::ranges::unique(touched);
  touched.erase(repeated.begin(), repeated.end());
  return touched;
}

AttributeSet FactoredFit::JoinedAttributes(const AttributeSet& set, const SetOfComponents& touched) const {
  AttributeSet all = set;
  for (const size_t i : touched) all = Union(all, components_[i]->layout.attributes());
  return all;
}

bool FactoredFit::Fits(const AttributeSet& set) const {
  const SetOfComponents touched = Touched(set);
  int64_t others = cells_;
  int64_t joined = 1;
  for (const size_t i : touched) {
    const DenseLayout& layout = components_[i]->layout;
    others -= layout.cells();
    if (layout.cells() > max_cells_ / joined) return false;
    joined *= layout.cells();
  }
  if (touched.size() == 1 && IsSubset(set, components_[touched[0]]->layout.attributes())) return true;
  for (const uint32_t attribute : set) {
    if (component_of_[attribute] != kNone) continue;
    const int64_t size = domain_.attributes()[attribute].size();
    if (size > max_cells_ / joined) return false;
    joined *= size;
  }
  return joined <= max_cells_ - others;
}

absl::Status FactoredFit::Join(const AttributeSet& set, Pacer& pacer) {
  RETURN_IF_ERROR(domain_.CheckSet(set));
  const SetOfComponents touched = Touched(set);
  const AttributeSet all = JoinedAttributes(set, touched);
  if (touched.size() == 1 && all == components_[touched[0]]->layout.attributes()) return absl::OkStatus();
  if (!Fits(set)) {
    return absl::InvalidArgumentError(
        absl::StrCat("a measurement would need tables of more than ", max_cells_, " cells"));
  }
  ASSIGN_OR_RETURN(DenseLayout layout, DenseLayout::Create(domain_, all, max_cells_));
  auto component = std::make_unique<Component>(std::move(layout));
  const double start = std::max(1.0, count_.answer);
  component->fit = std::make_unique<ProductFit>(component->layout, start);
  std::vector<std::vector<WeighedAnswers>> measured;
  for (const size_t i : touched) measured.push_back(components_[i]->fit->measurements());
  if (measured.empty()) {
    const NoisyAnswers records{.group = {.attributes = {}, .queries = EveryCell()},
                               .answers = {count_.answer},
                               .standard_deviation = count_.standard_deviation};
    RETURN_IF_ERROR(component->fit->Add(records, pacer));
  } else {
    for (WeighedAnswers& each : Merged(measured))
      RETURN_IF_ERROR(component->fit->Adopt(std::move(each), pacer));
    RETURN_IF_ERROR(component->fit->Refresh(pacer));
  }
  RETURN_IF_ERROR(Retotal(*component, pacer));

  cells_ += component->layout.cells();
  for (size_t i = touched.size(); i-- > 0;) {
    cells_ -= components_[touched[i]]->layout.cells();
    components_.erase(components_.begin() + static_cast<std::ptrdiff_t>(touched[i]));
  }
  components_.push_back(std::move(component));
  for (size_t i = 0; i < components_.size(); ++i) {
    for (const uint32_t attribute : components_[i]->layout.attributes())
      component_of_[attribute] = static_cast<int32_t>(i);
  }
  return absl::OkStatus();
}

absl::Status FactoredFit::Add(NoisyAnswers measurement, Pacer& pacer) {
  RETURN_IF_ERROR(Join(measurement.group.attributes, pacer));
  Component& component =
      *components_[static_cast<size_t>(component_of_[measurement.group.attributes.front()])];
  component.has_new_measurements = true;
  return component.fit->Add(std::move(measurement), pacer);
}

absl::StatusOr<FactoredFit::Outcome> FactoredFit::Replay(const ReplayRule& rule, Which which, Pacer& pacer) {
  Outcome outcome;
  for (const std::unique_ptr<Component>& component : components_) {
    if (which == Which::kWithNewMeasurements && !component->has_new_measurements) continue;
    ASSIGN_OR_RETURN(const Replayed replayed, component->fit->Replay(rule, pacer));
    component->has_new_measurements = false;
    component->sums.clear();
    RETURN_IF_ERROR(Retotal(*component, pacer));
    outcome.replayed.sweeps = std::max(outcome.replayed.sweeps, replayed.sweeps);
    outcome.replayed.largest_move = std::max(outcome.replayed.largest_move, replayed.largest_move);
    const AttributeSet& own = component->layout.attributes();
    outcome.changed.insert(outcome.changed.end(), own.begin(), own.end());
  }
  std::ranges::sort(outcome.changed);
  return outcome;
}

absl::Status FactoredFit::Retotal(Component& component, Pacer& pacer) const {
  ASSIGN_OR_RETURN(const DenseMarginal whole, DenseMarginal::Create(component.layout, {}, pacer));
  ASSIGN_OR_RETURN(const std::vector<double> sums, whole.Sum(component.fit->weights(), pacer));
  component.total = sums[0];
  return absl::OkStatus();
}

absl::Status FactoredFit::CacheSums(Component& component, const std::vector<AttributeSet>& sets,
                                    Pacer& pacer) {
  ASSIGN_OR_RETURN(std::vector<std::vector<double>> sums,
                   AllMarginals(component.layout, component.fit->weights(), sets, pacer));
  for (size_t i = 0; i < sets.size(); ++i) component.sums[sets[i]] = std::move(sums[i]);
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::vector<double>>> FactoredFit::Marginals(std::span<const AttributeSet> sets,
                                                                        Pacer& pacer) {
  std::vector<std::vector<AttributeSet>> missing(components_.size());
  for (const AttributeSet& set : sets) {
    if (domain_.CellCount(set).value_or(kMostDenseCells + 1) > kMostDenseCells)
      return absl::InvalidArgumentError("a marginal has too many cells to be tabulated");
    for (const size_t i : Touched(set)) {
      AttributeSet own = Intersection(set, components_[i]->layout.attributes());
      if (!components_[i]->sums.contains(own)) missing[i].push_back(std::move(own));
    }
  }
  for (size_t i = 0; i < missing.size(); ++i) {
    std::ranges::sort(missing[i]);
    const auto repeated = std::ranges::unique(missing[i]);
    missing[i].erase(repeated.begin(), repeated.end());
    if (!missing[i].empty()) RETURN_IF_ERROR(CacheSums(*components_[i], missing[i], pacer));
  }
  std::vector<std::vector<double>> marginals;
  marginals.reserve(sets.size());
  for (const AttributeSet& set : sets) {
    ASSIGN_OR_RETURN(std::vector<double> cells, Assemble(set, pacer));
    marginals.push_back(std::move(cells));
  }
  return marginals;
}

absl::StatusOr<std::vector<double>> FactoredFit::Assemble(const AttributeSet& set, Pacer& pacer) const {
  std::vector<IndependentPart> parts;
  double scale = 1;
  for (const size_t i : Touched(set)) {
    const Component& component = *components_[i];
    const auto& [own, sums] = *component.sums.find(Intersection(set, component.layout.attributes()));
    if (own == set) return sums;
    parts.push_back({own, sums});
    scale /= component.total > 0 ? component.total : 1;
  }
  for (const uint32_t attribute : set) {
    if (component_of_[attribute] == kNone)
      scale /= static_cast<double>(domain_.attributes()[attribute].size());
  }
  return ProductOfParts(domain_, set, scale * records(), parts, pacer);
}

double FactoredFit::records() const {
  if (components_.empty()) return std::max(1.0, count_.answer);
  double sum = 0;
  for (const std::unique_ptr<Component>& component : components_) sum += component->total;
  return sum / static_cast<double>(components_.size());
}

std::vector<FactoredFit::Part> FactoredFit::parts() const {
  std::vector<Part> parts;
  for (const std::unique_ptr<Component>& component : components_) {
    parts.push_back({.attributes = component->layout.attributes(),
                     .base = component->fit->base(),
                     .factors = component->fit->factors()});
  }
  return parts;
}

ComponentCells CellsOfComponents(const Domain& domain, std::span<const AttributeSet> sets,
                                 int64_t max_cells) {
  std::vector<size_t> root(domain.size());
  std::iota(root.begin(), root.end(), size_t{0});
  const auto find = [&root](size_t attribute) {
    while (root[attribute] != attribute) attribute = root[attribute] = root[root[attribute]];
    return attribute;
  };
  std::vector<uint8_t> used(domain.size());
  for (const AttributeSet& set : sets) {
    for (const uint32_t attribute : set) {
      used[attribute] = 1;
      root[find(attribute)] = find(set.front());
    }
  }
  std::vector<int64_t> cells(domain.size(), 1);
  ComponentCells found;
  for (size_t attribute = 0; attribute < domain.size(); ++attribute) {
    if (used[attribute] == 0) continue;
    int64_t& own = cells[find(attribute)];
    const int64_t size = domain.attributes()[attribute].size();
    own = own > max_cells / size ? max_cells : own * size;
    found.largest = std::max(found.largest, own);
  }
  for (size_t attribute = 0; attribute < domain.size(); ++attribute) {
    if (used[attribute] != 0 && find(attribute) == attribute)
      found.all = std::min(max_cells, found.all + cells[attribute]);
  }
  return found;
}

}  // namespace curator::dp
