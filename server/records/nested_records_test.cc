// Records that lie in groups, from their file to the sealed table.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/errors.h"
#include "dp/data/sealed_table.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using testing::ContentOf;
using ::testing::ElementsAre;
using testing::FilesBelow;
using ::testing::HasSubstr;
using testing::Import;
using ::testing::IsEmpty;
using ::testing::Not;
using testing::Open;
using testing::OpenStore;
using testing::RowsOf;
using testing::ScratchFolder;

// Scores 0 to 10 in bins of a half.
dp::Schema Pupils(dp::PrivacyUnit unit, int64_t max_group_size = dp::kNoRecordBound) {
  return dp::CreateSchema(
             dp::Domain::Create(
                 {dp::Attribute::Create("sex", dp::CategoricalKind{{"F", "M"}, std::nullopt}).value(),
                  dp::Attribute::Create("score", dp::NumericKind{{}, dp::EvenSteps{0, 10, 0.5}}).value()})
                 .value(),
             std::move(unit), dp::Nesting{"school", 1, max_group_size})
      .value();
}

std::vector<uint32_t> GroupsOf(const dp::SealedTable& table) {
  const dp::ReadableScope readable(table);
  return {readable.group_of_row().begin(), readable.group_of_row().end()};
}

TEST(NestedRecords, KeepTheirGroupsAcrossImportsAndRestarts) {
  const ScratchFolder folder;
  const dp::Schema schema = Pupils(dp::RecordUnit{});
  SealedContent sealed;
  {
    const auto store = OpenStore(folder);
    ASSERT_TRUE(Import(*store, schema, "r1", "school,sex,score\nA,F,1\nB,M,2\nA,M,3\n").ok());
    ASSERT_TRUE(Import(*store, schema, "r2", "score,school,sex\n4,B,F\n5,C,F\n6, A ,F\n").ok());
    sealed = store->Seal("people", schema).value();
  }
  const auto store = OpenStore(folder);
  const dp::SealedTableHandle table = store->Load({"people", sealed.content_hash}).value().table;
  EXPECT_EQ(RowsOf(*table), (CodeRows{{0, 2}, {1, 4}, {1, 6}, {0, 8}, {0, 10}, {0, 12}}));
  EXPECT_THAT(GroupsOf(*table), ElementsAre(0, 1, 0, 1, 2, 0));
  EXPECT_EQ(table->groups(), 3);
  EXPECT_EQ(table->units(), std::nullopt) << "each record is a unit of its own";
  EXPECT_EQ(sealed.records_dropped, 0);
}

TEST(NestedRecords, OfGroupsThatAreUnitsHaveTheUnitsAsGroups) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = Pupils(dp::GroupUnit{"school", 2});
  ASSERT_TRUE(Import(*store, schema, "r1", "school,sex,score\nA,F,1\nB,M,2\nA,M,3\nA,M,4\n").ok());
  const SealedContent sealed = store->Seal("people", schema).value();
  const dp::SealedTableHandle table = store->Load({"people", sealed.content_hash}).value().table;
  EXPECT_THAT(GroupsOf(*table), ElementsAre(0, 1, 0));
  EXPECT_EQ(table->groups(), 2);
  EXPECT_EQ(table->units(), 2);
  EXPECT_EQ(sealed.records_dropped, 1);
}

TEST(NestedRecords, AResponseBeyondItsBoundsCountsAsTheNearestBinAndIsReported) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = Pupils(dp::RecordUnit{});
  const ImportReport report =
      Import(*store, schema, "r1", "school,sex,score\nA,F,-3\nA,M,10\nB,F,99.5\nB,X,11\n").value();
  EXPECT_EQ(report.rows_accepted, 3);
  EXPECT_EQ(report.rows_rejected, 1);
  EXPECT_EQ(report.responses_clamped, 2) << "that of a rejected row does not count";
  const SealedContent sealed = store->Seal("people", schema).value();
  EXPECT_EQ(RowsOf(*store->Load({"people", sealed.content_hash}).value().table),
            (CodeRows{{0, 0}, {1, 19}, {0, 19}}));
  EXPECT_EQ(Import(*store, schema, "r1", "school,sex,score\nA,F,-3\nA,M,10\nB,F,99.5\nB,X,11\n").value(),
            report)
      << "a repeated import has the same report";
}

TEST(NestedRecords, OnlyTheResponseIsClamped) {
  const dp::Schema schema =
      dp::CreateSchema(dp::Domain::Create({dp::Attribute::Create("age", dp::IntegerKind{0, 9, 1}).value(),
                                           dp::Attribute::Create("score", dp::IntegerKind{0, 9, 1}).value()})
                           .value(),
                       dp::RecordUnit{}, dp::Nesting{"school", 1})
          .value();
  const ImportReport report =
      testing::Push(*CheckRecords(schema, {}), "school,age,score\nA,10,1\nA,1,10\n").value();
  EXPECT_THAT(report.examples, ElementsAre(RejectedRow{2, "age", "is above the largest value, 9"}));
  EXPECT_EQ(report.responses_clamped, 1);
}

