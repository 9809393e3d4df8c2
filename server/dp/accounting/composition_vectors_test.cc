// The calculators that compose fixed schedules, against reference values (composition.json).
#include <gtest/gtest.h>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/calculators/stated_composition.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/testing/composition_cases.h"
#include "dp/accounting/testing/vectors.h"

namespace curator::dp {
namespace {

using nlohmann::json;
using testing::ExpectClose;
using testing::RealOf;
using testing::ScheduleOfCase;
using testing::WithoutDiscreteLaplace;

constexpr double kClosedForm = 1e-9;
constexpr Rational kLastReferenceOrder{10'881'624, 10};

// One case with its schedule; `Check` compares a column if the case has it.
struct Case {
  const json& all;
  std::string id = all.at("id");
  Interval delta = RealOf(all.at("delta"));
  Schedule schedule = ScheduleOfCase(all);
  const json& results = all.at("results");

  void Check(const std::string& column, double computed) const {
    if (results.contains(column)) ExpectClose(computed, results.at(column), kClosedForm, id + " " + column);
  }
};

TEST(CompositionVectors, StatedPrivacyComposesAsTheTextbooksSay) {
  LOAD_CASES_OR_SKIP(cases, "composition.json");
  for (const json& c : cases) {
    const Case one{c};
    one.Check("basic_eps", *BasicEpsilon(one.schedule, one.delta));
    const std::optional<std::vector<Stated>> stated = StatedOf(one.schedule);
    if (!stated) continue;
    one.Check("whitehouse_eps", WhitehouseValue(*stated, one.delta));
    const HeterogeneousBound bound = KairouzOhViswanathHeterogeneous(*stated, one.delta);
    one.Check("kov35_het_eps", bound.least());
    if (one.results.contains("kov35_terms")) {
      for (size_t i = 0; i < 3; ++i) {
        ExpectClose(bound.terms[i], one.results.at("kov35_terms").at(i), kClosedForm, one.id + " kov35 term");
      }
    }
    if (stated->size() == 1) {
      one.Check("drv_eps", DworkRothblumVadhan(stated->front(), one.delta));
      one.Check("kov34_simple_eps", KairouzOhViswanathSimple(stated->front(), one.delta));
      one.Check("kov33_grid_eps", *KairouzOhViswanathGrid(stated->front(), one.delta));
    }
    if (one.results.contains("opt_pure_eps")) {
      const absl::StatusOr<double> optimal = OptimalPureEpsilon(*stated, one.delta);
      ASSERT_TRUE(optimal.ok()) << one.id << optimal.status();
      one.Check("opt_pure_eps", *optimal);
    }
  }
}

TEST(CompositionVectors, ZcdpConvertsLooselyAndTightly) {
  LOAD_CASES_OR_SKIP(cases, "composition.json");
  for (const json& c : cases) {
    const Case one{c};
    if (!one.results.contains("zcdp_rho")) continue;
    const Interval loose = *LooseZcdp(one.schedule);
    one.Check("zcdp_rho", loose.Upper());
    one.Check("zcdp_bs_eps", LooseZcdpEpsilon(loose, one.delta));
    one.Check("zcdp_cks_eps", EpsilonOfZcdp(loose, one.delta).Upper());
    const Interval tight = *TightZcdp(WithoutDiscreteLaplace(one.schedule));
    one.Check("zcdp_tight_rho", tight.Upper());
    one.Check("zcdp_tight_bs_eps", LooseZcdpEpsilon(tight, one.delta));
    one.Check("zcdp_tight_cks_eps", EpsilonOfZcdp(tight, one.delta).Upper());
    EXPECT_LE(TightZcdp(one.schedule)->Upper(), tight.Upper() * (1 + 1e-15)) << one.id;
  }
}

TEST(CompositionVectors, RenyiOrdersAreSearchedOnTheGridAndBetween) {
  LOAD_CASES_OR_SKIP(cases, "composition.json");
  for (const json& c : cases) {
    const Case one{c};
    if (!one.results.contains("rdp_grid_eps")) continue;
    const Schedule schedule = WithoutDiscreteLaplace(one.schedule);
    const RenyiEpsilon on_grid = *RenyiEpsilonOnGrid(schedule, one.delta, CommonOrders());
    one.Check("rdp_grid_eps", on_grid.epsilon);
    one.Check("rdp_grid_alpha", on_grid.order);
    const RenyiEpsilon over_reals = *RenyiEpsilonOverReals(schedule, one.delta);
    const Rational reference_order = testing::AsRational(testing::Exactly(one.results.at("rdp_cont_alpha")));
    if (reference_order == kLastReferenceOrder) {  // the reference searched no further: we find less
      one.Check("rdp_cont_eps", RenyiEpsilonOnGrid(schedule, one.delta, {kLastReferenceOrder})->epsilon);
    } else {
      one.Check("rdp_cont_eps", over_reals.epsilon);
    }
    EXPECT_LE(over_reals.epsilon, on_grid.epsilon * (1 + 1e-9)) << one.id;
  }
}

TEST(CompositionVectors, ComposedGaussiansAreOneGaussian) {
  LOAD_CASES_OR_SKIP(cases, "composition.json");
  int checked = 0;
  for (const json& c : cases) {
    const Case one{c};
    const absl::StatusOr<Interval> squared_mu = SquaredMuOfSchedule(one.schedule);
    if (!squared_mu.ok()) continue;
    one.Check("exact_eps", GaussianEpsilon(Sqrt(*squared_mu), one.delta));
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

}  // namespace
}  // namespace curator::dp
