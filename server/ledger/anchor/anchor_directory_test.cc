#include "ledger/anchor/anchor_directory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"
#include "tests/testing/scratch_folder.h"

namespace curator::ledger {
namespace {

using ::testing::HasSubstr;
namespace fs = std::filesystem;

constexpr char kLedger[] = "11111111-2222-4333-8444-555555555555";

std::string HashOf(char c) {
  return std::string(32, c);
}

static_assert(noexcept(std::declval<AnchorDirectory&>().MakeDurable(0)), "all others wait for who writes");

class AnchorDirectoryTest : public ::testing::Test {
 protected:
  std::unique_ptr<AnchorDirectory> Open(const char* ledger = kLedger) {
    absl::StatusOr<std::unique_ptr<AnchorDirectory>> anchor = AnchorDirectory::Open(path(), ledger);
    EXPECT_TRUE(anchor.ok()) << anchor.status();
    return anchor.ok() ? *std::move(anchor) : nullptr;
  }
  std::string path() const { return absl::StrCat(scratch_.path(), "/deep/anchor"); }
  std::vector<fs::path> Files() const {
    std::vector<fs::path> files;
    for (const auto& file : fs::directory_iterator(path())) {
      if (file.path().extension() == ".anchor") files.push_back(file.path());
    }
    return files;
  }

