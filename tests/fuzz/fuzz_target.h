// What a fuzz target defines: what is tried with arbitrary bytes, and inputs to start from.
//
// With Clang and -DCURATOR_FUZZ=ON a target is libFuzzer's program (libfuzzer_run.cc). Otherwise
// seeded_run.cc tries a bounded, deterministic number of mutated inputs, as a test.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace curator::fuzz {

// Valid inputs and near misses; each at most some hundred bytes.
std::vector<std::string> Seeds();

// Returns whether `input` is well-formed, or, when a property is broken, ends the program through Broken().
bool Try(std::string_view input);

// Prints the property that does not hold and the input, escaped; exit status 1.
[[noreturn]] inline void Broken(std::string_view property, std::string_view input) {
  std::fprintf(stderr, "broken: %.*s\ninput: \"", static_cast<int>(property.size()), property.data());
  for (const char c : input)
    std::fprintf(stderr, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(c)));
  std::fprintf(stderr, "\"\n");
  std::exit(1);
}

}  // namespace curator::fuzz
