// Parquet files through DuckDB's library, which CURATOR_DUCKDB_LIBRARY names: see tests/parquet/run.
#include "client/cli/sources/parquet_source.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "absl/strings/str_cat.h"
#include "client/cli/sources/duckdb_library.h"
#include "tests/testing/scratch_folder.h"

namespace curator::cli {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

class ParquetSourceTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (std::getenv("CURATOR_DUCKDB_LIBRARY") == nullptr)
      GTEST_SKIP() << "CURATOR_DUCKDB_LIBRARY names no library";
  }

  // A file of the rows of a query.
  std::string File(const std::string& query, const std::string& options = "") const {
    const auto library = duckdb::Library::Load();
    EXPECT_TRUE(library.ok()) << library.status();
    if (!library.ok()) return "";
    duckdb::Database database = nullptr;
    duckdb::Connection connection = nullptr;
    char* error = nullptr;
    EXPECT_EQ((*library)->open_ext(nullptr, &database, nullptr, &error), duckdb::kSuccess);
    EXPECT_EQ((*library)->connect(database, &connection), duckdb::kSuccess);
    std::string path = (folder_ / "a.parquet").string();
    const std::string copy = absl::StrCat("COPY (", query, ") TO '", path, "' (FORMAT parquet", options, ")");
    duckdb::Result result = {};
    EXPECT_EQ((*library)->query(connection, copy.c_str(), &result), duckdb::kSuccess)
        << (*library)->result_error(&result);
    (*library)->destroy_result(&result);
    (*library)->disconnect(&connection);
    (*library)->close(&database);
    return path;
  }

  static absl::StatusOr<std::string> Read(const std::string& path, const CsvForm& form = {}) {
    absl::StatusOr<std::unique_ptr<CsvSource>> source = OpenParquet(path, form);
    if (!source.ok()) return source.status();
    std::string all;
    while (true) {
      const absl::StatusOr<std::string> next = (*source)->NextLines();
      if (!next.ok()) return next.status();
      if (next->empty()) return all;
      all += *next;
    }
  }
  static std::string Rows(const std::string& path, const CsvForm& form = {}) {
    const auto rows = Read(path, form);
    EXPECT_TRUE(rows.ok()) << rows.status();
    return rows.value_or("");
  }

  const curator::testing::ScratchFolder folder_;
};

TEST_F(ParquetSourceTest, EveryTypeHasTheTextThatASchemaReads) {
  setenv("TZ", "Asia/Tokyo", 1);
  const std::string path = File(
      "SELECT true AS a, 1::TINYINT AS b, 12345678901::BIGINT AS c, 12.50::DECIMAL(6,2) AS d, 0.1::DOUBLE AS "
      "e,"
      " 'x' AS f, 'longer than twelve bytes' AS g, DATE '2019-03-01' AS h, TIMESTAMP '2019-03-01 12:30:00.5' "
      "AS i,"
      " TIMESTAMPTZ '2019-03-01 12:30:00+02' AS j, NULL::INTEGER AS k, 'say \"a,b\"' AS l, 2.5::FLOAT AS m");
  EXPECT_EQ(
      Rows(path, {.decimal_commas = {"d"}}),
      "a,b,c,d,e,f,g,h,i,j,k,l,m\n"
      "true,1,12345678901,\"12,50\",0.1,x,\"longer than twelve bytes\",2019-03-01,\"2019-03-01 12:30:00.5\","
      "\"2019-03-01 10:30:00+00:00\",,\"say \"\"a,b\"\"\",2.5\n");
}

TEST_F(ParquetSourceTest, RowsComeInTheOrderOfTheFile) {
  const std::string path =
      File("SELECT (i * 7919) % 300007 AS a FROM range(300000) t(i)", ", ROW_GROUP_SIZE 4096");
  std::string expected = "a\n";
  for (int64_t i = 0; i < 300000; ++i) absl::StrAppend(&expected, i * 7919 % 300007, "\n");
  EXPECT_TRUE(Rows(path) == expected);
}

TEST_F(ParquetSourceTest, MissingValuesOfLaterRowsAreFound) {
  const std::string path =
      File("SELECT CASE WHEN i % 3 = 0 THEN NULL ELSE i END AS a, i AS b FROM range(3000) t(i)");
  std::string expected = "a,b\n";
  for (int i = 0; i < 3000; ++i) absl::StrAppend(&expected, i % 3 == 0 ? "" : absl::StrCat(i), ",", i, "\n");
  EXPECT_EQ(Rows(path), expected);
}

TEST_F(ParquetSourceTest, NamesOfColumnsAndFilesAreNeverSql) {
  const std::string path = (folder_ / "it's [1-2]*").string();
  std::filesystem::rename(File("SELECT 1 AS \"a\"\" FROM x; --\""), path);
  EXPECT_EQ(Rows(path), "\"a\"\" FROM x; --\"\n1\n");
}

TEST_F(ParquetSourceTest, AFileThatIsNoParquetIsRefusedWithoutItsContent) {
  const std::string path = (folder_ / "a.parquet").string();
  std::ofstream(path) << "PAR1 a secret PAR1";
  const absl::Status refused = Read(path).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("cannot be read as Parquet"));
  EXPECT_THAT(std::string(refused.message()), Not(HasSubstr("secret")));
  EXPECT_EQ(Read((folder_ / "none.parquet").string()).status().code(), absl::StatusCode::kNotFound);
  EXPECT_EQ(Read(folder_.path()).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_F(ParquetSourceTest, ADamagedFileIsNoShorterFile) {
  const std::string path = File("SELECT i AS a, repeat('x', 20 + (i % 50)::INT) AS b FROM range(100000) t(i)",
                                ", ROW_GROUP_SIZE 4096, COMPRESSION zstd");
  std::fstream file(path, std::ios::binary | std::ios::in | std::ios::out | std::ios::ate);
  const auto middle = static_cast<std::streamoff>(file.tellp()) / 2;
  file.seekp(middle);
  file << std::string(4096, '\xff');
  file.close();
  EXPECT_EQ(Read(path).status().code(), absl::StatusCode::kInvalidArgument);
}

TEST_F(ParquetSourceTest, ListsAreLeftOutUnlessTheSchemaNamesThem) {
  const std::string path = File("SELECT 1 AS a, [1, 2] AS b, {'c': 1} AS c, 'x'::BLOB AS d");
  EXPECT_EQ(Rows(path, {.columns = {"a"}}), "a\n1\n");
  EXPECT_THAT(std::string(Read(path, {.columns = {"a", "b"}}).status().message()),
              HasSubstr("the column b has lists, records or bytes"));
}

TEST_F(ParquetSourceTest, MemoryDoesNotGrowWithTheNumberOfRows) {
  const std::string path =
      File("SELECT i AS a, md5(i::VARCHAR) AS b, md5((i + 1)::VARCHAR) AS c FROM range(3000000) t(i)",
           ", ROW_GROUP_SIZE 20480");
  const auto source = OpenParquet(path, {});
  ASSERT_TRUE(source.ok()) << source.status();
  rusage before = {};
  ASSERT_FALSE((*source)->NextLines()->empty());
  getrusage(RUSAGE_SELF, &before);
  size_t bytes = 0;
  for (std::string next = *(*source)->NextLines(); !next.empty(); next = *(*source)->NextLines())
    bytes += next.size();
  rusage after = {};
  getrusage(RUSAGE_SELF, &after);
  EXPECT_GT(bytes, size_t{200'000'000});
  EXPECT_LT(after.ru_maxrss - before.ru_maxrss, 100'000) << "kilobytes";
}

}  // namespace
}  // namespace curator::cli
