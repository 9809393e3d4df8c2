#include "dp/synthesis/dpsyn/dpsyn.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "dp/accounting/rule.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/dpsyn/testing/views.h"
#include "dp/synthesis/dpsyn/view_choice.h"
#include "dp/synthesis/dpsyn/view_schedule.h"
#include "dp/synthesis/dpsyn/views_model.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/pacer_probe.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

SynthesisInput InputFor(const std::vector<int64_t>& sizes, int k, int64_t epsilon) {
  const Domain domain = CodedDomain(sizes);
  RuleSpec rule;
  rule.kind = RuleKind::kPure;
  rule.epsilon = Epsilon(1000 * kEpsilonUnitsPerOne);
  return {.domain = domain,
          .unit_bound = {},
          .rule = rule,
          .spend = {.epsilon = Epsilon(epsilon * kEpsilonUnitsPerOne)},
          .workload = WholeMarginals(AllKWayMarginals(domain, k, {}).value())};
}

std::unique_ptr<SynthesisModel> Fit(const Synthesizer& method, const SynthesisInput& input,
                                    const TestRows& rows, uint64_t seed = 1) {
  seeded::SeededBits bits(seed);
  Kernel kernel(SealRows(input.domain, rows).value(), input.domain, input.unit_bound,
                Meter(method.Plan(input).value().draws), bits);
  Pacer pacer{std::stop_token()};
  return method.Fit(input, kernel, pacer, NoProgress()).value();
}

// The mean over the workload of the L1 distance between shares.
double Distance(const SynthesisModel& model, const SynthesisInput& input, const TestRows& rows) {
  double sum = 0;
  for (const QueryGroup& group : input.workload) {
    const std::vector<double> truth = CountedView(input.domain, group.attributes, rows).cells;
    const std::vector<double> cells = model.Marginal(group.attributes).value();
    for (size_t i = 0; i < cells.size(); ++i)
      sum += std::abs(cells[i] / static_cast<double>(model.records()) -
                      truth[i] / static_cast<double>(rows.size()));
  }
  return sum / static_cast<double>(input.workload.size());
}

const std::vector<int64_t> kSizes = {2, 4, 3, 6, 2, 5};

TEST(Dpsyn, RecordsAreAboutAsCloseAsTheViewsAreByEitherWay) {
  const TestRows rows = ChainedRows(kSizes, 5000, 1);
  SynthesisInput input = InputFor(kSizes, 2, 5);
  const double views = Distance(*Fit(Priview(), input, rows), input, rows);
  EXPECT_LT(views, 0.05);
  const double flow = Distance(*Fit(Dpsyn(), input, rows), input, rows);
  EXPECT_LT(flow, views + 0.02);
  input.settings = {{"records", "sts"}};
  EXPECT_LT(Distance(*Fit(Dpsyn(), input, rows), input, rows), 0.5);
}

TEST(Dpsyn, PassesOfFlowBringRecordsCloserThanTheyWereDrawn) {
  const TestRows rows = ChainedRows(kSizes, 5000, 1);
  SynthesisInput input = InputFor(kSizes, 2, 50);
  input.settings = {{"views", "a0,a1;a1,a2;a2,a3;a3,a4;a4,a5;a0,a5;a1,a4;a0,a3"}};
  const double matched = Distance(*Fit(Dpsyn(), input, rows), input, rows);
  input.settings["passes"] = "0";
  EXPECT_LT(matched, 0.8 * Distance(*Fit(Dpsyn(), input, rows), input, rows));
}

TEST(Dpsyn, ASampleOfAllRecordsHasTheModelsMarginals) {
  const TestRows rows = ChainedRows(kSizes, 1000, 1);
  const SynthesisInput input = InputFor(kSizes, 2, 5);
  const auto model = Fit(Dpsyn(), input, rows);
  seeded::SeededBits bits(3);
  TestRows sample;
  ASSERT_TRUE(model
                  ->Sample(bits, model->records(),
                           [&](std::span<const uint32_t> codes) {
                             sample.emplace_back(codes.begin(), codes.end());
                             return absl::OkStatus();
                           })
                  .ok());
  EXPECT_THAT(CountedView(input.domain, {0, 3}, sample).cells,
              testing::Pointwise(testing::DoubleNear(1e-6), model->Marginal({0, 3}).value()));
}

