// Layer 4 of the audit: the product's releases do not interfere with the table, and releases that look at it
// behind the kernel's back are found out by the same check.
#include "tests/statistical/non_interference.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numeric>

#include "codec/release_codec.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/domain/testing_domain.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/nested_rows.h"
#include "dp/synthesis/testing/public_rows.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

constexpr dp::UnitBound kRecord{dp::NeighbourRelation::kAddRemove, 1};
const dp::Epsilon kOne(dp::kEpsilonUnitsPerOne);

const dp::Domain& SmallDomain() {
  static const dp::Domain domain = dp::CodedDomain({3, 2, 4});
  return domain;
}

dp::SynthesisInput SynthesisOver(const dp::Domain& domain) {
  return {.domain = domain,
          .unit_bound = kRecord,
          .rule = {.kind = dp::RuleKind::kPure,
                   .epsilon = dp::Epsilon(10 * kOne.units()),
                   .delta = {},
                   .order = {},
                   .delta_slack = {}},
          .spend = {.epsilon = kOne},
          .workload = dp::WholeMarginals(dp::AllKWayMarginals(domain, 2, {}).value()),
          .settings = {},
          .assume_records = std::nullopt,
          .prior = dp::PublicRows(domain, {{0, 1, 3}, {2, 0, 0}, {1, 1, 2}, {0, 1, 3}, {2, 1, 1}}),
          .nested = dp::FirstAttributeNested(domain)};
}

// Rows from the model, as many as told, as text.
std::string Sampled(const dp::SynthesisModel& model, int64_t rows) {
  std::string text;
  seeded::SeededBits bits(1);
  const absl::Status sampled = model.Sample(bits, rows, [&text](std::span<const uint32_t> codes) {
    for (const uint32_t code : codes) text += std::to_string(code) + " ";
    return absl::OkStatus();
  });
  return sampled.ok() ? text : sampled.ToString();
}

// How many records a synthetic population gets.
using RowCount = std::function<int64_t(const dp::SynthesisModel& model, const dp::SealedTable& table)>;

Release SyntheticPopulation(const dp::Synthesizer& method, const RowCount& rows) {
  return [&method, rows](dp::PrivateQueries& kernel,
                         const dp::SealedTable& table) -> absl::StatusOr<std::string> {
    dp::Pacer pacer{std::stop_token()};
    const auto model = method.Fit(SynthesisOver(SmallDomain()), kernel, pacer, NoProgress());
    if (!model.ok()) return model.status();
    return (*model)->Serialize() + Sampled(**model, rows(**model, table));
  };
}

Audited Synthesis(const dp::Synthesizer& method) {
  return {SmallDomain(), kRecord, method.Plan(SynthesisOver(SmallDomain())).value().draws};
}

int64_t EstimatedRows(const dp::SynthesisModel& model, const dp::SealedTable&) {
  return model.records();
}

TEST(NonInterference, EverySynthesizersModelAndSampleAreFunctionsOfTheDraws) {
  for (const dp::Synthesizer* method : dp::Synthesizers())
    EXPECT_EQ(InterferenceOf(SyntheticPopulation(*method, EstimatedRows), Synthesis(*method), 1), "")
        << method->name();
}

TEST(NonInterference, AModelOfGroupsIsAFunctionOfTheDraws) {
  dp::SynthesisInput input = SynthesisOver(SmallDomain());
  input.settings = {{"region", "a1"}, {"group", "a0"}};
  const dp::Synthesizer& method = *dp::FindSynthesizer("prior");
  const Release grouped = [&](dp::PrivateQueries& kernel,
                              const dp::SealedTable&) -> absl::StatusOr<std::string> {
    dp::Pacer pacer{std::stop_token()};
    const auto model = method.Fit(input, kernel, pacer, NoProgress());
    if (!model.ok()) return model.status();
    return (*model)->Serialize();
  };
  EXPECT_EQ(InterferenceOf(grouped, {SmallDomain(), kRecord, method.Plan(input).value().draws}, 1), "");
}

TEST(NonInterference, AModelOfAPublicTableIsAFunctionOfTheDraws) {
  dp::SynthesisInput input = SynthesisOver(SmallDomain());
  input.settings = {{"prior", "public"}, {"rounds", "2"}};
  const dp::Synthesizer& method = *dp::FindSynthesizer("aim");
  const Release release = [&](dp::PrivateQueries& kernel,
                              const dp::SealedTable&) -> absl::StatusOr<std::string> {
    dp::Pacer pacer{std::stop_token()};
    const auto model = method.Fit(input, kernel, pacer, NoProgress());
    if (!model.ok()) return model.status();
    return (*model)->Serialize();
  };
  EXPECT_EQ(InterferenceOf(release, {SmallDomain(), kRecord, method.Plan(input).value().draws}, 1), "");
}

