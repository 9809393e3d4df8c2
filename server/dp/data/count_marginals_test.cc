#include "dp/data/count_marginals.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "dp/data/count_sealed_marginals.h"
#include "dp/data/testing/seal_rows.h"

namespace curator::dp {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Rows = std::vector<std::vector<uint32_t>>;

Domain DomainOf(const std::vector<int64_t>& sizes) {
  std::vector<Attribute> attributes;
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back(Attribute::Create("a" + std::to_string(i), CodedKind{sizes[i]}).value());
  }
  return Domain::Create(std::move(attributes)).value();
}

Rows RandomRows(const std::vector<int64_t>& sizes, size_t rows, std::mt19937_64& random) {
  Rows result(rows);
  for (std::vector<uint32_t>& row : result) {
    for (const int64_t size : sizes)
      row.push_back(static_cast<uint32_t>(random() % static_cast<uint64_t>(size)));
  }
  return result;
}

// The definition, written down once more and as plainly as can be.
std::vector<int64_t> CountedByDefinition(const Rows& rows, const Domain& domain, const AttributeSet& set) {
  std::vector<int64_t> counts(static_cast<size_t>(domain.CellCount(set).value()));
  for (const std::vector<uint32_t>& row : rows) {
    size_t cell = 0;
    for (const uint32_t attribute : set) {
      cell = cell * static_cast<size_t>(domain.attributes()[attribute].size()) + row[attribute];
    }
    ++counts[cell];
  }
  return counts;
}

TEST(CountMarginals, TheLastAttributeVariesFastest) {
  const Domain domain = DomainOf({2, 3});
  const SealedTableHandle table = SealRows(domain, {{0, 2}, {1, 0}, {1, 0}}).value();
  EXPECT_THAT(CountMarginal(*table, domain, {0, 1}).value(), ElementsAre(0, 0, 1, 2, 0, 0));
  EXPECT_THAT(CountMarginal(*table, domain, {1}).value(), ElementsAre(2, 0, 1));
  EXPECT_THAT(CountMarginal(*table, domain, {}).value(), ElementsAre(3));
}

TEST(CountMarginals, AgreeWithTheDefinitionOnEveryWidthAndLength) {
  std::mt19937_64 random(1);
  const std::vector<int64_t> sizes = {2, 300, 1, 70000, 5, 256, 7};
  const Domain domain = DomainOf(sizes);
  const std::vector<AttributeSet> sets = {{},        {0},          {1},          {3},
                                          {5},       {0, 4},       {4, 5},       {0, 4, 6},
                                          {0, 1, 4}, {0, 2, 4, 6}, {2, 3, 4, 6}, {0, 1, 2, 4, 5}};
  for (const size_t rows_wanted : {0, 1, 3, 4, 5, 4095, 4096, 4097, 10000}) {
    const Rows rows = RandomRows(sizes, rows_wanted, random);
    const SealedTableHandle table = SealRows(domain, rows).value();
    const auto counts = CountMarginals(*table, domain, sets).value();
    ASSERT_EQ(counts.size(), sets.size());
    for (size_t i = 0; i < sets.size(); ++i) {
      ASSERT_EQ(counts[i], CountedByDefinition(rows, domain, sets[i]))
          << "set " << i << ", rows " << rows_wanted;
    }
  }
}

