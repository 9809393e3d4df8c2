// Groups of queries at the kernel's door: their counts, by the exact loss on neighbours.
#include <gtest/gtest.h>

#include <algorithm>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/testing/units.h"
#include "dp/noise/drbg.h"
#include "dp/sensitivity/sensitivity.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
const NoiseSpec kSmallNoise{Mechanism::kDiscreteLaplace, {1, 20}};

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

const std::vector<UnitBound> kUnits = {{NeighbourRelation::kAddRemove, 1},
                                       {NeighbourRelation::kAddRemove, 3},
                                       {NeighbourRelation::kReplaceOne, 1},
                                       {NeighbourRelation::kReplaceOne, 3}};

// A range, a parity, a single cell and a whole marginal; two of them share a marginal.
const std::vector<QueryGroup> kGroups = {
    {{1}, std::vector<LinearQuery>{{{0, 1}}, {{0, 1}, {1, 1}}}},
    {{0, 1}, std::vector<LinearQuery>{{{0, 1}, {1, -1}, {2, 1}, {3, -1}, {4, 1}, {5, -1}}}},
    {{0, 1}, std::vector<LinearQuery>{{{3, 1}}}},
    {{0}, EveryCell{}},
    {{1}, Boxes{{{0, 1}, {1, 2}}}}};

TEST(NoisyCountsOfQueries, AreTheirAnswersPlusNoise) {
  const SealedTableHandle table = SealRows(Questions(), {{0, 0}, {0, 1}, {1, 0}, {1, 2}}).value();
  const UnitBound record = kUnits[0];
  const Sensitivity sensitivity = QueriesSensitivity(Questions(), record, kGroups).value();
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(table, Questions(), record, Meter({{NoiseEvent(kSmallNoise, sensitivity), 1}}), bits);
  Transcript transcript;
  RecordingQueries recording(kernel, transcript);
  // Noise of scale 1/20 is 0 but for a probability of 2 e^-20 each.
  const std::vector<std::vector<int64_t>> truth = {{2, 3}, {1 - 1 + 0 - 1 + 0 - 1}, {1}, {2, 2}, {3, 2}};
  EXPECT_EQ(recording.NoisyCounts(kGroups, kSmallNoise).value(), truth);
  EXPECT_EQ(recording.NoisyCounts(kGroups, kSmallNoise).status().code(),
            absl::StatusCode::kFailedPrecondition);

  ReplayingQueries replay(transcript, Questions());
  EXPECT_EQ(replay.NoisyCounts(kGroups, kSmallNoise).value(), truth);
}

TEST(NoisyCountsOfQueries, PricedAsOneMarginalEachAreRefused) {
  const UnitBound record = kUnits[0];
  const auto marginals = MarginalsSensitivity(record, static_cast<int64_t>(kGroups.size())).value();
  Drbg bits(DrawKey(DrawKey::Bytes{}));
  Kernel kernel(SealRows(Questions(), {}).value(), Questions(), record,
                Meter({{NoiseEvent(kSmallNoise, marginals), 1}}), bits);
  EXPECT_EQ(kernel.NoisyCounts(kGroups, kSmallNoise).status().code(), absl::StatusCode::kFailedPrecondition)
      << "two nested ranges count a record twice";
}

// The largest |loss| of a draw on any pair of neighbours, with the most telling values; whether it exceeds
// epsilon.
struct Loss {
  bool exceeds = false;
  double largest = 0;
};

Loss LossOfCounts(const UnitBound& unit, const NoiseSpec& noise) {
  Loss loss;
  for (const NeighbouringUnits& pair : NeighboursInOneUnit(Questions(), unit, 20, 3)) {
    for (const int64_t far : {-1000, 1000}) {
      for (const int64_t parity : {-1000, 1000}) {
        const QueriesDraw draw{kGroups, noise, {{far, far}, {parity}, {far}, {far, far}, {far, far}}};
        const Interval change =
            LogProbability(draw, *SealUnits(Questions(), pair.one), Questions(), unit).value() -
            LogProbability(draw, *SealUnits(Questions(), pair.other), Questions(), unit).value();
        const Interval price = Interval::Of(kOne);
        loss.exceeds = loss.exceeds || change.CertainlyAbove(price) || (-change).CertainlyAbove(price);
        loss.largest = std::max({loss.largest, change.Upper(), -change.Lower()});
      }
    }
  }
  return loss;
}

TEST(NoisyCountsOfQueries, LoseNoMoreThanTheirPrice) {
  for (const UnitBound& unit : kUnits) {
    const Sensitivity sensitivity = QueriesSensitivity(Questions(), unit, kGroups).value();
    const Loss loss = LossOfCounts(unit, LaplaceNoiseFor(sensitivity, kOne).value());
    EXPECT_FALSE(loss.exceeds);
    EXPECT_GT(loss.largest, 0.5);
  }
}

TEST(NoisyCountsOfQueriesCanary, AGroupTakenForOneQueryIsCaught) {
  const Sensitivity broken = MarginalsSensitivity(kUnits[0], 3).value();
  EXPECT_TRUE(LossOfCounts(kUnits[0], LaplaceNoiseFor(broken, kOne).value()).exceeds);
}

}  // namespace
}  // namespace curator::dp
