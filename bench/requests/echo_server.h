// What gRPC takes by itself: a server with the same services that answers with recorded messages at once.
#pragma once

#include <map>
#include <string>

#include "bench/requests/kinds.h"

namespace curator::bench {

using Recording = std::map<Kind, Messages>;

// In files in the folder, for another process.
void WriteRecording(const Recording& recording, const std::string& folder);

// Says on standard error where it serves, in the words of curatord, and serves until the process ends.
[[noreturn]] void ServeEcho(const std::string& folder);

}  // namespace curator::bench
