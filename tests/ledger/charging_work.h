// What a process does that charges a ledger, and is killed or stopped by a test meanwhile.
//
//   URL ANCHOR_DIR SEED loop      charges from three threads until it is killed
//   URL ANCHOR_DIR SEED hold ID   charges for ID, waits for a byte, stores the release
//
// Tells on standard output, one line for each acknowledgment. Its dataset is named "census". Ends the process
// when something is wrong, and says so on standard error.
#pragma once

#include <string>
#include <vector>

namespace curator::ledger {

void DoChargingWork(const std::vector<std::string>& arguments);

}  // namespace curator::ledger
