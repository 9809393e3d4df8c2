#include "service/charges/certificates.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/comparison.h"

namespace curator::service {

absl::Status Certificates::TakeParts(const dp::AskedEvent& event) {
  const int64_t parts = event.size();
  if (parts > kMostEventParts) {
    return InvalidField("", absl::StrCat("has ", parts, " parts; at most ", kMostEventParts,
                                         " are priced as one event: state equal ones once, with their "
                                         "count, or ask for some of them at a time"));
  }
  parts_left_ -= parts;
  if (parts_left_ >= 0) return absl::OkStatus();
  return InvalidField("", absl::StrCat("has ", parts, " parts, more than this call has left; at most ",
                                       kMostCallParts, " are priced in one call: send fewer at once"));
}

absl::StatusOr<dp::Event> Certificates::Of(const dp::AskedEvent& asked) {
  if (!asked.is_certified()) return asked.Certify(client_left_);
  const auto found = std::ranges::find_if(
      computed_, [&](const auto& known) { return known.first.as_asked() == asked.as_asked(); });
  if (found != computed_.end()) return found->second;
  if (computed_.size() == kMostCertificates) {
    return InvalidField("certified", absl::StrCat("is the schedule no. ", kMostCertificates + 1,
                                                  " of this call; at most ", kMostCertificates,
                                                  " different ones are certified at once: send the others "
                                                  "in calls of their own"));
  }
  ASSIGN_OR_RETURN(const MemoryBudget::Lease lease,
                   memory_.Take(principal_, dp::kBoundedBytes, client_left_));
  ASSIGN_OR_RETURN(dp::Event event, asked.Certify(client_left_));
  computed_.emplace_back(asked, event);
  return event;
}

}  // namespace curator::service
