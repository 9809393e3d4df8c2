// The values that a ledger (ledger.h) takes and returns, and the names of their states and accounts.
//
// Times are microseconds since 1970 by the database's clock. Request ids are UUIDs that the client made: a
// request that repeats one finds what the first request did. Canonical bytes (base/canonical_bytes.h) are
// opaque to the ledger unless their comment names a file of this folder.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "base/principal.h"

namespace curator::ledger {

// ---- Datasets and accounts

enum class ScopeType { kDataset, kAnalyst, kAnalystGroup, kPart };

struct CounterLimit {
  std::string counter;
  int64_t limit = 0;
  bool operator==(const CounterLimit&) const = default;
};

// An account to be opened, together with its dataset or later.
struct AccountSpec {
  ScopeType scope_type = ScopeType::kDataset;
  std::string scope_key;  // empty for the dataset itself; else the analyst, the group, or the part
  std::string rule;       // canonical bytes of the rule (codec/accounting_codec.h)
  std::string rule_name;  // "ZCDP", for messages
  std::vector<CounterLimit> limits;
  std::vector<std::string> members = {};  // of a kAnalystGroup, ascending; else empty
};

// An account to be opened in the lineage of an existing dataset.
struct NewAccount {
  std::string request_id;
  std::string dataset_id;
  AccountSpec account;  // kAnalyst or kAnalystGroup
  Principal actor;
};

// A part of a partitioned dataset, to be created. A part holds the records whose partition attribute falls
// into its bins, and has an account of its own.
struct PartSpec {
  std::vector<int64_t> bins;  // bin numbers, ascending; no bin belongs to two parts
  AccountSpec account;        // kPart; its key is the part's name
};

// A part to be added to an existing partitioned dataset.
struct NewPart {
  std::string request_id;
  std::string dataset_id;
  PartSpec part;
  Principal actor;
};

// What is said for ever about how a dataset came about: once true, always true. In documents: an Integer, the
// sum of 1 for the first and 2 for the second.
struct DatasetFacts {
  // Ranges, categories or bins were chosen by somebody who had seen records.
  bool domain_from_records = false;
  // Records came from a query, in which one person may have changed the rows of others.
  bool rows_from_query = false;
  bool operator==(const DatasetFacts&) const = default;
};
// What is true by either.
DatasetFacts operator|(const DatasetFacts& a, const DatasetFacts& b);
// As in documents.
int64_t NumberOf(const DatasetFacts& facts);
DatasetFacts FactsOf(int64_t number);

struct Part {
  int64_t number = 0;  // 1, 2, 3, ... in the order of creation
  std::string name;
  std::vector<int64_t> bins;
  int64_t account_id = 0;
  int64_t sealed_version = 0;  // the dataset version that sealing this part created; 0 until then
  std::string content_hash;    // as Dataset::content_hash
  DatasetFacts facts = {};     // that its seal added to those of the dataset
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
  int64_t id = 0;  // public, and random: nothing counts the accounts of others
  std::string lineage_id;
  ScopeType scope_type = ScopeType::kDataset;
  std::string scope_key;
  std::string rule;
  std::string rule_name;
  std::vector<CounterBalance> counters;
  std::vector<std::string> members = {};  // of a kAnalystGroup, ascending
};

// What distinguishes the accounts of a lineage. Accounts are listed in the order of their keys: the dataset's
// own, its parts', analysts', groups'. Their ids are random, and order nothing that is shown.
struct AccountKey {
  ScopeType scope_type = ScopeType::kDataset;
  std::string scope_key;

