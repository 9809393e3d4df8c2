// A durable record of who spent how much of which account, and of every answer that left the building.
//
// The ledger knows accounts as additive integer counters with limits, and bytes. It does not know rules,
// mechanisms or epsilons: what a counter counts, what an event says and what a release holds is its callers'
// business.
//
// Thread-safe. Every method may block on the store; none holds a lock of its own while it does.
// Errors: RESOURCE_EXHAUSTED (an account is full: base/errors.h names it, nothing was written),
// ALREADY_EXISTS (the name or the request id is taken by another request), NOT_FOUND, FAILED_PRECONDITION
// (the dataset or charge is not in a state that allows this), ABORTED (a stale attempt token, or a
// transaction that lost: ask again), UNAVAILABLE (the store is away or the outcome is unknown: ask again with
// the same request id), DATA_LOSS (the history contradicts its anchor or its own hashes: the ledger has
// turned read-only).
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"

namespace curator::ledger {

// ---- Datasets and accounts

enum class ScopeType { kDataset, kAnalyst, kAnalystGroup, kPart };

struct CounterLimit {
  std::string counter;
  int64_t limit = 0;
  bool operator==(const CounterLimit&) const = default;
};

// An account to be made, together with its dataset or later.
struct AccountSpec {
  ScopeType scope_type = ScopeType::kDataset;
  std::string scope_key;  // empty for the dataset itself; else the analyst, the group, or the part
  std::string rule;       // canonical bytes of the rule (codec/rule_codec.h), opaque here
  std::string rule_name;  // "ZCDP", for messages
  std::vector<CounterLimit> limits;
  std::vector<std::string> members = {};  // of a kAnalystGroup, ascending; else empty
};

// An account to be opened in the lineage of a dataset that is there already.
struct NewAccount {
  std::string request_id;  // a UUID the client made: the same one gives the same account, once
  std::string dataset_id;
  AccountSpec account;  // kAnalyst or kAnalystGroup
  std::string actor;
};

// One part of a partitioned dataset, to be made. A part holds the records whose partition attribute falls
// into its bins, and has an account of its own.
struct PartSpec {
  std::vector<int64_t> bins;  // numbers of bins, ascending; no bin lies in two parts
  AccountSpec account;        // kPart; its key is the part's name
};

// A part to be added to a partitioned dataset that is there already.
struct NewPart {
  std::string request_id;  // a UUID the client made: the same one adds the same part, once
  std::string dataset_id;
  PartSpec part;
  std::string actor;
};

struct Part {
  int64_t number = 0;  // 1, 2, 3, ... in the order of their making
  std::string name;
  std::vector<int64_t> bins;
  int64_t account_id = 0;
  int64_t sealed_version = 0;  // the version of the dataset that sealing this part made; 0 until then
  std::string content_hash;    // as the dataset's
  bool operator==(const Part&) const = default;
};

struct CounterBalance {
  std::string counter;
  int64_t limit = 0;
  int64_t spent = 0;
  int64_t held = 0;
  bool operator==(const CounterBalance&) const = default;
};

struct Account {
  int64_t id = 0;
  std::string lineage_id;
  ScopeType scope_type = ScopeType::kDataset;
  std::string scope_key;
  std::string rule;
  std::string rule_name;
  std::vector<CounterBalance> counters;
  std::vector<std::string> members = {};  // of a kAnalystGroup, ascending
};

enum class DatasetState { kCreated, kSealed, kArchived };

struct DatasetSpec {
  std::string request_id;  // a UUID the client made: the same one gives the same dataset, once
  std::string name;
  std::string owner;
  std::string schema;       // canonical bytes (codec/schema_codec.h), opaque here
  std::string schema_hash;  // SHA-256 of them
  std::string neighbour_relation;
  std::string privacy_unit;
  int64_t max_records_per_unit = 1;
  bool is_public = false;           // no accounts, no charges
  std::string partition_attribute;  // empty: not partitioned
  std::string successor_of;  // a dataset id: its lineage and accounts are shared, `accounts` must be empty
  std::vector<AccountSpec> accounts;
  std::vector<PartSpec> parts =
      {};  // of a partitioned dataset, at least one; their accounts are its accounts
};

struct Dataset {
  std::string id;  // a UUID
  std::string lineage_id;
  std::string name;
  std::string owner;
  DatasetState state = DatasetState::kCreated;
  std::string schema;
  std::string schema_hash;
  std::string neighbour_relation;
  std::string privacy_unit;
  int64_t max_records_per_unit = 1;
  bool is_public = false;
  std::string partition_attribute;
  // 0 until sealed. A partitioned dataset has the version v once v of its parts are sealed: they are what the
  // version consists of, for ever.
  int64_t version = 0;
  std::string content_hash;  // HMAC of the sealed records under a server key: never exported
  int64_t created_at_us = 0;
  std::vector<std::string> grantees;
  std::vector<Part> parts = {};  // by number
};

// ---- Charges

enum class ChargeState { kReserved, kStarted, kCommitted, kCancelled, kForfeited };

struct Posting {
  int64_t account_id = 0;
  std::string counter;
  int64_t cost = 0;  // >= 0
  bool operator==(const Posting&) const = default;
};

struct ChargeRequest {
  std::string dataset_id;
  int64_t dataset_version = 0;
  std::string principal;
  std::string request_id;  // a UUID the client made; the key together with the principal
  // SHA-256 over dataset, version, plan and price: tells a retry from another request.
  std::string fingerprint;
  std::string kind;        // "workload", "synthesis", "reservation"
  std::string event;       // canonical bytes of what will be done (codec/event_codec.h)
  std::string label;       // one public line for people, e.g. "all 2-way marginals, discrete Gaussian"
  std::string sealed_key;  // the draw's key, sealed under a server key; erased when the charge ends
  std::vector<Posting> postings;
};

struct Release {
  std::string id;  // a UUID
  std::string charge_id;
  std::string dataset_id;
  std::string principal;
  std::string kind;
  std::string label;
  std::string payload;  // canonical bytes (codec/release_codec.h); empty in listings
  std::string payload_hash;
  int64_t payload_size = 0;
  int64_t created_at_us = 0;
  std::vector<std::string> shared_with = {};  // who may read it besides its principal, ascending
};

struct Charge {
  std::string id;  // a UUID
  std::string dataset_id;
  int64_t dataset_version = 0;
  std::string principal;
  std::string request_id;
  std::string fingerprint;
  std::string kind;
  std::string event;
  std::string label;
  ChargeState state = ChargeState::kStarted;
  std::string reason;  // why it was forfeited, cancelled or committed by expiry; public words only
  std::vector<Posting> postings;
  std::string release_id;  // empty unless there is one
  int64_t created_at_us = 0;
  int64_t deadline_us = 0;  // of a reservation, by the database's clock; 0 for what started at once
};

// A wish to change the limit of one counter of one account.
struct LimitProposalSpec {
  std::string request_id;  // a UUID the client made: the same one gives the same proposal
  int64_t account_id = 0;
  std::string counter;
  int64_t new_limit = 0;
  std::string reason;
  std::string proposed_by;
};

struct LimitProposal {
  std::string id;  // a UUID
  std::string dataset_id;
  int64_t account_id = 0;
  std::string counter;
  int64_t old_limit = 0;
  int64_t new_limit = 0;
  std::string reason;
  std::string proposed_by;
  int64_t proposed_at_us = 0;
  std::string approved_by;  // empty until approved
  std::string request_id = {};
};

// The right to make one draw for one charge.
struct Attempt {
  Charge charge;
  std::string token;       // guards Store() and Forfeit(): a later attempt makes this one stale
  std::string sealed_key;  // the one that the FIRST attempt stored, so that a repeated draw is the same draw
  bool newly_charged = false;
  std::optional<Release> release;  // present: this is a replay, there is nothing to draw and `token` is empty
};

// ---- History

struct Entry {
  std::string dataset_id;
  int64_t seq = 0;   // 1, 2, 3, ... per dataset
  std::string kind;  // "DATASET_CREATED", "SEALED", "GRANTED", "CHARGED", "COMMITTED", "FORFEITED", ...
  std::string charge_id;
  // Canonical bytes (history/entry_payload.h); from them alone all balances can be recomputed.
  std::string payload;
  std::string actor;
  int64_t created_at_us = 0;
  std::string prev_hash;
  std::string hash;  // 32 bytes
};

struct Verification {
  bool ok = false;
  int64_t entries_checked = 0;
  std::string head_hash;
  int64_t anchored_seq = 0;
  std::vector<std::string> findings;  // what contradicts what, in words; empty when ok
};

struct Page {
  int64_t after_seq = 0;
  int64_t limit = 1000;
};

// Charges with the same event, and how many they are.
struct EventCount {
  std::string event;  // canonical bytes (codec/event_codec.h)
  int64_t charges = 0;
};

// ---- Repair

// A charge that the store has lost, as a signed receipt tells of it.
struct LostCharge {
  std::string dataset_id;
  std::string charge_id;
  int64_t seq = 0;  // of the entry that made it
  std::vector<Posting> postings;
};

struct RepairOrder {
  std::string dataset_id;
  std::string reason;
  std::string actor;
  std::vector<LostCharge> receipts;
  bool only_checked = false;  // find out what would be raised, and write nothing
};

// A counter that a repair raises.
struct RaisedCounter {
  int64_t account_id = 0;
  std::string counter;
  int64_t old_spent = 0;
  int64_t new_spent = 0;
  int64_t old_limit = 0;
  int64_t new_limit = 0;
};

struct RepairReport {
  int64_t first_lost_seq = 0;  // of the dataset that was named; 0 when nothing is lost
  int64_t last_lost_seq = 0;
  std::vector<RaisedCounter> raised;
  int64_t reservations_spent = 0;
  int64_t receipts_counted = 0;
  absl::Status still_read_only;
};

class Ledger {
 public:
  virtual ~Ledger() = default;

