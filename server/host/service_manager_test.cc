#include "host/service_manager.h"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <string>

#include "tests/testing/scratch_folder.h"

namespace curator::host {
namespace {

// Receives what a service would send to systemd.
class ServiceManager : public ::testing::Test {
 protected:
  void TearDown() override {
    unsetenv("NOTIFY_SOCKET");
    if (socket_ >= 0) close(socket_);
  }

  // `name`: a path, or an abstract name after '@'.
  void ListenAt(const std::string& name) {
    sockaddr_un address{.sun_family = AF_UNIX, .sun_path = {}};
    name.copy(address.sun_path, sizeof(address.sun_path) - 1);
    if (name.front() == '@') address.sun_path[0] = '\0';
    socket_ = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    const auto length = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + name.size());
    ASSERT_EQ(bind(socket_, reinterpret_cast<const sockaddr*>(&address), length), 0);
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
  }

  std::string Received() const {
    std::array<char, 100> buffer{};
    const ssize_t size = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    return size < 0 ? "nothing" : std::string(buffer.data(), static_cast<size_t>(size));
  }

  const testing::ScratchFolder folder_;

 private:
  int socket_ = -1;
};

TEST_F(ServiceManager, HearsThatTheServerIsReadyAndThatItStops) {
  ListenAt(folder_.path() + "/notify");
  ASSERT_TRUE(ReportReady().ok());
  EXPECT_EQ(Received(), "READY=1");
  ASSERT_TRUE(ReportStopping().ok());
  EXPECT_EQ(Received(), "STOPPING=1");
}

TEST_F(ServiceManager, MayListenAtAnAbstractName) {
  ListenAt("@" + folder_.path());
  ASSERT_TRUE(ReportReady().ok());
  EXPECT_EQ(Received(), "READY=1");
}

TEST_F(ServiceManager, IsNotNeeded) {
  EXPECT_TRUE(ReportReady().ok());
}

TEST_F(ServiceManager, ThatIsGoneIsAnError) {
  setenv("NOTIFY_SOCKET", (folder_.path() + "/missing").c_str(), 1);
  EXPECT_EQ(ReportReady().code(), absl::StatusCode::kUnavailable);
}

TEST_F(ServiceManager, OfANameThatIsNoSocketsIsAnError) {
  for (const std::string& name : {std::string("notify"), "/" + std::string(200, 'n')}) {
    setenv("NOTIFY_SOCKET", name.c_str(), 1);
    EXPECT_EQ(ReportReady().code(), absl::StatusCode::kInvalidArgument) << name;
  }
}

}  // namespace
}  // namespace curator::host
