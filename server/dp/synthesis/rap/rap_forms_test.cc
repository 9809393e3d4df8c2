// The forms of RAP beside the default one: single queries, thresholds, degenerate inputs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <thread>

#include "base/errors.h"
#include "base/executor.h"
#include "dp/accounting/rule.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/rap/cpu_projector.h"
#include "dp/synthesis/rap/rap.h"
#include "dp/synthesis/rap/rap_schedule.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/laws.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;
using Settings = std::map<std::string, std::string>;

// RAP with these settings, whatever is asked.
class RapFormed : public Rap {
 public:
  explicit RapFormed(Settings settings) : settings_(std::move(settings)) {}
  absl::StatusOr<SynthesisPlan> PlanWith(const SynthesisInput& input, Pacer& pacer) const override {
    return Rap::PlanWith(Formed(input), pacer);
  }
  absl::StatusOr<std::unique_ptr<SynthesisModel>> Fit(const SynthesisInput& input, PrivateQueries& kernel,
                                                      Pacer& pacer, const Progress& progress) const override {
    return Rap::Fit(Formed(input), kernel, pacer, progress);
  }

 private:
  SynthesisInput Formed(SynthesisInput input) const {
    input.settings = settings_;
    return input;
  }
  Settings settings_;
};

TEST(Rap, ObeysTheLawsInEveryForm) {
  for (const Settings& settings : std::vector<Settings>{
           {{"measure", "queries"}, {"steps", "10"}, {"rounds", "1"}, {"per_round", "1"}},
           {{"measure", "queries"}, {"at_least", "1"}, {"steps", "10"}, {"rounds", "1"}, {"per_round", "1"}},
           {{"relaxation", "sparsemax"}, {"steps", "10"}},
           {{"one_way_percent", "0"}, {"start", "cold"}, {"steps", "10"}}}) {
    const RapFormed rap(settings);
    for (const Law& law : SynthesizerLaws())
      EXPECT_THAT(law.check(rap), testing::IsEmpty())
          << law.name << " with " << testing::PrintToString(settings);
  }
}

World ZcdpWorld(World world, int64_t rho) {
  world.input.rule.kind = RuleKind::kZcdp;
  world.input.rule.epsilon = Epsilon(100'000 * kEpsilonUnitsPerOne);
  world.input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  world.input.spend = {.rho = Rho(rho * kRhoUnitsPerOne)};
  return world;
}

absl::StatusOr<std::unique_ptr<SynthesisModel>> FitOn(const World& world, std::stop_token stop = {},
                                                      const Progress& progress = NoProgress(),
                                                      Executor& executor = OnlyThisThread()) {
  const Rap rap;
  seeded::SeededBits bits(3);
  const auto plan = rap.Plan(world.input);
  if (!plan.ok()) return plan.status();
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(plan->draws), bits);
  kernel.UseExecutor(executor);
  Pacer pacer{std::move(stop)};
  return rap.Fit(world.input, kernel, pacer, progress);
}

// Of all thresholds of `set`, in shares.
double LargestThresholdError(const Domain& domain, const SynthesisModel& model, const Rows& rows,
                             const AttributeSet& set, int64_t at_least) {
  std::vector<double> truth(static_cast<size_t>(domain.CellCount(set).value()));
  for (const auto& row : rows) {
    size_t cell = 0;
    for (const uint32_t attribute : set)
      cell = cell * static_cast<size_t>(domain.attributes()[attribute].size()) + row[attribute];
    truth[cell] += 1 / static_cast<double>(rows.size());
  }
  truth = CountsAtLeast(domain, set, at_least, truth);
  const auto found = CountsAtLeast(domain, set, at_least, model.Marginal(set).value());
  double largest = 0;
  for (size_t i = 0; i < truth.size(); ++i)
    largest = std::max(largest, std::abs(found[i] / static_cast<double>(model.records()) - truth[i]));
  return largest;
}

// Records whose attributes follow each other, so that thresholds are not those of independent ones.
Rows DependentRows() {
  Rows rows;
  for (uint32_t i = 0; i < 400; ++i)
    rows.push_back({i % 2, i % 2, (i % 4) / 2 + i % 2, i % 2 == 0 ? 2U : 0U});
  return rows;
}

