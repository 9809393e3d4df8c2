// The price that was admitted, as a purse of draws: the kernel pays out of it before each look at the data.
//
// Not thread-safe: one release, one thread, one meter.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "dp/accounting/event.h"

namespace curator::dp {

class Meter {
 public:
  // `schedule` is the list of draws that was priced and charged, each as often as its count says. Parts with
  // a count below one admit nothing.
  explicit Meter(std::vector<CountedEvent> schedule) : left_(std::move(schedule)) {}

  // Takes one unit of an equal event off the schedule. Errors: FAILED_PRECONDITION, and nothing is taken,
  // when the event is not on the schedule or no longer; the message says which event, and nothing about the
  // data.
  absl::Status Debit(const Event& draw);

  // What has not been drawn. It is not refunded: a price is that of the whole schedule.
  const std::vector<CountedEvent>& left() const { return left_; }

 private:
  std::vector<CountedEvent> left_;
};

}  // namespace curator::dp
