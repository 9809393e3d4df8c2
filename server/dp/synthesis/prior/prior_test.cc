#include "dp/synthesis/prior/prior.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <random>

#include "base/errors.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/prior/prior_model.h"
#include "dp/synthesis/prior/prior_records.h"
#include "dp/synthesis/prior/prior_schedule.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/laws.h"
#include "dp/synthesis/testing/public_rows.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

absl::StatusOr<std::unique_ptr<SynthesisModel>> Restored(const Domain& domain, std::string_view bytes) {
  Pacer pacer{std::stop_token()};
  return PriorModel::Restore(domain, bytes, pacer);
}

using testing::HasSubstr;

// a0: state (2), a1: area (5: the first two in state 0), a2, a3, a4: people. a3 follows a2, a4 nearly
// anything. `shift` makes another population with the same dependence.
constexpr uint32_t kState = 0;
constexpr uint32_t kArea = 1;

Rows People(int count, uint64_t seed, uint32_t shift) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int i = 0; i < count; ++i) {
    const auto area = static_cast<uint32_t>(random() % 5);
    const bool lean = random() % 10 < 3 + 4 * (area % 2);
    const auto a = static_cast<uint32_t>((lean ? random() % 2 : random() % 6) + shift) % 6;
    const auto b = random() % 10 < 8 ? (a * 2 + 1) % 5 : static_cast<uint32_t>(random() % 5);
    rows.push_back({area < 2 ? 0U : 1U, area, a, b, static_cast<uint32_t>(random() % 3)});
  }
  return rows;
}

constexpr int kRecords = 8000;

Domain PeoplesDomain() {
  return CodedDomain({2, 5, 6, 5, 3});
}

SynthesisInput Input(double epsilon, const Rows& prior) {
  const Domain domain = PeoplesDomain();
  RuleSpec rule;
  rule.kind = RuleKind::kPure;
  rule.epsilon = Epsilon(1000 * kEpsilonUnitsPerOne);
  return {.domain = domain,
          .unit_bound = {},
          .rule = rule,
          .spend = {.epsilon = Epsilon(static_cast<int64_t>(epsilon * 1e12))},
          .workload = WholeMarginals(AllKWayMarginals(domain, 2, {}).value()),
          .settings = {},
          .assume_records = std::nullopt,
          .prior = PublicRows(domain, prior)};
}

PriorSchedule ScheduleOf(const SynthesisInput& input) {
  Pacer pacer{std::stop_token()};
  return MakePriorSchedule(input, pacer).value();
}

std::unique_ptr<SynthesisModel> Fit(const SynthesisInput& input, const Rows& rows, uint64_t seed) {
  seeded::SeededBits bits(seed);
  const PriorAware method;
  Kernel kernel(SealRows(input.domain, rows).value(), input.domain, input.unit_bound,
                Meter(method.Plan(input)->draws), bits);
  Pacer pacer{std::stop_token()};
  return method.Fit(input, kernel, pacer, NoProgress()).value();
}

std::vector<double> SharesIn(const Domain& domain, const Rows& rows, const AttributeSet& set) {
  std::vector<double> shares(static_cast<size_t>(*domain.CellCount(set)));
  for (const auto& row : rows) {
    size_t cell = 0;
    for (const uint32_t a : set) cell = cell * static_cast<size_t>(domain.attributes()[a].size()) + row[a];
    shares[cell] += 1.0 / static_cast<double>(rows.size());
  }
  return shares;
}

// The mean L1 distance of all two-way marginals.
double ErrorOf(const SynthesisModel& model, const SynthesisInput& input, const Rows& rows) {
  double error = 0;
  for (const AttributeSet& set : SetsOf(input.workload)) {
    const auto wanted = SharesIn(input.domain, rows, set);
    const auto counts = model.Marginal(set).value();
    for (size_t i = 0; i < wanted.size(); ++i)
      error += std::abs(wanted[i] - counts[i] / static_cast<double>(model.records()));
  }
  return error / static_cast<double>(input.workload.size());
}

double ErrorOfPrior(const SynthesisInput& input, const Rows& prior, const Rows& rows) {
  double error = 0;
  for (const AttributeSet& set : SetsOf(input.workload)) {
    const auto wanted = SharesIn(input.domain, rows, set);
    const auto have = SharesIn(input.domain, prior, set);
    for (size_t i = 0; i < wanted.size(); ++i) error += std::abs(wanted[i] - have[i]);
  }
  return error / static_cast<double>(input.workload.size());
}

