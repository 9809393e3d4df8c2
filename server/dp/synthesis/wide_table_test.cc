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
Rows RowsOfChains(size_t attributes, int64_t count, uint64_t seed) {
  std::mt19937_64 random(seed);
  Rows rows;
  for (int64_t i = 0; i < count; ++i) {
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

class ManyAttributes : public testing::TestWithParam<const Synthesizer*> {
 protected:
  ManyAttributes() : rows_(RowsOfChains(attributes_, nightly::Volume(4000, 40'000), nightly::Seed(1))) {
    world_.input.prior = PublicRows(world_.input.domain, RowsOfChains(attributes_, 1000, nightly::Seed(2)));
    world_.input.assume_records = std::ssize(rows_);
  }

  std::unique_ptr<SynthesisModel> Fitted() {
    const auto plan = GetParam()->Plan(world_.input);
    EXPECT_TRUE(plan.ok()) << plan.status();
    seeded::SeededBits bits(nightly::Seed(3));
    Kernel kernel(world_.table, world_.input.domain, world_.input.unit_bound, Meter(plan->draws), bits);
    Pacer pacer{std::stop_token()};
    auto model = GetParam()->Fit(world_.input, kernel, pacer, NoProgress());
    EXPECT_TRUE(model.ok()) << model.status();
    return *std::move(model);
  }

  // Of the workload, over all its pairs.
  template <typename SharesOfPair>
  double ErrorOf(const SharesOfPair& shares_of) const {
    double error = 0;
    for (const QueryGroup& group : world_.input.workload)
      error += L1(TrueShares(rows_, group.attributes), shares_of(group.attributes));
    return error;
  }

  double ErrorOfIndependence(const SynthesisModel& model) const {
    return ErrorOf([&](const AttributeSet& pair) -> Shares {
      const Shares first = SharesOf(model.Marginal({pair[0]}).value());
      const Shares second = SharesOf(model.Marginal({pair[1]}).value());
      return {first[0] * second[0], first[0] * second[1], first[1] * second[0], first[1] * second[1]};
    });
  }

  // As many records as the model has, each attribute drawn by itself.
  double ErrorOfIndependentRecords(const SynthesisModel& model) const {
    std::mt19937_64 random(nightly::Seed(4));
    Rows drawn(static_cast<size_t>(model.records()));
    for (uint32_t attribute = 0; attribute < attributes_; ++attribute) {
      std::bernoulli_distribution is_one(SharesOf(model.Marginal({attribute}).value())[1]);
      for (std::vector<uint32_t>& row : drawn) row.push_back(is_one(random) ? 1 : 0);
    }
    return ErrorOf([&](const AttributeSet& pair) { return TrueShares(drawn, pair); });
  }

 private:
  const size_t attributes_ = nightly::Volume(40, 110);
  const Rows rows_;
  World world_ = WorldOf(std::vector<int64_t>(attributes_, 2), 2, rows_);
};

// What dpsyn answers are counts of the records that it has made.
TEST_P(ManyAttributes, AreAnsweredNoWorseThanByTheirOwnOneWayMarginals) {
  const std::unique_ptr<SynthesisModel> model = Fitted();
  const double error =
      ErrorOf([&](const AttributeSet& pair) { return SharesOf(model->Marginal(pair).value()); });
  const bool is_of_records = GetParam()->name() == "dpsyn";
  EXPECT_LE(error, is_of_records ? ErrorOfIndependentRecords(*model) : ErrorOfIndependence(*model));
}

INSTANTIATE_TEST_SUITE_P(All, ManyAttributes, testing::ValuesIn(Synthesizers().begin(), Synthesizers().end()),
                         [](const auto& method) { return std::string(method.param->name()); });

}  // namespace
}  // namespace curator::dp
