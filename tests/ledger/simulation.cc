#include "tests/ledger/simulation.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "base/testing/names.h"
#include "ledger/conformance/ledger_conformance.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {
namespace {

constexpr int64_t kHour = int64_t{3600} * 1'000'000;

}  // namespace

Simulation::Simulation(OpenStore open_store, std::string anchor_dir, uint64_t entropy_seed)
    : open_store_(std::move(open_store)),
      anchor_dir_(std::move(anchor_dir)),
      observer_(open_store_()),
      entropy_seed_(entropy_seed * 1'000'000) {}

absl::Status Simulation::Open(Server& server) {
  server.ledger.reset();
  auto store = std::make_unique<FaultyDatabase>(open_store_());
  server.store = store.get();
  ASSIGN_OR_RETURN(server.ledger,
                   sql::SqlLedger::Open(std::move(store), anchor_dir_, SeededEntropy(++entropy_seed_)));
  return absl::OkStatus();
}

absl::Status Simulation::Prepare(uint64_t seed) {
  for (Server& server : servers_) {
    if (server.ledger == nullptr) RETURN_IF_ERROR(Open(server));
  }
  random_.seed(seed);
  principal_ = absl::StrCat("ana ", seed);
  ids_.clear();
  attempts_.clear();
  steps_ = 0;
  const auto limit = static_cast<int64_t>(5 + Below(20));
  Ledger& ledger = *servers_[0].ledger;
  ASSIGN_OR_RETURN(dataset_, ledger.CreateDataset({.request_id = absl::StrCat("create ", seed),
                                                   .name = absl::StrCat("census ", seed),
                                                   .owner = TestPrincipal("olga"),
                                                   .schema = "schema",
                                                   .schema_hash = Sha256("schema"),
                                                   .neighbour_relation = "ADD_REMOVE",
                                                   .privacy_unit = "RECORD",
                                                   .partition_attribute = {},
                                                   .successor_of = {},
                                                   .accounts = {{.scope_type = ScopeType::kDataset,
                                                                 .scope_key = {},
                                                                 .rule = "rule",
                                                                 .rule_name = "ZCDP",
                                                                 .limits = {{"rho", limit}}}}}));
  ASSIGN_OR_RETURN(dataset_,
                   ledger.SealDataset(dataset_.id, absl::StrCat("content ", seed), TestPrincipal("olga")));
  RETURN_IF_ERROR(ledger.SetGrant(dataset_.id, {.grantee = principal_}, TestPrincipal("olga")));
  ASSIGN_OR_RETURN(const std::vector<Account> accounts, ledger.ListAccounts(dataset_.id));
  account_ = accounts.at(0).id;
  model_ = ModelLedger(limit);
  return absl::OkStatus();
}

std::string Simulation::Run(uint64_t seed) {
  if (const absl::Status prepared = Prepare(seed); !prepared.ok()) return prepared.ToString();
  std::string reported;
  for (uint64_t steps = 5 + Below(8); steps > 0; --steps) {
    const Step step = Choose();
    absl::StrAppend(&reported, "  ", step.name, "\n");
    const std::string wrong = Perform(step);
    if (!wrong.empty()) return absl::StrCat(wrong, ", after\n", reported);
  }
  const std::string wrong = Finish();
  return wrong.empty() ? wrong : absl::StrCat(wrong, ", after\n", reported);
}

std::string Simulation::Perform(const Step& step) {
  ++steps_;
  Server& server = servers_[Below(4) == 0 ? 1 : 0];
  const bool may_crash = Below(12) == 0 && step.is_one_transaction;
  if (may_crash) server.store->Arm(Fault::kGone, static_cast<int>(Below(16)));
  const absl::Status answer = step.call(*server.ledger);
  if (may_crash && server.store->has_struck()) return AfterCrash(step, server);
  server.store->Disarm();
  const absl::StatusCode expected = step.expect(model_);
  if (answer.code() == expected) return {};
  return absl::StrCat("answered ", answer.ToString(), " and not ", absl::StatusCodeToString(expected));
}

