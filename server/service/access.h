// Who may see which dataset. Where one may not look, there is nothing: NOT_FOUND, never a hint.
//
// Thread-safe: pure functions over the ledger.
#pragma once

#include <string>
#include <string_view>

#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"

namespace curator::service {

// Whether a call is to be carried out, or only checked.
enum class Intent { kDo, kValidateOnly };

// A dataset as its users know it: the ledger's record and the schema decoded from it.
struct DatasetView {
  ledger::Dataset record;
  dp::Schema schema;
  dp::UnitBound unit_bound;
};

// Errors: DATA_LOSS when the stored schema cannot be read.
absl::StatusOr<DatasetView> ViewOf(ledger::Dataset record);

// Errors: INVALID_ARGUMENT (principal) when empty, longer than 128 bytes, or with other characters than
// letters, digits and any of "._@-".
absl::Status CheckPrincipal(std::string_view principal);

// Errors: INVALID_ARGUMENT (request_id) unless it is a UUID in its 36-character form with lower-case digits.
absl::Status CheckRequestId(std::string_view request_id);

// The dataset for its owner and grantees; NOT_FOUND for all others.
absl::StatusOr<DatasetView> FindVisible(ledger::Ledger& ledger, std::string_view principal,
                                        std::string_view name);

// The dataset for its owner; PERMISSION_DENIED for grantees; NOT_FOUND for all others.
absl::StatusOr<DatasetView> FindOwned(ledger::Ledger& ledger, std::string_view principal,
                                      std::string_view name);

// The dataset of a release or charge, under the same rule as FindVisible().
absl::StatusOr<DatasetView> FindVisibleById(ledger::Ledger& ledger, std::string_view principal,
                                            std::string_view dataset_id);

// "ADD_REMOVE", "REPLACE_ONE": as the ledger stores it.
std::string_view RelationName(dp::NeighbourRelation relation);

// Whom the dataset's promises protect and against what, for people: "one record, added or removed"; "one
// group with all its records (column school, at most 40 of them), replaced by another".
std::string WhomItProtects(const DatasetView& dataset);

// Whether `principal` is the owner or a grantee.
bool MaySee(const ledger::Dataset& dataset, std::string_view principal);

// FAILED_PRECONDITION unless the dataset is sealed and not archived: only then are new questions answered.
// What (principal, request_id) asked before is answered again in any state.
absl::Status CheckAnswersOrReplays(ledger::Ledger& ledger, const ledger::Dataset& dataset,
                                   std::string_view principal, std::string_view request_id);

}  // namespace curator::service
