#include "service/charges/expiry_sweep.h"

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "host/logging.h"

namespace curator::service {

ExpirySweep::ExpirySweep(ledger::Ledger& ledger, absl::Duration interval)
    : ledger_(ledger), thread_([this, interval](const std::stop_token& stop) { Run(stop, interval); }) {}

void ExpirySweep::Run(const std::stop_token& stop, absl::Duration interval) {
  absl::Status last;
  while (!stop.stop_requested()) {
    const absl::StatusOr<int64_t> expired = ledger_.ExpireReservations();
    if (expired.ok() && *expired > 0) {
      host::Log(host::LogLevel::kInfo, "reservations_expired", {{"number", *expired}});
    }
    if (!expired.ok() && expired.status() != last) {
      host::Log(host::LogLevel::kWarning, "reservations_not_expired",
                {{"status", expired.status().ToString()}});
    }
    last = expired.status();
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, absl::ToChronoNanoseconds(interval), [] { return false; });
  }
}

}  // namespace curator::service
