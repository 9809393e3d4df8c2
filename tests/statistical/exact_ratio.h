// Layer 1 of the audit: the exact privacy loss of outputs on neighbouring tables, held against a price.
// Nothing is estimated, so there are no false alarms.
#pragma once

#include <optional>
#include <string>

#include "dp/accounting/event.h"
#include "dp/accounting/interval.h"

namespace curator::statistics {

// ln P(output | table); none where the output is impossible on that table.
using LogLikelihood = std::optional<dp::Interval>;

// What an event costs under the pure rule, as a bound on |ln P - ln P'|.
dp::Interval PureLossOf(const dp::Event& event);

// Collects the losses of outputs on pairs of neighbours. The harness for sound mechanisms and for broken ones
// alike.
class RatioAudit {
 public:
  explicit RatioAudit(const dp::Interval& price) : price_(price) {}

  // One output on one pair, which `what` names.
  void Compare(const std::string& what, const LogLikelihood& on_table, const LogLikelihood& on_neighbour);

  // Some loss was above the price for certain, or infinite; and where that was.
  bool exceeds() const { return exceeds_; }
  const std::string& worst() const { return worst_; }

  // Some loss was the price, as far as can be told: it is no higher than it need be.
  bool reaches() const { return reaches_; }

 private:
  dp::Interval price_;
  bool exceeds_ = false;
  bool reaches_ = false;
  std::string worst_;
};

}  // namespace curator::statistics