std::string Simulation::AfterCrash(const Step& step, Server& server) {
  if (const absl::Status opened = Open(server); !opened.ok()) return opened.ToString();
  begun_.token = "of an attempt that was never acknowledged";
  ModelLedger after = model_;
  step.expect(after);
  const absl::StatusOr<Observed> now = Observe();
  if (!now.ok()) return now.status().ToString();
  if (now->description != model_.Describe() && now->description != after.Describe()) {
    return absl::StrCat("after a crash neither before nor after the call, but\n", now->description);
  }
  if (now->description == after.Describe()) model_ = after;
  ids_ = now->ids;
  for (const auto& [request_id, token] : now->tokens) model_.SetToken(request_id, token);
  return {};
}

std::string Simulation::Finish() {
  const absl::StatusOr<Observed> now = Observe();
  if (!now.ok()) return now.status().ToString();
  if (now->description != model_.Describe()) {
    return absl::StrCat("the ledger holds\n", now->description, "and not\n", model_.Describe());
  }
  const absl::StatusOr<Verification> verification = servers_[0].ledger->Verify(dataset_.id);
  if (!verification.ok()) return verification.status().ToString();
  return absl::StrJoin(verification->findings, "; ");
}

absl::StatusOr<Simulation::Observed> Simulation::Observe() {
  Observed observed;
  const sql::Outcome outcome = observer_->Read([&](sql::Transaction& store) -> absl::Status {
    ASSIGN_OR_RETURN(
        const std::vector<sql::Row> counters,
        store.Execute("SELECT limit_value, spent, held FROM account_counters WHERE account_id = $1",
                      {account_}));
    const sql::Row& counter = counters.at(0);
    observed.description = DescribeCounter(counter.Integer(0), counter.Integer(1), counter.Integer(2));
    ASSIGN_OR_RETURN(
        const std::vector<sql::Row> charges,
        store.Execute(
            "SELECT c.request_id, s.state, p.cost, r.payload, c.id, COALESCE(o.attempt_token, '') FROM "
            "charges c JOIN charge_states s ON s.charge_id = c.id LEFT JOIN open_charges o ON "
            "o.charge_id = c.id LEFT JOIN postings p ON p.charge_id = c.id LEFT JOIN releases r ON "
            "r.charge_id = c.id "
            "WHERE c.dataset_id = $1 ORDER BY c.request_id",
            {dataset_.id}));
    for (const sql::Row& charge : charges) {
      ASSIGN_OR_RETURN(const ChargeState state, ChargeStateFromName(charge.Text(1)));
      absl::StrAppend(&observed.description,
                      DescribeCharge(charge.Text(0), state, charge.Integer(2),
                                     charge.IsNull(3) ? std::string() : charge.Blob(3)));
      observed.ids[charge.Text(0)] = charge.Text(4);
      observed.tokens[charge.Text(0)] = charge.Text(5);
    }
    return absl::OkStatus();
  });
  RETURN_IF_ERROR(outcome.status);
  return observed;
}

ChargeRequest Simulation::RequestOf(const ModelRequest& request) const {
  return {.dataset_id = dataset_.id,
          .dataset_version = dataset_.version,
          .principal = TestPrincipal(principal_),
          .request_id = request.request_id,
          .fingerprint = Sha256(request.fingerprint),
          .kind = "workload",
          .event = "event",
          .label = "all 2-way marginals",
          .sealed_key = absl::StrCat("key of ", request.request_id),
          .postings = {{account_, "rho", request.cost}}};
}

// Few names, so that the same ones come again; now and then for another request.
ModelRequest Simulation::RandomRequest() {
  const uint64_t name = Below(6);
  const auto cost = static_cast<int64_t>((name * 5 + 3) % 7 + (Below(12) == 0 ? 1 : 0));
  return {absl::StrCat("r", name), cost, absl::StrCat(name, " costs ", cost)};
}

ChargeRequest Simulation::QueuedRequestOf(const ModelRequest& request) const {
  ChargeRequest queued = RequestOf(request);
  queued.kind = "synthesis";
  queued.draw_identity = absl::StrCat("identity of ", request.request_id);
  queued.sealed_key.clear();
  return queued;
}

std::string Simulation::RandomKnown() {
  auto chosen = model_.charges().begin();
  std::advance(chosen, static_cast<int64_t>(Below(model_.charges().size())));
  return chosen->first;
}

