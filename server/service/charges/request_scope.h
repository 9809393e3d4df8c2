// What a request stands on: the version of its dataset, the parts that it touches, and the accounts that it
// is priced for. Fixed when the request is planned, by public facts alone; the same again when it is
// repeated.
//
// Thread-safe: functions over the ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "dp/data/sealed_table_handle.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"

namespace curator::service {

struct RequestScope {
  // Of the dataset: that of the charge, where the request was charged before.
  int64_t version = 0;
  // Of a partitioned dataset, by number: those that are read, and charged whether they have records or not.
  std::vector<ledger::Part> parts;
  std::vector<ledger::Account> accounts;

  // "2", "3": what a fingerprint says of the parts; empty where the dataset is not partitioned.
  std::vector<int64_t> PartNumbers() const;
  // " of part north", " of 3 parts"; empty where the dataset is not partitioned. For people.
  std::string Words() const;
};

// `parts`: the names of those that a request restricts itself to; all that the version has, when empty. While
// nothing is sealed an estimate may name any part, and all of them are meant when it names none.
//
// The accounts are: the dataset's own, or those of the parts; the principal's; and those of the principal's
// groups. A request that was charged before keeps the accounts that it was charged to: it is replayed also
// where an account that was opened later could not count it. `request_id` is empty for a question that is
// only estimated.
//
// Errors: INVALID_ARGUMENT ("parts[1]") for a part that is not there or named twice, and for any part where
// there are none; FAILED_PRECONDITION for a part that is not sealed, and for a public dataset.
absl::StatusOr<RequestScope> ScopeOf(ledger::Ledger& ledger, const DatasetView& dataset,
                                     std::string_view principal, std::string_view request_id,
                                     const std::vector<std::string>& parts);

// The charge that the same request made before, if it did: on this dataset, and of this kind, because another
// request may have been made under the same id. None for an empty `request_id`.
absl::StatusOr<std::optional<ledger::Charge>> FindEarlier(ledger::Ledger& ledger, const DatasetView& dataset,
                                                          std::string_view principal,
                                                          std::string_view request_id, std::string_view kind);

// The whole dataset with all its parts, sealed or not: for mechanisms that run outside, whose reads nobody
// sees.
absl::StatusOr<RequestScope> OutsideScopeOf(ledger::Ledger& ledger, const DatasetView& dataset,
                                            std::string_view principal, std::string_view request_id);

// The private table that a request in this scope reads.
absl::StatusOr<dp::SealedTableHandle> LoadTable(records::DatasetStore& store, const DatasetView& dataset,
                                                const RequestScope& scope);

// Under which ids the records of the parts are stored. `ledger` must outlive what StoredIdsOf() returns,
// which asks it for the parts that there are when it is used.
std::string StoredIdOf(const ledger::Dataset& dataset, const ledger::Part& part);
records::PartIds StoredIdsOf(ledger::Ledger& ledger, const ledger::Dataset& dataset);

}  // namespace curator::service
