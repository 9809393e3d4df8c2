// The keys under which a dataset's owner may repeat a change: the key finds what the first one did.
//
// Thread-safe: functions over one transaction.
#pragma once

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

struct RequestKey {
  std::string principal;
  std::string request_id;
  std::string fingerprint;  // tells a retry from another request under the same id
};

// The id of the dataset that an earlier run of the same request made or changed; empty when there was none.
// Errors: ALREADY_EXISTS when another request has the id.
absl::StatusOr<std::string> FindByRequest(Transaction& transaction, const RequestKey& key);

absl::Status RecordRequest(Transaction& transaction, const RequestKey& key, const std::string& dataset_id);

}  // namespace curator::ledger::sql
