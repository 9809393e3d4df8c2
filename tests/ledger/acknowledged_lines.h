// Acknowledgments on their way out of a process that may be killed at any moment: one line each.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ledger/conformance/invariants.h"

namespace curator::ledger {

// With its line end. Written at once, lines of several threads do not mix.
std::string LineOf(const Acknowledged& told);

// The whole lines in `text`; what follows the last line end was never told. Ends the program at a line that
// LineOf() would not write.
std::vector<Acknowledged> AcknowledgedIn(std::string_view text);

}  // namespace curator::ledger
