#include "tests/ledger/charging_work.h"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/sql_ledger.h"
#include "tests/ledger/acknowledged_lines.h"

namespace curator::ledger {
namespace {

constexpr int64_t kHour = int64_t{3600} * 1'000'000;

void Report(const ChargeRequest& request, ChargeState state, const std::string& payload) {
  const std::string line = LineOf({request.principal.name(), request.request_id, state, payload});
  if (write(STDOUT_FILENO, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(2);
}

class Charger {
 public:
  Charger(Ledger& ledger, Dataset dataset, int64_t account)
      : ledger_(ledger), dataset_(std::move(dataset)), account_(account) {}

  // What is done, and what it costs, depends on the request id alone: whoever repeats it repeats all of it.
  absl::Status Perform(const std::string& request_id) {
    const auto number = static_cast<unsigned char>(Sha256(request_id)[0]);
    const ChargeRequest request = RequestFor(request_id, 1 + number % 5);
    switch (number % 8) {
      case 0:
        return Forfeit(request);
      case 1:
        return ReserveAndCommit(request);
      case 2:
        return ReserveAndCancel(request);
      default:
        return Store(request);
    }
  }

  absl::Status Hold(const std::string& request_id) {
    const ChargeRequest request = RequestFor(request_id, 1);
    ASSIGN_OR_RETURN(const Attempt attempt, ledger_.Begin(request));
    Report(request, ChargeState::kStarted, "");
    char go = 0;
    if (read(STDIN_FILENO, &go, 1) != 1) return absl::CancelledError("nobody said go");
    ASSIGN_OR_RETURN(const Release release, ledger_.Store(attempt, "from the stopped process"));
    Report(request, ChargeState::kCommitted, release.payload);
    return absl::OkStatus();
  }

 private:
  ChargeRequest RequestFor(const std::string& request_id, int64_t cost) const {
    return {.dataset_id = dataset_.id,
            .dataset_version = dataset_.version,
            .principal = TestPrincipal("ana"),
            .request_id = request_id,
            .fingerprint = Sha256(request_id),
            .kind = "workload",
            .event = "event",
            .label = "all 2-way marginals",
            .sealed_key = absl::StrCat("key of ", request_id),
            .postings = {{account_, "rho", cost}}};
  }

  absl::Status Store(const ChargeRequest& request) {
    ASSIGN_OR_RETURN(const Attempt attempt, ledger_.Begin(request));
    Report(request, ChargeState::kStarted, "");
    if (attempt.release) {
      Report(request, ChargeState::kCommitted, attempt.release->payload);
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const Release release,
                     ledger_.Store(attempt, absl::StrCat("drawn with the ", attempt.sealed_key)));
    Report(request, ChargeState::kCommitted, release.payload);
    return absl::OkStatus();
  }
  absl::Status Forfeit(const ChargeRequest& request) {
    ASSIGN_OR_RETURN(const Attempt attempt, ledger_.Begin(request));
    Report(request, ChargeState::kStarted, "");
    RETURN_IF_ERROR(ledger_.Forfeit(attempt, "no longer wanted"));
    Report(request, ChargeState::kForfeited, "");
    return absl::OkStatus();
  }
  absl::StatusOr<std::string> Reserve(ChargeRequest request) {
    request.sealed_key.clear();
    ASSIGN_OR_RETURN(const std::vector<Charge> reserved, ledger_.Reserve({request}, kHour));
    Report(request, ChargeState::kReserved, "");
    return reserved.at(0).id;
  }
  absl::Status ReserveAndCommit(const ChargeRequest& request) {
    ASSIGN_OR_RETURN(const std::string id, Reserve(request));
    RETURN_IF_ERROR(ledger_.StartReserved(id, {{account_, "rho", 1}}, TestPrincipal("ana")).status());
    Report(request, ChargeState::kStarted, "");
    RETURN_IF_ERROR(ledger_.CommitReserved(id, TestPrincipal("ana")).status());
    Report(request, ChargeState::kCommitted, "");
    return absl::OkStatus();
  }
  absl::Status ReserveAndCancel(const ChargeRequest& request) {
    ASSIGN_OR_RETURN(const std::string id, Reserve(request));
    RETURN_IF_ERROR(ledger_.CancelReserved(id, "no longer wanted", TestPrincipal("ana")).status());
    Report(request, ChargeState::kCancelled, "");
    return absl::OkStatus();
  }

  Ledger& ledger_;
  const Dataset dataset_;
  const int64_t account_;
};

[[noreturn]] void GiveUp(const absl::Status& status) {
  std::fprintf(stderr, "charging work: %s\n", status.ToString().c_str());
  _exit(3);
}

// Refusals that a client meets in a life of crashes: a full account, and a request that has ended before.
bool IsExpected(const absl::Status& status) {
  return status.ok() || absl::IsResourceExhausted(status) || absl::IsFailedPrecondition(status);
}

void Loop(Charger& charger, uint64_t seed, int thread) {
  constexpr int kRequestsOfOneThread = 1000;
  for (int i = 0; i < kRequestsOfOneThread; ++i) {
    // Every fourth request repeats one that the process before this one may have been killed in.
    const uint64_t process = i % 4 == 3 ? seed - 1 : seed;
    const absl::Status status = charger.Perform(absl::StrCat("p", process, " t", thread, " n", i - i % 4));
    if (!IsExpected(status)) GiveUp(status);
  }
}

}  // namespace

void DoChargingWork(const std::vector<std::string>& arguments) {
  const uint64_t seed = std::strtoull(arguments.at(2).c_str(), nullptr, 10);
  const absl::StatusOr<std::unique_ptr<Ledger>> ledger = OpenStoredLedger(
      {.url = arguments.at(0), .anchor_dir = arguments.at(1), .entropy = SeededEntropy(seed)});
  if (!ledger.ok()) GiveUp(ledger.status());
  const absl::StatusOr<Dataset> dataset = (*ledger)->GetDataset("census");
  if (!dataset.ok()) GiveUp(dataset.status());
  const absl::StatusOr<std::vector<Account>> accounts = (*ledger)->ListAccounts(dataset->id);
  if (!accounts.ok()) GiveUp(accounts.status());
  Charger charger(**ledger, *dataset, accounts->at(0).id);
  if (arguments.at(3) == "hold") {
    if (const absl::Status held = charger.Hold(arguments.at(4)); !held.ok()) GiveUp(held);
    return;
  }
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 3; ++thread) {
    threads.emplace_back([&charger, seed, thread] { Loop(charger, seed, thread); });
  }
  for (std::thread& thread : threads) thread.join();
  // A full account ends the requests early: no more lines are written, and the signal finds the process here.
  close(STDOUT_FILENO);
  while (true) pause();
}

}  // namespace curator::ledger