Simulation::Step Simulation::Choose() {
  const uint64_t choice = Below(21);
  if (choice < 5) return Charge();
  if (choice < 8 && !attempts_.empty()) return StoreRelease();
  if (choice < 9 && !attempts_.empty()) return Forfeit();
  if (choice < 11) return Reserve();
  if (choice < 14 && !model_.charges().empty()) return MoveReservation();
  if (choice < 15) return Expire();
  if (choice < 17) return Queue();
  if (choice < 19 && !model_.charges().empty()) return StartQueued();
  if (choice < 20 && !model_.charges().empty()) return TakeOver();
  return ChangeLimit();
}

Simulation::Step Simulation::Charge() {
  const ModelRequest request = RandomRequest();
  return {.name = absl::StrCat("begin ", request.request_id, " costs ", request.cost),
          .call = [this, request](Ledger& ledger) -> absl::Status {
            ASSIGN_OR_RETURN(begun_, ledger.Begin(RequestOf(request)));
            ids_[request.request_id] = begun_.charge.id;
            if (!begun_.release) attempts_.push_back(begun_);
            return absl::OkStatus();
          },
          .expect = [this, request](ModelLedger& model) { return model.Begin(request, begun_.token); }};
}

Simulation::Step Simulation::Queue() {
  ModelRequest request = RandomRequest();
  request.fingerprint += ", queued";  // the two are different calls, so never the same request
  return {.name = absl::StrCat("queue ", request.request_id, " costs ", request.cost),
          .call = [this, request](Ledger& ledger) -> absl::Status {
            ASSIGN_OR_RETURN(const curator::ledger::Charge queued,
                             ledger.Queue(QueuedRequestOf(request), kHour));
            ids_[request.request_id] = queued.id;
            return absl::OkStatus();
          },
          .expect = [request](ModelLedger& model) { return model.Queue(request); },
          .is_one_transaction = !model_.HasOverdue()};
}

Simulation::Step Simulation::StartQueued() {
  const std::string request_id = RandomKnown();
  const std::string id = ids_.at(request_id);
  return {.name = absl::StrCat("start the draw of ", request_id),
          .call = [this, id, request_id](Ledger& ledger) -> absl::Status {
            ASSIGN_OR_RETURN(begun_, ledger.StartQueued(id, absl::StrCat("key of ", request_id),
                                                        absl::StrCat("attempt ", ++starts_)));
            attempts_.push_back(begun_);
            return absl::OkStatus();
          },
          .expect = [this,
                     request_id](ModelLedger& model) { return model.StartQueued(request_id, begun_.token); }};
}

Simulation::Step Simulation::TakeOver() {
  const std::string request_id = RandomKnown();
  const std::string id = ids_.at(request_id);
  return {
      .name = absl::StrCat("take over ", request_id),
      .call = [this, id](Ledger& ledger) -> absl::Status {
        ASSIGN_OR_RETURN(begun_, ledger.TakeOver(id));
        if (!begun_.release) attempts_.push_back(begun_);
        return absl::OkStatus();
      },
      .expect = [this, request_id](ModelLedger& model) { return model.TakeOver(request_id, begun_.token); }};
}

Simulation::Step Simulation::StoreRelease() {
  const Attempt attempt = attempts_[Below(attempts_.size())];
  const std::string payload =
      absl::StrCat(Below(10) == 0 ? "another draw with the " : "drawn with the ", attempt.sealed_key);
  return {.name = absl::StrCat("store ", attempt.charge.request_id, ": ", payload),
          .call = [attempt, payload](Ledger& ledger) { return ledger.Store(attempt, payload).status(); },
          .expect =
              [attempt, payload](ModelLedger& model) {
                return model.Store(attempt.charge.request_id, attempt.token, payload);
              }};
}

Simulation::Step Simulation::Forfeit() {
  const Attempt attempt = attempts_[Below(attempts_.size())];
  return {
      .name = absl::StrCat("forfeit ", attempt.charge.request_id),
      .call = [attempt](Ledger& ledger) { return ledger.Forfeit(attempt, "no longer wanted"); },
      .expect =
          [attempt](ModelLedger& model) { return model.Forfeit(attempt.charge.request_id, attempt.token); }};
}

