#include "service/workloads/sql_program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <thread>

#include "base/errors.h"
#include "base/testing/names.h"
#include "base/testing/shell_program.h"
#include "tests/testing/scratch_folder.h"

namespace curator::service {
namespace {

using ::testing::HasSubstr;

class SqlProgramTest : public ::testing::Test {
 protected:
  // A program of the shell in the place of curator-sql.
  std::string Program(const std::string& script) const { return ShellProgram(folder_.path(), script); }

  const testing::ScratchFolder folder_;
  const Principal ana_ = PrincipalForTest::Named("ana");
  const Principal bob_ = PrincipalForTest::Named("bob");
};

TEST_F(SqlProgramTest, ReturnsWhatTheProgramWrote) {
  EXPECT_EQ(*SqlProgram(Program("exec /bin/cat"), kLongPatience).Run(ana_, "task"), "task");
}

TEST_F(SqlProgramTest, AProgramThatBreaksIsAnErrorOfTheStatement) {
  for (const char* script : {"kill -SEGV $$", "exec /bin/cat /dev/zero"}) {
    SqlProgram program(Program(script), kLongPatience);
    const absl::Status broken = program.Run(ana_, "task").status();
    EXPECT_EQ(FieldViolationOf(broken)->field, "sql") << script;
  }
}

TEST_F(SqlProgramTest, AProgramThatDoesNotEndInTimeIsOverload) {
  SqlProgram program(Program("exec /bin/sleep 1000"), kShortPatience);
  EXPECT_TRUE(IsOverloaded(program.Run(ana_, "task").status()));
}

TEST_F(SqlProgramTest, AProgramThatIsNotThereIsUnavailable) {
  SqlProgram program("/nonexistent/curator-sql", kLongPatience);
  const absl::Status missing = program.Run(ana_, "task").status();
  EXPECT_EQ(missing.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(missing.message()), HasSubstr("curator-sql cannot be started"));
}

TEST_F(SqlProgramTest, AProgramThatDoesNotWorkIsNoErrorOfTheStatement) {
  // That of a confinement that is not allowed, and of a library that is not there.
  for (const char* script : {"exit 1", "exit 127"}) {
    SqlProgram program(Program(script), kLongPatience);
    EXPECT_EQ(program.Run(ana_, "task").status().code(), absl::StatusCode::kUnavailable) << script;
  }
}

TEST_F(SqlProgramTest, APathIsFromTheFolderOfTheServer) {
  const std::filesystem::path path = std::filesystem::relative(Program("exec /bin/cat"));
  ASSERT_TRUE(path.is_relative());
  EXPECT_EQ(*SqlProgram(path, kLongPatience).Run(ana_, "task"), "task");
}

// Each statement waits at a pipe until the test has seen what others get.
TEST_F(SqlProgramTest, APrincipalHasTwoPlacesAndOthersHaveTheirs) {
  const std::string started = folder_ / "started";
  ASSERT_EQ(mkfifo(started.c_str(), 0600), 0);
  // Open for writing, too: it has no end between the one that started and the next.
  std::fstream starts(started);
  // Each that waits has a gate of its own: one that closes would end the reading of all others.
  const auto gate = [this](int i) { return std::string(folder_ / "gate") + std::to_string(i); };
  for (int i = 0; i < SqlProgram::kMostOfOnePrincipal; ++i) ASSERT_EQ(mkfifo(gate(i).c_str(), 0600), 0);
  SqlProgram program(Program("IFS= read -r gate; if [ -n \"$gate\" ]; then echo x > " + started +
                             "; read -r line < \"$gate\"; fi; echo done"),
                     kLongPatience);
  std::vector<std::thread> waiting;
  for (int i = 0; i < SqlProgram::kMostOfOnePrincipal; ++i) {
    waiting.emplace_back([&, i] { EXPECT_EQ(*program.Run(ana_, gate(i) + "\n"), "done\n"); });
    std::string line;
    std::getline(starts, line);
    EXPECT_EQ(line, "x");
  }
  EXPECT_TRUE(QuotaRetryOf(program.Run(ana_, "\n").status()).has_value());
  EXPECT_EQ(*program.Run(bob_, "\n"), "done\n");
  for (int i = 0; i < SqlProgram::kMostOfOnePrincipal; ++i) std::ofstream(gate(i)) << "go\n" << std::flush;
  for (std::thread& thread : waiting) thread.join();
  EXPECT_EQ(*program.Run(ana_, "\n"), "done\n");
}

}  // namespace
}  // namespace curator::service
