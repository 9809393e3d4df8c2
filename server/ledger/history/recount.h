// Recomputes accounts, balances, owners, grants and the states of all charges of one lineage from its entries
// alone, and reports contradictions: broken links, edited content, impossible state changes, overdrawn
// accounts.
//
// Holds what is still open: a charge is dropped once it has ended, so the memory does not grow with the
// history.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/types.h"

namespace curator::ledger {

using CounterKey = std::pair<int64_t, std::string>;  // account id, counter

struct RecountedCounter {
  int64_t spent = 0;
  int64_t held = 0;
  int64_t limit = 0;
  bool operator==(const RecountedCounter&) const = default;
};

// What a counter has after one of the changes that an entry makes. An entry that moves an amount from held to
// spent, or that repairs, makes several.
struct CounterChange {
  CounterKey key;
  RecountedCounter state;
};

// A part of a dataset according to its entries, which commit to its content.
struct RecountedPart {
  Part part;  // without its content hash
  std::string content_commitment;
};

struct RecountedCharge {
  std::string dataset_id;
  ChargeState state = ChargeState::kStarted;
  std::string draw_identity;
  std::vector<Posting> postings;
  std::string release_id;
  std::string payload_hash;
  std::string reason = {};  // of its end
};

struct RecountedAccount {
  std::string dataset_id;  // the dataset that opened it
  AccountSpec spec;
};

// A dataset according to its entries.
struct RecountedDataset {
  ChainHead head;
  DatasetCreated created;  // without its accounts
  DatasetState state = DatasetState::kCreated;
  // Of the sealed version of a dataset without parts.
  int64_t version = 0;
  std::string content_commitment;
  std::vector<RecountedPart> parts;                     // in the order of their numbers
  std::map<std::string, Grant> grants;                  // by grantee
  std::map<std::string, std::set<std::string>> shares;  // grantees by release id
  std::string refusal_rules;                            // those of the newest RULES_SET
  DatasetFacts facts;
  std::set<std::string> looks;  // the hashes of the files that the owner looked at
  int64_t entries = 0;
  int64_t charges = 0;
  int64_t releases = 0;
  // Of limits, requests among them; not counted from a checkpoint on.
  int64_t proposals = 0;
  int64_t approvals = 0;
  int64_t ended_proposals = 0;
  // No link is broken so far. What a dataset says about its owner, its grants, its shares and its rules
  // counts only as far as its chain is whole.
  bool is_whole = true;
};

// What the entries so far have made: all that later entries are checked against. Its size grows with what is
// open, let in or shared, and not with the number of entries.
struct RecountState {
  std::map<std::string, RecountedDataset> datasets;  // by id
  std::map<int64_t, RecountedAccount> accounts;      // by id
  std::map<CounterKey, RecountedCounter> counters;
  std::unordered_map<std::string, RecountedCharge> open_charges;  // those that have not ended, by id
  int64_t entries = 0;
};

// Findings, of which only the first are kept.
class RecountFindings {
 public:
  static constexpr size_t kMostKept = 1000;

  void Add(std::string finding) {
    if (++count_ <= static_cast<int64_t>(kMostKept)) kept_.push_back(std::move(finding));
  }
  int64_t count() const { return count_; }
  const std::vector<std::string>& kept() const { return kept_; }

 private:
  int64_t count_ = 0;
  std::vector<std::string> kept_;
};

// The text of an amount of a counter. The ledger knows no units: a caller that does supplies another one.
using AmountText = std::function<std::string(std::string_view counter, int64_t amount)>;
std::string IntegerText(std::string_view counter, int64_t amount);

class Recount {
 public:
  // If the lineage is a single dataset, its entries determine the order of all charges, so the limit is
  // checked after each of them; else once, in Finish().
  explicit Recount(size_t datasets_in_lineage, AmountText amount_text = IntegerText)
      : datasets_in_lineage_(datasets_in_lineage), amount_text_(std::move(amount_text)) {}
  // Goes on after the entries that made `state`, which contradicted nothing.
  void Resume(RecountState state) { state_ = std::move(state); }

