#include "dp/synthesis/nested/nested.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/budget_split.h"
#include "dp/synthesis/models/structural_zeros.h"
#include "dp/synthesis/nested/nested_model.h"
#include "dp/synthesis/nested/nested_schedule.h"
#include "dp/synthesis/synthesis_workload.h"

namespace curator::dp {
namespace {

std::string Describe(const NestedParameters& point, bool is_binomial) {
  if (is_binomial) return absl::StrFormat("nu %.4g, rho %.4g", point.mean, point.between);
  return absl::StrFormat("nu %.6g, tau %.4g, sigma %.4g", point.mean, point.between, point.within);
}

// Where in the order of the response's codes this number lies, in steps of 1 / kStepsOfACode, from 0 on.
int64_t CodeStepOf(std::span<const double> numbers, double number) {
  const auto above = std::ranges::upper_bound(numbers, number);
  if (above == numbers.begin()) return 0;
  const auto code = static_cast<int64_t>(above - numbers.begin()) - 1;
  if (above == numbers.end()) return code * kStepsOfACode;
  const double share = (number - *(above - 1)) / (*above - *(above - 1));
  return code * kStepsOfACode + static_cast<int64_t>(share * static_cast<double>(kStepsOfACode));
}

// Bins that would have about the same number of groups each, if groups of `size` records were as the drawn
// parameters say; which answers they depend on is public.
std::vector<int64_t> EdgesOfMeans(std::span<const double> numbers, const GroupModel& model,
                                  std::span<const NestedParameters> draws, double size, int64_t bins) {
  // Where a standard normal distribution has its eighths.
  constexpr double kEighths[] = {-1.1503, -0.6745, -0.3186, 0, 0.3186, 0.6745, 1.1503};
  const bool is_binomial = std::holds_alternative<BinomialGroups>(model);
  double mean = 0;
  double variance = 0;
  for (const NestedParameters& draw : draws) {
    const double of_ones = draw.mean * (1 - draw.mean);
    const double between = is_binomial ? of_ones * draw.between : draw.between * draw.between;
    const double within = is_binomial ? of_ones * (1 - draw.between) : draw.within * draw.within;
    mean += draw.mean / static_cast<double>(draws.size());
    variance += (between + within / std::max(1.0, size)) / static_cast<double>(draws.size());
  }
  std::vector<int64_t> edges = {0};
  for (int64_t bin = 1; bin < bins; ++bin) {
    const double of_bin = mean + std::sqrt(variance) * kEighths[bin * 8 / bins - 1];
    edges.push_back(std::max(edges.back() + 1, CodeStepOf(numbers, of_bin)));
  }
  return edges;
}

// One fit, draw by draw.
class NestedRun {
 public:
  NestedRun(const SynthesisInput& input, NestedSchedule schedule, PrivateQueries& kernel, Pacer& pacer)
      : input_(input), schedule_(std::move(schedule)), kernel_(kernel), pacer_(pacer) {}

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress) {
    RETURN_IF_ERROR(pacer_.Check());
    RETURN_IF_ERROR(CountGroups());
    const double own_share = schedule_.join == nullptr ? 1 : 0.5;
    for (int64_t i = 0; i < schedule_.settings.draws; ++i) {
      RETURN_IF_ERROR(DrawParameters(i));
      if (i + 1 < schedule_.settings.draws)
        progress(own_share * static_cast<double>(i + 1) / static_cast<double>(schedule_.settings.draws));
      RETURN_IF_ERROR(pacer_.Check());
    }
    RETURN_IF_ERROR(DescribeGroups());
    RETURN_IF_ERROR(Join(progress));
    EstimateGroupSizes();
    parts_.response = input_.nested->response;
    parts_.numbers = input_.nested->numbers;
    if (const auto* binomial = std::get_if<BinomialGroups>(&schedule_.settings.model))
      parts_.edge = binomial->edge;
    progress(1);
    return std::make_unique<NestedModel>(input_.domain, std::move(parts_));
  }

 private:
  absl::Status CountGroups() {
    const NestedSettings& settings = schedule_.settings;
    ASSIGN_OR_RETURN(sizes_,
                     kernel_.NoisyGroupSizes(schedule_.role, settings.size_bins, schedule_.size_noise));
    parts_.transcript.push_back(
        absl::StrCat("noisy numbers of groups by size: ", absl::StrJoin(sizes_, ", ")));
    return absl::OkStatus();
  }

  // From the joined method's number of records where there is one, which is measured better.
  void EstimateGroupSizes() {
    const NestedSettings& settings = schedule_.settings;
    parts_.sizes = parts_.joined == nullptr
                       ? EstimateSizes(settings.size_bins, settings.largest_group, sizes_)
                       : EstimateSizesOf(static_cast<double>(parts_.joined->records()), settings.size_bins,
                                         settings.largest_group, sizes_);
    parts_.transcript.push_back(absl::StrFormat("about %.0f groups with %.0f records", GroupsIn(parts_.sizes),
                                                RecordsIn(parts_.sizes)));
  }

