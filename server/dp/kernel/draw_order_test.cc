// Draws are made in whole batches, apart from the table: no bit is taken while the table can be read, and how
// many are taken does not depend on what is in it.
#include <gtest/gtest.h>
#include <unistd.h>

#include <set>

#include "dp/data/sealed_table.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/domain/testing_domain.h"
#include "dp/kernel/kernel.h"
#include "dp/sensitivity/sensitivity.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

constexpr UnitBound kRecord{NeighbourRelation::kAddRemove, 1};
constexpr Epsilon kOne(kEpsilonUnitsPerOne);
const NoiseSpec kLaplace{Mechanism::kDiscreteLaplace, {2, 1}};
const NoiseSpec kGaussian{Mechanism::kDiscreteGaussian, {5, 1}};
const std::vector<AttributeSet> kSets = {{0}, {0, 1}};
const std::vector<CandidateFamily> kCandidates = {{{{0}, EveryCell{}}, {1, 1}},
                                                  {{{1}, EveryCell{}}, {1, 1, 1}}};

const Domain& Questions() {
  static const Domain domain = CodedDomain({2, 3});
  return domain;
}

// Whether the byte at `address` can be read: the system is asked to, which says so instead of faulting.
bool CanBeRead(const std::byte* address) {
  int ends[2];
  if (pipe(ends) != 0) return true;
  const bool readable = write(ends[1], address, 1) == 1;
  close(ends[0]);
  close(ends[1]);
  return readable;
}

// Seeded bits that note whether the table could be read when they were asked for, and how many were taken.
class WatchfulBits : public BitSource {
 public:
  explicit WatchfulBits(const SealedTable& table) : bits_(7) {
    first_code_ = ReadableScope(table).columns().columns[0].codes;
  }
  void Fill(std::span<uint64_t> words) override {
    asked_while_readable_ = asked_while_readable_ || CanBeRead(first_code_);
    taken_ += words.size();
    bits_.Fill(words);
  }
  bool asked_while_readable() const { return asked_while_readable_; }
  size_t taken() const { return taken_; }

 private:
  seeded::SeededBits bits_;
  const std::byte* first_code_;
  bool asked_while_readable_ = false;
  size_t taken_ = 0;
};

// Asks every operator once; the words taken after each.
std::vector<size_t> AskEverything(const SealedTableHandle& table, WatchfulBits& bits) {
  const auto noise = [](const NoiseSpec& spec, int64_t marginals) {
    return CountedEvent{NoiseEvent(spec, MarginalsSensitivity(kRecord, marginals).value()), 1};
  };
  Kernel kernel(table, Questions(), kRecord,
                Meter({noise(kLaplace, 2),
                       noise(kGaussian, 2),
                       noise(kGaussian, 1),
                       {NoiseEvent(kLaplace, SumsSensitivity(kRecord, {1, 1}, 6).value()), 1},
                       {NoiseEvent(kGaussian, UnitCountsSensitivity(kRecord, 2).value()), 1},
                       {NoiseEvent(kGaussian, ErrorsSensitivity(kRecord, 3).value()), 1},
                       {{ExponentialMechanismEvent{kOne}}, 4}}),
                bits);
  std::vector<size_t> taken;
  EXPECT_TRUE(kernel.NoisyCounts(kSets, kLaplace).ok());
  taken.push_back(bits.taken());
  EXPECT_TRUE(kernel.NoisyCounts(kSets, kGaussian).ok());
  taken.push_back(bits.taken());
  EXPECT_TRUE(kernel.NoisyRecordCount(kGaussian).ok());
  taken.push_back(bits.taken());
  EXPECT_TRUE(kernel.SelectWorstCandidate(kCandidates, kOne).ok());
  taken.push_back(bits.taken());
  EXPECT_TRUE(kernel.SelectByUtility(CellFrequency{{0, 1}, 1}, {}, kOne).ok());
  taken.push_back(bits.taken());
  const RecordGroups groups = GroupsBy(Questions(), {0}, {}, {}).value();
  const GroupedSum sum{.groups = groups, .blocks = CodeBlocks{1, 1}, .value = {}};
  EXPECT_TRUE(kernel.NoisySums(sum, kLaplace).ok());
  taken.push_back(bits.taken());
  EXPECT_TRUE(kernel.NoisyUnitCounts(groups, kGaussian).ok());
  taken.push_back(bits.taken());
  EXPECT_TRUE(kernel.SelectQuantiles({.groups = groups, .column = 1}, kOne).ok());
  taken.push_back(bits.taken());
  const std::vector<IntegerMarginal> estimates(3, {{1}, {1, 1, 1}});
  EXPECT_TRUE(kernel.NoisyErrors(estimates, kGaussian).ok());
  taken.push_back(bits.taken());
  const std::vector<SubstitutableMarginal> candidates = {
      {.attributes = {1}, .estimate = {1, 1, 1}, .substitute = {3, 0, 0}},
      {.attributes = {0}, .estimate = {1, 1}}};
  EXPECT_TRUE(kernel.SelectMeasuredOrPublic(candidates, kOne).ok());
  taken.push_back(bits.taken());
  return taken;
}

