#include "service/datasets/imports.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "absl/time/clock.h"
#include "absl/time/time.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "service/charges/request_scope.h"
#include "service/datasets/parts.h"
#include "service/datasets/seen_records.h"

namespace curator::service {
namespace {

ImportTarget TargetOfPart(const ledger::Dataset& record, const ledger::Part& part, uint32_t attribute) {
  return {.name = absl::StrCat("part \"", part.name, "\" of dataset \"", record.name, "\""),
          .part = part.name,
          .stored_id = StoredIdOf(record, part),
          .is_sealed = part.sealed_version > 0,
          .rows = records::PartRows{part.name, record.id, attribute, part.bins}};
}

absl::StatusOr<std::vector<ImportTarget>> AllTargets(const DatasetView& dataset) {
  std::vector<ImportTarget> targets;
  if (dataset.record.parts.empty()) {
    ASSIGN_OR_RETURN(ImportTarget whole, TargetOf(dataset, ""));
    targets.push_back(std::move(whole));
    return targets;
  }
  ASSIGN_OR_RETURN(const uint32_t attribute, PartitionAttribute(dataset));
  for (const ledger::Part& part : dataset.record.parts)
    targets.push_back(TargetOfPart(dataset.record, part, attribute));
  return targets;
}

absl::Status CheckTakesRecords(const DatasetView& dataset, const ImportTarget& target) {
  if (!target.is_sealed && dataset.record.state != ledger::DatasetState::kArchived) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat(target.name, " takes no more records: it has been sealed"));
}

// Rises with the order in which imports are listed: by time, and those of one part also by their number.
std::string PlaceOf(const ListedImport& import) {
  return absl::StrFormat("%019d:%019d:%s", std::max(import.stored.time_us, int64_t{0}),
                         import.stored.sequence, import.part);
}

struct FoundImport {
  ImportTarget target;
  bool counts = false;  // else it was undone
};

// The target that holds the import, or held it before it was undone.
absl::StatusOr<FoundImport> FindImport(const records::DatasetStore& store, const DatasetView& dataset,
                                       const std::string& import_request_id) {
  std::optional<FoundImport> undone;
  ASSIGN_OR_RETURN(std::vector<ImportTarget> targets, AllTargets(dataset));
  for (ImportTarget& target : targets) {
    ASSIGN_OR_RETURN(const records::ImportState state, store.StateOf(target.stored_id, import_request_id));
    if (state == records::ImportState::kCounts) return FoundImport{std::move(target), true};
    if (state == records::ImportState::kUndone && !undone) undone = FoundImport{std::move(target), false};
  }
  if (undone) return *std::move(undone);
  return absl::NotFoundError(
      absl::StrCat("there is no import ", import_request_id, " in dataset \"", dataset.record.name,
                   "\"; its imports are those of: curator dataset imports ", dataset.record.name));
}

}  // namespace

absl::StatusOr<ImportTarget> TargetOf(const DatasetView& dataset, std::string_view part_name) {
  const ledger::Dataset& record = dataset.record;
  if (record.parts.empty() && part_name.empty()) {
    return ImportTarget{.name = absl::StrCat("dataset \"", record.name, "\""),
                        .part = {},
                        .stored_id = record.id,
                        .is_sealed = record.state != ledger::DatasetState::kCreated,
                        .rows = std::nullopt};
  }
  ASSIGN_OR_RETURN(const ledger::Part part, PartNamed(record, part_name));
  ASSIGN_OR_RETURN(const uint32_t attribute, PartitionAttribute(dataset));
  return TargetOfPart(record, part, attribute);
}

