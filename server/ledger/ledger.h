// The durable record of what was spent of which account, by whom, and of every released answer.
//
// The ledger knows accounts as additive integer counters with limits, and stores opaque bytes. It knows no
// rules, mechanisms or epsilons: the meaning of a counter, an event or a release belongs to its callers.
//
// Thread-safe. Every method may block on the store; none holds a lock of its own while it does.
//
// Errors of every method:
//   INVALID_ARGUMENT     a malformed request; base/errors.h names the field
//   NOT_FOUND            an unknown dataset, account, charge, proposal or release
//   ALREADY_EXISTS       another request has used the name or the request id
//   FAILED_PRECONDITION  the dataset, charge or proposal is not in a state that allows this
//   RESOURCE_EXHAUSTED   an account is full; base/errors.h names it; nothing was written
//   ABORTED              a stale attempt token or price, or a transaction that lost a race: ask again
//   UNAVAILABLE          the store or the anchor cannot be reached or written, or the outcome is unknown: ask
//                        again with the same request id
//   DATA_LOSS            the dataset's history contradicts its anchor, its own hashes or the tables: the
//                        dataset is read-only (IsDatasetReadOnly() of base/errors.h), and others are not
//   INTERNAL             a defect of this program or of the stored tables
// Read-only methods work on a read-only dataset, with the exceptions stated at GetCharge() and GetRelease().
// There, owner, grantees and shares are those that the verified history names, whatever the tables say.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "ledger/types.h"

namespace curator::ledger {

class Ledger {
 public:
  virtual ~Ledger() = default;

  // The ledger's permanent id, a UUID.
  virtual std::string LedgerId() = 0;

  // OK when the ledger accepts charges now, on every dataset that is not damaged. Cheap enough for a health
  // check.
  virtual absl::Status Health() = 0;
  // OK when no damage is known of the dataset and its lineage; else DATA_LOSS with the reason for which it is
  // read-only.
  virtual absl::Status DatasetHealth(std::string_view dataset_id) = 0;

  // ---- Datasets

  // ALREADY_EXISTS when the name is taken.
  virtual absl::StatusOr<Dataset> CreateDataset(const DatasetSpec& spec) = 0;
  virtual absl::StatusOr<Dataset> GetDataset(std::string_view name) = 0;
  // By name.
  virtual absl::StatusOr<std::vector<Dataset>> ListDatasets() = 0;
  // A dataset is sealed once: a second seal is FAILED_PRECONDITION unless it repeats the same content hash,
  // which changes nothing. If another lineage has equal content, an entry EQUAL_CONTENT records it.
  virtual absl::StatusOr<Dataset> SealDataset(std::string_view dataset_id, std::string_view content_hash,
                                              const Principal& actor) = 0;
  // Adds a part with a new account to a partitioned dataset, before or after other parts are sealed.
  // ALREADY_EXISTS when the name is taken; INVALID_ARGUMENT when a bin belongs to another part;
  // FAILED_PRECONDITION for a dataset that is not partitioned, or archived.
  virtual absl::StatusOr<Dataset> AddPart(const NewPart& part) = 0;
  // Seals a part once and thereby creates the dataset's next version. Otherwise like SealDataset(), which is
  // not for partitioned datasets.
  virtual absl::StatusOr<Dataset> SealPart(std::string_view dataset_id, std::string_view part,
                                           std::string_view content_hash, const Principal& actor) = 0;
  // Repeating it changes nothing.
  virtual absl::Status ArchiveDataset(std::string_view dataset_id, const Principal& actor) = 0;
  // Repeating it changes nothing.
  virtual absl::Status Grant(std::string_view dataset_id, std::string_view grantee,
                             const Principal& actor) = 0;
  // Records that the owner is about to access the records; `what` describes the access. Each call appends one
  // entry, which is durable and anchored on return.
  virtual absl::Status RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                         const Principal& actor) = 0;

  // ---- Accounts

