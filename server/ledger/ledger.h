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
#include "ledger/observer.h"
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
  // Whether a pass over all entries of all histories has ended since the ledger was opened. In a long history
  // it ends after the ledger has begun to accept charges.
  virtual bool AreHistoriesVerified() = 0;
  // OK when no damage is known of the dataset and its lineage; else DATA_LOSS with the reason for which it is
  // read-only.
  virtual absl::Status DatasetHealth(std::string_view dataset_id) = 0;
  // For measurements: these read nothing. The changes that wait for a transaction or are in one; and what is
  // known of a dataset, also of one that does not exist.
  virtual int64_t ChangesInProgress() = 0;
  virtual HistoryState StateOfHistory(std::string_view dataset_id) = 0;
  // This one reads a number of rows that the query bounds.
  virtual absl::StatusOr<Balances> ReadBalances(const BalanceQuery& query) = 0;

  // ---- Datasets

  // A deleted dataset (DatasetState::kDeleted) is found by its id, with the name that it had, and by
  // FindContent() and ListDeletedDatasets(). For everything else that names or lists datasets there is no
  // such dataset.

  // ALREADY_EXISTS when the name is taken. FAILED_PRECONDITION when the request created a dataset that was
  // deleted since.
  virtual absl::StatusOr<Dataset> CreateDataset(const DatasetSpec& spec) = 0;
  // With all its grants; with that of `viewer` alone, if it has one, when that is not empty. Where the
  // dataset's row cannot be read, DATA_LOSS says so to its owner and its grantees; to another viewer there is
  // no such dataset.
  virtual absl::StatusOr<Dataset> GetDataset(std::string_view name, std::string_view viewer = {}) = 0;
  virtual absl::StatusOr<Dataset> GetDatasetById(std::string_view dataset_id,
                                                 std::string_view viewer = {}) = 0;
  // All datasets, by name. Reads them all: for start-up and maintenance, never for a request.
  virtual absl::StatusOr<std::vector<Dataset>> ListDatasets() = 0;
  // The ids of deleted datasets. Reads them all: for start-up.
  virtual absl::StatusOr<std::vector<std::string>> ListDeletedDatasets() = 0;
  // The datasets that `owner` owns, deleted ones too, whose content, as a whole or in one part, has one of
  // these hashes, by name. No others are read: that two principals hold the same records concerns neither.
  virtual absl::StatusOr<std::vector<Dataset>> FindContent(
      const Principal& owner, const std::vector<std::string>& content_hashes) = 0;
  // The names of these datasets, in this order; "NAME (deleted)" of a deleted one.
  virtual absl::StatusOr<std::vector<std::string>> DatasetNames(const std::vector<std::string>& ids) = 0;
  // The datasets that `principal` owns (with all grants) or has been granted (with this one), also when that
  // has expired, and those that `also` names.
  virtual absl::StatusOr<DatasetList> ListVisibleDatasets(const Principal& principal,
                                                          const NamePage& page = {},
                                                          const AlsoListed& also = {}) = 0;
  // A dataset is sealed once: a second seal is FAILED_PRECONDITION unless it repeats the same content hash,
  // which changes nothing. What other datasets contain plays no part: see FindContent(). From the entry of
  // the seal on the dataset has `facts` beside those that it had.
  virtual absl::StatusOr<Dataset> SealDataset(std::string_view dataset_id, std::string_view content_hash,
                                              const Principal& actor, const DatasetFacts& facts = {}) = 0;
  // Adds a part with a new account to a partitioned dataset, before or after other parts are sealed.
  // ALREADY_EXISTS when the name is taken; INVALID_ARGUMENT when a bin belongs to another part;
  // FAILED_PRECONDITION for a dataset that is not partitioned, or archived.
  virtual absl::StatusOr<Dataset> AddPart(const NewPart& part) = 0;
  // Seals a part once and thereby creates the dataset's next version. Otherwise like SealDataset(), which is
  // not for partitioned datasets.
  virtual absl::StatusOr<Dataset> SealPart(std::string_view dataset_id, std::string_view part,
                                           std::string_view content_hash, const Principal& actor,
                                           const DatasetFacts& facts = {}) = 0;
  // Ends the wait of a public dataset, for good, once it is sealed. Repeating it changes nothing.
  // FAILED_PRECONDITION for one that is private, not sealed, or archived, and for its owner unless `approval`
  // is kSingleCustody.
  virtual absl::Status PublishDataset(std::string_view dataset_id, const Principal& actor,
                                      Approval approval) = 0;
  // Repeating it changes nothing.
  virtual absl::Status ArchiveDataset(std::string_view dataset_id, const Principal& actor) = 0;
  // Deletes a dataset and returns its id; what the caller has to do then is to remove its records. The name
  // is free at once, and its open proposals can no longer be approved. A repetition of the request returns
  // the id that the first one deleted, whatever has the name now. FAILED_PRECONDITION for a dataset with a
  // charge in any state, with an owner's access to its records (RecordOwnerAction()), a successor or a
  // predecessor, or a repair of its history, which may stand for lost charges; NOT_FOUND when there is no
  // such dataset, or it has another name.
  virtual absl::StatusOr<std::string> DeleteDataset(const DatasetDeletion& deletion) = 0;
  // Gives the grantee these roles until then, in place of what it had. Repeating it changes nothing.
  virtual absl::Status SetGrant(std::string_view dataset_id, const Grant& grant, const Principal& actor) = 0;
  // Whether the principal of this name has one of these roles by a grant on any dataset of the lineage, also
  // by one that has expired.
  virtual absl::StatusOr<bool> HasGrantInLineage(std::string_view dataset_id, std::string_view name,
                                                 int64_t roles) = 0;
  // Changes the rules by which the owner refuses requests. From the entry on, each new charge is one that
  // these rules let pass: see ChargeRequest::refusal_rules_hash. What was charged or is held stays. Rules
  // that the change leaves as they are get no entry. A repetition of the request changes nothing.
  // FAILED_PRECONDITION for a public dataset. A successor begins with a copy of its predecessor's rules.
  virtual absl::StatusOr<Dataset> SetRefusalRules(const RefusalRulesChange& change) = 0;
  // Records that the owner is about to access the records; `what` describes the access. Each call appends one
  // entry, which is durable and anchored on return.
  virtual absl::Status RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                         const Principal& actor) = 0;

  // ---- Imports, of which the ledger knows what has been undone and what an owner has seen

  // Appends the entry of an import that is undone, which is durable and anchored on return: only then may its
  // records be removed. A repetition of the request changes nothing, and neither does another request for the
  // same import. FAILED_PRECONDITION when the dataset or the part is sealed, or the dataset is archived;
  // NOT_FOUND for an unknown part.
  virtual absl::Status RecordImportUndone(const UndoneImport& undone) = 0;
  // The request ids of the undone imports of the dataset, or of this part of it, from the first to the last.
  virtual absl::StatusOr<std::vector<std::string>> UndoneImports(std::string_view dataset_id,
                                                                 std::string_view part = {}) = 0;
  // Remembers for ever what the owner has seen; to be called before it sees it. Of an owner that has seen
  // more than there is place for (kMostSeenFiles) less is remembered: HasSeen() is then true more often.
  virtual absl::Status RememberSeen(const Principal& owner, const std::vector<SeenFile>& seen) = 0;
  // Whether the owner has seen one of these files itself, or a report on it under a schema with another
  // values_hash. The files of other owners are not read.
  virtual absl::StatusOr<bool> HasSeen(const Principal& owner, const std::vector<std::string>& file_hashes,
                                       std::string_view values_hash) = 0;

  // ---- Accounts

  // Opens an account for an analyst or for a group of analysts, with nothing spent: earlier charges are not
  // counted. Its entry lies in the history of the lineage's first dataset. From then on a charge by this
  // analyst, or by a member, on any dataset of the lineage must post to it: Begin() and Reserve() refuse one
  // that does not with ABORTED, because it was priced before the account was opened.
  // ALREADY_EXISTS when the analyst, or the group's name, has an account; FAILED_PRECONDITION for a public
  // dataset.
  virtual absl::StatusOr<Account> CreateAccount(const NewAccount& account) = 0;
  // The accounts with these ids, in the order of their keys. NOT_FOUND when there is none with one of them.
  virtual absl::StatusOr<std::vector<Account>> GetAccounts(const std::vector<int64_t>& ids) = 0;
  // The account of the dataset's lineage with this scope.
  virtual absl::StatusOr<Account> FindAccount(std::string_view dataset_id, ScopeType scope,
                                              std::string_view scope_key) = 0;
  // The accounts of the dataset's lineage, in the order of their keys.
  virtual absl::StatusOr<std::vector<Account>> ListAccounts(std::string_view dataset_id,
                                                            const AccountPage& page = {}) = 0;
  // Of these, the accounts that a charge by `principal` may post to, in the same order: those of datasets and
  // parts, the principal's own, and those of groups with this member.
  virtual absl::StatusOr<std::vector<Account>> ListPayingAccounts(std::string_view dataset_id,
                                                                  std::string_view principal) = 0;

  // How a counter came to what it has, ascending: what it had when the stretch of the query began, if it
  // existed then, and each point in it. Where the latter are more than query.most, the stretch is cut into as
  // many parts of about equal length, and of each the last point is returned. With query.step_seconds above 1
  // the points are those of whole steps; one that has the same amounts as the one before is left out. Reads a
  // number of rows that grows with `most` alone. A ledger that an earlier version made has no points of the
  // time before schema 22. INVALID_ARGUMENT unless 1 <= most <= kMostPoints, 1 <= step_seconds, and the
  // stretch does not end before it begins; no point where there is no such counter.
  virtual absl::StatusOr<std::vector<CounterPoint>> CounterPoints(const PointsQuery& query) = 0;

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

  // Takes over a started draw: a new token, and the sealed key of the first attempt. Or finds its release.
  // Never charges. FAILED_PRECONDITION when the charge is in another state, or pays for a mechanism outside.
  virtual absl::StatusOr<Attempt> TakeOver(std::string_view charge_id) = 0;

  // Stores the release and commits the charge (T2), and erases the sealed key. Returns what is stored: the
  // release of the attempt that stored first. Its payer, and all who may read all releases, find it by
  // `measures` (FindReleases()). ABORTED when the token is stale: another attempt has taken over.
  virtual absl::StatusOr<Release> Store(const Attempt& attempt, std::string_view payload,
                                        const std::vector<Measure>& measures = {}) = 0;

  // Ends a started charge without a release: the cost stands, the key is erased. `reason` is public. ABORTED
  // when the token is stale, or an attempt has stored its release.
  virtual absl::Status Forfeit(const Attempt& attempt, std::string_view reason) = 0;

  // ---- Queued draws: charges that wait until this server begins to draw

  // Nothing is read for such a charge before it is STARTED, so it costs nothing until then: when it is
  // cancelled (CancelReserved()), or not started in time, its held cost is freed and it becomes CANCELLED.

  // Holds the cost of `request`, which has a draw identity and no key yet, for `lifetime_us` (1 microsecond
  // to 366 days), or finds what the same (principal, request id) did before, in its present state; errors for
  // a charge that has ended without a release, or that belongs to another request, are those of Begin().
  virtual absl::StatusOr<Charge> Queue(const ChargeRequest& request, int64_t lifetime_us) = 0;
  // RESERVED -> STARTED: what was held is spent, and the key is stored. On return the charge is durable and
  // the anchor covers its entry. `token` is the attempt's, made by the caller: after an error that leaves the
  // outcome open, a call with the same token finds what the first one started, with the first one's key.
  // FAILED_PRECONDITION, and nothing is changed, when the dataset is no longer sealed in the version that was
  // priced, when its principal is neither its owner nor an analyst, and when the charge has ended; ABORTED
  // when another attempt has started it, and when an account was opened since that applies to the principal.
  virtual absl::StatusOr<Attempt> StartQueued(std::string_view charge_id, std::string_view sealed_key,
                                              std::string_view token) = 0;

  // ---- Reservations: the ledger as accountant for mechanisms that run outside

  // The ledger cannot see whether such a mechanism has published, so a reservation that is not started in
  // time is spent, not freed: it becomes COMMITTED with the reason "EXPIRED".

  // Holds the cost of every request for `lifetime_us` (1 microsecond to 366 days), or finds what the same
  // (principal, request id) reserved before, in its present state. 1 to 1,000 requests of at most 64 MiB
  // together, no key twice; admitted in one transaction, all or none. The charges are in the order of the
  // requests. `effect` is filled unless it is null.
  virtual absl::StatusOr<std::vector<Charge>> Reserve(const std::vector<ChargeRequest>& requests,
                                                      int64_t lifetime_us,
                                                      ReserveEffect* effect = nullptr) = 0;
  // RESERVED -> STARTED, before the caller reads anything. `final_cost` names counters that the reservation
  // holds, each with at most its held cost; the rest is freed. Repeating it with the same cost changes
  // nothing. FAILED_PRECONDITION when the dataset has a part that the reservation does not pay for, because
  // what an outside mechanism reads cannot be observed.
  virtual absl::StatusOr<Charge> StartReserved(std::string_view charge_id,
                                               const std::vector<Posting>& final_cost,
                                               const Principal& actor) = 0;
  // STARTED -> COMMITTED. Repeating it changes nothing. FAILED_PRECONDITION for a reservation that was not
  // started: data must not have been read yet.
  virtual absl::StatusOr<Charge> CommitReserved(std::string_view charge_id, const Principal& actor) = 0;
  // RESERVED -> CANCELLED; the held cost is freed. FAILED_PRECONDITION for a started charge, which stands.
  // The only one of these methods that also takes a queued draw.
  virtual absl::StatusOr<Charge> CancelReserved(std::string_view charge_id, std::string_view reason,
                                                const Principal& actor) = 0;
  // Extends a RESERVED charge: it expires no sooner than `lifetime_us` from now.
  virtual absl::StatusOr<Charge> ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                                const Principal& actor) = 0;
  // Ends the reservations that are past their deadline, at most 1,000 per call, and returns how many. One
  // that cannot be ended is reported and left to a later call; UNAVAILABLE when the store held it up, after
  // the others were ended. Every other method does this first for the reservation that it concerns; a server
  // calls this from time to time for those that no call concerns.
  virtual absl::StatusOr<int64_t> ExpireReservations() = 0;
  // Deletes payloads that were written for a Store() that never ended, at most 1,000 per call, and returns
  // how many. A server calls this from time to time.
  virtual absl::StatusOr<int64_t> SweepStaged() = 0;

  // ---- Limits

  // A limit changes only when a second principal approves, or under single custody. The entries lie in the
  // history of the dataset that opened the account.

  // FAILED_PRECONDITION when there are too many that are neither approved nor ended (kMostOpenProposals), and
  // when the request that it takes up is not an open one.
  virtual absl::StatusOr<LimitProposal> ProposeLimit(const LimitProposalSpec& spec) = 0;
  // FAILED_PRECONDITION when `actor` made the proposal, unless `approval` is kSingleCustody; when the limit
  // has changed since, or when the new limit is below what is spent and held; the message reveals no balance.
  // Repeating it changes nothing.
  virtual absl::StatusOr<LimitProposal> ApproveLimit(std::string_view proposal_id, const Principal& actor,
                                                     Approval approval = Approval::kByAnother) = 0;
  // Ends a proposal or a request as kRejected or kWithdrawn. FAILED_PRECONDITION when it was approved, or has
  // ended otherwise. Repeating it changes nothing.
  virtual absl::StatusOr<LimitProposal> EndLimitProposal(std::string_view proposal_id, ProposalEnd end,
                                                         std::string_view reason, const Principal& actor) = 0;
  virtual absl::StatusOr<LimitProposal> GetLimitProposal(std::string_view proposal_id) = 0;
  virtual absl::StatusOr<LimitProposal> FindLimitProposal(const Principal& proposed_by,
                                                          std::string_view request_id) = 0;
  // Lists the proposals and requests for accounts that this dataset opened, newest first: for `accounts`, or
  // for all when it is empty.
  virtual absl::StatusOr<std::vector<LimitProposal>> ListLimitProposals(
      std::string_view dataset_id, const std::vector<int64_t>& accounts = {},
      const ProposalPage& page = {}) = 0;
  // Of these, for all accounts, those that are neither approved nor ended and whose limit has not changed
  // since, oldest first. At most 2 * kMostOpenProposals.
  virtual absl::StatusOr<std::vector<LimitProposal>> ListOpenProposals(std::string_view dataset_id) = 0;

  // ---- Reading

  // The state of a charge, authoritative after any error. STARTED is reported only after the anchor covers
  // the entry, because the caller may then read records: until then UNAVAILABLE (ask again), or DATA_LOSS on
  // a read-only dataset. DATA_LOSS, too, when the charge's row contradicts the verified history.
  virtual absl::StatusOr<Charge> GetCharge(std::string_view charge_id) = 0;
  // GetCharge() by its key.
  virtual absl::StatusOr<Charge> FindCharge(const Principal& principal, std::string_view request_id) = 0;
  // FindCharge(), and what answering a repeated request needs, in one read. No error when there is no charge.
  virtual absl::StatusOr<EarlierRequest> FindEarlier(const EarlierQuery& query) = 0;
  // The principal's charges other than reservations (kind "reservation"), newest first. Those that contradict
  // the verified history are left out here and in LatestCharge().
  virtual absl::StatusOr<std::vector<Charge>> ListOperations(const Principal& principal,
                                                             const NewestPage& page = {}) = 0;

  // The newest of the last 100 charges of `principal` on the dataset that was not cancelled. NOT_FOUND when
  // there is none.
  virtual absl::StatusOr<Charge> LatestCharge(std::string_view dataset_id, const Principal& principal) = 0;
  // How many charges on the dataset's lineage have each event, cancelled charges excluded: those of
  // `principal`, or of all when it is empty. At most `most` events, unordered; when there are more, which are
  // left out is unspecified. UNAVAILABLE while AdvanceCounts() is far behind.
  virtual absl::StatusOr<std::vector<EventCount>> CountEvents(std::string_view dataset_id,
                                                              std::string_view principal, int64_t most) = 0;
  // Brings the stored counts of one dataset forward, if CountEvents() found some behind, by at most 1,000
  // entries. Whether more are behind. A server calls this in the background.
  virtual absl::StatusOr<bool> AdvanceCounts() = 0;
  // The entry that recorded the charge: CHARGED or RESERVED. DATA_LOSS when there is none.
  virtual absl::StatusOr<Entry> ChargeEntry(std::string_view charge_id) = 0;

  // DATA_LOSS when the stored payload does not match its hash, or when the release contradicts the verified
  // history.
  virtual absl::StatusOr<Release> GetRelease(std::string_view release_id) = 0;
  // GetRelease() without reading the payload, so that it is known before who may read the release and how
  // large it is. DATA_LOSS only when the release contradicts the verified history: the payload's hash is not
  // checked.
  virtual absl::StatusOr<Release> GetReleaseWithoutPayload(std::string_view release_id) = 0;
  // Lets `grantee` read the release, and find it by `measures`, which must be those stored with it. Repeating
  // it changes nothing. FAILED_PRECONDITION for more than kMostShares of one release.
  virtual absl::Status ShareRelease(std::string_view release_id, std::string_view grantee,
                                    const std::vector<Measure>& measures, const Principal& actor) = 0;
  // Releases of the dataset, without payloads, newest first: those that `reader` paid for or was given; all
  // when it is empty. Those that contradict the verified history are left out, so that a page may have fewer
  // than its limit, and none, before others that follow.
  virtual absl::StatusOr<ReleaseList> ListReleases(std::string_view dataset_id, std::string_view reader = {},
                                                   const NewestPage& page = {}) = 0;
  // Of these, the newest with any of the measures: at most `most` for each. Of those whom a release was
  // shared with, `reader` at most is named.
  virtual absl::StatusOr<std::vector<Release>> FindReleases(std::string_view dataset_id,
                                                            std::string_view reader,
                                                            const std::vector<Measure>& measures,
                                                            int64_t most) = 0;

  // ---- History

  virtual absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view dataset_id,
                                                         const EntryRange& range) = 0;
  // Of those of these datasets that there are, in any order.
  virtual absl::StatusOr<std::vector<HistoryHead>> HistoryHeads(
      const std::vector<std::string>& dataset_ids) = 0;

  // ---- The server's own history: principals, credentials and roles (server/directory)

  // The place of its newest entry, which the anchor covers on return; seq 0 before the first one. DATA_LOSS
  // when it is behind the anchor or contradicts it, and no repair accounts for that.
  virtual absl::StatusOr<EntryPlace> ServerHead() = 0;
  // Appends the entry that follows `entry.after_seq`, and returns it once the anchor covers it. ABORTED, and
  // nothing is appended, when another change follows that one already. DATA_LOSS as of ServerHead().
  virtual absl::StatusOr<Entry> AppendServerEntry(const NewServerEntry& entry) = 0;
  // Its entries, and Verify() of it.
  virtual absl::StatusOr<std::vector<Entry>> ListServerEntries(const Page& page) = 0;
  virtual absl::StatusOr<Verification> VerifyServerHistory() = 0;

  // Continues a server's history whose newest entries are lost, as after a restored backup, with an entry
  // REPAIRED (history/entry_payload.h) whose number skips the lost ones; what that means for principals says
  // directory/directory.h. Returns the entry; none, and nothing is written, when nothing is lost. DATA_LOSS
  // when the history contradicts itself, which this cannot repair.
  virtual absl::StatusOr<std::optional<Entry>> RepairServerHistory(std::string_view actor,
                                                                   std::string_view reason) = 0;

  // Whether the ledger has a dataset that is owned by this name, a grant to it, or a charge of it.
  virtual absl::StatusOr<bool> KnowsPrincipal(std::string_view name) = 0;
  // Whether this name owns a dataset that is not archived.
  virtual absl::StatusOr<bool> OwnsOpenDataset(std::string_view name) = 0;

  // ---- Names. All other methods take and return names of principals. What they write to tables and entries
  // are pseudonyms in the place of names (pseudonyms/pseudonym.h), which these methods translate. What begins
  // with "@" is nobody's name, and stays.

  // The pseudonym of this name, which is made when there is none.
  virtual absl::StatusOr<std::string> PseudonymOf(std::string_view name) = 0;
  // The same without making one: the name itself when there is none.
  virtual absl::StatusOr<std::string> FindPseudonym(std::string_view name) = 0;
  // The names of these, in this order. The pseudonym of a forgotten principal, and what is no pseudonym, stay
  // as they are.
  virtual absl::StatusOr<std::vector<std::string>> NamesOf(const std::vector<std::string>& stored) = 0;
  // Destroys the key and the name of a pseudonym: from now on nobody can tell whose it is, and the name is
  // another principal's. Repeating it changes nothing. FAILED_PRECONDITION for what is no pseudonym.
  virtual absl::Status ForgetName(std::string_view pseudonym) = 0;

  // ---- Daily quotas, which all servers on the ledger count together. No entry of a history is made

  // Adds the amount to what the principal has used of the quota on that day, unless that would then exceed
  // `most` >= 0: whether it was added. Where the store's outcome is unknown it may be added twice.
  virtual absl::StatusOr<bool> UseQuota(const DailyUse& use, int64_t most) = 0;
  // Takes the amount away again; what was used is never less than nothing.
  virtual absl::Status ReturnQuota(const DailyUse& use) = 0;
  virtual absl::StatusOr<int64_t> QuotaUsed(std::string_view principal, std::string_view quota,
                                            int64_t day) = 0;
  // Forgets what was used before that day, at most 1,000 sums per call, and returns how many. A server calls
  // this from time to time.
  virtual absl::StatusOr<int64_t> SweepQuotaUse(int64_t before_day) = 0;

  // ---- Verification and repair

  // Recomputes the hash chain and every balance from the entries alone, and compares with the tables and with
  // the anchor.
  virtual absl::StatusOr<Verification> Verify(std::string_view dataset_id) = 0;
  // What the last pass over the dataset's lineage found if it is at most `most_age_us` old; else Verify().
  // Without an age the last result whatever its age: a pass is made only when there is none, as for a dataset
  // that was made since the start, and only over a short history. Passes run one at a time, also those that
  // the ledger makes by itself: at start, and daily. A caller that waited for one takes its result. Its
  // head_hash is always that of the newest entry.
  // UNAVAILABLE when the caller's turn did not come in the time that a caller waits, or when there is no
  // result and the history is long. Turns come in the order in which they were asked for, and one of the
  // ledger's own passes ends with each lineage. Before a pass is made for this call, and not where a result
  // is found, `before_pass` is called, within the turn; its error is returned, and no pass made.
  virtual absl::StatusOr<Verification> LastVerification(std::string_view dataset_id,
                                                        std::optional<int64_t> most_age_us,
                                                        const BeforePass& before_pass = {}) = 0;

  // Repairs a lineage whose newest entries are lost, as after a restored backup, without creating budget:
  // spent counters are raised to the larger of the anchor's values and the present values, plus the costs of
  // the lost charges of `receipts` that the anchor does not cover; reservations that are still held count as
  // spent, and started charges and queued draws are forfeited (sql/repair.cc has the proof). Each chain that
  // is behind its anchor continues with an entry REPAIRED whose number skips the lost ones. The lineage
  // accepts charges again once it does not contradict the anchor. Where nothing is behind, nothing is
  // written, and a lineage that is not read-only is not verified unless there are receipts. DATA_LOSS when
  // the history contradicts itself, which raising counters cannot repair. FAILED_PRECONDITION when the actor
  // proposed the repair, unless the approval is kSingleCustody, and when the repair would do something else
  // than is expected: that is compared in the transaction that writes. It verifies the lineage before and
  // after, in a turn as those of LastVerification(), and with the same UNAVAILABLE.
  virtual absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) = 0;
};

}  // namespace curator::ledger
