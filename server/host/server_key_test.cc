#include "host/server_key.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tests/testing/scratch_folder.h"

namespace curator::host {
namespace {

class ServerKeyTest : public ::testing::Test {
 protected:
  std::string path() const { return folder_.path() + "/server.key"; }
  void Write(const std::string& content, mode_t mode) const {
    std::ofstream(path()) << content;
    chmod(path().c_str(), mode);
  }
  absl::StatusCode OpenCode() const { return ServerKey::OpenOrCreate(path()).status().code(); }

  const testing::ScratchFolder folder_;
};

TEST_F(ServerKeyTest, IsMadeOnceAndReadEverAfter) {
  const absl::StatusOr<ServerKey> made = ServerKey::OpenOrCreate(path());
  ASSERT_TRUE(made.ok()) << made.status();
  const absl::StatusOr<ServerKey> read = ServerKey::OpenOrCreate(path());
  ASSERT_TRUE(read.ok()) << read.status();
  EXPECT_EQ(made->Derive("purpose").bytes(), read->Derive("purpose").bytes());
}

TEST_F(ServerKeyTest, IsForItsOwnerAloneAndLeavesNoDraft) {
  ASSERT_TRUE(ServerKey::OpenOrCreate(path()).ok());
  struct stat info;
  ASSERT_EQ(stat(path().c_str(), &info), 0);
  EXPECT_EQ(info.st_mode & 0777, 0600u);
  EXPECT_EQ(info.st_size, 32);
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder_.path()), {}), 1);
}

TEST_F(ServerKeyTest, IsTheSameForAllWhoStartTogether) {
  std::vector<std::string> derived(16);
  std::vector<std::thread> servers;
  for (std::string& mine : derived) {
    servers.emplace_back([this, &mine] {
      const absl::StatusOr<ServerKey> key = ServerKey::OpenOrCreate(path());
      if (!key.ok()) return;
      const Secret secret = key->Derive("purpose");
      mine.assign(secret.bytes().begin(), secret.bytes().end());
    });
  }
  for (std::thread& server : servers) server.join();
  EXPECT_EQ(std::set<std::string>(derived.begin(), derived.end()).size(), 1u);
  EXPECT_EQ(derived[0].size(), 32u);
}

TEST_F(ServerKeyTest, OfAnotherPurposeOrAnotherServerIsAnother) {
  const absl::StatusOr<ServerKey> key = ServerKey::OpenOrCreate(path());
  const absl::StatusOr<ServerKey> other = ServerKey::OpenOrCreate(path() + ".other");
  ASSERT_TRUE(key.ok() && other.ok());
  EXPECT_NE(key->Derive("a").bytes(), key->Derive("b").bytes());
  EXPECT_NE(key->Derive("a").bytes(), other->Derive("a").bytes());
}

TEST_F(ServerKeyTest, OpenToGroupOrOthersIsRefused) {
  for (const mode_t mode : {0640u, 0604u, 0620u, 0666u}) {
    Write(std::string(32, 'k'), mode);
    EXPECT_EQ(OpenCode(), absl::StatusCode::kFailedPrecondition) << mode;
  }
  Write(std::string(32, 'k'), 0400);
  EXPECT_EQ(OpenCode(), absl::StatusCode::kOk);
}

TEST_F(ServerKeyTest, OfAWrongLengthIsDataLoss) {
  for (const size_t size : {0u, 31u, 33u}) {
    Write(std::string(size, 'k'), 0600);
    EXPECT_EQ(OpenCode(), absl::StatusCode::kDataLoss) << size;
  }
}

TEST_F(ServerKeyTest, ThatIsALinkOrAFolderOrAPipeIsRefused) {
  Write(std::string(32, 'k'), 0600);
  std::filesystem::rename(path(), path() + ".elsewhere");
  std::filesystem::create_symlink(path() + ".elsewhere", path());
  EXPECT_EQ(OpenCode(), absl::StatusCode::kFailedPrecondition);
  std::filesystem::remove(path());
  std::filesystem::create_directory(path());
  EXPECT_EQ(OpenCode(), absl::StatusCode::kFailedPrecondition);
  std::filesystem::remove(path());
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  EXPECT_EQ(OpenCode(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ServerKeyTest, InAFolderThatDoesNotExistIsUnavailable) {
  EXPECT_EQ(ServerKey::OpenOrCreate(folder_.path() + "/absent/server.key").status().code(),
            absl::StatusCode::kUnavailable);
}

}  // namespace
}  // namespace curator::host
