// PrivateQueries::SelectByUtility as a whole: its probabilities, its exact loss on neighbours, its meter and
// its transcript.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/selection_score.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/kernel/testing/units.h"
#include "dp/kernel/utility/lattice_utility.h"
#include "dp/kernel/utility/utility_scores.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr Epsilon kOne(kEpsilonUnitsPerOne);
constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kPerson{NeighbourRelation::kAddRemove, 4};

const Domain& Questions() {
  static const Domain domain = CodedDomain({3, 2});
  return domain;
}

const ClippedLogLikelihood kLikelihood{.attributes = {0},
                                       .log_probabilities = {{std::log(0.8), std::log(0.1), std::log(0.1)},
                                                             {std::log(0.1), std::log(0.8), std::log(0.1)},
                                                             {-400, -400, 0}},
                                       .clip = 2.5};
const std::vector<Utility> kAll = {
    kLikelihood,
    ClippedSum{.attributes = {0, 1}, .values = {{0, 1, 2, 3, 4, 5}, {5, 4, 3, 2, 1, 0}}, .low = 0, .high = 4},
    CellFrequency{{0, 1}, 2}, QuantileValue{0, 1, 3},
    ClippedGroups{.attribute = 0,
                  .model = NormalGroups{.values = {0, 1, 5},
                                        .low = 0,
                                        .high = 5,
                                        .means = {0, 4},
                                        .betweens = {0.1, 1},
                                        .withins = {0.3, 1}},
                  .clip = 3}};

Meter Paid(Epsilon epsilon, int64_t times) {
  return Meter({{{ExponentialMechanismEvent{epsilon}}, times}});
}

size_t CandidatesOf(const Utility& utility, const UnitBound& unit) {
  return ToLattice(utility, {}, Questions(), unit).value().candidates;
}

// The largest loss of any choice on any pair of neighbours, and the largest span of the losses of one pair.
struct Losses {
  bool loss_exceeds = false;
  bool span_exceeds = false;
  double largest_span = 0;
};

template <typename LogProbabilityOf>
Losses Audit(const UnitBound& unit, size_t candidates, const LogProbabilityOf& log_probability) {
  const Interval price = Interval::Of(kOne);
  Losses worst;
  for (const NeighbouringUnits& pair : NeighboursInOneUnit(Questions(), unit, 40, 9)) {
    std::vector<Interval> losses;
    for (size_t selected = 0; selected < candidates; ++selected) {
      losses.push_back(log_probability(SealUnits(Questions(), pair.one), selected) -
                       log_probability(SealUnits(Questions(), pair.other), selected));
      worst.loss_exceeds =
          worst.loss_exceeds || losses.back().CertainlyAbove(price) || (-losses.back()).CertainlyAbove(price);
      for (const Interval& other : losses) {
        const Interval span = losses.back() - other;
        worst.span_exceeds =
            worst.span_exceeds || span.CertainlyAbove(price) || (-span).CertainlyAbove(price);
        worst.largest_span = std::max({worst.largest_span, span.Upper(), -span.Lower()});
      }
    }
  }
  return worst;
}

Losses AuditUtility(const Utility& utility, const std::vector<double>& bonuses, const UnitBound& unit,
                    Epsilon drawn) {
  return Audit(unit, CandidatesOf(utility, unit), [&](const SealedTableHandle& table, size_t selected) {
    return LogProbability(UtilityDraw{utility, bonuses, drawn, selected}, *table, Questions(), unit).value();
  });
}

TEST(SelectByUtility, LosesNoMoreThanEpsilonOnNeighboursAndSpansNoMore) {
  for (const NeighbourRelation relation : {NeighbourRelation::kAddRemove, NeighbourRelation::kReplaceOne}) {
    for (const int64_t most : {1, 4}) {
      for (const Utility& utility : kAll) {
        const Losses losses = AuditUtility(utility, {}, {relation, most}, kOne);
        EXPECT_FALSE(losses.loss_exceeds) << utility.index();
        EXPECT_FALSE(losses.span_exceeds) << utility.index();
      }
    }
  }
}

