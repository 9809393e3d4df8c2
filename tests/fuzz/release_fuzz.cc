// The decoders of stored releases, of workloads and of synthesis: one release has one encoding. Statistics
// are read from what was decoded.
#include "codec/release_codec.h"
#include "codec/testing/example_releases.h"
#include "dp/domain/testing_domain.h"
#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

// A mean and a quantile of an integer from 0 to 6, of which 7 records have a value each.
const dp::Domain& Integers() {
  static const dp::Domain domain =
      dp::Domain::Create({dp::Attribute::Create("a", dp::IntegerKind{.min = 0, .max = 6}).value()}).value();
  return domain;
}

dp::WorkloadRelease Statistics(dp::Statistic statistic, std::vector<dp::StatisticsDraw> draws,
                               std::vector<std::vector<int64_t>> values) {
  dp::WorkloadRelease release;
  release.asked.emplace_back().query_class = dp::QueryClass::kStatistics;
  release.asked[0].statistics = dp::AskedStatistics{.statistics = {statistic}};
  release.event = "noise";
  release.statistics.bought.resize(draws.size(), {.noise = codec::kExampleNoise, .epsilon = {}});
  release.statistics.draws = std::move(draws);
  release.statistics.values = std::move(values);
  return release;
}

dp::WorkloadRelease Mean() {
  using Kind = dp::SummedValue::Kind;
  return Statistics({.kind = dp::StatisticKind::kMean, .column = 0},
                    {{.set = 0, .what = dp::SumDraw{{}, {.kind = Kind::kValue, .column = 0, .centre = 3}}},
                     {.set = 0, .what = dp::SumDraw()}},
                    {{-2}, {7}});
}

dp::WorkloadRelease Median() {
  const dp::CodeBlocks bins{.column = 0, .width = 1};
  return Statistics({.kind = dp::StatisticKind::kQuantile, .column = 0},
                    {{.set = 0, .what = dp::SumDraw{.blocks = bins, .value = {}}}}, {{1, 0, 3, -1, 1, 2, 1}});
}

dp::SynthesisRelease Synthesis() {
  return {.method = "mwem",
          .settings = {{"rounds", "8"}, {"epsilon_share", "1/2"}},
          .attributes = {0, 2},
          .records = 400,
          .transcript = {"measured 0 x 2"},
          .event = "8 x exponential mechanism",
          .model = "the model's bytes"};
}

// A decoder refuses as damaged, or reads what is written to the same bytes again.
template <typename Release>
bool Check(const absl::StatusOr<Release>& release, std::string_view bytes) {
  if (!release.ok()) {
    if (!absl::IsDataLoss(release.status())) Broken("what is refused is damaged", bytes);
    return false;
  }
  if (codec::EncodeRelease(*release) != bytes) Broken("what is accepted is encoded to the same bytes", bytes);
  return true;
}

// A stored release of statistics has answers, or is damaged.
void ReadAnswers(const dp::WorkloadRelease& release, std::string_view bytes) {
  const std::vector<dp::AskedStatistics> sets = dp::StatisticsOf(release.asked);
  for (size_t set = 0; set < sets.size(); ++set) {
    const auto answers = dp::AnswersOf(Integers(), sets, set, release.statistics, 0.95);
    if (!answers.ok() && !absl::IsDataLoss(answers.status()))
      Broken("a release without answers is damaged", bytes);
  }
}

}  // namespace

std::vector<std::string> Seeds() {
  return {codec::EncodeRelease(codec::ExampleMarginals()),
          codec::EncodeRelease(codec::ExampleMixture()),
          codec::EncodeRelease(Mean()),
          codec::EncodeRelease(Median()),
          codec::EncodeRelease(codec::ExampleResiduals()),
          codec::EncodeRelease(Synthesis())};
}

bool Try(std::string_view bytes) {
  const absl::StatusOr<dp::WorkloadRelease> workload = codec::DecodeWorkloadRelease(bytes);
  const bool is_workload = Check(workload, bytes);
  if (is_workload) ReadAnswers(*workload, bytes);
  const bool is_synthesis = Check(codec::DecodeSynthesisRelease(bytes), bytes);
  if (is_workload && is_synthesis) Broken("a release is one of the two", bytes);
  return is_workload || is_synthesis;
}

}  // namespace curator::fuzz