// Rows that were drawn from one view after another were 5 to 170 times as far from the truth on NLTCS. What
// the flow leaves is below the noise of this budget.
TEST(Priview, RowsAreAboutAsCloseAsItsAnswers) {
  const std::vector<int64_t> sizes(12, 2);
  const TestRows rows = ChainedRows(sizes, 5000, 1);
  SynthesisInput input = InputFor(sizes, 3, 1);
  const auto model = Fit(Priview(), input, rows);
  seeded::SeededBits bits(3);
  TestRows sample;
  ASSERT_TRUE(model
                  ->Sample(bits, model->records(),
                           [&](std::span<const uint32_t> codes) {
                             sample.emplace_back(codes.begin(), codes.end());
                             return absl::OkStatus();
                           })
                  .ok());
  double of_rows = 0;
  for (const QueryGroup& group : input.workload) {
    const std::vector<double> truth = CountedView(input.domain, group.attributes, rows).cells;
    const std::vector<double> cells = CountedView(input.domain, group.attributes, sample).cells;
    for (size_t i = 0; i < cells.size(); ++i)
      of_rows += std::abs(cells[i] / static_cast<double>(sample.size()) -
                          truth[i] / static_cast<double>(rows.size()));
  }
  of_rows /= static_cast<double>(input.workload.size());
  EXPECT_LT(of_rows, 1.1 * Distance(*model, input, rows)) << of_rows;
}

