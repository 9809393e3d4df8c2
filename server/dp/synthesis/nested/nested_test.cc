#include "dp/synthesis/nested/nested.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "absl/strings/str_join.h"
#include "dp/kernel/likelihood.h"
#include "dp/synthesis/nested/nested_schedule.h"
#include "dp/synthesis/nested/testing/schools.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

struct Fitted {
  std::unique_ptr<SynthesisModel> model;
  Transcript transcript;
};

Fitted Fit(const SynthesisInput& input, const SealedTableHandle& table, uint64_t seed = 1) {
  const Nested& method = NestedWithMwem();
  seeded::SeededBits bits(seed);
  Fitted fitted;
  Kernel kernel(table, input.domain, input.unit_bound, Meter(method.Plan(input).value().draws), bits);
  kernel.RecordTo(fitted.transcript);
  Pacer pacer{std::stop_token()};
  fitted.model = method.Fit(input, kernel, pacer, NoProgress()).value();
  return fitted;
}

// The parameters that were drawn, in order.
std::vector<NestedParameters> DrawsOf(const SynthesisInput& input, const Transcript& transcript) {
  const NestedSettings settings = ReadNestedSettings(input, NestedWithMwem().settings()).value();
  std::vector<NestedParameters> points;
  for (const Draw& draw : transcript) {
    if (const auto* utility = std::get_if<UtilityDraw>(&draw))
      points.push_back(ParametersAt(settings.model, utility->selected));
  }
  return points;
}

std::string Lines(const SynthesisModel& model) {
  return absl::StrJoin(model.Transcript(), "\n");
}

TEST(Nested, FindsTheParametersWhereThereIsBudgetForThem) {
  const School truth{.nu = 9, .tau = 2, .sigma = 3};
  for (const auto& [unit, settings] :
       {std::pair(NestedUnit::kRecord, std::map<std::string, std::string>{{"weights", "none"}}),
        std::pair(NestedUnit::kRecord, std::map<std::string, std::string>{{"weights", "vector"}}),
        std::pair(NestedUnit::kGroup, std::map<std::string, std::string>{{"weights", "none"}}),
        std::pair(NestedUnit::kGroup,
                  std::map<std::string, std::string>{{"weights", "group"}, {"option", "A"}})}) {
    SynthesisInput input = SchoolInput(unit, 300);
    input.settings = settings;
    const Fitted fitted = Fit(input, Schools(input, truth, 200, 30));
    const NestedParameters point = DrawsOf(input, fitted.transcript).front();
    EXPECT_NEAR(point.mean, truth.nu, 0.8);
    EXPECT_NEAR(point.between, truth.tau, 0.6);
    EXPECT_NEAR(point.within, truth.sigma, 0.6);
    EXPECT_NEAR(static_cast<double>(fitted.model->records()), 6000, 700);
  }
}

TEST(Nested, SharesItsBudgetOutAmongSizesDrawsAndOtherAttributes) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 10, 2);
  input.settings = {{"draws", "4"}, {"size_percent", "20"}, {"join_percent", "40"}};
  const SynthesisPlan plan = NestedWithMwem().Plan(input).value();
  EXPECT_EQ(plan.draws[0].event, (Event{DiscreteLaplaceEvent{.scale = {1, 1}, .l1_sensitivity = 2}}));
  EXPECT_EQ(plan.draws[1].event, (Event{ExponentialMechanismEvent{Epsilon(kEpsilonUnitsPerOne)}}));
  EXPECT_EQ(plan.draws[1].count, 4);
  EXPECT_GT(plan.draws.size(), 2u) << "what MWEM draws";
  EXPECT_FALSE(plan.linear.has_value());
}

TEST(Nested, PaysForSeveralDrawsUnderZcdpWithTheirBoundedRange) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 1);
  input.rule.kind = RuleKind::kZcdp;
  input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000);
  input.spend = {.rho = Rho(1'000'000'000'000)};
  input.settings = {{"draws", "9"}};
  const SynthesisPlan plan = NestedWithMwem().Plan(input).value();
  const auto& event = std::get<ExponentialMechanismEvent>(plan.draws[1].event.what);
  // A tenth of rho each: epsilon^2 / 8 <= rho, a little better by the exact cost.
  EXPECT_GE(static_cast<double>(event.range.units()) / 1e12, std::sqrt(8 * 0.1) * 0.999);
  EXPECT_LE(static_cast<double>(event.range.units()) / 1e12, std::sqrt(8 * 0.1) * 1.05);
}

