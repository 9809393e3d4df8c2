#include "base/postgres_url.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator {
namespace {

using ::testing::HasSubstr;

TEST(PostgresUrlTest, HasThePartsOfTheUrl) {
  const auto url =
      ParsePostgresUrl("postgresql://ana%40x@a:1,b/clinic?sslmode=verify-full&options=-c%20a%3db&service=c");
  ASSERT_TRUE(url.ok()) << url.status();
  EXPECT_EQ(url->user, "ana%40x");
  EXPECT_EQ(url->hosts, "a:1,b");
  EXPECT_EQ(url->database, "clinic");
  EXPECT_EQ(url->options, "-c a=b");
  EXPECT_THAT(url->parameters, ::testing::ElementsAre("sslmode=verify-full", "service=c"));
  EXPECT_EQ(url->where, "hosts a:1,b");
}

TEST(PostgresUrlTest, DefaultsComeBeforeTheParametersThatMayOverrideThem) {
  EXPECT_EQ(
      UrlWithDefaults(*ParsePostgresUrl("postgres://ana@a/clinic?connect_timeout=3"), "connect_timeout=10"),
      "postgresql://ana@a/clinic?connect_timeout=10&connect_timeout=3");
  EXPECT_EQ(UrlWithDefaults(*ParsePostgresUrl("postgres://"), "a=b"), "postgresql:///?a=b");
}

TEST(PostgresUrlTest, ARefusedPasswordComesWithEveryOtherPlaceForIt) {
  const absl::Status refused = ParsePostgresUrl("postgresql://ana:secret@host/clinic").status();
  for (const char* const place : {"~/.pgpass", "PGPASSFILE", "service file", "PGPASSWORD"}) {
    EXPECT_THAT(std::string(refused.message()), HasSubstr(place));
  }
}

TEST(PostgresUrlTest, AParametersValueIsEncodedAsAWhole) {
  EXPECT_EQ(PercentEncoded("-c a=b"), "%2dc%20a%3db");
}

}  // namespace
}  // namespace curator