// What (epsilon, 1e-9) allows under zCDP.
SynthesisInput ZcdpInput(const std::vector<int64_t>& sizes, int k, int64_t tenths_of_epsilon) {
  SynthesisInput input = InputFor(sizes, k, 1);
  input.rule = {.kind = RuleKind::kZcdp,
                .epsilon = Epsilon(tenths_of_epsilon * kEpsilonUnitsPerOne / 10),
                .delta = Delta(kDeltaUnitsPerOne / 1'000'000'000)};
  input.spend = {.rho = Rho(LimitsOf(input.rule).value()[0].amount)};
  return input;
}

// With 5% of the budget for single attributes, and the rest for a design of all 5,995 pairs whatever the
// budget, pairs were answered worse than by single attributes alone.
TEST(Dpsyn, IsNoWorseThanSingleAttributesWhereThereAreManyOfThem) {
  const std::vector<int64_t> sizes(110, 2);
  SynthesisInput input = ZcdpInput(sizes, 2, 10);
  const TestRows rows = ChainedRows(sizes, 4000, 1);
  input.assume_records = 4000;
  const double by_default = Distance(*Fit(Dpsyn(), input, rows), input, rows);
  input.settings = {{"views", "singles"}};
  EXPECT_LE(by_default, Distance(*Fit(Priview(), input, rows), input, rows));
}

TEST(Dpsyn, AnswersFromViewsWhereThereAreManyAttributes) {
  const auto answers = [](size_t attributes, bool is_of_version_1) {
    SynthesisInput input = ZcdpInput(std::vector<int64_t>(attributes, 2), 2, 10);
    input.is_of_version_1 = is_of_version_1;
    return Dpsyn().Plan(input).value().settings.at("answers");
  };
  EXPECT_EQ(answers(64, false), "records");
  EXPECT_EQ(answers(65, false), "views");
  EXPECT_EQ(answers(65, true), "records");
}

TEST(ViewSchedule, MeasuresADesignOnlyWhereNoiseLeavesItsPairsLegible) {
  const std::vector<int64_t> sizes = {85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2};
  const auto settings = [&](int64_t tenths_of_epsilon) {
    SynthesisInput input = ZcdpInput(sizes, 2, tenths_of_epsilon);
    return Dpsyn().Plan(input).value().settings;
  };
  const auto little = settings(1);
  const auto more = settings(10);
  EXPECT_EQ(little.at("views"), "selected");
  EXPECT_EQ(more.at("views"), "selected");
  EXPECT_LT(std::stoi(little.at("selections")), std::stoi(more.at("selections")));
  EXPECT_GT(std::stoi(little.at("single_percent")), std::stoi(more.at("single_percent")));
  EXPECT_EQ(settings(100).at("views"), "design");
}

TEST(ViewSchedule, MeasuresSingleAttributesAloneWhereNoPairCouldBeRead) {
  SynthesisInput input = ZcdpInput(kSizes, 2, 1);
  input.assume_records = 10;
  const SynthesisPlan plan = Dpsyn().Plan(input).value();
  EXPECT_EQ(plan.settings.at("views"), "singles");
  EXPECT_EQ(plan.draws.size(), 2);
  input.settings = {{"views", "design"}};
  EXPECT_EQ(Dpsyn().Plan(input).value().settings.at("views"), "design") << "as the request says";
}

TEST(ViewSchedule, OfARequestOfVersion1HasTheDefaultsOfVersion1) {
  const std::vector<int64_t> sizes = {85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2};
  SynthesisInput input = ZcdpInput(sizes, 2, 1);
  input.is_of_version_1 = true;
  const auto design = Dpsyn().Plan(input).value().settings;
  EXPECT_EQ(design.at("views"), "design");
  EXPECT_EQ(design.at("single_percent"), "30");
  EXPECT_EQ(design.at("selections"), "28");
  EXPECT_FALSE(Priview().Plan(input).value().settings.contains("max_records"));
  input.settings = {{"views", "selected"}};
  const auto selected = Dpsyn().Plan(input).value().settings;
  EXPECT_EQ(selected.at("single_percent"), "30");
  EXPECT_EQ(selected.at("selections"), "28");
  SynthesisInput guessed = ZcdpInput({2, 2, 2, 2, 2, 2, 2, 2}, 3, 10);
  guessed.is_of_version_1 = true;
  const auto guess = Dpsyn().Plan(guessed).value().schedule;
  guessed.assume_records = 10'000;
  EXPECT_EQ(Dpsyn().Plan(guessed).value().schedule, guess);
}

TEST(Priview, EstimatesItsOwnNoise) {
  const TestRows rows = ChainedRows(kSizes, 5000, 1);
  SynthesisInput input = InputFor(kSizes, 2, 1);
  input.settings = {{"estimator", "ripple"}};
  const AttributeSet set = {1, 3};
  const std::vector<double> truth = CountedView(input.domain, set, rows).cells;
  double squares = 0;
  double forecast = 0;
  for (uint64_t seed = 1; seed <= 20; ++seed) {
    const auto model = Fit(Priview(), input, rows, seed);
    const std::vector<double> cells = model->Marginal(set).value();
    for (size_t i = 0; i < cells.size(); ++i) squares += (cells[i] - truth[i]) * (cells[i] - truth[i]) / 20;
    forecast = model->CellNoise(set).value().value();
  }
  const double observed = std::sqrt(squares / static_cast<double>(truth.size()));
  EXPECT_LT(observed, 1.3 * forecast);
  EXPECT_GT(observed, 0.2 * forecast);
}

TEST(ViewSchedule, SelectsPairsThatDependOnEachOther) {
  const TestRows rows = ChainedRows(kSizes, 5000, 1);
  SynthesisInput input = InputFor(kSizes, 2, 5);
  input.settings = {{"views", "selected"}, {"selections", "5"}};
  const std::vector<std::string> transcript = Fit(Priview(), input, rows)->Transcript();
  int neighbours = 0;
  for (const std::string& line : transcript) {
    for (const char* const pair : {"a0, a1,", "a1, a2,", "a2, a3,", "a3, a4,", "a4, a5,"})
      neighbours += line.find(pair) != std::string::npos ? 1 : 0;
  }
  EXPECT_GE(neighbours, 3);
}

TEST(ViewSchedule, SplitsForTheLeastSquaredErrorOverViewsOfDifferentSizes) {
  const std::vector<int64_t> cells = {4, 64, 1024};
  for (const bool pure : {false, true}) {
    const ViewBudget budget{.pure = pure, .amount = 1};
    const auto error = [&](const std::vector<double>& shares) {
      double sum = 0;
      for (size_t i = 0; i < cells.size(); ++i)
        sum += static_cast<double>(cells[i]) * NoiseVariance(budget, shares[i]);
      return sum;
    };
    const std::vector<double> best = BudgetShares(cells, BudgetSplit::kSquaredError, pure);
    EXPECT_LT(error(best), error(BudgetShares(cells, BudgetSplit::kEqual, pure)));
    for (size_t from = 0; from < 3; ++from) {
      std::vector<double> other = best;
      other[from] -= 0.01;
      other[(from + 1) % 3] += 0.01;
      EXPECT_GE(error(other), error(best));
    }
  }
}

// Paid with (epsilon, delta) under ADVANCED.
SynthesisInput PromisedInput() {
  SynthesisInput input = InputFor(kSizes, 2, 1);
  input.rule = {.kind = RuleKind::kAdvanced,
                .epsilon = Epsilon(10 * kEpsilonUnitsPerOne),
                .delta = Delta(kDeltaUnitsPerOne / 1'000'000)};
  input.spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne), .delta = Delta(kDeltaUnitsPerOne / 1'000'000'000)};
  return input;
}

// A version whose certificates were larger may have had to buy more noise.
TEST(ViewSchedule, ARepeatedRequestKeepsTheNoiseAndTheCertificateThatWereCharged) {
  SynthesisInput input = PromisedInput();
  const auto budget = std::get<ZcdpBudget>(BudgetOf(input.rule, input.spend).value());
  SynthesisInput zcdp = input;
  zcdp.rule.kind = RuleKind::kZcdp;
  zcdp.spend = {.rho = budget.rho};
  const std::vector<CountedEvent> draws = Dpsyn().Plan(zcdp).value().draws;
  ASSERT_NE(Dpsyn().Plan(input).value().draws, draws) << "a new request buys less noise";

  input.charged =
      Event{CertifiedEvent{{{ComposedEvent{draws}}}, Epsilon(999'000'000'001), *input.spend.delta}};
  const SynthesisPlan again = Dpsyn().Plan(input).value();
  EXPECT_EQ(again.draws, draws);
  EXPECT_EQ(again.event, *input.charged);
}

ViewSchedule ScheduleFor(const SynthesisInput& input) {
  Pacer pacer{std::stop_token()};
  SettingsReader reader(ViewSettingsTable(), input.settings);
  return MakeViewSchedule(input, reader, pacer).value();
}

// The rho that zCDP allows for the same promise.
SynthesisInput UnderZcdp(SynthesisInput input) {
  const auto budget = std::get<ZcdpBudget>(BudgetOf(input.rule, input.spend).value());
  input.rule.kind = RuleKind::kZcdp;
  input.spend = {.rho = budget.rho};
  return input;
}

TEST(ViewSchedule, NumericalCompositionBuysLessNoiseThanZcdpForThePromise) {
  const ViewSchedule promised = ScheduleFor(PromisedInput());
  const ViewSchedule zcdp = ScheduleFor(UnderZcdp(PromisedInput()));
  ASSERT_EQ(promised.groups.size(), zcdp.groups.size());
  EXPECT_LT(ForecastError(promised.groups.back().noise).standard_deviation,
            0.98 * ForecastError(zcdp.groups.back().noise).standard_deviation);
}

TEST(ViewSchedule, NumericalCompositionBuysLessNoiseWithSelectionsToo) {
  SynthesisInput input = PromisedInput();
  input.settings = {{"views", "selected"}, {"selections", "3"}};
  const ViewSchedule promised = ScheduleFor(input);
  const ViewSchedule zcdp = ScheduleFor(UnderZcdp(input));
  EXPECT_LT(ForecastError(promised.selected->noise).standard_deviation,
            0.98 * ForecastError(zcdp.selected->noise).standard_deviation);
  EXPECT_GT(promised.selected->selection, zcdp.selected->selection);
  const Event event = Dpsyn().Plan(input).value().event;
  EXPECT_LE(
      CostOf(input.rule, event).value()[0].amount,
      CostOf(input.rule, {ApproximateEvent{*input.spend.epsilon, *input.spend.delta}}).value()[0].amount);
}

// Blocks hold any number of attributes of one value: a design of these took 16 s and 5.7 GB.
TEST(ViewSchedule, RefusesAttributesWhoseViewsTakeTooManyStepsToChoose) {
  std::vector<int64_t> sizes(60, 1);
  sizes.insert(sizes.end(), 5, 40);
  SynthesisInput input = InputFor(sizes, 3, 1);
  input.settings["strength"] = "3";
  const absl::Status refused = Dpsyn().Plan(input).status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "workload");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("take more than 268435456 steps to choose"));
}

// Thousands of wide sets of one cell took more than an hour to plan, and no stop ended it.
TEST(ViewSchedule, RefusesSetsOfVeryManyPairs) {
  SynthesisInput input = InputFor(std::vector<int64_t>(1024, 1), 1, 1);
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 1023, {}).value());
  EXPECT_THAT(std::string(Dpsyn().Plan(input).status().message()), HasSubstr("at most 512 can be covered"));
  input.settings = {{"views", "selected"}};
  const absl::Status refused = Dpsyn().Plan(input).status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "workload");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("take more than 268435456 steps to choose"));
}

