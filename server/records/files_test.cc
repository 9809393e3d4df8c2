#include "records/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::ContentOf;
using ::testing::ElementsAre;
using testing::FilesBelow;
using ::testing::IsEmpty;
using testing::Overwrite;
using testing::ScratchFolder;

mode_t ModeOf(const std::filesystem::path& path) {
  struct stat facts;
  EXPECT_EQ(stat(path.c_str(), &facts), 0);
  return facts.st_mode & 07777;
}

TEST(FileInTheMaking, HasItsNameOnlyWhenCommitted) {
  const ScratchFolder folder;
  const auto file = PendingFile::Create(folder / "x").value();
  ASSERT_TRUE(file->Write("content").ok());
  EXPECT_FALSE(Exists(folder / "x").value());
  ASSERT_TRUE(file->Commit().ok());
  EXPECT_EQ(ContentOf(folder / "x"), "content");
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("x"));
  EXPECT_EQ(ModeOf(folder / "x"), 0600u);
}

TEST(FileInTheMaking, LeavesNothingWhenItIsGivenUp) {
  const ScratchFolder folder;
  Overwrite(folder / "x", "old");
  { ASSERT_TRUE(PendingFile::Create(folder / "x").value()->Write("new").ok()); }
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("x"));
  EXPECT_EQ(ContentOf(folder / "x"), "old");
}

TEST(RemoveAbandoned, RemovesWhatADeadProcessLeftAndNothingElse) {
  const ScratchFolder folder;
  Overwrite(folder / "x.1-1.making", "half");
  Overwrite(folder / "y", "whole");
  const auto living = PendingFile::Create(folder / "z").value();
  ASSERT_TRUE(RemoveAbandoned(folder.path()).ok());
  EXPECT_EQ(FilesBelow(folder.path()).size(), 2u);
  ASSERT_TRUE(living->Commit().ok());
  EXPECT_THAT(FilesBelow(folder.path()), ElementsAre("y", "z"));
}

TEST(FolderLock, LetsOneInAtATime) {
  const ScratchFolder folder;
  std::atomic<int> inside{0};
  std::atomic<int> most{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int round = 0; round < 200; ++round) {
        const FolderLock lock = FolderLock::Take(folder.path()).value();
        most = std::max(most.load(), ++inside);
        std::this_thread::yield();
        --inside;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(most, 1);
}

TEST(Files, FoldersAreTheOwnersAlone) {
  const ScratchFolder folder;
  ASSERT_TRUE(MakeFolder(folder / "a" / "b").ok());
  EXPECT_EQ(ModeOf(folder / "a" / "b"), 0700u);
  EXPECT_TRUE(MakeFolder(folder / "a" / "b").ok());
  Overwrite(folder / "f", "");
  EXPECT_EQ(MakeFolder(folder / "f" / "g").code(), absl::StatusCode::kUnavailable);
}

TEST(Files, ReadingTellsAbsentTooLargeAndShort) {
  const ScratchFolder folder;
  EXPECT_EQ(ReadFile(folder / "x", 10).status().code(), absl::StatusCode::kNotFound);
  Overwrite(folder / "x", "12345");
  EXPECT_EQ(ReadFile(folder / "x", 5).value(), "12345");
  EXPECT_EQ(ReadFile(folder / "x", 4).status().code(), absl::StatusCode::kDataLoss);
  File file = File::OpenForReading(folder / "x").value();
  std::string bytes(6, '\0');
  EXPECT_EQ(file.Read(std::as_writable_bytes(std::span(bytes))).code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::records
