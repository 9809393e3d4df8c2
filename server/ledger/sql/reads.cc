// What the ledger tells without changing anything. Reads work on a read-only ledger, too.
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {

absl::StatusOr<Charge> SqlLedger::GetCharge(std::string_view charge_id) {
  StoredCharge stored;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(stored, ReadCharge(transaction, charge_id));
    return absl::OkStatus();
  }));
  return UpToDate(std::move(stored.charge));
}

absl::StatusOr<Charge> SqlLedger::FindCharge(std::string_view principal, std::string_view request_id) {
  std::vector<StoredCharge> found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(found, ReadCharges(transaction, "c.principal = $1 AND c.request_id = $2",
                                        {std::string(principal), std::string(request_id)}));
    return absl::OkStatus();
  }));
  if (found.empty()) return absl::NotFoundError("there is no charge under this request id");
  return UpToDate(std::move(found.front().charge));
}

absl::StatusOr<std::vector<Charge>> SqlLedger::ListCharges(std::string_view principal) {
  std::vector<Charge> charges;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(std::vector<StoredCharge> found,
                     ReadCharges(transaction, "c.principal = $1 ORDER BY c.number DESC LIMIT 1000",
                                 {std::string(principal)}));
    charges.clear();
    for (StoredCharge& stored : found) charges.push_back(std::move(stored.charge));
    return absl::OkStatus();
  }));
  return charges;
}

absl::StatusOr<Release> SqlLedger::GetRelease(std::string_view release_id) {
  Release release;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(release, ReadRelease(transaction, release_id));
    return absl::OkStatus();
  }));
  return release;
}

absl::StatusOr<std::vector<Release>> SqlLedger::ListReleases(std::string_view dataset_id) {
  std::vector<Release> releases;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(ReadDataset(transaction, dataset_id).status());
    ASSIGN_OR_RETURN(releases, ReadReleasesWithoutPayloads(transaction, dataset_id));
    return absl::OkStatus();
  }));
  return releases;
}

absl::StatusOr<std::vector<Entry>> SqlLedger::ListEntries(std::string_view dataset_id, const Page& page) {
  if (page.after_seq < 0) return InvalidField("page.after_seq", "is negative");
  constexpr int64_t kMostEntries = 10'000;
  if (page.limit < 1 || page.limit > kMostEntries)
    return InvalidField("page.limit", "is not within 1 and 10,000");
  std::vector<Entry> entries;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(ReadDataset(transaction, dataset_id).status());
    ASSIGN_OR_RETURN(entries, ReadEntries(transaction, dataset_id, page.after_seq, page.limit));
    return absl::OkStatus();
  }));
  return entries;
}

}  // namespace curator::ledger::sql
