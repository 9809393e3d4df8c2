#include "base/followers.h"

#include <gtest/gtest.h>

#include <new>

namespace curator {
namespace {

constexpr std::chrono::milliseconds kNeverByItself = std::chrono::hours(24);

TEST(Followers, OneThatGotSomethingIsAskedAgainOnceItHasTakenIt) {
  Followers followers(kNeverByItself);
  int looks = 0;
  const uint64_t follower = followers.Follow([&] { return ++looks == 1; }, [] {});
  followers.Look();
  followers.Look();
  EXPECT_EQ(looks, 1) << "it has not taken it";
  followers.Took(follower);
  followers.Look();
  followers.Look();
  EXPECT_EQ(looks, 3) << "it got nothing the second time";
}

TEST(Followers, OneThatTookBeforeTheLookReturnedIsAskedAgain) {
  Followers followers(kNeverByItself);
  int looks = 0;
  uint64_t follower = 0;
  follower = followers.Follow(
      [&] {
        ++looks;
        followers.Took(follower);
        return true;
      },
      [] {});
  followers.Look();
  followers.Look();
  EXPECT_EQ(looks, 2);
}

TEST(Followers, OneWhoseLookRanOutOfMemoryIsAskedAgain) {
  Followers followers(kNeverByItself);
  int looks = 0;
  followers.Follow(
      [&]() -> bool {
        if (++looks == 1) throw std::bad_alloc();
        return false;
      },
      [] {});
  EXPECT_THROW(followers.Look(), std::bad_alloc);
  followers.Look();
  EXPECT_EQ(looks, 2);
}

TEST(Followers, NothingIsPreparedForALookWithoutFollowers) {
  int prepared = 0;
  Followers followers(kNeverByItself, [&] { ++prepared; });
  followers.Look();
  EXPECT_EQ(prepared, 0);
  followers.Follow([] { return false; }, [] {});
  followers.Look();
  EXPECT_EQ(prepared, 1);
}

}  // namespace
}  // namespace curator
