// The filters that gate admission, against reference values (filters.json).
#include <gtest/gtest.h>

#include <set>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/parallel.h"
#include "dp/accounting/rule.h"
#include "dp/accounting/testing/counter_account.h"
#include "dp/accounting/testing/vectors.h"

namespace curator::dp {
namespace {

using nlohmann::json;
using testing::AsRational;
using testing::CounterAccount;
using testing::Exactly;
using testing::UnitsDown;
using testing::UnitsUp;

// What is admitted when a refusal does not stop the account.
std::string MaskOf(CounterAccount account, const std::vector<std::optional<std::vector<int64_t>>>& costs) {
  std::string mask;
  for (const auto& cost : costs) mask += cost && account.Charge(*cost) ? '1' : '0';
  return mask;
}

// What is admitted before the first refusal.
int64_t AdmittedUntilRefused(const std::string& mask) {
  const size_t refused = mask.find('0');
  return static_cast<int64_t>(refused == std::string::npos ? mask.size() : refused);
}

std::optional<std::vector<int64_t>> Cost(const RuleSpec& spec, const Event& event) {
  const absl::StatusOr<std::vector<CounterAmount>> cost = CostOf(spec, event);
  if (!cost.ok()) return std::nullopt;
  return CounterAccount::AmountsOf(*cost);
}

Event GaussianOf(const json& query) {
  const mpq_class sigma = Exactly(query.at("sigma").get<std::string>());
  const mpq_class l2 = Exactly(query.value("l2_sensitivity", "1"));
  return {GaussianEvent{AsRational(sigma * sigma), AsRational(l2 * l2)}};
}

// A query stated in the rule's own currency, rounded up to units.
std::optional<Event> StatedEvent(const json& query) {
  const bool is_epsilon = query.contains("eps");
  const std::optional<int64_t> units =
      UnitsUp(Exactly(query.at(is_epsilon ? "eps" : "rho")), kEpsilonUnitsPerOne);
  if (!units) return std::nullopt;
  if (is_epsilon) return Event{PureEvent{Epsilon(*units)}};
  return Event{ZcdpEvent{Rho(*units)}};
}

const RuleSpec kPure{RuleKind::kPure, Epsilon(kEpsilonUnitsPerOne), {}, {}, {}};
const RuleSpec kZcdp{RuleKind::kZcdp, Epsilon(kEpsilonUnitsPerOne), Delta(1'000'000'000'000), {}, {}};

TEST(FilterVectors, HaveNoKindThatIsNotChecked) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  const std::set<std::string> checked = {"pure_filter",      "zcdp_filter",    "zcdp_filter_gaussian",
                                         "gdp_filter",       "parallel",       "rdp_filter_fixed_alpha",
                                         "approx_dp_filter", "reserve_commit", "user_level"};
  for (const json& c : cases) EXPECT_TRUE(checked.contains(c.at("kind"))) << c.at("id");
}

TEST(FilterVectors, PureAndZcdpAdmitWhatExactCountingAdmits) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    const std::string kind = c.at("kind");
    if (kind != "pure_filter" && kind != "zcdp_filter") continue;
    const RuleSpec& spec = kind == "pure_filter" ? kPure : kZcdp;
    const json& budget = c.at("budget");
    const std::optional<int64_t> limit =
        UnitsDown(Exactly(budget.contains("eps") ? budget.at("eps") : budget.at("rho")), kEpsilonUnitsPerOne);
    if (!limit) {  // a promise beyond the range of the units is refused, it is not approximated
      EXPECT_FALSE(Epsilon::Parse(budget.begin().value().get<std::string>(), "epsilon").ok());
      continue;
    }
    std::vector<std::optional<std::vector<int64_t>>> costs;
    for (const json& query : c.at("queries")) {
      const std::optional<Event> event = StatedEvent(query);
      costs.push_back(event ? Cost(spec, *event) : std::nullopt);
    }
    const std::string mask = MaskOf(CounterAccount({*limit}), costs);
    const json& expected = c.at("expected").at("ceil_pico");
    EXPECT_EQ(mask, expected.at("skip_mode_mask")) << c.at("id");
    EXPECT_EQ(AdmittedUntilRefused(mask), expected.at("halt_mode_admitted")) << c.at("id");
    EXPECT_LE(AdmittedUntilRefused(mask), c.at("expected").at("exact").at("halt_mode_admitted"))
        << c.at("id");
    ++checked;
  }
  EXPECT_GT(checked, 15);
}

TEST(FilterVectors, ZcdpCountsGaussiansByTheirVariance) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "zcdp_filter_gaussian") continue;
    std::vector<std::optional<std::vector<int64_t>>> costs;
    for (const json& query : c.at("queries")) costs.push_back(Cost(kZcdp, GaussianOf(query)));
    const int64_t limit = *UnitsDown(Exactly(c.at("budget").at("rho")), kRhoUnitsPerOne);
    const json& expected = c.at("expected").at("exact");
    EXPECT_EQ(MaskOf(CounterAccount({limit}), costs), expected.at("skip_mode_mask")) << c.at("id");
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