  const testing::ScratchFolder scratch_;
};

TEST_F(AnchorDirectoryTest, RemembersOverARestart) {
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  state.spent[{1, "rho"}] = 7;
  ASSERT_TRUE(Open()->RaiseTo(state).ok());
  EXPECT_EQ(*Open()->Read(), state);
  EXPECT_EQ(Files().size(), 1U);
}

TEST_F(AnchorDirectoryTest, ALargeStateIsNotWrittenAgainForEveryFewRecords) {
  AnchorState state;
  for (int i = 0; i < 20'000; ++i) state.heads[absl::StrCat("d", i)] = {1, HashOf('a')};
  ASSERT_TRUE(Open()->RaiseTo(state).ok());
  auto anchor = Open();  // begins a file with the whole state
  const std::optional<FileFacts> before = StatFile(Files().front().string());
  // 1.2 MB of records, half as much as the state.
  for (int64_t seq = 2; seq < 32; ++seq) {
    AnchorState change;
    for (int i = 0; i < 400; ++i) change.heads[absl::StrCat("d", i)] = {seq, HashOf('b')};
    ASSERT_TRUE(anchor->RaiseTo(change).ok());
  }
  const std::optional<FileFacts> after = StatFile(Files().front().string());
  ASSERT_TRUE(before.has_value() && after.has_value());
  EXPECT_EQ(after->identity, before->identity) << "the file is still the same one";
}

TEST_F(AnchorDirectoryTest, TheHighestHeadOfAllServersBinds) {
  auto one = Open();
  auto other = Open();
  AnchorState lower;
  lower.heads["d"] = {3, HashOf('a')};
  lower.spent[{1, "rho"}] = 9;
  AnchorState higher;
  higher.heads["d"] = {4, HashOf('b')};
  higher.spent[{1, "rho"}] = 8;
  ASSERT_TRUE(one->RaiseTo(higher).ok());
  ASSERT_TRUE(other->RaiseTo(lower).ok());
  EXPECT_EQ(Files().size(), 2U);
  for (AnchorDirectory* server : {one.get(), other.get()}) {
    const AnchorState read = *server->Read();
    EXPECT_EQ(read.heads.at("d"), (ChainHead{4, HashOf('b')}));
    EXPECT_EQ((read.spent.at({1, "rho"})), 9);
  }
}

TEST_F(AnchorDirectoryTest, NothingEverFalls) {
  auto anchor = Open();
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  state.spent[{1, "rho"}] = 7;
  ASSERT_TRUE(anchor->RaiseTo(state).ok());
  AnchorState lower;
  lower.heads["d"] = {2, HashOf('b')};
  lower.spent[{1, "rho"}] = 6;
  ASSERT_TRUE(anchor->RaiseTo(lower).ok());
  EXPECT_EQ(*anchor->Read(), state);
}

TEST_F(AnchorDirectoryTest, TwoHistoriesAreDataLoss) {
  auto one = Open();
  auto other = Open();
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  ASSERT_TRUE(one->RaiseTo(state).ok());
  state.heads["d"] = {3, HashOf('b')};
  ASSERT_TRUE(other->RaiseTo(state).ok());
  EXPECT_EQ(one->Read().status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(AnchorDirectoryTest, OtherLedgersAreLeftAlone) {
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  ASSERT_TRUE(Open("99999999-2222-4333-8444-555555555555")->RaiseTo(state).ok());
  EXPECT_EQ(*Open()->Read(), AnchorState());
}

TEST_F(AnchorDirectoryTest, ADamagedFileIsNamed) {
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  state.spent[{1, "rho"}] = 7;
  ASSERT_TRUE(Open()->RaiseTo(state).ok());
  const fs::path file = Files().at(0);
  std::ostringstream whole;
  whole << std::ifstream(file).rdbuf();
  std::string edited = whole.str();
  edited[edited.find("rho 7") + 4] = '6';
  std::ofstream(file, std::ios::trunc) << edited;
  const absl::Status status = AnchorDirectory::Open(path(), kLedger).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr(file.string()));
}

TEST_F(AnchorDirectoryTest, ARunningServerSeesWhatAnotherOneAppends) {
  auto one = Open();
  auto other = Open();
  AnchorState state;
  for (int64_t seq = 1; seq <= 3000; ++seq) {  // more than one file has room for
    state.heads["d"] = {seq, HashOf('a')};
    state.spent[{1, "rho"}] = seq;
    ASSERT_TRUE(one->RaiseTo(state).ok());
    if (seq % 7 == 0) {
      ASSERT_EQ(*other->Read(), state) << seq;
    }
  }
  EXPECT_EQ(*other->Read(), state);
  EXPECT_EQ(*Open()->Read(), state);
}

TEST_F(AnchorDirectoryTest, ARunningServerReadsWhileAnotherOneWrites) {
  constexpr int64_t kChanges = 2000;
  const auto reader = Open();
  const auto writer = Open();
  std::thread writing([&] {
    for (int64_t i = 1; i <= kChanges; ++i) {
      AnchorState state;
      for (int64_t account = 0; account < 40; ++account) state.spent[{account, "rho"}] = i;
      EXPECT_TRUE(writer->RaiseTo(state).ok());
    }
  });
  int64_t seen = 0;
  while (seen < kChanges) {
    const absl::StatusOr<AnchorState> state = reader->Read();
    if (!state.ok()) {
      ADD_FAILURE() << state.status();
      break;
    }
    if (state->spent.empty()) continue;
    EXPECT_GE(state->spent.begin()->second, seen);
    seen = state->spent.begin()->second;
  }
  writing.join();
}

TEST_F(AnchorDirectoryTest, AChangeIsWrittenBehindTheOthersAndNotAllOverAgain) {
  auto anchor = Open();
  AnchorState many;
  for (int i = 0; i < 1000; ++i) many.heads[absl::StrCat("d", i)] = {1, HashOf('a')};
  ASSERT_TRUE(anchor->RaiseTo(many).ok());
  AnchorState one;
  one.heads["d7"] = {2, HashOf('b')};
  ASSERT_TRUE(anchor->RaiseTo(one).ok());  // begins a file with room to spare
  std::ostringstream before;
  before << std::ifstream(Files().at(0)).rdbuf();
  one.heads["d7"] = {3, HashOf('c')};
  ASSERT_TRUE(anchor->RaiseTo(one).ok());
  std::ostringstream after;
  after << std::ifstream(Files().at(0)).rdbuf();
  size_t different_bytes = 0;
  const std::string earlier = before.str();
  const std::string later = after.str();
  ASSERT_EQ(earlier.size(), later.size());
  for (size_t i = 0; i < earlier.size(); ++i) {
    if (earlier[i] != later[i]) ++different_bytes;
  }
  EXPECT_GT(different_bytes, 0U);
  EXPECT_LT(different_bytes, 200U);
}

TEST_F(AnchorDirectoryTest, AFileThatWasTakenAwayIsWrittenAgain) {
  auto anchor = Open();
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  ASSERT_TRUE(anchor->RaiseTo(state).ok());
  fs::remove(Files().at(0));
  AnchorState more;
  more.heads["e"] = {1, HashOf('b')};
  ASSERT_TRUE(anchor->RaiseTo(more).ok());
  anchor.reset();
  EXPECT_EQ(Open()->Read()->heads.size(), 2U);
}

TEST_F(AnchorDirectoryTest, AFileThatWasCutShortIsWrittenAgainWhole) {
  auto anchor = Open();
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  ASSERT_TRUE(anchor->RaiseTo(state).ok());
  for (const uintmax_t size : {uintmax_t{0}, fs::file_size(Files().at(0)) - 1}) {
    fs::resize_file(Files().at(0), size);
    state.spent[{1, "rho"}] += 7;
    ASSERT_TRUE(anchor->RaiseTo(state).ok());
    EXPECT_EQ(*AnchorDirectory::ReadOnly(path(), kLedger), state) << "cut to " << size;
  }
}

TEST_F(AnchorDirectoryTest, WhatAnotherServersFileCoveredIsNotForgottenWhenItIsGone) {
  auto reader = Open();
  auto writer = Open();
  AnchorState state;
  state.heads["d"] = {3, HashOf('a')};
  ASSERT_TRUE(writer->RaiseTo(state).ok());
  ASSERT_EQ(*reader->Read(), state);
  writer.reset();
  const std::vector<fs::path> files = Files();
  const auto its = std::find_if(files.begin(), files.end(), [](const fs::path& file) {
    return file.filename().string().find("-1.anchor") != std::string::npos;
  });
  ASSERT_NE(its, files.end());
  fs::rename(*its, absl::StrCat(scratch_.path(), "/away"));
  const absl::Status gone = reader->Read().status();
  EXPECT_EQ(gone.code(), absl::StatusCode::kUnavailable);
  EXPECT_THAT(std::string(gone.message()), HasSubstr(its->string()));
  EXPECT_EQ(reader->HeadOf("d")->seq, 3);
  fs::rename(absl::StrCat(scratch_.path(), "/away"), *its);
  EXPECT_EQ(*reader->Read(), state);
}

TEST_F(AnchorDirectoryTest, AFolderThatCannotBeWrittenIsNamed) {
  std::ofstream(absl::StrCat(scratch_.path(), "/file")) << "x";
  const absl::Status status =
      AnchorDirectory::Open(absl::StrCat(scratch_.path(), "/file/anchor"), kLedger).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(status.message()), HasSubstr("/file/anchor"));
}

TEST_F(AnchorDirectoryTest, AFolderInWhichNoFileCanBeMadeIsNamed) {
  const absl::Status status = AnchorDirectory::Open("/proc", kLedger).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("the anchor folder /proc cannot be written"));
}

TEST_F(AnchorDirectoryTest, AFolderThatIsAFileIsNotAnEmptyAnchor) {
  const std::string file = absl::StrCat(scratch_.path(), "/file");
  std::ofstream(file) << "x";
  const absl::Status status = AnchorDirectory::ReadOnly(file, kLedger).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(file));
}

TEST_F(AnchorDirectoryTest, AFileThatCannotBeReadIsNamedAndNotPassedOver) {
  auto anchor = Open();
  const std::string unreadable = absl::StrCat(path(), "/", kLedger, ".other-0.anchor");
  fs::create_directory(unreadable);
  const absl::Status status = anchor->Read().status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr(unreadable));
}

