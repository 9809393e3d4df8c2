#include "dp/synthesis/rap/rap.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/errors.h"
#include "base/executor.h"
#include "dp/accounting/rule.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/queries/testing/all_intervals.h"
#include "dp/synthesis/rap/product_list.h"
#include "dp/synthesis/rap/rap_candidates.h"
#include "dp/synthesis/rap/rap_schedule.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/laws.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::HasSubstr;

World ZcdpWorld(int64_t rho_units) {
  World world = FullWorld();
  world.input.rule.kind = RuleKind::kZcdp;
  world.input.rule.epsilon = Epsilon(100 * kEpsilonUnitsPerOne);
  world.input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  world.input.spend = {.rho = Rho(rho_units)};
  return world;
}

std::unique_ptr<SynthesisModel> FitOn(const World& world) {
  const Rap rap;
  seeded::SeededBits bits(3);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound,
                Meter(rap.Plan(world.input).value().draws), bits);
  Pacer pacer{std::stop_token()};
  return rap.Fit(world.input, kernel, pacer, NoProgress()).value();
}

double MeanError(const World& world, const SynthesisModel& model, const Rows& rows) {
  double sum = 0;
  for (const QueryGroup& group : world.input.workload) {
    const std::vector<double> cells = model.Marginal(group.attributes).value();
    std::vector<double> truth(cells.size());
    for (const auto& row : rows) {
      size_t cell = 0;
      for (const uint32_t attribute : group.attributes) {
        cell = cell * static_cast<size_t>(world.input.domain.attributes()[attribute].size()) + row[attribute];
      }
      truth[cell] += 1;
    }
    for (size_t i = 0; i < cells.size(); ++i)
      sum += std::abs(cells[i] / static_cast<double>(model.records()) -
                      truth[i] / static_cast<double>(rows.size()));
  }
  return sum / static_cast<double>(world.input.workload.size());
}

TEST(Rap, FindsTheMarginalsWhenNoiseIsSmall) {
  for (const std::string relaxation : {"softmax", "sparsemax"}) {
    World world = ZcdpWorld(int64_t{1000} * kRhoUnitsPerOne);
    world.input.settings = {{"relaxation", relaxation}, {"rate", relaxation == "softmax" ? "0.1" : "0.01"}};
    const auto model = FitOn(world);
    EXPECT_LT(MeanError(world, *model, RandomRows({2, 3, 4, 3}, 500, 1)), 0.03) << relaxation;
    EXPECT_EQ(model->records(), 500);
  }
}

TEST(Rap, ChoosesWhatItMeasuresWhenNotAllIsMeasured) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.settings = {{"rounds", "2"}, {"per_round", "2"}};
  const auto plan = Rap().Plan(world.input).value();
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("4 times: choose the marginal")));
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("4 times: the counts of one marginal")));
  const auto model = FitOn(world);
  int measured = 0;
  for (const std::string& line : model->Transcript()) measured += line.rfind("counts of", 0) == 0 ? 1 : 0;
  EXPECT_EQ(measured, 4 + 4);  // each attribute, then the chosen ones
}

// Asks for the first family a hundred times, as a selection may that 63 bits do not decide, and gives up.
class AskingAgain : public RecordingQueries {
 public:
  using RecordingQueries::RecordingQueries;
  absl::StatusOr<std::vector<FamilyChoice>> SelectWorstCandidates(const FamilyStream& stream, int64_t,
                                                                  Epsilon) override {
    for (int i = 0; i < 100; ++i) EXPECT_TRUE(stream.Family(0).ok());
    return absl::CancelledError("enough");
  }
};

TEST(Rap, ProgressDoesNotDependOnHowOftenAFamilyIsAskedFor) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.settings = {{"rounds", "2"}, {"per_round", "2"}};
  const Rap rap;
  seeded::SeededBits bits(3);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound,
                Meter(rap.Plan(world.input).value().draws), bits);
  Transcript transcript;
  AskingAgain asking(kernel, transcript);
  Pacer pacer{std::stop_token()};
  double reached = 0;
  const auto given_up = rap.Fit(world.input, asking, pacer, [&](double share) { reached = share; });
  EXPECT_EQ(given_up.status().code(), absl::StatusCode::kCancelled);
  EXPECT_GT(reached, 0);
  EXPECT_LE(reached, 0.125 / 6) << "one of the six families of the first eighth was asked for";
}

