// The deletion of datasets that were never charged.
//
// What is deleted has no records any more, and its name may be used again; its id and its history stay. The
// entry of the history comes first, and is durable: a server that ends before the records are removed removes
// them when it starts again.
//
// Thread-safe.
#pragma once

#include <set>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/services.h"

namespace curator::service {

struct DeletionOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
};

// Deletes a dataset of the caller, and returns its id. A repetition returns the id that the first request
// deleted, also when another dataset has the name now. Errors beside those of FindDataset(): those of
// Ledger::DeleteDataset(); UNAVAILABLE when the records could not be removed, which a repetition or the next
// start completes.
absl::StatusOr<std::string> DeleteDataset(Services& services, const DeletionOrder& order, Intent intent);

// Removes the records of deleted datasets that are not in `done`, to which those are added whose records are
// gone.
absl::Status RemoveDeleted(ledger::Ledger& ledger, records::DatasetStore& store, std::set<std::string>& done);

}  // namespace curator::service