TEST(NonInterferenceCanary, ANumberOfRowsThatIsTheExactNumberOfRecordsIsCaught) {
  const dp::Synthesizer& method = *dp::Synthesizers().front();
  const Release broken = SyntheticPopulation(
      method, [](const dp::SynthesisModel&, const dp::SealedTable& table) { return table.rows(); });
  EXPECT_NE(InterferenceOf(broken, Synthesis(method), 1), "");
}

// Answers to a workload, after something was done to the noisy counts.
using Counts = std::vector<std::vector<int64_t>>;
using PostProcessing = std::function<void(Counts& noisy, const dp::SealedTable& table)>;

const std::vector<dp::AttributeSet> kSets = {{0}, {1, 2}};

dp::NoiseSpec WorkloadNoise() {
  return dp::LaplaceNoiseFor(dp::MarginalsSensitivity(kRecord, 2).value(), kOne).value();
}
dp::Event WorkloadEvent() {
  return dp::NoiseEvent(WorkloadNoise(), dp::MarginalsSensitivity(kRecord, 2).value());
}

std::string InterferenceOfWorkload(const PostProcessing& process) {
  const Release release = [&process](dp::PrivateQueries& kernel,
                                     const dp::SealedTable& table) -> absl::StatusOr<std::string> {
    absl::StatusOr<Counts> counts = kernel.NoisyCounts(kSets, WorkloadNoise());
    if (!counts.ok()) return counts.status();
    process(*counts, table);
    dp::WorkloadRelease workload{.asked = {dp::AskedSet()},
                                 .plans = {{.strategy = dp::Strategy::kDirect, .sources = {0, 1}}},
                                 .measured = {{kSets[0], dp::EveryCell()}, {kSets[1], dp::EveryCell()}},
                                 .noise = WorkloadNoise(),
                                 .values = *counts,
                                 .event = dp::Describe(WorkloadEvent())};
    workload.asked[0].queries.groups = workload.measured;
    return codec::EncodeRelease(workload);
  };
  return InterferenceOf(release, {SmallDomain(), kRecord, {{WorkloadEvent(), 1}}}, 2);
}

TEST(NonInterference, AWorkloadsStoredBytesAreAFunctionOfTheDraws) {
  EXPECT_EQ(InterferenceOfWorkload([](Counts&, const dp::SealedTable&) {}), "");
  EXPECT_EQ(InterferenceOfWorkload([](Counts& noisy, const dp::SealedTable&) {
              for (auto& marginal : noisy) {
                for (int64_t& count : marginal) count = std::max<int64_t>(count, 0);
              }
            }),
            "")
      << "a threshold for noisy counts";
}

TEST(NonInterferenceCanary, ThresholdingRawCountsIsCaught) {
  EXPECT_NE(InterferenceOfWorkload([](Counts& noisy, const dp::SealedTable& table) {
              const Counts raw = dp::CountMarginals(table, SmallDomain(), kSets).value();
              for (size_t i = 0; i < raw.size(); ++i) {
                for (size_t cell = 0; cell < raw[i].size(); ++cell) {
                  if (raw[i][cell] < 1) noisy[i][cell] = 0;
                }
              }
            }),
            "");
}

TEST(NonInterferenceCanary, ADomainLearnedFromTheDataIsCaught) {
  EXPECT_NE(InterferenceOfWorkload([](Counts& noisy, const dp::SealedTable& table) {
              const dp::ReadableScope scope(table);
              uint32_t largest = 0;
              for (int64_t row = 0; row < table.rows(); ++row)
                largest = std::max(largest, scope.columns().columns[0][row]);
              noisy[0].resize(largest + 1);  // the categories that occur
            }),
            "");
}

// A small MWEM over one-way marginals, whose parts can be broken one by one.
struct MwemParts {
  using Cells = std::vector<double>;  // of the whole domain

  std::function<double(double noisy, const dp::SealedTable&)> total =
      [](double noisy, const dp::SealedTable&) { return std::max(1.0, noisy); };
  std::function<Cells(double records, const dp::SealedTable&)> start =
      [](double records, const dp::SealedTable&) { return Cells(24, records / 24); };
  std::function<bool(const Cells& model, const dp::SealedTable&)> stops =
      [](const Cells&, const dp::SealedTable&) { return false; };
};

constexpr int kRounds = 4;
const dp::Epsilon kSelection(kOne.units() / 16);
const dp::NoiseSpec kMeasurement{dp::Mechanism::kDiscreteLaplace, {4, 1}};

