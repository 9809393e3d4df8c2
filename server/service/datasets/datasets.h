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
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"

namespace curator::service {

// A part by the labels of its bins, or by runs of them ("2019..2021") where the bins have an order.
struct NamedPart {
  std::string name;
  std::vector<std::string> labels;
};

// How a dataset is divided, publicly and for ever: by the bins of one attribute.
struct Partition {
  std::string attribute;
  std::vector<NamedPart> parts;  // each bin is a part when empty
};

struct NewDataset {
  std::string request_id;
  std::string principal;
  std::string name;
  dp::Schema schema;
  dp::NeighbourRelation relation = dp::NeighbourRelation::kAddRemove;
  std::optional<dp::RuleSpec> limit;  // absent for a public dataset and for a successor
  bool is_public = false;
  std::string successor_of;  // a dataset's name, or empty
  // The parts' accounts take the place of the dataset's: each has `limit`.
  std::optional<Partition> partition = std::nullopt;
};

absl::StatusOr<DatasetView> CreateDataset(ledger::Ledger& ledger, const NewDataset& dataset, Intent intent);

absl::StatusOr<std::vector<DatasetView>> ListVisibleDatasets(ledger::Ledger& ledger,
                                                             std::string_view principal);

absl::Status GrantAccess(ledger::Ledger& ledger, std::string_view principal, std::string_view name,
                         std::string_view grantee, Intent intent);

// Releases the memory of the dataset's tables too, once the requests that use them have ended.
absl::StatusOr<DatasetView> ArchiveDataset(ledger::Ledger& ledger, records::DatasetStore& store,
                                           std::string_view principal, std::string_view name, Intent intent);

// Opens an import into a dataset of the caller's that is not sealed yet, or into such a part of it.
struct ImportOrder {
  std::string request_id;
  std::string principal;
  std::string dataset;
  std::string part;  // of a partitioned dataset; rows that do not lie in it are rejected
  records::ImportOptions options;
};
absl::StatusOr<std::unique_ptr<records::RecordImport>> BeginImport(ledger::Ledger& ledger,
                                                                   records::DatasetStore& store,
                                                                   const ImportOrder& order, Intent intent);

// For the owner's eyes.
struct Sealed {
  DatasetView dataset;
  int64_t records = 0;
  int64_t records_dropped = 0;
};

// `part` of a partitioned dataset, whose parts are sealed one by one; else empty.
absl::StatusOr<Sealed> SealDataset(ledger::Ledger& ledger, records::DatasetStore& store,
                                   std::string_view principal, std::string_view name, std::string_view part,
                                   Intent intent);

// Facts about a schema for whoever is writing one.

// The product of all sizes as a decimal, exact however large. Thread-safe: a pure function.
std::string DomainSize(const dp::Domain& domain);

}  // namespace curator::service
