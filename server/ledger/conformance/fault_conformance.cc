#include "ledger/conformance/fault_conformance.h"

#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "base/testing/names.h"
#include "gmock/gmock.h"
#include "ledger/conformance/invariants.h"
#include "ledger/history/entry_payload.h"
#include "tests/testing/nightly.h"

namespace curator::ledger {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;

constexpr int64_t kHour = int64_t{3600} * 1'000'000;
constexpr int64_t kCostOfOneAnalyst = 3 + 2 + 1;

std::string OwnedName(int run) {
  return absl::StrCat("owned in run ", run);
}

// The owner's steps and the entries that they leave.
const std::map<char, std::string>& OwnersEntries() {
  static const std::map<char, std::string> entries = {
      {'d', kDatasetCreated}, {'s', kSealed},         {'g', kGranted},       {'f', kRulesSet},
      {'a', kAccountOpened},  {'w', kLimitRequested}, {'p', kLimitProposed}, {'l', kLimitChanged},
      {'e', kExtended},       {'x', kCancelled},      {'o', kExpired},       {'z', kArchived}};
  return entries;
}

std::vector<std::string> KindsOf(Ledger& ledger, const std::string& dataset_id) {
  std::vector<std::string> kinds;
  for (const Entry& entry : Must(ledger.ListEntries(dataset_id, {}))) {
    // A repeated extension extends again.
    if (entry.kind != kExtended || kinds.back() != kExtended) kinds.push_back(entry.kind);
  }
  return kinds;
}

}  // namespace

void FaultConformance::SetUp() {
  LedgerConformance::SetUp();
  auto ledger = Open();
  dataset_ = MakeDataset(*ledger, "census", 1'000'000);
  account_ = FirstAccount(*ledger, dataset_);
}

FragileLedger FaultConformance::OpenFragile(std::unique_ptr<sql::Database> store, uint64_t seed) {
  const bool is_file = GetParam() == "sqlite";
  auto faulty =
      std::make_unique<FaultyDatabase>(std::move(store), is_file ? FaultyDatabase::Calls::kOfOneStatement
                                                                 : FaultyDatabase::Calls::kAsTheyCome);
  FragileLedger fragile;
  fragile.store = faulty.get();
  fragile.ledger = Must(sql::SqlLedger::Open(std::move(faulty), anchor_dir(), SeededEntropy(seed)));
  return fragile;
}

int FaultConformance::ChargeUntilGuessed(const FragileLedger& fragile, const std::string& name,
                                         int charges) const {
  constexpr int kMostCharges = 200;
  const int64_t before = fragile.store->guesses();
  for (int i = 0; i < kMostCharges && fragile.store->guesses() == before; ++i) {
    Must(fragile.ledger->Begin(Request(++charges, name, 1)));
  }
  EXPECT_GT(fragile.store->guesses(), before);
  return charges;
}

FaultConformance::Killed FaultConformance::RunInProcess(
    const std::function<absl::Status(const FragileLedger& fragile, const Report& report)>& work) {
  int ends[2];
  const uint64_t seed = NextSeed();  // before the fork, so that nobody draws the same ids again
  EXPECT_EQ(pipe(ends), 0);
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    const FragileLedger fragile = OpenFragile(seed);
    const absl::Status status = work(fragile, [&](char reported) {
      if (write(ends[1], &reported, 1) != 1) _exit(2);
    });
    _exit(status.ok() ? 0 : 1);
  }
  close(ends[1]);
  Killed result;
  char reported = 0;
  while (read(ends[0], &reported, 1) == 1) result.reported.push_back(reported);
  close(ends[0]);
  int status = 0;
  EXPECT_EQ(waitpid(child, &status, 0), child);
  result.was_killed = WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  EXPECT_TRUE(result.was_killed || (WIFEXITED(status) && WEXITSTATUS(status) == 0));
  return result;
}

int FaultConformance::StepOf(int run) {
  if (nightly::IsOn()) return run;
  return GetParam() == "sqlite" ? 3 * run : 7 * run;
}

ChargeRequest FaultConformance::Request(int run, const std::string& name, int64_t cost) const {
  return RequestOf(dataset_, absl::StrCat(name, " in run ", run), account_, cost);
}

std::string FaultConformance::DrawOf(int run) const {
  return absl::StrCat("drawn with ", Request(run, "stored", 3).sealed_key);
}

absl::Status FaultConformance::ChargeAndStore(Ledger& ledger, int run, const Report& report) const {
  ASSIGN_OR_RETURN(const Attempt attempt, ledger.Begin(Request(run, "stored", 3)));
  report('b');
  if (attempt.release) return absl::OkStatus();
  // The same key gives the same draw, whichever attempt makes it.
  ASSIGN_OR_RETURN(const Release release,
                   ledger.Store(attempt, absl::StrCat("drawn with ", attempt.sealed_key)));
  report('s');
  return release.payload == DrawOf(run) ? absl::OkStatus() : absl::InternalError("another draw");
}

