// Choices among families that are made when they are asked for.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/kernel/private_queries.h"
#include "dp/kernel/testing/likelihood.h"
#include "dp/kernel/testing/transcript.h"
#include "dp/noise/drbg.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr Epsilon kTwo(2 * kEpsilonUnitsPerOne);
constexpr UnitBound kUnit{NeighbourRelation::kAddRemove, 1};

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

SealedTableHandle Table() {
  return SealRows(Questions(), {{0, 0}, {1, 1}, {1, 1}, {1, 2}}).value();
}

// All of some families, one at a time.
class Listed : public FamilyStream {
 public:
  explicit Listed(std::vector<CandidateFamily> families) : families_(std::move(families)) {}
  size_t size() const override { return families_.size(); }
  CandidateFamily Candidates(size_t index) const override {
    CandidateFamily family = families_[index];
    family.estimate.clear();
    return family;
  }
  absl::StatusOr<CandidateFamily> Family(size_t index) const override { return families_[index]; }

 private:
  std::vector<CandidateFamily> families_;
};

// The same, all in memory.
class InMemory : public Listed {
 public:
  explicit InMemory(const std::vector<CandidateFamily>& families) : Listed(families), families_(families) {}
  std::span<const CandidateFamily> Held() const override { return families_; }

 private:
  std::vector<CandidateFamily> families_;
};

std::vector<CandidateFamily> Families() {
  const QueryGroup cells{{0, 1}, EveryCell{}};
  return {{cells, {1, 0, 2, 0, 2, 1}, 0, {2}, 2},
          {cells, {3, 2, 1, 2, 4, 0}, 0, {0, 1}, 1},
          {{{1}, Boxes{{{0, 1}, {1, 2}}}}, {0, 3}, 0, {}},
          {{{0}, EveryCell{}}, {0, 1}, 1}};
}

Kernel KernelFor(int64_t selections, BitSource& bits) {
  return Kernel(Table(), Questions(), kUnit, Meter({{{ExponentialMechanismEvent{kTwo}}, selections}}), bits);
}

// Whether `stream`, which has Families(), leads to sequences of two with the probabilities of two calls.
void ExpectSequencesAsOneAfterTheOther(const FamilyStream& stream) {
  constexpr int kDraws = 20'000;
  seeded::SeededBits bits(1);
  Kernel kernel = KernelFor(2 * kDraws, bits);
  std::map<std::vector<std::pair<size_t, size_t>>, int> seen;
  for (int i = 0; i < kDraws; ++i) {
    const auto choices = kernel.SelectWorstCandidates(stream, 2, kTwo).value();
    ASSERT_EQ(choices.size(), 2U);
    ++seen[{{choices[0].family, choices[0].query}, {choices[1].family, choices[1].query}}];
  }
  double all = 0;
  const SealedTableHandle table = Table();
  for (const auto& [pair, times] : seen) {
    std::vector<CandidateFamily> families = Families();
    const auto p_of = [&](const std::pair<size_t, size_t>& choice) {
      const FamilySelectionDraw draw{families, kTwo, {choice.first, choice.second}};
      return std::exp(LogProbability(draw, *table, Questions(), kUnit).value().Upper());
    };
    double p = p_of(pair[0]);
    std::vector<int64_t>& excluded = families[pair[0].first].excluded;
    excluded.push_back(static_cast<int64_t>(pair[0].second));
    std::ranges::sort(excluded);
    p *= p_of(pair[1]);
    all += p;
    // Seven standard deviations: less than one in 10^11 by chance, for some 130 pairs.
    EXPECT_NEAR(times, kDraws * p, 7 * std::sqrt(kDraws * p * (1 - p)) + 7);
  }
  EXPECT_GT(all, 0.999);  // nothing likely is missing
}

TEST(SelectWorstCandidates, DrawsSequencesWithTheProbabilitiesOfCallsOneAfterTheOther) {
  ExpectSequencesAsOneAfterTheOther(Listed(Families()));
  ExpectSequencesAsOneAfterTheOther(InMemory(Families()));
}

void ExpectNoneTwiceNorWhatIsExcluded(const FamilyStream& stream) {
  seeded::SeededBits bits(2);
  Kernel kernel = KernelFor(12, bits);
  const auto choices = kernel.SelectWorstCandidates(stream, 12, kTwo).value();
  std::map<std::pair<size_t, size_t>, int> times;
  for (const FamilyChoice& choice : choices) ++times[{choice.family, choice.query}];
  EXPECT_EQ(times.size(), 12U);  // 5 cells, 4 thresholds, 2 ranges, 1 marginal: all there are
  for (const auto& banned : std::vector<std::pair<size_t, size_t>>{{0, 2}, {1, 0}, {1, 1}})
    EXPECT_FALSE(times.contains(banned));
}

TEST(SelectWorstCandidates, NeverChoosesTwiceNorWhatIsExcluded) {
  ExpectNoneTwiceNorWhatIsExcluded(Listed(Families()));
  ExpectNoneTwiceNorWhatIsExcluded(InMemory(Families()));
}

