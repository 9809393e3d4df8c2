#include "ledger/postgres/silence_watch.h"

#include <arpa/inet.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <thread>

namespace curator::ledger::postgres {
namespace {

using std::chrono::milliseconds;

// A TCP connection over loopback.
class Wire {
 public:
  Wire() {
    const int listener = socket(AF_INET, SOCK_STREAM, 0);
    sockaddr_in address = {};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    auto* const any = reinterpret_cast<sockaddr*>(&address);
    near_ = socket(AF_INET, SOCK_STREAM, 0);
    const bool is_open = bind(listener, any, size) == 0 && listen(listener, 1) == 0 &&
                         getsockname(listener, any, &size) == 0 && connect(near_, any, size) == 0;
    far_ = is_open ? accept(listener, nullptr, nullptr) : -1;
    close(listener);
  }
  ~Wire() {
    close(near_);
    close(far_);
  }
  int near() const { return near_; }
  int far() const { return far_; }

 private:
  int near_ = -1;
  int far_ = -1;
};

TEST(SilenceWatchTest, ACallToASilentPeerEnds) {
  SilenceWatch watch(milliseconds(5));
  const Wire wire;
  const SilenceWatch::Call call(watch, wire.near(), milliseconds(20));
  char byte = 0;
  EXPECT_EQ(read(wire.near(), &byte, 1), 0) << "the end of the connection";
}

TEST(SilenceWatchTest, ACallOnAUnixSocketEnds) {
  SilenceWatch watch(milliseconds(5));
  int sockets[2] = {};
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, sockets), 0);
  {
    const SilenceWatch::Call call(watch, sockets[0], milliseconds(20));
    char byte = 0;
    EXPECT_EQ(read(sockets[0], &byte, 1), 0);
  }
  close(sockets[0]);
  close(sockets[1]);
}

TEST(SilenceWatchTest, APeerThatSendsABitAtATimeMayTakeLonger) {
  SilenceWatch watch(milliseconds(5));
  const Wire wire;
  constexpr milliseconds kLongestSilence(1000);
  const auto begin = SilenceWatch::Clock::now();
  const SilenceWatch::Call call(watch, wire.near(), kLongestSilence);
  int bytes = 0;
  for (; SilenceWatch::Clock::now() - begin < 2 * kLongestSilence; ++bytes) {
    char byte = 1;
    ASSERT_EQ(write(wire.far(), &byte, 1), 1);
    ASSERT_EQ(read(wire.near(), &byte, 1), 1) << "after " << bytes << " bytes";
  }
  EXPECT_GT(bytes, 1);
}

TEST(SilenceWatchTest, OnlyTheSilentOneOfTwoCallsEnds) {
  SilenceWatch watch(milliseconds(5));
  const Wire silent;
  const Wire patient;
  const SilenceWatch::Call one(watch, silent.near(), milliseconds(20));
  const SilenceWatch::Call other(watch, patient.near(), std::chrono::hours(1));
  char byte = 1;
  EXPECT_EQ(read(silent.near(), &byte, 1), 0);
  ASSERT_EQ(write(patient.far(), &byte, 1), 1);
  EXPECT_EQ(read(patient.near(), &byte, 1), 1);
}

TEST(SilenceWatchTest, AFinishedCallIsNotWatched) {
  SilenceWatch watch(milliseconds(5));
  const Wire wire;
  { const SilenceWatch::Call call(watch, wire.near(), std::chrono::hours(1)); }
  const Wire other;
  const SilenceWatch::Call call(watch, other.near(), milliseconds(20));
  char byte = 1;
  EXPECT_EQ(read(other.near(), &byte, 1), 0) << "the watch has looked at its calls";
  ASSERT_EQ(write(wire.far(), &byte, 1), 1);
  EXPECT_EQ(read(wire.near(), &byte, 1), 1);
}

}  // namespace
}  // namespace curator::ledger::postgres