absl::Status FaultConformance::ChargeAndForfeit(Ledger& ledger, int run, const Report& report) const {
  const ChargeRequest request = Request(run, "forfeited", 2);
  const absl::StatusOr<Attempt> attempt = ledger.Begin(request);
  if (absl::IsFailedPrecondition(attempt.status())) {
    ASSIGN_OR_RETURN(const Charge charge, ledger.FindCharge(request.principal, request.request_id));
    return charge.state == ChargeState::kForfeited ? absl::OkStatus() : attempt.status();
  }
  RETURN_IF_ERROR(attempt.status());
  RETURN_IF_ERROR(ledger.Forfeit(*attempt, "cancelled"));
  report('f');
  return absl::OkStatus();
}

absl::Status FaultConformance::ReserveStartAndCommit(Ledger& ledger, int run, const Report& report) const {
  ASSIGN_OR_RETURN(const std::vector<Charge> reserved, ledger.Reserve({Request(run, "reserved", 4)}, kHour));
  report('r');
  if (reserved.at(0).state == ChargeState::kCommitted) return absl::OkStatus();
  const absl::Status started =
      ledger.StartReserved(reserved[0].id, {{account_, "rho", 1}}, TestPrincipal("ana")).status();
  if (!absl::IsFailedPrecondition(started)) RETURN_IF_ERROR(started);
  if (started.ok()) report('t');
  RETURN_IF_ERROR(ledger.CommitReserved(reserved[0].id, TestPrincipal("ana")).status());
  report('c');
  return absl::OkStatus();
}

absl::Status FaultConformance::OpenAccountAndRaiseLimit(Ledger& ledger, const Dataset& owned, int run,
                                                        const Report& report) const {
  const AccountSpec analyst{.scope_type = ScopeType::kAnalyst,
                            .scope_key = "bo",
                            .rule = "rule bytes",
                            .rule_name = "ZCDP",
                            .limits = {{"rho", 5}}};
  ASSIGN_OR_RETURN(const Account account, ledger.CreateAccount({.request_id = absl::StrCat("account ", run),
                                                                .dataset_id = owned.id,
                                                                .account = analyst,
                                                                .actor = TestPrincipal("olga")}));
  report('a');
  LimitProposalSpec spec{.request_id = absl::StrCat("wish ", run),
                         .account_id = account.id,
                         .counter = "rho",
                         .new_limit = 6,
                         .reason = "another question",
                         .proposed_by = TestPrincipal("bo"),
                         .is_request = true};
  ASSIGN_OR_RETURN(const LimitProposal wish, ledger.ProposeLimit(spec));
  report('w');
  spec.request_id = absl::StrCat("limit ", run);
  spec.proposed_by = TestPrincipal("olga");
  spec.is_request = false;
  spec.takes_up = wish.id;
  ASSIGN_OR_RETURN(const LimitProposal proposal, ledger.ProposeLimit(spec));
  report('p');
  RETURN_IF_ERROR(ledger.ApproveLimit(proposal.id, TestPrincipal("otto")).status());
  report('l');
  return absl::OkStatus();
}

absl::Status FaultConformance::ReserveAndCancel(Ledger& ledger, const Dataset& owned, int run,
                                                const Report& report) const {
  ASSIGN_OR_RETURN(const std::vector<Account> accounts, ledger.ListAccounts(owned.id));
  const ChargeRequest request = RequestOf(owned, absl::StrCat("cancelled ", run), accounts.at(0).id, 7);
  ASSIGN_OR_RETURN(const std::vector<Charge> reserved, ledger.Reserve({request}, kHour));
  if (reserved.at(0).state == ChargeState::kReserved) {
    const absl::Status extended =
        ledger.ExtendReserved(reserved[0].id, 2 * kHour, TestPrincipal("ana")).status();
    if (!absl::IsFailedPrecondition(extended)) RETURN_IF_ERROR(extended);
    if (extended.ok()) report('e');
  }
  RETURN_IF_ERROR(ledger.CancelReserved(reserved[0].id, "not needed", TestPrincipal("ana")).status());
  report('x');
  return absl::OkStatus();
}

absl::Status FaultConformance::ReserveAndExpire(Ledger& ledger, const Dataset& owned, int run,
                                                const Report& report) {
  ASSIGN_OR_RETURN(const std::vector<Account> accounts, ledger.ListAccounts(owned.id));
  const ChargeRequest request = RequestOf(owned, absl::StrCat("expired ", run), accounts.at(0).id, 9);
  RETURN_IF_ERROR(ledger.Reserve({request}, kHour).status());
  RETURN_IF_ERROR(
      TryInStore(absl::StrCat("UPDATE open_charges SET deadline_us = 1 WHERE state = 'RESERVED' AND "
                              "charge_id = (SELECT id FROM charges WHERE request_id = '",
                              request.request_id, "')")));
  RETURN_IF_ERROR(ledger.ExpireReservations().status());
  report('o');
  return absl::OkStatus();
}