absl::StatusOr<std::unique_ptr<records::RecordImport>> BeginImport(const Access& access,
                                                                   records::DatasetStore& store,
                                                                   const ImportOrder& order, Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kImportRecords, order.principal, order.dataset));
  ASSIGN_OR_RETURN(const ImportTarget target, TargetOf(dataset, order.part));
  RETURN_IF_ERROR(CheckTakesRecords(dataset, target));
  RETURN_IF_ERROR(CompleteUndos(access.ledger, store, dataset, target));
  records::ImportOptions options = order.options;
  options.only = target.rows;
  options.time_us = absl::ToUnixMicros(absl::Now());
  if (intent == Intent::kValidateOnly)
    return CheckFile(access.ledger, store, order.principal, dataset.schema, options);
  absl::StatusOr<std::unique_ptr<records::RecordImport>> import =
      store.BeginImport(target.stored_id, dataset.schema, order.request_id.text(), options);
  RETURN_IF_ERROR(import.status());
  return RememberingImport(access.ledger, store, order.principal, dataset.schema, *std::move(import));
}

absl::StatusOr<ImportPage> ListImports(const Access& access, records::DatasetStore& store,
                                       const Principal& principal, const DatasetName& name,
                                       std::string_view after, int64_t limit) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindDataset(access, Method::kListImports, principal, name));
  ASSIGN_OR_RETURN(const std::vector<ImportTarget> targets, AllTargets(dataset));
  std::vector<ListedImport> all;
  for (const ImportTarget& target : targets) {
    RETURN_IF_ERROR(CompleteUndos(access.ledger, store, dataset, target));
    ASSIGN_OR_RETURN(std::vector<records::StoredImport> stored, store.ListImports(target.stored_id));
    for (records::StoredImport& import : stored) all.push_back({target.part, std::move(import)});
  }
  std::ranges::sort(all, {}, PlaceOf);
  ImportPage page;
  for (ListedImport& import : all) {
    if (PlaceOf(import) <= after) continue;
    if (static_cast<int64_t>(page.imports.size()) == limit) {
      page.next = PlaceOf(page.imports.back());
      break;
    }
    page.imports.push_back(std::move(import));
  }
  return page;
}

absl::Status UndoImport(const Access& access, records::DatasetStore& store, const UndoOrder& order,
                        Intent intent) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDataset(access, Method::kUndoImport, order.principal, order.dataset));
  ASSIGN_OR_RETURN(const FoundImport found, FindImport(store, dataset, order.import_request_id));
  const bool is_archived = dataset.record.state == ledger::DatasetState::kArchived;
  if (found.counts && (found.target.is_sealed || is_archived)) {
    return absl::FailedPreconditionError(
        absl::StrCat(found.target.name, " has been sealed: its imports stay"));
  }
  if (intent == Intent::kValidateOnly) return absl::OkStatus();
  const auto record = [&](const std::string& file_hash) {
    return access.ledger.RecordImportUndone({.request_id = order.request_id.text(),
                                             .dataset_id = dataset.record.id,
                                             .part = found.target.part,
                                             .import_request_id = order.import_request_id,
                                             .file_hash = file_hash,
                                             .actor = order.principal});
  };
  return store.UndoImport(found.target.stored_id, order.import_request_id, record);
}

absl::Status CompleteUndos(ledger::Ledger& ledger, records::DatasetStore& store, const DatasetView& dataset,
                           const ImportTarget& target) {
  if (target.is_sealed) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::vector<std::string> undone,
                   ledger.UndoneImports(dataset.record.id, target.part));
  return undone.empty() ? absl::OkStatus() : store.RemoveUndone(target.stored_id, undone);
}

absl::Status CheckNoneIsUndone(ledger::Ledger& ledger, const DatasetView& dataset, const ImportTarget& target,
                               const std::vector<std::string>& import_request_ids) {
  ASSIGN_OR_RETURN(const std::vector<std::string> undone,
                   ledger.UndoneImports(dataset.record.id, target.part));
  for (const std::string& id : undone) {
    if (std::ranges::find(import_request_ids, id) == import_request_ids.end()) continue;
    return absl::AbortedError(absl::StrCat("the import ", id, " was undone meanwhile: seal again"));
  }
  return absl::OkStatus();
}

}  // namespace curator::service
