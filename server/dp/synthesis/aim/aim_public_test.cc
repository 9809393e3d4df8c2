// AIM with a public table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <random>
#include <string>

#include "dp/data/count_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/aim/aim.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/laws.h"
#include "dp/synthesis/testing/public_rows.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// The method with the public table of the request, for the laws.
class AimWithPublicTable : public Synthesizer {
 public:
  std::string_view name() const override { return aim_.name(); }
  std::string_view summary() const override { return aim_.summary(); }
  int64_t version() const override { return aim_.version(); }
  const std::vector<Setting>& settings() const override { return aim_.settings(); }
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    return aim_.PlanWith(Naming(input), pacer);
  }
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override {
    return aim_.Fit(Naming(input), kernel, pacer, progress);
  }
  absl::StatusOr<std::unique_ptr<SynthesisModel>> RestoreWith(const Domain& domain, std::string_view bytes,
                                                              Pacer& pacer) const override {
    return aim_.RestoreWith(domain, bytes, pacer);
  }
  absl::StatusOr<int64_t> ReadingBytes(const Domain& domain, std::string_view bytes) const override {
    return aim_.ReadingBytes(domain, bytes);
  }

 private:
  static SynthesisInput Naming(SynthesisInput input) {
    input.settings["prior"] = "public";
    return input;
  }
  Aim aim_;
};

class EveryLawOfAim : public testing::TestWithParam<Law> {};

TEST_P(EveryLawOfAim, HoldsWithAPublicTable) {
  EXPECT_THAT(GetParam().check(AimWithPublicTable()), IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, EveryLawOfAim, testing::ValuesIn(SynthesizerLaws()),
                         [](const auto& law) { return std::string(law.param.name); });

constexpr int kRecords = 3000;

// Eight attributes of four values: each follows the one before in most records.
Rows ChainRows(int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int i = 0; i < count; ++i) {
    std::vector<uint32_t> row = {static_cast<uint32_t>(random() % 4)};
    while (row.size() < 8)
      row.push_back(random() % 10 < 7 ? row.back() : static_cast<uint32_t>(random() % 4));
    rows.push_back(std::move(row));
  }
  return rows;
}

const std::vector<int64_t> kSizes(8, 4);

SynthesisInput InputWith(const Rows& public_rows, Epsilon epsilon) {
  SynthesisInput input = WorldOf(kSizes, 2, {}).input;
  input.spend = {.epsilon = epsilon};
  input.assume_records = kRecords;
  if (public_rows.empty()) return input;
  input.prior = PublicRows(input.domain, public_rows);
  input.settings["prior"] = "public";
  return input;
}

struct Outcome {
  double error = 0;  // the mean L1 distance of shares over all pairs, over the fits
  int64_t taken = 0;
  int64_t measured = 0;
};

Outcome FitsOf(const SynthesisInput& input, int fits) {
  static const Rows rows = ChainRows(kRecords, 1);
  const SealedTableHandle table = SealRows(input.domain, rows).value();
  const auto truth = PublicRows(input.domain, rows);
  const std::vector<AttributeSet> sets = SetsOf(input.workload);
  Outcome outcome;
  for (int fit = 0; fit < fits; ++fit) {
    seeded::SeededBits bits(100 + static_cast<uint64_t>(fit));
    Kernel kernel(table, input.domain, input.unit_bound, Meter(Aim().Plan(input)->draws), bits);
    Transcript transcript;
    RecordingQueries recording(kernel, transcript);
    Pacer pacer{std::stop_token()};
    const auto model = Aim().Fit(input, recording, pacer, NoProgress()).value();
    for (const AttributeSet& set : sets) {
      const std::vector<double> cells = model->Marginal(set).value();
      const std::vector<int64_t> counts = CountMarginal(*truth, input.domain, set).value();
      for (size_t i = 0; i < cells.size(); ++i) {
        outcome.error += std::abs(cells[i] / static_cast<double>(model->records()) -
                                  static_cast<double>(counts[i]) / kRecords) /
                         static_cast<double>(sets.size()) / fits;
      }
    }
    for (const Draw& draw : transcript) {
      const auto* selection = std::get_if<SubstitutionDraw>(&draw);
      if (selection != nullptr) ++(selection->selected.is_public ? outcome.taken : outcome.measured);
    }
  }
  return outcome;
}

constexpr Epsilon kTenth(kEpsilonUnitsPerOne / 10);
constexpr Epsilon kMuch(20 * kEpsilonUnitsPerOne);

