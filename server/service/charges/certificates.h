// The certificates that the events of one call ask for, within what a call may take.
//
// Not thread-safe: each call has its own.
#pragma once

#include <cstdint>
#include <optional>
#include <stop_token>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "dp/accounting/certification.h"
#include "service/memory_budget.h"

namespace curator::service {

// An event holds at most this many events, itself included, and all events that are priced in one call hold
// at most kMostCallParts: a rule takes up to a tenth of a millisecond for each.
inline constexpr int64_t kMostEventParts = 2048;
inline constexpr int64_t kMostCallParts = 10'000;
// At most this many different schedules are certified in one call: each takes up to 0.5 s.
inline constexpr size_t kMostCertificates = 2;

class Certificates {
 public:
  // `memory` must outlive it.
  Certificates(MemoryBudget& memory, const Principal& principal, std::stop_token client_left)
      : memory_(memory), principal_(principal), client_left_(std::move(client_left)) {}

  // Counts the parts of an event that will be priced. INVALID_ARGUMENT, of the event itself, when it or all
  // events so far hold too many.
  absl::Status TakeParts(const dp::AskedEvent& event);

  // The event with its certificate, if it asks for one; equal ones are computed once. Takes
  // dp::kBoundedBytes of memory before it computes. Errors: those of AskedEvent::Certify() and of
  // MemoryBudget::Take(); INVALID_ARGUMENT ("certified") beyond kMostCertificates.
  absl::StatusOr<dp::Event> Of(const dp::AskedEvent& asked);

 private:
  MemoryBudget& memory_;
  const Principal principal_;
  const std::stop_token client_left_;
  int64_t parts_left_ = kMostCallParts;
  std::vector<std::pair<dp::AskedEvent, dp::Event>> computed_;
};

}  // namespace curator::service