std::vector<SealedTableHandle> Tables() {
  return {SealRows(Questions(), {}).value(), SealRows(Questions(), {{0, 1}}).value(),
          SealRows(Questions(), std::vector<std::vector<uint32_t>>(5000, {1, 2})).value()};
}

TEST(DrawOrder, NoBitIsTakenWhileTheTableCanBeRead) {
  for (const SealedTableHandle& table : Tables()) {
    WatchfulBits bits(*table);
    AskEverything(table, bits);
    EXPECT_FALSE(bits.asked_while_readable());
  }
}

TEST(DrawOrder, NoBitIsTakenWhileGroupsAreCountedAndAsManyWhateverTheGroups) {
  constexpr UnitBound kGroup{NeighbourRelation::kAddRemove, kNoRecordBound};
  const std::vector<GroupMarginal> marginals = {{{0}, MeanBins{1, {0, 1024}}}, {{0, 1}, {}}};
  std::set<size_t> taken;
  for (const uint32_t groups : {0U, 1U, 50U}) {
    SealedTableBuilder builder(Questions(), RowOwner::kUnit);
    for (uint32_t row = 0; row < 2 * groups; ++row)
      (void)builder.AppendRow(std::vector<uint32_t>{row % 2, row % 3}, row / 2);
    const SealedTableHandle table = std::move(builder).Build().value();
    WatchfulBits bits(*table);
    Kernel kernel(table, Questions(), kGroup,
                  Meter({{NoiseEvent(kGaussian, GroupMarginalsSensitivity(kGroup.relation, 2).value()), 1}}),
                  bits);
    EXPECT_TRUE(kernel.NoisyGroupMarginals(marginals, kGaussian).ok());
    EXPECT_FALSE(bits.asked_while_readable());
    taken.insert(bits.taken());
  }
  EXPECT_EQ(taken.size(), 1u);
}

TEST(DrawOrderCanary, ABitTakenInTheMidstOfReadingIsSeen) {
  const SealedTableHandle table = Tables()[1];
  WatchfulBits bits(*table);
  const ReadableScope reading(*table);
  std::vector<uint64_t> words(1);
  bits.Fill(words);
  EXPECT_TRUE(bits.asked_while_readable());
}

TEST(DrawOrder, TheBitsThatADrawTakesDoNotDependOnTheTable) {
  std::vector<std::vector<size_t>> taken;
  for (const SealedTableHandle& table : Tables()) {
    WatchfulBits bits(*table);
    taken.push_back(AskEverything(table, bits));
  }
  EXPECT_EQ(taken[0], taken[1]);
  EXPECT_EQ(taken[0], taken[2]);
}

}  // namespace
}  // namespace curator::dp