TEST(Nested, DrawsFromThePriorTiltedByWhatTheBudgetAllows) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 1);
  input.settings = {{"draws", "400"}, {"scale_prior", "flat"}, {"nu_points", "2"}, {"sigma_points", "2"}};
  // Next to nothing is spent on each draw, so they follow the prior: flat on deviations, not on logarithms.
  const auto draws = DrawsOf(input, Fit(input, Schools(input, {}, 3, 2)).transcript);
  double above_middle = 0;
  for (const NestedParameters& each : draws) above_middle += each.between > 5 ? 1 : 0;
  EXPECT_NEAR(above_middle / 400, 0.5, 0.1);
  input.settings["scale_prior"] = "log";
  above_middle = 0;
  for (const NestedParameters& each : DrawsOf(input, Fit(input, Schools(input, {}, 3, 2)).transcript))
    above_middle += each.between > 5 ? 1 : 0;
  EXPECT_LT(above_middle / 400, 0.35);
}

TEST(Nested, WarnsWhereADrawLiesAtTheEdgeOfItsGrid) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 300);
  input.settings = {{"tau_max", "1"}};
  const School apart{.nu = 9, .tau = 4, .sigma = 2};
  EXPECT_THAT(Lines(*Fit(input, Schools(input, apart, 200, 30)).model),
              HasSubstr("warning: tau lies at the edge"));
  input.settings = {};
  EXPECT_THAT(Lines(*Fit(input, Schools(input, apart, 200, 30)).model), Not(HasSubstr("warning")));
}

TEST(Nested, CopesWithGroupsOfOneASingleGroupAndResponsesAtTheBounds) {
  for (const NestedUnit unit : {NestedUnit::kRecord, NestedUnit::kGroup}) {
    const SynthesisInput input = SchoolInput(unit, 5);
    for (const auto& [groups, size] :
         {std::pair(0, 0), std::pair(1, 1), std::pair(60, 1), std::pair(1, 300)}) {
      for (const double nu : {9.0, -50.0, 500.0}) {
        const Fitted fitted = Fit(input, Schools(input, {.nu = nu, .tau = 1, .sigma = 1}, groups, size));
        EXPECT_GE(fitted.model->records(), 1);
        EXPECT_TRUE(fitted.model->Marginal({0}).ok());
      }
    }
  }
}

TEST(Nested, LeavesOtherAttributesOutWhereTheyCannotBeCountedAndSaysSo) {
  const SynthesisInput input = SchoolInput(NestedUnit::kGroup, 50, 2);
  const SynthesisPlan plan = NestedWithMwem().Plan(input).value();
  EXPECT_EQ(plan.settings.at("join"), "none");
  EXPECT_THAT(absl::StrJoin(plan.schedule, "\n"), HasSubstr("other than a0 are left out"));
  const Fitted fitted = Fit(input, Schools(input, {}, 50, 20));
  EXPECT_THAT(fitted.model->attributes(), ElementsAre(0));
  EXPECT_FALSE(fitted.model->Marginal({0, 1}).ok());
  SynthesisInput asked = input;
  asked.settings = {{"join", "mwem"}};
  EXPECT_THAT(std::string(NestedWithMwem().Plan(asked).status().message()), HasSubstr("no sensitivity"));
}

TEST(Nested, JoinsOtherAttributesGivenTheResponse) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 2000, 2);
  const Fitted fitted = Fit(input, Schools(input, {}, 100, 30));
  EXPECT_TRUE(fitted.model->DrawsGroups());
  EXPECT_THAT(fitted.model->attributes(), ElementsAre(0, 1));
  seeded::SeededBits bits(2);
  double agree = 0;
  ASSERT_TRUE(fitted.model
                  ->Sample(bits, 3000,
                           [&](std::span<const uint32_t> codes) {
                             agree += (codes[0] > 40) == (codes[1] == 1) ? 1 : 0;
                             return absl::OkStatus();
                           })
                  .ok());
  EXPECT_GT(agree / 3000, 0.85) << "whoever is above 10 passed";
  const std::vector<double> both = fitted.model->Marginal({0, 1}).value();
  const std::vector<double> response = fitted.model->Marginal({0}).value();
  const std::vector<double> passed = fitted.model->Marginal({1}).value();
  for (size_t code = 0; code < response.size(); ++code)
    EXPECT_NEAR(both[2 * code] + both[2 * code + 1], response[code], 1e-6);
  double sum = 0;
  for (size_t code = 0; code < response.size(); ++code) sum += both[2 * code + 1];
  EXPECT_NEAR(passed[1], sum, 1e-6);
}

