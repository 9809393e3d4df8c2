// The laws of every synthesizer in the list. A new method is held to them without a new line here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>

#include "dp/data/sealed_table.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/marginals.h"
#include "dp/workload/testing_domain.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using Rows = std::vector<std::vector<uint32_t>>;

struct World {
  SynthesisInput input;
  SealedTableHandle table;
};

SynthesisInput InputFor(const Domain& domain, int k) {
  RuleSpec rule;
  rule.kind = RuleKind::kPure;
  rule.epsilon = Epsilon(10 * kEpsilonUnitsPerOne);
  return {.domain = domain,
          .unit_bound = {},
          .rule = rule,
          .spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne)},
          .workload = AllKWayMarginals(domain, k, {}).value(),
          .settings = {},
          .assume_records = std::nullopt};
}

World WorldOf(const std::vector<int64_t>& sizes, int k, const Rows& rows) {
  const Domain domain = CodedDomain(sizes);
  return {InputFor(domain, k), SealRows(domain, rows).value()};
}

Rows RandomRows(const std::vector<int64_t>& sizes, int count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int i = 0; i < count; ++i) {
    std::vector<uint32_t> row;
    for (const int64_t size : sizes)
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(size)));
    rows.push_back(std::move(row));
  }
  return rows;
}

// Two tables over the same domain, as different as can be.
World FullWorld() {
  return WorldOf({2, 3, 4, 3}, 2, RandomRows({2, 3, 4, 3}, 500, 1));
}
World OtherWorld() {
  return WorldOf({2, 3, 4, 3}, 2, Rows(37, {1, 2, 3, 2}));
}

struct Recorded {
  std::string bytes;
  Transcript transcript;
};

absl::StatusOr<Recorded> FitLive(const Synthesizer& synthesizer, const World& world, uint64_t seed) {
  auto plan = synthesizer.Plan(world.input);
  if (!plan.ok()) return plan.status();
  seeded::SeededBits bits(seed);
  Recorded recorded;
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(plan->draws), bits);
  kernel.RecordTo(recorded.transcript);
  auto model = synthesizer.Fit(world.input, kernel, std::stop_token(), NoProgress());
  if (!model.ok()) return model.status();
  recorded.bytes = (*model)->Serialize();
  return recorded;
}

absl::StatusOr<std::string> FitFromTranscript(const Synthesizer& synthesizer, const SynthesisInput& input,
                                              const Transcript& transcript) {
  auto plan = synthesizer.Plan(input);
  if (!plan.ok()) return plan.status();
  Kernel kernel = Kernel::Replaying(transcript, input.domain, input.unit_bound, Meter(plan->draws));
  auto model = synthesizer.Fit(input, kernel, std::stop_token(), NoProgress());
  if (!model.ok()) return model.status();
  return (*model)->Serialize();
}

class SynthesizerLaws : public testing::TestWithParam<const Synthesizer*> {
 protected:
  const Synthesizer& synthesizer() const { return *GetParam(); }

  std::unique_ptr<SynthesisModel> Fit(const World& world) const {
    seeded::SeededBits bits(1);
    Kernel kernel(world.table, world.input.domain, world.input.unit_bound,
                  Meter(synthesizer().Plan(world.input)->draws), bits);
    return synthesizer().Fit(world.input, kernel, std::stop_token(), NoProgress()).value();
  }

  // A model that can be asked, restored and sampled, all within its domain.
  void ExpectSoundModel(const World& world) const {
    const auto model = Fit(world);
    EXPECT_GE(model->records(), 1);
    for (const AttributeSet& set : world.input.workload) {
      const auto cells = model->Marginal(set).value();
      double total = 0;
      for (const double cell : cells) {
        EXPECT_TRUE(std::isfinite(cell));
        EXPECT_GE(cell, 0);
        total += cell;
      }
      EXPECT_NEAR(total / static_cast<double>(model->records()), 1, 1e-6);
    }
    const auto restored = synthesizer().Restore(world.input.domain, model->Serialize()).value();
    EXPECT_EQ(restored->Marginal(world.input.workload[0]).value(),
              model->Marginal(world.input.workload[0]).value());
    seeded::SeededBits bits(2);
    const absl::Status sampled = model->Sample(bits, 200, [&](std::span<const uint32_t> codes) {
      EXPECT_EQ(codes.size(), model->attributes().size());
      for (size_t i = 0; i < codes.size(); ++i) {
        EXPECT_LT(codes[i], world.input.domain.attributes()[model->attributes()[i]].size());
      }
      return absl::OkStatus();
    });
    EXPECT_TRUE(sampled.ok());
  }
};

