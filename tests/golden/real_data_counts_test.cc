// Real data, from the file to counts, against SQLite: the two ways share the words of the schema and nothing
// else.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "dp/data/count_sealed_marginals.h"
#include "dp/queries/linear_queries.h"
#include "records/testing/stored_datasets.h"
#include "tests/golden/schema_from_json.h"
#include "tests/golden/sqlite_codes.h"
#include "tests/testing/nightly.h"
#include "tests/testing/real_datasets.h"
#include "tests/testing/shared_folder.h"

namespace curator::golden {
namespace {

using testing::RealDataset;

constexpr int64_t kUsualRecords = 60'000;  // of the two that have a million: all of them at night
constexpr int64_t kMostCells = 50'000;

struct Loaded {
  dp::Schema schema;
  dp::SealedTableHandle table;
  std::string csv;
};

// Through the importer, the segment and the snapshot; compressed where the file is and nothing was cut off.
Loaded Load(const RealDataset& dataset) {
  const int64_t records =
      std::min<int64_t>(dataset.records, static_cast<int64_t>(nightly::Volume(kUsualRecords, 1'000'000)));
  Loaded loaded{.schema = SchemaFromJson(testing::SchemaJsonOf(dataset)),
                .table = nullptr,
                .csv = testing::CsvOf(dataset, records)};
  const bool compressed = dataset.csv.ends_with(".gz") && records == dataset.records;
  const std::string bytes =
      compressed ? records::testing::ContentOf(shared::PathOf(dataset.csv)) : loaded.csv;
  const records::testing::ScratchFolder folder;
  const auto store = records::testing::OpenStore(folder);
  const auto report = records::testing::Import(
      *store, loaded.schema, "all", bytes,
      {.compression = compressed ? records::Compression::kGzip : records::Compression::kNone});
  EXPECT_TRUE(report.ok()) << report.status();
  EXPECT_EQ(report->rows_accepted, records);
  EXPECT_EQ(report->rows_rejected, 0) << report->examples.at(0).attribute << report->examples.at(0).reason;
  const records::SealedContent sealed = store->Seal("people", loaded.schema, "olga").value();
  loaded.table = store->Load({"people", sealed.content_hash}).value().table;
  return loaded;
}

dp::AttributeSet RandomSet(const dp::Domain& domain, size_t attributes, std::mt19937_64& random) {
  dp::AttributeSet set;
  while (set.size() < std::min(attributes, domain.size())) {
    const uint32_t attribute = static_cast<uint32_t>(random() % domain.size());
    if (std::ranges::count(set, attribute) == 0) set.push_back(attribute);
  }
  std::ranges::sort(set);
  return set;
}

// Up to twelve attributes by themselves, and ten sets each of two, three and four that have not too many
// cells.
std::vector<dp::AttributeSet> SomeSets(const dp::Domain& domain) {
  std::mt19937_64 random(nightly::Seed(801));
  std::vector<dp::AttributeSet> sets = {{}};
  for (uint32_t i = 0; i < std::min<size_t>(12, domain.size()); ++i) sets.push_back({i});
  for (const size_t size : {2, 3, 4}) {
    for (int i = 0; i < 10; ++i) {
      const dp::AttributeSet set = RandomSet(domain, size, random);
      if (domain.CellCount(set).value_or(kMostCells + 1) <= kMostCells) sets.push_back(set);
    }
  }
  return sets;
}

class RealDataCounts : public ::testing::TestWithParam<RealDataset> {};

INSTANTIATE_TEST_SUITE_P(Everything, RealDataCounts, ::testing::ValuesIn(testing::RealDatasets()),
                         [](const auto& dataset) { return dataset.param.name; });

void ExpectTheSameMarginals(const Loaded& loaded, SqliteCodes& sqlite) {
  const std::vector<dp::AttributeSet> sets = SomeSets(loaded.schema.domain);
  const auto counts = dp::CountMarginals(*loaded.table, loaded.schema.domain, sets).value();
  for (size_t i = 0; i < sets.size(); ++i)
    ASSERT_EQ(counts[i], sqlite.Marginal(sets[i])) << absl::StrJoin(sets[i], ",");
}

void ExpectTheSameBoxes(const Loaded& loaded, SqliteCodes& sqlite) {
  const dp::Domain& domain = loaded.schema.domain;
  std::mt19937_64 random(nightly::Seed(802));
  for (int round = 0; round < 12; ++round) {
    const dp::AttributeSet set = RandomSet(domain, 1 + random() % 3, random);
    if (domain.CellCount(set).value_or(kMostCells + 1) > kMostCells) continue;
    dp::Boxes box;
    std::vector<std::string> conditions;
    for (const uint32_t attribute : set) {
      const uint32_t size = static_cast<uint32_t>(domain.attributes()[attribute].size());
      const uint32_t first = static_cast<uint32_t>(random() % size);
      const uint32_t last = first + static_cast<uint32_t>(random() % (size - first));
      box.sides.push_back({first, last});
      conditions.push_back(absl::StrCat("c", attribute, " BETWEEN ", first, " AND ", last));
    }
    const dp::QueryGroup group{set, box};
    const auto counts = dp::CountMarginal(*loaded.table, domain, set).value();
    ASSERT_EQ(dp::AnswersFromCounts(domain, group, counts).at(0),
              sqlite.Value(absl::StrCat("SUM(", absl::StrJoin(conditions, " AND "), ")")))
        << absl::StrJoin(conditions, " AND ");
  }
}

TEST_P(RealDataCounts, AgreeWithGroupByAndWhereInSqlite) {
  REQUIRE_SHARED(GetParam().csv);
  const Loaded loaded = Load(GetParam());
  SqliteCodes sqlite(loaded.schema.domain, loaded.csv);
  ExpectTheSameMarginals(loaded, sqlite);
  ExpectTheSameBoxes(loaded, sqlite);
}

// Three data sets come with their contingency table: published counts of every cell.
struct PublishedTable {
  std::string dataset;
  std::string table;
};

class PublishedTables : public ::testing::TestWithParam<PublishedTable> {};

INSTANTIATE_TEST_SUITE_P(Everything, PublishedTables,
                         ::testing::Values(PublishedTable{"mildew", "data/mildew/table.csv"},
                                           PublishedTable{"czech", "data/czech/table.csv"},
                                           PublishedTable{"nltcs", "data/nltcs/table_nonzero.csv"}),
                         [](const auto& table) { return table.param.dataset; });

TEST_P(PublishedTables, AreWhatTheFullMarginalCounts) {
  REQUIRE_SHARED(GetParam().table);
  const Loaded loaded = Load(testing::RealDatasetNamed(GetParam().dataset));
  const dp::Domain& domain = loaded.schema.domain;
  dp::AttributeSet all;
  for (uint32_t i = 0; i < domain.size(); ++i) all.push_back(i);

  std::vector<int64_t> published(static_cast<size_t>(domain.CellCount(all).value()));
  std::ifstream file(shared::PathOf(GetParam().table));
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::istringstream fields(line);
    std::string field;
    size_t cell = 0;
    for (const uint32_t attribute : all) {
      std::getline(fields, field, ',');
      cell = cell * static_cast<size_t>(domain.attributes()[attribute].size()) + std::stoul(field);
    }
    std::getline(fields, field, ',');
    published.at(cell) = std::stol(field);
  }
  EXPECT_EQ(dp::CountMarginal(*loaded.table, domain, all).value(), published);
}

// A count that puts the first edge of a bin into the bin below.
TEST(RealDataCountsCanary, BinsThatAreShiftedByOneValueAreCaught) {
  REQUIRE_SHARED("data/transfusion/transfusion.csv");
  const Loaded loaded = Load(testing::RealDatasetNamed("transfusion"));
  std::vector<dp::Attribute> attributes = loaded.schema.domain.attributes();
  attributes[0] = dp::Attribute::Create("recency", dp::IntegerKind{-1, 78, 4}).value();
  SqliteCodes shifted(dp::Domain::Create(attributes).value(), loaded.csv);
  EXPECT_NE(dp::CountMarginal(*loaded.table, loaded.schema.domain, {0}).value(), shifted.Marginal({0}));
}

}  // namespace
}  // namespace curator::golden