// Codes of the response, group by group; those without records are not in the table.
using CodesOfSchools = std::vector<std::vector<uint32_t>>;

SealedTableHandle Sealed(const SynthesisInput& input, const CodesOfSchools& schools) {
  const bool is_record = input.nested->unit == NestedUnit::kRecord;
  SealedTableBuilder builder(input.domain, is_record ? RowOwner::kItselfInGroup : RowOwner::kUnit);
  uint32_t number = 0;
  for (const std::vector<uint32_t>& school : schools) {
    for (const uint32_t code : school) (void)builder.AppendRow(std::span(&code, 1), number);
    if (!school.empty()) ++number;
  }
  return std::move(builder).Build().value();
}

const CodesOfSchools kFewSchools = {{0, 7, 80}, {40, 41}, {12}, {77, 77, 78, 80}};

CodesOfSchools With(size_t school, std::vector<uint32_t> codes) {
  CodesOfSchools schools = kFewSchools;
  schools.resize(std::max(schools.size(), school + 1));
  schools[school] = std::move(codes);
  return schools;
}

// What one unit can do to kFewSchools.
std::vector<CodesOfSchools> NeighboursOf(NestedUnit unit, NeighbourRelation relation) {
  const bool replaces = relation == NeighbourRelation::kReplaceOne;
  if (unit == NestedUnit::kGroup)
    return replaces ? std::vector{With(0, {80, 80, 80}), With(3, {0})}
                    : std::vector{With(3, {}), With(4, {80})};
  // A record enters, founds a group, or was the last of one; or changes, in its group or to another.
  if (!replaces) return {With(0, {0, 7, 80, 80}), With(4, {80}), With(2, {})};
  CodesOfSchools moved = With(2, {});
  moved[1].push_back(80);
  return {With(0, {80, 7, 80}), moved};
}

// The whole of a fit, on neighbours: the loss of its recorded draws is at most the price.
TEST(Nested, LosesNoMoreThanItsPriceOnNeighbouringTables) {
  for (const auto& [unit, bound] :
       {std::pair(NestedUnit::kRecord, "unit"), std::pair(NestedUnit::kRecord, "group"),
        std::pair(NestedUnit::kGroup, "unit")}) {
    for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
      SynthesisInput input = SchoolInput(unit, 3);
      input.unit_bound.relation = relation;
      input.settings = {{"nu_points", "5"}, {"tau_points", "3"}, {"sigma_points", "4"}, {"draws", "3"}};
      input.settings["bound"] = bound;
      const SealedTableHandle few = Sealed(input, kFewSchools);
      for (const CodesOfSchools& schools : NeighboursOf(unit, relation)) {
        const SealedTableHandle other = Sealed(input, schools);
        for (uint64_t seed = 0; seed < 10; ++seed) {
          const Fitted fitted = Fit(input, few, seed);
          const Interval loss =
              LogProbability(fitted.transcript, *few, input.domain, input.unit_bound).value() -
              LogProbability(fitted.transcript, *other, input.domain, input.unit_bound).value();
          EXPECT_FALSE(loss.CertainlyAbove(Interval(3))) << bound;
          EXPECT_FALSE((-loss).CertainlyAbove(Interval(3))) << bound;
        }
      }
    }
  }
}

TEST(Nested, SaysWhereADrawLiesAtAnEdgeThatMayNotBeMoved) {
  SynthesisInput input = SchoolInput(NestedUnit::kRecord, 300);
  const Fitted fitted = Fit(input, Schools(input, {.nu = 500, .tau = 1, .sigma = 1}, 200, 30));
  EXPECT_THAT(Lines(*fitted.model), HasSubstr("nu lies at the edge of its grid, which reaches as far as"));
}

}  // namespace
}  // namespace curator::dp