TEST(PriorAware, CorrectsAPriorOfAnotherPopulation) {
  const Rows rows = People(kRecords, 1, 0);
  const Rows prior = People(3000, 2, 1);
  SynthesisInput input = Input(1, prior);
  const double untouched = ErrorOfPrior(input, prior, rows);
  EXPECT_LT(ErrorOf(*Fit(input, rows, 1), input, rows), untouched / 3);
  for (const char* answers : {"nearest", "scaled"}) {
    input.settings["answers"] = answers;
    EXPECT_LT(ErrorOf(*Fit(input, rows, 1), input, rows), untouched / 3) << answers;
  }
}

TEST(PriorAware, GainsFromAGoodPriorAtASmallBudget) {
  const Rows rows = People(kRecords, 1, 0);
  const SynthesisInput with_prior = Input(0.05, People(3000, 2, 0));
  const SynthesisInput from_uniform = Input(0.05, RandomRows({2, 5, 6, 5, 3}, 3000, 3));
  EXPECT_LT(ErrorOf(*Fit(with_prior, rows, 1), with_prior, rows),
            ErrorOf(*Fit(from_uniform, rows, 1), from_uniform, rows) / 2);
}

TEST(PriorAware, NeverGivesWeightToARecordThatThePriorDoesNotHave) {
  const Rows prior = {{0, 0, 1, 3, 0}, {1, 4, 2, 0, 1}};
  const auto model = Fit(Input(1, prior), People(500, 1, 0), 1);
  const auto counts = model->Marginal({0, 1, 2, 3, 4}).value();
  EXPECT_EQ(std::ranges::count_if(counts, [](double count) { return count > 0; }), 2);
}

// Where the full domain is allowed, what the prior lacks and the answers have is there.
TEST(PriorAware, ReachesRecordsBeyondThePriorOnTheFullDomain) {
  const Rows prior = {{0, 0, 1, 3, 0}, {1, 4, 2, 0, 1}};
  const Rows rows = People(kRecords, 1, 0);
  SynthesisInput input = Input(10, prior);
  input.settings = {{"support", "full"}, {"measure", "given"}};
  const auto full = Fit(input, rows, 1);
  input.settings["support"] = "prior";
  const auto narrow = Fit(input, rows, 1);
  EXPECT_LT(ErrorOf(*full, input, rows), 0.2);
  EXPECT_GT(ErrorOf(*narrow, input, rows), 1);
  EXPECT_THAT(narrow->Transcript().back(), HasSubstr("lay where the prior has no record"));
}

// Two million records of 512 attributes took minutes to plan.
TEST(PriorAware, RefusesToCountALargePriorForTooManyPairs) {
  const Domain domain = CodedDomain(std::vector<int64_t>(512, 2));
  const Rows rows(4'200, std::vector<uint32_t>(512));
  SynthesisInput input = Input(1, People(10, 2, 0));
  input.domain = domain;
  input.workload = WholeMarginals(AllKWayMarginals(domain, 1, {}).value());
  input.prior = PublicRows(domain, rows);
  const absl::Status refused = PriorAware().Plan(input).status();
  ASSERT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_EQ(FieldViolationOf(refused)->field, "settings.measure");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("for 130816 pairs of attributes"));
}

// 256 attributes of 1,024 values took minutes and gigabytes to plan.
TEST(PriorAware, RefusesToCountTooManyCellsUnlessTheRequestWasStarted) {
  const Domain domain = CodedDomain(std::vector<int64_t>(17, 1024));
  SynthesisInput input = Input(1, People(10, 2, 0));
  input.domain = domain;
  input.workload = WholeMarginals(AllKWayMarginals(domain, 1, {}).value());
  input.prior = PublicRows(domain, Rows(1, std::vector<uint32_t>(17)));
  const absl::Status refused = PriorAware().Plan(input).status();
  ASSERT_TRUE(absl::IsInvalidArgument(refused)) << refused;
  EXPECT_EQ(FieldViolationOf(refused)->field, "settings.measure");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("in 142623744 cells, and at most 134217728 are"));
  input.is_started = true;
  EXPECT_TRUE(PriorAware().Plan(input).ok());
}

TEST(PriorAware, MeasuresWhatThePriorSaysOrWhatIsGiven) {
  SynthesisInput input = Input(1, People(3000, 2, 0));
  auto schedule = ScheduleOf(input);
  EXPECT_THAT(schedule.levels[0].measured, testing::Contains(AttributeSet{2, 3}));
  EXPECT_THAT(schedule.levels[0].measured, testing::Contains(AttributeSet{4}));
  input.settings = {{"measure", "given"}};
  input.workload = WholeMarginals(std::vector<AttributeSet>{{0, 2}, {1}});
  schedule = ScheduleOf(input);
  EXPECT_EQ(schedule.levels[0].measured, (std::vector<AttributeSet>{{0, 2}, {1}}));
  EXPECT_EQ(schedule.covered, (AttributeSet{0, 1, 2}));
}