TEST(Rap, MeasuresEveryMarginalOnceWhenItIsOneShot) {
  const auto plan = Rap().Plan(ZcdpWorld(kRhoUnitsPerOne).input).value();
  for (const std::string& line : plan.schedule) EXPECT_THAT(line, testing::Not(HasSubstr("choose")));
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("6 times: the counts of one marginal")));
}

TEST(Rap, MeasuresSingleQueriesAsInThePaper) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  // Whole marginals, whose cells are queries; a 1-of-2 threshold; and ranges.
  world.input.workload.push_back(
      {.attributes = {1, 2}, .queries = std::vector<LinearQuery>{{{0}, {1}, {2}, {3}, {4}, {8}}}});
  world.input.workload.push_back({.attributes = {2}, .queries = AllIntervals(4)});
  world.input.settings = {{"measure", "queries"}, {"relaxation", "sparsemax"},
                          {"rate", "0.01"},       {"one_way_percent", "0"},
                          {"rounds", "4"},        {"per_round", "3"}};
  const auto plan = Rap().Plan(world.input).value();
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("12 times: choose the query")));
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("12 times: the counts of one query")));
  // 53 cells of all pairs, one threshold, ten ranges.
  EXPECT_THAT(plan.schedule,
              testing::Contains(HasSubstr("among 64 queries, one marginal's at a time, in at most 1 MiB")));
  EXPECT_FALSE(plan.linear.has_value());
  const auto model = FitOn(world);
  int measured = 0;
  for (const std::string& line : model->Transcript()) measured += line.rfind("a query over", 0) == 0 ? 1 : 0;
  EXPECT_EQ(measured, 12);
}