TEST(AimWithAPublicTable, OfTheSameDistributionIsFarBetterAtALowBudget) {
  const Outcome without = FitsOf(InputWith({}, kTenth), 4);
  const Outcome with = FitsOf(InputWith(ChainRows(kRecords, 2), kTenth), 4);
  EXPECT_LT(with.error, 0.6 * without.error);
}

TEST(AimWithAPublicTable, OfNoiseIsNoWorseThanNone) {
  for (const Epsilon epsilon : {kTenth, kMuch}) {
    const Outcome without = FitsOf(InputWith({}, epsilon), 4);
    const Outcome with = FitsOf(InputWith(RandomRows(kSizes, kRecords, 3), epsilon), 4);
    EXPECT_LT(with.error, 1.1 * without.error + 0.01);
  }
}

TEST(AimWithAPublicTable, IsMeasuredWhereTheBudgetIsLargeAndThePublicTableSmall) {
  SynthesisInput input = InputWith(ChainRows(30, 4), kMuch);
  input.settings["rounds"] = "10";
  const Outcome outcome = FitsOf(input, 1);
  EXPECT_GT(outcome.measured, outcome.taken);
}

// The same table in reverse order of every second attribute: what rose together there falls together here.
TEST(AimWithAPublicTable, ThatContradictsTheRecordsIsOutweighed) {
  Rows turned = ChainRows(kRecords, 2);
  for (std::vector<uint32_t>& row : turned) {
    for (size_t i = 1; i < row.size(); i += 2) row[i] = 3 - row[i];
  }
  const Outcome without = FitsOf(InputWith({}, kMuch), 2);
  const Outcome with = FitsOf(InputWith(turned, kMuch), 2);
  EXPECT_LT(with.error, without.error + 0.1);
}

std::vector<std::string> TranscriptOf(const SynthesisInput& input) {
  const SealedTableHandle table = SealRows(input.domain, ChainRows(kRecords, 1)).value();
  seeded::SeededBits bits(5);
  Kernel kernel(table, input.domain, input.unit_bound, Meter(Aim().Plan(input)->draws), bits);
  Pacer pacer{std::stop_token()};
  return Aim().Fit(input, kernel, pacer, NoProgress()).value()->Transcript();
}

// What is taken before the rounds stays in the cliques, where nothing else has room then.
TEST(AimWithAPublicTable, TakesLittleOfTheCliquesRoomBeforeTheRounds) {
  constexpr int64_t kMostCells = 1500;
  constexpr int64_t kCellsOfAPair = 16;
  SynthesisInput input = InputWith(ChainRows(kRecords, 2), kTenth);
  const auto taken_before = [](const SynthesisInput& request) {
    return std::ranges::count_if(TranscriptOf(request), [](const std::string& line) {
      return line.find("before the rounds") != std::string::npos;
    });
  };
  const int64_t with_room = taken_before(input);
  EXPECT_GT(with_room * kCellsOfAPair, kMostCells / 16);
  input.settings["max_cells"] = std::to_string(kMostCells);
  const int64_t without = taken_before(input);
  EXPECT_GT(without, 0);
  EXPECT_LE(without * kCellsOfAPair, kMostCells / 16);
}

TEST(AimWithAPublicTable, RefusesAPriorWithOtherColumnsAsPriorDoes) {
  SynthesisInput input = InputWith(ChainRows(10, 1), kTenth);
  input.prior = PublicRows(CodedDomain({4, 4}), {{1, 1}});
  EXPECT_THAT(std::string(Aim().Plan(input).status().message()), HasSubstr("settings.prior"));
  input.prior = PublicRows(input.domain, {});
  EXPECT_EQ(Aim().Plan(input).status().code(), absl::StatusCode::kInvalidArgument);
  input.prior = nullptr;
  EXPECT_EQ(Aim().Plan(input).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(AimWithAPublicTable, SaysSoInItsPlanAndItsTranscript) {
  const SynthesisInput input = InputWith(ChainRows(kRecords, 2), kTenth);
  EXPECT_THAT(Aim().Plan(input)->schedule, Contains(HasSubstr("from the public data")));
  EXPECT_THAT(Aim().Plan(InputWith({}, kTenth))->schedule, Not(Contains(HasSubstr("public"))));
  EXPECT_EQ(Aim().Plan(input)->draws, Aim().Plan(InputWith({}, kTenth))->draws);
  EXPECT_GT(Aim().Plan(input)->memory.fitting, Aim().Plan(InputWith({}, kTenth))->memory.fitting);
  EXPECT_THAT(TranscriptOf(input), Contains(HasSubstr("from the public table")));
}

}  // namespace
}  // namespace curator::dp
