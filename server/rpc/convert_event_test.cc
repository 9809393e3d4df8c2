#include "rpc/convert_event.h"

#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::rpc {
namespace {

v1::Event Parse(const std::string& text) {
  v1::Event event;
  EXPECT_TRUE(google::protobuf::TextFormat::ParseFromString(text, &event));
  return event;
}

dp::Event Read(const std::string& text) {
  const absl::StatusOr<dp::AskedEvent> event = FromProto(Parse(text));
  EXPECT_TRUE(event.ok()) << event.status();
  return event.value_or(dp::AskedEvent()).as_asked();
}

std::string RefusedField(const std::string& text) {
  const absl::StatusOr<dp::AskedEvent> event = FromProto(Parse(text));
  if (event.ok()) return "accepted";
  const auto violation = FieldViolationOf(event.status());
  return violation ? violation->field : event.status().ToString();
}

TEST(ConvertEvent, EveryKindIsReadExactly) {
  EXPECT_EQ(Read(R"pb(discrete_laplace { scale: "5/2" l1_sensitivity: 4 linf_sensitivity: 2 })pb"),
            (dp::Event{dp::DiscreteLaplaceEvent{{5, 2}, 4, 2}}));
  EXPECT_EQ(
      Read(
          R"pb(discrete_gaussian { sigma_squared: "320" l2_sensitivity_squared: 36 linf_sensitivity: 1 })pb"),
      (dp::Event{dp::DiscreteGaussianEvent{{320, 1}, 36, 1}}));
  EXPECT_EQ(Read(R"pb(laplace { scale: "0.1" })pb"), (dp::Event{dp::LaplaceEvent{{1, 10}, {1, 1}}}));
  EXPECT_EQ(Read(R"pb(gaussian { sigma_squared: "2.25" l2_sensitivity_squared: "4" })pb"),
            (dp::Event{dp::GaussianEvent{{9, 4}, {4, 1}}}));
  EXPECT_EQ(Read(R"pb(exponential_mechanism { range: "1e-12" })pb"),
            (dp::Event{dp::ExponentialMechanismEvent{dp::Epsilon(1)}}));
  EXPECT_EQ(Read(R"pb(approximate { epsilon: "0.5" delta: "1e-18" })pb"),
            (dp::Event{dp::ApproximateEvent{dp::Epsilon(500'000'000'000), dp::Delta(1)}}));
  const dp::Event zcdp{dp::ZcdpEvent{dp::Rho(3)}};
  EXPECT_EQ(Read(R"pb(group {
                        group_size: 3
                        event { zcdp { rho: "3e-12" } }
                      })pb"),
            (dp::Event{dp::GroupEvent{{zcdp}, 3}}));
  EXPECT_EQ(Read(R"pb(composed {
                        parts {
                          count: 7
                          event { zcdp { rho: "3e-12" } }
                        }
                      })pb"),
            (dp::Event{dp::ComposedEvent{{{zcdp, 7}}}}));
}

TEST(ConvertEvent, ACertifiedScheduleHasNoEpsilonBeforeAccessIsChecked) {
  const dp::Event event = Read(R"pb(
    certified {
      delta: "1e-6"
      schedule {
        composed {
          parts {
            count: 36
            event { gaussian { sigma_squared: "400" } }
          }
        }
      }
    })pb");
  const auto& certified = std::get<dp::CertifiedEvent>(event.what);
  EXPECT_EQ(certified.delta, dp::Delta(1'000'000'000'000));
  EXPECT_EQ(certified.epsilon, dp::Epsilon(0));
  EXPECT_EQ(certified.schedule.size(), 1u);
}

TEST(ConvertEvent, WhatIsWrongIsNamed) {
  EXPECT_EQ(RefusedField(""), "");
  EXPECT_EQ(RefusedField(R"pb(pure { epsilon: "nan" })pb"), "pure.epsilon");
  EXPECT_EQ(RefusedField(R"pb(laplace { scale: "1e-13" })pb"), "laplace.scale");
  EXPECT_EQ(RefusedField(R"pb(discrete_gaussian { sigma_squared: "1" linf_sensitivity: 0 })pb"),
            "discrete_gaussian.linf_sensitivity");
  EXPECT_EQ(RefusedField(R"pb(discrete_gaussian { sigma_squared: "1" linf_sensitivity: 2 })pb"),
            "discrete_gaussian.linf_sensitivity");
  EXPECT_EQ(RefusedField(R"pb(laplace { scale: "0" })pb"), "laplace.scale");
  EXPECT_EQ(RefusedField(R"pb(composed {
                                parts {
                                  count: 1
                                  event { gaussian { sigma_squared: "0" } }
                                }
                              })pb"),
            "composed.parts[0].event.gaussian.sigma_squared");
  EXPECT_EQ(RefusedField(R"pb(group { event { pure { epsilon: "1" } } })pb"), "group.group_size");
  EXPECT_EQ(RefusedField(R"pb(composed { parts { event { pure { epsilon: "1" } } } })pb"),
            "composed.parts[0].count");
  EXPECT_EQ(RefusedField(R"pb(certified { delta: "1e-6" })pb"), "certified.schedule");
  EXPECT_EQ(RefusedField(R"pb(certified {
                                delta: "1"
                                schedule { pure { epsilon: "1" } }
                              })pb"),
            "certified.delta");
  EXPECT_EQ(RefusedField(R"pb(composed {
                                parts {
                                  count: 1
                                  event {
                                    certified {
                                      delta: "1e-6"
                                      schedule { pure { epsilon: "1" } }
                                    }
                                  }
                                }
                              })pb"),
            "composed.parts[0].event.certified");
}

TEST(ConvertEvent, AnIntegerThatIsTooLongIsSaidToBe) {
  const absl::Status refused = ParseRational("9223372036854775808", "laplace.scale").status();
  EXPECT_EQ(FieldViolationOf(refused)->field, "laplace.scale");
  EXPECT_NE(refused.message().find("above 9223372036854775807"), std::string::npos) << refused;
}

TEST(ConvertEvent, TheFormsOfANumberAreNamedWhereThereIsNone) {
  for (const char* text : {"huge", "ten", "", "1/x"}) {
    const absl::Status refused = ParseRational(text, "laplace.scale").status();
    EXPECT_NE(refused.message().find("an integer, a quotient of integers such as 1/3, or a decimal"),
              std::string::npos)
        << refused;
  }
}

TEST(ConvertEvent, AnEventThatIsNestedTooDeeplyIsRefusedWithTheLimit) {
  v1::Event event;
  event.mutable_pure()->set_epsilon("1");
  for (int i = 0; i < dp::kMaxEventDepth; ++i) {
    v1::Event outer;
    outer.mutable_group()->set_group_size(2);
    *outer.mutable_group()->mutable_event() = std::move(event);
    event = std::move(outer);
  }
  const absl::Status refused = FromProto(event).status();
  EXPECT_NE(refused.message().find("is nested more than 16 deep"), std::string::npos) << refused;
}

}  // namespace
}  // namespace curator::rpc
