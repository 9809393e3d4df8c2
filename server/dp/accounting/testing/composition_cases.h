// Schedules of composition.json.
#pragma once

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "dp/accounting/calculators/schedule.h"
#include "dp/accounting/testing/vectors.h"

namespace curator::dp::testing {

inline Event MechanismOfCase(const nlohmann::json& m) {
  const std::string type = m.at("type");
  const auto exactly = [&](const char* name) { return Exactly(m.at(name).get<std::string>()); };
  if (type == "pure_dp") return {PureEvent{Epsilon(*UnitsUp(exactly("eps"), kEpsilonUnitsPerOne))}};
  if (type == "approx_dp") {
    return {ApproximateEvent{Epsilon(*UnitsUp(exactly("eps"), kEpsilonUnitsPerOne)),
                             Delta(*UnitsUp(exactly("delta"), kDeltaUnitsPerOne))}};
  }
  if (type == "laplace")
    return {LaplaceEvent{AsRational(exactly("scale")), AsRational(exactly("l1_sensitivity"))}};
  if (type == "gaussian") {
    const mpq_class sigma = exactly("sigma");
    const mpq_class l2 = exactly("l2_sensitivity");
    return {GaussianEvent{AsRational(sigma * sigma), AsRational(l2 * l2)}};
  }
  if (type == "exponential_bounded_range") {
    return {ExponentialMechanismEvent{Epsilon(*UnitsUp(exactly("eps"), kEpsilonUnitsPerOne))}};
  }
  EXPECT_EQ(type, "discrete_laplace");
  const int64_t l1 = m.at("l1_sensitivity");
  return {DiscreteLaplaceEvent{AsRational(1 / exactly("a")), l1, l1}};
}

inline Schedule ScheduleOfCase(const nlohmann::json& c) {
  Schedule schedule;
  for (const nlohmann::json& m : c.at("mechanisms")) schedule.push_back({MechanismOfCase(m), m.at("count")});
  return schedule;
}

// The references count discrete Laplace as any mechanism of its epsilon where we count it more tightly.
inline Schedule WithoutDiscreteLaplace(Schedule schedule) {
  for (CountedEvent& part : schedule) {
    if (const auto* e = std::get_if<DiscreteLaplaceEvent>(&part.event.what)) {
      const mpq_class epsilon =
          mpq_class(e->l1_sensitivity * e->scale.denominator) / mpq_class(e->scale.numerator);
      part.event = {PureEvent{Epsilon(*UnitsUp(epsilon, kEpsilonUnitsPerOne))}};
    }
  }
  return schedule;
}

}  // namespace curator::dp::testing