  // Opens an account for an analyst or for a group of analysts, with nothing spent: earlier charges are not
  // counted. Its entry lies in the history of the lineage's first dataset. From then on a charge by this
  // analyst, or by a member, on any dataset of the lineage must post to it: Begin() and Reserve() refuse one
  // that does not with ABORTED, because it was priced before the account was opened.
  // ALREADY_EXISTS when the analyst, or the group's name, has an account; FAILED_PRECONDITION for a public
  // dataset.
  virtual absl::StatusOr<Account> CreateAccount(const NewAccount& account) = 0;
  // The accounts of the dataset's lineage, in id order.
  virtual absl::StatusOr<std::vector<Account>> ListAccounts(std::string_view dataset_id) = 0;

  // ---- Charges

  // Charges and starts in one transaction (T1), or finds what the same (principal, request id) did before:
  //   unknown              charged, STARTED, a new token; every posting is admitted or none is
  //   same fingerprint     COMMITTED: its release. STARTED: a new token (the older one is now stale) and the
  //                        sealed key of the first attempt. FORFEITED: FAILED_PRECONDITION, its cost stands.
  //   another fingerprint  ALREADY_EXISTS
  // A charge on a partitioned dataset names a version of it and posts to the account of at least one part.
  // On return the charge is durable and the anchor covers its entry. On a read-only dataset only a stored
  // release is found.
  virtual absl::StatusOr<Attempt> Begin(const ChargeRequest& request) = 0;

  // Stores the release and commits the charge (T2), erases the sealed key, and returns the release as read
  // back from the store. ABORTED when the token is stale: another attempt has taken over.
  virtual absl::StatusOr<Release> Store(const Attempt& attempt, std::string_view payload) = 0;

  // Ends a started charge without a release: the cost stands, the key is erased. `reason` is public. ABORTED
  // when the token is stale.
  virtual absl::Status Forfeit(const Attempt& attempt, std::string_view reason) = 0;

  // ---- Reservations: the ledger as accountant for mechanisms that run outside

  // The ledger cannot see whether such a mechanism has published, so a reservation that is not started in
  // time is spent, not freed: it becomes COMMITTED with the reason "EXPIRED".