TEST_P(SynthesizerLaws, HasANameByWhichItIsFound) {
  EXPECT_EQ(FindSynthesizer(synthesizer().name()), GetParam());
  EXPECT_FALSE(synthesizer().summary().empty());
  for (const Setting& setting : synthesizer().settings())
    EXPECT_FALSE(setting.summary.empty()) << setting.key;
}

TEST_P(SynthesizerLaws, PlansEverySettingThatItDocuments) {
  const auto plan = synthesizer().Plan(FullWorld().input).value();
  std::vector<std::string> documented;
  for (const Setting& setting : synthesizer().settings()) documented.push_back(setting.key);
  std::vector<std::string> planned;
  for (const auto& [key, value] : plan.settings) planned.push_back(key);
  EXPECT_THAT(planned, testing::UnorderedElementsAreArray(documented));
  EXPECT_FALSE(plan.schedule.empty());
  EXPECT_GT(plan.model_cells, 0);
}

TEST_P(SynthesizerLaws, PlansTheSameAgainFromTheSettingsThatItFilledIn) {
  SynthesisInput input = FullWorld().input;
  const auto plan = synthesizer().Plan(input).value();
  input.settings = plan.settings;
  const auto again = synthesizer().Plan(input).value();
  EXPECT_EQ(again.draws, plan.draws);
  EXPECT_EQ(again.settings, plan.settings);
}

TEST_P(SynthesizerLaws, DrawsExactlyWhatIsPricedAndNotOneDrawMore) {
  const World world = FullWorld();
  const auto plan = synthesizer().Plan(world.input).value();
  ASSERT_TRUE(FitLive(synthesizer(), world, 1).ok());
  // One unit less on the schedule, and the fit is refused: it needs all of it.
  for (size_t i = 0; i < plan.draws.size(); ++i) {
    std::vector<CountedEvent> short_of_one = plan.draws;
    --short_of_one[i].count;
    seeded::SeededBits bits(1);
    Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(short_of_one), bits);
    EXPECT_EQ(synthesizer().Fit(world.input, kernel, std::stop_token(), NoProgress()).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
}

TEST_P(SynthesizerLaws, PriceNeverExceedsTheSpend) {
  for (const int64_t units : {kEpsilonUnitsPerOne / 7, kEpsilonUnitsPerOne, int64_t{123'456'789'012}}) {
    SynthesisInput input = FullWorld().input;
    input.spend = {.epsilon = Epsilon(units)};
    const auto plan = synthesizer().Plan(input).value();
    EXPECT_LE(CostOf(input.rule, plan.event).value()[0].amount, units);
    EXPECT_LE(CostOf(input.rule, {ComposedEvent{plan.draws}}).value()[0].amount, units);
  }
}

TEST_P(SynthesizerLaws, OutputIsAFunctionOfTheTranscript) {
  const World world = FullWorld();
  const Recorded recorded = FitLive(synthesizer(), world, 1).value();
  EXPECT_EQ(FitFromTranscript(synthesizer(), world.input, recorded.transcript).value(), recorded.bytes);
  const Recorded other = FitLive(synthesizer(), OtherWorld(), 1).value();
  EXPECT_EQ(FitFromTranscript(synthesizer(), world.input, other.transcript).value(), other.bytes);
}

TEST_P(SynthesizerLaws, EndsWhenTold) {
  const World world = FullWorld();
  std::stop_source before;
  before.request_stop();
  std::stop_source midway;
  for (std::stop_source* source : {&before, &midway}) {
    seeded::SeededBits bits(1);
    Kernel kernel(world.table, world.input.domain, world.input.unit_bound,
                  Meter(synthesizer().Plan(world.input)->draws), bits);
    const Progress stop_at_once = [&](double) { source->request_stop(); };
    const auto ended = synthesizer().Fit(world.input, kernel, source->get_token(), stop_at_once);
    if (source == &before) {
      EXPECT_EQ(ended.status().code(), absl::StatusCode::kCancelled);
    }
  }
}

TEST_P(SynthesizerLaws, ProgressNeverFallsAndEndsWhole) {
  const World world = FullWorld();
  seeded::SeededBits bits(1);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound,
                Meter(synthesizer().Plan(world.input)->draws), bits);
  double last = 0;
  const Progress watch = [&](double share) {
    EXPECT_GE(share, last);
    EXPECT_LE(share, 1);
    last = share;
  };
  ASSERT_TRUE(synthesizer().Fit(world.input, kernel, std::stop_token(), watch).ok());
  EXPECT_EQ(last, 1);
}

TEST_P(SynthesizerLaws, CopesWithAnEmptyTable) {
  ExpectSoundModel(WorldOf({2, 3}, 2, {}));
}
TEST_P(SynthesizerLaws, CopesWithOneRecord) {
  ExpectSoundModel(WorldOf({2, 3}, 1, {{1, 2}}));
}
TEST_P(SynthesizerLaws, CopesWithEqualRecords) {
  ExpectSoundModel(OtherWorld());
}
TEST_P(SynthesizerLaws, CopesWithOneAttribute) {
  ExpectSoundModel(WorldOf({5}, 1, RandomRows({5}, 50, 3)));
}
TEST_P(SynthesizerLaws, CopesWithAttributesOfSizeOne) {
  ExpectSoundModel(WorldOf({1, 2, 1}, 2, RandomRows({1, 2, 1}, 50, 4)));
}
TEST_P(SynthesizerLaws, CopesWithAnAttributeOfAHundredThousandValues) {
  ExpectSoundModel(WorldOf({100'000, 2}, 1, RandomRows({100'000, 2}, 2000, 5)));
}

TEST_P(SynthesizerLaws, RefusesAnEmptyWorkloadAndAnEmptySpend) {
  SynthesisInput input = FullWorld().input;
  input.workload.clear();
  EXPECT_EQ(synthesizer().Plan(input).status().code(), absl::StatusCode::kInvalidArgument);
  input = FullWorld().input;
  input.spend = {};
  EXPECT_EQ(synthesizer().Plan(input).status().code(), absl::StatusCode::kInvalidArgument);
}

INSTANTIATE_TEST_SUITE_P(All, SynthesizerLaws,
                         testing::ValuesIn(Synthesizers().begin(), Synthesizers().end()),
                         [](const auto& method) { return std::string(method.param->name()); });

// Broken methods, made here by changing the first one in the list, each of which a law above must catch.

class Altered : public Synthesizer {
 public:
  std::string_view name() const override { return "altered"; }
  std::string_view summary() const override { return "Broken on purpose."; }
  const std::vector<Setting>& settings() const override { return sound().settings(); }
  absl::StatusOr<SynthesisPlan> Plan(const SynthesisInput& input) const override {
    return sound().Plan(input);
  }
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Restore(const Domain& domain,
                                                          std::string_view bytes) const override {
    return sound().Restore(domain, bytes);
  }

 protected:
  static const Synthesizer& sound() { return *Synthesizers().front(); }
};

// Draws once more than it pays for.
class OneUnpaidRound : public Altered {
 public:
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, Kernel& kernel,
                                                      std::stop_token stop,
                                                      const Progress& progress) const override {
    auto model = sound().Fit(input, kernel, stop, progress);
    const NoiseSpec noise{Mechanism::kDiscreteLaplace, {10, 1}};
    auto unpaid = kernel.NoisyRecordCount(noise);
    if (!unpaid.ok()) return unpaid.status();
    return model;
  }
};

