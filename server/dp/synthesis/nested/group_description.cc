#include "dp/synthesis/nested/group_description.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/clique_model.h"
#include "dp/synthesis/models/clique_tree.h"
#include "dp/synthesis/models/nearest_non_negative.h"

namespace curator::dp {
namespace {

// Halves of the groups would say little of how far means are apart; in many bins there is more noise.
constexpr int64_t kManyMeanBins = 8;
constexpr int64_t kFewMeanBins = 4;

constexpr int64_t kMostCliqueCells = int64_t{1} << 20;

// Of more attributes no pairs are counted: to look at all of them would take long, and each adds noise.
constexpr size_t kMostAttributesInPairs = 64;

// As much as the fit of records has.
constexpr double kSlackOfGroups = 0.3;
constexpr int64_t kSweepsOfGroups = 300;

constexpr int64_t kGroupsAtOnce = int64_t{1} << 16;
constexpr int64_t kFewestGroupsAtOnce = 1 << 10;
constexpr int64_t kCodesAtOnce = int64_t{1} << 22;

AttributeSet FirstOnes(size_t count) {
  AttributeSet set(count);
  std::iota(set.begin(), set.end(), 0U);
  return set;
}

// Where the attributes of `set` are among `attributes`.
AttributeSet PositionsIn(const AttributeSet& attributes, const AttributeSet& set) {
  AttributeSet positions;
  for (const uint32_t attribute : set)
    positions.push_back(static_cast<uint32_t>(*PositionIn(attributes, attribute)));
  return positions;
}

// All pairs, those of the fewest cells first; none of more attributes than are looked at.
std::vector<AttributeSet> PairsByCells(const Domain& domain, const AttributeSet& attributes) {
  std::vector<AttributeSet> pairs;
  if (attributes.size() > kMostAttributesInPairs) return pairs;
  for (size_t i = 0; i < attributes.size(); ++i) {
    for (size_t j = i + 1; j < attributes.size(); ++j) pairs.push_back({attributes[i], attributes[j]});
  }
  std::ranges::stable_sort(pairs, {}, [&](const AttributeSet& pair) { return *domain.CellCount(pair); });
  return pairs;
}

}  // namespace

absl::StatusOr<DescriptionPlan> PlanDescription(
    const Domain& domain, AttributeSet attributes, double groups,
    const std::function<absl::StatusOr<NoiseSpec>(int64_t marginals)>& noise_of) {
  DescriptionPlan plan{.attributes = std::move(attributes), .pairs = {}, .noise = {}};
  ASSIGN_OR_RETURN(plan.noise, noise_of(plan.marginals()));
  const std::vector<int64_t> sizes = domain.SizesOf(plan.attributes);
  const auto largest = static_cast<double>(std::ranges::max(sizes));
  const double in_many = largest * static_cast<double>(kManyMeanBins) * DeviationForFit(plan.noise);
  plan.bins = in_many <= groups ? kManyMeanBins : kFewMeanBins;
  const Domain of_groups = GroupDescription::DomainOf(domain, plan.attributes, plan.bins);
  CliqueGraph graph(of_groups, FirstOnes(sizes.size() + 1));
  for (uint32_t i = 0; i < sizes.size(); ++i) {
    graph.Connect({i, static_cast<uint32_t>(sizes.size())});
    plan.measured += sizes[i] * plan.bins;
  }
  for (AttributeSet& pair : PairsByCells(domain, plan.attributes)) {
    ASSIGN_OR_RETURN(const NoiseSpec noise, noise_of(plan.marginals() + 1));
    const int64_t cells = *domain.CellCount(pair);
    if (static_cast<double>(cells) * DeviationForFit(noise) > groups) break;
    const AttributeSet positions = PositionsIn(plan.attributes, pair);
    if (!graph.HasRoomFor(positions, kMostCliqueCells, kMostSeparatorCells)) continue;
    graph.Connect(positions);
    plan.noise = noise;
    plan.measured += cells;
    plan.pairs.push_back(std::move(pair));
  }
  plan.clique_cells = CellsOfTree(graph.Tree());
  if (plan.measured > kMostCellsOfGroups || plan.clique_cells > kMostDenseCells)
    return absl::InvalidArgumentError("the attributes of groups have more than 2^26 cells together");
  return plan;
}

MethodMemory DescriptionMemory(const Domain& domain, const DescriptionPlan& plan) {
  // Of each cell of all cliques: weights, and the logarithms of one clique's. Of each measured cell: noise
  // and count, answer, lambda and fit, and the factor in the fit and in the model.
  constexpr int64_t kPerCliqueCell = 16;
  constexpr int64_t kPerMeasuredCell = 72;
  const int64_t attributes = std::ssize(plan.attributes) + 1;
  const Domain of_groups = GroupDescription::DomainOf(domain, plan.attributes, plan.bins);
  const int64_t stored = 8 * plan.measured + (plan.marginals() + 1 + 2 * attributes) * 8 * (4 + attributes);
  MethodMemory memory =
      CliqueModelMemory(of_groups, FirstOnes(static_cast<size_t>(attributes)), plan.clique_cells, stored);
  memory.working = kPerCliqueCell * plan.clique_cells + kPerMeasuredCell * plan.measured;
  memory.sampling += DescribedGroups::Bytes(std::ssize(plan.attributes));
  return memory;
}

double DescriptionSeconds(const DescriptionPlan& plan) {
  constexpr double kSecondsPerSweptCell = 1.5e-9;
  constexpr double kSecondsPerMeasuredCell = 40e-9;
  return static_cast<double>(kSweepsOfGroups) *
         (kSecondsPerSweptCell * static_cast<double>(plan.clique_cells * plan.marginals()) +
          kSecondsPerMeasuredCell * static_cast<double>(plan.measured));
}

Domain GroupDescription::DomainOf(const Domain& domain, const AttributeSet& attributes, int64_t bins) {
  std::vector<int64_t> sizes = domain.SizesOf(attributes);
  sizes.push_back(bins);
  std::vector<Attribute> all;
  for (const int64_t size : sizes)
    all.push_back(Attribute::Create(absl::StrCat(all.size()), CodedKind{size}).value());
  return Domain::Create(std::move(all)).value();
}

absl::StatusOr<GroupDescription> GroupDescription::Measure(const Domain& domain, const DescriptionPlan& plan,
                                                           const MeanBins& mean, const NoisyRecords& groups,
                                                           PrivateQueries& kernel, Pacer& pacer,
                                                           std::vector<std::string>& transcript) {
  std::vector<GroupMarginal> marginals;
  for (const uint32_t attribute : plan.attributes) marginals.push_back({{attribute}, mean});
  for (const AttributeSet& pair : plan.pairs) marginals.push_back({pair, std::nullopt});
  ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                   kernel.NoisyGroupMarginals(marginals, plan.noise));
  const double deviation = DeviationForFit(plan.noise);
  for (const GroupMarginal& each : marginals) {
    transcript.push_back(absl::StrCat("numbers of groups by ", NamesOf(domain, each.attributes),
                                      each.mean ? " and mean response" : "", ", each within about ",
                                      std::llround(2 * deviation)));
  }

