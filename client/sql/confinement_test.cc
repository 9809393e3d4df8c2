#include "client/sql/confinement.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstddef>
#include <new>
#include <vector>

namespace curator::sql {
namespace {

#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// How a process ends that is confined and then does this.
template <typename Work>
int StatusAfter(const Work& work) {
  const pid_t pid = fork();
  if (pid == 0) _exit(ConfineThisProcess() ? work() : 99);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return status;
}

bool EndsBySystemCall(int status) {
  return WIFSIGNALED(status) && WTERMSIG(status) == SIGSYS;
}

TEST(Confinement, LetsAProcessReadWriteAndTakeMemory) {
  int pipe_ends[2];
  ASSERT_EQ(pipe(pipe_ends), 0);
  const int status = StatusAfter([&] {
    const std::vector<char> bytes(1 << 20, 'x');
    char read_back = 0;
    const bool is_written = write(pipe_ends[1], bytes.data(), 1) == 1;
    return is_written && read(pipe_ends[0], &read_back, 1) == 1 && read_back == 'x' ? 7 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 7) << status;
  close(pipe_ends[0]);
  close(pipe_ends[1]);
}

TEST(Confinement, EndsAProcessThatOpensAFileANetworkOrAnotherProcess) {
  EXPECT_TRUE(EndsBySystemCall(StatusAfter([] { return open("/dev/null", O_RDONLY); })));
  EXPECT_TRUE(EndsBySystemCall(StatusAfter([] { return socket(AF_INET, SOCK_STREAM, 0); })));
  EXPECT_TRUE(EndsBySystemCall(StatusAfter([] { return static_cast<int>(fork()); })));
  EXPECT_TRUE(EndsBySystemCall(StatusAfter([] { return kill(getppid(), 0); })));
}

TEST(Confinement, BoundsMemory) {
  const int status = StatusAfter([] {
    constexpr size_t kTooMuch = size_t{1} << 30;
    return operator new(kTooMuch, std::nothrow) == nullptr ? 5 : 1;
  });
  EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 5) << status;
}

#endif

}  // namespace
}  // namespace curator::sql
