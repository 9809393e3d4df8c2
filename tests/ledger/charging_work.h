// The program of a process that charges a ledger and that a test kills or stops meanwhile.
//
//   URL ANCHOR_DIR SEED loop      charges from three threads until it is killed
//   URL ANCHOR_DIR SEED hold ID   charges for ID, waits for a byte, stores the release
//
// Writes one line to standard output for each acknowledgment. Its dataset is named "census". On an error it
// ends the process with a message on standard error.
#pragma once

#include <string>
#include <vector>

namespace curator::ledger {

void DoChargingWork(const std::vector<std::string>& arguments);

}  // namespace curator::ledger