std::vector<dp::CountedEvent> MwemSchedule() {
  const dp::Event noise = dp::NoiseEvent(kMeasurement, dp::MarginalsSensitivity(kRecord, 1).value());
  const dp::Event count = dp::NoiseEvent(kMeasurement, dp::RecordCountSensitivity(kRecord).value());
  return {{noise, kRounds}, {count, 1}, {{dp::ExponentialMechanismEvent{kSelection}}, kRounds}};
}

// The cell of attribute `a` in which cell `c` of the 3 x 2 x 4 domain lies.
size_t CodeOf(size_t a, size_t c) {
  return a == 0 ? c / 8 : a == 1 ? c / 4 % 2 : c % 4;
}

std::vector<double> Marginal(const MwemParts::Cells& model, size_t a) {
  std::vector<double> marginal(static_cast<size_t>(SmallDomain().attributes()[a].size()), 0.0);
  for (size_t c = 0; c < model.size(); ++c) marginal[CodeOf(a, c)] += model[c];
  return marginal;
}

std::string Bytes(const MwemParts::Cells& model) {
  std::string text;
  for (const double cell : model) {
    char number[40];
    std::snprintf(number, sizeof number, "%a ", cell);
    text += number;
  }
  return text;
}

absl::StatusOr<std::string> SmallMwem(const MwemParts& parts, dp::PrivateQueries& kernel,
                                      const dp::SealedTable& table) {
  const absl::StatusOr<int64_t> noisy = kernel.NoisyRecordCount(kMeasurement);
  if (!noisy.ok()) return noisy.status();
  const double records = parts.total(static_cast<double>(*noisy), table);
  MwemParts::Cells model = parts.start(records, table);
  for (int round = 0; round < kRounds && !parts.stops(model, table); ++round) {
    std::vector<dp::CandidateFamily> candidates;
    for (uint32_t a = 0; a < 3; ++a) candidates.push_back({{{a}, dp::EveryCell()}, Marginal(model, a)});
    const absl::StatusOr<dp::FamilyChoice> choice = kernel.SelectWorstCandidate(candidates, kSelection);
    if (!choice.ok()) return choice.status();
    const size_t worst = choice->family;
    const auto measured =
        kernel.NoisyCounts(std::vector<dp::AttributeSet>{{static_cast<uint32_t>(worst)}}, kMeasurement);
    if (!measured.ok()) return measured.status();
    const std::vector<double>& estimate = candidates[worst].estimate;
    double total = 0;
    for (size_t c = 0; c < model.size(); ++c) {
      const size_t code = CodeOf(worst, c);
      model[c] *= std::exp((static_cast<double>((*measured)[0][code]) - estimate[code]) / (2 * records));
      total += model[c];
    }
    for (double& cell : model) cell *= records / total;
  }
  return Bytes(model);
}

std::string InterferenceOfMwem(const MwemParts& parts) {
  const Release release = [&parts](dp::PrivateQueries& kernel, const dp::SealedTable& table) {
    return SmallMwem(parts, kernel, table);
  };
  return InterferenceOf(release, {SmallDomain(), kRecord, MwemSchedule()}, 3);
}

MwemParts::Cells ExactCells(const dp::SealedTable& table) {
  const auto counts = dp::CountMarginal(table, SmallDomain(), {0, 1, 2}).value();
  return {counts.begin(), counts.end()};
}

TEST(NonInterference, ASmallMwemIsAFunctionOfItsDraws) {
  EXPECT_EQ(InterferenceOfMwem({}), "");
}

TEST(NonInterferenceCanary, AnMwemThatUsesTheExactNumberOfRecordsIsCaught) {
  MwemParts parts;
  parts.total = [](double, const dp::SealedTable& table) {
    return std::max(1.0, static_cast<double>(table.rows()));
  };
  EXPECT_NE(InterferenceOfMwem(parts), "");
}

TEST(NonInterferenceCanary, AModelInitialisedFromTheDataIsCaught) {
  MwemParts parts;
  parts.start = [](double records, const dp::SealedTable& table) {
    MwemParts::Cells cells = ExactCells(table);
    for (double& cell : cells) cell = (cell + 1) * records / (static_cast<double>(table.rows()) + 24);
    return cells;
  };
  EXPECT_NE(InterferenceOfMwem(parts), "");
}

TEST(NonInterferenceCanary, AnEarlyStopOnTheTrueErrorIsCaught) {
  MwemParts parts;
  parts.stops = [](const MwemParts::Cells& model, const dp::SealedTable& table) {
    const MwemParts::Cells exact = ExactCells(table);
    double error = 0;
    for (size_t c = 0; c < model.size(); ++c) error += std::abs(model[c] - exact[c]);
    return error < 100;
  };
  EXPECT_NE(InterferenceOfMwem(parts), "");
}

}  // namespace
}  // namespace curator::statistics
