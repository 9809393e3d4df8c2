#include "client/trace_parent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/trace.h"

namespace curator::client {
namespace {

using ::testing::Optional;

TEST(TraceParent, IsAsTheStandardHasItAndIsOfOneTraceWithAnotherParentEachTime) {
  const Trace trace;
  const std::string first = trace.NextParent();
  const std::string second = trace.NextParent();
  ASSERT_NE(TraceIdIn(first), std::nullopt) << first;
  EXPECT_THAT(TraceIdIn(second), Optional(*TraceIdIn(first)));
  EXPECT_NE(first, second);
  EXPECT_NE(TraceIdIn(Trace().NextParent()), TraceIdIn(first)) << "another request";
}

}  // namespace
}  // namespace curator::client
