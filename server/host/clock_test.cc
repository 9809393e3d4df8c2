#include "host/clock.h"

#include <gtest/gtest.h>

#include <ctime>

namespace curator::host {
namespace {

TEST(SystemClock, CountsMicrosecondsSince1970) {
  const int64_t before_s = std::time(nullptr);
  const int64_t now_us = SystemClock()();
  const int64_t after_s = std::time(nullptr);
  EXPECT_GE(now_us, (before_s - 1) * 1'000'000);
  EXPECT_LE(now_us, (after_s + 1) * 1'000'000);
}

}  // namespace
}  // namespace curator::host
