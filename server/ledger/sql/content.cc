#include "ledger/sql/content.h"

#include <string>
#include <vector>

#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger::sql {

void AppendNote(Change& change, std::string_view dataset_id, const char* kind, std::string_view note,
                std::string_view actor) {
  change.Append({.dataset_id = std::string(dataset_id),
                 .kind = kind,
                 .charge_id = {},
                 .payload = NoteBytes(note),
                 .actor = std::string(actor),
                 .prev_hash = {},
                 .hash = {}});
}

absl::Status NoteEqualContent(Change& change, const LockedDataset& dataset, std::string_view content_hash,
                              std::string_view actor) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> twins,
      change.transaction().Execute("SELECT d.name FROM datasets d WHERE d.lineage_id <> $2 AND d.id IN "
                                   "(SELECT dataset_id FROM dataset_versions WHERE content_hash = $1 "
                                   "UNION SELECT dataset_id FROM dataset_parts WHERE content_hash = $1) "
                                   "ORDER BY d.name",
                                   {Bytes{std::string(content_hash)}, dataset.lineage_id}));
  for (const Row& twin : twins) AppendNote(change, dataset.id, kEqualContent, twin.Text(0), actor);
  return absl::OkStatus();
}

}  // namespace curator::ledger::sql