// No rule: continuous Gaussians by the sum of their squared mus, a calculator.
TEST(FilterVectors, GaussianDpSumsSquaredMus) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "gdp_filter") continue;
    const Interval budget = testing::RealOf(c.at("budget").at("mu2").get<std::string>());
    Schedule admitted;
    std::string mask;
    for (const json& query : c.at("queries")) {
      admitted.push_back({GaussianOf(query), 1});
      const bool fits = SquaredMuOfSchedule(admitted)->CertainlyAtMost(budget);
      mask += fits ? '1' : '0';
      if (!fits) admitted.pop_back();
    }
    const json& expected = c.at("expected");
    EXPECT_EQ(mask, expected.at("exact").at("skip_mode_mask")) << c.at("id");
    EXPECT_EQ(AdmittedUntilRefused(mask), expected.at("exact").at("halt_mode_admitted")) << c.at("id");
    if (expected.contains("eps_at_1e-6")) {
      const double epsilon = GaussianEpsilon(Sqrt(budget), testing::RealOf("1e-6"));
      testing::ExpectClose(epsilon, expected.at("eps_at_1e-6"), 1e-9, c.at("id"));
    }
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

Event RdpQuery(const json& query) {
  const std::string type = query.at("type");
  if (type == "gaussian") return GaussianOf(query);
  if (type == "laplace") return {LaplaceEvent{AsRational(Exactly(query.at("scale"))), {1, 1}}};
  EXPECT_EQ(type, "pure");
  return {PureEvent{Epsilon(*UnitsUp(Exactly(query.at("eps")), kEpsilonUnitsPerOne))}};
}

TEST(FilterVectors, RdpCountsAtItsOneOrder) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "rdp_filter_fixed_alpha") continue;
    const json& budget = c.at("budget");
    RuleSpec spec = kZcdp;
    spec.kind = RuleKind::kRdp;
    spec.order = AsRational(Exactly(budget.at("alpha")));
    std::vector<std::optional<std::vector<int64_t>>> costs;
    for (const json& query : c.at("queries")) costs.push_back(Cost(spec, RdpQuery(query)));
    const std::string mask =
        MaskOf(CounterAccount({*UnitsDown(Exactly(budget.at("rdp")), kEpsilonUnitsPerOne)}), costs);
    EXPECT_EQ(mask, c.at("expected").at("exact").at("skip_mode_mask")) << c.at("id");
    int64_t spent = 0;
    for (int64_t i = 0; i < AdmittedUntilRefused(mask); ++i) spent += (*costs[static_cast<size_t>(i)])[0];
    testing::ExpectClose(static_cast<double>(spent) * 1e-12, c.at("expected").at("cum_at_halt"), 1e-9,
                         c.at("id"));
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

TEST(FilterVectors, AdvancedAdmitsWithinTheAllowedRange) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "approx_dp_filter") continue;
    const json& budget = c.at("budget");
    const RuleSpec spec{
        RuleKind::kAdvanced, Epsilon(*UnitsDown(Exactly(budget.at("eps")), kEpsilonUnitsPerOne)),
        Delta(*UnitsDown(Exactly(budget.at("delta")), kDeltaUnitsPerOne)), std::nullopt,
        Delta(*UnitsDown(Exactly(budget.at("delta_slack_for_conversion")), kDeltaUnitsPerOne))};
    std::vector<std::optional<std::vector<int64_t>>> costs;
    for (const json& query : c.at("queries")) {
      costs.push_back(
          Cost(spec, {ApproximateEvent{Epsilon(*UnitsUp(Exactly(query.at("eps")), kEpsilonUnitsPerOne)),
                                       Delta(*UnitsUp(Exactly(query.at("delta")), kDeltaUnitsPerOne))}}));
    }
    const json& expected = c.at("expected").at("whitehouse");
    const std::string mask = MaskOf(CounterAccount::Under(*LimitsOf(spec)), costs);
    const int64_t admitted = AdmittedUntilRefused(mask);
    const json& range = expected.at("halt_mode_admitted_allowed_range");
    EXPECT_GE(admitted, range.at(0)) << c.at("id");
    EXPECT_LE(admitted, range.at(1)) << c.at("id");
    if (range.at(0) == range.at(1)) {
      EXPECT_EQ(mask, expected.at("skip_mode_mask")) << c.at("id");
    }
    ++checked;
  }
  EXPECT_GT(checked, 10);
}

CounterAccount::Verdict Apply(CounterAccount& account, const json& step, int64_t units_per_one) {
  const std::string op = step.at("op");
  const std::string id = step.at("id");
  if (op == "cancel") {
    return account.Cancel(
        id, step.at("started") ? CounterAccount::Look::kHappened : CounterAccount::Look::kNotYet);
  }
  const int64_t amount = *UnitsUp(Exactly(step.at(op == "reserve" ? "cost" : "actual")), units_per_one);
  return op == "reserve" ? account.Reserve(id, {amount}) : account.Commit(id, {amount});
}

