#include "ledger/anchor/anchor_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"

namespace curator::ledger {
namespace {

using ::testing::HasSubstr;

constexpr char kLedger[] = "11111111-2222-4333-8444-555555555555";

AnchorState StateAt(int64_t seq) {
  AnchorState state;
  state.heads["d"] = {seq, std::string(32, static_cast<char>('a' + seq))};
  state.spent[{1, "rho"}] = seq * 10;
  return state;
}

// A file of three records, as it lies on the disk.
class AnchorLogTest : public ::testing::Test {
 protected:
  void SetUp() override {
    AnchorLog log(kLedger);
    for (int64_t seq = 1; seq <= 3; ++seq) {
      starts_.push_back(log.end());
      file_ += log.Append(StateAt(seq));
    }
    starts_.push_back(log.end());
    file_.resize(kAnchorBlockBytes, '\0');
  }
  static absl::StatusOr<AnchorState> Parse(const std::string& file) {
    const absl::StatusOr<AnchorLog> log = AnchorLog::Parse(kLedger, file);
    if (!log.ok()) return log.status();
    return log->state();
  }
  size_t StartOf(size_t record) const { return starts_[record - 1]; }
  size_t EndOf(size_t record) const { return starts_[record]; }

  std::string file_;
  std::vector<size_t> starts_;
};

TEST_F(AnchorLogTest, RemembersWhatWasAppended) {
  EXPECT_EQ(*Parse(file_), StateAt(3));
}

TEST_F(AnchorLogTest, ALastRecordCutShortAnywhereCoversNothing) {
  for (size_t cut = StartOf(3); cut < EndOf(3); ++cut) {
    std::string torn = file_.substr(0, cut);
    torn.resize(file_.size(), '\0');
    ASSERT_EQ(*Parse(torn), StateAt(2)) << cut;
  }
}

TEST_F(AnchorLogTest, ALastRecordThatLostItsBeginningCoversNothing) {
  for (size_t lost = 1; lost < EndOf(3) - StartOf(3); ++lost) {
    std::string torn = file_;
    torn.replace(StartOf(3), lost, std::string(lost, '\0'));
    ASSERT_EQ(*Parse(torn), StateAt(2)) << lost;
  }
}

TEST_F(AnchorLogTest, NoChangedByteOfAnyRecordGoesUnnoticed) {
  for (size_t at = 0; at < EndOf(3); ++at) {
    std::string changed = file_;
    changed[at] = static_cast<char>(changed[at] ^ 1);
    ASSERT_EQ(Parse(changed).status().code(), absl::StatusCode::kDataLoss) << at;
  }
}

TEST_F(AnchorLogTest, NothingBeforeTheLastRecordMayBeMissing) {
  for (size_t at = 0; at < EndOf(2); ++at) {
    std::string torn = file_;
    torn[at] = '\0';
    ASSERT_EQ(Parse(torn).status().code(), absl::StatusCode::kDataLoss) << at;
  }
  std::string without_second = file_;
  without_second.erase(StartOf(2), EndOf(2) - StartOf(2));
  without_second.resize(file_.size(), '\0');
  EXPECT_EQ(Parse(without_second).status().code(), absl::StatusCode::kDataLoss);
  std::string blanked = file_;
  blanked.replace(StartOf(2), EndOf(2) - StartOf(2), std::string(EndOf(2) - StartOf(2), '\0'));
  EXPECT_EQ(Parse(blanked).status().code(), absl::StatusCode::kDataLoss);
}

// A reader that stops at the first record it cannot take would go on with what is before it.
TEST_F(AnchorLogTest, TheCanaryThatStopsAtDamageLosesWhatWasAnchored) {
  std::string changed = file_;
  changed[StartOf(2) + 10] = static_cast<char>(changed[StartOf(2) + 10] ^ 1);
  std::string stopped = changed.substr(0, StartOf(2));
  stopped.resize(file_.size(), '\0');
  EXPECT_EQ(*Parse(stopped), StateAt(1));
  EXPECT_EQ(Parse(changed).status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(AnchorLogTest, AFileThatWasCutOrAppendedToIsDataLoss) {
  for (size_t size = 0; size < file_.size(); size += 97) {
    ASSERT_EQ(Parse(file_.substr(0, size)).status().code(), absl::StatusCode::kDataLoss) << size;
  }
  EXPECT_EQ(Parse(file_ + "spent 1 rho 0\n").status().code(), absl::StatusCode::kDataLoss);
}

TEST_F(AnchorLogTest, AnotherLedgersFileIsDataLoss) {
  const absl::Status status = AnchorLog::Parse("99999999-2222-4333-8444-555555555555", file_).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss);
  EXPECT_THAT(std::string(status.message()), HasSubstr("another ledger"));
}

TEST_F(AnchorLogTest, AReaderFollowsAFileThatGrows) {
  std::string at_first = file_.substr(0, EndOf(1));
  at_first.resize(file_.size(), '\0');
  absl::StatusOr<AnchorLog> log = AnchorLog::Parse(kLedger, at_first);
  ASSERT_TRUE(log.ok());
  // The second record is being written.
  std::string half = file_.substr(0, EndOf(2) - 5);
  half.resize(file_.size(), '\0');
  ASSERT_TRUE(log->Extend(half.substr(log->end())).ok());
  EXPECT_EQ(log->state(), StateAt(1));
  ASSERT_TRUE(log->Extend(file_.substr(log->end())).ok());
  EXPECT_EQ(log->state(), StateAt(3));
}

TEST_F(AnchorLogTest, AFileOfTheFirstVersionIsStillRead) {
  const std::string lines = absl::StrCat("curator-anchor 1\nledger ", kLedger, "\nhead d 3 ",
                                         absl::BytesToHexString(std::string(32, 'd')), "\nspent 1 rho 30\n");
  const std::string file = absl::StrCat(lines, "end ", absl::BytesToHexString(Sha256(lines)), "\n");
  EXPECT_EQ(*Parse(file), StateAt(3));
  for (size_t size = 0; size < file.size(); ++size) {
    ASSERT_EQ(Parse(file.substr(0, size)).status().code(), absl::StatusCode::kDataLoss) << size;
  }
}

}  // namespace
}  // namespace curator::ledger