TEST(CountMarginals, AgreeWithTheDefinitionOnRandomDomains) {
  std::mt19937_64 random(2);
  for (int round = 0; round < 200; ++round) {
    std::vector<int64_t> sizes(1 + random() % 8);
    for (int64_t& size : sizes) size = static_cast<int64_t>(1 + random() % (random() % 8 == 0 ? 400 : 6));
    const Domain domain = DomainOf(sizes);
    const Rows rows = RandomRows(sizes, random() % 2000, random);
    const SealedTableHandle table = SealRows(domain, rows).value();
    std::vector<AttributeSet> sets(1 + random() % 10);
    for (AttributeSet& set : sets) {
      for (uint32_t attribute = 0; attribute < sizes.size() && set.size() < 8; ++attribute) {
        if (random() % 2 == 0) set.push_back(attribute);
      }
      if (*domain.CellCount(set) > 100'000) set.clear();
    }
    const auto counts = CountMarginals(*table, domain, sets).value();
    for (size_t i = 0; i < sets.size(); ++i) {
      ASSERT_EQ(counts[i], CountedByDefinition(rows, domain, sets[i])) << "round " << round << ", set " << i;
    }
  }
}

TEST(CountMarginalsCanary, ACountThatSwapsTheOrderOfAttributesIsCaught) {
  const Domain domain = DomainOf({2, 3});
  const Rows rows = {{0, 2}, {1, 0}, {1, 0}};
  Rows swapped;
  for (const std::vector<uint32_t>& row : rows) swapped.push_back({row[1], row[0]});
  const Domain swapped_domain = DomainOf({3, 2});
  const SealedTableHandle table = SealRows(swapped_domain, swapped).value();
  EXPECT_NE(CountMarginal(*table, swapped_domain, {0, 1}).value(), CountedByDefinition(rows, domain, {0, 1}));
}

TEST(CountMarginals, RowsThatAllShareOneCellAreCountedOnce) {
  const Domain domain = DomainOf({4, 4});
  const Rows rows(9001, {3, 1});
  const SealedTableHandle table = SealRows(domain, rows).value();
  EXPECT_EQ(CountMarginal(*table, domain, {0, 1}).value(), CountedByDefinition(rows, domain, {0, 1}));
}

// Four calls at once, whatever the machine has.
class FourThreads final : public Executor {
 public:
  void RunOnFreeCores(int most, const std::function<void(int)>& work) override {
    most_ = std::max(most_, most);
    std::vector<std::jthread> threads;
    for (int i = 0; i < std::min(most, 4); ++i) threads.emplace_back([&work, i] { work(i); });
  }
  int most() const { return most_; }

 private:
  int most_ = 0;
};

PublicTable LargeTable(const std::vector<int64_t>& sizes, size_t rows) {
  std::mt19937_64 random(3);
  CodedColumns columns(sizes);
  for (size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::byte> codes(rows);
    for (std::byte& code : codes) code = static_cast<std::byte>(random() % static_cast<uint64_t>(sizes[i]));
    columns.AppendCodes(i, codes);
  }
  return PublicTable::Create(std::move(columns)).value();
}

TEST(CountMarginals, SeveralCoresCountTheSame) {
  const std::vector<int64_t> sizes = {30, 40, 50, 60, 70, 80};
  const Domain domain = DomainOf(sizes);
  const PublicTable table = LargeTable(sizes, 600'001);
  std::vector<AttributeSet> sets;
  for (uint32_t a = 0; a < sizes.size(); ++a) {
    for (uint32_t b = a + 1; b < sizes.size(); ++b) sets.push_back({a, b});
  }
  FourThreads four;
  EXPECT_EQ(CountMarginals(table, domain, sets, four).value(), CountMarginals(table, domain, sets).value());
  EXPECT_GE(four.most(), 2) << "nothing was shared out";
}

TEST(CountMarginals, SmallTablesAndLargeMarginalsStayOnOneCore) {
  const std::vector<int64_t> sizes = {200, 200, 200};
  const Domain domain = DomainOf(sizes);
  FourThreads four;
  ASSERT_TRUE(CountMarginals(LargeTable(sizes, 1000), domain, {{0, 1}, {1, 2}}, four).ok());
  EXPECT_EQ(four.most(), 1);
  ASSERT_TRUE(CountMarginals(LargeTable(sizes, 100'000), domain, {{0, 1, 2}}, four).ok());
  EXPECT_EQ(four.most(), 1) << "each core would need counters of its own";
}

// Of the code as it is: what a sanitizer adds takes memory of its own.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)

// The growth of the largest resident set of a child process that counts.
int64_t PeakBytesOf(const PublicTable& table, const Domain& domain, const std::vector<AttributeSet>& sets) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) {
    const auto peak = [] {
      rusage usage = {};
      getrusage(RUSAGE_SELF, &usage);
      return int64_t{usage.ru_maxrss} * 1024;
    };
    const int64_t before = peak();
    const bool done = CountMarginals(table, domain, sets).ok();
    const int64_t grown = done ? peak() - before : -1;
    _exit(write(ends[1], &grown, sizeof(grown)) == sizeof(grown) ? 0 : 1);
  }
  int64_t grown = -1;
  if (read(ends[0], &grown, sizeof(grown)) != sizeof(grown)) grown = -1;
  waitpid(child, nullptr, 0);
  close(ends[0]);
  close(ends[1]);
  return grown;
}

// As count_marginals.h states it, on one core; some bytes for lists of the sets are not worth a statement.
int64_t StatedBytes(const Domain& domain, const std::vector<AttributeSet>& sets) {
  int64_t cells = 0;
  int64_t largest = 0;
  for (const AttributeSet& set : sets) {
    cells += *domain.CellCount(set);
    largest = std::max(largest, *domain.CellCount(set));
  }
  return 12 * (cells + largest) + (int64_t{20} << 20);
}

TEST(CountMarginals, TakeNoMoreMemoryThanStated) {
  const std::vector<int64_t> sizes = {200, 200, 100, 50};
  const Domain domain = DomainOf(sizes);
  const PublicTable table = LargeTable(sizes, 1000);
  const std::vector<std::vector<AttributeSet>> workloads = {
      {{0, 1, 2}}, {{0, 1, 2}, {0, 1}, {1, 2}, {0, 1, 3}}, {{0, 2, 3}, {1, 2, 3}, {2, 3}, {0, 1, 3}}};
  for (const std::vector<AttributeSet>& sets : workloads) {
    const int64_t peak = PeakBytesOf(table, domain, sets);
    EXPECT_GT(peak, 0);
    EXPECT_LE(peak, StatedBytes(domain, sets));
  }
}

#endif

TEST(CountMarginals, PublicTablesAreCountedAlike) {
  const Domain domain = DomainOf({2, 3});
  CodedColumns columns(SizesOf(domain));
  ASSERT_TRUE(columns.AppendRow(std::vector<uint32_t>{1, 2}).ok());
  const PublicTable table = PublicTable::Create(std::move(columns)).value();
  EXPECT_THAT(CountMarginal(table, domain, {0, 1}).value(), ElementsAre(0, 0, 0, 0, 0, 1));
}

TEST(CountMarginals, MeasuresAreColumnsOfSealedTablesAlone) {
  const Domain domain =
      Domain::Create(DomainOf({2, 3}).attributes(), {Measure::Create("m", {0, 9, 1}).value()}).value();
  const SealedTableHandle sealed = SealRows(domain, {{1, 2, 9}, {1, 2, 0}, {0, 0, 4}}).value();
  EXPECT_THAT(CountMarginal(*sealed, domain, {0, 1}).value(), ElementsAre(1, 0, 0, 0, 0, 2));
  EXPECT_EQ(CountMarginal(*sealed, domain, {2}).status().code(), absl::StatusCode::kInvalidArgument)
      << "a measure has no bins";
  EXPECT_EQ(CountMarginal(*sealed, DomainOf({2, 3}), {0}).status().code(),
            absl::StatusCode::kFailedPrecondition);

  CodedColumns columns(AttributeSizesOf(domain));
  ASSERT_TRUE(columns.AppendRow(std::vector<uint32_t>{1, 2}).ok());
  const PublicTable table = PublicTable::Create(std::move(columns)).value();
  EXPECT_THAT(CountMarginal(table, domain, {1}).value(), ElementsAre(0, 0, 1));
}

TEST(CountMarginals, RefuseBadSetsAndTooManyCellsFromPublicFacts) {
  const Domain domain = DomainOf({1 << 20, 1 << 20, 2});
  const SealedTableHandle table = SealRows(domain, {}).value();
  EXPECT_EQ(CountMarginal(*table, domain, {1, 0}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(CountMarginal(*table, domain, {3}).status().code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(CountMarginal(*table, domain, {0, 1}).status().message(), HasSubstr("268435456 cells"));
  const std::vector<AttributeSet> many(300, AttributeSet{0});
  EXPECT_THAT(CountMarginals(*table, domain, many).status().message(), HasSubstr("268435456 cells"));
  EXPECT_EQ(CountMarginal(*table, DomainOf({2}), {0}).status().code(), absl::StatusCode::kFailedPrecondition);
}

}  // namespace
}  // namespace curator::dp
