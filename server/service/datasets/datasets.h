// The life cycle of a dataset: created, filled, sealed once, queried, archived.
//
// Thread-safe. Errors beside those of the ledger: INVALID_ARGUMENT with the field's path, and those of
// FindDataset(), NOT_FOUND and PERMISSION_DENIED.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/accounting/rule.h"
#include "dp/domain/domain.h"
#include "ledger/ledger.h"
#include "records/dataset_store.h"
#include "service/access.h"

namespace curator::service {

// A part and the labels of its bins; runs of labels ("2019..2021") where the bins are ordered.
struct NamedPart {
  std::string name;
  std::vector<std::string> labels;
};

// The public, permanent division of a dataset by the bins of one attribute.
struct Partition {
  std::string attribute;
  std::vector<NamedPart> parts;  // one part per bin when empty
};

struct NewDataset {
  RequestId request_id;
  Principal principal;
  DatasetName name;
  dp::Schema schema;
  dp::NeighbourRelation relation = dp::NeighbourRelation::kAddRemove;
  std::optional<dp::RuleSpec> limit;  // absent for a public dataset and for a successor
  bool is_public = false;
  std::string successor_of;  // a dataset's name, or empty
  // The parts' accounts, each with `limit`, replace the dataset's own.
  std::optional<Partition> partition = std::nullopt;
  // Of the principal at files, before this request. One that took ranges, categories or bins from its file
  // needs a schema that says so.
  std::vector<ledger::OwnerLook> looks = {};
};

absl::StatusOr<DatasetView> CreateDataset(const Access& access, const NewDataset& dataset, Intent intent);

// For its owner with all grants.
absl::StatusOr<DatasetView> GetDataset(const Access& access, const Principal& principal,
                                       const DatasetName& name);

// A page of the datasets that the principal owns (with all their grants) or was granted.
struct DatasetViews {
  std::vector<DatasetView> datasets;
  // The names of those on this page that damage has made unreadable: reading one by itself is DATA_LOSS.
  std::vector<std::string> unreadable;
  bool has_more = false;
  std::string last;  // the name that the next page comes after, when there is more
};
absl::StatusOr<DatasetViews> ListVisibleDatasets(const Access& access, const Principal& principal,
                                                 const ledger::NamePage& page);

// Ends the wait of a public dataset, for good: for approvers who are other persons than its owner
// (ApprovalOf()). Errors: those of Ledger::PublishDataset().
absl::StatusOr<DatasetView> PublishDataset(const Access& access, const Principal& principal,
                                           const DatasetName& name, Intent intent);

// Releases the memory of the dataset's tables too, once the requests that use them have ended.
absl::StatusOr<DatasetView> ArchiveDataset(const Access& access, records::DatasetStore& store,
                                           const Principal& principal, const DatasetName& name,
                                           Intent intent);

// Private: exact numbers, for the owner only.
struct Sealed {
  DatasetView dataset;
  int64_t records = 0;
  int64_t records_dropped = 0;
};

struct SealOrder {
  Principal principal;
  DatasetName dataset;
  std::string part = {};  // of a partitioned dataset, whose parts are sealed one by one
  // Seals records that another dataset of the caller holds under another budget.
  bool accept_equal_content = false;
  // Seals a dataset or part without records.
  bool accept_no_records = false;
  // Seals it with domain_from_records for ever.
  bool accept_domain_from_records = false;
};

// Further errors, unless the order accepts it: NeedsAcceptance("EQUAL_CONTENT"), naming the other dataset,
// for records that the caller has sealed under another budget; NeedsAcceptance("NO_RECORDS");
// NeedsAcceptance("DOMAIN_FROM_RECORDS") for a schema other than one under which the caller has seen a report
// on the same bytes, and for bytes that the caller has looked at.
// FAILED_PRECONDITION for a public dataset with records that the caller has sealed as private.
absl::StatusOr<Sealed> SealDataset(const Access& access, records::DatasetStore& store, const SealOrder& order,
                                   Intent intent);

// The number of cells of the domain, the product of its attributes' sizes, as an exact decimal of any length.
std::string DomainSize(const dp::Domain& domain);

}  // namespace curator::service
