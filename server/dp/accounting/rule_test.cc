#include "dp/accounting/rule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "base/errors.h"
#include "dp/accounting/event.h"

namespace curator::dp {
namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();

Epsilon Eps(std::string_view text) {
  return *Epsilon::Parse(text, "epsilon");
}
Delta Del(std::string_view text) {
  return *Delta::Parse(text, "delta");
}

RuleSpec Pure(std::string_view epsilon) {
  return {RuleKind::kPure, Eps(epsilon), {}, {}, {}};
}
RuleSpec Advanced(std::string_view epsilon, std::string_view delta) {
  return {RuleKind::kAdvanced, Eps(epsilon), Del(delta), {}, {}};
}
RuleSpec Zcdp(std::string_view epsilon, std::string_view delta) {
  return {RuleKind::kZcdp, Eps(epsilon), Del(delta), {}, {}};
}
RuleSpec Rdp(std::string_view epsilon, std::string_view delta, Rational order) {
  return {RuleKind::kRdp, Eps(epsilon), Del(delta), order, {}};
}

Event PureOf(std::string_view epsilon) {
  return {PureEvent{Eps(epsilon)}};
}
Event Times(const Event& event, int64_t count) {
  return {ComposedEvent{{{event, count}}}};
}
Event ForGroupOf(int64_t size, const Event& event) {
  return {GroupEvent{{event}, size}};
}

std::vector<int64_t> Cost(const RuleSpec& spec, const Event& event) {
  std::vector<int64_t> amounts;
  const absl::StatusOr<std::vector<CounterAmount>> cost = CostOf(spec, event);
  EXPECT_TRUE(cost.ok()) << cost.status();
  if (cost.ok()) {
    for (const CounterAmount& amount : *cost) amounts.push_back(amount.amount);
  }
  return amounts;
}

absl::StatusCode Verdict(const RuleSpec& spec, const Event& event) {
  return CostOf(spec, event).status().code();
}

std::string BadField(const RuleSpec& spec) {
  const std::optional<FieldViolation> violation = FieldViolationOf(LimitsOf(spec).status());
  return violation ? violation->field : "";
}

TEST(RuleNames, AreReadBack) {
  for (const RuleKind kind : {RuleKind::kPure, RuleKind::kAdvanced, RuleKind::kZcdp, RuleKind::kRdp}) {
    EXPECT_EQ(*RuleFromName(RuleName(kind)), kind);
  }
  EXPECT_EQ(RuleFromName("pure").status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(RuleName(static_cast<RuleKind>(99)), "UNKNOWN");
  EXPECT_FALSE(LimitsOf({static_cast<RuleKind>(99), Epsilon(1), {}, {}, {}}).ok());
}

TEST(Counters, ArePrintedInTheirOwnUnits) {
  EXPECT_EQ(FormatCounter("rho", 100'000'000'000), "0.1");
  EXPECT_EQ(FormatCounter("delta", 1'000'000'000'000), "1e-6");
  EXPECT_EQ(FormatCounter("unknown", 5), "5 units");
}

TEST(PureRule, CountsEpsilonsAndNothingElse) {
  EXPECT_EQ((*LimitsOf(Pure("1")))[0], (CounterAmount{"epsilon", kEpsilonUnitsPerOne}));
  EXPECT_EQ(Cost(Pure("1"), PureOf("0.1")), (std::vector<int64_t>{100'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), Event{DiscreteLaplaceEvent{{10, 1}, 1, 1}}),
            (std::vector<int64_t>{100'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), Event{DiscreteLaplaceEvent{{3, 1}, 1, 1}}),
            (std::vector<int64_t>{333'333'333'334}));
  EXPECT_EQ(Cost(Pure("1"), Event{LaplaceEvent{{5, 2}, {1, 2}}}), (std::vector<int64_t>{200'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), Event{DiscreteLaplaceEvent{{kMax, 1}, 1, 1}}), (std::vector<int64_t>{1}));
  EXPECT_EQ(Verdict(Pure("1"), Event{DiscreteLaplaceEvent{{1, kMax}, kMax, 1}}),
            absl::StatusCode::kOutOfRange);
}

TEST(PureRule, RefusesWhatHasNoEpsilon) {
  for (const Event& event : {Event{GaussianEvent{{1, 1}, {1, 1}}}, Event{DiscreteGaussianEvent{{1, 1}, 1}},
                             Event{ZcdpEvent{Rho(1)}}, Event{ApproximateEvent{Epsilon(1), Delta(1)}},
                             Event{ApproximateEvent{Epsilon(1), Delta(0)}}}) {
    EXPECT_EQ(Verdict(Pure("1"), event), absl::StatusCode::kFailedPrecondition) << Describe(event);
    EXPECT_EQ(Verdict(Pure("1"), Times(event, 3)), absl::StatusCode::kFailedPrecondition);
  }
}

TEST(AdvancedRule, CountsSquaresAndDeltas) {
  const std::vector<CounterAmount> limits = *LimitsOf(Advanced("1", "1e-6"));
  EXPECT_EQ(limits[1], (CounterAmount{"delta", 500'000'000'000}));
  const double spread = std::sqrt(2 * std::log(2e6));
  const double s2 = static_cast<double>(limits[0].amount) * 1e-12;
  EXPECT_NEAR(spread * std::sqrt(s2) + s2 / 2, 1, 1e-9);
  EXPECT_EQ(Cost(Advanced("1", "1e-6"), PureOf("0.1")), (std::vector<int64_t>{10'000'000'000, 0}));
  EXPECT_EQ(Cost(Advanced("1", "1e-6"), Event{DiscreteLaplaceEvent{{3, 1}, 1, 1}}),
            (std::vector<int64_t>{111'111'111'112, 0}));
  EXPECT_EQ(Cost(Advanced("1", "1e-6"), Event{ApproximateEvent{Eps("0.1"), Del("1e-9")}}),
            (std::vector<int64_t>{10'000'000'000, 1'000'000'000}));
  EXPECT_EQ(Cost(Advanced("1", "1e-6"), PureOf("1e-12")), (std::vector<int64_t>{1, 0}));
}

TEST(AdvancedRule, RefusesGaussiansUnlessStatedWithADelta) {
  EXPECT_EQ(Verdict(Advanced("1", "1e-6"), Event{DiscreteGaussianEvent{{1, 1}, 1}}),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_EQ(Verdict(Advanced("1", "1e-6"), Event{ZcdpEvent{Rho(1)}}), absl::StatusCode::kFailedPrecondition);
}

TEST(ZcdpRule, ChargesEachMechanismItsTightRho) {
  const RuleSpec spec = Zcdp("1", "1e-6");
  EXPECT_EQ(Cost(spec, Event{DiscreteGaussianEvent{{10, 1}, 2}}), (std::vector<int64_t>{100'000'000'000}));
  EXPECT_EQ(Cost(spec, Event{GaussianEvent{{5, 1}, {1, 1}}}), (std::vector<int64_t>{100'000'000'000}));
  EXPECT_EQ(Cost(spec, Event{ZcdpEvent{Rho(77)}}), (std::vector<int64_t>{77}));
  const int64_t pure = static_cast<int64_t>(std::ceil(std::tanh(0.5) * 1e12));
  EXPECT_NEAR(static_cast<double>(Cost(spec, PureOf("1"))[0]), static_cast<double>(pure), 1);
  EXPECT_EQ(Cost(spec, Event{DiscreteLaplaceEvent{{1, 1}, 1, 1}}), Cost(spec, PureOf("1")));
  EXPECT_EQ(Cost(spec, Event{LaplaceEvent{{1, 1}, {1, 1}}}), Cost(spec, PureOf("1")));
  EXPECT_NEAR(static_cast<double>(Cost(spec, Event{ExponentialMechanismEvent{Eps("1")}})[0]), 1e12 / 8, 1e10);
  EXPECT_LE(Cost(spec, Event{ExponentialMechanismEvent{Eps("1")}})[0], 125'000'000'000);
  EXPECT_EQ(Cost(spec, Event{ExponentialMechanismEvent{Epsilon(0)}}), (std::vector<int64_t>{0}));
  EXPECT_EQ(Verdict(spec, Event{ApproximateEvent{Epsilon(1), Delta(1)}}),
            absl::StatusCode::kFailedPrecondition);
}

TEST(ZcdpRule, ManyCoordinatesAreCheaperThanOneBigShift) {
  const RuleSpec spec = Zcdp("1", "1e-6");
  const int64_t spread_out = Cost(spec, Event{DiscreteLaplaceEvent{{4, 1}, 6, 1}})[0];
  const int64_t one_by_one = Cost(spec, Event{DiscreteLaplaceEvent{{4, 1}, 1, 1}})[0];
  const int64_t big_shift = Cost(spec, Event{DiscreteLaplaceEvent{{4, 1}, 6, 6}})[0];
  EXPECT_NEAR(static_cast<double>(spread_out), 6.0 * static_cast<double>(one_by_one), 6);
  EXPECT_LT(spread_out, big_shift);
  EXPECT_LT(big_shift, Cost(spec, PureOf("1.5"))[0]);
  const int64_t in_between = Cost(spec, Event{DiscreteLaplaceEvent{{4, 1}, 6, 4}})[0];
  EXPECT_LT(spread_out, in_between);
  EXPECT_LT(in_between, big_shift);
}

TEST(RdpRule, CountsAtItsOneOrder) {
  const RuleSpec spec = Rdp("2", "1e-6", {8, 1});
  const double penalty = std::log(1 / (8 * 1e-6)) / 7 + std::log(7.0 / 8);
  EXPECT_NEAR(static_cast<double>((*LimitsOf(spec))[0].amount), (2 - penalty) * 1e12, 1e3);
  EXPECT_EQ(Cost(spec, Event{DiscreteGaussianEvent{{10, 1}, 1}}), (std::vector<int64_t>{400'000'000'000}));
  EXPECT_EQ(Cost(spec, Event{ZcdpEvent{Rho(5)}}), (std::vector<int64_t>{40}));
  const double response = std::log((std::exp(8.0) + std::exp(-7.0)) / (1 + std::exp(1.0))) / 7;
  EXPECT_NEAR(static_cast<double>(Cost(spec, PureOf("1"))[0]), response * 1e12, 2);
  EXPECT_EQ(Cost(spec, Event{DiscreteLaplaceEvent{{1, 1}, 1, 1}}), Cost(spec, PureOf("1")));
  const double laplace = std::log(8.0 / 15 * std::exp(7.0) + 7.0 / 15 * std::exp(-8.0)) / 7;
  EXPECT_NEAR(static_cast<double>(Cost(spec, Event{LaplaceEvent{{1, 1}, {1, 1}}})[0]), laplace * 1e12, 2);
}

TEST(Limits, APromiseThatCannotBeKeptIsRefused) {
  EXPECT_EQ(BadField(Pure("0")), "epsilon");
  RuleSpec with_delta = Pure("1");
  with_delta.delta = Delta(1);
  EXPECT_EQ(BadField(with_delta), "delta");
  RuleSpec with_order = Zcdp("1", "1e-6");
  with_order.order = Rational{2, 1};
  EXPECT_EQ(BadField(with_order), "order");
  RuleSpec with_slack = Zcdp("1", "1e-6");
  with_slack.delta_slack = Delta(1);
  EXPECT_EQ(BadField(with_slack), "delta_slack");
  EXPECT_EQ(BadField(Zcdp("1", "0")), "delta");
  EXPECT_EQ(BadField(Zcdp("1", "1")), "delta");
  EXPECT_EQ(BadField(Zcdp("0", "1e-6")), "epsilon");
  EXPECT_EQ(BadField(Zcdp("1e-12", "1e-18")), "epsilon");
  EXPECT_EQ(BadField(Advanced("1e-12", "1e-6")), "epsilon");
  EXPECT_EQ(BadField(Advanced("1", "1e-18")), "delta_slack");
  RuleSpec beyond = Advanced("1", "1e-6");
  beyond.delta_slack = Del("2e-6");
  EXPECT_EQ(BadField(beyond), "delta_slack");
  EXPECT_EQ(BadField({RuleKind::kRdp, Eps("1"), Del("1e-6"), {}, {}}), "order");
  EXPECT_EQ(BadField(Rdp("1", "1e-6", {1, 1})), "order");
  EXPECT_EQ(BadField(Rdp("1", "1e-6", {2, 1})), "order");  // the conversion alone costs more than the promise
}

TEST(Limits, ExtremePromisesStayInsideTheirType) {
  EXPECT_TRUE(LimitsOf({RuleKind::kZcdp, Epsilon(kMax), Delta(1), {}, {}}).ok());
  EXPECT_TRUE(LimitsOf({RuleKind::kZcdp, Epsilon(kMax), Delta(kDeltaUnitsPerOne - 1), {}, {}}).ok());
  EXPECT_TRUE(LimitsOf({RuleKind::kAdvanced, Epsilon(kMax), Delta(2), {}, {}}).ok());
  EXPECT_TRUE(LimitsOf({RuleKind::kPure, Epsilon(kMax), {}, {}, {}}).ok());
}

TEST(Composition, ACountIsMultipliedAndPartsAreSummed) {
  const Event mixed{
      ComposedEvent{{{PureOf("0.1"), 3}, {Times(PureOf("0.2"), 2), 5}, {Event{ComposedEvent{}}, 9}}}};
  EXPECT_EQ(Cost(Pure("1"), mixed), (std::vector<int64_t>{2'300'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), Event{ComposedEvent{}}), (std::vector<int64_t>{0}));
}

TEST(Composition, OverflowIsRefusedNeverWrapped) {
  EXPECT_EQ(Verdict(Pure("1"), Times(PureOf("1"), kMax)), absl::StatusCode::kOutOfRange);
  const Event half{PureEvent{Epsilon(kMax / 2 + 1)}};
  EXPECT_EQ(Verdict(Pure("1"), Event{ComposedEvent{{{half, 1}, {half, 1}}}}), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(Verdict(Pure("1"), ForGroupOf(kMax, ForGroupOf(2, PureOf("1")))), absl::StatusCode::kOutOfRange);
}

TEST(ParallelParts, CostTheDearestPartCounterByCounter) {
  const Event parts{ParallelEvent{{Event{ApproximateEvent{Eps("0.1"), Del("1e-9")}}, PureOf("0.3")}}};
  EXPECT_EQ(Cost(Advanced("1", "1e-6"), parts), (std::vector<int64_t>{90'000'000'000, 1'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), Event{ParallelEvent{{PureOf("0.1"), PureOf("0.4"), PureOf("0.2")}}}),
            (std::vector<int64_t>{400'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), Event{ParallelEvent{}}), (std::vector<int64_t>{0}));
}

TEST(Groups, CostWhatTheirRuleSays) {
  EXPECT_EQ(Cost(Pure("1"), ForGroupOf(3, PureOf("0.1"))), (std::vector<int64_t>{300'000'000'000}));
  EXPECT_EQ(Cost(Zcdp("1", "1e-6"), ForGroupOf(3, Event{ZcdpEvent{Rho(5)}})), (std::vector<int64_t>{45}));
  EXPECT_EQ(Cost(Zcdp("1", "1e-6"), ForGroupOf(3, Event{DiscreteGaussianEvent{{10, 1}, 2}})),
            (std::vector<int64_t>{900'000'000'000}));
  EXPECT_EQ(Cost(Pure("1"), ForGroupOf(2, ForGroupOf(3, PureOf("0.1")))),
            (std::vector<int64_t>{600'000'000'000}));
  EXPECT_EQ(Cost(Advanced("1", "1e-6"), ForGroupOf(2, Event{ApproximateEvent{Epsilon(0), Delta(7)}})),
            (std::vector<int64_t>{0, 14}));
}

TEST(Groups, AreFormedOfOneMechanismOnly) {
  const Event pure = PureOf("0.1");
  for (const Event& compound :
       {Event{ComposedEvent{{{pure, 2}}}}, Event{ParallelEvent{{pure}}}, Event{GroupEvent{{pure}, 2}},
        Event{CertifiedEvent{{pure}, Eps("0.1"), Delta(1)}}})
    EXPECT_EQ(ForGroup(compound, 2).status().code(), absl::StatusCode::kInternal) << Describe(compound);
}

TEST(Events, MalformedOnesAreRefusedByEveryRule) {
  const Event bad{DiscreteLaplaceEvent{{0, 1}, 1, 1}};
  for (const RuleSpec& spec :
       {Pure("1"), Advanced("1", "1e-6"), Zcdp("1", "1e-6"), Rdp("1", "1e-6", {32, 1})}) {
    EXPECT_EQ(Verdict(spec, bad), absl::StatusCode::kInvalidArgument);
  }
}

}  // namespace
}  // namespace curator::dp
