// A program as the server should be, for the test of no_seed_symbol.sh: its draws have a key from the
// operating system.
#include <cstdint>
#include <cstdio>
#include <span>

#include "dp/noise/drbg.h"
#include "host/entropy.h"

int main() {
  curator::dp::Drbg bits(curator::host::NewDrawKey());
  uint64_t word = 0;
  bits.Fill(std::span(&word, 1));
  std::printf("%d\n", static_cast<int>(word & 1));
}
