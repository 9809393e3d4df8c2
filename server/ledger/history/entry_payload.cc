#include "ledger/history/entry_payload.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::ledger {
void WritePostings(CanonicalWriter& writer, const std::vector<Posting>& postings) {
  writer.Integer(static_cast<int64_t>(postings.size()));
  for (const Posting& posting : postings) {
    writer.Integer(posting.account_id);
    writer.Text(posting.counter);
    writer.Integer(posting.cost);
  }
}

std::vector<Posting> ReadPostings(CanonicalReader& reader) {
  constexpr int64_t kLeastBytes = 24;
  std::vector<Posting> postings(static_cast<size_t>(reader.Count(kLeastBytes)));
  for (Posting& posting : postings) {
    posting.account_id = reader.Integer();
    posting.counter = reader.Text();
    posting.cost = reader.Integer();
  }
  return postings;
}

namespace {

constexpr char kGrantTag[] = "curator.ledger.grant";
constexpr char kDatasetCreatedTag[] = "curator.ledger.dataset_created";
constexpr char kSealedTag[] = "curator.ledger.sealed";
constexpr char kPartSealedTag[] = "curator.ledger.part_sealed";

void WriteAccount(CanonicalWriter& writer, const OpenedAccount& account) {
  writer.Integer(account.id);
  writer.Text(ScopeName(account.spec.scope_type));
  writer.Text(account.spec.scope_key);
  writer.Text(account.spec.rule);
  writer.Text(account.spec.rule_name);
  writer.Integer(static_cast<int64_t>(account.spec.limits.size()));
  for (const CounterLimit& limit : account.spec.limits) {
    writer.Text(limit.counter);
    writer.Integer(limit.limit);
  }
}

void WriteApproval(CanonicalWriter& writer, Approval approval) {
  writer.Integer(approval == Approval::kSingleCustody ? 1 : 0);
}

Approval ReadApproval(CanonicalReader& reader) {
  const int64_t number = reader.Integer();
  if (number < 0 || number > 1) reader.Refuse();
  return number == 0 ? Approval::kByAnother : Approval::kSingleCustody;
}

// The version of a document that ends with facts only where one is true.
int64_t VersionFor(const DatasetFacts& facts) {
  return facts == DatasetFacts() ? 1 : 2;
}

void WriteFacts(CanonicalWriter& writer, const DatasetFacts& facts) {
  const int64_t number = NumberOf(facts);
  if (number > 0) writer.Integer(number);
}

// As WriteFacts() wrote them in a document of this tag.
int64_t VersionWithFacts(std::string_view bytes, std::string_view tag) {
  return CanonicalReader(bytes, tag, 2).ok() ? 2 : 1;
}

DatasetFacts ReadFacts(CanonicalReader& reader, int64_t version) {
  if (version < 2) return {};
  const int64_t number = reader.Integer();
  if (number < 1 || number > 3) reader.Refuse();
  return FactsOf(number);
}

OpenedAccount ReadAccount(CanonicalReader& reader) {
  OpenedAccount account;
  account.id = reader.Integer();
  const absl::StatusOr<ScopeType> scope = ScopeFromName(reader.Text());
  if (scope.ok()) {
    account.spec.scope_type = *scope;
  } else {
    reader.Refuse();
  }
  account.spec.scope_key = reader.Text();
  account.spec.rule = reader.Text();
  account.spec.rule_name = reader.Text();
  constexpr int64_t kLeastBytes = 16;
  account.spec.limits.resize(static_cast<size_t>(reader.Count(kLeastBytes)));
  for (CounterLimit& limit : account.spec.limits) {
    limit.counter = reader.Text();
    limit.limit = reader.Integer();
  }
  return account;
}

}  // namespace