  // The ledger's permanent id, a UUID.
  virtual std::string LedgerId() = 0;

  // OK when a charge could be made now. Cheap enough for a health check.
  virtual absl::Status Health() = 0;

  virtual absl::StatusOr<Dataset> CreateDataset(const DatasetSpec& spec) = 0;
  virtual absl::StatusOr<Dataset> GetDataset(std::string_view name) = 0;
  virtual absl::StatusOr<std::vector<Dataset>> ListDatasets() = 0;
  // Once; a second seal is FAILED_PRECONDITION unless it repeats the same content hash (then it is a replay).
  // Equal content under another name is written into the history as a warning.
  virtual absl::StatusOr<Dataset> SealDataset(std::string_view dataset_id, std::string_view content_hash,
                                              std::string_view actor) = 0;
  // Adds a part with a fresh account to a partitioned dataset, before or after other parts are sealed.
  // ALREADY_EXISTS when the name is taken; INVALID_ARGUMENT when a bin lies in another part;
  // FAILED_PRECONDITION for a dataset that is not partitioned, or archived.
  virtual absl::StatusOr<Dataset> AddPart(const NewPart& part) = 0;
  // Once, and makes the dataset's next version; like SealDataset(), which is not for partitioned datasets.
  virtual absl::StatusOr<Dataset> SealPart(std::string_view dataset_id, std::string_view part,
                                           std::string_view content_hash, std::string_view actor) = 0;
  virtual absl::Status ArchiveDataset(std::string_view dataset_id, std::string_view actor) = 0;
  virtual absl::Status Grant(std::string_view dataset_id, std::string_view grantee,
                             std::string_view actor) = 0;
  // Writes down that the owner is going to look at the records, in the words `what`; once this returns the
  // entry is durable and anchored. Each call writes one.
  virtual absl::Status RecordOwnerAction(std::string_view dataset_id, std::string_view what,
                                         std::string_view actor) = 0;
  // Opens an account for an analyst or for a group of analysts, with nothing spent: what they spent before is
  // not counted again. Its entry lies in the history of the lineage's first dataset. From here on a charge by
  // this analyst, or by a member, on any dataset of the lineage has to post to it: Begin() and Reserve()
  // refuse one that does not with ABORTED, because it was priced before the account was opened.
  // ALREADY_EXISTS when the analyst, or the group's name, has an account; FAILED_PRECONDITION for a public
  // dataset.
  virtual absl::StatusOr<Account> CreateAccount(const NewAccount& account) = 0;
  // The accounts of the dataset's lineage, in id order.
  virtual absl::StatusOr<std::vector<Account>> ListAccounts(std::string_view dataset_id) = 0;

