// The payload of each kind of entry: the canonical bytes (base/canonical_bytes.h) that its hash covers. Every
// account, balance and state can be recomputed from payloads alone.
//
// Each struct below is one document: Text(tag) Integer(1), then its fields in the order of declaration; a
// list is its length as an Integer, then its items field by field. The comment above a struct names the kinds
// of entries that carry it.
//
// Thread-safe: pure functions. Parse functions return DATA_LOSS for bytes that the matching EncodePayload()
// would not write.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "base/canonical_bytes.h"
#include "ledger/types.h"

namespace curator::ledger {

// A list of postings within a document.
void WritePostings(CanonicalWriter& writer, const std::vector<Posting>& postings);
std::vector<Posting> ReadPostings(CanonicalReader& reader);

// The kinds of entries.
inline constexpr char kDatasetCreated[] = "DATASET_CREATED";
inline constexpr char kSealed[] = "SEALED";
// Of histories that earlier versions wrote: it verifies, but is shown without its note (service/access.h).
inline constexpr char kEqualContent[] = "EQUAL_CONTENT";
inline constexpr char kPublished[] = "PUBLISHED";
inline constexpr char kArchived[] = "ARCHIVED";
inline constexpr char kGranted[] = "GRANTED";
inline constexpr char kRevoked[] = "REVOKED";
inline constexpr char kRulesSet[] = "RULES_SET";
inline constexpr char kReleaseShared[] = "RELEASE_SHARED";
inline constexpr char kCharged[] = "CHARGED";
inline constexpr char kReserved[] = "RESERVED";
inline constexpr char kStarted[] = "STARTED";
inline constexpr char kExtended[] = "EXTENDED";
inline constexpr char kCommitted[] = "COMMITTED";
inline constexpr char kExpired[] = "EXPIRED";
inline constexpr char kCancelled[] = "CANCELLED";
inline constexpr char kForfeited[] = "FORFEITED";
inline constexpr char kAccountOpened[] = "ACCOUNT_OPENED";
inline constexpr char kPartAdded[] = "PART_ADDED";
inline constexpr char kPartSealed[] = "PART_SEALED";
inline constexpr char kLimitProposed[] = "LIMIT_PROPOSED";
inline constexpr char kLimitChanged[] = "LIMIT_CHANGED";
inline constexpr char kLimitRequested[] = "LIMIT_REQUESTED";
inline constexpr char kLimitRejected[] = "LIMIT_REJECTED";
inline constexpr char kLimitWithdrawn[] = "LIMIT_WITHDRAWN";
inline constexpr char kLimitTakenUp[] = "LIMIT_TAKEN_UP";
inline constexpr char kRepaired[] = "REPAIRED";
inline constexpr char kOwnerAction[] = "OWNER_ACTION";
inline constexpr char kOwnerLooked[] = "OWNER_LOOKED";
inline constexpr char kImportUndone[] = "IMPORT_UNDONE";
inline constexpr char kDatasetDeleted[] = "DATASET_DELETED";

// An account as it was opened. In documents: id, scope name, scope key, rule, rule name, [counter, limit].
struct OpenedAccount {
  int64_t id = 0;
  AccountSpec spec;
};

inline constexpr int64_t kAwaitsPublication = 2;

// DATASET_CREATED, tag "curator.ledger.dataset_created". Version 1 has no facts, and is still written where
// none is true: version 2 ends with them.
struct DatasetCreated {
  std::string name;
  std::string owner;
  std::string lineage_id;
  std::string successor_of;  // empty, or the dataset whose accounts this one shares
  std::string schema_hash;
  std::string neighbour_relation;
  std::string privacy_unit;
  int64_t max_records_per_unit = 1;
  // 0: private; 1: public from the start, which earlier versions wrote; kAwaitsPublication: once PUBLISHED.
  int64_t is_public = 0;
  std::string partition_attribute;
  std::vector<OpenedAccount> accounts;
  DatasetFacts facts = {};
};
std::string EncodePayload(const DatasetCreated& document);
absl::StatusOr<DatasetCreated> ParseDatasetCreated(std::string_view bytes);

// PUBLISHED, tag "curator.ledger.published". The entry's actor approved it. Documents have 0 for kByAnother,
// 1 for kSingleCustody.
struct DatasetPublished {
  Approval approval = Approval::kByAnother;
};
std::string EncodePayload(const DatasetPublished& document);
absl::StatusOr<DatasetPublished> ParseDatasetPublished(std::string_view bytes);

// ACCOUNT_OPENED, tag "curator.ledger.account_opened": an account and its members. The accounts of a
// DATASET_CREATED have none.
std::string EncodePayload(const OpenedAccount& document);
absl::StatusOr<OpenedAccount> ParseOpenedAccount(std::string_view bytes);

// SEALED, tag "curator.ledger.sealed". The content hash itself stays out of the history, which is exported:
// content_commitment = SHA-256 of the document "curator.ledger.content" of Text(dataset_id)
// Text(content_hash). Facts as in DATASET_CREATED: those that the seal adds.
struct DatasetSealed {
  int64_t version = 1;
  std::string content_commitment;
  DatasetFacts facts = {};
};
std::string EncodePayload(const DatasetSealed& document);
absl::StatusOr<DatasetSealed> ParseDatasetSealed(std::string_view bytes);
std::string ContentCommitment(std::string_view dataset_id, std::string_view content_hash);

// PART_ADDED, tag "curator.ledger.part_added": Integer(number), the list of bins (Integers), the account.
struct PartAdded {
  int64_t number = 0;
  std::vector<int64_t> bins;
  OpenedAccount account;  // its scope key is the part's name
};
std::string EncodePayload(const PartAdded& document);
absl::StatusOr<PartAdded> ParsePartAdded(std::string_view bytes);

// PART_SEALED, tag "curator.ledger.part_sealed". Facts as in SEALED, of the dataset as a whole.
struct PartSealed {
  int64_t number = 0;
  int64_t version = 0;  // of the dataset, created by this seal
  std::string content_commitment;
  DatasetFacts facts = {};
};
std::string EncodePayload(const PartSealed& document);
absl::StatusOr<PartSealed> ParsePartSealed(std::string_view bytes);

// GRANTED and REVOKED, tag "curator.ledger.grant": what the grantee may do from now on, in place of what it
// had before. A GRANTED of an earlier version is a note with the grantee's name alone: an analyst and
// service.
std::string EncodePayload(const Grant& document);
absl::StatusOr<Grant> ParseGrant(std::string_view bytes);

// RULES_SET, tag "curator.ledger.rules_set": the refusal rules from now on, in place of those before.
struct RulesSet {
  std::string rules;    // canonical bytes (codec/refusal_rules_codec.h); empty: none
  std::string summary;  // what was changed, for display
};
std::string EncodePayload(const RulesSet& document);
absl::StatusOr<RulesSet> ParseRulesSet(std::string_view bytes);

// OWNER_LOOKED, tag "curator.ledger.owner_looked". The hash is keyed: who reads the history cannot tell which
// file it was.
std::string EncodePayload(const OwnerLook& document);
absl::StatusOr<OwnerLook> ParseOwnerLook(std::string_view bytes);

// IMPORT_UNDONE, tag "curator.ledger.import_undone".
struct ImportUndone {
  std::string part;  // its name; empty for a dataset without parts
  std::string import_request_id;
  std::string file_hash;  // keyed, as in OWNER_LOOKED
};
std::string EncodePayload(const ImportUndone& document);
absl::StatusOr<ImportUndone> ParseImportUndone(std::string_view bytes);

// EQUAL_CONTENT (the other dataset's name), RELEASE_SHARED (the release's id, a blank, the grantee), ARCHIVED
// and DATASET_DELETED (empty), OWNER_ACTION (the owner's data access): one text, tag "curator.ledger.note".
std::string EncodeNote(std::string_view text);
absl::StatusOr<std::string> ParseNote(std::string_view bytes);

// CHARGED (started at once) and RESERVED, tag "curator.ledger.charge". Version 1 has no draw identity, and is
// still written where there is none: version 2 ends with one.
struct ChargeMade {
  std::string principal;
  std::string request_id;
  std::string fingerprint;
  int64_t dataset_version = 0;
  std::string kind;
  std::string event;
  std::string label;
  int64_t deadline_us = 0;  // 0 unless reserved
  std::vector<Posting> postings;
  std::string draw_identity = {};  // of a draw of this server; RESERVED with one is a queued draw
};
std::string EncodePayload(const ChargeMade& document);
absl::StatusOr<ChargeMade> ParseChargeMade(std::string_view bytes);

// The reason of a charge that was ended by its deadline: an EXPIRED entry spends a reservation, a CANCELLED
// entry frees a queued draw.
inline constexpr char kExpiredReason[] = "EXPIRED";

// STARTED, EXTENDED, COMMITTED, EXPIRED, CANCELLED, FORFEITED, tag "curator.ledger.charge_changed".
struct ChargeChanged {
  std::string reason;             // kExpiredReason where a deadline passed
  std::string release_id;         // COMMITTED with a release
  std::string payload_hash;       // of that release
  int64_t deadline_us = 0;        // EXTENDED
  std::vector<Posting> postings;  // STARTED after a reservation: the final cost
};
std::string EncodePayload(const ChargeChanged& document);
absl::StatusOr<ChargeChanged> ParseChargeChanged(std::string_view bytes);

// LIMIT_REQUESTED, LIMIT_PROPOSED, LIMIT_CHANGED, tag "curator.ledger.limit". The entry's actor asked for it,
// proposed it or approved it. Version 1, for kByAnother, has no approval: version 2 ends with it.
struct LimitChange {
  std::string proposal_id;
  int64_t account_id = 0;
  std::string counter;
  int64_t old_limit = 0;
  int64_t new_limit = 0;
  std::string reason;
  Approval approval = Approval::kByAnother;  // of LIMIT_CHANGED
};
std::string EncodePayload(const LimitChange& document);
absl::StatusOr<LimitChange> ParseLimitChange(std::string_view bytes);

// LIMIT_REJECTED, LIMIT_WITHDRAWN, LIMIT_TAKEN_UP, tag "curator.ledger.limit_ended": a proposal or a request
// that ended without a change. The reason of LIMIT_TAKEN_UP is the id of the proposal that was made of it.
struct LimitEnded {
  std::string proposal_id;
  std::string reason;
};
std::string EncodePayload(const LimitEnded& document);
absl::StatusOr<LimitEnded> ParseLimitEnded(std::string_view bytes);
// The kind of the entry of an end other than kNone.
std::string KindOf(ProposalEnd end);

// REPAIRED, tag "curator.ledger.repaired". The entry's actor approved it. Amounts are added to those of the
// other entries, so that their order does not matter. Version 1, of earlier versions and of the server's own
// history, has neither of the last two fields: its actor decided alone.
struct RaisedBy {
  int64_t account_id = 0;
  std::string counter;
  int64_t amount = 0;  // >= 0
  int64_t old_limit = 0;
  int64_t new_limit = 0;  // >= old_limit
};
struct Repair {
  std::string reason;
  int64_t last_kept_seq = 0;  // of this dataset, before this entry
  int64_t anchored_seq = 0;   // the anchor's entry: `raised` counts all lost entries up to here
  std::string anchored_hash;
  std::vector<RaisedBy> raised;
  std::vector<std::string> lost_charges;  // ids of charges after that entry, counted from their receipts
  std::string proposed_by = {};           // the owner
  Approval approval = Approval::kByAnother;
};
std::string EncodePayload(const Repair& document);
absl::StatusOr<Repair> ParseRepair(std::string_view bytes);

// The payload of an entry of this kind with `rename` of each name in the place of the name: of owners,
// analysts, members and grantees. Empty for the kinds that name nobody beside the entry's actor, and for
// bytes that are no payload of the kind.
using Rename = std::function<std::string(const std::string& name)>;
std::string WithNamesReplaced(std::string_view kind, std::string_view payload, const Rename& rename);

}  // namespace curator::ledger