// ---- Regions and groups

SynthesisInput Grouped(double epsilon, const Rows& prior) {
  SynthesisInput input = Input(epsilon, prior);
  input.settings = {{"region", "a0"}, {"group", "a1"}};
  return input;
}

TEST(PriorAwareGroups, AreTheDeclaredAreasEachInTheStateWhereThePriorHasIt) {
  const auto schedule = ScheduleOf(Grouped(1, People(3000, 2, 0)));
  ASSERT_EQ(schedule.levels.size(), 2u);
  EXPECT_EQ(schedule.levels[0].key, AttributeSet{kState});
  EXPECT_EQ(schedule.levels[1].key, AttributeSet{kArea});
  EXPECT_EQ(schedule.region_of_group, (std::vector<int64_t>{0, 0, 1, 1, 1}));
  EXPECT_EQ(schedule.modelled, (AttributeSet{2, 3, 4}));
}

TEST(PriorAwareGroups, AreCrossedWithRegionsWhereThePriorDoesNotNestThem) {
  const Rows prior = RandomRows({2, 5, 6, 5, 3}, 500, 4);
  const auto schedule = ScheduleOf(Grouped(1, prior));
  EXPECT_EQ(schedule.levels[1].key, (AttributeSet{kState, kArea}));
  EXPECT_EQ(schedule.levels[1].keys, 10);
  EXPECT_EQ(schedule.region_of_group, (std::vector<int64_t>{0, 0, 0, 0, 0, 1, 1, 1, 1, 1}));
}

TEST(PriorAwareGroups, WithoutPublicRecordsLieInTheLargestRegion) {
  Rows prior = People(3000, 2, 0);
  std::erase_if(prior, [](const auto& row) { return row[kArea] == 0; });
  const auto schedule = ScheduleOf(Grouped(1, prior));
  EXPECT_EQ(schedule.region_of_group, (std::vector<int64_t>{1, 0, 1, 1, 1}));
}

