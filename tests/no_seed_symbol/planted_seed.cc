// A program as the server must not be, for the test of no_seed_symbol.sh: it can be given a seed.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <span>

#include "dp/noise/drbg.h"
#include "host/entropy.h"
#include "tests/testing/seeded_bits.h"

int main(int argument_count, char** arguments) {
  const uint64_t seed = argument_count > 1 ? std::strtoull(arguments[1], nullptr, 10) : 0;
  curator::dp::Drbg bits(seed == 0 ? curator::host::NewDrawKey() : curator::seeded::SeededKey(seed));
  uint64_t word = 0;
  bits.Fill(std::span(&word, 1));
  std::printf("%d\n", static_cast<int>(word & 1));
}
