// A canary: a parser that goes through a double, as many do. The run must find an amount that it gets wrong.
#include <cmath>

#include "tests/fuzz/decimal_property.h"

namespace curator::fuzz {

std::vector<std::string> Seeds() {
  return {"0", "1", "0.1", "2.5e-3", "1234.5678"};
}

}  // namespace curator::fuzz

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace curator::fuzz;
  const std::string text(reinterpret_cast<const char*>(data), size);
  const std::optional<int64_t> expected = UnitsOf(text, 12);
  if (!expected) return -1;
  if (std::llround(std::strtod(text.c_str(), nullptr) * 1e12) != *expected) {
    Broken("a decimal is read exactly", text);
  }
  return 0;
}