TEST(PriorAwareGroups, AreFoundWhereRegionsAndGroupsTogetherHaveMoreCellsThanAreCounted) {
  SynthesisInput input = Input(1, People(10, 2, 0));
  input.domain = CodedDomain({1 << 13, 1 << 16, 2});
  input.workload = WholeMarginals(AllKWayMarginals(input.domain, 1, {}).value());
  input.prior = PublicRows(input.domain, {{7, 40'000, 1}, {9, 5, 0}, {9, 6, 0}});
  input.settings = {{"region", "a0"}, {"group", "a1"}};
  const auto schedule = ScheduleOf(input);
  ASSERT_EQ(schedule.region_of_group.size(), size_t{1} << 16);
  EXPECT_EQ(schedule.region_of_group[40'000], 7);
  EXPECT_EQ(std::ranges::count(schedule.region_of_group, 9), (1 << 16) - 1);
  input.settings["max_cells"] = "65536";
  input.domain = CodedDomain({1 << 17, 1 << 16, 2});
  input.prior = PublicRows(input.domain, {{7, 40'000, 1}});
  EXPECT_EQ(FieldViolationOf(PriorAware().Plan(input).status())->field, "settings.region");
}

// Algorithm 2: four draws, each at a quarter of epsilon, whatever the number of groups; the counts of k
// marginals for all groups together have the sensitivity of k marginals, and one person's records count once.
TEST(PriorAwareGroups, PayAQuarterForEachOfFourDraws) {
  SynthesisInput input = Grouped(1, People(3000, 2, 0));
  input.unit_bound = {.relation = NeighbourRelation::kAddRemove, .max_records = 7};
  const auto schedule = ScheduleOf(input);
  ASSERT_EQ(schedule.draws.size(), 4u);
  int64_t total = 0;
  for (size_t i = 0; i < 4; ++i) {
    const int64_t units = CostOf(input.rule, schedule.draws[i].event).value()[0].amount;
    EXPECT_EQ(units, kEpsilonUnitsPerOne / 4) << i;
    total += units;
    const auto& laplace = std::get<DiscreteLaplaceEvent>(schedule.draws[i].event.what);
    const size_t marginals = i % 2 == 0 ? 1 : schedule.levels[i / 2].measured.size();
    EXPECT_EQ(laplace.l1_sensitivity, 7 * static_cast<int64_t>(marginals)) << i;
  }
  EXPECT_EQ(total, kEpsilonUnitsPerOne);
}

// The claim that the price stands on, on tables: adding one record moves the concatenated vector of all
// groups' marginals by 1 for each marginal.
TEST(PriorAwareGroups, OneRecordMovesOneCellOfEachMarginalOfAllGroupsTogether) {
  const SynthesisInput input = Grouped(1, People(3000, 2, 0));
  const auto schedule = ScheduleOf(input);
  const Rows rows = People(50, 5, 0);
  Rows neighbour = rows;
  neighbour.push_back({1, 2, 4, 4, 2});
  for (const PriorLevel& level : schedule.levels) {
    for (const AttributeSet& set : level.measured) {
      const AttributeSet both = Union(level.key, set);
      const auto one = SharesIn(input.domain, rows, both);
      const auto other = SharesIn(input.domain, neighbour, both);
      double moved = 0;
      for (size_t i = 0; i < one.size(); ++i) moved += std::abs(51 * other[i] - 50 * one[i]);
      EXPECT_NEAR(moved, 1, 1e-9);
    }
  }
}

TEST(PriorAwareGroups, AreEachNearTheirOwnPopulation) {
  const Rows rows = People(kRecords, 1, 0);
  const SynthesisInput input = Grouped(4, People(3000, 2, 1));
  const auto model = Fit(input, rows, 1);
  EXPECT_EQ(model->attributes(), (AttributeSet{0, 1, 2, 3, 4}));
  EXPECT_NEAR(static_cast<double>(model->records()), kRecords, 60);
  EXPECT_LT(ErrorOf(*model, input, rows), ErrorOfPrior(input, People(3000, 2, 1), rows) / 3);
  // Areas with odd numbers lean to other people than those with even numbers: the groups know.
  const auto by_area = model->Marginal({kArea, 2}).value();
  const auto wanted = SharesIn(input.domain, rows, {kArea, 2});
  for (size_t i = 0; i < wanted.size(); ++i) EXPECT_NEAR(by_area[i] / kRecords, wanted[i], 0.01) << i;
  // No area is in two states.
  const auto by_state = model->Marginal({kState, kArea}).value();
  EXPECT_EQ(std::ranges::count_if(by_state, [](double count) { return count > 0; }), 5);
}

TEST(PriorAwareGroups, AreSampledInProportionToTheirRecords) {
  const Rows rows = People(kRecords, 1, 0);
  const auto model = Fit(Grouped(4, People(3000, 2, 0)), rows, 1);
  const auto wanted = model->Marginal({kArea, 2}).value();
  std::vector<double> sampled(wanted.size());
  seeded::SeededBits bits(3);
  constexpr int kDrawn = 100'000;
  ASSERT_TRUE(model
                  ->Sample(bits, kDrawn,
                           [&](std::span<const uint32_t> codes) {
                             sampled[codes[kArea] * 6 + codes[2]] += 1.0 / kDrawn;
                             return absl::OkStatus();
                           })
                  .ok());
  for (size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(sampled[i], wanted[i] / static_cast<double>(model->records()), 0.006) << i;
}

TEST(PriorAwareGroups, SurviveATableWithoutRecords) {
  const auto model = Fit(Grouped(1, People(300, 2, 0)), {}, 1);
  EXPECT_GE(model->records(), 1);
  EXPECT_EQ(PriorAware().Restore(PeoplesDomain(), model->Serialize()).value()->Serialize(),
            model->Serialize());
}

// ---- What is refused

// Two records of a2, in two groups by `key`, each of `records`.
absl::StatusOr<std::unique_ptr<SynthesisModel>> ModelOfTwoGroups(uint32_t key, int64_t records) {
  CodedColumns columns({6});
  for (const uint32_t code : {1U, 2U}) EXPECT_TRUE(columns.AppendRow(std::vector<uint32_t>{code}).ok());
  const CompactWeights even(std::vector<double>{1, 1});
  PriorModelParts parts{.modelled = {2},
                        .keys = {key},
                        .columns = std::move(columns),
                        .is_full_domain = false,
                        .groups = {{{0}, records, even}, {{1}, records, even}},
                        .transcript = {}};
  Pacer pacer{std::stop_token()};
  return PriorModel::Create(PeoplesDomain(), std::move(parts), pacer);
}

TEST(PriorModelRestore, RefusesAnAttributeThatIsModelledAndAKey) {
  const std::string sound = ModelOfTwoGroups(3, 5).value()->Serialize();
  EXPECT_TRUE(Restored(PeoplesDomain(), sound).ok());
  const std::string overlapping = ModelOfTwoGroups(2, 5).value()->Serialize();
  EXPECT_EQ(Restored(PeoplesDomain(), overlapping).status().code(), absl::StatusCode::kDataLoss);
}

TEST(PriorModelRestore, RefusesAFlagThatIsNeither0Nor1) {
  std::string bytes = ModelOfTwoGroups(3, 5).value()->Serialize();
  // After the tag with its length, the version, and two sets of one attribute each.
  constexpr size_t kFlag = 8 + std::string_view("curator.prior_model").size() + 8 + 24 + 24;
  ASSERT_EQ(bytes.substr(kFlag, 8), std::string(8, '\0'));
  bytes[kFlag + 7] = 2;
  EXPECT_EQ(Restored(PeoplesDomain(), bytes).status().code(), absl::StatusCode::kDataLoss);
}

TEST(PriorModelRestore, RefusesMoreRecordsThanCanBeCounted) {
  EXPECT_EQ(ModelOfTwoGroups(3, std::numeric_limits<int64_t>::max()).status().code(),
            absl::StatusCode::kDataLoss);
}

std::string Refusal(const SynthesisInput& input) {
  const auto plan = PriorAware().Plan(input);
  EXPECT_EQ(plan.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(plan.status().message());
}

TEST(PriorAwareRefuses, ARequestWithoutAPriorOrWithOneThatDoesNotFit) {
  SynthesisInput input = Input(1, People(100, 1, 0));
  input.prior = nullptr;
  EXPECT_THAT(Refusal(input), HasSubstr("name a public dataset"));
  input.prior = PublicRows(input.domain, {});
  EXPECT_THAT(Refusal(input), HasSubstr("has no records"));
  input.prior = PublicRows(CodedDomain({2, 5, 6, 5, 4}), {{0, 0, 0, 0, 3}});
  EXPECT_THAT(Refusal(input), HasSubstr("other sizes"));
}

TEST(PriorAwareRefuses, RegionsAndGroupsThatMakeNoSense) {
  SynthesisInput input = Input(1, People(100, 1, 0));
  input.settings = {{"region", "a0"}};
  EXPECT_THAT(Refusal(input), HasSubstr("which attributes make a group"));
  input.settings = {{"group", "a1+a9"}};
  EXPECT_THAT(Refusal(input), HasSubstr("a9"));
  input.settings = {{"group", "a1+a1"}};
  EXPECT_THAT(Refusal(input), HasSubstr("twice"));
  input.settings = {{"group", "a0+a1+a2+a3+a4"}};
  EXPECT_THAT(Refusal(input), HasSubstr("no attribute beside"));
  input.settings = {{"group", "a1"}, {"max_cells", "10"}};
  EXPECT_THAT(Refusal(input), HasSubstr("weights each"));
}

TEST(PriorAwareRefuses, AFullDomainThatIsTooLargeWhenItPlansWithTheSettingNamed) {
  SynthesisInput input = Input(1, People(100, 1, 0));
  input.settings = {{"support", "full"}, {"max_cells", "899"}};
  EXPECT_THAT(Refusal(input), HasSubstr("support=prior"));
  EXPECT_EQ(FieldViolationOf(PriorAware().Plan(input).status())->field, "settings.max_cells");
  input.settings["max_cells"] = "900";
  EXPECT_TRUE(PriorAware().Plan(input).ok());
}

// A plan that did not look would be charged for, and its fit refused: this is what it would meet.
TEST(PriorAwareRefusesCanary, AFullDomainThatIsPlannedUnlookedAtIsLostInTheFit) {
  const SynthesisInput input = Input(1, People(100, 1, 0));
  const AttributeSet all = {0, 1, 2, 3, 4};
  Pacer pacer{std::stop_token()};
  EXPECT_FALSE(PriorRecords::AllCells(input.domain, *input.prior, all, 899, pacer).ok());
  EXPECT_TRUE(PriorRecords::AllCells(input.domain, *input.prior, all, 900, pacer).ok());
}

TEST(PriorAwareRefuses, MoreCodesThanCanBeHeld) {
  EXPECT_TRUE(CheckPriorCodes(kMostPriorRows, 64).ok());
  const absl::Status refused = CheckPriorCodes(kMostPriorRows, 65);
  EXPECT_EQ(FieldViolationOf(refused)->field, "settings.prior");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("fewer attributes"));
}

}  // namespace
}  // namespace curator::dp
