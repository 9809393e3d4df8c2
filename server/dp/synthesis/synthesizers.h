// The list of all synthesizers. A new method adds one line in synthesizers.cc.
//
// Thread-safe.
#pragma once

#include <span>
#include <string_view>

#include "dp/synthesis/synthesizer.h"

namespace curator::dp {

// In a fixed order; they live as long as the program.
std::span<const Synthesizer* const> Synthesizers();

// The method of that name, or null.
const Synthesizer* FindSynthesizer(std::string_view name);

}  // namespace curator::dp
