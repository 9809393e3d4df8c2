// The fixture of the fault tests: two scripts that make every call that changes a ledger. A script may be run
// repeatedly until it reaches its end; then everything has happened exactly once.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "ledger/conformance/fragile_ledger.h"
#include "ledger/conformance/ledger_conformance.h"

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

  FragileLedger OpenFragile() { return OpenFragile(NextSeed()); }
  FragileLedger OpenFragile(uint64_t seed) { return OpenFragile(OpenStore(), seed); }
  FragileLedger OpenFragile(std::unique_ptr<sql::Database> store, uint64_t seed);

  // Charges 1 under this name and the numbers after `charges` until a charge was optimistic: the next one
  // will be, too. Returns the last number.
  int ChargeUntilGuessed(const FragileLedger& fragile, const std::string& name, int charges) const;

  // The steps that are made to fail, one per run: every third, where a process, a connection and a commit
  // cost more every seventh, and in nightly runs every one. They are the ledger's steps, the same on every
  // store.
  static int StepOf(int run);

  // Called for every step that the ledger has acknowledged.
  using Report = std::function<void(char step)>;

  struct Killed {
    bool was_killed = false;
    std::string reported;
  };
  // Runs `work`, which may arm the store's faults, in a process of its own until it ends or is killed. The
  // caller must have no other threads.
  Killed RunInProcess(
      const std::function<absl::Status(const FragileLedger& fragile, const Report& report)>& work);

  // The `run`-th run of the script, from its start or from where an earlier attempt stopped.
  absl::Status Run(
      Script script, Ledger& ledger, int run, const Report& report = [](char) {});
  // Everything that was acknowledged to the client still holds.
  void ExpectKept(Script script, Ledger& ledger, int run, const std::string& reported);
  // Runs 0, ..., runs - 1 have reached their end, each exactly once, and no invariant is violated.
  void ExpectDone(Script script, Ledger& ledger, int runs);

  const Dataset& dataset() const { return dataset_; }
  ChargeRequest Request(int run, const std::string& name, int64_t cost) const;

 private:
  absl::Status ChargeAndStore(Ledger& ledger, int run, const Report& report) const;
  absl::Status ChargeAndForfeit(Ledger& ledger, int run, const Report& report) const;
  absl::Status ReserveStartAndCommit(Ledger& ledger, int run, const Report& report) const;
  absl::Status RunOwner(Ledger& ledger, int run, const Report& report);
  absl::Status OpenAccountAndRaiseLimit(Ledger& ledger, const Dataset& owned, int run,
                                        const Report& report) const;
  absl::Status ReserveAndCancel(Ledger& ledger, const Dataset& owned, int run, const Report& report) const;
  absl::Status ReserveAndExpire(Ledger& ledger, const Dataset& owned, int run, const Report& report);
  void ExpectAnalystKept(Ledger& ledger, int run, const std::string& reported) const;
  std::string DrawOf(int run) const;

  Dataset dataset_;
  int64_t account_ = 0;
};

}  // namespace curator::ledger
