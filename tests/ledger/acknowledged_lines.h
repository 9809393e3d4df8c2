// Acknowledgments as lines of text, written by a process that may be killed at any moment.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ledger/conformance/invariants.h"

namespace curator::ledger {

// Including the line end. If each is written by one call, lines of several threads do not mix.
std::string LineOf(const Acknowledged& reported);

// The complete lines in `text`; text after the last line end was not acknowledged. Ends the program at a line
// that LineOf() would not write.
std::vector<Acknowledged> AcknowledgedIn(std::string_view text);

}  // namespace curator::ledger