std::string_view Name(CounterAccount::Verdict verdict) {
  switch (verdict) {
    case CounterAccount::Verdict::kOk:
      return "ok";
    case CounterAccount::Verdict::kDenied:
      return "denied";
    case CounterAccount::Verdict::kError:
      return "error";
    case CounterAccount::Verdict::kChargedInFull:
      return "charged_full";
  }
  return "";
}

// Fractions that no unit holds exactly are followed in units that do: a common multiple of their
// denominators.
int64_t UnitsThatHold(const json& c) {
  mpz_class multiple = 1;
  const auto include = [&](const std::string& text) {
    if (text.find('/') == std::string::npos) return;
    const mpq_class value = Exactly(text);
    if (value.get_den() < 1'000'000)
      mpz_lcm(multiple.get_mpz_t(), multiple.get_mpz_t(), value.get_den_mpz_t());
  };
  include(c.at("budget").begin().value());
  for (const json& step : c.at("events")) {
    if (step.contains("cost")) include(step.at("cost"));
    if (step.contains("actual")) include(step.at("actual"));
  }
  return multiple.get_si() * kEpsilonUnitsPerOne;
}

TEST(FilterVectors, HoldsAndCommitsFollowTheirTraces) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "reserve_commit") continue;
    const int64_t per_one = UnitsThatHold(c);
    CounterAccount account({*UnitsDown(Exactly(c.at("budget").begin().value()), per_one)});
    for (size_t i = 0; i < c.at("events").size(); ++i) {
      const json& expected = c.at("expected").at(i);
      const std::string where = c.at("id").get<std::string>() + " step " + std::to_string(i);
      EXPECT_EQ(Name(Apply(account, c.at("events").at(i), per_one)), expected.at("result")) << where;
      EXPECT_EQ(account.spent()[0], *UnitsDown(Exactly(expected.at("spent")), per_one)) << where;
      EXPECT_EQ(account.held()[0], *UnitsDown(Exactly(expected.at("held")), per_one)) << where;
    }
    ++checked;
  }
  EXPECT_GT(checked, 3);
}

TEST(FilterVectors, DisjointPartsCostTheirLargestOrTheirTwoLargest) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "parallel") continue;
    const auto units = [](const json& costs) {
      std::vector<int64_t> amounts;
      for (const json& cost : costs) amounts.push_back(*UnitsUp(Exactly(cost), kEpsilonUnitsPerOne));
      return amounts;
    };
    const bool is_epsilon = c.at("unit") == "eps";
    const std::vector<int64_t> add_remove = units(c.at("partition_costs_add_remove"));
    ParallelEvent parts;
    for (const int64_t cost : add_remove) {
      parts.parts.push_back(is_epsilon ? Event{PureEvent{Epsilon(cost)}} : Event{ZcdpEvent{Rho(cost)}});
    }
    const json& expected = c.at("expected");
    EXPECT_EQ(*Cost(is_epsilon ? kPure : kZcdp, {parts}), units(json::array({expected.at("add_remove")})));
    std::optional<std::vector<int64_t>> within;
    if (!c.at("partition_costs_substitute_within").is_null())
      within = units(c.at("partition_costs_substitute_within"));
    EXPECT_EQ(*ParallelSubstituteCost(add_remove, within, is_epsilon ? Growth::kLinear : Growth::kQuadratic),
              units(json::array({expected.at("substitute_total")}))[0])
        << c.at("id");
    ++checked;
  }
  EXPECT_GT(checked, 0);
}

TEST(FilterVectors, UnitsOfSeveralRecordsPayForTheGroup) {
  LOAD_CASES_OR_SKIP(cases, "filters.json");
  int checked = 0;
  for (const json& c : cases) {
    if (c.at("kind") != "user_level") continue;
    const json& in = c.at("in");
    const json& expected = c.at("expected");
    const int64_t k = in.at("k_records_per_user");
    const Epsilon epsilon = *Epsilon::Parse(in.at("record_eps").get<std::string>(), "eps");
    const Delta delta = *Delta::Parse(in.at("record_delta").get<std::string>(), "delta");
    const Rho rho = *Rho::Parse(in.at("record_rho").get<std::string>(), "rho");
    EXPECT_EQ((*Cost(kPure, {GroupEvent{{Event{PureEvent{epsilon}}}, k}}))[0],
              *UnitsUp(Exactly(expected.at("eps")), kEpsilonUnitsPerOne));
    EXPECT_EQ((*Cost(kZcdp, {GroupEvent{{Event{ZcdpEvent{rho}}}, k}}))[0],
              *UnitsUp(Exactly(expected.at("rho")), kRhoUnitsPerOne));
    RuleSpec advanced = kZcdp;
    advanced.kind = RuleKind::kAdvanced;
    EXPECT_EQ((*Cost(advanced, {GroupEvent{{Event{ApproximateEvent{epsilon, delta}}}, k}}))[1],
              *UnitsUp(Exactly(expected.at("delta")), kDeltaUnitsPerOne))
        << c.at("id");
    ++checked;
  }
  EXPECT_GT(checked, 3);
}

}  // namespace
}  // namespace curator::dp
