#include "dp/kernel/selection_score.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "dp/domain/testing_domain.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

TEST(RoundToLattice, RefusesWhatCannotBeScoredExactly) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_TRUE(RoundToLattice(std::vector<double>{1.5, -2}, 3, 2).ok());
  EXPECT_FALSE(RoundToLattice(std::vector<double>{1.5}, 3, 2).ok());
  EXPECT_FALSE(RoundToLattice(std::vector<double>{nan, 1}, 0, 2).ok());
  EXPECT_FALSE(RoundToLattice(std::vector<double>{infinity, 1}, 0, 2).ok());
  EXPECT_FALSE(RoundToLattice(std::vector<double>{infinity, -infinity}, 0, 2).ok());
  EXPECT_FALSE(RoundToLattice(std::vector<double>{1, 1}, nan, 2).ok());
  EXPECT_EQ(RoundToLattice(std::vector<double>{1e300, 1}, 0, 2).status().code(),
            absl::StatusCode::kOutOfRange);
  EXPECT_EQ(RoundToLattice(std::vector<double>{1, 1}, -1e16, 2).status().code(),
            absl::StatusCode::kOutOfRange);
}

TEST(ScoreOf, StaysFarFromOverflowAtTheLargestPublicNumbers) {
  const double most = std::ldexp(1.0, 50);
  const LatticeEstimate estimate = RoundToLattice(std::vector<double>{-most, 0}, -most, 2).value();
  const std::vector<int64_t> counts = {0, (int64_t{1} << 31) - 1};
  EXPECT_EQ(ScoreOf(counts, estimate), (int64_t{1} << 61) + (((int64_t{1} << 31) - 1) << kScoreLatticeBits));
}

// Moves one unit's records about at random and compares with the claimed sensitivity, in exact integers.
void ExpectScoresMoveAtMostBySensitivity(const UnitBound& unit, bool& reached) {
  std::mt19937_64 random(7);
  const int64_t bound = MarginalsSensitivity(unit, 1)->l1 << kScoreLatticeBits;
  reached = false;
  for (int trial = 0; trial < 2000; ++trial) {
    std::vector<int64_t> before(4);
    const double penalty = static_cast<double>(random() % 100) / 7;
    std::vector<double> cells;
    for (int64_t& count : before) count = static_cast<int64_t>(random() % 6) + unit.max_records;
    for (int i = 0; i < 4; ++i) cells.push_back(static_cast<double>(random() % 1000) / 97 - 1);
    std::vector<int64_t> after = before;
    const uint64_t leaving = random() % 4;
    const uint64_t entering = random() % 4;
    after[leaving] -= unit.max_records;
    if (unit.relation == NeighbourRelation::kReplaceOne) after[entering] += unit.max_records;
    const LatticeEstimate estimate = RoundToLattice(cells, penalty, 4).value();
    const int64_t moved = std::abs(ScoreOf(before, estimate) - ScoreOf(after, estimate));
    ASSERT_LE(moved, bound);
    reached = reached || moved == bound;
  }
}

TEST(ScoreOf, MovesByAtMostItsSensitivityBetweenNeighboursAndReachesIt) {
  for (const auto relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    for (const int64_t max_records : {1, 3}) {
      bool reached = false;
      ExpectScoresMoveAtMostBySensitivity({relation, max_records}, reached);
      EXPECT_TRUE(reached);
    }
  }
}

TEST(FactorForRange, OfAMarginalIsEpsilonOverTwiceItsSensitivity) {
  const Domain domain = CodedDomain({2, 3});
  const std::vector<CandidateFamily> marginal = {{{{0}, EveryCell{}}, {}}};
  const UnitBound record{NeighbourRelation::kAddRemove, 1};
  EXPECT_EQ(FactorForRange(Epsilon(kEpsilonUnitsPerOne), CandidateRange(domain, record, marginal).value()),
            (Rational{1, 2048}));
  const UnitBound three{NeighbourRelation::kReplaceOne, 3};
  EXPECT_EQ(FactorForRange(Epsilon(3 * kEpsilonUnitsPerOne), CandidateRange(domain, three, marginal).value()),
            (Rational{1, 4096}));
}

TEST(FactorForRange, IsNeverLargerThanEpsilonAllows) {
  std::mt19937_64 random(11);
  for (int trial = 0; trial < 2000; ++trial) {
    const auto units = static_cast<int64_t>(random() % 20'000'000'000'000) + 1;
    const auto l1 = static_cast<int64_t>(random() % (uint64_t{1} << (random() % 50))) + 1;
    const Rational factor = FactorForRange(Epsilon(units), l1 * 2 << kScoreLatticeBits);
    // factor <= units / (2048 l1 10^12), compared in long doubles that hold 64 bits: the exact cases are
    // equal.
    const long double exact =
        static_cast<long double>(units) / (2048.0L * 1e12L * static_cast<long double>(l1));
    const long double made =
        static_cast<long double>(factor.numerator) / static_cast<long double>(factor.denominator);
    EXPECT_LE(made, exact * (1 + 1e-18L));
    EXPECT_GE(made, exact * (1 - 2e-2L) - 1e-18L);
  }
}

}  // namespace
}  // namespace curator::dp
