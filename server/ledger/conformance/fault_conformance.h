// What the tests of faults share: two scripts that take a ledger through every call that changes it. Each may
// be run again and again until it has come to its end, and then everything has happened once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ledger/conformance/faulty_database.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger {

enum class Script {
  kAnalyst,  // a charge with its release, a forfeited charge, a reservation started lower and committed
  kOwner,    // a dataset, its seal, a grant, an account, a limit, a reservation extended and cancelled, one
             // expired, the archive
};

class FaultConformance : public LedgerConformance {
 protected:
  static constexpr Script kScripts[] = {Script::kAnalyst, Script::kOwner};

  void SetUp() override;

  // A ledger whose store can be made to fail. Owned together.
  struct Fragile {
    FaultyDatabase* store = nullptr;
    std::unique_ptr<sql::SqlLedger> ledger;
  };
  Fragile OpenFragile() { return OpenFragile(NextSeed()); }
  Fragile OpenFragile(uint64_t seed);

  // The step that is struck in a run. They are the ledger's steps, the same on every store: where a process,
  // a connection and a commit cost more, every seventh is struck, and at night every one.
  static int StepOf(int run);

  // Told of every step that the ledger has acknowledged.
  using Tell = std::function<void(char step)>;

  // The `run`-th run of the script, from its start or from wherever it was left.
  absl::Status Run(
      Script script, Ledger& ledger, int run, const Tell& tell = [](char) {});
  // What was told to the client is still true.
  void ExpectKept(Script script, Ledger& ledger, int run, const std::string& told);
  // Runs 0, ..., runs - 1 have come to their end, each has happened once, and no invariant is violated.
  void ExpectDone(Script script, Ledger& ledger, int runs);

  const Dataset& dataset() const { return dataset_; }
  ChargeRequest Request(int run, const std::string& name, int64_t cost) const;

 private:
  absl::Status ChargeAndStore(Ledger& ledger, int run, const Tell& tell) const;
  absl::Status ChargeAndForfeit(Ledger& ledger, int run, const Tell& tell) const;
  absl::Status ReserveStartAndCommit(Ledger& ledger, int run, const Tell& tell) const;
  absl::Status RunOwner(Ledger& ledger, int run, const Tell& tell);
  absl::Status OpenAccountAndRaiseLimit(Ledger& ledger, const Dataset& owned, int run,
                                        const Tell& tell) const;
  absl::Status ReserveAndCancel(Ledger& ledger, const Dataset& owned, int run, const Tell& tell) const;
  absl::Status ReserveAndExpire(Ledger& ledger, const Dataset& owned, int run, const Tell& tell);
  void ExpectAnalystKept(Ledger& ledger, int run, const std::string& told) const;
  std::string DrawOf(int run) const;

  Dataset dataset_;
  int64_t account_ = 0;
};

}  // namespace curator::ledger