TEST(SelectByUtility, SpendsAllOfItsEpsilonOnTheWorstNeighbours) {
  for (const Utility& utility : {kAll[0], kAll[1], kAll[2], kAll[4]})
    EXPECT_GT(AuditUtility(utility, {}, kPerson, kOne).largest_span, 0.99) << utility.index();
}

TEST(SelectByUtility, BonusesChangeTheProbabilitiesAndNotTheLoss) {
  const std::vector<double> prior = {std::log(0.001), 0, 7};
  EXPECT_FALSE(AuditUtility(kLikelihood, prior, kPerson, kOne).span_exceeds);
}

TEST(SelectByUtilityCanary, TwiceTheTemperatureIsCaught) {
  for (const Utility& utility : kAll) {
    const Losses losses = AuditUtility(utility, {}, kPerson, Epsilon(2 * kOne.units()));
    EXPECT_TRUE(losses.span_exceeds) << utility.index();
  }
  EXPECT_TRUE(AuditUtility(kLikelihood, {0, 0, -40}, kPerson, Epsilon(2 * kOne.units())).loss_exceeds);
}

TEST(SelectByUtilityCanary, GroupingIgnoredIsCaught) {
  const LatticeUtility lattice = ToLattice(kLikelihood, {}, Questions(), kPerson).value();
  const Rational factor = FactorForRange(kOne, lattice.range);
  EXPECT_TRUE(Audit(kPerson, 3, [&](const SealedTableHandle& table, size_t selected) {
                const ReadableScope readable(*table);
                std::vector<std::vector<uint32_t>> rows;
                for (int64_t row = 0; row < table->rows(); ++row)
                  rows.push_back({readable.columns().columns[0][row], readable.columns().columns[1][row]});
                const SealedTableHandle ungrouped = SealRows(Questions(), rows).value();
                return SelectionLogProbability(ScoresOf(lattice, *ungrouped, Questions()).value(), factor,
                                               selected);
              }).span_exceeds);
}

TEST(SelectByUtility, DrawsWithTheProbabilitiesOfItsLikelihood) {
  const SealedTableHandle table = SealUnits(Questions(), {{{0, 0}, {0, 1}}, {{1, 0}}, {{0, 0}}});
  constexpr int kDraws = 20'000;
  seeded::SeededBits bits(1);
  Kernel kernel(table, Questions(), kPerson, Paid(kOne, kDraws), bits);
  const std::vector<double> bonuses = {0, 1, -1};
  std::vector<int> chosen(3);
  for (int i = 0; i < kDraws; ++i) ++chosen[kernel.SelectByUtility(kLikelihood, bonuses, kOne).value()];
  for (size_t j = 0; j < 3; ++j) {
    const UtilityDraw draw{kLikelihood, bonuses, kOne, j};
    const double p = std::exp(LogProbability(draw, *table, Questions(), kPerson).value().Upper());
    // Seven standard deviations: less than one in 10^11 by chance.
    EXPECT_NEAR(chosen[j], kDraws * p, 7 * std::sqrt(kDraws * p * (1 - p)));
  }
}