Simulation::Step Simulation::Reserve() {
  std::vector<ModelRequest> wanted = {RandomRequest()};
  if (const ModelRequest more = RandomRequest(); more.request_id != wanted[0].request_id && Below(2) == 0) {
    wanted.push_back(more);
  }
  std::string name = "reserve";
  for (const ModelRequest& one : wanted) absl::StrAppend(&name, " ", one.request_id, " costs ", one.cost);
  return {.name = name,
          .call = [this, wanted](Ledger& ledger) -> absl::Status {
            std::vector<ChargeRequest> requests;
            for (const ModelRequest& one : wanted) {
              requests.push_back(RequestOf(one));
              requests.back().sealed_key.clear();
            }
            ASSIGN_OR_RETURN(const std::vector<curator::ledger::Charge> reserved,
                             ledger.Reserve(requests, kHour));
            for (const auto& charge : reserved) ids_[charge.request_id] = charge.id;
            return absl::OkStatus();
          },
          .expect = [wanted](ModelLedger& model) { return model.Reserve(wanted); },
          .is_one_transaction = !model_.HasOverdue()};
}

Simulation::Step Simulation::MoveReservation() {
  const std::string request_id = RandomKnown();
  const std::string id = ids_.at(request_id);
  const auto cost = static_cast<uint64_t>(model_.charges().at(request_id).cost);
  const auto final_cost = static_cast<int64_t>(Below(cost + 2));
  switch (Below(5)) {
    case 0:
      return {.name = absl::StrCat("cancel ", request_id),
              .call =
                  [id](Ledger& ledger) {
                    return ledger.CancelReserved(id, "not needed", TestPrincipal("ana")).status();
                  },
              .expect = [request_id](ModelLedger& model) { return model.Cancel(request_id); }};
    case 1:
      return {.name = absl::StrCat("extend ", request_id),
              .call =
                  [id](Ledger& ledger) {
                    return ledger.ExtendReserved(id, 2 * kHour, TestPrincipal("ana")).status();
                  },
              .expect = [request_id](ModelLedger& model) { return model.Extend(request_id); }};
    case 2:
      return {
          .name = absl::StrCat("commit ", request_id),
          .call = [id](Ledger& ledger) { return ledger.CommitReserved(id, TestPrincipal("ana")).status(); },
          .expect = [request_id](ModelLedger& model) { return model.Commit(request_id); }};
    default:
      return {.name = absl::StrCat("start ", request_id, " at ", final_cost),
              .call =
                  [this, id, final_cost](Ledger& ledger) {
                    return ledger.StartReserved(id, {{account_, "rho", final_cost}}, TestPrincipal("ana"))
                        .status();
                  },
              .expect = [request_id,
                         final_cost](ModelLedger& model) { return model.Start(request_id, final_cost); }};
  }
}

// One reservation's time runs out, and it is either swept or met by the next call about it.
Simulation::Step Simulation::Expire() {
  for (const auto& [request_id, charge] : model_.charges()) {
    if (charge.state != ChargeState::kReserved) continue;
    model_.MakeOverdue(request_id);
    const sql::Outcome overdue = observer_->Write([&, id = request_id](sql::Transaction& store) {
      return store.Execute("UPDATE open_charges SET deadline_us = 1 WHERE charge_id = $1", {ids_.at(id)})
          .status();
    });
    if (!overdue.status.ok()) std::abort();
    if (Below(2) == 0) return MoveReservation();
    break;
  }
  return {.name = "expire",
          .call = [](Ledger& ledger) { return ledger.ExpireReservations().status(); },
          .expect = [](ModelLedger& model) { return model.Expire(); }};
}

Simulation::Step Simulation::ChangeLimit() {
  const auto limit = static_cast<int64_t>(Below(30));
  const std::string request_id = absl::StrCat("limit ", steps_, " of ", principal_);
  return {.name = absl::StrCat("limit ", limit),
          .call = [this, limit, request_id](Ledger& ledger) -> absl::Status {
            ASSIGN_OR_RETURN(const LimitProposal proposal,
                             ledger.ProposeLimit({.request_id = request_id,
                                                  .account_id = account_,
                                                  .counter = "rho",
                                                  .new_limit = limit,
                                                  .reason = "a change of mind",
                                                  .proposed_by = TestPrincipal("olga")}));
            return ledger.ApproveLimit(proposal.id, TestPrincipal("otto")).status();
          },
          .expect = [limit](ModelLedger& model) { return model.ChangeLimit(limit); }};
}

}  // namespace curator::ledger
