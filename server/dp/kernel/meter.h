// The admitted privacy budget as a multiset of draws: the kernel debits it before each data access.
//
// Not thread-safe: one release, one thread, one meter.
#pragma once

#include <vector>

#include "absl/status/status.h"
#include "dp/accounting/event.h"
#include "dp/accounting/units.h"

namespace curator::dp {

class Meter {
 public:
  // `schedule` is the list of draws that was priced and charged, each as often as its count says. Entries
  // with a count below one admit nothing.
  explicit Meter(std::vector<CountedEvent> schedule) : left_(std::move(schedule)) {}

  // Takes one unit of an equal event off the schedule. Errors: FAILED_PRECONDITION, and nothing is taken,
  // when the event is not on the schedule (any more). The message names the event and reveals nothing about
  // the data.
  absl::Status Debit(const Event& draw);

  // Takes one unit of the zCDP event of least rho that covers `rho` off the schedule: a draw may cost less
  // than was charged for it. Errors: as above, when none covers it.
  absl::Status DebitCovering(Rho rho);

  // Takes one unit of the pure or zCDP event of least amount that covers all of `draws` off the schedule, and
  // puts these in its place: an amount that was charged whole is split once it is known what is worth
  // drawing. Errors: INVALID_ARGUMENT for draws that are not valid events, have no cost of that kind, or are
  // none; FAILED_PRECONDITION when no event covers what they cost together. Then nothing is taken.
  //
  // Claim: the price of the schedule still covers all draws. Proof: `draws` are fixed before the first of
  // them is made, from what was drawn before; so they are one mechanism, chosen adaptively, which costs at
  // most the event that was taken, and both rules compose adaptively (Dwork, Roth 2014; Bun, Steinke 2016).
  absl::Status SpendAs(const std::vector<CountedEvent>& draws);

  // The draws that were not made. They are not refunded: the price is that of the whole schedule.
  const std::vector<CountedEvent>& left() const { return left_; }

 private:
  std::vector<CountedEvent> left_;
};

}  // namespace curator::dp
