// MWEM on single queries: cells, ranges, parities, predicates; what is measured beforehand; adaptive rounds;
// domains that no table could hold.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "base/errors.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/models/factored_model.h"
#include "dp/synthesis/mwem/mwem.h"
#include "dp/synthesis/synthesis_workload.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using Rows = std::vector<std::vector<uint32_t>>;

SynthesisInput Input(const Domain& domain, std::vector<QueryGroup> workload) {
  RuleSpec rule;
  rule.kind = RuleKind::kPure;
  rule.epsilon = Epsilon(100 * kEpsilonUnitsPerOne);
  return {.domain = domain,
          .unit_bound = {},
          .rule = rule,
          .spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne)},
          .workload = std::move(workload),
          .settings = {},
          .assume_records = std::nullopt};
}

std::unique_ptr<SynthesisModel> Fit(const SynthesisInput& input, const Rows& rows, uint64_t seed) {
  seeded::SeededBits bits(seed);
  const Mwem mwem;
  Kernel kernel(SealRows(input.domain, rows).value(), input.domain, input.unit_bound,
                Meter(mwem.Plan(input)->draws), bits);
  Pacer pacer{std::stop_token()};
  return mwem.Fit(input, kernel, pacer, NoProgress()).value();
}

std::vector<int64_t> CountsOf(const Domain& domain, const Rows& rows, const AttributeSet& set) {
  std::vector<int64_t> counts(static_cast<size_t>(*domain.CellCount(set)));
  for (const auto& row : rows) {
    size_t cell = 0;
    for (const uint32_t a : set) cell = cell * static_cast<size_t>(domain.attributes()[a].size()) + row[a];
    ++counts[cell];
  }
  return counts;
}

// The mean absolute error of all answers of the workload, in records.
double MeanError(const SynthesisInput& input, const Rows& rows, const SynthesisModel& model) {
  double sum = 0;
  size_t answers = 0;
  for (const QueryGroup& group : input.workload) {
    const auto truth = AnswersFromCounts(input.domain, group, CountsOf(input.domain, rows, group.attributes));
    const auto fitted = AnswersFromEstimates(input.domain, group, model.Marginal(group.attributes).value());
    for (size_t i = 0; i < truth.size(); ++i) sum += std::abs(static_cast<double>(truth[i]) - fitted[i]);
    answers += truth.size();
  }
  return sum / static_cast<double>(answers);
}

double UniformError(const SynthesisInput& input, const Rows& rows) {
  Pacer pacer{std::stop_token()};
  const auto uniform = FactoredModel::Create(input.domain,
                                             {.attributes = Union(SetsOf(input.workload)),
                                              .records = static_cast<int64_t>(rows.size()),
                                              .parts = {},
                                              .transcript = {}},
                                             pacer)
                           .value();
  return MeanError(input, rows, *uniform);
}

// Two humps on a line, and a second attribute that leans on the first.
Rows Humps() {
  std::mt19937_64 random(11);
  Rows rows;
  for (int i = 0; i < 5000; ++i) {
    const uint64_t from = random() % 3 == 0 ? 150 : 20;
    const auto place = static_cast<uint32_t>(from + random() % 15 + random() % 15);
    rows.push_back({place, static_cast<uint32_t>(random() % 10 < 8 ? place > 100 : random() % 2)});
  }
  return rows;
}

Boxes RandomRanges(uint32_t size, int count) {
  std::mt19937_64 random(7);
  Boxes boxes;
  for (int i = 0; i < count; ++i) {
    const auto a = static_cast<uint32_t>(random() % size);
    const auto b = static_cast<uint32_t>(random() % size);
    boxes.sides.push_back({std::min(a, b), std::max(a, b)});
  }
  return boxes;
}

TEST(MwemOnRanges, ComesClose) {
  SynthesisInput input = Input(CodedDomain({200, 2}), {{{0}, RandomRanges(200, 300)}});
  const auto model = Fit(input, Humps(), 1);
  EXPECT_LT(MeanError(input, Humps(), *model), 100);
  EXPECT_GT(UniformError(input, Humps()), 600);
  input.settings = {{"form", "factored"}};
  EXPECT_LT(MeanError(input, Humps(), *Fit(input, Humps(), 1)), 100);
}

