// The values that commands print, independent of the output form.
//
// Thread-safe: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace curator::cli {

// How a command's result is written to standard output.
enum class OutputForm {
  kTable,  // aligned, rounded and shortened for display
  kJson,   // one document, exact, with stable names
  kCsv,    // the main table with a header line, exact
};

// JSON text, printed in JSON form only.
struct RawJson {
  std::string text;
};

// A cell. Budgets are strings: exact decimals that never pass through a double.
using Value =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>, RawJson>;

}  // namespace curator::cli
