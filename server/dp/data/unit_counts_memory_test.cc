// What counting units holds in memory, counted at every allocation, however many calls there are at a time.
#include <gtest/gtest.h>

#include <barrier>
#include <cstdint>
#include <thread>
#include <vector>

#include "base/testing/allocations.h"
#include "dp/data/sealed_table.h"
#include "dp/data/sum_sealed_groups.h"
#include "dp/domain/testing_domain.h"

namespace curator::dp {
namespace {

constexpr uint32_t kRows = 1'000'000;

SealedTableHandle TableOfPersons(const Domain& domain) {
  SealedTableBuilder builder(domain, RowOwner::kUnit);
  for (uint32_t row = 0; row < kRows; ++row) EXPECT_TRUE(builder.AppendRow({{row % 3}}, row / 2).ok());
  return std::move(builder).Build().value();
}

// The most that `calls` at the same time hold.
int64_t MostHeldBy(int calls, const SealedTable& table, const Domain& domain) {
  const std::vector<int32_t> groups = {0, 1, 2};
  std::barrier together(calls);
  StartCounting();
  std::vector<std::jthread> threads;
  for (int i = 0; i < calls; ++i) {
    threads.emplace_back([&] {
      together.arrive_and_wait();
      EXPECT_TRUE(CountUnitsOfGroups(table, domain, {0}, groups, 3).ok());
    });
  }
  threads.clear();
  return MostHeld();
}

TEST(MemoryOfUnitCounts, IsThatOfOneCallHoweverManyThereAreAtATime) {
  const Domain domain = CodedDomain({3});
  const SealedTableHandle table = TableOfPersons(domain);
  const int64_t one = MostHeldBy(1, *table, domain);
  EXPECT_GE(one, int64_t{8} * kRows);
  constexpr int64_t kOfThreads = 100'000;
  EXPECT_LE(MostHeldBy(6, *table, domain), one + kOfThreads);
}

}  // namespace
}  // namespace curator::dp
