// Numerical composition, against reference values (composition.json).
#include <gtest/gtest.h>

#include "dp/accounting/numerical/composition.h"
#include "dp/accounting/testing/composition_cases.h"
#include "dp/accounting/testing/vectors.h"

namespace curator::dp {
namespace {

using nlohmann::json;

// A reference as a double: some columns are text, some numbers.
double Number(const json& value) {
  if (value.is_number()) return value.get<double>();
  const std::string text = value.get<std::string>();
  return text == "inf" ? std::numeric_limits<double>::infinity() : testing::Exactly(text).get_d();
}

TEST(CompositionVectors, NumericalCompositionIsCertifiedAndTight) {
  LOAD_CASES_OR_SKIP(cases, "composition.json");
  for (const json& c : cases) {
    const json& results = c.at("results");
    const double delta = testing::Exactly(c.at("delta")).get_d();
    const absl::StatusOr<CertifiedBounds> bounds = NumericalEpsilon(testing::ScheduleOfCase(c), delta, {});
    ASSERT_TRUE(bounds.ok()) << c.at("id") << bounds.status();
    const double reference = Number(results.at("pld").at("connect_dots_pessimistic").at("eps"));
    EXPECT_LE(bounds->upper, reference * (1 + 1e-3) + 1e-6) << c.at("id");
    for (const char* truth : {"exact_eps", "opt_pure_eps", "br_dominating_pair_eps"}) {
      if (!results.contains(truth)) continue;
      EXPECT_GE(bounds->upper, Number(results.at(truth))) << c.at("id") << " " << truth;
      if (bounds->lower) {
        EXPECT_LE(*bounds->lower, Number(results.at(truth)) * (1 + 1e-12)) << c.at("id");
      }
    }
  }
}

}  // namespace
}  // namespace curator::dp