  // Holds the cost of every request for `lifetime_us` (1 microsecond to 366 days), or finds what the same
  // (principal, request id) reserved before, in its present state. 1 to 1,000 requests of at most 64 MiB
  // together, no key twice; admitted in one transaction, all or none. The charges are in the order of the
  // requests.
  virtual absl::StatusOr<std::vector<Charge>> Reserve(const std::vector<ChargeRequest>& requests,
                                                      int64_t lifetime_us) = 0;
  // RESERVED -> STARTED, before the caller reads anything. `final_cost` names counters that the reservation
  // holds, each with at most its held cost; the rest is freed. Repeating it with the same cost changes
  // nothing.
  virtual absl::StatusOr<Charge> StartReserved(std::string_view charge_id,
                                               const std::vector<Posting>& final_cost,
                                               const Principal& actor) = 0;
  // RESERVED or STARTED -> COMMITTED. Repeating it changes nothing.
  virtual absl::StatusOr<Charge> CommitReserved(std::string_view charge_id, const Principal& actor) = 0;
  // RESERVED -> CANCELLED; the held cost is freed. FAILED_PRECONDITION for a started charge, which stands.
  virtual absl::StatusOr<Charge> CancelReserved(std::string_view charge_id, std::string_view reason,
                                                const Principal& actor) = 0;
  // Extends a RESERVED charge: it expires no sooner than `lifetime_us` from now.
  virtual absl::StatusOr<Charge> ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                                const Principal& actor) = 0;
  // Spends the reservations that are past their deadline, at most 1,000 per call, and returns how many.
  // Every other method does this first for the reservation that it concerns, so this only keeps tables tidy.
  virtual absl::StatusOr<int64_t> ExpireReservations() = 0;

  // ---- Limits

  // A limit changes only when a second principal approves. The entries lie in the history of the dataset that
  // opened the account.
  virtual absl::StatusOr<LimitProposal> ProposeLimit(const LimitProposalSpec& spec) = 0;
  // FAILED_PRECONDITION when `actor` made the proposal, when the limit has changed since, or when the new
  // limit is below what is spent and held; the message reveals no balance. Repeating it changes nothing.
  virtual absl::StatusOr<LimitProposal> ApproveLimit(std::string_view proposal_id,
                                                     const Principal& actor) = 0;
  // Lists the proposals for accounts that this dataset opened, newest first.
  virtual absl::StatusOr<std::vector<LimitProposal>> ListLimitProposals(std::string_view dataset_id) = 0;

  // ---- Reading

  // The state of a charge, authoritative after any error. STARTED is reported only after the anchor covers
  // the entry, because the caller may then read records: until then UNAVAILABLE (ask again), or DATA_LOSS on
  // a read-only dataset. DATA_LOSS, too, when the charge's row contradicts the verified history.
  virtual absl::StatusOr<Charge> GetCharge(std::string_view charge_id) = 0;
  // GetCharge() by its key.
  virtual absl::StatusOr<Charge> FindCharge(const Principal& principal, std::string_view request_id) = 0;
  // The principal's charges, newest first, at most 1,000.
  virtual absl::StatusOr<std::vector<Charge>> ListCharges(const Principal& principal) = 0;

  // The newest charge of `principal` on the dataset that was not cancelled. NOT_FOUND when there is none.
  virtual absl::StatusOr<Charge> LatestCharge(std::string_view dataset_id, const Principal& principal) = 0;
  // How many charges on the dataset's lineage have each event, cancelled charges excluded: those of
  // `principal`, or of all when it is empty. At most `most` events, unordered; when there are more, which are
  // left out is unspecified.
  virtual absl::StatusOr<std::vector<EventCount>> CountEvents(std::string_view dataset_id,
                                                              std::string_view principal, int64_t most) = 0;
  // The entry that recorded the charge: CHARGED or RESERVED. DATA_LOSS when there is none.
  virtual absl::StatusOr<Entry> ChargeEntry(std::string_view charge_id) = 0;

  // DATA_LOSS when the stored payload does not match its hash, or when the release contradicts the verified
  // history.
  virtual absl::StatusOr<Release> GetRelease(std::string_view release_id) = 0;
  // Lets `grantee` read the release. Repeating it changes nothing.
  virtual absl::Status ShareRelease(std::string_view release_id, std::string_view grantee,
                                    const Principal& actor) = 0;
  // Without payloads, newest first.
  virtual absl::StatusOr<std::vector<Release>> ListReleases(std::string_view dataset_id) = 0;

  // ---- History

  // Entries with seq > page.after_seq, ascending, at most page.limit.
  virtual absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view dataset_id, const Page& page) = 0;

  // Recomputes the hash chain and every balance from the entries alone, and compares with the tables and with
  // the anchor.
  virtual absl::StatusOr<Verification> Verify(std::string_view dataset_id) = 0;
  // What the last pass over the dataset's lineage found if it is at most `most_age_us` old; else Verify().
  // Passes run one at a time, also those that the ledger makes by itself: at start, and daily. A caller that
  // waited for one takes its result. Its head_hash is always that of the newest entry.
  virtual absl::StatusOr<Verification> LastVerification(std::string_view dataset_id, int64_t most_age_us) = 0;

  // Repairs a lineage whose newest entries are lost, as after a restored backup, without creating budget:
  // spent counters are raised to the larger of the anchor's values and the present values, plus the costs of
  // the lost charges of `receipts` that the anchor does not cover; reservations that are still held count as
  // spent (sql/repair.cc has the proof). Each chain that is behind its anchor continues with an entry
  // REPAIRED whose number skips the lost ones. The lineage accepts charges again once it does not contradict
  // the anchor. Where nothing is behind, nothing is written.
  // DATA_LOSS when the history contradicts itself, which raising counters cannot repair.
  virtual absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) = 0;
};

}  // namespace curator::ledger
