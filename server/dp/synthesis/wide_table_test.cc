// Every method on a table of many attributes, each of which depends on few of the others: 40 in continuous
// integration, 110 at night.
#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "dp/kernel/kernel.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"
#include "dp/synthesis/testing/public_rows.h"
#include "tests/testing/nightly.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr size_t kLengthOfAChain = 10;

// Within a chain each attribute is mostly equal to the one before it.
Rows RowsOfChains(size_t attributes, size_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (size_t i = 0; i < count; ++i) {
    std::vector<uint32_t> row;
    for (size_t attribute = 0; attribute < attributes; ++attribute) {
      const bool is_copied = attribute % kLengthOfAChain != 0 && random() % 10 < 8;
      row.push_back(is_copied ? row.back() : static_cast<uint32_t>(random() % 3 == 0));
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

using Shares = std::vector<double>;

Shares SharesOf(Shares counts) {
  double total = 0;
  for (const double count : counts) total += count;
  for (double& count : counts) count /= total;
  return counts;
}

Shares TrueShares(const Rows& rows, const AttributeSet& pair) {
  Shares counts(4);
  for (const std::vector<uint32_t>& row : rows) counts[2 * row[pair[0]] + row[pair[1]]] += 1;
  return SharesOf(counts);
}

double L1(const Shares& left, const Shares& right) {
  double sum = 0;
  for (size_t i = 0; i < left.size(); ++i) sum += std::abs(left[i] - right[i]);
  return sum;
}

void ExpectNoWorseThanItsOwnOneWayMarginals(const Synthesizer& method, size_t records) {
  const size_t attributes = nightly::Volume(40, 110);
  const Rows rows = RowsOfChains(attributes, records, nightly::Seed(1));
  World world = WorldOf(std::vector<int64_t>(attributes, 2), 2, rows);
  world.input.prior = PublicRows(world.input.domain, RowsOfChains(attributes, 1000, nightly::Seed(2)));
  world.input.assume_records = std::ssize(rows);
  const auto plan = method.Plan(world.input);
  ASSERT_TRUE(plan.ok()) << plan.status();
  seeded::SeededBits bits(nightly::Seed(3));
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(plan->draws), bits);
  Pacer pacer{std::stop_token()};
  const auto model = method.Fit(world.input, kernel, pacer, NoProgress());
  ASSERT_TRUE(model.ok()) << model.status();
  double error = 0;
  double error_of_one_ways = 0;
  for (const QueryGroup& group : world.input.workload) {
    const AttributeSet& pair = group.attributes;
    const Shares truth = TrueShares(rows, pair);
    const Shares first = SharesOf((*model)->Marginal({pair[0]}).value());
    const Shares second = SharesOf((*model)->Marginal({pair[1]}).value());
    error += L1(truth, SharesOf((*model)->Marginal(pair).value()));
    error_of_one_ways +=
        L1(truth, {first[0] * second[0], first[0] * second[1], first[1] * second[0], first[1] * second[1]});
  }
  EXPECT_LE(error, error_of_one_ways);
}

class ManyAttributes : public testing::TestWithParam<const Synthesizer*> {};

TEST_P(ManyAttributes, AreAnsweredNoWorseThanByTheirOwnOneWayMarginals) {
  ExpectNoWorseThanItsOwnOneWayMarginals(*GetParam(), 4000);
}

// Few records of many attributes say next to nothing of pairs; of more records a method measures more.
TEST_P(ManyAttributes, OfMoreRecordsAreAnsweredNoWorseThanByTheirOwnOneWayMarginals) {
  ExpectNoWorseThanItsOwnOneWayMarginals(*GetParam(), nightly::Volume(8000, 40'000));
}

INSTANTIATE_TEST_SUITE_P(All, ManyAttributes, testing::ValuesIn(Synthesizers().begin(), Synthesizers().end()),
                         [](const auto& method) { return std::string(method.param->name()); });

}  // namespace
}  // namespace curator::dp