  const Domain of_groups = DomainOf(domain, plan.attributes, plan.bins);
  const AttributeSet all = FirstOnes(plan.attributes.size() + 1);
  CliqueFit fit(of_groups, all, groups, std::max(plan.clique_cells, kMostCliqueCells));
  const auto add = [&](AttributeSet set, std::vector<double> answers, double of_each) {
    return fit.Add({.group = {.attributes = std::move(set), .queries = EveryCell()},
                    .answers = std::move(answers),
                    .standard_deviation = of_each},
                   pacer);
  };
  RETURN_IF_ERROR(add({}, {groups.answer}, groups.standard_deviation));
  for (size_t i = 0; i < marginals.size(); ++i) {
    RETURN_IF_ERROR(pacer.Advance(std::ssize(counts[i])));
    AttributeSet set = PositionsIn(plan.attributes, marginals[i].attributes);
    if (marginals[i].mean) set.push_back(all.back());
    const std::vector<double> noisy(counts[i].begin(), counts[i].end());
    RETURN_IF_ERROR(add(std::move(set), NearestNonNegative(noisy, fit.records()), deviation));
  }
  RETURN_IF_ERROR(
      fit.Replay({.most_sweeps = kSweepsOfGroups, .prior_weight = kSlackOfGroups / deviation}, pacer)
          .status());
  ASSIGN_OR_RETURN(std::unique_ptr<SynthesisModel> model,
                   CliqueModel::Create(of_groups,
                                       {.attributes = all,
                                        .records = std::max<int64_t>(1, std::llround(fit.records())),
                                        .tree = fit.tree(),
                                        .factors = fit.factors(),
                                        .transcript = {}},
                                       pacer));
  return Create(plan.attributes, plan.bins, std::move(model));
}