  bool operator==(const AccountKey&) const = default;
  bool operator<(const AccountKey& other) const;
};
inline constexpr std::array kScopesAsListed = {ScopeType::kDataset, ScopeType::kPart, ScopeType::kAnalyst,
                                               ScopeType::kAnalystGroup};
AccountKey KeyOf(const Account& account);

// kDeleted: it has no records any more, takes no change, and its name is free; its row and its history stay.
enum class DatasetState { kCreated, kSealed, kArchived, kDeleted };

// A look of an owner at the records of a file, before it created the dataset.
struct OwnerLook {
  std::string file_hash;         // as SeenFile::file_hash
  int64_t time_us = 0;           // by the owner's clock
  bool accepted_domain = false;  // ranges, categories or bins were taken from the file
  bool operator==(const OwnerLook&) const = default;
};
inline constexpr size_t kMostLooks = 100;

// What an owner has seen of a file: a report under a schema, or the file itself.
struct SeenFile {
  std::string file_hash;    // keyed, of the file's bytes; opaque, 1 to 64 bytes
  std::string values_hash;  // of what the schema says about values, 1 to 64 bytes; empty: the file itself
  bool operator==(const SeenFile&) const = default;
};
// So many files with schemas are remembered of one owner; of further files, under which schemas reports were
// given, so many of them; beyond that, that there were more.
inline constexpr int64_t kMostSeenFiles = 10'000;
inline constexpr int64_t kMostSeenSchemas = 1'000;

struct DatasetSpec {
  std::string request_id;
  std::string name;
  Principal owner;
  std::string schema;       // canonical bytes (codec/schema_codec.h)
  std::string schema_hash;  // SHA-256 of `schema`
  std::string neighbour_relation;
  std::string privacy_unit;
  int64_t max_records_per_unit = 1;
  bool is_public = false;           // no accounts, no charges; waits until another person publishes it
  std::string partition_attribute;  // empty: not partitioned
  std::string successor_of;  // a dataset id: its lineage and accounts are shared, `accounts` must be empty
  std::vector<AccountSpec> accounts;
  std::vector<PartSpec> parts =
      {};  // of a partitioned dataset, at least one; their accounts are its accounts
  // Those of its schema. A successor also has domain_from_records where its predecessor has it.
  DatasetFacts facts = {};
  // Each gets an entry, and is remembered as RememberSeen() does. At most kMostLooks.
  std::vector<OwnerLook> looks = {};
};

// An import of a dataset or part that is not sealed, to be undone.
struct UndoneImport {
  std::string request_id;  // of the change
  std::string dataset_id;
  std::string part;               // its name; empty for a dataset without parts
  std::string import_request_id;  // of the import
  std::string file_hash;          // as SeenFile::file_hash, of what was imported
  Principal actor;
};

// A dataset to be deleted.
struct DatasetDeletion {
  std::string request_id;
  std::string name;        // what the request names: a repetition finds what the first request deleted
  std::string dataset_id;  // of the dataset with that name now; empty when there is none
  Principal actor;
  bool only_checked = false;  // a dry run: the refusal, if there is one, and nothing is written
};

// What a grantee may do with a dataset, as bits of Grant::roles.
inline constexpr int64_t kGrantedAnalyst = 1;  // asks questions
inline constexpr int64_t kGrantedService =
    2;  // charges it for what mechanisms outside of this server release
inline constexpr int64_t kGrantedAuditor = 4;    // sees its budgets and its history
inline constexpr int64_t kGrantedFormer = 8;     // sees what was released to it before
inline constexpr int64_t kGrantedApprover = 16;  // approves its limits, in development mode
inline constexpr int64_t kAllGrantedRoles = 31;

struct Grant {
  std::string grantee;
  int64_t roles = kGrantedAnalyst;  // 0: nothing, as if there had never been a grant
  int64_t expires_at_us = 0;        // 0: never
  bool operator==(const Grant&) const = default;
};

// The most bytes of a dataset's refusal rules.
inline constexpr size_t kMostRefusalRulesBytes = size_t{64} << 10;

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
  bool awaits_publication = false;  // is_public, and nobody has published it yet
  std::string partition_attribute;
  // 0 until sealed. A partitioned dataset has version v once v of its parts are sealed: version v consists of
  // exactly those parts and never changes.
  int64_t version = 0;
  std::string content_hash;  // HMAC of the sealed records under a server key: never exported
  int64_t created_at_us = 0;
  // Rises with every change of what is stated here, and of the accounts of the lineage, but not with charges.
  int64_t revision = 0;
  std::vector<Grant> grants;     // by grantee
  std::vector<Part> parts = {};  // by number
  // The rules by which the owner refuses requests: canonical bytes (codec/refusal_rules_codec.h), empty where
  // there are none, and in listings; and SHA-256 of them, empty where they are. On a read-only dataset the
  // bytes are those of the verified history.
  std::string refusal_rules = {};
  std::string refusal_rules_hash = {};
  DatasetFacts facts = {};
};

