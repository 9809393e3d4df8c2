// What the confined connection refuses, with DuckDB's library, which CURATOR_DUCKDB_LIBRARY names: see
// tests/parquet/run.
#include "client/cli/sources/confined_duckdb.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/sources/duckdb_library.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::HasSubstr;

// What the library says to a statement; empty where it does it.
std::string Refusal(const duckdb::Library& library, duckdb::Connection connection,
                    const std::string& statement) {
  duckdb::Result result = {};
  std::string refusal;
  if (library.query(connection, statement.c_str(), &result) != duckdb::kSuccess) {
    const char* const error = library.result_error(&result);
    refusal = error == nullptr ? "refused without a reason" : error;
  }
  library.destroy_result(&result);
  return refusal;
}

// The connection that reads a file, and one without bounds, which shows that the library can do it all.
class ConfinedConnectionTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("CURATOR_DUCKDB_LIBRARY") == nullptr)
      GTEST_SKIP() << "CURATOR_DUCKDB_LIBRARY names no library";
    auto library = duckdb::Library::Load();
    ASSERT_TRUE(library.ok()) << library.status();
    library_ = *std::move(library);
    ASSERT_EQ(library_->open_ext(nullptr, &database_, nullptr, nullptr), duckdb::kSuccess);
    ASSERT_EQ(library_->connect(database_, &free_), duckdb::kSuccess);
    for (const std::string& path : {file_, other_})
      ASSERT_EQ(Free(absl::StrCat("COPY (SELECT 1 AS a) TO '", path, "' (FORMAT parquet)")), "");
    std::ofstream(folder_ / "other.csv") << "a\n1\n";
    std::filesystem::create_directory(folder_ / "sub");
    auto confined = duckdb::ConfinedConnection::Open(library_, file_);
    ASSERT_TRUE(confined.ok()) << confined.status();
    confined_ = *std::move(confined);
  }
  ~ConfinedConnectionTest() override {
    if (free_ != nullptr) library_->disconnect(&free_);
    if (database_ != nullptr) library_->close(&database_);
  }
  std::string InFolder(const std::string& name) const { return (folder_ / name).string(); }
  std::string Confined(const std::string& statement) const {
    return Refusal(*library_, confined_->handle(), statement);
  }
  std::string Free(const std::string& statement) const { return Refusal(*library_, free_, statement); }

  const curator::testing::ScratchFolder folder_;
  const std::string file_ = InFolder("a.parquet");
  const std::string other_ = InFolder("other.parquet");
  std::shared_ptr<const duckdb::Library> library_;
  std::unique_ptr<duckdb::ConfinedConnection> confined_;
  duckdb::Database database_ = nullptr;
  duckdb::Connection free_ = nullptr;
};

TEST_F(ConfinedConnectionTest, TheFileIsReadAndNoOther) {
  const auto read = [](const std::string& path) { return absl::StrCat("FROM read_parquet('", path, "')"); };
  EXPECT_EQ(Confined(read(file_)), "");
  const std::string statements[] = {read(other_),
                                    read(InFolder("*.parquet")),
                                    read(InFolder("sub/../other.parquet")),
                                    absl::StrCat("FROM '", other_, "'"),
                                    absl::StrCat("FROM read_csv('", InFolder("other.csv"), "')"),
                                    absl::StrCat("FROM read_text('", InFolder("other.csv"), "')"),
                                    absl::StrCat("FROM read_blob('", InFolder("other.csv"), "')"),
                                    "FROM read_text('/proc/self/environ')"};
  for (const std::string& statement : statements) {
    EXPECT_EQ(Free(statement), "") << "the statement is wrong: " << statement;
    EXPECT_THAT(Confined(statement), HasSubstr("Permission Error")) << statement;
  }
}

TEST_F(ConfinedConnectionTest, NothingIsWritten) {
  EXPECT_EQ(Confined("CREATE TABLE t AS SELECT 1 AS a"), "") << "in memory";
  EXPECT_EQ(Free("CREATE TABLE t AS SELECT 1 AS a"), "");
  const std::string statements[] = {
      absl::StrCat("COPY t TO '", InFolder("copy.csv"), "'"),
      absl::StrCat("COPY t TO '", InFolder("copy.parquet"), "' (FORMAT parquet)"),
      absl::StrCat("EXPORT DATABASE '", InFolder("export"), "'"),
      absl::StrCat("ATTACH '", InFolder("new.db"), "' AS attached")};
  for (const std::string& statement : statements) {
    EXPECT_THAT(Confined(statement), HasSubstr("Permission Error")) << statement;
  }
  for (const char* const name : {"copy.csv", "copy.parquet", "export", "new.db"})
    EXPECT_FALSE(std::filesystem::exists(folder_ / name)) << name;
  for (const std::string& statement : statements)
    EXPECT_EQ(Free(statement), "") << "the statement is wrong: " << statement;
}

TEST_F(ConfinedConnectionTest, NoExtensionIsInstalledOrLoadedAndNoAddressIsAsked) {
  for (const std::string& statement :
       {std::string("INSTALL httpfs"), std::string("INSTALL httpfs FROM 'http://127.0.0.1:1'"),
        std::string("LOAD httpfs"), absl::StrCat("LOAD '", InFolder("other.csv"), "'")}) {
    EXPECT_THAT(Confined(statement), HasSubstr("Permission Error")) << statement;
  }
  for (const char* const statement :
       {"FROM read_parquet('http://127.0.0.1:1/a.parquet')",
        "FROM read_parquet('https://127.0.0.1:1/a.parquet')", "FROM read_csv('s3://bucket/a.csv')"}) {
    EXPECT_THAT(Confined(statement), HasSubstr("Permission Error")) << statement;
  }
}

TEST_F(ConfinedConnectionTest, NoSettingIsChangedAgain) {
  for (const std::string& statement :
       {std::string("SET enable_external_access = true"), std::string("SET lock_configuration = false"),
        absl::StrCat("SET allowed_paths = ['", other_, "']"),
        absl::StrCat("SET allowed_directories = ['", InFolder(""), "']"),
        std::string("RESET enable_external_access"), std::string("RESET allowed_paths"),
        std::string("SET autoload_known_extensions = true"), std::string("SET memory_limit = '100GB'"),
        absl::StrCat("SET temp_directory = '", InFolder(""), "'"), std::string("PRAGMA threads = 8")}) {
    EXPECT_NE(Confined(statement), "") << statement;
  }
  EXPECT_THAT(Confined(absl::StrCat("FROM read_parquet('", other_, "')")), HasSubstr("Permission Error"));
}

}  // namespace
}  // namespace curator::cli