TEST(ViewSchedule, StopsChoosingViewsInTheMiddle) {
  const SynthesisInput input = InputFor(std::vector<int64_t>(120, 2), 2, 1);
  Pacer patient{std::stop_token()};
  ASSERT_TRUE(Dpsyn().PlanWith(input, patient).ok());
  EXPECT_GT(PacerProbe::Checks(patient), 10);
  EXPECT_LT(PacerProbe::LongestStride(patient), 2 * Pacer::kMostSteps);
}

TEST(ViewSchedule, SaysWhatIsTooLargeForAnyView) {
  SynthesisInput input = InputFor({300, 300, 2}, 2, 1);
  const SynthesisPlan plan = Dpsyn().Plan(input).value();
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("too large for any view")));
  input = InputFor({1 << 20, 2}, 1, 1);
  EXPECT_EQ(FieldViolationOf(Dpsyn().Plan(input).status())->field, "workload");
}

TEST(ViewSchedule, ForecastsAndListsWhatItConsidered) {
  const SynthesisPlan plan = Dpsyn().Plan(InputFor(std::vector<int64_t>(16, 2), 3, 1)).value();
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("forecast: the expected sum of squared errors")));
  EXPECT_THAT(plan.schedule, testing::Contains(HasSubstr("considered: ")));
  EXPECT_NE(plan.settings.at("cells"), "1");
}