  // Entries of one dataset must come in the order of their seq, and the dataset that opened the accounts
  // first. Returns the charge that the entry ended, which is then dropped.
  std::optional<RecountedCharge> Add(const Entry& entry);
  // Of counters, by the last entry.
  const std::vector<CounterChange>& last_changes() const { return last_changes_; }
  // Runs the checks that need all entries.
  void Finish();
  void set_datasets_in_lineage(size_t datasets) { datasets_in_lineage_ = datasets; }

  // By dataset id.
  const std::map<std::string, RecountedDataset>& datasets() const { return state_.datasets; }
  const std::map<CounterKey, RecountedCounter>& counters() const { return state_.counters; }
  // By account id.
  const std::map<int64_t, RecountedAccount>& accounts() const { return state_.accounts; }
  // The charges that have not ended, by id.
  const std::unordered_map<std::string, RecountedCharge>& open_charges() const { return state_.open_charges; }
  int64_t entries() const { return state_.entries; }
  const RecountState& state() const { return state_; }

  // Findings name datasets and accounts by their names.
  const RecountFindings& findings() const { return findings_; }
  void AddFinding(std::string finding) { findings_.Add(std::move(finding)); }
  // A finding that concerns this charge, too.
  void AddFinding(const std::string& charge_id, std::string finding);
  // The charges that findings concern. Past kMostKept it is incomplete, and nothing about any charge counts.
  const std::set<std::string>& damaged_charges() const { return damaged_charges_; }

  std::string NameOfDataset(const std::string& dataset_id) const;
  std::string NameOfAccount(int64_t account_id) const;
  std::string TextOf(std::string_view counter, int64_t amount) const { return amount_text_(counter, amount); }

 private:
  using Handler = void (Recount::*)(const Entry& entry);
  // The method that applies entries of this kind; null for an unknown kind.
  static Handler HandlerOf(std::string_view kind);

  // Adds a finding about `entry`.
  void Report(const Entry& entry, std::string_view finding);
  void CreateDataset(const Entry& entry);
  void OpenLaterAccount(const Entry& entry);
  void OpenAccount(const Entry& entry, const OpenedAccount& account);
  void Seal(const Entry& entry);
  void Publish(const Entry& entry);
  void Archive(const Entry& entry);
  void SetGrant(const Entry& entry);
  void SetRefusalRules(const Entry& entry);
  void ShareRelease(const Entry& entry);
  void CountProposal(const Entry& entry);
  void CountEndedProposal(const Entry& entry);
  void CheckNote(const Entry& entry);
  void AddLook(const Entry& entry);
  void UndoImport(const Entry& entry);
  void DeleteDataset(const Entry& entry);
  void AddPart(const Entry& entry);
  void SealPart(const Entry& entry);
  void AddCharge(const Entry& entry);
  void ChangeCharge(const Entry& entry);
  void StartReserved(const Entry& entry, RecountedCharge& charge, const std::vector<Posting>& final_cost);
  void EndCharge(const Entry& entry, ChargeState state, const std::string& reason);
  void ChangeLimit(const Entry& entry);
  void AddRepair(const Entry& entry);
  // Adds factor times cost to spent and held of each posting's counter. Factors are -1, 0 or 1.
  void Post(const Entry& entry, const std::vector<Posting>& postings, int spent_factor, int held_factor);
  // Notes what the counter has now.
  void NoteChange(const CounterKey& key, const RecountedCounter& counter) {
    last_changes_.push_back({key, counter});
  }
  void CheckWithinLimit(const CounterKey& key, const RecountedCounter& counter);

  size_t datasets_in_lineage_;
  AmountText amount_text_;
  RecountState state_;
  std::optional<RecountedCharge> ended_;  // by the entry that is being added
  std::vector<CounterChange> last_changes_;
  RecountFindings findings_;
  std::set<std::string> damaged_charges_;
};

}  // namespace curator::ledger