TEST_F(AnchorDirectoryTest, AServerThatFindsEveryFileInUseDoesNotShareOne) {
  const auto first = Open();
  const std::string file = Files().at(0).string();
  const std::string before_number = file.substr(0, file.rfind("0.anchor"));
  for (int n = 1; n < 1000; ++n) {
    fs::create_symlink(absl::StrCat(file, ".lock"), absl::StrCat(before_number, n, ".anchor.lock"));
  }
  const absl::Status status = AnchorDirectory::Open(path(), kLedger).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("is in use"));
}

TEST_F(AnchorDirectoryTest, AFileThatCannotBeReplacedIsReportedAndLeavesNothingOpen) {
  const auto open_files = [] {
    return std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator());
  };
  auto anchor = Open();
  const fs::path file = Files().at(0);
  fs::remove(file);
  fs::create_directory(file);
  AnchorState state;
  state.heads["d"] = {1, HashOf('a')};
  const absl::Status status = anchor->RaiseTo(state);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
  EXPECT_THAT(std::string(status.message()), HasSubstr("cannot replace the anchor"));
  const auto open_before = open_files();
  EXPECT_FALSE(anchor->RaiseTo(state).ok());
  EXPECT_EQ(open_files(), open_before);
  fs::remove(file);
  ASSERT_TRUE(anchor->RaiseTo(AnchorState()).ok());
  EXPECT_EQ(Open()->Read()->heads.at("d").seq, 1);
}

