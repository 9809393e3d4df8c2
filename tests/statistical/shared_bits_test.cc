// Noise that is used twice: two requests under one seed, and a process and its fork with one buffer of bits.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/workload/testing_domain.h"
#include "tests/statistical/audit_mode.h"
#include "tests/statistical/black_box.h"
#include "tests/testing/seeded_bits.h"

namespace curator::statistics {
namespace {

const dp::Domain& TwoCells() {
  static const dp::Domain domain = dp::CodedDomain({2});
  return domain;
}

// One request: the number of records with Laplace noise, at a price of epsilon 1.
int64_t Request(const dp::SealedTableHandle& table, uint64_t seed) {
  const dp::NoiseSpec noise{dp::Mechanism::kDiscreteLaplace, {1, 1}};
  const dp::Event price{
      dp::DiscreteLaplaceEvent{.scale = {1, 1}, .l1_sensitivity = 1, .linf_sensitivity = 1}};
  seeded::SeededBits bits(AuditSeed(seed));
  dp::Kernel kernel(table, TwoCells(), {}, dp::Meter({{price, 1}}), bits);
  return kernel.NoisyRecordCount(noise).value();
}

// Two requests, of which the first is about records that are known not to concern somebody, and the second
// about the same ones or about them and him: what an onlooker sees who subtracts the answers. Only the second
// depends on him, so he pays epsilon 1.
using SecondSeed = std::function<uint64_t(uint64_t first)>;

PairOfSamples Differences(const SecondSeed& second_seed) {
  constexpr size_t kPairs = 1000;
  const dp::SealedTableHandle empty = dp::SealRows(TwoCells(), {}).value();
  const dp::SealedTableHandle one_record = dp::SealRows(TwoCells(), {{0}}).value();
  const auto differences = [&](const dp::SealedTableHandle& later, uint64_t seed) {
    std::vector<int64_t> values;
    for (size_t i = 0; i < kPairs; ++i, seed += 2)
      values.push_back(Request(later, second_seed(seed)) - Request(empty, seed));
    return values;
  };
  return {differences(empty, 1), differences(one_record, 100'001)};
}

TEST(SharedBits, TwoRequestsUnderTwoKeysTellNoMoreThanWasPaid) {
  const LowerBound bound = PureLossLowerBound(Differences([](uint64_t first) { return first + 1; }));
  EXPECT_LE(bound.value, 1) << bound.event;
}

TEST(SharedBitsCanary, TheSameSeedForTwoRequestsIsProved) {
  EXPECT_GT(PureLossLowerBound(Differences([](uint64_t first) { return first; })).value, 1);
}

constexpr size_t kWords = 4;
using Words = std::array<uint64_t, kWords>;

// What a forked child takes from `source`; none when it ended rather than take anything.
std::optional<Words> TakenByChild(dp::BitSource& source) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) {
    close(STDERR_FILENO);
    Words words;
    source.Fill(words);
    _exit(write(ends[1], words.data(), sizeof words) == sizeof words ? 0 : 1);
  }
  close(ends[1]);
  Words words;
  const bool complete = read(ends[0], words.data(), sizeof words) == sizeof words;
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return complete ? std::optional(words) : std::nullopt;
}

// Whether a process and its fork go on with the same bits.
bool ForkSharesBits(dp::BitSource& source) {
  uint64_t first = 0;
  source.Fill(std::span(&first, 1));  // so that a buffer is full
  const std::optional<Words> of_child = TakenByChild(source);
  Words of_parent;
  source.Fill(of_parent);
  return of_child == of_parent;
}

// Bits by the block from a sound source, kept where a fork copies them.
class Buffered : public dp::BitSource {
 public:
  explicit Buffered(uint64_t seed) { seeded::SeededBits(seed).Fill(block_); }
  void Fill(std::span<uint64_t> words) override {
    for (uint64_t& word : words) word = block_.at(next_++);
  }

 private:
  std::array<uint64_t, 512> block_{};
  size_t next_ = 0;
};

TEST(SharedBits, AForkGetsNoBitsOfItsParentsGenerator) {
  dp::Drbg drbg(seeded::SeededKey(AuditSeed(1)));
  EXPECT_FALSE(ForkSharesBits(drbg));
}

TEST(SharedBitsCanary, AForkSharingABitBufferIsCaught) {
  Buffered source(AuditSeed(1));
  EXPECT_TRUE(ForkSharesBits(source));
}

}  // namespace
}  // namespace curator::statistics
