#include "service/datasets/deletion.h"

#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "service/access.h"
#include "service/charges/request_scope.h"

namespace curator::service {
namespace {

absl::Status RemoveRecordsOf(ledger::Ledger& ledger, records::DatasetStore& store,
                             const std::string& dataset_id) {
  ASSIGN_OR_RETURN(const ledger::Dataset deleted, ledger.GetDatasetById(dataset_id));
  RETURN_IF_ERROR(store.RemoveRecords(deleted.id));
  for (const ledger::Part& part : deleted.parts)
    RETURN_IF_ERROR(store.RemoveRecords(StoredIdOf(deleted, part)));
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<std::string> DeleteDataset(Services& services, const DeletionOrder& order, Intent intent) {
  ledger::DatasetDeletion deletion{.request_id = order.request_id.text(),
                                   .name = order.dataset.text(),
                                   .dataset_id = {},
                                   .actor = order.principal,
                                   .only_checked = intent == Intent::kValidateOnly};
  // Without an id it finds what the same request did before. The name may be another dataset's by now.
  absl::StatusOr<std::string> deleted = services.ledger.DeleteDataset(deletion);
  if (absl::IsNotFound(deleted.status())) {
    ASSIGN_OR_RETURN(const DatasetView dataset,
                     FindDataset(services.access(), Method::kDeleteDataset, order.principal, order.dataset));
    deletion.dataset_id = dataset.record.id;
    deleted = services.ledger.DeleteDataset(deletion);
  }
  RETURN_IF_ERROR(deleted.status());
  if (intent == Intent::kValidateOnly) return deleted;
  services.datasets.Clear();
  RETURN_IF_ERROR(RemoveRecordsOf(services.ledger, services.store, *deleted));
  return deleted;
}

absl::Status RemoveDeleted(ledger::Ledger& ledger, records::DatasetStore& store,
                           std::set<std::string>& done) {
  ASSIGN_OR_RETURN(const std::vector<std::string> deleted, ledger.ListDeletedDatasets());
  absl::Status first;
  for (const std::string& id : deleted) {
    if (done.contains(id)) continue;
    const absl::Status removed = RemoveRecordsOf(ledger, store, id);
    if (removed.ok()) done.insert(id);
    first.Update(removed);
  }
  return first;
}

}  // namespace curator::service
