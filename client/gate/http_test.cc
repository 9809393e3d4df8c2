#include "client/gate/http.h"

#include <gtest/gtest.h>

namespace curator::gate {
namespace {

TEST(HttpRequestTest, ACookieIsFoundAmongOthersByItsWholeName) {
  const HttpRequest request{.headers = {{"cookie", "a=1; session=abc; xsession=no"}}};
  EXPECT_EQ(request.Cookie("session"), "abc");
  EXPECT_EQ(request.Cookie("sess"), "");
}

TEST(HttpRequestTest, ACookieThatWasSentTwiceIsNone) {
  const HttpRequest request{.headers = {{"cookie", "session=abc; session=def"}}};
  EXPECT_EQ(request.Cookie("session"), "");
}

TEST(HttpRequestTest, ParametersAreDecoded) {
  const HttpRequest request{.query = "watch=demo%3A5&return=%2Fdatasets%2Fdemo"};
  EXPECT_EQ(request.Parameter("watch"), "demo:5");
  EXPECT_EQ(request.Parameter("return"), "/datasets/demo");
  EXPECT_EQ(request.Parameter("missing"), "");
}

TEST(PercentEncodingTest, WhatIsEncodedIsDecodedAgain) {
  const std::string text = "a b/ä?&=%\n~";
  EXPECT_EQ(PercentDecoded(PercentEncoded(text)), text);
}

TEST(PercentEncodingTest, AnEscapeThatIsCutOffIsNoText) {
  EXPECT_EQ(PercentDecoded("a%2"), "");
  EXPECT_EQ(PercentDecoded("a%zz"), "");
}

}  // namespace
}  // namespace curator::gate