// These were refused by the fit, after the charge.
TEST(ViewSchedule, RefusesViewsThatOverlapInTooManyWays) {
  SynthesisInput input = InputFor(std::vector<int64_t>(18, 1), 1, 1);
  for (int left_out = 0; left_out < 18; ++left_out) {
    std::vector<std::string> names;
    for (int attribute = 0; attribute < 18; ++attribute) {
      if (attribute != left_out) names.push_back(absl::StrCat("#", attribute));
    }
    input.settings["views"] += absl::StrJoin(names, ",") + ";";
  }
  const absl::Status refused = Priview().Plan(input).status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "settings.views");
  EXPECT_THAT(std::string(refused.message()),
              HasSubstr("37 views, single attributes and the total among them, overlap in more than 200000 "
                        "ways, the most of so many views; 18 views may "
                        "overlap in 200000"));
}

// Of the pairs of 400 attributes: some thousand views, whose number bounds their overlaps more than the fixed
// limit.
TEST(ViewSchedule, SaysHowManyOverlapsSoManyViewsMayHave) {
  SynthesisInput input = InputFor(std::vector<int64_t>(400, 2), 2, 1);
  input.settings = {{"views", "design"}};
  const absl::Status refused = Dpsyn().Plan(input).status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "settings.views");
  EXPECT_THAT(std::string(refused.message()),
              testing::AllOf(testing::ContainsRegex("[0-9]+ views, .* overlap in more than [0-9]+ ways"),
                             testing::ContainsRegex("[0-9]+ views may overlap in [1-9][0-9]+: ask for fewer "
                                                    "attributes, or list fewer")));
}

TEST(ViewSchedule, RefusesMoreCandidatesThanTheKernelLooksAt) {
  SynthesisInput input = InputFor({2, 2}, 1, 1);
  input.domain = CodedDomain(std::vector<int64_t>(450, 2));  // 101,025 pairs
  input.workload.clear();
  for (uint32_t a = 0; a < 450; ++a) {
    for (uint32_t b = a + 1; b < 450; ++b) input.workload.push_back({{a, b}, EveryCell()});
  }
  input.settings = {{"views", "selected"}};
  EXPECT_EQ(FieldViolationOf(Priview().Plan(input).status())->field, "settings.views");
}

