// The calculators for single mechanisms and conversions, against reference values (conversion.json).
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "dp/accounting/calculators/gaussian.h"
#include "dp/accounting/calculators/renyi.h"
#include "dp/accounting/divergence.h"
#include "dp/accounting/event.h"
#include "dp/accounting/testing/vectors.h"

namespace curator::dp {
namespace {

using nlohmann::json;
using testing::AsRational;
using testing::Exactly;
using testing::ExpectClose;
using testing::RealOf;

constexpr double kClosedForm = 1e-9;

class ConversionVectors : public ::testing::Test {
 protected:
  // Calls `check(in, out, id)` for every case of `kind`.
  template <typename Check>
  void ForEach(const std::string& kind, const Check& check) {
    LOAD_CASES_OR_SKIP(cases, "conversion.json");
    int checked = 0;
    for (const json& c : cases) {
      if (c.at("kind") != kind) continue;
      check(c.at("in"), c.at("out"), c.at("id").get<std::string>());
      ++checked;
    }
    EXPECT_GT(checked, 0) << kind;
  }
};

TEST_F(ConversionVectors, HaveNoKindThatIsNotChecked) {
  LOAD_CASES_OR_SKIP(cases, "conversion.json");
  const std::set<std::string> checked = {"zcdp_to_eps",
                                         "eps_delta_to_zcdp_budget",
                                         "zcdp_to_delta",
                                         "pure_to_zcdp",
                                         "rdp_curve",
                                         "calibrate_gaussian",
                                         "gaussian_exact",
                                         "calibrate_laplace",
                                         "group_privacy",
                                         "discrete_gaussian_delta",
                                         "calibrate_discrete_gaussian"};
  for (const json& c : cases) EXPECT_TRUE(checked.contains(c.at("kind"))) << c.at("id");
}

TEST_F(ConversionVectors, ZcdpToEpsilon) {
  ForEach("zcdp_to_eps", [](const json& in, const json& out, const std::string& id) {
    const Interval rho = RealOf(in.at("rho"));
    const Interval delta = RealOf(in.at("delta"));
    ExpectClose(LooseZcdpEpsilon(rho, delta), out.at("bs_eps"), kClosedForm, id);
    ExpectClose(EpsilonOfZcdp(rho, delta).Upper(), out.at("cks_eps"), kClosedForm, id);
    const double exact = GaussianEpsilon(Sqrt(Interval(2) * rho), delta);
    ExpectClose(exact, out.at("gaussian_exact_eps_lower_bound"), kClosedForm, id);
    EXPECT_GE(EpsilonOfZcdp(rho, delta).Upper(), exact) << id;
    EXPECT_LE(EpsilonOfZcdp(rho, delta).Upper(), LooseZcdpEpsilon(rho, delta)) << id;
  });
}

TEST_F(ConversionVectors, ZcdpToDelta) {
  ForEach("zcdp_to_delta", [](const json& in, const json& out, const std::string& id) {
    const Interval rho = RealOf(in.at("rho"));
    const Interval epsilon = RealOf(in.at("eps"));
    ExpectClose(ZcdpDelta(rho, epsilon), out.at("cks_delta"), kClosedForm, id);
    const double exact = GaussianDelta(Sqrt(Interval(2) * rho), epsilon).Upper();
    ExpectClose(exact, out.at("gaussian_exact_delta_lower_bound"), kClosedForm, id);
    EXPECT_GE(ZcdpDelta(rho, epsilon), exact) << id;
  });
}

TEST_F(ConversionVectors, PromisesToZcdpBudgets) {
  ForEach("eps_delta_to_zcdp_budget", [](const json& in, const json& out, const std::string& id) {
    const Interval epsilon = RealOf(in.at("eps"));
    const Interval delta = RealOf(in.at("delta"));
    ExpectClose(LooseZcdpBudget(epsilon, delta), out.at("bs_rho"), kClosedForm, id);
    ExpectClose(LargestZcdp(epsilon, delta).Lower(), out.at("cks_rho"), kClosedForm, id);
  });
}

TEST_F(ConversionVectors, PureToZcdp) {
  ForEach("pure_to_zcdp", [](const json& in, const json& out, const std::string& id) {
    const Interval epsilon = RealOf(in.at("eps"));
    ExpectClose((epsilon * epsilon / Interval(2)).Upper(), out.at("loose_rho"), kClosedForm, id);
    ExpectClose(ZcdpOfPure(epsilon).Upper(), out.at("tight_rho_any_pure_dp"), kClosedForm, id);
    ExpectClose(ZcdpOfContinuousLaplace(epsilon).Upper(), out.at("tight_rho_laplace"), kClosedForm, id);
    ExpectClose((epsilon * epsilon / Interval(8)).Upper(), out.at("br_rho_loose"), kClosedForm, id);
    ExpectClose(ZcdpOfBoundedRange(epsilon).Upper(), out.at("br_rho_tight"), kClosedForm, id);
    const mpq_class scale = 1 / Exactly(in.at("eps"));
    ExpectClose(ZcdpOfDiscreteLaplace({AsRational(scale), 1, 1}).Upper(),
                out.at("tight_rho_discrete_laplace_sens1"), kClosedForm, id);
  });
}

TEST_F(ConversionVectors, RenyiCurves) {
  ForEach("rdp_curve", [](const json& in, const json& out, const std::string& id) {
    const Interval epsilon = RealOf(in.at("eps"));
    const Interval x = RealOf(in.at("alpha")) - Interval(1);
    ExpectClose(RenyiOfLaplace(x, epsilon).Upper(), out.at("laplace"), kClosedForm, id);
    ExpectClose(RenyiOfPure(x, epsilon).Upper(), out.at("randomized_response"), kClosedForm, id);
    ExpectClose(RenyiOfBoundedRange(x, epsilon).Upper(), out.at("br_bound"), kClosedForm, id);
    ExpectClose(((x + Interval(1)) * epsilon * epsilon / Interval(2)).Upper(), out.at("zcdp_bound"),
                kClosedForm, id);
  });
}

TEST_F(ConversionVectors, GaussianNoiseIsCalibrated) {
  ForEach("calibrate_gaussian", [](const json& in, const json& out, const std::string& id) {
    const Interval epsilon = RealOf(in.at("eps"));
    const Interval delta = RealOf(in.at("delta"));
    const double sensitivity = Exactly(in.at("l2_sensitivity")).get_d();
    const double sigma = GaussianSigma(epsilon, delta);
    ExpectClose(sigma * sensitivity, out.at("sigma_analytic"), kClosedForm, id);
    EXPECT_TRUE(GaussianDelta(Interval(1) / Interval::OfDouble(sigma), epsilon).CertainlyAtMost(delta)) << id;
    ExpectClose(sensitivity * GaussianSigmaOfZcdp(LargestZcdp(epsilon, delta).Lower()),
                out.at("sigma_via_cks_zcdp"), kClosedForm, id);
    ExpectClose(sensitivity * GaussianSigmaOfZcdp(LooseZcdpBudget(epsilon, delta)),
                out.at("sigma_via_bs_zcdp"), kClosedForm, id);
    const absl::StatusOr<double> classic = ClassicGaussianSigma(epsilon, delta);
    EXPECT_EQ(classic.ok(), Exactly(in.at("eps")) <= 1) << id;
    if (classic.ok()) {
      ExpectClose(*classic * sensitivity, out.at("sigma_classic_valid_only_eps_le_1"), kClosedForm, id);
    }
  });
}

TEST_F(ConversionVectors, GaussianEpsilons) {
  ForEach("gaussian_exact", [](const json& in, const json& out, const std::string& id) {
    const Interval mu = RealOf(in.at("l2_sensitivity")) / RealOf(in.at("sigma"));
    ExpectClose(GaussianEpsilon(mu, RealOf(in.at("delta"))), out.at("eps"), kClosedForm, id);
  });
}

TEST_F(ConversionVectors, LaplaceNoiseIsCalibrated) {
  ForEach("calibrate_laplace", [](const json& in, const json& out, const std::string& id) {
    const Interval scale = RealOf(in.at("l1_sensitivity")) / RealOf(in.at("eps"));
    ExpectClose(scale.Upper(), out.at("scale"), kClosedForm, id);
    ExpectClose((Interval(2) * scale * scale).Upper(), out.at("variance"), kClosedForm, id);
  });
}

TEST_F(ConversionVectors, DiscreteGaussianHasItsOwnCurve) {
  ForEach("discrete_gaussian_delta", [](const json& in, const json& out, const std::string& id) {
    const Rational variance = AsRational(Exactly(in.at("sigma2")));
    const int64_t shift = in.at("sensitivity");
    const Interval epsilon = RealOf(in.at("eps"));
    const Interval delta = *DiscreteGaussianDelta(variance, shift, epsilon);
    ExpectClose(delta.Upper(), out.at("delta_exact"), kClosedForm, id);
    ExpectClose(delta.Lower(), out.at("delta_exact"), kClosedForm, id);
    const Interval mu = Interval(shift) / Sqrt(Interval::Of(variance));
    ExpectClose(GaussianDelta(mu, epsilon).Upper(), out.at("continuous_gaussian_delta"), kClosedForm, id);
  });
}

TEST_F(ConversionVectors, DiscreteGaussianNoiseIsCalibrated) {
  ForEach("calibrate_discrete_gaussian", [](const json& in, const json& out, const std::string& id) {
    ASSERT_EQ(in.at("dimension"), 1) << id;
    const absl::StatusOr<int64_t> sigma =
        DiscreteGaussianSigmaThousandths(RealOf(in.at("eps")), RealOf(in.at("delta")), in.at("sensitivity"));
    ASSERT_TRUE(sigma.ok()) << sigma.status();
    EXPECT_EQ(*sigma, *testing::UnitsUp(Exactly(out.at("sigma_smallest_milli_grid")), 1000)) << id;
  });
}

TEST_F(ConversionVectors, GroupsPay) {
  ForEach("group_privacy", [](const json& in, const json& out, const std::string& id) {
    const int64_t k = in.at("k");
    const Epsilon epsilon = *Epsilon::Parse(in.at("eps").get<std::string>(), "eps");
    const Delta delta = *Delta::Parse(in.at("delta").get<std::string>(), "delta");
    const Rho rho = *Rho::Parse(in.at("rho").get<std::string>(), "rho");
    const absl::StatusOr<Event> group = ForGroup({ApproximateEvent{epsilon, delta}}, k);
    ASSERT_TRUE(group.ok()) << group.status();
    const auto& stated = std::get<ApproximateEvent>(group->what);
    EXPECT_EQ(stated.epsilon.units(), *testing::UnitsUp(Exactly(out.at("eps")), kEpsilonUnitsPerOne)) << id;
    const std::optional<int64_t> expected =
        testing::UnitsUp(Exactly(out.at("delta_tight_geometric")), kDeltaUnitsPerOne);
    EXPECT_EQ(stated.delta.units(), std::min(expected.value_or(kDeltaUnitsPerOne), kDeltaUnitsPerOne)) << id;
    EXPECT_EQ(std::get<ZcdpEvent>(ForGroup({ZcdpEvent{rho}}, k)->what).rho.units(),
              *testing::UnitsUp(Exactly(out.at("rho")), kRhoUnitsPerOne))
        << id;
  });
}

}  // namespace
}  // namespace curator::dp
