#include "client/trace_parent.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace curator::client {
namespace {

using ::testing::MatchesRegex;

TEST(TraceParent, IsAsTheStandardHasItAndIsOfOneTraceWithAnotherParentEachTime) {
  const Trace trace;
  const std::string first = trace.NextParent();
  const std::string second = trace.NextParent();
  EXPECT_THAT(first, MatchesRegex("00-[0-9a-f]{32}-[0-9a-f]{16}-01"));
  EXPECT_EQ(first.substr(3, 32), second.substr(3, 32)) << "one trace";
  EXPECT_NE(first.substr(36, 16), second.substr(36, 16));
  EXPECT_NE(Trace().NextParent().substr(3, 32), first.substr(3, 32)) << "another request";
  EXPECT_NE(first.substr(3, 32), std::string(32, '0'));
}

}  // namespace
}  // namespace curator::client
