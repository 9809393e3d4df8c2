// What is said where DuckDB's library is missing or unusable. With the library: parquet_source_test.cc.
#include "client/cli/sources/duckdb_library.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <fstream>
#include <string>

#include "client/cli/sources/parquet_source.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

class DuckdbLibraryTest : public ::testing::Test {
 protected:
  ~DuckdbLibraryTest() override { unsetenv("CURATOR_DUCKDB_LIBRARY"); }
  static std::string RefusalOf(const std::string& library) {
    setenv("CURATOR_DUCKDB_LIBRARY", library.c_str(), 1);
    const absl::Status status = duckdb::Library::Load().status();
    EXPECT_EQ(status.code(), absl::StatusCode::kFailedPrecondition) << status;
    return std::string(status.message());
  }
};

TEST_F(DuckdbLibraryTest, WithoutALibraryTheWayOutIsSaid) {
  EXPECT_THAT(RefusalOf("/nowhere/libduckdb.so"),
              AllOf(HasSubstr("CURATOR_DUCKDB_LIBRARY names no library that can be loaded"),
                    HasSubstr("Install DuckDB's library"), HasSubstr("convert the file to CSV")));
}

TEST_F(DuckdbLibraryTest, ALibraryThatCannotBeConfinedToOneFileIsRefused) {
  EXPECT_THAT(RefusalOf(CURATOR_OLD_DUCKDB), HasSubstr("has version v1.1.3, not one from 1.2 to 1.x"));
}

TEST_F(DuckdbLibraryTest, ALibraryThatLacksAFunctionIsRefused) {
  EXPECT_THAT(RefusalOf(CURATOR_PART_OF_DUCKDB), HasSubstr("lacks the function duckdb_create_config"));
}

TEST(IsParquetTest, ByTheEndOfItsNameOrItsFirstBytes) {
  const curator::testing::ScratchFolder folder;
  const auto file = [&folder](const std::string& name, const std::string& content) {
    std::ofstream(folder / name, std::ios::binary) << content;
    return (folder / name).string();
  };
  EXPECT_TRUE(IsParquet(file("a.csv", "PAR1\x15\x04")));
  EXPECT_TRUE(IsParquet("/nowhere/people.parquet"));
  EXPECT_FALSE(IsParquet(file("b.csv", "PAR2,name\n")));
  EXPECT_FALSE(IsParquet(file("c.csv", "PAR")));
  EXPECT_FALSE(IsParquet("/nowhere/people.csv"));
}

TEST(IsParquetTest, TakesNothingFromAPipe) {
  std::array<int, 2> pipe_ends = {};
  ASSERT_EQ(pipe(pipe_ends.data()), 0);
  ASSERT_EQ(write(pipe_ends[1], "PAR1,age\n", 9), 9);
  EXPECT_FALSE(IsParquet("/dev/fd/" + std::to_string(pipe_ends[0])));
  close(pipe_ends[1]);
  std::array<char, 16> left = {};
  EXPECT_EQ(read(pipe_ends[0], left.data(), left.size()), 9);
  close(pipe_ends[0]);
}

}  // namespace
}  // namespace curator::cli