  absl::Status DrawParameters(int64_t number) {
    const GroupModel& model = schedule_.settings.model;
    // The kernel weighs every point; before the first draw it scores each once for each group.
    RETURN_IF_ERROR(pacer_.InPieces(static_cast<size_t>(CandidatesOf(model)),
                                    [](size_t /*start*/, size_t /*length*/) {}));
    ASSIGN_OR_RETURN(const size_t chosen,
                     kernel_.SelectByUtility(schedule_.question, schedule_.bonuses, schedule_.each_draw));
    const NestedParameters point = ParametersAt(model, chosen);
    parts_.draws.push_back(point);
    parts_.transcript.push_back(absl::StrCat("parameters ", number + 1, ": ",
                                             Describe(point, std::holds_alternative<BinomialGroups>(model))));
    for (std::string& warning : WarningsOfEdges(model, point))
      parts_.transcript.push_back(std::move(warning));
    return absl::OkStatus();
  }

  absl::Status DescribeGroups() {
    if (!schedule_.description) return absl::OkStatus();
    const std::vector<SizeClass> sizes =
        EstimateSizes(schedule_.settings.size_bins, schedule_.settings.largest_group, sizes_);
    const NoisyRecords groups{.answer = GroupsIn(sizes),
                              .standard_deviation = DeviationForFit(schedule_.size_noise) *
                                                    std::sqrt(static_cast<double>(sizes.size()))};
    const MeanBins bins{
        .attribute = input_.nested->response,
        .least = EdgesOfMeans(input_.nested->numbers, schedule_.settings.model, parts_.draws,
                              RecordsIn(sizes) / GroupsIn(sizes), schedule_.description->bins)};
    ASSIGN_OR_RETURN(parts_.description,
                     GroupDescription::Measure(input_.domain, *schedule_.description, bins, groups, kernel_,
                                               pacer_, parts_.transcript));
    return pacer_.Check();
  }

  absl::Status Join(const Progress& progress) {
    if (schedule_.join == nullptr) return absl::OkStatus();
    progress(0.5);
    // The last step is reported once the joined model is ours.
    ASSIGN_OR_RETURN(parts_.joined, schedule_.join->Fit(*schedule_.joined, kernel_, pacer_,
                                                        [&](double share) { progress(0.5 + 0.49 * share); }));
    RETURN_IF_ERROR(pacer_.Check());
    parts_.joined_method = schedule_.settings.join;
    parts_.transcript.push_back(absl::StrCat("other attributes by ", schedule_.settings.join, ":"));
    for (const std::string& line : parts_.joined->Transcript())
      parts_.transcript.push_back(absl::StrCat("  ", line));
    return absl::OkStatus();
  }

  const SynthesisInput& input_;
  const NestedSchedule schedule_;
  PrivateQueries& kernel_;
  Pacer& pacer_;
  std::vector<int64_t> sizes_;  // noisy numbers of groups, by class
  NestedModelParts parts_;
};

}  // namespace

Nested::Nested(std::vector<const Synthesizer*> joinable) : joinable_(std::move(joinable)) {
  std::vector<std::string> names;
  for (const Synthesizer* method : joinable_) names.emplace_back(method->name());
  settings_ = NestedSettingsTable(names);
}

std::string_view Nested::summary() const {
  return "Groups and their members from a two-level model, normal or binomial, whose parameters are drawn "
         "privately from a bounded pseudo-posterior.";
}

// Raised when a method that it joins is.
int64_t Nested::version() const {
  int64_t version = 2;  // where groups are clipped, and how far, follows from what is declared
  for (const Synthesizer* joined : joinable_) version += joined->version() - 1;
  return version;
}

// The largest grid is planned for where the request chooses its points.
int64_t Nested::PlanningBytes(const SynthesisInput& input) const {
  constexpr int64_t kUsualGrid = 10'000'000;
  constexpr int64_t kLargestGrid = 250'000'000;
  const bool chooses = std::ranges::any_of(
      input.settings, [](const auto& setting) { return setting.first.ends_with("_points"); });
  return SynthesisPlanningBytes(input.domain, input.workload) + (chooses ? kLargestGrid : kUsualGrid);
}

absl::StatusOr<SynthesisPlan> Nested::PlanWith(const SynthesisInput& input, Pacer& pacer) const {
  ASSIGN_OR_RETURN(NestedSchedule schedule, MakeNestedSchedule(input, settings_, joinable_, pacer));
  RETURN_IF_ERROR(pacer.Check());
  ASSIGN_OR_RETURN(Event event, EventToCharge(input, schedule.draws));
  // A record's attributes come from several draws.
  const AttributeSet covered = Union(Union(SetsOf(input.workload)), {input.nested->response});
  return SynthesisPlan{.draws = std::move(schedule.draws),
                       .event = std::move(event),
                       .settings = std::move(schedule.settings.used),
                       .schedule = std::move(schedule.lines),
                       .constraints = DescribeConstraints(input.domain, covered, {}),
                       .model_cells = schedule.model_cells,
                       .memory = schedule.memory,
                       .cpu_seconds = schedule.cpu_seconds,
                       .drawn_from = std::move(schedule.drawn_from)};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Nested::Fit(const SynthesisInput& input,
                                                            PrivateQueries& kernel, Pacer& pacer,
                                                            const Progress& progress) const {
  ASSIGN_OR_RETURN(NestedSchedule schedule, MakeNestedSchedule(input, settings_, joinable_, pacer));
  return NestedRun(input, std::move(schedule), kernel, pacer).Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Nested::RestoreWith(const Domain& domain,
                                                                    std::string_view bytes,
                                                                    Pacer& pacer) const {
  return NestedModel::Restore(domain, bytes, joinable_, pacer);
}

absl::StatusOr<int64_t> Nested::ReadingBytes(const Domain& domain, std::string_view bytes) const {
  return NestedModel::ReadingBytes(domain, bytes, joinable_);
}

}  // namespace curator::dp