// Those of a version of the dataset: of a partitioned one a later seal may add others.
DatasetFacts FactsAt(const Dataset& dataset, int64_t version);

// The refusal rules of a dataset after a change, and one public line that says what has changed.
struct EditedRules {
  std::string rules;  // empty: none
  std::string summary;
};

// A change of the refusal rules of a dataset.
struct RefusalRulesChange {
  std::string request_id;
  std::string dataset_id;
  std::string asked;  // what the request asks for; opaque: another request has another
  // Computes the rules from those that there are: a pure function, which may be called again. Its errors
  // refuse the change.
  std::function<absl::StatusOr<EditedRules>(std::string_view present)> edit;
  Principal actor;
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
  // Dataset::revision when the request was priced: it is charged only while the dataset has it
  // (IsDatasetChanged()). 0: in any.
  int64_t dataset_revision = 0;
  // Dataset::refusal_rules_hash of the rules that let the request pass: a new charge is made only while the
  // dataset has these, whatever its revision (IsDatasetChanged()).
  std::string refusal_rules_hash = {};
  Principal principal;
  std::string request_id;  // the key, together with the principal
  // Opaque, not empty. A retry has the same, another request has another (codec/fingerprint.h).
  std::string fingerprint;
  // What an earlier program stored as the fingerprint of the same request; it is compared with charges that
  // have no draw identity. Empty: no such charge is this request.
  std::string earlier_fingerprint = {};
  // What this server will draw for the charge, as a hash (codec/draw_identity.h). Empty for a mechanism that
  // runs outside.
  std::string draw_identity = {};
  std::string kind;        // "workload", "synthesis", "reservation"
  std::string event;       // canonical bytes of the privacy event (codec/accounting_codec.h)
  std::string label;       // one public line for display, e.g. "all 2-way marginals, discrete Gaussian"
  std::string sealed_key;  // the draw's key, sealed under a server key; erased when the charge ends
  std::vector<Posting> postings;
};

// With whom one release can be shared.
inline constexpr int64_t kMostShares = 100;

struct Release {
  std::string id;      // a UUID
  int64_t number = 0;  // its place in listings; not public, because it counts the charges of all principals
  std::string charge_id;
  std::string dataset_id;
  std::string principal;
  std::string request_id;  // of the charge
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
  std::string draw_identity = {};  // also empty for a draw that was charged before identities were stored
  std::string kind;
  std::string event;
  std::string label;
  ChargeState state = ChargeState::kStarted;
  std::string reason;  // why it was forfeited, cancelled or committed by expiry; public
  std::vector<Posting> postings;
  std::string release_id;  // empty unless there is one
  int64_t created_at_us = 0;
  int64_t deadline_us = 0;  // of a reservation; 0 for a charge that started at once
  // `principal` as tables and entries have it (pseudonyms/pseudonym.h); empty where that is the name.
  std::string stored_principal = {};
};
const std::string& StoredPrincipal(const Charge& charge);

// Whether `request` is the request that made `charge`.
bool IsSameRequest(const Charge& charge, const ChargeRequest& request);

// Whether `charge` is RESERVED for a draw of this server that has not begun: it has read nothing.
bool IsQueuedDraw(const Charge& charge);

// Who approves what a principal proposed.
enum class Approval {
  kByAnother,      // another person
  kSingleCustody,  // also the one who proposed it: one person has custody of this server; the entry says so
};

// A change of the limit of one counter of one account, to be proposed or asked for.
struct LimitProposalSpec {
  std::string request_id;
  int64_t account_id = 0;
  std::string counter;
  int64_t new_limit = 0;
  std::string reason;
  Principal proposed_by;
  bool is_request = false;    // asks the owner to propose it, and cannot be approved
  std::string takes_up = {};  // the id of a request that ends as kTakenUp; or empty
};

