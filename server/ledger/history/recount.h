// Recomputes accounts, balances and the states of all charges of one lineage from its entries alone, and
// reports contradictions: broken links, edited content, impossible state changes, overdrawn accounts.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
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

// A part of a dataset according to its entries, which commit to its content.
struct RecountedPart {
  Part part;  // without its content hash
  std::string content_commitment;
};

struct RecountedCharge {
  std::string dataset_id;
  ChargeState state = ChargeState::kStarted;
  std::string request_key;  // RequestKey()
  std::string fingerprint;
  std::string draw_identity;
  std::vector<Posting> postings;
  std::string release_id;
  std::string payload_hash;
};

// 16 bytes for the key under which a charge is found again: a history may hold one charge per key.
std::string RequestKey(std::string_view principal, std::string_view request_id);

class Recount {
 public:
  // If the lineage is a single dataset, its entries determine the order of all charges, so the limit is
  // checked after each of them; else once, in Finish().
  explicit Recount(size_t datasets_in_lineage) : datasets_in_lineage_(datasets_in_lineage) {}

  // Entries of one dataset must come in the order of their seq, and the dataset that opened the accounts
  // first.
  void Add(const Entry& entry);
  // Runs the checks that need all entries.
  void Finish();

  const std::map<std::string, ChainHead>& heads() const { return heads_; }
  const std::map<CounterKey, RecountedCounter>& counters() const { return counters_; }
  // By account id.
  const std::map<int64_t, AccountSpec>& accounts() const { return accounts_; }
  const std::unordered_map<std::string, RecountedCharge>& charges() const { return charges_; }
  // By dataset id, in the order of their numbers.
  const std::map<std::string, std::vector<RecountedPart>>& parts() const { return parts_; }
  int64_t entries() const { return entries_; }
  const std::vector<std::string>& findings() const { return findings_; }

 private:
  using Handler = void (Recount::*)(const Entry& entry);
  // The method that applies entries of this kind; null for an unknown kind.
  static Handler HandlerOf(std::string_view kind);

  // Adds a finding about `entry`.
  void Report(const Entry& entry, std::string_view finding);
  void CreateDataset(const Entry& entry);
  void OpenLaterAccount(const Entry& entry);
  void OpenAccount(const Entry& entry, const OpenedAccount& account);
  void CheckSealed(const Entry& entry);
  void CheckProposed(const Entry& entry);
  void CheckNote(const Entry& entry);
  void AddPart(const Entry& entry);
  void SealPart(const Entry& entry);
  void AddCharge(const Entry& entry);
  void ChangeCharge(const Entry& entry);
  void StartReserved(const Entry& entry, RecountedCharge& charge, const std::vector<Posting>& final_cost);
  void ChangeLimit(const Entry& entry);
  void AddRepair(const Entry& entry);
  // Adds factor times cost to spent and held of each posting's counter. Factors are -1, 0 or 1.
  void Post(const Entry& entry, const std::vector<Posting>& postings, int spent_factor, int held_factor);
  void CheckWithinLimit(const CounterKey& key, const RecountedCounter& counter);

  const size_t datasets_in_lineage_;
  std::map<std::string, ChainHead> heads_;
  std::map<int64_t, AccountSpec> accounts_;
  std::map<CounterKey, RecountedCounter> counters_;
  std::unordered_map<std::string, RecountedCharge> charges_;
  std::unordered_set<std::string> request_keys_;
  std::map<std::string, std::vector<RecountedPart>> parts_;
  int64_t entries_ = 0;
  std::vector<std::string> findings_;
};

}  // namespace curator::ledger
