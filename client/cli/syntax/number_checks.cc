#include "client/cli/syntax/number_checks.h"

#include <cmath>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace curator::cli {

std::string PositiveNumber(const std::string& text) {
  double number = 0;
  const bool is_right = absl::SimpleAtod(text, &number) && std::isfinite(number) && number > 0;
  return is_right ? "" : absl::StrCat("'", text, "' is not a number above 0");
}

std::string NonNegativeNumber(const std::string& text) {
  double number = 0;
  const bool is_right = absl::SimpleAtod(text, &number) && std::isfinite(number) && number >= 0;
  return is_right ? "" : absl::StrCat("'", text, "' is not 0 or a number above it");
}

}  // namespace curator::cli
