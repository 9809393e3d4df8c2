// What commands print, before it is known in which form.
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
  kTable,  // aligned, rounded and shortened for people
  kJson,   // one document, exact, with names that stay
  kCsv,    // the main table with a header line, exact
};

// A JSON text that is only printed where the form is JSON.
struct RawJson {
  std::string text;
};

// A cell. Budgets are strings: exact decimals that never pass through a double.
using Value =
    std::variant<std::monostate, bool, int64_t, double, std::string, std::vector<std::string>, RawJson>;

}  // namespace curator::cli
