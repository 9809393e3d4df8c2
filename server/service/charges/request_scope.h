// The scope of a request: the version of its dataset, the parts that it reads, and the accounts that pay for
// it. Determined by public facts when the request is planned; a repeated request gets the same scope.
//
// Thread-safe: functions over the ledger.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"
#include "service/charges/dataset_cache.h"

namespace curator::service {

struct RequestScope {
  // The dataset's version; that of the charge, when the request was charged before.
  int64_t version = 0;
  // The parts of a partitioned dataset that are read, by number. All are charged, with records or without.
  std::vector<ledger::Part> parts;
  std::vector<ledger::Account> accounts;

  // The parts' numbers, as fingerprints list them; empty when the dataset is not partitioned.
  std::vector<int64_t> PartNumbers() const;
  // " of part north", " of 3 parts"; empty when the dataset is not partitioned. For display.
  std::string Description() const;
};

// `parts`: the names of the parts that the request is restricted to; all parts of the version when empty.
// Before anything is sealed an estimate may name any part, and means all parts when it names none.
//
// The accounts are: the dataset's own, or those of the parts; the principal's; and those of the principal's
// groups. A request that was charged before keeps the accounts that it was charged to, so it can be replayed
// even if an account opened since could not count it. `request_id` is empty for an estimate.
//
// Errors: INVALID_ARGUMENT ("parts[1]") for a part that does not exist or is named twice, and for any part of
// a dataset without parts; FAILED_PRECONDITION for a part that is not sealed, and for a public dataset.
absl::StatusOr<RequestScope> ScopeOf(ledger::Ledger& ledger, const DatasetView& dataset,
                                     const Principal& principal, std::string_view request_id,
                                     const std::vector<std::string>& parts);

// The same without a look-up: `earlier` is the charge of the request, on any dataset, if it was found.
absl::StatusOr<RequestScope> ScopeIn(const KnownDataset& dataset, const Principal& principal,
                                     const std::optional<ledger::Charge>& earlier,
                                     const std::vector<std::string>& parts);

// The charge that the same request made before, if any: on this dataset and of this kind, because another
// request may have used the same id. None for an empty `request_id`.
absl::StatusOr<std::optional<ledger::Charge>> FindEarlier(ledger::Ledger& ledger, const DatasetView& dataset,
                                                          const Principal& principal,
                                                          std::string_view request_id, std::string_view kind);

// The whole dataset with all its parts, sealed or not: for mechanisms that run outside of Curator, which
// cannot observe what they read. `accounts` are the PayingAccounts() of the principal. Errors:
// FAILED_PRECONDITION for a partitioned dataset unless its unit is one record under ADD_REMOVE.
absl::StatusOr<RequestScope> OutsideScopeOf(ledger::Ledger& ledger, const DatasetView& dataset,
                                            const Principal& principal, std::string_view request_id,
                                            std::vector<ledger::Account> accounts);

// The sealed tables that a request in this scope reads; all its parts must be sealed.
std::vector<records::SealedId> TablesOf(const DatasetView& dataset, const RequestScope& scope);

// The ids under which the records of parts are stored. The result of StoredIdsOf() queries `ledger` for the
// current parts each time it is used, and must not outlive it.
std::string StoredIdOf(const ledger::Dataset& dataset, const ledger::Part& part);
records::PartIds StoredIdsOf(ledger::Ledger& ledger, const ledger::Dataset& dataset);

}  // namespace curator::service
