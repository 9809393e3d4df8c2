#include "client/request_id.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

namespace curator::client {
namespace {

TEST(RequestId, ANewOneIsAVersion7Uuid) {
  const auto id = NewRequestId();
  ASSERT_TRUE(id.ok());
  EXPECT_TRUE(IsRequestId(*id)) << *id;
  EXPECT_EQ((*id)[14], '7') << *id;
  EXPECT_NE(std::string("89ab").find((*id)[19]), std::string::npos) << *id;
}

TEST(RequestId, NewOnesBeginWithTheTimeSoThatNeighboursInTimeAreNeighboursInAnIndex) {
  const std::string earlier = NewRequestId().value().substr(0, 13);
  const std::string later = NewRequestId().value().substr(0, 13);
  EXPECT_LE(earlier, later);
  EXPECT_GT(earlier, "01900000-0000") << "2024";
}

TEST(RequestId, AThousandAreAllDifferent) {
  std::set<std::string> seen;
  for (int i = 0; i < 1000; ++i) seen.insert(NewRequestId().value());
  EXPECT_EQ(seen.size(), 1000u);
}

TEST(RequestId, EitherCaseIsAccepted) {
  EXPECT_TRUE(IsRequestId("1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"));
  EXPECT_TRUE(IsRequestId("1B4E28BA-2FA1-4D3B-A3F5-EF19B5A7633B"));
}

TEST(RequestId, WhatIsNoUuidIsRefused) {
  for (const char* text : {"", "1", "1b4e28ba2fa14d3ba3f5ef19b5a7633b", "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633",
                           "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633bc", "1b4e28ba-2fa1-4d3b-a3f5_ef19b5a7633b",
                           "{b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633}", "gb4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b"}) {
    EXPECT_FALSE(IsRequestId(text)) << text;
  }
}

}  // namespace
}  // namespace curator::client
