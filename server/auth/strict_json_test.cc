#include "auth/strict_json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

namespace curator::auth {
namespace {

using ::testing::HasSubstr;

TEST(StrictJson, IsReadAsJson) {
  EXPECT_EQ(ParseStrictJson(R"({"a":[1,{"b":null}],"c":{"a":2}})").value().dump(),
            R"({"a":[1,{"b":null}],"c":{"a":2}})");
}

TEST(StrictJson, RefusesAKeyTwiceInOneObject) {
  for (const char* text : {R"({"a":1,"a":1})", R"({"b":[{"a":1,"\u0061":2}]})"}) {
    const absl::Status status = ParseStrictJson(text).status();
    EXPECT_TRUE(absl::IsInvalidArgument(status)) << text;
    EXPECT_THAT(std::string(status.message()), HasSubstr("the key \"a\" twice"));
  }
}

TEST(StrictJson, RefusesWhatIsNoJson) {
  for (const char* text : {"", "{", "{} {}", "// comment\n{}", "{'a':1}", "{\"a\":1,}", "\"\xff\"", "NaN"}) {
    EXPECT_TRUE(absl::IsInvalidArgument(ParseStrictJson(text).status())) << text;
  }
}

TEST(StrictJson, RefusesMoreThanThirtyTwoLevels) {
  EXPECT_TRUE(ParseStrictJson(std::string(32, '[') + std::string(32, ']')).ok());
  EXPECT_FALSE(ParseStrictJson(std::string(33, '[') + std::string(33, ']')).ok());
}

}  // namespace
}  // namespace curator::auth
