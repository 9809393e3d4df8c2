// The one place that permits an owner's access to private records: after the access has been recorded.
//
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "dp/kernel/owner/owner_view.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/services.h"

namespace curator::service {

class OwnerActions {
 public:
  // Appends OWNER_ACTION with the text `what` to the history of a sealed private dataset that `principal`
  // owns; when the entry is durable and the anchor covers it, opens the view of all sealed records. Each call
  // is one access and has its own entry. Errors: PERMISSION_DENIED for others than the owner;
  // FAILED_PRECONDITION for a public dataset or one that is not sealed; those of Ledger::RecordOwnerAction().
  // After an error no record has been accessed.
  static absl::StatusOr<dp::OwnerView> Open(Services& services, const DatasetView& dataset,
                                            const Principal& principal, std::string_view what);
};

}  // namespace curator::service
