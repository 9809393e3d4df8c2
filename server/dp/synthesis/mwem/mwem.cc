#include "dp/synthesis/mwem/mwem.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/synthesis/dense/all_marginals.h"
#include "dp/synthesis/dense/product_model.h"
#include "dp/synthesis/mwem/mwem_schedule.h"
#include "dp/synthesis/mwem/product_fit.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

// Answers are never trusted further than this: noise may vanish at enormous budgets, the replay divides by
// it.
constexpr double kLeastDeviation = 0.05;

double TrustedDeviation(const NoiseSpec& noise) {
  return std::max(kLeastDeviation, ForecastError(noise).standard_deviation);
}

// One fit from its first draw to its model.
class Run {
 public:
  Run(const SynthesisInput& input, MwemSchedule schedule, Kernel& kernel, Pacer& pacer)
      : input_(input),
        schedule_(std::move(schedule)),
        kernel_(kernel),
        pacer_(pacer),
        deviation_(TrustedDeviation(schedule_.marginal_noise)),
        left_(SetsOf(input.workload)) {}

  absl::StatusOr<std::unique_ptr<SynthesisModel>> Finish(const Progress& progress) {
    RETURN_IF_ERROR(pacer_.Look());
    ASSIGN_OR_RETURN(const int64_t noisy_records, kernel_.NoisyRecordCount(schedule_.record_noise));
    transcript_.push_back(absl::StrCat("number of records: ", noisy_records));
    const double start = static_cast<double>(std::max<int64_t>(1, noisy_records));
    ProductFit fit(schedule_.layout, start);
    RETURN_IF_ERROR(fit.Add({.set = {},
                             .answers = {static_cast<double>(noisy_records)},
                             .standard_deviation = TrustedDeviation(schedule_.record_noise)},
                            pacer_));
    const int64_t rounds = schedule_.settings.rounds;
    for (int64_t round = 0; round < rounds; ++round) {
      RETURN_IF_ERROR(Round(fit, round + 1 == rounds));
      progress(static_cast<double>(round + 1) / static_cast<double>(rounds));
    }
    if (components_.empty()) components_.push_back({fit.base(), fit.factors()});
    ASSIGN_OR_RETURN(const int64_t records, EstimatedRecords(fit));
    return ProductModel::Create(input_.domain,
                                {.attributes = schedule_.layout.attributes(),
                                 .records = records,
                                 .components = std::move(components_),
                                 .transcript = std::move(transcript_)},
                                pacer_);
  }

 private:
  absl::Status Round(ProductFit& fit, bool last) {
    ASSIGN_OR_RETURN(const size_t chosen, Choose(fit));
    AttributeSet set = std::move(left_[chosen]);
    left_.erase(left_.begin() + static_cast<std::ptrdiff_t>(chosen));
    ASSIGN_OR_RETURN(const std::vector<std::vector<int64_t>> counts,
                     kernel_.NoisyCounts(std::span(&set, 1), schedule_.marginal_noise));
    transcript_.push_back(absl::StrCat("counts of ", NamesOf(input_.domain, set), ": ", counts[0].size(),
                                       " cells, each within about ", std::llround(2 * deviation_)));
    RETURN_IF_ERROR(fit.Add({.set = std::move(set),
                             .answers = {counts[0].begin(), counts[0].end()},
                             .standard_deviation = deviation_},
                            pacer_));
    // Without selections nobody looks at the weights before the end.
    if (!schedule_.selection && !last && schedule_.settings.iterate == MwemIterate::kLast)
      return absl::OkStatus();
    ReplayRule rule;
    rule.most_sweeps = schedule_.settings.sweeps * (last ? kLastSweeps : 1);
    rule.prior_weight = schedule_.settings.slack / deviation_;
    RETURN_IF_ERROR(fit.Replay(rule, pacer_));
    if (schedule_.settings.iterate == MwemIterate::kAverage)
      components_.push_back({fit.base(), fit.factors()});
    return absl::OkStatus();
  }

  // The position in left_ of the marginal to measure next.
  absl::StatusOr<size_t> Choose(const ProductFit& fit) {
    if (!schedule_.selection) return 0;
    const double error = ForecastError(schedule_.marginal_noise).expected_absolute_error;
    ASSIGN_OR_RETURN(std::vector<std::vector<double>> estimates,
                     AllMarginals(schedule_.layout, fit.weights(), left_, pacer_));
    std::vector<ApproximatedMarginal> candidates;
    candidates.reserve(left_.size());
    for (size_t i = 0; i < left_.size(); ++i) {
      const double penalty = error * static_cast<double>(estimates[i].size());
      candidates.push_back({.attributes = left_[i], .estimate = std::move(estimates[i]), .penalty = penalty});
    }
    return kernel_.SelectWorstApproximated(candidates, *schedule_.selection);
  }

  absl::StatusOr<int64_t> EstimatedRecords(const ProductFit& fit) {
    ASSIGN_OR_RETURN(const DenseMarginal whole, DenseMarginal::Create(schedule_.layout, {}, pacer_));
    ASSIGN_OR_RETURN(const std::vector<double> total, whole.Sum(fit.weights(), pacer_));
    return std::max<int64_t>(1, std::llround(total[0]));
  }

  // The last replay may take longer: nothing comes after it.
  static constexpr int64_t kLastSweeps = 5;

  const SynthesisInput& input_;
  const MwemSchedule schedule_;
  Kernel& kernel_;
  Pacer& pacer_;
  const double deviation_;  // of one measured cell
  std::vector<AttributeSet> left_;
  std::vector<ProductComponent> components_;
  std::vector<std::string> transcript_;
};

}  // namespace

std::string_view Mwem::summary() const {
  return "Multiplicative weights over all cells of the domain, fitted to the marginals that are approximated "
         "worst.";
}

const std::vector<Setting>& Mwem::settings() const {
  return MwemSettingsForPeople();
}

absl::StatusOr<SynthesisPlan> Mwem::Plan(const SynthesisInput& input) const {
  ASSIGN_OR_RETURN(MwemSchedule schedule, MakeMwemSchedule(input));
  ASSIGN_OR_RETURN(const Budget budget, BudgetOf(input.rule, input.spend));
  ASSIGN_OR_RETURN(Event event, ChargeFor(input.rule, budget, schedule.draws));
  std::vector<std::string> lines = DescribeSchedule(schedule);
  return SynthesisPlan{.draws = std::move(schedule.draws),
                       .event = std::move(event),
                       .settings = std::move(schedule.used_settings),
                       .schedule = std::move(lines),
                       .model_cells = schedule.layout.cells(),
                       .linear = std::move(schedule.linear)};
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mwem::Fit(const SynthesisInput& input, Kernel& kernel,
                                                          Pacer& pacer, const Progress& progress) const {
  ASSIGN_OR_RETURN(MwemSchedule schedule, MakeMwemSchedule(input));
  return Run(input, std::move(schedule), kernel, pacer).Finish(progress);
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> Mwem::Restore(const Domain& domain,
                                                              std::string_view bytes) const {
  return ProductModel::Restore(domain, bytes);
}

}  // namespace curator::dp
