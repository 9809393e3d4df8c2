// What charges come to under other rules than their account's: information for those who made them, or own
// the data.
//
// It gates nothing. The charges were chosen one after another, so only the calculators that are valid
// adaptively say what has been guaranteed; the others say what the same schedule, fixed beforehand, would
// have cost. Thread-safe: pure functions over the ledger.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/accounting/calculators/comparison.h"
#include "dp/accounting/units.h"
#include "ledger/ledger.h"

namespace curator::service {

struct HistoryComparison {
  dp::Delta delta;
  int64_t charges = 0;  // those that were counted
  bool own_charges_only = false;
  std::vector<dp::CalculatedEpsilon> calculated;
  std::string not_computed;  // why `calculated` is empty; empty when nothing was charged
};

// Histories of more different events are not compared: each one costs time.
inline constexpr int64_t kMostEventsCompared = 256;

// Counts the events of the charges on the dataset's lineage, by `principal` or, where that is empty, by all.
// Cancelled reservations are left out; a reservation that was started for less counts whole. The ledger
// counts equal events, so the work grows with the kinds of requests and one scan, not with decoding each
// charge; Effort::kBounded bounds the rest. Errors: those of the ledger; DATA_LOSS for an event that cannot
// be read.
absl::StatusOr<HistoryComparison> CompareHistory(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                                 std::string_view principal, dp::Delta delta);

}  // namespace curator::service