  // Charges and starts in one transaction (T1), or finds what the same (principal, request id) did before:
  //   unknown                 -> charged, STARTED, a fresh token; every posting is admitted or none is
  //   same fingerprint        -> COMMITTED: its release. STARTED: a fresh token (the older one is now stale)
  //                              and the sealed key of the first attempt. FORFEITED: FAILED_PRECONDITION, the
  //                              charge stands.
  //   another fingerprint     -> ALREADY_EXISTS
  // A charge on a partitioned dataset names a version of it and posts to the account of at least one part.
  // On return the charge is durable and the anchor covers its entry.
  virtual absl::StatusOr<Attempt> Begin(const ChargeRequest& request) = 0;

  // Stores the release and commits the charge (T2), erases the sealed key, and returns the release as read
  // back. ABORTED when the token is stale: another attempt has taken over.
  virtual absl::StatusOr<Release> Store(const Attempt& attempt, std::string_view payload) = 0;

  // Ends a started charge without a release: the cost stands, the key is erased. `reason` is public.
  virtual absl::Status Forfeit(const Attempt& attempt, std::string_view reason) = 0;

  // Reservations: for callers who run a mechanism of their own and use the ledger as their accountant.
  // Whether they have published nobody can see, so a reservation that is not started in time is spent, not
  // freed: it becomes COMMITTED with the reason "EXPIRED".
  //
  // Holds the cost of every request for `lifetime_us` (at most 366 days), or finds what the same (principal,
  // request_id) reserved before, as it is now. All requests are admitted, in one transaction, or none is.
  virtual absl::StatusOr<std::vector<Charge>> Reserve(const std::vector<ChargeRequest>& requests,
                                                      int64_t lifetime_us) = 0;
  // RESERVED -> STARTED, before the caller reads anything. `final_cost` names counters that the reservation
  // holds, at most their held cost; what it leaves out is freed. Repeating it with the same cost is harmless.
  virtual absl::StatusOr<Charge> StartReserved(std::string_view charge_id,
                                               const std::vector<Posting>& final_cost,
                                               std::string_view actor) = 0;
  // RESERVED or STARTED -> COMMITTED. Repeating it is harmless.
  virtual absl::StatusOr<Charge> CommitReserved(std::string_view charge_id, std::string_view actor) = 0;
  // RESERVED -> CANCELLED, and frees what was held. A started charge stands: FAILED_PRECONDITION.
  virtual absl::StatusOr<Charge> CancelReserved(std::string_view charge_id, std::string_view reason,
                                                std::string_view actor) = 0;
  // RESERVED: expires no sooner than `lifetime_us` from now.
  virtual absl::StatusOr<Charge> ExtendReserved(std::string_view charge_id, int64_t lifetime_us,
                                                std::string_view actor) = 0;
  // Spends the reservations that are past their deadline, at most 1,000 at a time, and returns how many.
  // Every call on a reservation does this for it first, so this only keeps tables tidy.
  virtual absl::StatusOr<int64_t> ExpireReservations() = 0;