// How a proposal or a request ended without a change of the limit.
enum class ProposalEnd { kNone, kRejected, kWithdrawn, kTakenUp };

// "REJECTED"; empty for kNone.
std::string_view EndName(ProposalEnd end);
absl::StatusOr<ProposalEnd> ProposalEndFromName(std::string_view name);

// At most so many of a lineage's proposals, and as many of its requests, are neither approved nor ended; of
// the requests at most so many of one principal.
inline constexpr int64_t kMostOpenProposals = 100;
inline constexpr int64_t kMostOpenRequestsOfOne = 10;

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
  bool is_request = false;
  ProposalEnd end = ProposalEnd::kNone;
  std::string ended_by = {};
  std::string end_reason = {};  // of kTakenUp: the id of the proposal that was made of it
};

// Where an entry lies in the history of its dataset, and the end of the chain that it makes.
struct EntryPlace {
  int64_t seq = 0;
  std::string hash;  // 32 bytes
  int64_t created_at_us = 0;
};

// One counter of one account.
struct AccountBalance {
  int64_t account_id = 0;
  CounterBalance balance;
};

// What one call of Ledger::Reserve() changed.
struct ReserveEffect {
  // Of each request the entry that recorded its charge; none when the charge was found.
  std::vector<std::optional<EntryPlace>> entries;
  std::vector<AccountBalance> moved;  // the counters of new charges, as the last of them left them
};

// The right to make one draw for one charge.
struct Attempt {
  Charge charge;
  std::string token;       // guards Store() and Forfeit(): a later attempt makes this one stale
  std::string sealed_key;  // the one that the FIRST attempt stored, so that a repeated draw is the same draw
  bool newly_charged = false;
  int64_t entry_seq = 0;              // of the entry that recorded the charge
  std::optional<EntryPlace> entry;    // that entry, of a new charge
  std::vector<AccountBalance> moved;  // by a new charge: the counters of its postings, as it left them
  std::optional<Release> release;     // present: a replay; there is nothing to draw and `token` is empty
};

// ---- History

struct Entry {
  std::string dataset_id;
  int64_t seq = 0;        // 1, 2, 3, ... per dataset
  std::string kind;       // "DATASET_CREATED", "SEALED", "GRANTED", "CHARGED", "COMMITTED", "FORFEITED", ...
  std::string charge_id;  // in the server's own history: of the change
  // Canonical bytes (history/entry_payload.h), from which alone all balances can be recomputed.
  std::string payload;
  std::string
      actor;  // of new entries a pseudonym (pseudonyms/pseudonym.h), as in `payload`: the hash covers it
  int64_t created_at_us = 0;
  std::string prev_hash;
  std::string hash;  // 32 bytes
  // The actor's name, and the payload with names in the place of pseudonyms; empty where they are the same.
  // Of a forgotten principal the pseudonym is all there is.
  std::string actor_name = {};
  std::string named_payload = {};
};
const std::string& ActorName(const Entry& entry);
const std::string& NamedPayload(const Entry& entry);

struct Verification {
  bool ok = false;
  int64_t entries_checked = 0;  // of this dataset, not of others of its lineage
  std::string head_hash;
  int64_t anchored_seq = 0;
  std::vector<std::string> findings;  // one sentence per contradiction; empty when ok
  int64_t made_at_us = 0;             // by the clock of the server that made it
};

// What a counter had after the last change in one second.
struct CounterPoint {
  int64_t second = 0;  // since 1970, by the database's clock
  int64_t limit = 0;
  int64_t spent = 0;
  int64_t held = 0;
  bool operator==(const CounterPoint&) const = default;
};

inline constexpr int64_t kMostPoints = 2000;

