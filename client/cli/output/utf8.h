// UTF-8, as far as the command line has to know it.
//
// Thread-safe: pure functions.
#pragma once

#include <cstddef>
#include <string_view>

namespace curator::cli {

// Length of the UTF-8 sequence at the start of `text`, which is not empty; 0 when it is none.
size_t SequenceLength(std::string_view text);

bool IsUtf8(std::string_view text);

}  // namespace curator::cli
