// The one place where an owner's look at private records is permitted: after it has been written down.
//
// Thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/kernel/owner_view.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/services.h"

namespace curator::service {

class OwnerActions {
 public:
  // Appends OWNER_ACTION with the words `what` to the history of a sealed private dataset of `principal`'s;
  // once it is durable and the anchor covers it, opens the view of all that is sealed. Each call is a look
  // and has an entry of its own. Errors: FAILED_PRECONDITION for a public dataset or one that is not sealed;
  // those of Ledger::RecordOwnerAction(), and then nothing has been looked at.
  static absl::StatusOr<dp::OwnerView> Open(Curator& curator, const DatasetView& dataset,
                                            std::string_view principal, std::string_view what);
};

}  // namespace curator::service