// The points of a counter from one second on up to another one, both included. None: those of its first and
// of its newest point.
struct PointsQuery {
  int64_t account_id = 0;
  std::string counter;
  std::optional<int64_t> from_second = {};
  std::optional<int64_t> to_second = {};
  int64_t most = kMostPoints;  // 1 to kMostPoints
  // Above 1, time is cut into steps of so many seconds from 1970 on, and nothing is shown of when in its step
  // something changed. The range is widened at its beginning and shortened at its end to whole steps that
  // have passed. A point has what the counter had at the end of a step, and the last second of that step.
  // Where the range ends now or later, or with the newest point, the last one is what the counter has, now.
  int64_t step_seconds = 1;
};

// What a principal uses of one of its daily quotas.
struct DailyUse {
  std::string principal;
  std::string quota;   // its name
  int64_t day = 0;     // days since 1970
  int64_t amount = 0;  // at least 0
};

// The id that the entries of the server's own history and the anchor have for it in the place of a dataset's,
// which are UUIDs.
inline constexpr char kServerHistory[] = "@server";

// An entry to be appended to the server's own history.
struct NewServerEntry {
  int64_t after_seq = 0;  // of the newest entry that was known when the change was decided
  std::string kind;
  std::string payload;  // canonical bytes (server/directory/changes.h)
  std::string actor;
};

// ---- Pages: each listing reads at most `limit` rows by index, whatever the ledger holds. INVALID_ARGUMENT
// (page.limit) unless 1 <= limit <= 1,000.

// Of entries of the server's own history: those with seq > after_seq, ascending. Unlike the others, a limit
// may be up to 10,000.
struct Page {
  int64_t after_seq = 0;
  int64_t limit = 1000;
};

// Of entries of a dataset: those with after_seq < seq < before_seq, ascending. A limit may be up to 10,000.
struct EntryRange {
  int64_t after_seq = 0;
  int64_t before_seq = std::numeric_limits<int64_t>::max();
  int64_t limit = 1000;
  bool newest = false;          // where there are more than `limit`, the last ones of them and not the first
  std::string charges_of = {};  // only the entries of charges that this principal made; empty: all
};

// How far a history has come.
struct HistoryHead {
  std::string dataset_id;
  int64_t seq = 0;       // of the newest entry
  int64_t revision = 0;  // Dataset::revision
};

// Of charges and releases, newest first: those after the one with this id, the last of the page before; from
// the newest on when it is empty. Nothing follows an id that is not in the listing.
struct NewestPage {
  std::string after_id;
  int64_t limit = 100;
};

struct ReleaseList {
  std::vector<Release> releases;
  bool has_more = false;
  std::string last = {};  // the id that the next page comes after, when there is more
};

// Datasets on which a principal has a role that the ledger does not know.
struct AlsoListed {
  bool all = false;
  std::vector<std::string> ids = {};
};

// Of datasets, by name: those whose name is greater than `after`. A page ends earlier where its schemas have
// more than `most_bytes` together.
struct NamePage {
  std::string after;
  int64_t limit = 100;
  int64_t most_bytes = int64_t{2} << 20;
};
struct DatasetList {
  std::vector<Dataset> datasets;
  // The names of those on this page whose rows cannot be read.
  std::vector<std::string> unreadable = {};
  bool has_more = false;
  std::string last = {};  // the name that the next page comes after, when there is more
};

// Of accounts, in the order of their keys: those after `after`; from the first on when there is none.
struct AccountPage {
  std::optional<AccountKey> after = std::nullopt;
  int64_t limit = 100;
};

// Of proposals and requests, newest first: those before this one; from the newest on when the id is empty.
struct ProposalPage {
  int64_t before_us = 0;  // LimitProposal::proposed_at_us
  std::string before_id;
  int64_t limit = 100;
  std::string requests_of = {};  // of the requests those of this principal alone; of all when empty
};

// A short hash of something that a release measured, made by the caller: releases are found by it.
using Measure = std::string;
// The measure of all releases that were stored by versions without measures.
inline constexpr std::string_view kUnknownMeasure("\0", 1);

// The number of charges that have one event.
struct EventCount {
  std::string event;  // canonical bytes (codec/accounting_codec.h)
  int64_t charges = 0;
};

