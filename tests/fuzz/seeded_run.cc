// Tries a fuzz target with mutations of its seeds: `PROGRAM [INPUTS]`. The same inputs on every run and
// machine.
#include <algorithm>
#include <array>
#include <limits>
#include <random>

#include "tests/fuzz/fuzz_target.h"

namespace curator::fuzz {
namespace {

constexpr size_t kLongest = 400;
constexpr size_t kMostKept = 4000;

class Mutations {
 public:
  explicit Mutations(std::vector<std::string> seeds) : pool_(std::move(seeds)) {}

  // A member of the pool, changed in one to four places.
  std::string Next() {
    std::string input = pool_[Below(pool_.size())];
    for (size_t changes = 1 + Below(4); changes > 0; --changes) Change(input);
    if (input.size() > kLongest) input.resize(kLongest);
    return input;
  }

  // What the target took for well-formed is worth changing further.
  void Keep(std::string input) {
    if (pool_.size() < kMostKept) pool_.push_back(std::move(input));
  }

 private:
  size_t Below(size_t limit) { return limit == 0 ? 0 : static_cast<size_t>(random_() % limit); }

  void Change(std::string& input) {
    const size_t at = Below(input.size() + 1);
    const size_t length = std::min(input.size() - at, 1 + Below(16));
    switch (Below(7)) {
      case 0:
        if (at < input.size()) input[at] = static_cast<char>(input[at] ^ (1 << Below(8)));
        break;
      case 1:
        input.insert(at, 1, static_cast<char>(Below(256)));
        break;
      case 2:
        input.erase(at, length);
        break;
      case 3:
        input.insert(at, input.substr(at, length));
        break;
      case 4: {
        const std::string& other = pool_[Below(pool_.size())];
        input = input.substr(0, at) + other.substr(Below(other.size() + 1));
        break;
      }
      case 5:
        input.insert(at, 1, kTextBytes[Below(kTextBytes.size())]);
        break;
      default:
        PutInteger(input, at / 8 * 8);
    }
  }

  // Overwrites eight bytes by an integer at an edge, big-endian.
  void PutInteger(std::string& input, size_t at) {
    if (at + 8 > input.size()) return;
    const uint64_t value = static_cast<uint64_t>(kEdges[Below(kEdges.size())]);
    for (size_t i = 0; i < 8; ++i) input[at + i] = static_cast<char>(value >> (56 - 8 * i));
  }

  static constexpr std::string_view kTextBytes = "0123456789.eE+-/ ";
  static constexpr std::array<int64_t, 12> kEdges = {0,
                                                     1,
                                                     2,
                                                     -1,
                                                     12,
                                                     13,
                                                     14,
                                                     400,
                                                     int64_t{1} << 31,
                                                     int64_t{1} << 53,
                                                     std::numeric_limits<int64_t>::max(),
                                                     std::numeric_limits<int64_t>::min()};

  std::vector<std::string> pool_;
  std::mt19937_64 random_{20261121};
};

int Run(int64_t inputs) {
  std::vector<std::string> seeds = Seeds();
  for (const std::string& seed : seeds) Try(seed);
  Mutations mutations(std::move(seeds));
  int64_t well_formed = 0;
  for (int64_t i = 0; i < inputs; ++i) {
    std::string input = mutations.Next();
    if (!Try(input)) continue;
    ++well_formed;
    mutations.Keep(std::move(input));
  }
  std::printf("%lld inputs, %lld well-formed\n", static_cast<long long>(inputs),
              static_cast<long long>(well_formed));
  // Otherwise the properties of what is accepted were hardly looked at.
  if (well_formed * 200 < inputs) Broken("one input in 200 is well-formed", "");
  return 0;
}

}  // namespace
}  // namespace curator::fuzz

int main(int argument_count, char** arguments) {
  const int64_t inputs = argument_count > 1 ? std::atoll(arguments[1]) : 100'000;
  return curator::fuzz::Run(inputs);
}
