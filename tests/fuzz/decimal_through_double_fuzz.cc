// A canary: a parser that goes through a double, as many do. The run must find an amount that it gets wrong.
#include <cmath>

#include "tests/fuzz/decimal_property.h"

namespace curator::fuzz {

std::vector<std::string> Seeds() {
  return {"0", "1", "0.1", "2.5e-3", "1234.5678"};
}

bool Try(std::string_view input) {
  const std::string text(input);
  const std::optional<int64_t> expected = UnitsOf(text, 12);
  if (!expected) return false;
  if (std::llround(std::strtod(text.c_str(), nullptr) * 1e12) != *expected) {
    Broken("a decimal is read exactly", text);
  }
  return true;
}

}  // namespace curator::fuzz