TEST(SynthesizerLawsCanary, OneUnpaidDrawIsRefusedByTheMeter) {
  EXPECT_EQ(FitLive(OneUnpaidRound(), FullWorld(), 1).status().code(), absl::StatusCode::kFailedPrecondition);
}

// Knows the exact number of records through a hole in the wall.
class UsesExactRecords : public Altered {
 public:
  explicit UsesExactRecords(const int64_t& leaked) : leaked_(leaked) {}
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, Kernel& kernel,
                                                      std::stop_token stop,
                                                      const Progress& progress) const override {
    SynthesisInput leaky = input;
    // The sound method's rounds do not depend on the guess once they are set; its slack then carries the
    // leak.
    leaky.settings["slack"] = std::to_string(0.1 + 0.001 * static_cast<double>(leaked_));
    return sound().Fit(leaky, kernel, stop, progress);
  }

 private:
  const int64_t& leaked_;
};

TEST(SynthesizerLawsCanary, AFitThatUsesTheExactNumberOfRecordsIsCaughtByReplay) {
  int64_t leaked = 500;
  const UsesExactRecords broken(leaked);
  World world = FullWorld();
  world.input.settings["rounds"] = "6";
  const Recorded recorded = FitLive(broken, world, 1).value();
  leaked = 37;  // the other table
  const auto replayed = FitFromTranscript(broken, world.input, recorded.transcript);
  EXPECT_TRUE(!replayed.ok() || *replayed != recorded.bytes);
}

}  // namespace
}  // namespace curator::dp
