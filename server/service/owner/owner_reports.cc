#include "service/owner/owner_reports.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "dp/domain/attribute_set.h"
#include "dp/domain/numbers.h"
#include "dp/domain/response.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "service/owner/owner_actions.h"
#include "service/releases/releases.h"

namespace curator::service {
namespace {

constexpr int64_t kMostEvaluatedGroups = 1 << 16;
constexpr int64_t kMostPairs = 10'000;

// The groups and pairs to evaluate, from public facts.
struct Setup {
  dp::AttributeSet by;
  int64_t groups = 1;
  std::vector<dp::AttributeSet> pairs;              // that any group uses, with the attributes of `by`
  std::vector<std::vector<size_t>> pairs_of_group;  // as indices into `pairs`, rising
};

// The random bits that choose pairs: public to those who know the release.
dp::DrawKey KeyOf(const ReleaseView& release) {
  CanonicalWriter writer("curator.evaluation", 1);
  writer.Text(release.release.id);
  const std::string digest = Sha256(std::move(writer).Take());
  dp::DrawKey::Bytes bytes;
  std::copy(digest.begin(), digest.end(), bytes.begin());
  return dp::DrawKey(bytes);
}

// All pairs of the release's attributes outside of `by`; the attribute alone when there is only one.
std::vector<dp::AttributeSet> AllPairs(const dp::AttributeSet& covered, const dp::AttributeSet& by) {
  const dp::AttributeSet others = dp::Difference(covered, by);
  std::vector<dp::AttributeSet> pairs;
  for (size_t i = 0; i < others.size(); ++i) {
    for (size_t j = i + 1; j < others.size(); ++j) pairs.push_back({others[i], others[j]});
  }
  if (others.size() == 1) pairs.push_back(others);
  return pairs;
}

// Chooses `count` pairs for each group. The same release gives the same choice.
void ChoosePairs(const std::vector<dp::AttributeSet>& all, size_t count, const ReleaseView& release,
                 Setup& setup) {
  dp::Drbg bits(KeyOf(release));
  std::vector<size_t> order(all.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::vector<size_t> place(all.size());  // among the pairs that are used, from 1
  for (int64_t group = 0; group < setup.groups; ++group) {
    for (size_t i = 0; i < count && count < order.size(); ++i) {
      uint64_t word = 0;
      bits.Fill({&word, 1});
      std::swap(order[i], order[i + word % (order.size() - i)]);
    }
    setup.pairs_of_group.emplace_back(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(count));
    for (const size_t pair : setup.pairs_of_group.back()) place[pair] = 1;
  }
  for (size_t pair = 0; pair < all.size(); ++pair) {
    if (place[pair] == 0) continue;
    setup.pairs.push_back(all[pair]);
    place[pair] = setup.pairs.size();
  }
  for (std::vector<size_t>& chosen : setup.pairs_of_group) {
    for (size_t& pair : chosen) pair = place[pair] - 1;
    std::ranges::sort(chosen);
  }
}

absl::StatusOr<Setup> Prepare(const EvaluationRequest& request, const ReleaseView& release) {
  const auto* synthesis = std::get_if<dp::SynthesisRelease>(&release.content);
  if (synthesis == nullptr)
    return InvalidField("release_id", "is the answer to a workload: only a synthetic release is evaluated");
  const dp::Domain& domain = release.dataset.schema.domain;
  Setup setup;
  for (size_t i = 0; i < request.by.size(); ++i) {
    const std::string field = absl::StrCat("by[", i, "]");
    const absl::StatusOr<uint32_t> index = domain.IndexOf(request.by[i]);
    if (!index.ok()) return InvalidField(field, std::string(index.status().message()));
    if (!std::ranges::binary_search(synthesis->attributes, *index))
      return InvalidField(field, "is not covered by the release");
    if (std::ranges::find(setup.by, *index) != setup.by.end()) return InvalidField(field, "is named twice");
    setup.by.push_back(*index);
  }
  std::ranges::sort(setup.by);
  setup.groups = domain.CellCount(setup.by).value_or(kMostEvaluatedGroups + 1);
  if (setup.groups > kMostEvaluatedGroups)
    return InvalidField("by", absl::StrCat("makes more than ", kMostEvaluatedGroups, " groups"));
  const std::vector<dp::AttributeSet> all = AllPairs(synthesis->attributes, setup.by);
  if (all.empty()) return InvalidField("by", "leaves no attribute to compare");
  std::vector<dp::AttributeSet> with_groups;
  for (const dp::AttributeSet& pair : all) with_groups.push_back(dp::Union(setup.by, pair));
  RETURN_IF_ERROR(dp::TotalCells(domain, with_groups).status());
  ChoosePairs(with_groups, std::min(all.size(), static_cast<size_t>(request.pairs)), release, setup);
  return setup;
}

// The cells of a marginal by group. The attributes of `by` may have any positions among its own.
template <typename Count>
std::vector<std::vector<double>> ByGroup(const dp::Domain& domain, const dp::AttributeSet& set,
                                         const Setup& setup, const std::vector<Count>& counts) {
  std::vector<std::vector<double>> groups(static_cast<size_t>(setup.groups));
  std::vector<size_t> codes(set.size());
  for (size_t cell = 0; cell < counts.size(); ++cell) {
    size_t rest = cell;
    for (size_t i = set.size(); i-- > 0;) {
      const auto size = static_cast<size_t>(domain.attributes()[set[i]].size());
      codes[i] = rest % size;
      rest /= size;
    }
    size_t group = 0;
    for (size_t i = 0; i < set.size(); ++i) {
      if (std::ranges::binary_search(setup.by, set[i]))
        group = group * static_cast<size_t>(domain.attributes()[set[i]].size()) + codes[i];
    }
    groups[group].push_back(static_cast<double>(counts[cell]));
  }
  return groups;
}

double Sum(const std::vector<double>& values) {
  return std::accumulate(values.begin(), values.end(), 0.0);
}

// The L1 distance of the normalised tables; 2 when one of them is empty.
double Distance(const std::vector<double>& a, const std::vector<double>& b) {
  const double all_a = Sum(a);
  const double all_b = Sum(b);
  if (!(all_a > 0) || !(all_b > 0)) return 2;
  double distance = 0;
  for (size_t i = 0; i < a.size(); ++i) distance += std::abs(a[i] / all_a - b[i] / all_b);
  return distance;
}

std::string LabelOf(const dp::Domain& domain, const dp::AttributeSet& by, int64_t group) {
  std::vector<std::string> labels(by.size());
  for (size_t i = by.size(); i-- > 0;) {
    const dp::Attribute& attribute = domain.attributes()[by[i]];
    labels[i] = attribute.Label(static_cast<uint32_t>(group % attribute.size()));
    group /= attribute.size();
  }
  return absl::StrJoin(labels, ", ");
}

absl::StatusOr<std::vector<GroupEvaluation>> Compare(const dp::Domain& domain, const Setup& setup,
                                                     const dp::OwnerView& view,
                                                     const dp::SynthesisModel& model) {
  ASSIGN_OR_RETURN(const auto counts, view.Counts(setup.pairs));
  std::vector<GroupEvaluation> groups(static_cast<size_t>(setup.groups));
  for (size_t pair = 0; pair < setup.pairs.size(); ++pair) {
    ASSIGN_OR_RETURN(const std::vector<double> estimates, model.Marginal(setup.pairs[pair]));
    const auto truth = ByGroup(domain, setup.pairs[pair], setup, counts[pair]);
    const auto estimated = ByGroup(domain, setup.pairs[pair], setup, estimates);
    for (size_t group = 0; group < groups.size(); ++group) {
      groups[group].records = std::llround(Sum(truth[group]));
      groups[group].estimated_records = Sum(estimated[group]);
      const std::vector<size_t>& chosen = setup.pairs_of_group[group];
      if (!std::ranges::binary_search(chosen, pair)) continue;
      groups[group].distance += Distance(truth[group], estimated[group]) / static_cast<double>(chosen.size());
    }
  }
  for (size_t group = 0; group < groups.size(); ++group)
    groups[group].label = LabelOf(domain, setup.by, static_cast<int64_t>(group));
  return groups;
}

Evaluation Summarised(std::vector<GroupEvaluation> groups, int64_t bias_penalty) {
  Evaluation evaluation;
  for (GroupEvaluation& group : groups) {
    if (group.records == 0) {
      ++evaluation.empty_groups;
      continue;
    }
    group.is_biased = std::abs(group.estimated_records - static_cast<double>(group.records)) >=
                      static_cast<double>(bias_penalty);
    evaluation.biased_groups += group.is_biased ? 1 : 0;
    evaluation.error += group.is_biased ? 2 : group.distance;
    evaluation.error_without_bias += group.distance;
    evaluation.groups.push_back(std::move(group));
  }
  const double counted = std::max(1.0, static_cast<double>(evaluation.groups.size()));
  evaluation.error /= counted;
  evaluation.error_without_bias /= counted;
  return evaluation;
}

std::string TextOf(const std::vector<double>& numbers) {
  constexpr int kDigits = 3;
  return absl::StrCat(numbers.size(), " from ", dp::WriteFixed(numbers.front(), kDigits), " to ",
                      dp::WriteFixed(numbers.back(), kDigits));
}

std::string TextOf(const dp::RiskGrid& grid) {
  return absl::StrCat("means: ", TextOf(grid.means), "; deviations between groups: ", TextOf(grid.betweens),
                      "; within groups: ", TextOf(grid.withins));
}

dp::RiskGrid GridFor(RiskGridKind kind, const std::vector<dp::RiskGroup>& groups,
                     const dp::ResponseNumbers& response) {
  const int deviations = dp::DeviationsFor(groups);
  if (kind == RiskGridKind::kWithinBounds)
    return dp::RiskGridOver(response.low, response.high, response.resolution, deviations);
  // A grid finer than a tenth of the response's resolution distinguishes nothing.
  return dp::RiskGridAround(groups, response.resolution / 10, deviations);
}

}  // namespace

absl::StatusOr<Evaluation> EvaluateRelease(Services& services, const EvaluationRequest& request,
                                           Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(services.access(), Method::kEvaluate, request.principal, request.dataset));
  if (request.pairs < 1 || request.pairs > kMostPairs)
    return InvalidField("pairs", absl::StrCat("must be from 1 to ", kMostPairs));
  if (request.bias_penalty < 1) return InvalidField("bias_penalty", "must be at least 1");
  ASSIGN_OR_RETURN(ReleaseView release, GetRelease(services, Method::kGetRelease, request.principal,
                                                   request.release_id, request.client_left));
  if (release.dataset.record.id != dataset.record.id)
    return InvalidField("release_id", absl::StrCat("is not of dataset \"", request.dataset.text(), "\""));
  ASSIGN_OR_RETURN(const Setup setup, Prepare(request, release));
  ASSIGN_OR_RETURN(const std::unique_ptr<dp::SynthesisModel> model,
                   RestoreModel(release, request.client_left));
  RETURN_IF_ERROR(CheckModelSteps(*model, setup.pairs, "pairs", "compare fewer pairs, or by fewer groups"));
  if (intent == Intent::kValidateOnly) return Evaluation{};
  RETURN_IF_ERROR(CheckGoesOn(request.client_left));
  ASSIGN_OR_RETURN(
      const dp::OwnerView view,
      OwnerActions::Open(
          services, dataset, request.principal,
          absl::StrCat("evaluate release ", request.release_id, request.by.empty() ? "" : " by ",
                       absl::StrJoin(request.by, ", "), " (request ", request.request_id.text(), ")")));
  ASSIGN_OR_RETURN(std::vector<GroupEvaluation> groups, Compare(dataset.schema.domain, setup, view, *model));
  return Summarised(std::move(groups), request.bias_penalty);
}

absl::StatusOr<int64_t> CountRows(Services& services, const RequestId& request_id, const Principal& principal,
                                  const DatasetName& dataset, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(services.access(), Method::kRowCounts, principal, dataset));
  if (intent == Intent::kValidateOnly) return 0;
  ASSIGN_OR_RETURN(const dp::OwnerView records,
                   OwnerActions::Open(services, view, principal,
                                      absl::StrCat("count rows (request ", request_id.text(), ")")));
  return records.Records();
}

