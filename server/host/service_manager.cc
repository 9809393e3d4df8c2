#include "host/service_manager.h"

#include <cstdlib>
#include <string_view>

#include "host/datagram.h"

namespace curator::host {
namespace {

absl::Status Send(std::string_view state) {
  const char* const name = std::getenv("NOTIFY_SOCKET");
  if (name == nullptr || *name == '\0') return absl::OkStatus();
  if (*name != '/' && *name != '@')
    return absl::InvalidArgumentError("NOTIFY_SOCKET is neither a path nor an abstract name");
  return SendDatagram(name, state, WhenFull::kWait);
}

}  // namespace

absl::Status ReportReady() {
  return Send("READY=1");
}

absl::Status ReportStopping() {
  return Send("STOPPING=1");
}

}  // namespace curator::host