absl::StatusOr<GroupDescription> GroupDescription::Create(AttributeSet attributes, int64_t bins,
                                                          std::unique_ptr<SynthesisModel> model) {
  if (model->attributes() != FirstOnes(attributes.size() + 1))
    return absl::InvalidArgumentError("a model of groups covers their attributes and their mean");
  GroupDescription description;
  description.attributes_ = std::move(attributes);
  description.bins_ = bins;
  description.model_ = std::move(model);
  ASSIGN_OR_RETURN(const std::vector<double> shares, description.Shares({}, true));
  if (std::ssize(shares) != bins)
    return absl::InvalidArgumentError("a model of groups has a share of each bin of their mean");
  double below = 0;
  for (const double share : shares) {
    description.below_.push_back(std::min(1.0, below));
    below += share;
  }
  description.below_.push_back(1);
  return description;
}

AttributeSet GroupDescription::InModel(const AttributeSet& set, bool by_mean) const {
  AttributeSet in_model = PositionsIn(attributes_, set);
  if (by_mean) in_model.push_back(static_cast<uint32_t>(attributes_.size()));
  return in_model;
}

absl::StatusOr<std::vector<double>> GroupDescription::Shares(const AttributeSet& set, bool by_mean) const {
  ASSIGN_OR_RETURN(std::vector<double> cells, model_->Marginal(InModel(set, by_mean)));
  const double groups = std::accumulate(cells.begin(), cells.end(), 0.0);
  for (double& cell : cells) cell /= groups;
  return cells;
}

int64_t GroupDescription::StepsOfShares(const AttributeSet& set, bool by_mean) const {
  return model_->MarginalSteps(InModel(set, by_mean));
}

DescribedGroups::DescribedGroups(const GroupDescription& description, int64_t groups, BitSource& bits)
    : description_(description),
      bits_(bits),
      at_once_(
          std::clamp(groups, kFewestGroupsAtOnce,
                     std::min(kGroupsAtOnce, kCodesAtOnce / (std::ssize(description.attributes()) + 1)))) {}

absl::StatusOr<std::span<const uint32_t>> DescribedGroups::Next() {
  if (next_ == codes_.size()) {
    codes_.clear();
    next_ = 0;
    RETURN_IF_ERROR(description_.model().Sample(bits_, at_once_, [&](std::span<const uint32_t> codes) {
      codes_.insert(codes_.end(), codes.begin(), codes.end());
      return absl::OkStatus();
    }));
  }
  const size_t width = description_.attributes().size() + 1;
  const std::span<const uint32_t> group = std::span(codes_).subspan(next_, width);
  next_ += width;
  return group;
}

int64_t DescribedGroups::Bytes(int64_t attributes) {
  return 2 * 4 * std::min((attributes + 1) * kGroupsAtOnce, kCodesAtOnce);  // in a vector that grows
}

}  // namespace curator::dp
