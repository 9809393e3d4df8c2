#include "host/child_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>

#include "base/testing/shell_program.h"
#include "tests/testing/scratch_folder.h"

namespace curator::host {
namespace {

using ::testing::HasSubstr;

class ChildProgramTest : public ::testing::Test {
 protected:
  // A program of the shell.
  std::string Program(const std::string& script) { return ShellProgram(folder_.path(), script); }

  absl::StatusOr<std::string> Run(const std::string& script, std::string_view input = "",
                                  std::chrono::milliseconds patience = kLongPatience) {
    return RunChildProgram(Program(script), input, patience, 1 << 20);
  }

  // No child of this process is left, running or not reaped.
  void TearDown() override {
    EXPECT_EQ(waitpid(-1, nullptr, WNOHANG), -1);
    EXPECT_EQ(errno, ECHILD);
  }

 private:
  const testing::ScratchFolder folder_;
};

TEST_F(ChildProgramTest, ReturnsWhatTheProgramMakesOfItsInput) {
  EXPECT_EQ(*Run("exec /usr/bin/tr a-z A-Z", "select"), "SELECT");
  EXPECT_EQ(*Run("exit 0"), "");
}

TEST_F(ChildProgramTest, InputAndOutputMayBeLongerThanABuffer) {
  const std::string input(1 << 20, 'x');
  EXPECT_EQ(*Run("exec /bin/cat", input), input);
}

TEST_F(ChildProgramTest, AProgramNeedNotReadItsInput) {
  EXPECT_EQ(*Run("echo done; exit 0", std::string(8 << 20, 'x')), "done\n");
}

TEST_F(ChildProgramTest, HasNoEnvironmentAndNoFileOfTheProcessAndLiesInTheRoot) {
  setenv("CURATOR_SECRET", "s3cret", 1);
  const std::ifstream open_file("/proc/self/status");
  EXPECT_EQ(*RunChildProgram("/usr/bin/env", "", kLongPatience, 1 << 10), "");
  EXPECT_EQ(*RunChildProgram("/bin/pwd", "", kLongPatience, 1 << 10), "/\n");
  // The fourth is the folder that ls reads.
  EXPECT_EQ(*Run("exec /bin/ls /proc/self/fd"), "0\n1\n2\n3\n");
  unsetenv("CURATOR_SECRET");
}

TEST_F(ChildProgramTest, AProgramThatFailsHasNoOutput) {
  const absl::Status failed = Run("echo half; exit 3").status();
  EXPECT_EQ(failed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(failed.message()), HasSubstr("status 3"));
  const absl::Status crashed = Run("echo half; kill -SEGV $$").status();
  EXPECT_EQ(crashed.code(), absl::StatusCode::kAborted);
  EXPECT_THAT(std::string(crashed.message()), HasSubstr("signal 11"));
}

TEST_F(ChildProgramTest, AProgramThatDoesNotEndIsEnded) {
  EXPECT_EQ(Run("exec /bin/sleep 1000", "", kShortPatience).status().code(),
            absl::StatusCode::kDeadlineExceeded);
  // Also one that has closed what it was given.
  const absl::Status closed = Run("exec 0<&- 1>&-; exec /bin/sleep 1000", "", kShortPatience).status();
  EXPECT_THAT(std::string(closed.message()), HasSubstr("signal 9"));
}

// As where pidfd_open() is not allowed.
TEST_F(ChildProgramTest, AChildIsAwaitedAndEndedAlsoWithoutADescriptorOfItsEnd) {
  constexpr int kNone = -1;
  const auto status_of = [this](const std::string& script, std::chrono::milliseconds patience) {
    std::string path = Program(script);
    std::array<char*, 2> arguments = {path.data(), nullptr};
    pid_t pid = 0;
    EXPECT_EQ(posix_spawn(&pid, path.c_str(), nullptr, nullptr, arguments.data(), environ), 0);
    return AwaitChild(pid, kNone, std::chrono::steady_clock::now() + patience);
  };
  const int ended = status_of("/bin/true; exit 3", kLongPatience);
  EXPECT_TRUE(WIFEXITED(ended));
  EXPECT_EQ(WEXITSTATUS(ended), 3);
  const int killed = status_of("exec /bin/sleep 1000", kShortPatience);
  EXPECT_TRUE(WIFSIGNALED(killed));
  EXPECT_EQ(WTERMSIG(killed), SIGKILL);
}

TEST_F(ChildProgramTest, AProgramThatWritesWithoutEndIsEnded) {
  EXPECT_EQ(Run("exec /bin/cat /dev/zero").status().code(), absl::StatusCode::kResourceExhausted);
}

TEST_F(ChildProgramTest, AProgramThatIsNotThereIsNotFound) {
  EXPECT_EQ(RunChildProgram("/nonexistent/program", "", kLongPatience, 1).status().code(),
            absl::StatusCode::kNotFound);
}

}  // namespace
}  // namespace curator::host
