#include "ledger/sql/repeating_principals.h"

#include <gtest/gtest.h>

#include "absl/strings/str_cat.h"

namespace curator::ledger::sql {
namespace {

using Clock = RepeatingPrincipals::Clock;

constexpr Clock::time_point kStart{};

TEST(RepeatingPrincipals, OneIsRememberedForAMinuteAfterTheLastRepetition) {
  RepeatingPrincipals repeating;
  EXPECT_FALSE(repeating.Contains("bob", kStart));
  repeating.Add("bob", kStart);
  EXPECT_TRUE(repeating.Contains("bob", kStart + std::chrono::seconds(59)));
  EXPECT_FALSE(repeating.Contains("bob", kStart + std::chrono::seconds(60)));
  EXPECT_FALSE(repeating.Contains("ana", kStart));
  repeating.Add("bob", kStart + std::chrono::seconds(59));
  EXPECT_TRUE(repeating.Contains("bob", kStart + std::chrono::seconds(118)));
}

TEST(RepeatingPrincipals, ThoseOfLongAgoMakeWay) {
  constexpr int kMost = 10'000;
  RepeatingPrincipals repeating;
  for (int i = 0; i < kMost - 1; ++i) repeating.Add(absl::StrCat("early ", i), kStart);
  const Clock::time_point later = kStart + std::chrono::minutes(2);
  repeating.Add("bob", later);
  repeating.Add("cy", later);
  EXPECT_TRUE(repeating.Contains("bob", later));
  EXPECT_TRUE(repeating.Contains("cy", later));
}

}  // namespace
}  // namespace curator::ledger::sql
