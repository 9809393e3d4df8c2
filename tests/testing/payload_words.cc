#include "tests/testing/payload_words.h"

#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "ledger/history/entry_payload.h"

namespace curator::testing {
namespace {

using Words = std::vector<std::string>;

void Append(Words& words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
}

std::string IfSet(std::string_view name, bool is_set) {
  return is_set ? std::string(name) : absl::StrCat("no ", std::string(name));
}

Words WordsOf(const std::vector<ledger::Posting>& postings) {
  Words words;
  for (const ledger::Posting& posting : postings)
    words.push_back(absl::StrCat("account ", posting.account_id, " ", posting.counter, " ", posting.cost));
  return words;
}

Words WordsOf(const ledger::OpenedAccount& account) {
  const ledger::AccountSpec& spec = account.spec;
  Words words = {absl::StrCat("account ", account.id), std::string(ledger::ScopeName(spec.scope_type)),
                 spec.scope_key, absl::CEscape(spec.rule), spec.rule_name};
  for (const ledger::CounterLimit& limit : spec.limits)
    words.push_back(absl::StrCat(limit.counter, " ", limit.limit));
  Append(words, spec.members);
  return words;
}

Words WordsOf(const ledger::DatasetCreated& document) {
  Words words = {document.name,
                 document.owner,
                 document.lineage_id,
                 document.successor_of,
                 absl::CEscape(document.schema_hash),
                 document.neighbour_relation,
                 document.privacy_unit,
                 absl::StrCat(document.max_records_per_unit, " ", document.is_public),
                 document.partition_attribute};
  for (const ledger::OpenedAccount& account : document.accounts) Append(words, WordsOf(account));
  return words;
}

Words WordsOf(const ledger::DatasetSealed& document) {
  return {absl::StrCat("version ", document.version)};
}

Words WordsOf(const ledger::PartAdded& document) {
  Words words = {absl::StrCat("part ", document.number, " ", absl::StrJoin(document.bins, " "))};
  Append(words, WordsOf(document.account));
  return words;
}

Words WordsOf(const ledger::PartSealed& document) {
  return {absl::StrCat("part ", document.number, " version ", document.version)};
}

Words WordsOf(const std::string& note) {
  return {note};
}

Words WordsOf(const ledger::ChargeMade& document) {
  Words words = {document.principal,
                 document.request_id,
                 absl::StrCat("version ", document.dataset_version),
                 document.kind,
                 absl::CEscape(document.event),
                 document.label,
                 IfSet("deadline", document.deadline_us > 0),
                 IfSet("draw identity", !document.draw_identity.empty())};
  Append(words, WordsOf(document.postings));
  return words;
}

Words WordsOf(const ledger::ChargeChanged& document) {
  Words words = {document.reason, document.release_id, IfSet("release", !document.payload_hash.empty()),
                 IfSet("deadline", document.deadline_us > 0)};
  Append(words, WordsOf(document.postings));
  return words;
}

Words WordsOf(const ledger::LimitChange& document) {
  return {document.proposal_id, absl::StrCat("account ", document.account_id),
          absl::StrCat(document.counter, " ", document.old_limit, " to ", document.new_limit),
          document.reason};
}

Words WordsOf(const ledger::LimitEnded& document) {
  return {document.proposal_id, document.reason};
}

Words WordsOf(const ledger::RulesSet& document) {
  return {absl::CEscape(document.rules), document.summary};
}

Words WordsOf(const ledger::Repair& document) {
  Words words = {document.reason, absl::StrCat(document.last_kept_seq, " to ", document.anchored_seq)};
  for (const ledger::RaisedBy& raised : document.raised) {
    words.push_back(absl::StrCat("account ", raised.account_id, " ", raised.counter, " ", raised.amount, " ",
                                 raised.old_limit, " ", raised.new_limit));
  }
  Append(words, document.lost_charges);
  return words;
}

template <typename Parse>
bool Add(std::string_view payload, const Parse& parse, Words& words) {
  const auto document = parse(payload);
  if (document.ok()) words = WordsOf(*document);
  return document.ok();
}

}  // namespace

std::string PayloadWords(std::string_view payload) {
  if (payload.empty()) return "";
  Words words;
  // Payloads begin with the tag of their document, so that only one of these reads them.
  const bool is_known =
      Add(payload, ledger::ParseDatasetCreated, words) || Add(payload, ledger::ParseOpenedAccount, words) ||
      Add(payload, ledger::ParseDatasetSealed, words) || Add(payload, ledger::ParsePartAdded, words) ||
      Add(payload, ledger::ParsePartSealed, words) || Add(payload, ledger::ParseNote, words) ||
      Add(payload, ledger::ParseChargeMade, words) || Add(payload, ledger::ParseChargeChanged, words) ||
      Add(payload, ledger::ParseLimitChange, words) || Add(payload, ledger::ParseLimitEnded, words) ||
      Add(payload, ledger::ParseRulesSet, words) || Add(payload, ledger::ParseRepair, words);
  return is_known ? absl::StrJoin(words, ", ") : "unreadable";
}

}  // namespace curator::testing
