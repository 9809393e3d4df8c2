// The law of imports: with one unit removed from the source, the sealed table differs in that unit's rows
// alone, whatever order the rows of a source without order arrive in. And what breaks it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::CodeRows;
using testing::OpenStore;
using testing::Push;
using testing::RowsOf;
using testing::ScratchFolder;

constexpr uint32_t kPersons = 12;
constexpr int64_t kBound = 3;

// Of a person, with two values, of which one is also a measure, clipped. The person is an attribute, too, so
// that a sealed row says whose it is.
struct SourceRow {
  uint32_t person = 0;
  uint32_t kind = 0;
  uint32_t amount = 0;
};
using Source = std::vector<SourceRow>;

dp::Schema VisitSchema() {
  return dp::CreateSchema(dp::Domain::Create({dp::Attribute::Create("who", dp::CodedKind{kPersons}).value(),
                                              dp::Attribute::Create("kind", dp::CodedKind{3}).value(),
                                              dp::Attribute::Create("amount", dp::CodedKind{500}).value()},
                                             {dp::Measure::Create("amount", {100, 400, 20}).value()})
                              .value(),
                          dp::PersonUnit{"pid", kBound})
      .value();
}

Source RandomSource(std::mt19937_64& random) {
  Source source;
  for (size_t left = 20 + random() % 60; left > 0; --left) {
    const bool is_common = random() % 2 == 0;  // equal rows of one person
    source.push_back({static_cast<uint32_t>(random() % kPersons), static_cast<uint32_t>(random() % 3),
                      is_common ? 7 : static_cast<uint32_t>(random() % 500)});
  }
  return source;
}

Source Without(const Source& source, uint32_t person) {
  Source rest = source;
  std::erase_if(rest, [&](const SourceRow& row) { return row.person == person; });
  return rest;
}

std::string CsvOf(const Source& source) {
  std::string csv = "pid,who,kind,amount\n";
  for (const SourceRow& row : source)
    absl::StrAppend(&csv, "p", row.person, ",", row.person, ",", row.kind, ",", row.amount, "\n");
  return csv;
}

// The sealed rows, sorted, after an import of each piece.
CodeRows SealedFrom(const std::vector<Source>& pieces, RecordSource kind) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = VisitSchema();
  for (size_t i = 0; i < pieces.size(); ++i) {
    const auto import =
        store->BeginImport("people", schema, absl::StrCat("r", i), {.source = kind, .accept_same_file = true})
            .value();
    EXPECT_TRUE(Push(*import, CsvOf(pieces[i])).ok());
  }
  const SealedContent sealed = store->Seal("people", schema, "olga").value();
  CodeRows rows = RowsOf(*store->Load({"people", sealed.content_hash}).value().table);
  std::ranges::sort(rows);
  return rows;
}

CodeRows WithoutRowsOf(CodeRows rows, uint32_t person) {
  std::erase_if(rows, [&](const std::vector<uint32_t>& row) { return row[0] == person; });
  return rows;
}

// The source in any order, in one or two imports.
std::vector<Source> InAnyOrder(Source source, std::mt19937_64& random) {
  std::ranges::shuffle(source, random);
  const auto cut = static_cast<int64_t>(random() % (source.size() + 1));
  return {Source(source.begin(), source.begin() + cut), Source(source.begin() + cut, source.end())};
}

// How often the law is broken in `rounds` random sources.
template <typename Sealed>
int Violations(int rounds, const Sealed& sealed) {
  std::mt19937_64 random(26);
  int violations = 0;
  for (int round = 0; round < rounds; ++round) {
    const Source source = RandomSource(random);
    const uint32_t removed = source[random() % source.size()].person;
    const CodeRows with = sealed(source, random);
    const CodeRows without = sealed(Without(source, removed), random);
    if (WithoutRowsOf(with, removed) != without) ++violations;
  }
  return violations;
}

TEST(SourceLaw, HoldsForAFileInItsOrder) {
  EXPECT_EQ(Violations(40, [](const Source& source,
                              std::mt19937_64&) { return SealedFrom({source}, RecordSource::kFile); }),
            0);
}

TEST(SourceLaw, HoldsForATableInAnyOrder) {
  EXPECT_EQ(Violations(40,
                       [](const Source& source, std::mt19937_64& random) {
                         return SealedFrom(InAnyOrder(source, random), RecordSource::kTable);
                       }),
            0);
}

// Rows of a table that are kept by arrival.
TEST(SourceLawCanary, FindsRowsThatAreKeptByArrival) {
  EXPECT_GT(Violations(40,
                       [](const Source& source, std::mt19937_64& random) {
                         return SealedFrom(InAnyOrder(source, random), RecordSource::kFile);
                       }),
            0);
}