// Under noise as large as the records, the fewest steps are worth taking: 40, or 30 in all rounds together.
TEST(Rap, TakesFewStepsWhereNoiseIsLargeUnlessMoreAreAskedFor) {
  const auto fits_with = [](std::map<std::string, std::string> settings) {
    World world = ZcdpWorld(kRhoUnitsPerOne / 100'000);
    world.input.settings = std::move(settings);
    world.input.settings["fit"] = "0";
    std::vector<std::string> fits;
    for (const std::string& line : FitOn(world)->Transcript()) {
      if (line.rfind("fitted in ", 0) == 0) fits.push_back(line.substr(10, line.find(':') - 10));
    }
    return fits;
  };
  EXPECT_THAT(fits_with({}), testing::ElementsAre("40 steps"));
  EXPECT_THAT(fits_with({{"rounds", "2"}, {"per_round", "1"}}), testing::ElementsAre("15 steps", "15 steps"));
  EXPECT_THAT(fits_with({{"steps", "50"}}), testing::ElementsAre("50 steps"));
}

TEST(Rap, TakesExactlyTheStepsThatAreAskedForInAllRounds) {
  World world = ZcdpWorld(kRhoUnitsPerOne / 100'000);
  world.input.settings = {{"rounds", "3"}, {"per_round", "1"}, {"fit", "0"}, {"steps", "8"}};
  std::vector<std::string> fits;
  for (const std::string& line : FitOn(world)->Transcript()) {
    if (line.rfind("fitted in ", 0) == 0) fits.push_back(line.substr(0, line.find(':')));
  }
  EXPECT_THAT(fits, testing::ElementsAre("fitted in 3 steps", "fitted in 3 steps", "fitted in 2 steps"));
  world.input.settings["steps"] = "2";
  const absl::Status too_few = Rap().Plan(world.input).status();
  ASSERT_TRUE(FieldViolationOf(too_few)) << too_few;
  EXPECT_EQ(FieldViolationOf(too_few)->field, "settings.steps");
  EXPECT_THAT(std::string(too_few.message()), HasSubstr("each round takes at least one step"));
}

TEST(Rap, StatesMoreStepsWhereThereAreManyRounds) {
  World world = WorldOf({300}, 1, {});
  world.input.settings = {{"measure", "queries"}, {"rounds", "290"}, {"per_round", "1"}};
  const RapSchedule schedule = MakeRapSchedule(world.input).value();
  EXPECT_EQ(schedule.settings.steps, 290 * kLeastStepsOfARound);
  EXPECT_EQ(MostStepsOf(schedule.settings, 0), kLeastStepsOfARound);
}

TEST(Rap, HasMoreRowsThatStartCloserWhereThereAreManyAttributes) {
  const auto settings = [](size_t attributes) {
    return MakeRapSchedule(WorldOf(std::vector<int64_t>(attributes, 2), 2, {}).input).value().settings;
  };
  EXPECT_EQ(settings(64).rows, 256);
  EXPECT_EQ(settings(64).spread, 3);
  EXPECT_EQ(settings(65).rows, 1024);
  EXPECT_EQ(settings(65).spread, 0.5);
}

TEST(Rap, RefusesToMeasureQueriesThatCostDifferently) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.workload.push_back({.attributes = {0}, .queries = std::vector<LinearQuery>{{{0, 1}, {1, -1}}}});
  world.input.settings = {{"measure", "queries"}};
  EXPECT_THAT(std::string(Rap().Plan(world.input).status().message()), HasSubstr("weights are 1"));
}

TEST(Rap, RefusesWhatWouldFailAfterTheCharge) {
  World world = WorldOf(std::vector<int64_t>(17, 2), 17, {});
  EXPECT_THAT(std::string(Rap().Plan(world.input).status().message()), HasSubstr("at most 16"));
  std::vector<int64_t> sizes(450, 2);  // 101,025 pairs
  world = WorldOf({2, 2}, 1, {});
  world.input.domain = CodedDomain(sizes);
  world.input.workload.clear();
  for (uint32_t a = 0; a < 450; ++a) {
    for (uint32_t b = a + 1; b < 450; ++b) world.input.workload.push_back({{a, b}, EveryCell()});
  }
  EXPECT_EQ(Rap().Plan(world.input).status().code(), absl::StatusCode::kInvalidArgument);
}

// A fit to single cells has short blocks; those that answer are longer, and filled up further.
TEST(Rap, RefusesRowsThatDoNotFitTheLayoutOfItsAnswers) {
  World world = WorldOf({150'000}, 1, {});
  world.input.settings = {{"rows", "400"}, {"measure", "queries"}};
  const absl::Status status = Rap().Plan(world.input).status();  // 512 rows
  ASSERT_TRUE(FieldViolationOf(status)) << status;
  EXPECT_EQ(FieldViolationOf(status)->field, "settings.rows");
  world.input.settings["rows"] = "384";
  const auto schedule = MakeRapSchedule(world.input).value();
  EXPECT_EQ(LayoutFor(world.input.domain, schedule)->block_rows(), kCellBlockRows);
  EXPECT_EQ(AnsweringLayoutFor(world.input.domain, schedule)->block_rows(), kMarginalBlockRows);
}

TEST(Rap, RefusesABudgetWhoseNoiseNoSelectionTakes) {
  World world = WorldOf({3000, 3000, 3000}, 2, {});
  world.input.settings = {{"rounds", "1"}, {"per_round", "1"}, {"selection_percent", "99"}};
  world.input.spend = {.epsilon = Epsilon(120'000)};
  const absl::Status status = Rap().Plan(world.input).status();
  ASSERT_TRUE(FieldViolationOf(status)) << status;
  EXPECT_EQ(FieldViolationOf(status)->field, "spend.epsilon");
  EXPECT_THAT(std::string(status.message()), HasSubstr("2^50"));
  world.input.spend = {.epsilon = Epsilon(10'000'000)};
  EXPECT_EQ(Rap().Plan(world.input).status(), absl::OkStatus());
}

TEST(Rap, RefusesAThresholdWhereWholeMarginalsAreMeasured) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.settings = {{"at_least", "2"}};
  const absl::Status status = Rap().Plan(world.input).status();
  ASSERT_TRUE(FieldViolationOf(status)) << status;
  EXPECT_EQ(FieldViolationOf(status)->field, "settings.at_least");
}

TEST(Rap, RefusesQueriesThatCountMoreCellsThanItCanFit) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.domain = CodedDomain({1 << 16});
  Boxes wide;
  for (uint32_t i = 0; i < 100; ++i) wide.sides.push_back({0, (1U << 16) - 1 - i});
  world.input.workload = {{.attributes = {0}, .queries = wide}};
  world.input.settings = {{"measure", "queries"}};
  EXPECT_EQ(FieldViolationOf(Rap().Plan(world.input).status())->field, "settings.per_round");
  world.input.settings["per_round"] = "1";
  EXPECT_TRUE(Rap().Plan(world.input).ok());
}

TEST(Rap, CountsTheMemoryOfChoosingAndFittingTogether) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.domain = CodedDomain({1 << 16, 1 << 11, 1 << 12});
  Boxes wide;
  for (uint32_t i = 0; i < 64; ++i) wide.sides.push_back({0, (1U << 16) - 1 - i});
  const QueryGroup many{{1, 2}, EveryCell{}};
  const QueryGroup large{{0}, wide};
  const auto plan = [&](std::vector<QueryGroup> workload) {
    world.input.workload = std::move(workload);
    world.input.settings = {{"measure", "queries"}, {"rounds", "1"}, {"per_round", "64"}};
    return Rap().Plan(world.input).status();
  };
  EXPECT_EQ(plan({many}), absl::OkStatus());
  EXPECT_EQ(plan({large}), absl::OkStatus());
  const absl::Status together = plan({many, large});
  ASSERT_TRUE(FieldViolationOf(together)) << together;
  EXPECT_EQ(FieldViolationOf(together)->field, "settings.per_round");
  EXPECT_THAT(std::string(together.message()), HasSubstr("MiB of memory"));
}

// As many products of one column fit into the memory that those of sixteen exceed.
TEST(Rap, CountsTheMemoryOfEachColumnOfATerm) {
  World world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.settings = {{"measure", "queries"}, {"rounds", "1"}, {"per_round", "64"}};
  const auto plan = [&](const std::vector<int64_t>& sizes, const std::vector<CodeInterval>& box) {
    world.input.domain = CodedDomain(sizes);
    AttributeSet all;
    Boxes boxes;
    for (size_t i = 0; i < sizes.size(); ++i) all.push_back(static_cast<uint32_t>(i));
    for (int i = 0; i < 64; ++i) boxes.sides.insert(boxes.sides.end(), box.begin(), box.end());
    world.input.workload = {{.attributes = all, .queries = std::move(boxes)}};
    return Rap().Plan(world.input).status();
  };
  EXPECT_EQ(plan({1 << 16}, {{0, (1 << 16) - 1}}), absl::OkStatus());
  const absl::Status wide = plan(std::vector<int64_t>(16, 2), std::vector<CodeInterval>(16, {0, 1}));
  ASSERT_TRUE(FieldViolationOf(wide)) << wide;
  EXPECT_EQ(FieldViolationOf(wide)->field, "settings.per_round");
  // 2^22 terms of 40 and 80 bytes, 192 for their columns in order and once more, and 24 beside.
  EXPECT_THAT(std::string(wide.message()), HasSubstr("takes 13"));
  EXPECT_GE(FittingBytesOfATerm(16), 40 + 80 + 192 + 24);
}

TEST(MostTerms, CountsWhatThresholdsBecome) {
  const Domain domain = CodedDomain(std::vector<int64_t>(16, 2));
  AttributeSet all;
  for (uint32_t i = 0; i < 16; ++i) all.push_back(i);
  const auto of = [&](int64_t at_least) {
    const SingleQueries queries{.group = {.attributes = all, .queries = EveryCell()}, .at_least = at_least};
    return MostTerms(domain, std::span(&queries, 1), 3);
  };
  EXPECT_EQ(of(1).terms, 3);
  EXPECT_EQ(of(16).bytes, 3 * FittingBytesOfATerm(16));
  for (const size_t at_least : {2, 9, 15}) {
    std::vector<uint32_t> columns;
    for (uint32_t i = 0; i < 16; ++i) columns.push_back(2 * i);
    const PolynomialAnswer query = AtLeast(at_least, columns);
    int64_t bytes = 0;
    for (const ProductTerm& term : query.terms) bytes += FittingBytesOfATerm(term.columns.size());
    EXPECT_EQ(of(static_cast<int64_t>(at_least)).terms, 3 * std::ssize(query.terms));
    EXPECT_EQ(of(static_cast<int64_t>(at_least)).bytes, 3 * bytes);
  }
}

// Beside the remembered counts of a marginal, a query's sensitivity is found from tables of all its cells.
TEST(SelectionBytes, CountsTheTablesThatSensitivityIsFoundFrom) {
  const Domain domain = CodedDomain({1 << 20});
  const auto of = [&](QueryGroup group, int64_t at_least) {
    const SingleQueries queries{.group = std::move(group), .at_least = at_least};
    return SelectionBytes(domain, std::span(&queries, 1), 1);
  };
  const auto cells = int64_t{1} << 20;
  EXPECT_GE(of({{0}, Boxes{{{0, 7}}}}, 0), (8 + 32) * cells);
  EXPECT_GE(of({{0}, std::vector<LinearQuery>{{{3}}}}, 0), (8 + 32) * cells);
  EXPECT_GE(of({{0}, Boxes{{{0, (1 << 20) - 1}}}}, 0), (8 + 32 + 8) * cells);  // its cells are listed, too
}

TEST(Rap, SpendsNearlyAllThatItIsOffered) {
  for (const auto& settings : std::vector<std::map<std::string, std::string>>{
           {}, {{"rounds", "2"}, {"per_round", "2"}}, {{"one_way_percent", "0"}}, {{"measure", "queries"}}}) {
    World world = ZcdpWorld(kRhoUnitsPerOne / 100);
    world.input.settings = settings;
    const auto plan = Rap().Plan(world.input).value();
    const int64_t cost = CostOf(world.input.rule, plan.event).value()[0].amount;
    EXPECT_LE(cost, kRhoUnitsPerOne / 100);
    EXPECT_GE(cost, kRhoUnitsPerOne / 100 / 1000 * 999);
  }
}

// An (epsilon, delta) budget of an ADVANCED account, and what it buys under either conversion.
TEST(Rap, BuysLessUnderThePapersConversionAndIsNeverChargedMore) {
  World world = FullWorld();
  world.input.rule.kind = RuleKind::kAdvanced;
  world.input.rule.epsilon = Epsilon(10 * kEpsilonUnitsPerOne);
  world.input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000);
  world.input.spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne),
                       .delta = Delta(kDeltaUnitsPerOne / 1'000'000'000)};
  const auto cost_with = [&](const std::string& conversion) {
    world.input.settings = {{"conversion", conversion}};
    RuleSpec zcdp = world.input.rule;
    zcdp.kind = RuleKind::kZcdp;
    return CostOf(zcdp, {ComposedEvent{Rap().Plan(world.input).value().draws}}).value()[0].amount;
  };
  // rho + 2 sqrt(rho ln(1e9)) = 1 at rho = 0.01178.
  EXPECT_NEAR(static_cast<double>(cost_with("loose")), 0.01178e12, 0.0001e12);
  EXPECT_LT(cost_with("loose"), cost_with("tight"));
  world = ZcdpWorld(kRhoUnitsPerOne);
  world.input.settings = {{"conversion", "loose"}};
  EXPECT_EQ(Rap().Plan(world.input).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST(Rap, NamesTheSettingThatIsWrong) {
  for (const auto& [key, value] : std::map<std::string, std::string>{{"rounds", "0"},
                                                                     {"per_round", "7"},
                                                                     {"rows", "many"},
                                                                     {"relaxation", "hardmax"},
                                                                     {"start", "hot"},
                                                                     {"nonsense", "1"}}) {
    World world = FullWorld();
    world.input.settings = {{key, value}};
    const absl::Status status = Rap().Plan(world.input).status();
    EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
    EXPECT_THAT(std::string(status.message()), HasSubstr(key));
  }
}

TEST(Rap, RefusesABudgetThatCannotBeSplit) {
  World world = ZcdpWorld(3);
  EXPECT_THAT(std::string(Rap().Plan(world.input).status().message()), HasSubstr("too small"));
}

}  // namespace
}  // namespace curator::dp