// ---- Repeated requests

// The request to find, and what to read beside it.
struct EarlierQuery {
  Principal principal;
  std::string request_id;
  std::string dataset_id;            // its revision is read
  std::vector<int64_t> account_ids;  // their balances are read
  int64_t most_payload_bytes = 0;    // the payload of a larger release is not read
  // Unless there are no measures: which releases of the dataset FindReleases() would find.
  std::string reader = {};
  std::vector<Measure> measures = {};
  int64_t most_releases = 0;  // of each measure
};

struct EarlierRequest {
  std::optional<Charge> charge;    // none when no charge has this principal and request id
  std::optional<Entry> entry;      // that recorded the charge
  std::optional<Release> release;  // without the names of those that it was shared with
  bool has_payload = false;
  // Dataset::revision; none of a dataset that does not exist or is read-only.
  std::optional<int64_t> revision;
  std::vector<AccountBalance> balances;
  std::optional<std::vector<int64_t>> release_numbers;  // Release::number, the newest first
};

// ---- Repair

// Whether a pass over a history may be made for a call. Empty: it may.
using BeforePass = std::function<absl::Status()>;

// A charge that the store has lost, as its signed receipt states it.
struct LostCharge {
  std::string dataset_id;
  std::string charge_id;
  int64_t seq = 0;  // of the entry that recorded it
  std::vector<Posting> postings;
};

struct RepairOrder {
  std::string dataset_id;
  std::string reason;
  Principal actor;               // who approves the repair
  std::string proposed_by = {};  // the owner
  Approval approval = Approval::kByAnother;
  std::vector<LostCharge> receipts;
  bool only_checked = false;  // a dry run: report what would be raised, and write nothing
  // HashOfEffect() of the report that was approved. Without one, whatever the repair does is accepted.
  std::optional<std::string> expected_effect = std::nullopt;
  // Called once, within the turn, if passes are made for this order.
  BeforePass before_pass = {};
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

// The entries that one dataset has lost. The first exceeds the last where only charges are lost whose numbers
// other entries have.
struct LostRange {
  std::string dataset_id;
  int64_t first_seq = 0;
  int64_t last_seq = 0;
};

struct RepairReport {
  // Whether anything in the lineage is behind the anchor or the receipts. Otherwise a repair writes nothing.
  bool is_needed = false;
  std::vector<LostRange> lost;  // of the datasets of the lineage that have lost entries, by their ids
  int64_t first_lost_seq = 0;   // of the dataset named in the order; 0 when nothing is lost
  int64_t last_lost_seq = 0;
  std::vector<RaisedCounter> raised;
  int64_t reservations_spent = 0;
  int64_t charges_forfeited = 0;
  int64_t receipts_counted = 0;
  // Why the dataset refuses charges, after the repair, or now if the repair was only checked; OK when it
  // accepts them.
  absl::Status still_read_only;
};

// In hexadecimal, of all that a repair would write because of what is lost. It covers every dataset of the
// lineage, and not still_read_only.
std::string HashOfEffect(const RepairReport& report);

// ---- Names

// The names of states and scopes in tables and entries: "STARTED", "ANALYST_GROUP", "SEALED".
std::string_view StateName(ChargeState state);
std::string_view ScopeName(ScopeType scope);
std::string_view DatasetStateName(DatasetState state);
// Dataset::refusal_rules_hash of these rules.
std::string HashOfRules(std::string_view refusal_rules);
// DATA_LOSS for an unknown name.
absl::StatusOr<ChargeState> ChargeStateFromName(std::string_view name);
absl::StatusOr<ScopeType> ScopeFromName(std::string_view name);
absl::StatusOr<DatasetState> DatasetStateFromName(std::string_view name);

// The account's name in messages and requests: "dataset/NAME", "dataset/NAME/analyst/KEY",
// "dataset/NAME/group/KEY", "dataset/NAME/part/KEY".
std::string AccountName(std::string_view dataset_name, ScopeType scope, std::string_view scope_key);

}  // namespace curator::ledger
