// Reads rows of the tables as values of the ledger.
//
// Errors: NOT_FOUND, DATA_LOSS for a value that this program does not write, or the store's.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/ledger.h"
#include "ledger/sql/database.h"

namespace curator::ledger::sql {

// The datasets for which `condition` (on the alias d, with parameters) holds, by name: with all grants when
// `viewer` is empty, else with that one at most.
absl::StatusOr<std::vector<Dataset>> ReadDatasets(Transaction& transaction, std::string_view condition,
                                                  const Parameters& parameters, std::string_view viewer = {});
// A dataset of which at least the row was found.
struct FoundDataset {
  Dataset dataset;   // with its id, lineage, name, owner and grants alone where its row cannot be read
  absl::Status row;  // OK, or why it cannot be read
};
// ReadDatasets() of the only one for which `condition` holds; none when there is none.
absl::StatusOr<std::optional<FoundDataset>> FindDataset(Transaction& transaction, std::string_view condition,
                                                        const Parameters& parameters,
                                                        std::string_view viewer);
struct NamedDatasets {
  std::vector<Dataset> datasets;
  std::vector<Dataset> unreadable;  // ids, lineages, names, owners and grants of those with damaged rows
};
// The datasets with these names, in this order: with all grants those that `viewer` owns, else with that
// one at most.
absl::StatusOr<NamedDatasets> ReadDatasetsByName(Transaction& transaction,
                                                 const std::vector<std::string>& names,
                                                 std::string_view viewer);
// All datasets whose rows can be read, by name.
absl::StatusOr<std::vector<Dataset>> ReadReadableDatasets(Transaction& transaction);
// NOT_FOUND when there is no such dataset.
absl::StatusOr<std::string> ReadLineageId(Transaction& transaction, std::string_view dataset_id);
absl::StatusOr<Dataset> ReadDataset(Transaction& transaction, std::string_view dataset_id);

// The parts of a partitioned dataset, by number.
absl::StatusOr<std::vector<Part>> ReadParts(Transaction& transaction, std::string_view dataset_id);

// The accounts of a lineage, in the order of their keys (AccountKey).
absl::StatusOr<std::vector<Account>> ReadAccounts(Transaction& transaction, std::string_view lineage_id);
// The accounts with these ids, in the order of their keys.
absl::StatusOr<std::vector<Account>> ReadAccountsById(Transaction& transaction,
                                                      const std::vector<int64_t>& ids);

// The accounts that every charge on a lineage, and every charge of one principal, must post to. Those of
// parts depend on what a charge is for.
struct RequiredAccounts {
  bool are_too_many = false;  // they have more than 10,000 rows, and are not listed here
  std::vector<int64_t> of_all;
  std::map<std::string, std::vector<int64_t>, std::less<>> of_principal;
};
absl::StatusOr<std::shared_ptr<const RequiredAccounts>> ReadRequiredAccounts(Transaction& transaction,
                                                                             const std::string& lineage_id);
// Of one principal, and of all.
absl::StatusOr<std::vector<int64_t>> ReadRequiredAccountsOf(Transaction& transaction,
                                                            const std::string& lineage_id,
                                                            const std::string& principal);

// A charge, with the columns that never leave the ledger.
struct StoredCharge {
  Charge charge;
  std::string attempt_token;   // empty once the charge has ended
  std::string sealed_key;      // likewise, and where there is no draw
  std::string other_postings;  // as text, where they are not those that the charge was made with; else empty
  int64_t number = 0;          // increases with every admission
  int64_t entry_seq = 0;       // of the entry that recorded it; 0 only in a damaged row
};
// The charges for which `condition` (on the alias c, with parameters) holds, in no order unless it ends with
// one.
absl::StatusOr<std::vector<StoredCharge>> ReadCharges(Transaction& transaction, std::string_view condition,
                                                      const Parameters& parameters);
absl::StatusOr<StoredCharge> ReadCharge(Transaction& transaction, std::string_view charge_id);
// Of the principal, other than reservations, newest first: those with numbers below `start` whose rows can be
// read and which `is_shown` accepts, at most `limit`.
absl::StatusOr<std::vector<Charge>> ReadOperations(Transaction& transaction, std::string_view principal,
                                                   int64_t start, int64_t limit,
                                                   const std::function<bool(const Charge&)>& is_shown);
// Select the charges under a key (principal, request id), or with an id, whose rows StoredChargeOf() reads.
Statement SelectChargesByKey();
Statement SelectChargesById();
absl::StatusOr<StoredCharge> StoredChargeOf(const Row& row);

// A charge, and what it paid for if that is stored.
struct StoredRequest {
  StoredCharge stored;
  Entry entry;                     // that recorded the charge
  std::optional<Release> release;  // without the names of those that it was shared with
  bool has_payload = false;
};
// Selects it by the key (principal, request id), and the largest payload that is read.
Statement SelectStoredRequest();
// Errors: DATA_LOSS as ReadRelease(), and for a charge without its entry.
absl::StatusOr<StoredRequest> StoredRequestOf(const Row& row);

// ReadCharge() of each of these ids; a row that cannot be read is the error of its own element only.
absl::StatusOr<std::vector<absl::StatusOr<StoredCharge>>> ReadEachCharge(
    Transaction& transaction, const std::vector<std::string>& charge_ids);

// DATA_LOSS when the stored payload does not match its hash.
absl::StatusOr<Release> ReadRelease(Transaction& transaction, std::string_view release_id);
absl::StatusOr<Release> ReadReleaseWithoutPayload(Transaction& transaction, std::string_view release_id);
struct NumberedReleases {
  std::vector<Release> releases;
  std::string last;  // the id of the last one
};
// Without payloads: the releases of the dataset with these numbers, in this order. Those are left out that
// are not of a charge with this number on this dataset. With a `grantee`, which may be empty, no other is
// read of those whom each was shared with.
absl::StatusOr<NumberedReleases> ReadReleasesWithoutPayloads(
    Transaction& transaction, std::string_view dataset_id, const std::vector<int64_t>& numbers,
    const std::optional<std::string>& grantee = std::nullopt);

// The reader under which each release is listed for those who may read all of a dataset.
inline constexpr std::string_view kAllReleases;
// Selects, for each of the measures, the numbers of the newest releases of the dataset that have it: those
// that `reader` may read, which may be kAllReleases; at most `most`.
Statement SelectReleaseNumbers(std::string_view dataset_id, std::string_view reader,
                               const std::vector<Measure>& measures, int64_t most);
// Each once, the newest first.
std::vector<int64_t> ReleaseNumbersOf(const Answers& answers);

// At most `limit` entries after `after_seq`, in order.
absl::StatusOr<std::vector<Entry>> ReadEntries(Transaction& transaction, std::string_view dataset_id,
                                               int64_t after_seq, int64_t limit);
absl::StatusOr<std::vector<Entry>> ReadEntries(Transaction& transaction, std::string_view dataset_id,
                                               const EntryRange& range);

// ---- Postings as text

// A charge's row holds its postings as [[1,"releases",1],[1,"rho",1000]], ascending by account and counter.
// This is JSON, so that the store can display them; no other JSON is read: no spaces, no escapes (counters
// are words, request_checks.h).

// Sorts by account, then by the bytes of the counter's name.
std::vector<Posting> Ascending(std::vector<Posting> postings);

std::string PostingsText(std::vector<Posting> postings);

// DATA_LOSS for a text that PostingsText() would not write.
absl::StatusOr<std::vector<Posting>> ParsePostingsText(std::string_view text);

}  // namespace curator::ledger::sql