absl::Status FaultConformance::RunOwner(Ledger& ledger, int run, const Report& report) {
  ASSIGN_OR_RETURN(Dataset owned, ledger.CreateDataset(SpecOf(OwnedName(run), 100)));
  report('d');
  if (owned.state == DatasetState::kArchived) return absl::OkStatus();
  ASSIGN_OR_RETURN(owned,
                   ledger.SealDataset(owned.id, absl::StrCat("content in run ", run), TestPrincipal("olga")));
  report('s');
  RETURN_IF_ERROR(ledger.SetGrant(owned.id, {.grantee = "ana"}, TestPrincipal("olga")));
  report('g');
  ASSIGN_OR_RETURN(owned, SetRules(ledger, owned, "rules", absl::StrCat("rules ", run)));
  report('f');
  RETURN_IF_ERROR(OpenAccountAndRaiseLimit(ledger, owned, run, report));
  RETURN_IF_ERROR(ReserveAndCancel(ledger, owned, run, report));
  RETURN_IF_ERROR(ReserveAndExpire(ledger, owned, run, report));
  RETURN_IF_ERROR(ledger.ArchiveDataset(owned.id, TestPrincipal("olga")));
  report('z');
  return absl::OkStatus();
}

absl::Status FaultConformance::Run(Script script, Ledger& ledger, int run, const Report& report) {
  if (script == Script::kOwner) return RunOwner(ledger, run, report);
  RETURN_IF_ERROR(ChargeAndStore(ledger, run, report));
  RETURN_IF_ERROR(ChargeAndForfeit(ledger, run, report));
  return ReserveStartAndCommit(ledger, run, report);
}

void FaultConformance::ExpectAnalystKept(Ledger& ledger, int run, const std::string& reported) const {
  const auto state_of = [&](const std::string& name) {
    const ChargeRequest request = Request(run, name, 0);
    return Must(ledger.FindCharge(request.principal, request.request_id)).state;
  };
  for (const char step : reported) {
    switch (step) {
      case 'b':
        EXPECT_THAT((std::vector{ChargeState::kStarted, ChargeState::kCommitted}),
                    Contains(state_of("stored")));
        break;
      case 's':
        EXPECT_EQ(Must(ledger.Begin(Request(run, "stored", 3))).release->payload, DrawOf(run));
        break;
      case 'f':
        EXPECT_EQ(state_of("forfeited"), ChargeState::kForfeited);
        break;
      case 'r':
        state_of("reserved");
        break;
      case 't':
        EXPECT_NE(state_of("reserved"), ChargeState::kReserved);
        break;
      case 'c':
        EXPECT_EQ(state_of("reserved"), ChargeState::kCommitted);
        break;
      default:
        ADD_FAILURE() << "unknown step " << step;
    }
  }
}

void FaultConformance::ExpectKept(Script script, Ledger& ledger, int run, const std::string& reported) {
  if (script == Script::kAnalyst) return ExpectAnalystKept(ledger, run, reported);
  if (reported.empty()) return;
  const std::vector<std::string> kinds = KindsOf(ledger, Must(ledger.GetDataset(OwnedName(run))).id);
  for (const char step : reported) EXPECT_THAT(kinds, Contains(OwnersEntries().at(step)));
}

void FaultConformance::ExpectDone(Script script, Ledger& ledger, int runs) {
  EXPECT_THAT(ViolationsIn(ledger, *OpenStore()), ElementsAre());
  if (script == Script::kAnalyst) {
    const CounterBalance balance = BalanceOf(ledger, dataset_);
    EXPECT_EQ(balance.spent, runs * kCostOfOneAnalyst);
    EXPECT_EQ(balance.held, 0);
    EXPECT_EQ(AskStore("SELECT COUNT(*) FROM releases"), runs);
    return;
  }
  for (int run = 0; run < runs; ++run) {
    const Dataset owned = Must(ledger.GetDataset(OwnedName(run)));
    EXPECT_THAT(KindsOf(ledger, owned.id),
                ElementsAre(kDatasetCreated, kSealed, kGranted, kRulesSet, kAccountOpened, kLimitRequested,
                            kLimitProposed, kLimitTakenUp, kLimitChanged, kReserved, kExtended, kCancelled,
                            kReserved, kExpired, kArchived));
    EXPECT_EQ(BalanceOf(ledger, owned), (CounterBalance{"rho", 100, 9, 0}));
  }
}

}  // namespace curator::ledger