// A query with a window, in which one person's rows decide what others' rows say: why a dataset of a query
// says so for ever.
TEST(SourceLawCanary, FindsAWindowInAQuery) {
  EXPECT_GT(Violations(10,
                       [](Source source, std::mt19937_64&) {
                         for (size_t i = 0; i < source.size(); ++i)
                           source[i].amount = static_cast<uint32_t>(i);
                         return SealedFrom({source}, RecordSource::kQuery);
                       }),
            0);
}

// A value of all of a kind that is taken from the first record among them.
TEST(SourceLawCanary, FindsAGroupsValueThatIsTakenFromItsFirstRecord) {
  EXPECT_GT(Violations(10,
                       [](Source source, std::mt19937_64&) {
                         std::map<uint32_t, uint32_t> first;
                         for (SourceRow& row : source)
                           row.amount = first.try_emplace(row.kind, row.amount).first->second;
                         return SealedFrom({source}, RecordSource::kTable);
                       }),
            0);
}

TEST(RowChoice, KeepsTheBoundOfEachPerson) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 20; ++round) {
    const Source source = RandomSource(random);
    std::map<uint32_t, int64_t> expected;
    for (const SourceRow& row : source) expected[row.person] = std::min(expected[row.person] + 1, kBound);
    std::map<uint32_t, int64_t> kept;
    for (const std::vector<uint32_t>& row : SealedFrom({source}, RecordSource::kTable)) ++kept[row[0]];
    EXPECT_EQ(kept, expected);
  }
}

TEST(RowChoice, PrefersNoValueInAllPersons) {
  Source source;
  for (uint32_t person = 0; person < kPersons; ++person) {
    for (uint32_t amount = 0; amount < 60; ++amount) source.push_back({person, 0, amount});
  }
  std::map<uint32_t, int> persons_with;
  for (const std::vector<uint32_t>& row : SealedFrom({source}, RecordSource::kTable)) ++persons_with[row[2]];
  EXPECT_GT(persons_with.size(), kBound * 4) << "each person keeps others";
}

TEST(RowChoice, DecidesOfAllImportsOnceOneHasNoOrder) {
  std::mt19937_64 random(8);
  const dp::Schema schema = VisitSchema();
  const auto sealed = [&](const Source& file, const Source& table, bool table_first) {
    const ScratchFolder folder;
    const auto store = OpenStore(folder);
    const auto import = [&](const std::string& request_id, const Source& source, RecordSource kind) {
      EXPECT_TRUE(
          Push(**store->BeginImport("people", schema, request_id, {.source = kind}), CsvOf(source)).ok());
    };
    if (table_first) import("table", table, RecordSource::kTable);
    import("file", file, RecordSource::kFile);
    if (!table_first) import("table", table, RecordSource::kTable);
    const SealedContent content = store->Seal("people", schema, "olga").value();
    CodeRows rows = RowsOf(*store->Load({"people", content.content_hash}).value().table);
    std::ranges::sort(rows);
    return rows;
  };
  for (int round = 0; round < 5; ++round) {
    const Source file = RandomSource(random);
    const Source table = RandomSource(random);
    Source reversed(file.rbegin(), file.rend());
    EXPECT_EQ(sealed(file, table, true), sealed(reversed, table, false));
  }
}

// The records of a person in a part that was sealed before count, whatever their source.
TEST(RowChoice, KeepsAsManyAsOtherPartsLeave) {
  const ScratchFolder folder;
  const auto store = OpenStore(folder);
  const dp::Schema schema = VisitSchema();
  const PartIds whole{"whole", [] { return std::vector<std::string>{"first", "second"}; }};
  const auto import = [&](const std::string& part, const Source& source) {
    const ImportOptions options{
        .only = PartRows{.part = part, .dataset = "whole", .attribute = 1, .bins = {0, 1}},
        .source = RecordSource::kTable};
    EXPECT_TRUE(Push(**store->BeginImport(part, schema, "r1", options), CsvOf(source)).ok());
  };
  import("first", {{1, 0, 1}, {1, 0, 2}, {2, 0, 1}, {3, 0, 1}, {3, 0, 2}, { 3, 0, 3 }});
  import("second", {{1, 0, 3}, {1, 0, 4}, {1, 0, 5}, {2, 0, 6}, {2, 0, 7}, { 3, 0, 8 }});
  EXPECT_EQ(store->SealPart("first", whole, schema, "olga")->records, 6);
  const SealedContent second = store->SealPart("second", whole, schema, "olga").value();
  EXPECT_EQ(second.records, 3) << "one of person 1, two of person 2, none of person 3";
  EXPECT_EQ(second.records_dropped, 3);
}

}  // namespace
}  // namespace curator::records
