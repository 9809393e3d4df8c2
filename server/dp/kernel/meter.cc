#include "dp/kernel/meter.h"

#include "absl/strings/str_cat.h"

namespace curator::dp {

absl::Status Meter::Debit(const Event& draw) {
  for (CountedEvent& part : left_) {
    if (part.count >= 1 && part.event == draw) {
      --part.count;
      return absl::OkStatus();
    }
  }
  return absl::FailedPreconditionError(
      absl::StrCat("the admitted price does not cover this draw: ", Describe(draw)));
}

}  // namespace curator::dp
