#include "service/ledger_maintenance.h"

#include <new>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/status_macros.h"
#include "host/logging.h"

namespace curator::service {

LedgerMaintenance::LedgerMaintenance(ledger::Ledger& ledger, absl::Duration interval)
    : ledger_(ledger), thread_([this, interval](const std::stop_token& stop) { Run(stop, interval); }) {}

absl::Status LedgerMaintenance::RunOnce(const std::stop_token& stop) {
  const absl::StatusOr<int64_t> expired = ledger_.ExpireReservations();
  if (expired.ok() && *expired > 0) {
    host::Log(host::LogLevel::kInfo, "reservations_expired", {{"number", *expired}});
  }
  const absl::StatusOr<int64_t> swept = ledger_.SweepStaged();
  while (!stop.stop_requested()) {
    ASSIGN_OR_RETURN(const bool is_more_behind, ledger_.AdvanceCounts());
    if (!is_more_behind) break;
  }
  // Servers whose clocks differ agree on the day before this one.
  const int64_t yesterday = absl::ToUnixSeconds(absl::Now()) / absl::ToInt64Seconds(absl::Hours(24)) - 1;
  const absl::StatusOr<int64_t> forgotten = ledger_.SweepQuotaUse(yesterday);
  RETURN_IF_ERROR(expired.status());
  RETURN_IF_ERROR(swept.status());
  return forgotten.status();
}

absl::Status LedgerMaintenance::RunGuarded(const std::stop_token& stop) {
  try {
    return RunOnce(stop);
  } catch (const std::bad_alloc&) {
    return absl::ResourceExhaustedError("no memory");
  }
}

void LedgerMaintenance::Run(const std::stop_token& stop, absl::Duration interval) {
  absl::Status last;
  while (!stop.stop_requested()) {
    const absl::Status status = RunGuarded(stop);
    if (!status.ok() && status != last) {
      host::Log(host::LogLevel::kWarning, "ledger_maintenance_failed", {{"status", status.ToString()}});
    }
    last = status;
    std::unique_lock lock(mutex_);
    wake_.wait_for(lock, stop, absl::ToChronoNanoseconds(interval), [] { return false; });
  }
}

}  // namespace curator::service