TEST(NestedRecords, WithoutAGroupOrANumberAreRejected) {
  const dp::Schema schema = Pupils(dp::RecordUnit{});
  const ImportReport report =
      testing::Push(*CheckRecords(schema, {}), "school,sex,score\n ,F,1\nA,F,tall\nA,F,\nA,F,1\n").value();
  EXPECT_EQ(report.rows_accepted, 1);
  EXPECT_THAT(report.examples, ElementsAre(RejectedRow{2, "school", "is empty"},
                                           RejectedRow{3, "score", "is not a finite number"},
                                           RejectedRow{4, "score", "is empty"}));
  EXPECT_THAT(std::string(testing::Push(*CheckRecords(schema, {}), "sex,score\nF,1\n").status().message()),
              HasSubstr("\"school\""));
}

TEST(NestedRecords, IdsOfGroupsAreNowhereOnDiskOnceSealed) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = Pupils(dp::RecordUnit{});
  ASSERT_TRUE(Import(*store, schema, "r1", "school,sex,score\nSt-Columba-Hill,F,1\n").ok());
  const std::string key = testing::HashUnderTestKey("curator unit id:people:St-Columba-Hill").substr(0, 16);
  for (const std::string& name : FilesBelow(folder.path())) {
    EXPECT_THAT(ContentOf(folder / name), Not(HasSubstr("Columba"))) << name;
  }
  EXPECT_THAT(ContentOf(folder / "people/segments/r1"), HasSubstr(key)) << "the twin that must be found";
  ASSERT_TRUE(store->Seal("people", schema).ok());
  for (const std::string& name : FilesBelow(folder.path())) {
    EXPECT_THAT(ContentOf(folder / name), Not(HasSubstr(key))) << name;
  }
}

TEST(NestedRecords, AnImportThatBreaksTheBoundOfAGroupIsRefusedAndLeavesNothing) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = Pupils(dp::RecordUnit{}, 3);
  ASSERT_TRUE(Import(*store, schema, "r1", "school,sex,score\nA,F,1\nB,M,2\nA,M,3\n").ok());
  const std::vector<std::string> before = FilesBelow(folder.path());
  const absl::Status refused =
      Import(*store, schema, "r2", "school,sex,score\nB,F,1\nA,F,1\nA,M,2\n").status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(FieldViolationOf(refused)->field, "csv");
  EXPECT_THAT(std::string(refused.message()), HasSubstr("more than 3 records"));
  EXPECT_EQ(FilesBelow(folder.path()), before);
  ASSERT_TRUE(Import(*store, schema, "r2", "school,sex,score\nB,F,1\nA,F,1\n").ok())
      << "as many as it may have";
  EXPECT_EQ(store->Seal("people", schema).value().records, 5);
}

// The records by which the tables of two files differ.
size_t RecordsApart(const dp::Schema& schema, std::string_view one, std::string_view other) {
  std::vector<std::multiset<std::vector<uint32_t>>> tables;
  for (const std::string_view csv : {one, other}) {
    const ScratchFolder folder;
    const auto store = OpenStore(folder);
    EXPECT_TRUE(Import(*store, schema, "r1", csv).ok());
    const std::string hash = store->Seal("people", schema).value().content_hash;
    const CodeRows rows = RowsOf(*store->Load({"people", hash}).value().table);
    tables.emplace_back(rows.begin(), rows.end());
  }
  CodeRows apart;
  std::ranges::set_symmetric_difference(tables[0], tables[1], std::back_inserter(apart));
  return apart.size();
}

constexpr char kThreePupils[] = "school,sex,score\nA,F,1\nA,M,2\nA,M,3\n";
constexpr char kWithoutTheFirst[] = "school,sex,score\nA,M,2\nA,M,3\n";

TEST(NestedRecords, OneRecordLessInTheFileIsOneRecordLessInTheTable) {
  EXPECT_EQ(RecordsApart(Pupils(dp::RecordUnit{}), kThreePupils, kWithoutTheFirst), 1u);
  EXPECT_EQ(RecordsApart(Pupils(dp::RecordUnit{}, 3), kThreePupils, kWithoutTheFirst), 1u);
}

// Which is why the bound of a group is kept by refusal where the record is the unit.
TEST(NestedRecordsCanary, KeepingTheFirstRecordsOfAGroupMovesTwoRecordsForOne) {
  EXPECT_EQ(RecordsApart(Pupils(dp::GroupUnit{"school", 2}), kThreePupils, kWithoutTheFirst), 2u);
}

TEST(NestedRecords, AreNoPartsOfAnotherTable) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = Pupils(dp::RecordUnit{});
  std::vector<SealedId> ids;
  for (const std::string id : {"first", "second"})
    ids.push_back({id, store->Seal(id, schema).value().content_hash});
  EXPECT_FALSE(Open(*store, ids).ok()) << "their groups would be taken for one another, or be lost";
}

}  // namespace
}  // namespace curator::records