absl::StatusOr<RiskReport> ReportRisk(Services& services, const RiskRequest& request, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(services.access(), Method::kRiskReport, request.principal, request.dataset));
  if (!dataset.schema.nesting) {
    return absl::FailedPreconditionError(absl::StrCat("the records of dataset \"", request.dataset.text(),
                                                      "\" lie in no groups: its schema has no nesting"));
  }
  if (intent == Intent::kValidateOnly) return RiskReport{};
  ASSIGN_OR_RETURN(const dp::OwnerView view,
                   OwnerActions::Open(
                       services, dataset, request.principal,
                       absl::StrCat("report the risk of groups (request ", request.request_id.text(), ")")));
  const dp::ResponseNumbers response = dp::ResponseValues(dataset.schema);
  ASSIGN_OR_RETURN(const std::vector<dp::RiskGroup> groups,
                   view.Responses(dataset.schema.nesting->response, response.values));
  if (groups.empty())
    return absl::FailedPreconditionError(
        absl::StrCat("dataset \"", request.dataset.text(), "\" has no records"));
  const dp::RiskGrid grid = GridFor(request.grid, groups, response);
  RiskReport report{.rows = {},
                    .groups = static_cast<int64_t>(groups.size()),
                    .records = view.Records(),
                    .grid = TextOf(grid)};
  ASSIGN_OR_RETURN(report.rows, dp::NestedRisk(groups, grid));
  return report;
}

}  // namespace curator::service
