#include "dp/data/sealed_table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <thread>
#include <utility>
#include <vector>

#include "dp/data/testing/seal_rows.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

Domain SmallDomain() {
  return Domain::Create(
             {Attribute::Create("a", CodedKind{3}).value(), Attribute::Create("b", CodedKind{300}).value()})
      .value();
}

std::vector<uint32_t> Codes(uint32_t a, uint32_t b) {
  return {a, b};
}

TEST(SealedTable, HoldsItsRowsInOrder) {
  const SealedTableHandle table = SealRows(SmallDomain(), {{2, 299}, {0, 7}}).value();
  EXPECT_EQ(table->rows(), 2);
  EXPECT_EQ(table->units(), std::nullopt);
  EXPECT_EQ(table->groups(), std::nullopt);
  const ReadableScope readable(*table);
  EXPECT_EQ(readable.columns().columns[0][0], 2u);
  EXPECT_EQ(readable.columns().columns[1][0], 299u);
  EXPECT_EQ(readable.columns().columns[1][1], 7u);
  EXPECT_THAT(readable.unit_of_row(), IsEmpty());
}

TEST(SealedTable, MayBeEmpty) {
  const SealedTableHandle table = SealRows(SmallDomain(), {}).value();
  EXPECT_EQ(table->rows(), 0);
  EXPECT_EQ(ReadableScope(*table).columns().rows, 0);
  EXPECT_EQ(std::move(SealedTableBuilder(SmallDomain(), RowOwner::kUnit)).Build().value()->units(), 0);
}

TEST(SealedTable, KnowsTheUnitOfEachRow) {
  SealedTableBuilder builder(SmallDomain(), RowOwner::kUnit);
  ASSERT_TRUE(builder.AppendRow(Codes(0, 0), 1).ok());
  ASSERT_TRUE(builder.AppendRow(Codes(1, 1), 0).ok());
  ASSERT_TRUE(builder.AppendRow(Codes(2, 2), 1).ok());
  const SealedTableHandle table = std::move(builder).Build().value();
  EXPECT_EQ(table->units(), 2);
  EXPECT_THAT(ReadableScope(*table).unit_of_row(), ElementsAre(1, 0, 1));
  EXPECT_EQ(table->groups(), 2) << "units that own several rows are their groups";
  EXPECT_THAT(ReadableScope(*table).group_of_row(), ElementsAre(1, 0, 1));
}

TEST(SealedTable, KnowsTheGroupOfRowsThatAreUnitsOfTheirOwn) {
  SealedTableBuilder builder(SmallDomain(), RowOwner::kItselfInGroup);
  ASSERT_TRUE(builder.AppendRow(Codes(0, 0), 1).ok());
  ASSERT_TRUE(builder.AppendRow(Codes(1, 1), 0).ok());
  ASSERT_TRUE(builder.AppendRow(Codes(2, 2), 1).ok());
  const SealedTableHandle table = std::move(builder).Build().value();
  EXPECT_EQ(table->groups(), 2);
  EXPECT_THAT(ReadableScope(*table).group_of_row(), ElementsAre(1, 0, 1));
  EXPECT_EQ(table->units(), std::nullopt) << "what counts by units must not take a group for one";
  EXPECT_THAT(ReadableScope(*table).unit_of_row(), IsEmpty());
}

TEST(SealedTable, RefusesUnitsThatAreMissingOrNotDense) {
  SealedTableBuilder without(SmallDomain());
  EXPECT_FALSE(without.AppendRow(Codes(0, 0), 0).ok());
  SealedTableBuilder with(SmallDomain(), RowOwner::kUnit);
  EXPECT_FALSE(with.AppendRow(Codes(0, 0)).ok());

  SealedTableBuilder gap(SmallDomain(), RowOwner::kUnit);
  ASSERT_TRUE(gap.AppendRow(Codes(0, 0), 1).ok());
  ASSERT_TRUE(gap.AppendRow(Codes(0, 0), 1).ok());
  EXPECT_THAT(std::move(gap).Build().status().message(), HasSubstr("without a gap"));

  SealedTableBuilder beyond(SmallDomain(), RowOwner::kUnit);
  ASSERT_TRUE(beyond.AppendRow(Codes(0, 0), 4'000'000'000u).ok());
  EXPECT_THAT(std::move(beyond).Build().status().message(), HasSubstr("not below the number of rows"));
}

TEST(SealedTable, RefusesColumnsOfAnotherLengthThanTheirUnits) {
  CodedColumns columns(SizesOf(SmallDomain()));
  ASSERT_TRUE(columns.AppendRow(Codes(0, 0)).ok());
  SealedTableBuilder builder(SmallDomain(), RowOwner::kUnit);
  builder.SetColumns(std::move(columns), {0, 1});
  EXPECT_THAT(std::move(builder).Build().status().message(), HasSubstr("one unit or group for each row"));
}

TEST(SealedTableDeathTest, CannotBeReadOutsideAScope) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const SealedTableHandle table = SealRows(SmallDomain(), {{2, 299}}).value();
  const volatile std::byte* codes = nullptr;
  {
    const ReadableScope readable(*table);
    codes = readable.columns().columns[0].codes;
    EXPECT_EQ(static_cast<int>(*codes), 2);  // the twin that must live
  }
  EXPECT_DEATH({ [[maybe_unused]] const std::byte leaked = *codes; }, "");
}

TEST(SealedTableDeathTest, CannotBeReadOutsideAScopeAtEitherEndWhenItFillsLargePages) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  CodedColumns columns({3, 300});
  for (int i = 0; i < 800'000; ++i) ASSERT_TRUE(columns.AppendRow(std::vector<uint32_t>{2, 299}).ok());
  SealedTableBuilder builder(SmallDomain());
  builder.SetColumns(std::move(columns), {});
  const SealedTableHandle table = std::move(builder).Build().value();
  const volatile std::byte* first = nullptr;
  const volatile std::byte* last = nullptr;
  {
    const ReadableScope readable(*table);
    first = readable.columns().columns[0].codes;
    last = readable.columns().columns[1].codes + 2 * 800'000 - 1;
    EXPECT_EQ(static_cast<int>(*first), 2);
    EXPECT_EQ(static_cast<int>(*last), 299 / 256);
  }
  EXPECT_DEATH({ [[maybe_unused]] const std::byte leaked = *first; }, "");
  EXPECT_DEATH({ [[maybe_unused]] const std::byte leaked = *last; }, "");
}

TEST(SealedTableDeathTest, CannotBeWrittenEvenInsideAScope) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  const SealedTableHandle table = SealRows(SmallDomain(), {{2, 299}}).value();
  const ReadableScope readable(*table);
  auto* const codes = const_cast<volatile std::byte*>(readable.columns().columns[0].codes);
  EXPECT_DEATH({ *codes = std::byte{0}; }, "");
}

TEST(SealedTable, StaysReadableUntilTheLastOfOverlappingScopesEnds) {
  const SealedTableHandle table = SealRows(SmallDomain(), {{2, 299}}).value();
  const ReadableScope outer(*table);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&table] {
      for (int round = 0; round < 500; ++round) {
        const ReadableScope inner(*table);
        ASSERT_EQ(inner.columns().columns[1][0], 299u);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(outer.columns().columns[0][0], 2u);
}

}  // namespace
}  // namespace curator::dp
