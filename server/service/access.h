// Who may do what. Where a principal has no access, there is nothing: NOT_FOUND, never a hint that it exists.
//
// Thread-safe: pure functions, and functions over the ledger.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "directory/directory_store.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"

namespace curator::service {

// Whether a call is carried out, or only checked.
enum class Intent { kDo, kValidateOnly };

// ---- Datasets

// A dataset as its users see it: the ledger's record and the schema decoded from it.
struct DatasetView {
  ledger::Dataset record;  // of its grantees, the viewer alone, unless a function states that it has all
  dp::Schema schema;
  dp::UnitBound unit_bound;
};

// Errors: DATA_LOSS when the stored schema cannot be read.
absl::StatusOr<DatasetView> ViewOf(ledger::Dataset record);

// "ADD_REMOVE", "REPLACE_ONE": as the ledger stores it.
std::string_view RelationName(dp::NeighbourRelation relation);

// What the dataset's guarantees protect, for display: "one record, added or removed"; "one group with all its
// records (column school, at most 40 of them), replaced by another".
std::string WhatItProtects(const DatasetView& dataset);

// Whether the principal of this name is the owner or a grantee.
bool MaySee(const ledger::Dataset& dataset, std::string_view name);

// PERMISSION_DENIED unless `principal` is the owner.
absl::Status CheckOwner(const ledger::Dataset& dataset, const Principal& principal);

// The dataset for its owner and grantees; NOT_FOUND for all others.
absl::StatusOr<DatasetView> FindVisible(ledger::Ledger& ledger, const Principal& principal,
                                        const DatasetName& name);

// The dataset for its owner; PERMISSION_DENIED for grantees; NOT_FOUND for all others.
absl::StatusOr<DatasetView> FindOwned(ledger::Ledger& ledger, const Principal& principal,
                                      const DatasetName& name);

// The dataset of a release or charge, under the same rule as FindVisible().
absl::StatusOr<DatasetView> FindVisibleById(ledger::Ledger& ledger, const Principal& principal,
                                            std::string_view dataset_id);

// FAILED_PRECONDITION unless the dataset is sealed and not archived: only then are new requests answered.
// What (principal, request_id) was charged for before is answered again in any state.
absl::Status CheckAcceptsRequest(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                 const Principal& principal, std::string_view request_id);

// ---- Accounts, charges and releases of a dataset that the principal may see

// Whether a charge by `principal` on the whole dataset posts to `account`: to the dataset's own account, and
// those of its parts, always; to an analyst's if it is theirs, to a group's if they are a member.
bool PaysFrom(const ledger::Account& account, const Principal& principal);

// The owner sees all accounts, a grantee those that their own charges post to.
bool MaySeeAccount(const ledger::Dataset& dataset, const ledger::Account& account,
                   const Principal& principal);

// PERMISSION_DENIED for the principal who proposed the limit, and for those whose own account it is.
absl::Status CheckMayApprove(const ledger::Account& account, const ledger::LimitProposal& proposal,
                             const Principal& principal);

// Of a principal that a request names, to give it something: INVALID_ARGUMENT (`field`) unless it is active
// and can prove who it is, because a name that is nobody's yet could become anybody's. Without a directory,
// as in development mode, every name will do.
absl::Status CheckCanHoldRights(const directory::DirectoryStore* directory, std::string_view field,
                                const std::string& name);

// PERMISSION_DENIED unless `principal` is an approver of the dataset, and another person than who proposed
// the limit. Without a directory, as in development mode, anybody may.
absl::Status CheckIsApprover(const directory::DirectoryStore* directory, const ledger::Dataset& dataset,
                             const ledger::LimitProposal& proposal, const Principal& principal);

// The owner reads the content of all entries of the history, a grantee that of their own charges. No
// principal reads EQUAL_CONTENT: it names a dataset that may be another's.
bool MayReadEntry(const ledger::Dataset& dataset, const ledger::Entry& entry, const Principal& principal);

// The charge for the principal who made it; NOT_FOUND ("there is no NOUN of yours ...") for all others.
absl::StatusOr<ledger::Charge> FindOwnCharge(ledger::Ledger& ledger, const Principal& principal,
                                             std::string_view charge_id, std::string_view noun);

// Whether `principal` paid for the release or owns the dataset: they see its price and may share it.
bool IsPayerOrOwner(const ledger::Release& release, const ledger::Dataset& dataset,
                    const Principal& principal);

// Also those with whom one of these two shared it.
bool MayReadRelease(const ledger::Release& release, const ledger::Dataset& dataset,
                    const Principal& principal);

}  // namespace curator::service