TEST(SelectByUtility, IsPaidBeforeItLooksAndRefusedOneDrawBeyondItsSchedule) {
  seeded::SeededBits bits(2);
  Kernel kernel(SealUnits(Questions(), {}), Questions(), kPerson, Paid(kOne, 1), bits);
  EXPECT_EQ(kernel.SelectByUtility(kLikelihood, {}, Epsilon(kOne.units() + 1)).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(kernel.SelectByUtility(kLikelihood, {}, kOne).ok());
  EXPECT_EQ(kernel.SelectByUtility(kLikelihood, {}, kOne).status().code(),
            absl::StatusCode::kFailedPrecondition);
}

// Counts how often work is shared out.
class CountingExecutor final : public Executor {
 public:
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override {
    ++calls;
    work(0);
  }
  int calls = 0;
};

TEST(SelectByUtility, ScoresAQuestionAboutGroupsOnceForAnyNumberOfPaidDraws) {
  const SealedTableHandle table = SealUnits(Questions(), {{{0, 0}, {2, 1}}, {{1, 0}}});
  const Utility& groups = kAll.back();
  const std::vector<double> bonuses = {0, 0, 0, 0, 0, 0, 0, 3};
  CountingExecutor executor;
  seeded::SeededBits bits(5);
  Kernel kernel(table, Questions(), kPerson, Paid(kOne, 20), bits);
  kernel.UseExecutor(executor);
  seeded::SeededBits same_bits(5);
  std::vector<size_t> chosen;
  std::vector<size_t> anew;
  for (int i = 0; i < 18; ++i) {
    chosen.push_back(kernel.SelectByUtility(groups, {}, kOne).value());
    Kernel another(table, Questions(), kPerson, Paid(kOne, 1), same_bits);
    anew.push_back(another.SelectByUtility(groups, {}, kOne).value());
  }
  EXPECT_EQ(chosen, anew);
  const int of_one_question = executor.calls;
  EXPECT_TRUE(kernel.SelectByUtility(groups, bonuses, kOne).ok());
  EXPECT_EQ(executor.calls, 2 * of_one_question) << "18 draws of one question, then one of another";
  EXPECT_TRUE(kernel.SelectByUtility(groups, bonuses, kOne).ok());
  EXPECT_EQ(kernel.SelectByUtility(groups, bonuses, kOne).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "what is remembered is paid for as well";
}

TEST(SelectByUtility, MalformedQuestionsCostNothing) {
  seeded::SeededBits bits(3);
  Kernel kernel(SealUnits(Questions(), {}), Questions(), kPerson, Paid(kOne, 1), bits);
  EXPECT_EQ(kernel.SelectByUtility(kLikelihood, {}, Epsilon(0)).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(kernel.SelectByUtility(CellFrequency{{9}, 1}, {}, kOne).status().code(),
            absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(kernel.SelectByUtility(kLikelihood, {}, kOne).ok());

  Kernel ungrouped(SealRows(Questions(), {}).value(), Questions(), kPerson, Paid(kOne, 1), bits);
  EXPECT_EQ(ungrouped.SelectByUtility(kLikelihood, {}, kOne).status().code(),
            absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(ungrouped.SelectByUtility(QuantileValue{0, 1, 2}, {}, kOne).ok()) << "nothing was taken";
}

TEST(SelectByUtility, ReplaysTheSameChoiceWithoutATableAndNoOther) {
  std::vector<Utility> others = kAll;
  std::get<ClippedLogLikelihood>(others[0]).clip = 2;
  std::get<ClippedSum>(others[1]).high = 3;
  std::get<CellFrequency>(others[2]).most_per_unit = 1;
  std::get<QuantileValue>(others[3]).denominator = 4;
  std::get<ClippedGroups>(others[4]).clip = 2;
  for (size_t i = 0; i < kAll.size(); ++i) {
    seeded::SeededBits bits(4);
    Transcript transcript;
    Kernel kernel(SealUnits(Questions(), {{{2, 1}}}), Questions(), kPerson, Paid(kOne, 1), bits);
    const size_t chosen = RecordingQueries(kernel, transcript).SelectByUtility(kAll[i], {}, kOne).value();
    const auto replay = [&](const Utility& asked, const std::vector<double>& bonuses) {
      return ReplayingQueries(transcript, Questions()).SelectByUtility(asked, bonuses, kOne);
    };
    EXPECT_EQ(replay(kAll[i], {}).value(), chosen) << i;
    EXPECT_EQ(replay(others[i], {}).status().code(), absl::StatusCode::kFailedPrecondition) << i;
    std::vector<double> bonuses(CandidatesOf(kAll[i], kPerson));
    bonuses[0] = 1;
    EXPECT_EQ(replay(kAll[i], bonuses).status().code(), absl::StatusCode::kFailedPrecondition) << i;
  }
}

}  // namespace
}  // namespace curator::dp