World Thresholds(const std::string& measure, int64_t at_least) {
  World world = ZcdpWorld(WorldOf({2, 3, 4, 3}, 3, DependentRows()), 1000);
  world.input.settings = {{"measure", measure}, {"steps", "600"}};
  if (measure == "queries") {
    world.input.settings["at_least"] = std::to_string(at_least);
    world.input.settings["rounds"] = "4";
    world.input.settings["per_round"] = "10";
    return world;
  }
  // As a request lists them: each threshold as its cells.
  std::vector<QueryGroup> listed;
  for (const QueryGroup& group : world.input.workload) {
    std::vector<LinearQuery> queries;
    for (int64_t cell = 0; cell < world.input.domain.CellCount(group.attributes).value(); ++cell)
      queries.push_back(ThresholdQuery(world.input.domain, group.attributes, at_least, cell));
    listed.push_back({.attributes = group.attributes, .queries = std::move(queries)});
  }
  world.input.workload = std::move(listed);
  return world;
}

TEST(Rap, AnswersThresholdsFromItsStoredModel) {
  for (const std::string measure : {"queries", "marginals"}) {
    for (const int64_t at_least : {1, 2}) {
      const World world = Thresholds(measure, at_least);
      const auto fitted = FitOn(world);
      ASSERT_TRUE(fitted.ok()) << fitted.status();
      const auto stored = Rap().Restore(world.input.domain, (*fitted)->Serialize()).value();
      for (const AttributeSet& set : SetsOf(world.input.workload)) {
        EXPECT_LT(LargestThresholdError(world.input.domain, *stored, DependentRows(), set, at_least), 0.05)
            << measure << " " << at_least;
      }
    }
  }
}

// The canary of the test above: what a model that knows nothing misses.
TEST(RapCanary, ThresholdsOfNoFitAreCaught) {
  World world = Thresholds("queries", 1);
  world.input.settings["steps"] = "4";
  world.input.settings["one_way_percent"] = "0";
  world.input.settings["rate"] = "0.000001";
  const auto model = FitOn(world).value();
  EXPECT_GT(LargestThresholdError(world.input.domain, *model, DependentRows(), {0, 1, 3}, 1), 0.1);
}

TEST(Rap, MeasuresThresholdsWhenCellsStandForThem) {
  World world = Thresholds("queries", 2);
  const auto plan = Rap().Plan(world.input).value();
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("40 times: choose the query")));
  EXPECT_EQ(plan.settings.at("at_least"), "2");
  // Each stands for the cells that share two of three values: more than the cell itself.
  const auto schedule = MakeRapSchedule(world.input).value();
  const SingleQueries& first = schedule.queries.front();
  EXPECT_EQ(first.at_least, 2);
  EXPECT_EQ(PolynomialOf(world.input.domain,
                         RelaxedLayout::Create(world.input.domain, schedule.attributes, 16).value(), first, 0)
                ->terms.size(),
            4U);
}

// A line of the plan or the transcript that begins so.
int LinesOf(const std::vector<std::string>& lines, const std::string& beginning) {
  return static_cast<int>(
      std::ranges::count_if(lines, [&](const std::string& line) { return line.rfind(beginning, 0) == 0; }));
}

// The paper's projection without adaptivity: T = 1 and K = m, and nothing is spent on choosing.
TEST(Rap, MeasuresEverySingleQueryOnceWithoutChoosingWhenItIsOneShot) {
  Rows rows(60, {0, 0, 0});
  rows.resize(100, {1, 2, 1});
  World world = ZcdpWorld(WorldOf({2, 3, 2}, 2, rows), 1000);
  for (const auto& [rounds, per_round] : std::vector<std::pair<int, int>>{{1, 16}, {4, 4}}) {
    world.input.settings = {{"measure", "queries"},
                            {"rounds", std::to_string(rounds)},
                            {"per_round", std::to_string(per_round)},
                            {"one_way_percent", "0"}};
    const auto plan = Rap().Plan(world.input).value();
    EXPECT_EQ(plan.draws.size(), 2U);  // the number of records, and sixteen counts
    EXPECT_EQ(plan.draws.back().count, 16);
    EXPECT_THAT(plan.schedule, testing::Each(testing::Not(HasSubstr("choose"))));
    const auto model = FitOn(world).value();
    EXPECT_EQ(LinesOf(model->Transcript(), "a query over"), 16);
    EXPECT_EQ(LinesOf(model->Transcript(), "fitted in"), rounds);
    EXPECT_NEAR(model->Marginal({0, 1}).value()[5], 40, 2);
  }
  world.input.settings["per_round"] = "3";
  EXPECT_EQ(Rap().Plan(world.input)->draws.size(), 3U);  // twelve of them have to be chosen
}

