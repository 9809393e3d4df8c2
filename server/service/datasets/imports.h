// The imports of a dataset until it is sealed: made, listed and undone, by its owner alone.
//
// Thread-safe. Errors beside those of the ledger and the store: those of FindDataset(), NOT_FOUND and
// PERMISSION_DENIED, and INVALID_ARGUMENT ("part") as PartNamed().
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"

namespace curator::service {

// Where imports go: a dataset, or one of its parts.
struct ImportTarget {
  std::string name;  // for messages: part "north" of dataset "visits"
  std::string part;  // empty for a dataset without parts
  std::string stored_id;
  bool is_sealed = false;
  std::optional<records::PartRows> rows;  // of a part
};
absl::StatusOr<ImportTarget> TargetOf(const DatasetView& dataset, std::string_view part_name);

// Opens an import into a dataset of the caller, or into a part of it, that is not sealed yet.
struct ImportOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  std::string part;  // of a partitioned dataset; rows outside of it are rejected
  records::ImportOptions options;
};
absl::StatusOr<std::unique_ptr<records::RecordImport>> BeginImport(const Access& access,
                                                                   records::DatasetStore& store,
                                                                   const ImportOrder& order, Intent intent);

// A page of the imports that count, of all parts, from the first to the last.
struct ListedImport {
  std::string part;
  records::StoredImport stored;
};
struct ImportPage {
  std::vector<ListedImport> imports;
  std::string next;  // where the page after this one begins; empty for the last page
};
// `after` is `next` of the page before; empty for the first page.
absl::StatusOr<ImportPage> ListImports(const Access& access, records::DatasetStore& store,
                                       const Principal& principal, const DatasetName& name,
                                       std::string_view after, int64_t limit);

// Removes an import of a dataset or part that is not sealed. It happens once the history says so, also when
// the server ends in between. Repeating it changes nothing.
struct UndoOrder {
  RequestId request_id;
  Principal principal;
  DatasetName dataset;
  std::string import_request_id;
};
// Further errors: NOT_FOUND when there is no such import; FAILED_PRECONDITION when the dataset or the part is
// sealed or archived.
absl::Status UndoImport(const Access& access, records::DatasetStore& store, const UndoOrder& order,
                        Intent intent);

// Removes records of imports that the history says are undone: the server ended before it removed them.
absl::Status CompleteUndos(ledger::Ledger& ledger, records::DatasetStore& store, const DatasetView& dataset,
                           const ImportTarget& target);

// ABORTED when one of these imports is undone. For a seal, which nothing undoes an import beside.
absl::Status CheckNoneIsUndone(ledger::Ledger& ledger, const DatasetView& dataset, const ImportTarget& target,
                               const std::vector<std::string>& import_request_ids);

}  // namespace curator::service