TEST(SelectWorstCandidates, ReplaysItsTranscript) {
  const Listed stream(Families());
  seeded::SeededBits bits(3);
  Transcript transcript;
  Kernel kernel = KernelFor(3, bits);
  const auto choices = RecordingQueries(kernel, transcript).SelectWorstCandidates(stream, 3, kTwo).value();
  const auto replay = [&](const FamilyStream& asked) {
    return ReplayingQueries(transcript, Questions()).SelectWorstCandidates(asked, 3, kTwo);
  };
  EXPECT_EQ(replay(stream).value(), choices);
  std::vector<CandidateFamily> others = Families();
  others[2].estimate[0] += 1;
  EXPECT_EQ(replay(Listed(others)).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST(SelectWorstCandidates, TakesOneDrawOffTheMeterForEachChoice) {
  const Listed listed(Families());
  const InMemory in_memory(Families());
  for (const FamilyStream* stream :
       {static_cast<const FamilyStream*>(&listed), static_cast<const FamilyStream*>(&in_memory)}) {
    seeded::SeededBits bits(4);
    Kernel kernel = KernelFor(3, bits);
    EXPECT_TRUE(kernel.SelectWorstCandidates(*stream, 2, kTwo).ok());
    EXPECT_EQ(kernel.SelectWorstCandidates(*stream, 2, kTwo).status().code(),
              absl::StatusCode::kFailedPrecondition);
  }
}

TEST(SelectWorstCandidates, RefusesMalformedQuestionsBeforeTheDebit) {
  seeded::SeededBits bits(5);
  Kernel kernel = KernelFor(1, bits);
  const auto code = [&](std::vector<CandidateFamily> families, int64_t count) {
    return kernel.SelectWorstCandidates(Listed(std::move(families)), count, kTwo).status().code();
  };
  EXPECT_EQ(code({}, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code(Families(), 13), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{{0}, EveryCell{}}, {1, 1}, 0, {}, 2}}, 1), absl::StatusCode::kInvalidArgument);
  for (const double penalty : {0x1.001p50, 1e300})
    EXPECT_EQ(code({{{{0}, EveryCell{}}, {1, 1}, penalty}}, 1), absl::StatusCode::kOutOfRange);
  EXPECT_EQ(code({{{{0}, EveryCell{}}, {1, 1}, std::nan("")}}, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{{1}, EveryCell{}}, {1, 1, 1}, 0, {1, 0}, 1}}, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_EQ(code({{{{1}, EveryCell{}}, {1, 1, 1}, 0, {3}, 1}}, 1), absl::StatusCode::kInvalidArgument);
  EXPECT_TRUE(kernel.SelectWorstCandidates(Listed(Families()), 1, kTwo).ok());
}

TEST(SelectWorstCandidates, RefusesMoreCandidatesThanADrawTakesBeforeTheDebit) {
  const Domain wide = CodedDomain({1 << 13, 1 << 13});
  seeded::SeededBits bits(5);
  Kernel kernel(SealRows(wide, {{0, 0}}).value(), wide, kUnit,
                Meter({{{ExponentialMechanismEvent{kTwo}}, 1}}), bits);
  // Five times 2^26 thresholds.
  const std::vector<CandidateFamily> many(5, {{{0, 1}, EveryCell{}}, {}, 0, {}, 1});
  EXPECT_EQ(kernel.SelectWorstCandidates(Listed(many), 1, kTwo).status().code(),
            absl::StatusCode::kInvalidArgument);
  const CandidateFamily one{{{0}, Boxes{{{0, 1}}}}, {0}, 0, {}};
  EXPECT_TRUE(kernel.SelectWorstCandidates(Listed({one}), 1, kTwo).ok());
}

// A stream that is told to stop.
class Stopping : public Listed {
 public:
  Stopping() : Listed(Families()) {}
  absl::StatusOr<CandidateFamily> Family(size_t index) const override {
    if (index == 2) return absl::CancelledError("told to stop");
    return Listed::Family(index);
  }
};

TEST(SelectWorstCandidates, StopsBetweenFamiliesWhenTheStreamSaysSo) {
  seeded::SeededBits bits(6);
  Kernel kernel = KernelFor(1, bits);
  EXPECT_EQ(kernel.SelectWorstCandidates(Stopping(), 1, kTwo).status().code(), absl::StatusCode::kCancelled);
}

// A stream whose families are not the candidates that it stated, from which the range was computed.
class Lying : public Listed {
 public:
  explicit Lying(std::function<void(CandidateFamily&)> change)
      : Listed(Families()), change_(std::move(change)) {}
  absl::StatusOr<CandidateFamily> Family(size_t index) const override {
    absl::StatusOr<CandidateFamily> family = Listed::Family(index);
    if (index == 2) change_(*family);
    return family;
  }

 private:
  std::function<void(CandidateFamily&)> change_;
};

TEST(SelectWorstCandidatesCanary, AFamilyThatIsNotTheOneStatedIsCaught) {
  const QueryGroup heavy{{1}, std::vector<LinearQuery>{{{{0, 1000}}}, {{{1, 1000}}}}};
  const std::vector<std::function<void(CandidateFamily&)>> lies = {
      [&heavy](CandidateFamily& family) { family.group = heavy; },
      [](CandidateFamily& family) { family.penalty = -5; },
      [](CandidateFamily& family) { family.excluded = {1}; },
      [](CandidateFamily& family) {
        family = {{{0, 1}, EveryCell{}}, {1, 0, 2, 0, 2, 1}, 0, {}, 1};
      }};
  for (const auto& lie : lies) {
    seeded::SeededBits bits(7);
    Kernel kernel = KernelFor(1, bits);
    EXPECT_EQ(kernel.SelectWorstCandidates(Lying(lie), 1, kTwo).status().code(), absl::StatusCode::kInternal);
  }
}

}  // namespace
}  // namespace curator::dp
