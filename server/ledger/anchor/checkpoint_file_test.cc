#include "ledger/anchor/checkpoint_file.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "ledger/history/checkpoint.h"
#include "tests/testing/scratch_folder.h"

namespace curator::ledger {
namespace {

class CheckpointFileTest : public ::testing::Test {
 protected:
  CheckpointFileTest() { state_.entries = 7; }

  CheckpointName Name(const std::string& lineage = "l-1", const std::string& ledger = "ledger") const {
    return {folder_.path(), ledger, lineage};
  }
  std::string Path() const { return folder_.path() + "/checkpoints/ledger.l-1.checkpoint"; }

  const curator::testing::ScratchFolder folder_;
  RecountState state_;
};

TEST_F(CheckpointFileTest, IsReadAsItWasWritten) {
  EXPECT_FALSE(ReadCheckpoint(Name()).has_value());
  ASSERT_TRUE(WriteCheckpoint(Name(), state_).ok());
  const std::optional<RecountState> read = ReadCheckpoint(Name());
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(EncodeCheckpoint(*read), EncodeCheckpoint(state_));
  state_.entries = 8;
  ASSERT_TRUE(WriteCheckpoint(Name(), state_).ok());
  EXPECT_EQ(ReadCheckpoint(Name())->entries, 8);
}

TEST_F(CheckpointFileTest, IsItsOwnersAlone) {
  ASSERT_TRUE(WriteCheckpoint(Name(), state_).ok());
  EXPECT_EQ(std::filesystem::status(Path()).permissions(),
            std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
}

TEST_F(CheckpointFileTest, OfAnotherLedgerOrLineageCountsAsNone) {
  ASSERT_TRUE(WriteCheckpoint(Name(), state_).ok());
  for (const CheckpointName& other : {Name("l-2"), Name("l-1", "another")}) {
    std::filesystem::copy_file(Path(), folder_.path() + "/checkpoints/" + other.ledger_uuid + "." +
                                           other.lineage_id + ".checkpoint");
    EXPECT_FALSE(ReadCheckpoint(other).has_value()) << other.ledger_uuid << " " << other.lineage_id;
  }
}

TEST_F(CheckpointFileTest, AFlippedBitAnywhereMakesItCountAsNone) {
  ASSERT_TRUE(WriteCheckpoint(Name(), state_).ok());
  const auto size = static_cast<std::streamoff>(std::filesystem::file_size(Path()));
  for (std::streamoff at = 0; at < size; ++at) {
    std::fstream file(Path(), std::ios::binary | std::ios::in | std::ios::out);
    file.seekg(at);
    const char original = static_cast<char>(file.get());
    file.seekp(at);
    file.put(static_cast<char>(original ^ 1));
    file.flush();
    EXPECT_FALSE(ReadCheckpoint(Name()).has_value()) << "byte " << at;
    file.seekp(at);
    file.put(original);
  }
  EXPECT_TRUE(ReadCheckpoint(Name()).has_value());
}

TEST_F(CheckpointFileTest, ALineageWithAPathForANameIsRefused) {
  EXPECT_FALSE(WriteCheckpoint(Name("../elsewhere"), state_).ok());
  EXPECT_FALSE(ReadCheckpoint(Name("../elsewhere")).has_value());
}

}  // namespace
}  // namespace curator::ledger
