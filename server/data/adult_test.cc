// Real input, from the compressed file to counts, against SQLite: nothing but the schema is shared by the two
// paths.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sqlite3.h>
#include <zlib.h>

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "data/testing.h"
#include "dp/data/count_sealed_marginals.h"
#include "tests/testing/shared_folder.h"

namespace curator::data {
namespace {

using nlohmann::json;
using testing::ContentOf;
using testing::Import;
using testing::OpenStore;
using testing::TemporaryFolder;

constexpr char kTrain[] = "data/adult_uci/train.csv.gz";
constexpr int64_t kTrainRows = 32561;  // says the data set's own description

dp::AttributeKind KindFrom(const json& attribute) {
  if (attribute.contains("categorical")) {
    const json& kind = attribute["categorical"];
    dp::CategoricalKind categorical{.values = kind["values"].get<std::vector<std::string>>(),
                                    .catch_all = {}};
    if (kind.contains("catchAll")) categorical.catch_all = kind["catchAll"].get<std::string>();
    return categorical;
  }
  if (attribute.contains("integer")) {
    const json& kind = attribute["integer"];
    return dp::IntegerKind{kind["min"].get<int64_t>(), kind["max"].get<int64_t>(),
                           kind.value("binWidth", int64_t{1})};
  }
  return dp::NumericKind{attribute["numeric"]["edges"].get<std::vector<double>>()};
}

dp::Schema AdultSchema() {
  std::vector<dp::Attribute> attributes;
  const json file = json::parse(ContentOf(std::string(CURATOR_SOURCE_DIR) + "/tests/data/adult_schema.json"));
  for (const json& attribute : file["attributes"]) {
    attributes.push_back(
        dp::Attribute::Create(attribute["name"].get<std::string>(), KindFrom(attribute)).value());
  }
  return dp::CreateSchema(dp::Domain::Create(std::move(attributes)).value(), dp::RecordUnit{}).value();
}

// The bin of column `column` as an SQL expression.
std::string SqlCode(const dp::AttributeKind& kind, const std::string& column) {
  if (const auto* categorical = std::get_if<dp::CategoricalKind>(&kind)) {
    std::string sql = absl::StrCat("CASE ", column);
    for (size_t i = 0; i < categorical->values.size(); ++i) {
      absl::StrAppend(&sql, " WHEN '", categorical->values[i], "' THEN ", i);
    }
    return absl::StrCat(sql, " ELSE ", categorical->values.size(), " END");
  }
  if (const auto* integer = std::get_if<dp::IntegerKind>(&kind)) {
    return absl::StrCat("(CAST(", column, " AS INTEGER) - ", integer->min, ") / ", integer->bin_width);
  }
  std::vector<std::string> edges_below;
  const std::vector<double>& edges = std::get<dp::NumericKind>(kind).edges;
  for (size_t i = 1; i + 1 < edges.size(); ++i) {
    edges_below.push_back(absl::StrCat("(CAST(", column, " AS REAL) >= ", edges[i], ")"));
  }
  return absl::StrJoin(edges_below, " + ");
}

// The file's rows in SQLite, as codes c0, c1, ... computed there.
class CodesInSqlite {
 public:
  CodesInSqlite(const std::string& csv, const dp::Domain& domain) : domain_(domain) {
    EXPECT_EQ(sqlite3_open(":memory:", &database_), SQLITE_OK);
    std::vector<std::string> raw;
    std::vector<std::string> codes;
    for (size_t i = 0; i < domain.size(); ++i) {
      raw.push_back(absl::StrCat("r", i));
      codes.push_back(absl::StrCat(SqlCode(domain.attributes()[i].kind(), raw.back()), " AS c", i));
    }
    Run(absl::StrCat("CREATE TABLE raw (", absl::StrJoin(raw, ","), ")"));
    Insert(csv);
    Run(absl::StrCat("CREATE TABLE codes AS SELECT ", absl::StrJoin(codes, ", "), " FROM raw"));
  }
  ~CodesInSqlite() { sqlite3_close(database_); }

