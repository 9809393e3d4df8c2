#include "client/gate/sessions.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace curator::gate {
namespace {

using ::testing::ElementsAre;

class SessionsTest : public ::testing::Test {
 protected:
  std::string Begin(const std::string& principal) {
    const std::optional<std::string> id = sessions_.Begin(
        {.principal = principal, .credential = {.kind = Credential::Kind::kToken, .text = "token"}});
    return id ? Sessions::KeyOf(*id) : "";
  }

  absl::Time now_ = absl::FromUnixSeconds(1'800'000'000);
  std::vector<std::string> ended_;
  Sessions sessions_{{.most = 5, .most_of_principal = 3}, [this] { return now_; }};

  void SetUp() override {
    sessions_.OnEnd([this](const std::string& key, const Session&) { ended_.push_back(key); });
  }
};

TEST_F(SessionsTest, ASessionIsFoundByItsIdAlone) {
  const std::string key = Begin("ana");
  ASSERT_TRUE(sessions_.Use(key));
  EXPECT_EQ(sessions_.Use(key)->principal, "ana");
  EXPECT_FALSE(sessions_.Use(Sessions::KeyOf("")));
  EXPECT_FALSE(sessions_.Use(Sessions::KeyOf("another")));
}

TEST_F(SessionsTest, IdsAndSecretsAreNeverTheSame) {
  const std::optional<std::string> first = sessions_.Begin({.principal = "ana", .credential = {}});
  const std::optional<std::string> second = sessions_.Begin({.principal = "ana", .credential = {}});
  ASSERT_TRUE(first && second);
  EXPECT_NE(*first, *second);
  EXPECT_NE(sessions_.Use(Sessions::KeyOf(*first))->csrf, sessions_.Use(Sessions::KeyOf(*second))->csrf);
}

TEST_F(SessionsTest, ASessionThatIsNotUsedForHalfAnHourEnds) {
  const std::string key = Begin("ana");
  now_ += absl::Minutes(29);
  EXPECT_TRUE(sessions_.Use(key));
  now_ += absl::Minutes(29);
  EXPECT_TRUE(sessions_.Look(key));  // which is no use
  now_ += absl::Minutes(1);
  EXPECT_FALSE(sessions_.Look(key));
  EXPECT_TRUE(ended_.empty()) << "a look calls nothing: it is made under locks of others";
  EXPECT_FALSE(sessions_.Use(key));
  EXPECT_THAT(ended_, ElementsAre(key));
}

TEST_F(SessionsTest, ASessionThatIsAlwaysUsedEndsAfterTwelveHours) {
  const std::string key = Begin("ana");
  for (int i = 0; i < 12 * 6 - 1; ++i) {
    now_ += absl::Minutes(10);
    ASSERT_TRUE(sessions_.Use(key)) << i;
  }
  now_ += absl::Minutes(10);
  EXPECT_FALSE(sessions_.Use(key));
}

TEST_F(SessionsTest, OnePrincipalsSessionsTakeTheirOwnPlaces) {
  const std::string first = Begin("ana");
  now_ += absl::Seconds(1);
  const std::string second = Begin("ana");
  const std::string third = Begin("ana");
  ASSERT_TRUE(sessions_.Use(first));
  now_ += absl::Seconds(1);
  ASSERT_TRUE(sessions_.Use(third));
  const std::string fourth = Begin("ana");
  EXPECT_THAT(ended_, ElementsAre(second)) << "the one that was used least recently";
  EXPECT_TRUE(sessions_.Use(fourth));
}

TEST_F(SessionsTest, NoMoreSessionsBeginThanThereArePlaces) {
  for (const char* name : {"a", "b", "c", "d", "e"}) EXPECT_NE(Begin(name), "");
  EXPECT_EQ(Begin("f"), "");
  now_ += absl::Minutes(31);
  EXPECT_NE(Begin("f"), "") << "those that are over give their places back";
}

TEST_F(SessionsTest, ARenewalKeepsTheSession) {
  const std::string key = Begin("ana");
  sessions_.Renew(key, "new", "refresh");
  EXPECT_EQ(sessions_.Use(key)->credential.text, "new");
  EXPECT_EQ(sessions_.Use(key)->refresh_token, "refresh");
}

TEST_F(SessionsTest, TheEndIsReportedOnce) {
  const std::string key = Begin("ana");
  sessions_.End(key);
  sessions_.End(key);
  now_ += absl::Hours(13);
  sessions_.Sweep();
  EXPECT_THAT(ended_, ElementsAre(key));
}

}  // namespace
}  // namespace curator::gate