// A box and the cells that are in it are the same query, so the same draws make the same model.
TEST(MwemOnRanges, BoxesAreTheirCells) {
  const Domain domain = CodedDomain({200, 2});
  const QueryGroup boxes{{0}, RandomRanges(200, 50)};
  SynthesisInput input = Input(domain, {boxes});
  input.settings = {{"slack", "0.1"}, {"rounds", "10"}};
  const auto model = Fit(input, Humps(), 2);
  input.workload = {{{0}, TermsOf(domain, boxes)}};
  EXPECT_NEAR(MeanError(input, Humps(), *Fit(input, Humps(), 2)), MeanError(input, Humps(), *model), 1);
}

TEST(MwemOnParities, ComesCloseUnderBothRelations) {
  const Domain domain = CodedDomain({2, 2, 2});
  std::mt19937_64 random(3);
  Rows rows;
  for (int i = 0; i < 4000; ++i) {
    const auto a = static_cast<uint32_t>(random() % 4 == 0);
    const auto b = static_cast<uint32_t>(random() % 2);
    rows.push_back({a, b, random() % 10 < 9 ? a ^ b : static_cast<uint32_t>(random() % 2)});
  }
  // Odd against even, over each set of attributes.
  const auto parity = [](size_t attributes) {
    LinearQuery query;
    for (uint32_t cell = 0; cell < (1U << attributes); ++cell)
      query.push_back({cell, std::popcount(cell) % 2 == 0 ? 1 : -1});
    return std::vector<LinearQuery>{query};
  };
  std::vector<QueryGroup> workload;
  for (const AttributeSet& set : std::vector<AttributeSet>{{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}})
    workload.push_back({set, parity(set.size())});
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    SynthesisInput input = Input(domain, workload);
    input.unit_bound.relation = relation;
    input.settings = {{"rounds", "4"}};
    EXPECT_LT(MeanError(input, rows, *Fit(input, rows, 4)), 60);
    EXPECT_GT(UniformError(input, rows), 400);
  }
}

TEST(MwemOnPredicates, MayBeMixedWithMarginalsWhereTheyCostTheSame) {
  SynthesisInput input = Input(CodedDomain({200, 2}),
                               {{{1}, EveryCell{}}, {{0, 1}, std::vector<LinearQuery>{{{41, 1}, {45, 1}}}}});
  EXPECT_TRUE(Mwem().Plan(input).ok());
  input.unit_bound.relation = NeighbourRelation::kReplaceOne;
  const absl::Status refused = Mwem().Plan(input).status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "workload");
  EXPECT_THAT(std::string(refused.message()), testing::HasSubstr("mixes"));
}

TEST(MwemInit, AHistogramBeforehandIsChargedAndHelpsWhereMassIsInFewCells) {
  SynthesisInput input = Input(CodedDomain({200, 2}), {{{0}, RandomRanges(200, 300)}});
  for (const char* const init : {"marginals", "domain"}) {
    input.settings = {{"init", init}, {"init_percent", "50"}, {"rounds", "5"}};
    const SynthesisPlan plan = Mwem().Plan(input).value();
    ASSERT_EQ(plan.draws.size(), 4u);
    EXPECT_EQ(plan.draws[1].count, 1);
    // Of 0.95, half; one record is in one cell of the histogram.
    EXPECT_EQ(std::get<DiscreteLaplaceEvent>(plan.draws[1].event.what).scale, (Rational{40, 19}));
    EXPECT_LT(MeanError(input, Humps(), *Fit(input, Humps(), 5)), 60);
  }
}

TEST(MwemAdaptive, PricesEveryStageAndDoublesWhatARoundCosts) {
  SynthesisInput input = Input(CodedDomain({200, 2}), {{{0}, RandomRanges(200, 300)}});
  input.settings = {{"adaptive", "yes"}, {"rounds", "6"}};
  const SynthesisPlan plan = Mwem().Plan(input).value();
  ASSERT_EQ(plan.draws.size(), 9u);
  for (size_t i = 1; i + 2 < plan.draws.size(); i += 2) {
    EXPECT_EQ(plan.draws[i].count, 6);
    const auto range = std::get<ExponentialMechanismEvent>(plan.draws[i].event.what).range.units();
    const auto next = std::get<ExponentialMechanismEvent>(plan.draws[i + 2].event.what).range.units();
    EXPECT_LE(std::abs(next - 2 * range), 2);
  }
  EXPECT_LT(MeanError(input, Humps(), *Fit(input, Humps(), 6)), 150);
  input.spend = {.epsilon = Epsilon(kEpsilonUnitsPerOne / 20)};
  const auto model = Fit(input, Humps(), 6);
  EXPECT_LT(MeanError(input, Humps(), *model), UniformError(input, Humps()));
  // Signals that drop below the noise end a stage, so fewer rounds are drawn than are paid for.
  EXPECT_LT(model->Transcript().size(), 2u + 24);
}

