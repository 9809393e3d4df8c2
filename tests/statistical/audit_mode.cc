#include "tests/statistical/audit_mode.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>

namespace curator::statistics {
namespace {

uint64_t ReadBase() {
  const char* const text = std::getenv("CURATOR_AUDIT_SEED");
  if (text == nullptr) return 0;
  const uint64_t base =
      std::string(text) == "fresh" ? std::random_device()() : std::strtoull(text, nullptr, 10);
  if (base != 0) std::printf("CURATOR_AUDIT_SEED=%llu\n", static_cast<unsigned long long>(base));
  return base;
}

}  // namespace

uint64_t AuditSeed(uint64_t number) {
  static const uint64_t base = ReadBase();
  return (base << 20) + number;
}

size_t AuditSize(size_t usual) {
  const char* const text = std::getenv("CURATOR_AUDIT_FACTOR");
  const size_t factor = text == nullptr ? 1 : std::strtoull(text, nullptr, 10);
  return usual * std::max<size_t>(factor, 1);
}

}  // namespace curator::statistics
