#include "service/workloads/answer_limits.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/release_codec.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/statistics/statistics_plan.h"
#include "dp/workload/time_forecast.h"
#include "service/memory_budget.h"

namespace curator::service {
namespace {

// The most steps of reading an answer (dp::ReadingSteps()), about a second: it can be read again for nothing.
constexpr int64_t kMostReadingSteps = int64_t{1} << 28;

int64_t EncodedBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                     const dp::WorkloadPlan& plan) {
  if (dp::AreStatistics(asked))
    return codec::MostEncodedBytes(domain, dp::StatisticsOf(asked), plan.statistics);
  if (plan.residual) return codec::MostEncodedBytes(domain, asked, *plan.residual);
  return codec::MostEncodedBytes(domain, asked, plan.shape.joint.plans, plan.shape.joint.measured);
}

// What part of the measured values fits, where all would take `found` of `most`.
std::string ForLess(const dp::WorkloadPlan& plan, double found, double most) {
  const double values = static_cast<double>(plan.shape.measured_values);
  if (values == 0) return "ask for less at once";
  return absl::StrCat("ask for less at once: some ", static_cast<int64_t>(std::floor(values * most / found)),
                      " of the ", plan.shape.measured_values, " measured values would fit");
}

int64_t ReadingStepsOf(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                       const dp::WorkloadPlan& plan) {
  if (plan.residual) return dp::ResidualReadingSteps(domain, asked, plan.residual->queries);
  return dp::ReadingSteps(domain, asked, plan.shape.joint.plans, plan.shape.joint.measured);
}

absl::Status CheckSteps(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                        const dp::WorkloadPlan& plan) {
  if (dp::AreStatistics(asked)) return absl::OkStatus();  // their limits are those of their values
  const int64_t steps = ReadingStepsOf(domain, asked, plan);
  if (steps > kMostReadingSteps) {
    return InvalidField(
        "workload",
        absl::StrCat("is answered by summing up ", steps, " measured values; at most ", kMostReadingSteps,
                     " are summed up for one request: ask for less at once, or in an order that has answers "
                     "over the same attributes side by side"));
  }
  const double seconds = dp::AnswerSeconds(domain, plan.shape, steps);
  if (seconds <= kMostAnswerSeconds) return absl::OkStatus();
  return InvalidField(
      "workload", absl::StrCat("would take up to ", std::ceil(seconds),
                               " s of processor time to answer; at most ", kMostAnswerSeconds,
                               " s are given to one request: ", ForLess(plan, seconds, kMostAnswerSeconds)));
}

}  // namespace

int64_t AnsweringBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                       const dp::WorkloadPlan& plan) {
  int64_t bytes = dp::AnswerBytes(domain, plan.shape, EncodedBytes(domain, asked, plan));
  if (dp::AreStatistics(asked))
    bytes += dp::StatisticsBytes(domain, dp::StatisticsOf(asked), plan.statistics);
  if (plan.residual) bytes += dp::ResidualReadingBytes(domain, asked);
  return bytes;
}

absl::Status CheckReleaseFits(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                              const dp::WorkloadPlan& plan) {
  const int64_t bytes = EncodedBytes(domain, asked, plan);
  if (bytes <= codec::kMostReleaseBytes) return absl::OkStatus();
  return InvalidField("workload", absl::StrCat("makes a release of up to ", bytes, " bytes; at most ",
                                               codec::kMostReleaseBytes, " are stored: ",
                                               ForLess(plan, static_cast<double>(bytes),
                                                       static_cast<double>(codec::kMostReleaseBytes))));
}

absl::Status CheckAnswerMemory(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                               const dp::WorkloadPlan& plan, int64_t planning_bytes) {
  const int64_t bytes = planning_bytes + AnsweringBytes(domain, asked, plan);
  if (bytes <= kMostPaidBytes) return absl::OkStatus();
  return TakesTooMuch("workload", "to answer", bytes, kMostPaidBytes,
                      ForLess(plan, static_cast<double>(bytes), static_cast<double>(kMostPaidBytes)));
}

absl::Status CheckCanBeAnswered(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                                const dp::WorkloadPlan& plan, int64_t planning_bytes) {
  RETURN_IF_ERROR(CheckSteps(domain, asked, plan));
  return CheckAnswerMemory(domain, asked, plan, planning_bytes);
}

}  // namespace curator::service
