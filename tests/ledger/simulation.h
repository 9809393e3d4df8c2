// Random histories of a ledger against a simple model of it.
//
// One history: two servers over one store, a dataset of its own with one account, and clients whose calls
// interleave: charges, queued draws, releases, forfeits, attempts that are taken over, reservations in all
// their states, retries and duplicates under the same request ids (also with other requests), stale
// attempts, reservations and queued draws that expire, limits that change, and servers that crash at any
// step. Every answer must equal the model's, including refusals; after a crash the ledger must be in the
// state before the call or after it; at the end it must equal the model and verify.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "ledger/conformance/faulty_database.h"
#include "ledger/sql/sql_ledger.h"
#include "tests/ledger/model_ledger.h"

namespace curator::ledger {

class Simulation {
 public:
  using OpenStore = std::function<std::unique_ptr<sql::Database>()>;

  // `open_store` opens one and the same store, which has its schema. `entropy_seed`: another one for each.
  Simulation(OpenStore open_store, std::string anchor_dir, uint64_t entropy_seed);

  // Runs the history of this seed; call it once per seed. One sentence for each fault; empty when there is
  // none.
  std::string Run(uint64_t seed);

 private:
  struct Server {
    FaultyDatabase* store = nullptr;
    std::unique_ptr<sql::SqlLedger> ledger;
  };
  // A call, and the model's answer to it.
  struct Step {
    std::string name;
    std::function<absl::Status(Ledger&)> call;
    std::function<absl::StatusCode(ModelLedger&)> expect;
    bool is_one_transaction = true;  // so that a crash leaves it done or not done
  };
  // The state of the tables, and values that the model cannot predict.
  struct Observed {
    std::string description;
    std::map<std::string, std::string> ids;     // of the charges, by request id
    std::map<std::string, std::string> tokens;  // of their newest attempts
  };

  absl::Status Prepare(uint64_t seed);
  absl::Status Open(Server& server);
  Step Choose();
  Step Charge();
  Step Queue();
  Step StartQueued();
  Step TakeOver();
  Step StoreRelease();
  Step Forfeit();
  Step Reserve();
  Step MoveReservation();
  Step Expire();
  Step ChangeLimit();
  std::string Perform(const Step& step);
  std::string AfterCrash(const Step& step, Server& server);
  std::string Finish();

  absl::StatusOr<Observed> Observe();
  ChargeRequest RequestOf(const ModelRequest& request) const;
  // What Queue() wants has a draw identity and no key yet.
  ChargeRequest QueuedRequestOf(const ModelRequest& request) const;
  ModelRequest RandomRequest();
  // The id of the request of some charge; there is one.
  std::string RandomKnown();
  uint64_t Below(uint64_t bound) { return random_() % bound; }

  const OpenStore open_store_;
  const std::string anchor_dir_;
  const std::unique_ptr<sql::Database> observer_;
  uint64_t entropy_seed_;
  Server servers_[2];

  // Of the history that runs.
  std::mt19937_64 random_;
  std::string principal_;
  Dataset dataset_;
  int64_t account_ = 0;
  ModelLedger model_{0};
  std::map<std::string, std::string> ids_;
  std::vector<Attempt> attempts_;  // that clients have in hand
  int starts_ = 0;
  Attempt begun_;
  int steps_ = 0;
};

}  // namespace curator::ledger
