#include "dp/kernel/meter.h"

#include <variant>

#include "absl/strings/str_cat.h"

namespace curator::dp {

namespace {

absl::Status NotCovered(const Event& draw) {
  return absl::FailedPreconditionError(
      absl::StrCat("the admitted price does not cover this draw: ", Describe(draw)));
}

}  // namespace

absl::Status Meter::Debit(const Event& draw) {
  for (CountedEvent& part : left_) {
    if (part.count >= 1 && part.event == draw) {
      --part.count;
      return absl::OkStatus();
    }
  }
  return NotCovered(draw);
}

absl::Status Meter::DebitCovering(Rho rho) {
  CountedEvent* least = nullptr;
  for (CountedEvent& part : left_) {
    const auto* charged = std::get_if<ZcdpEvent>(&part.event.what);
    if (part.count < 1 || charged == nullptr || charged->rho < rho) continue;
    if (least == nullptr || charged->rho < std::get<ZcdpEvent>(least->event.what).rho) least = &part;
  }
  if (least == nullptr) return NotCovered({ZcdpEvent{rho}});
  --least->count;
  return absl::OkStatus();
}

}  // namespace curator::dp