TEST(Rap, MeasuresNoMoreSingleQueriesThanThereAre) {
  World world = ZcdpWorld(WorldOf({2, 3}, 1, {{0, 0}, {1, 2}}), 1000);
  world.input.settings = {{"measure", "queries"}, {"rounds", "1"}, {"per_round", "6"}};
  EXPECT_EQ(FieldViolationOf(FitOn(world).status())->field, "settings.per_round");
  world.input.settings = {{"measure", "queries"}, {"rounds", "3"}};
  EXPECT_TRUE(FitOn(world).ok());  // 3 rounds of as many as there are for each: one
}

// The loss that each round's fit begins with, in the transcript.
std::vector<double> FirstLosses(const SynthesisModel& model) {
  std::vector<double> losses;
  for (const std::string& line : model.Transcript()) {
    if (const size_t from = line.find("from "); line.rfind("fitted in", 0) == 0)
      losses.push_back(std::stod(line.substr(from + 5)));
  }
  return losses;
}

TEST(Rap, GoesOnFromTheRowsOfTheLastRoundUnlessItStartsCold) {
  World world = ZcdpWorld(WorldOf({2, 3, 4, 3}, 2, DependentRows()), 10);
  world.input.settings = {{"rounds", "3"}, {"per_round", "1"}, {"steps", "300"}, {"one_way_percent", "0"}};
  const std::vector<double> warm = FirstLosses(**FitOn(world));
  world.input.settings["start"] = "cold";
  const std::vector<double> cold = FirstLosses(**FitOn(world));
  ASSERT_EQ(warm.size(), 3U);
  ASSERT_EQ(cold.size(), 3U);
  EXPECT_EQ(warm[0], cold[0]);
  EXPECT_LT(warm[1], cold[1]);
  EXPECT_LT(warm[2], cold[2]);
}

// A projector of somebody else's: what it gives back is the model.
class Elsewhere final : public Projector {
 public:
  Elsewhere(Executor& executor, int& calls) : processor_(executor), calls_(calls) {}
  absl::StatusOr<Projected> Project(const ProjectionProblem& problem, RelaxedRows start,
                                    const ProjectionRule& rule, Pacer& pacer,
                                    const Progress& progress) const override {
    if (++calls_ == 3) return absl::UnavailableError("the device is gone");
    return processor_.Project(problem, std::move(start), rule, pacer, progress);
  }

 private:
  CpuProjector processor_;
  int& calls_;
};

TEST(Rap, FitsWithTheProjectorThatItIsGiven) {
  World world = ZcdpWorld(WorldOf({2, 3, 4}, 2, {{0, 1, 2}, {1, 2, 3}}), 10);
  world.input.settings = {{"rounds", "2"}, {"per_round", "1"}, {"steps", "10"}};
  int calls = 0;
  const Rap rap([&](Executor& executor) { return std::make_unique<Elsewhere>(executor, calls); });
  const auto fit = [&] {
    seeded::SeededBits bits(3);
    Kernel kernel(world.table, world.input.domain, world.input.unit_bound,
                  Meter(rap.Plan(world.input)->draws), bits);
    Pacer pacer{std::stop_token()};
    return rap.Fit(world.input, kernel, pacer, NoProgress());
  };
  EXPECT_EQ((*fit())->Serialize(), (*FitOn(world))->Serialize());
  EXPECT_EQ(calls, 2);  // once in each round
  EXPECT_EQ(fit().status().code(), absl::StatusCode::kUnavailable);
}

