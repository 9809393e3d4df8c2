#include "dp/accounting/event.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/errors.h"

namespace curator::dp {
namespace {

Event Nested(int depth) {
  Event event{PureEvent{Epsilon(1)}};
  for (int i = 1; i < depth; ++i) event = Event{ComposedEvent{{{event, 2}}}};
  return event;
}

std::string BadField(const Event& event) {
  const std::optional<FieldViolation> violation = FieldViolationOf(ValidateEvent(event));
  return violation ? violation->field : "";
}

TEST(Events, AreEqualWhenAllTheirPartsAre) {
  EXPECT_EQ(Nested(5), Nested(5));
  EXPECT_NE(Nested(5), Nested(4));
  const Event group{GroupEvent{{Nested(2)}, 3}};
  EXPECT_EQ(group, (Event{GroupEvent{{Nested(2)}, 3}}));
  EXPECT_NE(group, (Event{GroupEvent{{Nested(2)}, 4}}));
  const auto stated = [](int64_t delta) { return Event{ApproximateEvent{Epsilon(1), Delta(delta)}}; };
  EXPECT_EQ(stated(1), stated(1));
  EXPECT_NE(stated(1), stated(2));
  EXPECT_NE((Event{ParallelEvent{{Nested(1)}}}), (Event{ComposedEvent{{{Nested(1), 1}}}}));
}

TEST(Events, AreDescribedInOneLine) {
  const Event gaussian{DiscreteGaussianEvent{{640, 2}, 1}};
  EXPECT_EQ(Describe(Event{ComposedEvent{{{gaussian, 64}}}}),
            "64 x discrete Gaussian (sigma^2 = 320, L2^2 = 1)");
  EXPECT_EQ(Describe(Event{ComposedEvent{{{gaussian, 1}, {Event{PureEvent{Epsilon(500'000'000'000)}}, 2}}}}),
            "discrete Gaussian (sigma^2 = 320, L2^2 = 1) + 2 x 0.5-DP");
  EXPECT_EQ(Describe(Event{DiscreteLaplaceEvent{{7, 2}, 2, 1}}),
            "discrete Laplace (scale = 7/2, L1 = 2, Linf = 1)");
  EXPECT_EQ(Describe(Event{GroupEvent{{Event{ApproximateEvent{Epsilon(kEpsilonUnitsPerOne), Delta(1)}}}, 3}}),
            "for groups of 3 ((1, 1e-18)-DP)");
  EXPECT_EQ(Describe(Event{DiscreteGaussianEvent{{320, 1}, 36, 1}}),
            "discrete Gaussian (sigma^2 = 320, L2^2 = 36, Linf = 1)");
  EXPECT_EQ(Describe(Event{CertifiedEvent{{gaussian}, Epsilon(500'000'000'000), Delta(1)}}),
            "(0.5, 1e-18)-DP, certified for (discrete Gaussian (sigma^2 = 320, L2^2 = 1))");
  EXPECT_EQ(Describe(Event{ComposedEvent{}}), "nothing");
}

TEST(Events, NumbersOutOfRangeAreRefusedByName) {
  EXPECT_EQ(BadField(Event{DiscreteLaplaceEvent{{0, 1}, 1, 1}}), "scale");
  EXPECT_EQ(BadField(Event{DiscreteLaplaceEvent{{1, 0}, 1, 1}}), "scale");
  EXPECT_EQ(BadField(Event{DiscreteLaplaceEvent{{-1, -1}, 1, 1}}), "scale");
  EXPECT_EQ(BadField(Event{DiscreteLaplaceEvent{{1, 1}, 0, 0}}), "l1_sensitivity");
  EXPECT_EQ(BadField(Event{DiscreteLaplaceEvent{{1, 1}, 1, 2}}), "linf_sensitivity");
  EXPECT_EQ(BadField(Event{DiscreteGaussianEvent{{1, 1}, -1}}), "l2_sensitivity_squared");
  EXPECT_EQ(BadField(Event{DiscreteGaussianEvent{{0, 5}, 1}}), "sigma_squared");
  EXPECT_EQ(BadField(Event{LaplaceEvent{{1, 1}, {0, 1}}}), "l1_sensitivity");
  EXPECT_EQ(BadField(Event{GaussianEvent{{1, 1}, {1, -1}}}), "l2_sensitivity_squared");
  EXPECT_EQ(BadField(Event{ExponentialMechanismEvent{Epsilon(-1)}}), "range");
  EXPECT_EQ(BadField(Event{PureEvent{Epsilon(std::numeric_limits<int64_t>::min())}}), "epsilon");
  EXPECT_EQ(BadField(Event{ApproximateEvent{Epsilon(0), Delta(kDeltaUnitsPerOne + 1)}}), "delta");
  EXPECT_EQ(BadField(Event{ZcdpEvent{Rho(-1)}}), "rho");
  EXPECT_EQ(BadField(Event{ComposedEvent{{{Nested(1), 0}}}}), "count");
  EXPECT_EQ(BadField(Event{GroupEvent{{Nested(1)}, 0}}), "group_size");
  EXPECT_EQ(BadField(Event{GroupEvent{{}, 1}}), "event");
  EXPECT_EQ(BadField(Event{GroupEvent{{Nested(1), Nested(1)}, 1}}), "event");
  EXPECT_EQ(BadField(Event{DiscreteGaussianEvent{{1, 1}, 36, 7}}), "linf_sensitivity");
  EXPECT_EQ(BadField(Event{DiscreteGaussianEvent{{1, 1}, 36, -1}}), "linf_sensitivity");
  EXPECT_EQ(BadField(Event{CertifiedEvent{{Nested(1)}, Epsilon(-1), Delta(1)}}), "epsilon");
  EXPECT_EQ(BadField(Event{CertifiedEvent{{Nested(1)}, Epsilon(1), Delta(kDeltaUnitsPerOne + 1)}}), "delta");
  EXPECT_EQ(BadField(Event{CertifiedEvent{{}, Epsilon(1), Delta(1)}}), "schedule");
  EXPECT_EQ(BadField(Event{CertifiedEvent{{Nested(1), Nested(1)}, Epsilon(1), Delta(1)}}), "schedule");
  EXPECT_EQ(BadField(Event{ParallelEvent{{Event{PureEvent{Epsilon(-1)}}}}}), "epsilon");
}

TEST(Events, DepthAndSizeAreBounded) {
  EXPECT_TRUE(ValidateEvent(Nested(kMaxEventDepth)).ok());
  EXPECT_EQ(BadField(Nested(kMaxEventDepth + 1)), "event");
  Event wide{ParallelEvent{std::vector<Event>(kMaxEventNodes - 1, Nested(1))}};
  EXPECT_TRUE(ValidateEvent(wide).ok());
  std::get<ParallelEvent>(wide.what).parts.push_back(Nested(1));
  EXPECT_EQ(BadField(wide), "event");
}

}  // namespace
}  // namespace curator::dp