TEST(Dpsyn, RefusesSortedRecordsOfMoreCellsThanMemoryHolds) {
  SynthesisInput input = InputFor(std::vector<int64_t>(24, 256), 2, 1);
  std::string& views = input.settings["views"];
  for (int a = 0; a < 24; ++a) {
    for (int b = a + 1; b < 24; ++b) absl::StrAppend(&views, "#", a, ",#", b, ";");
  }
  EXPECT_TRUE(Dpsyn().Plan(input).ok());
  input.settings["records"] = "sts";
  EXPECT_EQ(FieldViolationOf(Dpsyn().Plan(input).status())->field, "settings.records");
}

TEST(ViewsModel, HasAnAttributeAndAView) {
  const Domain domain = CodedDomain({2});
  EXPECT_FALSE(ViewsModel::Create(domain, {.attributes = {}, .records = 1, .views = {}}).ok());
}

TEST(ReadViews, ReadsNamesAndNumbers) {
  const Domain domain = CodedDomain({2, 3, 4});
  EXPECT_THAT(ReadViews(domain, "a1, a0; #2,a0;a0,a1", 100).value(),
              ElementsAre(AttributeSet{0, 1}, AttributeSet{0, 2}));
  for (const char* const wrong : {"", "a1,b", "a0,a0", "#3", "a0,a1,a2"})
    EXPECT_EQ(FieldViolationOf(ReadViews(domain, wrong, 20).status())->field, "settings.views") << wrong;
}

TEST(ViewsModel, RefusesStoredBytesOfAnotherDomain) {
  const auto model = Fit(Dpsyn(), InputFor(kSizes, 2, 1), ChainedRows(kSizes, 200, 1));
  const std::string bytes = model->Serialize();
  EXPECT_TRUE(ViewsModel::Restore(CodedDomain(kSizes), bytes).ok());
  EXPECT_EQ(ViewsModel::Restore(CodedDomain({2, 4, 3, 6, 2, 6}), bytes).status().code(),
            absl::StatusCode::kDataLoss);
  EXPECT_EQ(ViewsModel::Restore(CodedDomain(kSizes), bytes.substr(0, bytes.size() - 1)).status().code(),
            absl::StatusCode::kDataLoss);
}

ViewsModelParts TwoViewsOf(const Domain& domain, double variance) {
  return {.attributes = {0, 1, 2},
          .records = 100,
          .views = {MakeView(domain, {0, 1}, 12.5, 4), MakeView(domain, {1, 2}, 100.0 / 12, variance)},
          .table = std::nullopt,
          .transcript = {}};
}

TEST(ViewsModel, RefusesRecordsWhereThereAreNone) {
  const Domain domain = CodedDomain({2, 4, 3});
  std::string bytes = EncodeViewsModel(TwoViewsOf(domain, 9));
  ASSERT_TRUE(ViewsModel::Restore(domain, bytes).ok());
  // The bytes end with a number of records, the length of their codes and a number of lines, all 0.
  bytes[bytes.size() - 9] = 1;
  bytes.insert(bytes.size() - 8, "x");
  EXPECT_EQ(ViewsModel::Restore(domain, bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(ViewsModel, SaysNothingOfTheNoiseOfASetThatNoViewHolds) {
  const Domain domain = CodedDomain({2, 4, 3});
  const auto model = ViewsModel::Create(domain, TwoViewsOf(domain, 9)).value();
  EXPECT_DOUBLE_EQ(model->CellNoise({0, 1}).value().value(), 2);
  EXPECT_DOUBLE_EQ(model->CellNoise({1}).value().value(), std::sqrt(1 / (1 / 8.0 + 1 / 27.0)));
  ASSERT_TRUE(model->Marginal({0, 2}).ok());
  EXPECT_EQ(model->CellNoise({0, 2}).value(), std::nullopt);
  EXPECT_EQ(model->CellNoise({0, 1, 2}).value(), std::nullopt);
}

TEST(ViewsModel, RefusesStoredBytesWhoseVarianceIsNotAFiniteNumberAboveZero) {
  const Domain domain = CodedDomain({2, 4, 3});
  EXPECT_TRUE(ViewsModel::Restore(domain, EncodeViewsModel(TwoViewsOf(domain, 9))).ok());
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const double variance : {kInfinity, -kInfinity, std::nan(""), 0.0, -1.0}) {
    EXPECT_EQ(ViewsModel::Restore(domain, EncodeViewsModel(TwoViewsOf(domain, variance))).status().code(),
              absl::StatusCode::kDataLoss)
        << variance;
  }
}

}  // namespace
}  // namespace curator::dp