TEST(Rap, StatesTheMemoryOfItsFit) {
  World world = ZcdpWorld(WorldOf({100, 100, 100}, 3, {}), 1);
  // 16 bytes for each of a million cells, 12 for each pair of the other two attributes' values, and 28 for
  // each of 256 x 300 shares.
  world.input.settings = {{"steps", "1000"}};
  EXPECT_THAT(Rap().Plan(world.input)->schedule, testing::Contains(HasSubstr("in at most 18 MiB of memory")));
  // With a shadow: 24, 24 and 48.
  world.input.settings = {};
  EXPECT_THAT(Rap().Plan(world.input)->schedule, testing::Contains(HasSubstr("in at most 27 MiB of memory")));
  world.input.settings = {{"measure", "queries"}, {"rows", "1000"}};
  EXPECT_THAT(Rap().Plan(world.input)->schedule,
              testing::Contains(HasSubstr("1000 steps, in at most 9 MiB of memory")));
}

TEST(Rap, RefusesMoreMarginalsThanAreLeft) {
  World world = ZcdpWorld(WorldOf({2, 3, 2}, 2, {{0, 0, 1}}), 1);
  world.input.settings = {{"rounds", "2"}, {"per_round", "2"}};
  EXPECT_EQ(FieldViolationOf(FitOn(world).status())->field, "settings.per_round");
  world.input.settings = {{"rounds", "4"}};
  EXPECT_EQ(FieldViolationOf(FitOn(world).status())->field, "settings.rounds");
  world.input.settings = {{"rounds", "3"}, {"per_round", "1"}};
  EXPECT_EQ(FitOn(world).status(), absl::OkStatus());
}

TEST(Rap, TakesOneAttributeAndAttributesOfOneValue) {
  for (const std::vector<int64_t>& sizes :
       std::vector<std::vector<int64_t>>{{1}, {5}, {1, 1, 1}, {1, 4, 1}}) {
    for (const std::string measure : {"marginals", "queries"}) {
      for (const std::string relaxation : {"softmax", "sparsemax"}) {
        const Rows rows(20, std::vector<uint32_t>(sizes.size(), 0));
        World world = ZcdpWorld(WorldOf(sizes, static_cast<int>(sizes.size()), rows), 1000);
        world.input.settings = {{"measure", measure}, {"relaxation", relaxation}, {"rate", "0.02"}};
        const auto model = FitOn(world).value();
        EXPECT_NEAR(model->Marginal(model->attributes()).value()[0], 20, 2) << measure << " " << relaxation;
      }
    }
  }
}

TEST(Rap, StatesTheMemoryOfChoosingAndRefusesTooMuchOfIt) {
  World world = ZcdpWorld(WorldOf({100, 100, 100, 3}, 3, {}), 1);
  world.input.settings = {{"measure", "queries"}, {"rounds", "2"}, {"per_round", "2"}};
  // One marginal of a million cells at a time, and the counts of the four that may be measured.
  EXPECT_THAT(
      Rap().Plan(world.input)->schedule,
      testing::Contains(HasSubstr("among 1090000 queries, one marginal's at a time, in at most 85 MiB")));
  world = ZcdpWorld(WorldOf({400, 400, 100}, 3, {}), 1);
  world.input.settings = {{"measure", "queries"}, {"at_least", "2"}};
  const absl::Status status = Rap().Plan(world.input).status();
  EXPECT_EQ(FieldViolationOf(status)->field, "workload");
  EXPECT_THAT(std::string(status.message()), HasSubstr("at most 1024"));
}

// Two threads, whoever is first.
class TwoThreads final : public Executor {
 public:
  void RunOnFreeCores(int most, const std::function<void(int)>& work) override {
    if (most < 2) return work(0);
    std::jthread other([&work] { work(1); });
    work(0);
  }
};

TEST(Rap, MakesTheSameModelOnAnyThreads) {
  TwoThreads two_threads;
  for (const Settings& settings : std::vector<Settings>{
           {{"steps", "20"}, {"rows", "300"}}, {{"measure", "queries"}, {"steps", "20"}, {"rows", "300"}}}) {
    World world = ZcdpWorld(WorldOf({4, 30, 3, 20}, 2, RandomRows({4, 30, 3, 20}, 200, 1)), 1);
    world.input.settings = settings;
    const std::string alone = (*FitOn(world))->Serialize();
    EXPECT_EQ((*FitOn(world, {}, NoProgress(), two_threads))->Serialize(), alone);
  }
}