TEST_F(AnchorDirectoryTest, AnUnwritableAnchorIsReported) {
  auto anchor = Open();
  fs::remove_all(path());
  AnchorState state;
  state.heads["d"] = {1, HashOf('a')};
  EXPECT_EQ(anchor->RaiseTo(state).code(), absl::StatusCode::kUnavailable);
  // What could not be written is not forgotten: the next one writes it.
  fs::create_directories(path());
  ASSERT_TRUE(anchor->RaiseTo(AnchorState()).ok());
  EXPECT_EQ(Open()->Read()->heads.at("d").seq, 1);
}

TEST_F(AnchorDirectoryTest, WhatCouldNotBeWrittenIsNoLongerBehindOnceAnotherDatasetsChangeIsWritten) {
  auto anchor = Open();
  AnchorState census;
  census.heads["census"] = {2, HashOf('a')};
  ASSERT_TRUE(anchor->RaiseTo(census).ok());
  EXPECT_EQ(anchor->EntriesBehind("census"), 0);
  fs::rename(path(), absl::StrCat(scratch_.path(), "/away"));
  census.heads["census"] = {5, HashOf('b')};
  EXPECT_EQ(anchor->RaiseTo(census).code(), absl::StatusCode::kUnavailable);
  EXPECT_EQ(anchor->EntriesBehind("census"), 3);
  EXPECT_FALSE(anchor->IsDurable("census", 5));
  fs::rename(absl::StrCat(scratch_.path(), "/away"), path());
  AnchorState schools;
  schools.heads["schools"] = {1, HashOf('c')};
  ASSERT_TRUE(anchor->RaiseTo(schools).ok());
  EXPECT_EQ(anchor->EntriesBehind("schools"), 0);
  EXPECT_EQ(anchor->EntriesBehind("census"), 0);
  EXPECT_TRUE(anchor->IsDurable("census", 5));
  EXPECT_EQ(AnchorDirectory::ReadOnly(path(), kLedger)->heads.at("census").seq, 5);
}

TEST_F(AnchorDirectoryTest, WhatIsAcknowledgedToManyThreadsIsInTheFile) {
  auto anchor = Open();
  std::vector<std::thread> threads;
  for (int i = 0; i < 16; ++i) {
    threads.emplace_back([&anchor, i] {
      AnchorState state;
      state.heads[absl::StrCat("d", i)] = {i + 1, HashOf('a')};
      EXPECT_TRUE(anchor->RaiseTo(state).ok());
    });
  }
  for (std::thread& thread : threads) thread.join();
  anchor.reset();
  EXPECT_EQ(Open()->Read()->heads.size(), 16U);
}

}  // namespace
}  // namespace curator::ledger