  // Limits change only when a second principal approves. The entry lies in the history of the dataset that
  // opened the account.
  virtual absl::StatusOr<LimitProposal> ProposeLimit(const LimitProposalSpec& spec) = 0;
  // FAILED_PRECONDITION when `actor` is who proposed, when the limit has changed since, or when the new limit
  // is below what is spent and held; no balance is named. Repeating it is harmless.
  virtual absl::StatusOr<LimitProposal> ApproveLimit(std::string_view proposal_id,
                                                     std::string_view actor) = 0;
  // Those of the accounts that this dataset opened, newest first.
  virtual absl::StatusOr<std::vector<LimitProposal>> ListLimitProposals(std::string_view dataset_id) = 0;

  // The truth about a charge after any error. That it has STARTED is told once the anchor covers that,
  // because who hears it may read records: else UNAVAILABLE (ask again), or DATA_LOSS on a ledger that is
  // read-only.
  virtual absl::StatusOr<Charge> GetCharge(std::string_view charge_id) = 0;
  virtual absl::StatusOr<Charge> FindCharge(std::string_view principal, std::string_view request_id) = 0;
  // Newest first, at most 1,000.
  virtual absl::StatusOr<std::vector<Charge>> ListCharges(std::string_view principal) = 0;

  // The newest charge of `principal` on the dataset that was not cancelled. NOT_FOUND when there is none.
  virtual absl::StatusOr<Charge> LatestCharge(std::string_view dataset_id, std::string_view principal) = 0;
  // What was charged on the dataset's lineage and not cancelled, by `principal` or, where that is empty, by
  // all: each distinct event once, at most `most` of them.
  virtual absl::StatusOr<std::vector<EventCount>> CountEvents(std::string_view dataset_id,
                                                              std::string_view principal, int64_t most) = 0;
  // The entry that made the charge: CHARGED or RESERVED.
  virtual absl::StatusOr<Entry> ChargeEntry(std::string_view charge_id) = 0;

  virtual absl::StatusOr<Release> GetRelease(std::string_view release_id) = 0;
  // Once is enough: doing it again changes nothing. Errors: NOT_FOUND for an unknown release.
  virtual absl::Status ShareRelease(std::string_view release_id, std::string_view grantee,
                                    std::string_view actor) = 0;
  // Without payloads, newest first.
  virtual absl::StatusOr<std::vector<Release>> ListReleases(std::string_view dataset_id) = 0;

  virtual absl::StatusOr<std::vector<Entry>> ListEntries(std::string_view dataset_id, const Page& page) = 0;

  // Recomputes the hash chain and every balance from the entries alone, and compares with the tables and with
  // the anchor.
  virtual absl::StatusOr<Verification> Verify(std::string_view dataset_id) = 0;

  // Accepts that the lineage's newest entries are lost, as after a restored backup, and mints no budget by
  // it: what is spent is raised to the anchor's values, or to what is spent now and the lost charges of
  // `receipts` together, whichever is more; reservations that are still held count as spent. Each chain that
  // is behind its anchor goes on with an entry REPAIRED whose number leaves out the lost ones. The ledger
  // takes charges again once no lineage contradicts the anchor. Where nothing is behind nothing is written.
  // DATA_LOSS when the history contradicts itself: that no raising can mend.
  virtual absl::StatusOr<RepairReport> RaiseToAnchor(const RepairOrder& order) = 0;
};

}  // namespace curator::ledger