TEST(Rap, MeasuresWhatHoldsEachPairOfAttributesAboutTwiceByItself) {
  const auto rounds_for = [](int attributes, int k) {
    const Domain domain = CodedDomain(std::vector<int64_t>(static_cast<size_t>(attributes), 2));
    const std::vector<AttributeSet> sets = AllKWayMarginals(domain, k, {}).value();
    return DefaultRounds(Union(sets), sets);
  };
  // Disjoint or nearly so: all at once.
  for (const auto& [attributes, k] :
       std::vector<std::pair<int, int>>{{1, 1}, {7, 1}, {8, 2}, {4, 3}, {5, 5}}) {
    EXPECT_EQ(rounds_for(attributes, k).rounds, 1) << attributes << " " << k;
    EXPECT_EQ(rounds_for(attributes, k).per_round,
              std::ssize(AllKWayMarginals(
                             CodedDomain(std::vector<int64_t>(static_cast<size_t>(attributes), 2)), k, {})
                             .value()));
  }
  // 120 triples of ten attributes hold each of 45 pairs eight times: 33 of them are worth their price.
  EXPECT_EQ(rounds_for(10, 3).rounds, 5);
  EXPECT_EQ(rounds_for(10, 3).per_round, 7);
  // 252 sets of five hold each pair 56 times: 10.
  EXPECT_EQ(rounds_for(10, 5).rounds, 5);
  EXPECT_EQ(rounds_for(10, 5).per_round, 2);
  // Where there is work for more, up to six times each pair.
  const Domain domain = CodedDomain(std::vector<int64_t>(10, 2));
  const std::vector<AttributeSet> triples = AllKWayMarginals(domain, 3, {}).value();
  EXPECT_EQ(DefaultRounds(Union(triples), triples, 50).per_round, 10);
  EXPECT_EQ(DefaultRounds(Union(triples), triples, 119).per_round, 18);
  EXPECT_EQ(DefaultRounds(Union(triples), triples, 120).rounds, 1);
  // Where noise leaves fewer legible, these are chosen.
  EXPECT_EQ(DefaultRounds(Union(triples), triples, 120, 64).rounds, 5);
  EXPECT_EQ(DefaultRounds(Union(triples), triples, 120, 64).per_round, 13);
}

TEST(Rap, TakesItsScheduleFromPublicFactsAlone) {
  World world = WorldOf(std::vector<int64_t>(10, 2), 3, {});
  // All 120, which have 960 cells together. Of 64,000 cells each there is work for few: 33 are worth their
  // price.
  EXPECT_EQ(Rap().Plan(world.input)->settings.at("rounds"), "1");
  EXPECT_EQ(Rap().Plan(world.input)->settings.at("per_round"), "120");
  World wide = WorldOf(std::vector<int64_t>(10, 40), 3, {});
  EXPECT_EQ(Rap().Plan(wide.input)->settings.at("rounds"), "5");
  EXPECT_EQ(Rap().Plan(wide.input)->settings.at("per_round"), "7");
  world.input.settings = {{"rounds", "3"}};
  EXPECT_EQ(Rap().Plan(world.input).value().settings.at("per_round"), "40");
}

TEST(Rap, StopsWhileItChoosesAndTellsHowFarItIs) {
  World world = ZcdpWorld(WorldOf({60, 60, 60, 3}, 3, RandomRows({60, 60, 60, 3}, 50, 1)), 1);
  world.input.settings = {{"measure", "queries"}, {"rounds", "1"}, {"per_round", "2"}, {"steps", "1"}};
  std::vector<double> told;
  ASSERT_TRUE(FitOn(world, {}, [&](double share) { told.push_back(share); }).ok());
  EXPECT_GT(std::ranges::count_if(told, [](double share) { return share < 0.25; }), 5);  // of choosing
  std::stop_source source;
  int heard = 0;
  const absl::Status stopped = FitOn(world, source.get_token(), [&](double) {
                                 if (++heard == 3) source.request_stop();
                               }).status();
  EXPECT_EQ(stopped.code(), absl::StatusCode::kCancelled);
  EXPECT_LT(heard, 10);  // that many are told before it is done choosing
}

}  // namespace
}  // namespace curator::dp
