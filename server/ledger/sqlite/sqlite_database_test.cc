#include "ledger/sqlite/sqlite_database.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "tests/testing/scratch_folder.h"

namespace curator::ledger::sqlite {
namespace {

using ::testing::HasSubstr;

namespace fs = std::filesystem;

constexpr fs::perms kOwnersAlone = fs::perms::owner_read | fs::perms::owner_write;

class SqliteDatabaseTest : public ::testing::Test {
 protected:
  std::string path() const { return absl::StrCat(scratch_.path(), "/store.db"); }
  absl::Status Run(const std::string& script) const {
    absl::StatusOr<std::unique_ptr<sql::Database>> store = OpenSqliteDatabase(path());
    if (!store.ok()) return store.status();
    return (*store)
        ->Write([&](sql::Transaction& transaction) { return transaction.ExecuteScript(script); })
        .status;
  }

  const testing::ScratchFolder scratch_;
};

TEST_F(SqliteDatabaseTest, ItsFilesAreTheOwnersAlone) {
  const auto store = *OpenSqliteDatabase(path());
  ASSERT_TRUE(store
                  ->Write([](sql::Transaction& transaction) {
                    return transaction.ExecuteScript("CREATE TABLE blocks (content BLOB)");
                  })
                  .status.ok());
  for (const char* const suffix : {"", "-wal", "-shm"}) {
    EXPECT_EQ(fs::status(absl::StrCat(path(), suffix)).permissions(), kOwnersAlone) << suffix;
  }
}

TEST_F(SqliteDatabaseTest, FilesThatOthersCouldReadAreClosedToThem) {
  { ASSERT_TRUE(Run("CREATE TABLE blocks (content BLOB)").ok()); }
  fs::permissions(path(), fs::perms::group_read | fs::perms::others_read, fs::perm_options::add);
  ASSERT_TRUE(Run("CREATE TABLE more (content BLOB)").ok());
  EXPECT_EQ(fs::status(path()).permissions(), kOwnersAlone);
}

TEST_F(SqliteDatabaseTest, TooLittleMemoryIsUnavailable) {
  constexpr int64_t kMebibyte = 1024 * 1024;
  const int64_t limit = sqlite3_hard_heap_limit64(sqlite3_memory_used() + kMebibyte);
  const absl::Status status =
      Run("CREATE TABLE blocks (content BLOB); INSERT INTO blocks VALUES (hex(zeroblob(8000000)))");
  sqlite3_hard_heap_limit64(limit);
  EXPECT_EQ(status.code(), absl::StatusCode::kUnavailable) << status;
}

TEST_F(SqliteDatabaseTest, DamagedPagesAreDataLoss) {
  constexpr std::streamoff kFirstPageBytes = 4096;
  constexpr size_t kDamagedBytes = 40'000;
  ASSERT_TRUE(Run("CREATE TABLE blocks (content BLOB);"
                  "INSERT INTO blocks WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM "
                  "number WHERE n < 200) SELECT randomblob(1000) FROM number;")
                  .ok());
  ASSERT_TRUE(Run("SELECT SUM(LENGTH(content)) FROM blocks").ok());
  {
    std::fstream file(path(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekp(kFirstPageBytes);
    file << std::string(kDamagedBytes, '\xFF');
  }
  const absl::Status status = Run("SELECT SUM(LENGTH(content)) FROM blocks");
  EXPECT_EQ(status.code(), absl::StatusCode::kDataLoss) << status;
}

TEST_F(SqliteDatabaseTest, AFolderThatIsGoneAfterItWasOpenedIsNamed) {
  const std::string folder = absl::StrCat(scratch_.path(), "/folder");
  std::filesystem::create_directory(folder);
  const auto store = OpenSqliteDatabase(absl::StrCat(folder, "/store.db"));
  ASSERT_TRUE(store.ok()) << store.status();
  std::filesystem::remove_all(folder);
  const sql::Outcome outcome = (*store)->Write([](sql::Transaction&) { return absl::OkStatus(); });
  EXPECT_EQ(outcome.ending, sql::Ending::kFailed);
  EXPECT_EQ(outcome.status.code(), absl::StatusCode::kFailedPrecondition) << outcome.status;
  EXPECT_THAT(std::string(outcome.status.message()), HasSubstr(folder));
}

TEST_F(SqliteDatabaseTest, AStoreThatCannotBeWrittenIsAFailedPrecondition) {
  const absl::Status status = Run("PRAGMA query_only = ON; CREATE TABLE blocks (content BLOB)");
  EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
  EXPECT_TRUE(Run("CREATE TABLE blocks (content BLOB)").ok()) << "it is not there";
}

}  // namespace
}  // namespace curator::ledger::sqlite
