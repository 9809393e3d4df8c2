// The quotas of principals that use cases ask for: bytes of imports, passes over histories, and the predicted
// time and memory of syntheses. Those of calls are in rpc/admission.h.
//
// Bytes and passes are counted by this process, the seconds of syntheses in the ledger, for all servers on
// it. What is counted is public: what was asked, and what was predicted for it from public facts. Nothing
// is corrected by what it took in the end, which can depend on records.
//
// Refusals are OverQuota() (base/errors.h) where the same request fits later, and INVALID_ARGUMENT where it
// never will.
//
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "base/quotas.h"
#include "ledger/ledger.h"
#include "service/quotas/period_use.h"

namespace curator::service {

// One quota of a principal, as it is now.
struct QuotaView {
  std::string name;  // as in the configuration
  int64_t limit = 0;
  absl::Duration period = absl::ZeroDuration();  // zero where the limit is for one request, or at a time
  std::optional<int64_t> used = std::nullopt;    // none where the limit is for one request
};

class PrincipalQuotas {
 public:
  using Clock = std::function<absl::Time()>;

  explicit PrincipalQuotas(QuotaTable table, const Clock& clock = absl::Now)
      : table_(std::move(table)),
        clock_(clock),
        imported_(absl::Hours(1), clock),
        verifications_(absl::Minutes(1), clock) {}

  // Counts bytes that were received for an import, or for a check of a file.
  absl::Status CountImported(const Principal& principal, int64_t bytes);

  // Counts a pass over a history that is about to be made.
  absl::Status CountVerification(const Principal& principal);

  // INVALID_ARGUMENT (workload) for a synthesis that is predicted to take more memory, or more seconds, than
  // the principal may use for one.
  absl::Status CheckSynthesis(const Principal& principal, int64_t cpu_seconds, int64_t bytes) const;

  // Counts the seconds of a synthesis that is about to be charged, on every server at once; what it returns
  // gives them back where the charge is refused (Ledger::ReturnQuota()).
  absl::StatusOr<ledger::DailyUse> UseForSynthesis(ledger::Ledger& ledger, const Principal& principal,
                                                   int64_t cpu_seconds) const;

  // All that UseForSynthesis() has counted here, whether or not it was given back.
  int64_t seconds_of_syntheses() const { return seconds_of_syntheses_; }

  // The quotas that this class knows, in the order of the configuration.
  absl::StatusOr<std::vector<QuotaView>> List(ledger::Ledger& ledger, const std::string& principal) const;

  const Quotas& Of(std::string_view principal) const { return table_.Of(principal); }

 private:
  const QuotaTable table_;
  const Clock clock_;
  PeriodUse imported_;
  PeriodUse verifications_;
  mutable std::atomic<int64_t> seconds_of_syntheses_ = 0;
};

}  // namespace curator::service
