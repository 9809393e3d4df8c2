// What a draw costs, in words of random bits and hence in rounds of its loops, tells nothing of its value: a
// rejected trial is independent of the one that is kept.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>

#include "dp/noise/bit_source.h"
#include "dp/noise/discrete_gaussian.h"
#include "dp/noise/discrete_laplace.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

// Counts the words that are taken.
class CountedBits : public BitSource {
 public:
  explicit CountedBits(uint64_t seed) : bits_(seed) {}
  void Fill(std::span<uint64_t> words) override {
    bits_.Fill(words);
    taken_ += words.size();
  }
  size_t taken() const { return taken_; }

 private:
  seeded::SeededBits bits_;
  size_t taken_ = 0;
};

struct Moments {
  double count = 0;
  double sum = 0;
  double squares = 0;

  void Add(double value) {
    ++count;
    sum += value;
    squares += value * value;
  }
  double mean() const { return sum / count; }
  double variance_of_mean() const { return (squares / count - mean() * mean()) / count; }
};

using DrawOne = std::function<int64_t(BitSource& bits)>;

// How many standard errors apart the mean magnitudes of cheap and of dear draws lie.
double TellingOfCosts(const DrawOne& draw) {
  constexpr int kDraws = 200'000;
  CountedBits bits(1);
  Moments cheap;
  Moments dear;
  size_t least = 1000;
  for (int i = 0; i < kDraws; ++i) {
    const size_t before = bits.taken();
    const auto magnitude = static_cast<double>(std::abs(draw(bits)));
    const size_t cost = bits.taken() - before;
    least = std::min(least, cost);
    (cost <= least ? cheap : dear).Add(magnitude);
  }
  return std::abs(cheap.mean() - dear.mean()) / std::sqrt(cheap.variance_of_mean() + dear.variance_of_mean());
}

// Six standard errors: less than one in 10^8 by chance.
constexpr double kLimit = 6;

TEST(DrawCost, TellsNothingOfTheValue) {
  for (const Rational sigma_squared : {Rational{1, 1}, Rational{100, 1}, Rational{1'000'000, 7}}) {
    const DiscreteGaussian gaussian = DiscreteGaussian::Create(sigma_squared).value();
    EXPECT_LT(TellingOfCosts([&](BitSource& bits) { return gaussian.Draw(bits); }), kLimit);
  }
  for (const Rational scale : {Rational{1, 1}, Rational{10, 1}, Rational{1000, 7}}) {
    const DiscreteLaplace laplace = DiscreteLaplace::Create(scale).value();
    EXPECT_LT(TellingOfCosts([&](BitSource& bits) { return laplace.Draw(bits); }), kLimit);
  }
}

TEST(DrawCostCanary, AMagnitudeThatIsCountedTrialByTrialIsCaught) {
  EXPECT_GT(TellingOfCosts([](BitSource& bits) {
              BitBuffer buffer(bits, 1);
              int64_t magnitude = 0;
              while (buffer.NextWord() >> 63 != 0) ++magnitude;
              return magnitude;
            }),
            kLimit);
}

}  // namespace
}  // namespace curator::dp