std::string EncodePayload(const DatasetCreated& document) {
  CanonicalWriter writer(kDatasetCreatedTag, VersionFor(document.facts));
  writer.Text(document.name);
  writer.Text(document.owner);
  writer.Text(document.lineage_id);
  writer.Text(document.successor_of);
  writer.Text(document.schema_hash);
  writer.Text(document.neighbour_relation);
  writer.Text(document.privacy_unit);
  writer.Integer(document.max_records_per_unit);
  writer.Integer(document.is_public);
  writer.Text(document.partition_attribute);
  writer.Integer(static_cast<int64_t>(document.accounts.size()));
  for (const OpenedAccount& account : document.accounts) WriteAccount(writer, account);
  WriteFacts(writer, document.facts);
  return std::move(writer).Take();
}

absl::StatusOr<DatasetCreated> ParseDatasetCreated(std::string_view bytes) {
  const int64_t version = VersionWithFacts(bytes, kDatasetCreatedTag);
  CanonicalReader reader(bytes, kDatasetCreatedTag, version);
  DatasetCreated document;
  document.name = reader.Text();
  document.owner = reader.Text();
  document.lineage_id = reader.Text();
  document.successor_of = reader.Text();
  document.schema_hash = reader.Text();
  document.neighbour_relation = reader.Text();
  document.privacy_unit = reader.Text();
  document.max_records_per_unit = reader.Integer();
  document.is_public = reader.Integer();
  document.partition_attribute = reader.Text();
  constexpr int64_t kLeastBytes = 48;
  const int64_t count = reader.Count(kLeastBytes);
  for (int64_t i = 0; i < count; ++i) document.accounts.push_back(ReadAccount(reader));
  document.facts = ReadFacts(reader, version);
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const Grant& document) {
  CanonicalWriter writer(kGrantTag, 1);
  writer.Text(document.grantee);
  writer.Integer(document.roles);
  writer.Integer(document.expires_at_us);
  return std::move(writer).Take();
}

absl::StatusOr<Grant> ParseGrant(std::string_view bytes) {
  if (absl::StatusOr<std::string> note = ParseNote(bytes); note.ok()) {
    return Grant{.grantee = *std::move(note), .roles = kGrantedAnalyst | kGrantedService};
  }
  CanonicalReader reader(bytes, kGrantTag, 1);
  Grant grant;
  grant.grantee = reader.Text();
  grant.roles = reader.Integer();
  grant.expires_at_us = reader.Integer();
  RETURN_IF_ERROR(reader.Finish());
  return grant;
}

std::string EncodePayload(const DatasetPublished& document) {
  CanonicalWriter writer("curator.ledger.published", 1);
  WriteApproval(writer, document.approval);
  return std::move(writer).Take();
}

absl::StatusOr<DatasetPublished> ParseDatasetPublished(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.published", 1);
  DatasetPublished document;
  document.approval = ReadApproval(reader);
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const RulesSet& document) {
  CanonicalWriter writer("curator.ledger.rules_set", 1);
  writer.Text(document.rules);
  writer.Text(document.summary);
  return std::move(writer).Take();
}

absl::StatusOr<RulesSet> ParseRulesSet(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.rules_set", 1);
  RulesSet document;
  document.rules = reader.Text();
  document.summary = reader.Text();
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const OpenedAccount& document) {
  CanonicalWriter writer("curator.ledger.account_opened", 1);
  WriteAccount(writer, document);
  writer.Integer(static_cast<int64_t>(document.spec.members.size()));
  for (const std::string& member : document.spec.members) writer.Text(member);
  return std::move(writer).Take();
}

absl::StatusOr<OpenedAccount> ParseOpenedAccount(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.account_opened", 1);
  OpenedAccount document = ReadAccount(reader);
  constexpr int64_t kLeastBytes = 8;
  document.spec.members.resize(static_cast<size_t>(reader.Count(kLeastBytes)));
  for (std::string& member : document.spec.members) member = reader.Text();
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const DatasetSealed& document) {
  CanonicalWriter writer(kSealedTag, VersionFor(document.facts));
  writer.Integer(document.version);
  writer.Text(document.content_commitment);
  WriteFacts(writer, document.facts);
  return std::move(writer).Take();
}