  std::vector<int64_t> Counts(const dp::AttributeSet& set) {
    std::string cell = "0";
    for (const uint32_t attribute : set) {
      cell = absl::StrCat("(", cell, ") * ", domain_.attributes()[attribute].size(), " + c", attribute);
    }
    std::vector<int64_t> counts(static_cast<size_t>(*domain_.CellCount(set)));
    sqlite3_stmt* query = nullptr;
    const std::string sql = absl::StrCat("SELECT ", cell, " AS cell, COUNT(*) FROM codes GROUP BY cell");
    EXPECT_EQ(sqlite3_prepare_v2(database_, sql.c_str(), -1, &query, nullptr), SQLITE_OK);
    while (sqlite3_step(query) == SQLITE_ROW) {
      counts.at(static_cast<size_t>(sqlite3_column_int64(query, 0))) = sqlite3_column_int64(query, 1);
    }
    sqlite3_finalize(query);
    return counts;
  }

 private:
  void Run(const std::string& sql) {
    ASSERT_EQ(sqlite3_exec(database_, sql.c_str(), nullptr, nullptr, nullptr), SQLITE_OK)
        << sqlite3_errmsg(database_);
  }

  // This file has no quotes: a comma is always a boundary.
  void Insert(const std::string& csv) {
    Run("BEGIN");
    sqlite3_stmt* insert = nullptr;
    const std::vector<std::string> marks(domain_.size(), "?");
    sqlite3_prepare_v2(database_,
                       absl::StrCat("INSERT INTO raw VALUES (", absl::StrJoin(marks, ","), ")").c_str(), -1,
                       &insert, nullptr);
    std::istringstream lines(csv);
    std::string line;
    std::getline(lines, line);
    while (std::getline(lines, line)) {
      std::istringstream fields(line);
      std::string field;
      for (int i = 1; std::getline(fields, field, ','); ++i) {
        sqlite3_bind_text(insert, i, field.c_str(), -1, SQLITE_TRANSIENT);
      }
      ASSERT_EQ(sqlite3_step(insert), SQLITE_DONE);
      sqlite3_reset(insert);
    }
    sqlite3_finalize(insert);
    Run("COMMIT");
  }

  dp::Domain domain_;
  sqlite3* database_ = nullptr;
};

std::string Unzipped(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");
  std::string piece(1 << 16, '\0');
  for (int count = 0; (count = gzread(file, piece.data(), 1 << 16)) > 0;)
    text.append(piece, 0, static_cast<size_t>(count));
  gzclose(file);
  return text;
}

TEST(Adult, CountsAgreeWithSqliteFromTheCompressedFileOn) {
  REQUIRE_SHARED(kTrain);
  const dp::Schema schema = AdultSchema();
  const TemporaryFolder folder;
  const auto store = OpenStore(folder);
  const ImportReport report =
      Import(*store, schema, "train", ContentOf(shared::PathOf(kTrain)), {.compression = Compression::kGzip})
          .value();
  EXPECT_EQ(report.rows_accepted, kTrainRows);
  EXPECT_EQ(report.rows_rejected, 0);
  const SealedContent sealed = store->Seal("people", schema).value();
  EXPECT_EQ(sealed.records, kTrainRows);
  const dp::SealedTableHandle table = store->Load("people", sealed.content_hash).value();

  std::vector<dp::AttributeSet> sets = {{0, 2, 10}, {1, 6, 13}, {3, 4, 14}, {7, 8, 9, 14}};
  for (uint32_t a = 0; a < schema.domain.size(); ++a) sets.push_back({a});
  for (uint32_t a = 0; a < schema.domain.size(); a += 3) {
    for (uint32_t b = a + 1; b < schema.domain.size(); b += 2) sets.push_back({a, b});
  }
  const auto counts = dp::CountMarginals(*table, schema.domain, sets).value();
  CodesInSqlite sqlite(Unzipped(shared::PathOf(kTrain)), schema.domain);
  for (size_t i = 0; i < sets.size(); ++i) ASSERT_EQ(counts[i], sqlite.Counts(sets[i])) << "set " << i;
}

}  // namespace
}  // namespace curator::data
