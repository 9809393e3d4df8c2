#include "tests/testing/nightly.h"

#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace curator::nightly {
namespace {

// 43 bits: a seed has 20 more, and is told from a negative number.
uint64_t FreshBase() {
  std::random_device entropy;
  return ((uint64_t{entropy()} << 32) | entropy()) >> 21;
}

uint64_t ReadBase() {
  const char* const text = std::getenv("CURATOR_TEST_SEED");
  const uint64_t given = text == nullptr ? 0 : std::strtoull(text, nullptr, 10);
  const uint64_t base = given == 0 && IsOn() ? FreshBase() : given;
  if (base != 0) std::printf("CURATOR_TEST_SEED=%llu\n", static_cast<unsigned long long>(base));
  return base;
}

}  // namespace

bool IsOn() {
  const char* const text = std::getenv("CURATOR_NIGHTLY");
  return text != nullptr && std::string(text) == "1";
}

size_t Volume(size_t usual, size_t at_night) {
  return IsOn() ? at_night : usual;
}

size_t Cases(size_t usual) {
  const char* const text = std::getenv("CURATOR_NIGHTLY_CASES");
  if (text == nullptr) return usual;
  char* end = nullptr;
  const uint64_t cases = std::strtoull(text, &end, 10);
  if (cases == 0 || *end != '\0' || *text == '-') {
    std::fprintf(stderr, "CURATOR_NIGHTLY_CASES=%s: must be a whole number above 0\n", text);
    std::exit(2);
  }
  return cases;
}

uint64_t Seed(uint64_t number) {
  static const uint64_t base = ReadBase();
  return (base << 20) + number;
}

}  // namespace curator::nightly
