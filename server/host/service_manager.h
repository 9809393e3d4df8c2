// Reports the state of this process to systemd, for units of Type=notify: by the protocol that sd_notify(3)
// describes, a datagram to the socket that NOTIFY_SOCKET names. Does nothing where that is not set.
//
// Thread-safe, as long as nothing changes the environment.
#pragma once

#include "absl/status/status.h"

namespace curator::host {

// The server accepts calls: what waits for the unit may start. Errors, here and below: those of
// SendDatagram(), INVALID_ARGUMENT for a relative path.
absl::Status ReportReady();

// The server was asked to stop, and drains.
absl::Status ReportStopping();

}  // namespace curator::host