absl::StatusOr<DatasetSealed> ParseDatasetSealed(std::string_view bytes) {
  const int64_t version = VersionWithFacts(bytes, kSealedTag);
  CanonicalReader reader(bytes, kSealedTag, version);
  DatasetSealed document;
  document.version = reader.Integer();
  document.content_commitment = reader.Text();
  document.facts = ReadFacts(reader, version);
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string ContentCommitment(std::string_view dataset_id, std::string_view content_hash) {
  CanonicalWriter writer("curator.ledger.content", 1);
  writer.Text(dataset_id);
  writer.Text(content_hash);
  return Sha256(std::move(writer).Take());
}

std::string EncodePayload(const PartAdded& document) {
  CanonicalWriter writer("curator.ledger.part_added", 1);
  writer.Integer(document.number);
  writer.Integer(static_cast<int64_t>(document.bins.size()));
  for (const int64_t bin : document.bins) writer.Integer(bin);
  WriteAccount(writer, document.account);
  return std::move(writer).Take();
}

absl::StatusOr<PartAdded> ParsePartAdded(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.part_added", 1);
  PartAdded document;
  document.number = reader.Integer();
  constexpr int64_t kLeastBytes = 8;
  document.bins.resize(static_cast<size_t>(reader.Count(kLeastBytes)));
  for (int64_t& bin : document.bins) bin = reader.Integer();
  document.account = ReadAccount(reader);
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const PartSealed& document) {
  CanonicalWriter writer(kPartSealedTag, VersionFor(document.facts));
  writer.Integer(document.number);
  writer.Integer(document.version);
  writer.Text(document.content_commitment);
  WriteFacts(writer, document.facts);
  return std::move(writer).Take();
}

absl::StatusOr<PartSealed> ParsePartSealed(std::string_view bytes) {
  const int64_t version = VersionWithFacts(bytes, kPartSealedTag);
  CanonicalReader reader(bytes, kPartSealedTag, version);
  PartSealed document;
  document.number = reader.Integer();
  document.version = reader.Integer();
  document.content_commitment = reader.Text();
  document.facts = ReadFacts(reader, version);
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const OwnerLook& document) {
  CanonicalWriter writer("curator.ledger.owner_looked", 1);
  writer.Text(document.file_hash);
  writer.Integer(document.time_us);
  writer.Integer(document.accepted_domain ? 1 : 0);
  return std::move(writer).Take();
}

absl::StatusOr<OwnerLook> ParseOwnerLook(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.owner_looked", 1);
  OwnerLook document;
  document.file_hash = reader.Text();
  document.time_us = reader.Integer();
  const int64_t accepted = reader.Integer();
  if (accepted < 0 || accepted > 1) reader.Refuse();
  document.accepted_domain = accepted == 1;
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const ImportUndone& document) {
  CanonicalWriter writer("curator.ledger.import_undone", 1);
  writer.Text(document.part);
  writer.Text(document.import_request_id);
  writer.Text(document.file_hash);
  return std::move(writer).Take();
}

absl::StatusOr<ImportUndone> ParseImportUndone(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.import_undone", 1);
  ImportUndone document;
  document.part = reader.Text();
  document.import_request_id = reader.Text();
  document.file_hash = reader.Text();
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodeNote(std::string_view text) {
  CanonicalWriter writer("curator.ledger.note", 1);
  writer.Text(text);
  return std::move(writer).Take();
}

absl::StatusOr<std::string> ParseNote(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.note", 1);
  std::string text = reader.Text();
  RETURN_IF_ERROR(reader.Finish());
  return text;
}

std::string EncodePayload(const ChargeMade& document) {
  CanonicalWriter writer("curator.ledger.charge", document.draw_identity.empty() ? 1 : 2);
  writer.Text(document.principal);
  writer.Text(document.request_id);
  writer.Text(document.fingerprint);
  writer.Integer(document.dataset_version);
  writer.Text(document.kind);
  writer.Text(document.event);
  writer.Text(document.label);
  writer.Integer(document.deadline_us);
  WritePostings(writer, document.postings);
  if (!document.draw_identity.empty()) writer.Text(document.draw_identity);
  return std::move(writer).Take();
}

absl::StatusOr<ChargeMade> ParseChargeMade(std::string_view bytes) {
  const bool has_identity = CanonicalReader(bytes, "curator.ledger.charge", 2).ok();
  CanonicalReader reader(bytes, "curator.ledger.charge", has_identity ? 2 : 1);
  ChargeMade document;
  document.principal = reader.Text();
  document.request_id = reader.Text();
  document.fingerprint = reader.Text();
  document.dataset_version = reader.Integer();
  document.kind = reader.Text();
  document.event = reader.Text();
  document.label = reader.Text();
  document.deadline_us = reader.Integer();
  document.postings = ReadPostings(reader);
  if (has_identity) {
    document.draw_identity = reader.Text();
    if (document.draw_identity.empty()) reader.Refuse();
  }
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const ChargeChanged& document) {
  CanonicalWriter writer("curator.ledger.charge_changed", 1);
  writer.Text(document.reason);
  writer.Text(document.release_id);
  writer.Text(document.payload_hash);
  writer.Integer(document.deadline_us);
  WritePostings(writer, document.postings);
  return std::move(writer).Take();
}

absl::StatusOr<ChargeChanged> ParseChargeChanged(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.charge_changed", 1);
  ChargeChanged document;
  document.reason = reader.Text();
  document.release_id = reader.Text();
  document.payload_hash = reader.Text();
  document.deadline_us = reader.Integer();
  document.postings = ReadPostings(reader);
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const LimitChange& document) {
  CanonicalWriter writer("curator.ledger.limit", document.approval == Approval::kByAnother ? 1 : 2);
  writer.Text(document.proposal_id);
  writer.Integer(document.account_id);
  writer.Text(document.counter);
  writer.Integer(document.old_limit);
  writer.Integer(document.new_limit);
  writer.Text(document.reason);
  if (document.approval != Approval::kByAnother) WriteApproval(writer, document.approval);
  return std::move(writer).Take();
}

absl::StatusOr<LimitChange> ParseLimitChange(std::string_view bytes) {
  const bool has_approval = CanonicalReader(bytes, "curator.ledger.limit", 2).ok();
  CanonicalReader reader(bytes, "curator.ledger.limit", has_approval ? 2 : 1);
  LimitChange document;
  document.proposal_id = reader.Text();
  document.account_id = reader.Integer();
  document.counter = reader.Text();
  document.old_limit = reader.Integer();
  document.new_limit = reader.Integer();
  document.reason = reader.Text();
  if (has_approval) {
    document.approval = ReadApproval(reader);
    if (document.approval == Approval::kByAnother) reader.Refuse();
  }
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string EncodePayload(const LimitEnded& document) {
  CanonicalWriter writer("curator.ledger.limit_ended", 1);
  writer.Text(document.proposal_id);
  writer.Text(document.reason);
  return std::move(writer).Take();
}

absl::StatusOr<LimitEnded> ParseLimitEnded(std::string_view bytes) {
  CanonicalReader reader(bytes, "curator.ledger.limit_ended", 1);
  LimitEnded document;
  document.proposal_id = reader.Text();
  document.reason = reader.Text();
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

std::string KindOf(ProposalEnd end) {
  return absl::StrCat("LIMIT_", std::string(EndName(end)));
}

std::string EncodePayload(const Repair& document) {
  const bool is_proposed = !document.proposed_by.empty();
  CanonicalWriter writer("curator.ledger.repaired", is_proposed ? 2 : 1);
  writer.Text(document.reason);
  writer.Integer(document.last_kept_seq);
  writer.Integer(document.anchored_seq);
  writer.Text(document.anchored_hash);
  writer.Integer(static_cast<int64_t>(document.raised.size()));
  for (const RaisedBy& raised : document.raised) {
    writer.Integer(raised.account_id);
    writer.Text(raised.counter);
    writer.Integer(raised.amount);
    writer.Integer(raised.old_limit);
    writer.Integer(raised.new_limit);
  }
  writer.Integer(static_cast<int64_t>(document.lost_charges.size()));
  for (const std::string& charge_id : document.lost_charges) writer.Text(charge_id);
  if (is_proposed) {
    writer.Text(document.proposed_by);
    WriteApproval(writer, document.approval);
  }
  return std::move(writer).Take();
}

absl::StatusOr<Repair> ParseRepair(std::string_view bytes) {
  const bool is_proposed = CanonicalReader(bytes, "curator.ledger.repaired", 2).ok();
  CanonicalReader reader(bytes, "curator.ledger.repaired", is_proposed ? 2 : 1);
  Repair document;
  document.reason = reader.Text();
  document.last_kept_seq = reader.Integer();
  document.anchored_seq = reader.Integer();
  document.anchored_hash = reader.Text();
  constexpr int64_t kLeastRaisedBytes = 40;
  document.raised.resize(static_cast<size_t>(reader.Count(kLeastRaisedBytes)));
  for (RaisedBy& raised : document.raised) {
    raised.account_id = reader.Integer();
    raised.counter = reader.Text();
    raised.amount = reader.Integer();
    raised.old_limit = reader.Integer();
    raised.new_limit = reader.Integer();
    if (raised.amount < 0 || raised.new_limit < raised.old_limit) reader.Refuse();
  }
  document.lost_charges.resize(static_cast<size_t>(reader.Count()));
  for (std::string& charge_id : document.lost_charges) charge_id = reader.Text();
  if (is_proposed) {
    document.proposed_by = reader.Text();
    document.approval = ReadApproval(reader);
    if (document.proposed_by.empty()) reader.Refuse();
  }
  RETURN_IF_ERROR(reader.Finish());
  return document;
}

namespace {

void Replace(OpenedAccount& account, const Rename& rename) {
  if (account.spec.scope_type == ScopeType::kAnalyst) account.spec.scope_key = rename(account.spec.scope_key);
  for (std::string& member : account.spec.members) member = rename(member);
  std::ranges::sort(account.spec.members);
}

void Replace(DatasetCreated& created, const Rename& rename) {
  created.owner = rename(created.owner);
  for (OpenedAccount& account : created.accounts) Replace(account, rename);
}

void Replace(Repair& repair, const Rename& rename) {
  if (!repair.proposed_by.empty()) repair.proposed_by = rename(repair.proposed_by);
}

void Replace(Grant& grant, const Rename& rename) {
  grant.grantee = rename(grant.grantee);
}

template <typename Document>
std::string EncodeReplaced(absl::StatusOr<Document> document, const Rename& rename) {
  if (!document.ok()) return {};
  Replace(*document, rename);
  return EncodePayload(*document);
}

// "RELEASE GRANTEE"
std::string EncodeSharedReplaced(const absl::StatusOr<std::string>& note, const Rename& rename) {
  const size_t blank = note.ok() ? note->rfind(' ') : std::string::npos;
  if (blank == std::string::npos) return {};
  return EncodeNote(absl::StrCat(note->substr(0, blank + 1), rename(note->substr(blank + 1))));
}

}  // namespace

std::string WithNamesReplaced(std::string_view kind, std::string_view payload, const Rename& rename) {
  if (kind == kDatasetCreated) return EncodeReplaced(ParseDatasetCreated(payload), rename);
  if (kind == kAccountOpened) return EncodeReplaced(ParseOpenedAccount(payload), rename);
  if (kind == kGranted || kind == kRevoked) return EncodeReplaced(ParseGrant(payload), rename);
  if (kind == kRepaired) return EncodeReplaced(ParseRepair(payload), rename);
  if (kind == kReleaseShared) return EncodeSharedReplaced(ParseNote(payload), rename);
  return {};
}

}  // namespace curator::ledger
