#include "dp/synthesis/mst/mst.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <random>
#include <vector>

#include "dp/kernel/kernel.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/testing/laws.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// Three branches from attribute 0: each a copy of it most of the time, with a copy of its own. Attributes 1
// and 2 are alike only because both are like attribute 0.
Rows RowsOfThreeBranches() {
  std::mt19937_64 random(7);
  Rows rows;
  for (int i = 0; i < 600; ++i) {
    std::vector<uint32_t> row = {static_cast<uint32_t>(random() % 2), 0, 0, 0, 0, 0, 0};
    for (size_t branch = 1; branch <= 3; ++branch) {
      const bool is_copied = random() % 10 < 8;
      row[branch] = 15 * (is_copied ? row[0] : 1 - row[0]);
      row[branch + 3] = 90 * row[branch];
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

// The pairs of any tree fit into the default of max_cells, but attribute 0, which has the fewest codes, joins
// attributes 1 to 3 in one clique where its pairs with all of them are chosen.
TEST(Mst, LeavesOutAChosenPairWhoseCliquesDoNotFit) {
  World world = WorldOf({2, 30, 30, 30, 2700, 2700, 2700}, 2, RowsOfThreeBranches());
  const std::vector<AttributeSet> pairs = {{0, 1}, {0, 2}, {0, 3}, {1, 2}, {1, 4}, {2, 5}, {3, 6}};
  world.input.workload = WholeMarginals(pairs);
  world.input.settings = {{"last_sweeps", "2"}};
  world.input.rule.epsilon = Epsilon(100 * kEpsilonUnitsPerOne);
  world.input.spend.epsilon = Epsilon(40 * kEpsilonUnitsPerOne);
  const Mst mst;
  const auto plan = mst.Plan(world.input);
  ASSERT_TRUE(plan.ok()) << plan.status();
  seeded::SeededBits bits(1);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(plan->draws), bits);
  Pacer pacer{std::stop_token()};
  const auto model = mst.Fit(world.input, kernel, pacer, NoProgress());
  ASSERT_TRUE(model.ok()) << model.status();
  EXPECT_EQ((*model)->attributes().size(), 7U);
}

}  // namespace
}  // namespace curator::dp
