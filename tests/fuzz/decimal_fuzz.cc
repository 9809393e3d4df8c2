// The parser of amounts: it takes exactly the decimals that are whole numbers of units, and reads them
// exactly.
#include "dp/accounting/units.h"
#include "tests/fuzz/decimal_property.h"

namespace curator::fuzz {
namespace {

template <typename Amount>
bool Check(std::string_view text) {
  const auto parsed = Amount::Parse(text, "amount");
  const std::optional<int64_t> expected = UnitsOf(text, Amount::kDecimals);
  if (parsed.ok() != expected.has_value()) Broken("a decimal is accepted exactly when it is an amount", text);
  if (!parsed.ok()) return false;
  if (parsed->units() != *expected) Broken("a decimal is read exactly", text);
  const auto again = Amount::Parse(parsed->ToString(), "amount");
  if (!again.ok() || *again != *parsed) Broken("what is printed is read back as the same amount", text);
  return true;
}

}  // namespace

std::vector<std::string> Seeds() {
  return {"0",
          "1",
          "0.1",
          "2.5e-3",
          "1e-18",
          "9223372.036854775807",
          "9223372.036854775808",
          "9.223372036854775807",
          ".5",
          "5.",
          "1E+6",
          "000123.4500e-0007",
          "0e999999999999",
          "1e-999999999999999999999",
          "nan",
          "inf",
          "-1",
          "0x10",
          "1e",
          "",
          "."};
}

bool Try(std::string_view text) {
  const bool epsilon = Check<dp::Epsilon>(text);
  const bool rho = Check<dp::Rho>(text);
  const bool delta = Check<dp::Delta>(text);
  return epsilon || rho || delta;
}

}  // namespace curator::fuzz
