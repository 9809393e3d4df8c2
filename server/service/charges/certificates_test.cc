#include "service/charges/certificates.h"

#include <gtest/gtest.h>

#include "base/errors.h"
#include "base/testing/names.h"
#include "dp/accounting/comparison.h"

namespace curator::service {
namespace {

dp::Event Composed(int64_t parts) {
  dp::ComposedEvent composed;
  composed.parts.assign(static_cast<size_t>(parts), {dp::Event{dp::PureEvent{dp::Epsilon(1)}}, 1});
  return {composed};
}

dp::AskedEvent CertifiedLaplace(int64_t scale) {
  const dp::Event schedule{dp::LaplaceEvent{.scale = {scale, 1}}};
  return dp::Event{dp::CertifiedEvent{{schedule}, dp::Epsilon(0), dp::Delta(1'000'000'000'000)}};
}

class CertificatesTest : public ::testing::Test {
 protected:
  MemoryBudget memory_{dp::kBoundedBytes, absl::ZeroDuration()};
  Certificates certificates_{memory_, TestPrincipal("ana"), {}};
};

TEST_F(CertificatesTest, AnEventAndACallHaveAMostNumberOfParts) {
  EXPECT_TRUE(absl::IsInvalidArgument(certificates_.TakeParts(Composed(kMostEventParts))))
      << "the composition is one more";
  for (int64_t left = kMostCallParts; left >= kMostEventParts; left -= kMostEventParts) {
    EXPECT_TRUE(certificates_.TakeParts(Composed(kMostEventParts - 1)).ok());
  }
  EXPECT_TRUE(absl::IsInvalidArgument(certificates_.TakeParts(Composed(kMostEventParts - 1))));
}

TEST_F(CertificatesTest, TwoDifferentSchedulesAreCertifiedAndEqualOnesCountOnce) {
  for (const int64_t scale : {10, 20, 10, 20}) {
    const absl::StatusOr<dp::Event> event = certificates_.Of(CertifiedLaplace(scale));
    ASSERT_TRUE(event.ok()) << event.status();
    EXPECT_GT(std::get<dp::CertifiedEvent>(event->what).epsilon, dp::Epsilon(0));
  }
  const absl::Status third = certificates_.Of(CertifiedLaplace(30)).status();
  EXPECT_EQ(FieldViolationOf(third)->field, "certified");
  EXPECT_NE(third.message().find("at most 2"), std::string::npos) << third;
  EXPECT_EQ(memory_.taken(), 0);
}

TEST_F(CertificatesTest, ACertificateWaitsForItsMemoryAndAPlainEventDoesNot) {
  const auto others = memory_.Take(TestPrincipal("bob"), 1);
  ASSERT_TRUE(others.ok()) << others.status();
  EXPECT_TRUE(absl::IsUnavailable(certificates_.Of(CertifiedLaplace(10)).status()));
  EXPECT_EQ(certificates_.Of(Composed(3)).value(), Composed(3));
}

}  // namespace
}  // namespace curator::service