constexpr size_t kAttributes = 40;

// Each bit is set in one record of five; the seventh leans on the third.
Rows ManyBits() {
  std::mt19937_64 random(9);
  Rows rows;
  for (int i = 0; i < 3000; ++i) {
    std::vector<uint32_t> row(kAttributes);
    for (uint32_t& code : row) code = static_cast<uint32_t>(random() % 5 == 0);
    if (random() % 10 < 9) row[7] = row[3];
    rows.push_back(row);
  }
  return rows;
}

TEST(MwemFactored, HoldsADomainThatNoTableCould) {
  const Rows rows = ManyBits();
  const Domain domain = CodedDomain(std::vector<int64_t>(kAttributes, 2));
  SynthesisInput input = Input(domain, WholeMarginals(AllKWayMarginals(domain, 2, {}).value()));
  input.settings = {{"rounds", "30"}, {"max_cells", "512"}};
  const SynthesisPlan plan = Mwem().Plan(input).value();
  EXPECT_EQ(plan.model_cells, 512);
  EXPECT_THAT(plan.schedule.back(), testing::HasSubstr("512"));
  const auto model = Fit(input, rows, 8);
  EXPECT_EQ(model->attributes().size(), kAttributes);
  EXPECT_LT(MeanError(input, rows, *model), UniformError(input, rows) / 2);
  EXPECT_EQ(Mwem().Restore(domain, model->Serialize()).value()->Serialize(), model->Serialize());
}

// With nothing measured beforehand, which the default was once, three rounds leave most attributes uniform.
TEST(MwemFactored, LearnsAttributesThatNoRoundReaches) {
  const Domain domain = CodedDomain(std::vector<int64_t>(kAttributes, 2));
  SynthesisInput input = Input(domain, WholeMarginals(AllKWayMarginals(domain, 2, {}).value()));
  input.settings = {{"rounds", "3"}, {"max_cells", "512"}};
  const double error = MeanError(input, ManyBits(), *Fit(input, ManyBits(), 10));
  input.settings["init"] = "uniform";
  const double canary = MeanError(input, ManyBits(), *Fit(input, ManyBits(), 10));
  EXPECT_LT(error, canary / 3);
}

// Cliques of 512 cells cannot hold all pairs. Rounds that find nothing new that fits measure again.
TEST(MwemFactored, DrawsEveryRoundThatIsPaidFor) {
  const Domain domain = CodedDomain(std::vector<int64_t>(12, 5));
  std::mt19937_64 random(13);
  Rows rows;
  for (int i = 0; i < 500; ++i) {
    std::vector<uint32_t> row(12);
    for (uint32_t& code : row) code = static_cast<uint32_t>(random() % 5);
    rows.push_back(row);
  }
  SynthesisInput input = Input(domain, WholeMarginals(AllKWayMarginals(domain, 2, {}).value()));
  for (const char* const rounds : {"40", "66"}) {
    input.settings = {{"form", "factored"}, {"init", "uniform"}, {"rounds", rounds}, {"max_cells", "512"}};
    // The number of records, each round, and the last replay.
    EXPECT_EQ(Fit(input, rows, 3)->Transcript().size(), static_cast<size_t>(std::stoi(rounds)) + 2);
    EXPECT_EQ(Mwem().Plan(input)->draws.size(), 3u) << "all 66 do not fit, so some are chosen";
  }
}

// Tables of Adult's sizes: a plan of all triples once took 2.5 GB.
TEST(MwemFactored, PlansTriplesOfWideAttributesInLessThanAGigabyte) {
  const Domain domain = CodedDomain({85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2});
  SynthesisInput input = Input(domain, WholeMarginals(AllKWayMarginals(domain, 3, {}).value()));
  EXPECT_LT(Mwem().Plan(input)->memory.fitting, int64_t{1} << 30);
}

TEST(MwemFactored, RefusesWhatOnlyOneTableCanDo) {
  const Domain domain = CodedDomain(std::vector<int64_t>(40, 2));
  SynthesisInput input = Input(domain, WholeMarginals(AllKWayMarginals(domain, 1, {}).value()));
  const auto field = [&](std::map<std::string, std::string> settings) {
    input.settings = std::move(settings);
    return FieldViolationOf(Mwem().Plan(input).status())->field;
  };
  EXPECT_EQ(field({{"iterate", "average"}}), "settings.iterate");
  EXPECT_EQ(field({{"init", "domain"}}), "settings.init");
  EXPECT_EQ(field({{"form", "dense"}}), "workload");
}

}  // namespace
}  // namespace curator::dp
