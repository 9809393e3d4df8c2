#include "app.h"

#include <gtest/gtest.h>

namespace curator {
namespace {

TEST(CheckLoopback, TakesEveryWayToSayThisMachineAlone) {
  for (const char* address : {"127.0.0.1:7878", "127.8.9.10:0", "localhost:65535", "[::1]:80"}) {
    EXPECT_TRUE(CheckLoopback(address).ok()) << address;
  }
}

TEST(CheckLoopback, RefusesAddressesThatOthersCanReach) {
  for (const char* address :
       {"0.0.0.0:7878", "[::]:7878", "192.168.0.1:80", "example.org:80", "127.0.0.1.evil.org:1"}) {
    EXPECT_EQ(CheckLoopback(address).code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

TEST(CheckLoopback, RefusesWhatIsNoAddress) {
  for (const char* address :
       {"", "7878", "127.0.0.1", "127.0.0.1:", "127.0.0.1:x", "127.0.0.1:65536", "127.0.0.1:-1"}) {
    EXPECT_EQ(CheckLoopback(address).code(), absl::StatusCode::kInvalidArgument) << address;
  }
}

}  // namespace
}  // namespace curator
