#include "metrics/metrics_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/synchronization/notification.h"
#include "tests/testing/scratch_folder.h"

namespace curator::metrics {
namespace {

using ::testing::HasSubstr;

class WrittenMetrics : public ::testing::Test {
 protected:
  std::string Path() const { return absl::StrCat(scratch_.path(), "/curator.prom"); }
  std::string Content() const {
    std::ifstream file(Path(), std::ios::binary);
    return std::string{std::istreambuf_iterator<char>(file), {}};
  }
  const testing::ScratchFolder scratch_;
};

TEST_F(WrittenMetrics, AreThereAtOnceForOwnerAndGroupAndGoneAtTheEnd) {
  {
    const auto file =
        MetricsFile::Open({.path = Path(), .text = [] { return std::string("curator_up 1\n"); }});
    ASSERT_TRUE(file.ok()) << file.status();
    EXPECT_EQ(Content(), "curator_up 1\n");
    struct stat found = {};
    ASSERT_EQ(stat(Path().c_str(), &found), 0);
    EXPECT_EQ(found.st_mode & 0777, 0640u);
    EXPECT_FALSE(std::filesystem::exists(Path() + ".new"));
  }
  EXPECT_FALSE(std::filesystem::exists(Path()));
}

TEST_F(WrittenMetrics, AreWrittenAgainAndAgainEachTimeWhole) {
  std::atomic<int> made = 0;
  absl::Notification third;
  const auto file = MetricsFile::Open({.path = Path(),
                                       .text =
                                           [&] {
                                             if (++made == 4) third.Notify();
                                             return absl::StrCat("curator_written ", made.load(), "\n");
                                           },
                                       .between_writes = std::chrono::milliseconds(1)});
  ASSERT_TRUE(file.ok()) << file.status();
  third.WaitForNotification();
  // The text of a write before the one that is being made.
  EXPECT_THAT(Content(), HasSubstr("curator_written "));
  EXPECT_TRUE(Content().ends_with("\n"));
}

TEST_F(WrittenMetrics, AFolderThatIsMissingIsNamed) {
  const std::string path = absl::StrCat(scratch_.path(), "/nowhere/curator.prom");
  const auto file = MetricsFile::Open({.path = path, .text = [] { return std::string(); }});
  EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(file.status().message()), HasSubstr(path));
}

TEST_F(WrittenMetrics, AFailureLeavesNoFileBeside) {
  std::filesystem::create_directories(Path());
  const auto file = MetricsFile::Open({.path = Path(), .text = [] { return std::string("curator_up 1\n"); }});
  EXPECT_EQ(file.status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(Path() + ".new"));
}

TEST_F(WrittenMetrics, AFailureIsReportedOnceAndSoIsItsEnd) {
  absl::Notification failed;
  absl::Notification works;
  std::atomic<int> reports = 0;
  const std::string folder = absl::StrCat(scratch_.path(), "/mounted");
  std::filesystem::create_directory(folder);
  const auto file = MetricsFile::Open({.path = folder + "/curator.prom",
                                       .text = [] { return std::string("curator_up 1\n"); },
                                       .report =
                                           [&](const absl::Status& written) {
                                             ++reports;
                                             written.ok() ? works.Notify() : failed.Notify();
                                           },
                                       .between_writes = std::chrono::milliseconds(1)});
  ASSERT_TRUE(file.ok()) << file.status();
  std::filesystem::rename(folder, folder + "-away");
  failed.WaitForNotification();
  std::filesystem::rename(folder + "-away", folder);
  works.WaitForNotification();
  EXPECT_EQ(reports, 2);
}

}  // namespace
}  // namespace curator::metrics
