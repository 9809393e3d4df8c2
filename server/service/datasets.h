// The life of a dataset: declared, filled, sealed once, asked, archived.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, NOT_FOUND where one
// may not look, PERMISSION_DENIED for grantees who try what only the owner may do.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "data/dataset_store.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "service/access.h"

namespace curator::service {

// Whether a call is to be carried out, or only to be checked.
enum class Intent { kDo, kValidateOnly };

struct NewDataset {
  std::string request_id;
  std::string principal;
  std::string name;
  dp::Schema schema;
  dp::NeighbourRelation relation = dp::NeighbourRelation::kAddRemove;
  std::optional<dp::RuleSpec> limit;  // absent for a public dataset and for a successor
  bool is_public = false;
  std::string successor_of;  // a dataset's name, or empty
};

absl::StatusOr<DatasetView> CreateDataset(ledger::Ledger& ledger, const NewDataset& dataset, Intent intent);

absl::StatusOr<std::vector<DatasetView>> ListVisibleDatasets(ledger::Ledger& ledger,
                                                             std::string_view principal);

absl::Status GrantAccess(ledger::Ledger& ledger, std::string_view principal, std::string_view name,
                         std::string_view grantee, Intent intent);

absl::StatusOr<DatasetView> ArchiveDataset(ledger::Ledger& ledger, std::string_view principal,
                                           std::string_view name, Intent intent);

// Opens an import into a dataset of the caller's that is not sealed yet.
absl::StatusOr<std::unique_ptr<data::RecordImport>> BeginImport(
    ledger::Ledger& ledger, data::DatasetStore& store, std::string_view principal, std::string_view name,
    const std::string& request_id, const data::ImportOptions& options, Intent intent);

// For the owner's eyes.
struct Sealed {
  DatasetView dataset;
  int64_t records = 0;
  int64_t records_dropped = 0;
};

absl::StatusOr<Sealed> SealDataset(ledger::Ledger& ledger, data::DatasetStore& store,
                                   std::string_view principal, std::string_view name, Intent intent);

}  // namespace curator::service
