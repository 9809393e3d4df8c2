// The rules by which the owner of a dataset refuses requests, and their canonical bytes: equal rules have
// equal bytes, on every machine. Stored rules list principals by their pseudonyms (ledger/pseudonyms).
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"

namespace curator::codec {

// Kinds of requests, as bits of RefusalRule::kinds.
inline constexpr int64_t kRuledWorkload = 1;
inline constexpr int64_t kRuledSynthesis = 2;
inline constexpr int64_t kRuledReservation = 4;
inline constexpr int64_t kAllRuledKinds = 7;

struct PriceAbove {
  std::string counter;  // "rho"
  int64_t amount = 0;   // in its units; not negative
  bool operator==(const PriceAbove&) const = default;
};

// Refuses the requests that meet all its conditions; a condition that is left out (empty, 0, none) is met by
// every request.
struct RefusalRule {
  std::string name;                            // not empty
  std::vector<std::string> principals = {};    // made by one of these, names or pseudonyms; ascending
  int64_t kinds = 0;                           // of one of these kinds
  std::vector<std::string> attributes = {};    // uses one of these; ascending
  std::optional<PriceAbove> price_above = {};  // costs more
  int64_t start_us = 0;                        // made at this time or later, since 1970,
  int64_t end_us = 0;                          // and before this time
  std::string note = {};                       // for those who are refused
  bool operator==(const RefusalRule&) const = default;
};

inline constexpr size_t kMostRefusalRules = 100;

// Of rules whose names ascend, and whose lists do. Empty when there are none.
std::string EncodeRefusalRules(const std::vector<RefusalRule>& rules);

// Errors: DATA_LOSS for bytes that EncodeRefusalRules() would not have written for at most kMostRefusalRules.
absl::StatusOr<std::vector<RefusalRule>> DecodeRefusalRules(std::string_view bytes);

}  // namespace curator::codec
