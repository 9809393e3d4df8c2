// A program as the server must not be, for the test of no_seed_symbol.sh: some of its randomness is a
// pseudorandom engine's.
#include <cstdint>
#include <cstdio>
#include <random>
#include <span>

#include "dp/noise/drbg.h"
#include "host/entropy.h"

int main() {
  curator::dp::Drbg bits(curator::host::NewDrawKey());
  uint64_t word = 0;
  bits.Fill(std::span(&word, 1));
  std::mt19937_64 engine(word);
  std::printf("%d\n", static_cast<int>(engine() & 1));
}
