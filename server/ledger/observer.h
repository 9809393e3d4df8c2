// What is measured of a ledger, for its operator.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "ledger/types.h"

namespace curator::ledger {

// How a request for a charge ended, or a charge itself.
enum class ChargeOutcome : uint8_t {
  kAdmission,  // charged, or its cost is held
  kRefusal,    // an account is full
  kReplay,     // the same request was charged before
  kForfeit,    // ended without a release, its cost stands
  kExpiry,     // was not started in time
};

// Thread-safe. Called by the threads that do the work, after it, while no lock is held: must not block, must
// not call the ledger, and must not throw: the change is made, and other threads may wait for this one. Does
// nothing by itself.
class Observer {
 public:
  virtual ~Observer() = default;

  // A transaction with so many changes of charges, or with a change of another kind (0), ended in the store,
  // which took so long with its waits for locks. `outcome` is the store's; that of a transaction that refused
  // its only change is the refusal.
  virtual void OnCommit(std::chrono::nanoseconds /*took*/, size_t /*charges*/,
                        const absl::Status& /*outcome*/) {}
  // A change waited so long for the anchor to cover it.
  virtual void OnAnchored(std::chrono::nanoseconds /*took*/, const absl::Status& /*outcome*/) {}
  // `kind` as of ChargeRequest::kind.
  virtual void OnCharge(std::string_view /*dataset_id*/, std::string_view /*kind*/,
                        ChargeOutcome /*outcome*/) {}
};

// What is known of a dataset's history, without reading it.
struct HistoryState {
  int64_t unanchored_entries = 0;  // that this server has committed and its anchor does not cover yet
  int64_t verified_at_us = 0;      // by a pass since the ledger was opened; 0: none has ended
};

// Which balances to read: of the first so many datasets by name that are not archived, with at most so many
// accounts together. Datasets that are known to be damaged are listed too, up to as many again: also archived
// ones and those beyond that number.
struct BalanceQuery {
  int64_t most_datasets = 1000;
  int64_t most_accounts = 2000;
  bool with_analysts = false;  // and groups of them; else only accounts of datasets and parts
};
struct MeasuredDataset {
  std::string id;
  std::string name;
};
struct MeasuredAccount {
  std::string dataset;  // its name; an account of a lineage is there for each dataset of it
  Account account;      // its scope and counters alone
};
struct Balances {
  std::vector<MeasuredDataset> datasets;  // by name
  std::vector<MeasuredAccount> accounts;  // by dataset and scope
  bool is_cut = false;                    // there are more
};

}  // namespace curator::ledger
