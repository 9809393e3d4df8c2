// Accounts, opened with their dataset or later, and the limits of their counters, which a second principal
// has to approve.
#include <algorithm>
#include <iterator>
#include <limits>
#include <set>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {

// ---- Accounts

namespace {

std::string FingerprintOf(const NewAccount& account) {
  CanonicalWriter writer("curator.ledger.create_account", 1);
  writer.Text(account.dataset_id);
  writer.Text(EncodePayload(OpenedAccount{0, account.account}));
  return Sha256(std::move(writer).Take());
}

absl::StatusOr<std::set<std::string>> DatasetsOf(Transaction& transaction, const std::string& lineage_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT id FROM datasets WHERE lineage_id = $1", {lineage_id}));
  std::set<std::string> ids;
  for (const Row& row : rows) ids.insert(row.Text(0));
  return ids;
}

absl::StatusOr<std::vector<Account>> AccountOf(Transaction& transaction, const std::string& lineage_id,
                                               const AccountSpec& spec) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> rows,
      transaction.Execute("SELECT id FROM accounts WHERE lineage_id = $1 AND scope_type = $2 AND "
                          "scope_key = $3",
                          {lineage_id, std::string(ScopeName(spec.scope_type)), spec.scope_key}));
  std::vector<int64_t> ids;
  for (const Row& row : rows) ids.push_back(row.Integer(0));
  return ReadAccountsById(transaction, ids);
}

// The chains of the whole lineage are locked, so that no charge is admitted meanwhile.
absl::Status OpenLater(WriteSet& change, int64_t id, const NewAccount& account, const Dataset& dataset) {
  Transaction& transaction = change.transaction();
  if (dataset.is_public) {
    return absl::FailedPreconditionError(
        absl::StrCat("dataset ", dataset.name, " is public: it has no accounts"));
  }
  ASSIGN_OR_RETURN(const std::vector<Account> same,
                   AccountOf(transaction, dataset.lineage_id, account.account));
  if (!same.empty()) {
    return absl::AlreadyExistsError(
        absl::StrCat("there is already an account ",
                     AccountName(dataset.name, account.account.scope_type, account.account.scope_key)));
  }
  // A lineage has the id of its first dataset.
  const std::string& first = dataset.lineage_id;
  ASSIGN_OR_RETURN(const OpenedAccount opened,
                   OpenAccount(change, id, account.account, first, dataset.lineage_id));
  change.Append({.dataset_id = first,
                 .kind = kAccountOpened,
                 .payload = EncodePayload(opened),
                 .actor = account.actor.name()});
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<OpenedAccount> OpenAccount(WriteSet& change, int64_t id, const AccountSpec& spec,
                                          const std::string& dataset_id, const std::string& lineage_id) {
  Transaction& transaction = change.transaction();
  RETURN_IF_ERROR(
      transaction
          .Execute(absl::StrCat("INSERT INTO accounts (id, lineage_id, dataset_id, scope_type, scope_key, "
                                "rule, rule_name) ",
                                std::string(change.dialect().overriding_identity),
                                "VALUES ($1, $2, $3, $4, $5, $6, $7)"),
                   {id, lineage_id, dataset_id, std::string(ScopeName(spec.scope_type)), spec.scope_key,
                    Bytes{spec.rule}, spec.rule_name})
          .status());
  std::vector<Parameters> counters;
  for (const CounterLimit& limit : spec.limits) {
    counters.push_back({id, limit.counter, static_cast<int64_t>(counters.size()), limit.limit});
  }
  RETURN_IF_ERROR(
      transaction
          .ExecuteEach("INSERT INTO account_counters (account_id, counter, position, limit_value) "
                       "VALUES ($1, $2, $3, $4)",
                       counters)
          .status());
  std::vector<Parameters> members;
  for (const std::string& member : spec.members) members.push_back({id, member});
  RETURN_IF_ERROR(
      transaction.ExecuteEach("INSERT INTO account_members (account_id, member) VALUES ($1, $2)", members)
          .status());
  return OpenedAccount{id, spec};
}

namespace {

absl::Status CheckPostsTo(const std::vector<int64_t>& required, const ChargeRequest& request) {
  for (const int64_t id : required) {
    const bool is_posted = std::ranges::any_of(
        request.postings, [id](const Posting& posting) { return posting.account_id == id; });
    if (is_posted) continue;
    return absl::AbortedError(absl::StrCat("an account that applies to ", request.principal.name(),
                                           " was opened after this request was priced: ask again"));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status CheckPostsToAllAccounts(WriteSet& change, const LockedDataset& dataset,
                                     const ChargeRequest& request) {
  if (!dataset.has_analyst_accounts) return absl::OkStatus();
  ASSIGN_OR_RETURN(const std::shared_ptr<const RequiredAccounts> required,
                   change.RequiredAccountsOf(dataset.id));
  const std::string& principal = request.principal.name();
  if (required->are_too_many) {
    if (change.is_optimistic()) return absl::AbortedError("the accounts are not cached");
    ASSIGN_OR_RETURN(const std::vector<int64_t> read,
                     ReadRequiredAccountsOf(change.transaction(), dataset.lineage_id, principal));
    return CheckPostsTo(read, request);
  }
  RETURN_IF_ERROR(CheckPostsTo(required->of_all, request));
  const auto own = required->of_principal.find(principal);
  return own == required->of_principal.end() ? absl::OkStatus() : CheckPostsTo(own->second, request);
}

absl::StatusOr<Account> SqlLedger::CreateAccount(const NewAccount& account) {
  RETURN_IF_ERROR(CheckNewAccount(account));
  RETURN_IF_ERROR(CheckNoDatasetIsLost());
  const RequestKey key{account.actor.name(), account.request_id, FingerprintOf(account)};
  std::vector<Account> opened;
  RETURN_IF_ERROR(Write(account.dataset_id, [&](WriteSet& change) -> absl::Status {
    Transaction& transaction = change.transaction();
    ASSIGN_OR_RETURN(const Dataset dataset, ReadDataset(transaction, account.dataset_id));
    ASSIGN_OR_RETURN(const std::set<std::string> lineage, DatasetsOf(transaction, dataset.lineage_id));
    RETURN_IF_ERROR(change.LockChains(lineage));
    ASSIGN_OR_RETURN(const std::string known, FindByRequest(transaction, key));
    if (known.empty()) {
      RETURN_IF_ERROR(OpenLater(change, DrawAccountId(), account, dataset));
      RETURN_IF_ERROR(RecordRequest(transaction, key, dataset.id));
    }
    ASSIGN_OR_RETURN(opened, AccountOf(transaction, dataset.lineage_id, account.account));
    return absl::OkStatus();
  }));
  if (opened.empty()) return absl::InternalError("the opened account cannot be read back");
  return std::move(opened.front());
}

// ---- Limits

namespace {

constexpr char kSelectProposals[] =
    "SELECT id, dataset_id, account_id, counter, old_limit, new_limit, reason, proposed_by, proposed_at_us, "
    "approved_by, request_id FROM limit_proposals WHERE ";

absl::StatusOr<std::vector<LimitProposal>> ReadProposals(Transaction& transaction, std::string_view condition,
                                                         const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(absl::StrCat(kSelectProposals, std::string(condition)), parameters));
  std::vector<LimitProposal> proposals;
  for (const Row& row : rows) {
    proposals.push_back({.id = row.Text(0),
                         .dataset_id = row.Text(1),
                         .account_id = row.Integer(2),
                         .counter = row.Text(3),
                         .old_limit = row.Integer(4),
                         .new_limit = row.Integer(5),
                         .reason = row.Text(6),
                         .proposed_by = row.Text(7),
                         .proposed_at_us = row.Integer(8),
                         .approved_by = row.Text(9),
                         .request_id = row.Text(10)});
  }
  return proposals;
}

// The dataset that opened the account: its history orders all changes of the account's limits.
absl::StatusOr<std::string> OpenedBy(Transaction& transaction, int64_t account_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute("SELECT dataset_id FROM accounts WHERE id = $1", {account_id}));
  if (rows.empty()) return absl::NotFoundError("there is no such account");
  return rows.front().Text(0);
}

std::string PayloadOf(const LimitProposal& proposal) {
  return EncodePayload(LimitChange{.proposal_id = proposal.id,
                                   .account_id = proposal.account_id,
                                   .counter = proposal.counter,
                                   .old_limit = proposal.old_limit,
                                   .new_limit = proposal.new_limit,
                                   .reason = proposal.reason});
}

// Returns the entry's seq.
int64_t AppendLimit(WriteSet& change, const char* kind, const LimitProposal& proposal,
                    std::string_view actor) {
  return change
      .Append({.dataset_id = proposal.dataset_id,
               .kind = kind,
               .payload = PayloadOf(proposal),
               .actor = std::string(actor)})
      .seq;
}

// Those that may have recorded the proposal.
absl::StatusOr<std::vector<Row>> EntriesProposing(Transaction& transaction, const LimitProposal& proposal) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> stored,
      transaction.Execute("SELECT entry_seq FROM limit_proposals WHERE id = $1 AND entry_seq IS NOT NULL",
                          {proposal.id}));
  if (!stored.empty()) return stored;
  return transaction.Execute("SELECT seq FROM entries WHERE dataset_id = $1 AND kind = $2 ORDER BY seq",
                             {proposal.dataset_id, std::string(kLimitProposed)});
}

// The row alone would let its editor choose a limit, or approve what they proposed.
absl::Status CheckIsAsRecorded(Transaction& transaction, const LimitProposal& proposal) {
  ASSIGN_OR_RETURN(const std::vector<Row> seqs, EntriesProposing(transaction, proposal));
  for (const Row& seq : seqs) {
    ASSIGN_OR_RETURN(const std::vector<Entry> found,
                     ReadEntries(transaction, proposal.dataset_id, seq.Integer(0) - 1, 1));
    for (const Entry& entry : found) {
      const bool is_it = entry.seq == seq.Integer(0) && entry.kind == kLimitProposed &&
                         entry.actor == proposal.proposed_by && entry.payload == PayloadOf(proposal) &&
                         EntryHash(entry) == entry.hash;
      if (is_it) return absl::OkStatus();
    }
  }
  return absl::DataLossError(
      absl::StrCat("proposal ", proposal.id, " of a limit is not the one that an entry has recorded"));
}

absl::Status CheckProposal(const LimitProposalSpec& spec) {
  RETURN_IF_ERROR(CheckText("request_id", spec.request_id));
  RETURN_IF_ERROR(CheckText("counter", spec.counter));
  RETURN_IF_ERROR(CheckText("reason", spec.reason));
  RETURN_IF_ERROR(CheckText("proposed_by", spec.proposed_by.name()));
  return spec.new_limit < 0 ? InvalidField("new_limit", "is negative") : absl::OkStatus();
}

bool IsSameProposal(const LimitProposal& proposal, const LimitProposalSpec& spec) {
  return proposal.account_id == spec.account_id && proposal.counter == spec.counter &&
         proposal.new_limit == spec.new_limit && proposal.reason == spec.reason;
}

absl::StatusOr<LimitProposal> FindOrPropose(WriteSet& change, const LimitProposalSpec& spec,
                                            const std::string& id) {
  Transaction& transaction = change.transaction();
  ASSIGN_OR_RETURN(const std::string dataset_id, OpenedBy(transaction, spec.account_id));
  RETURN_IF_ERROR(change.LockChains({dataset_id}));
  ASSIGN_OR_RETURN(const std::vector<LimitProposal> known,
                   ReadProposals(transaction, "proposed_by = $1 AND request_id = $2",
                                 {spec.proposed_by.name(), spec.request_id}));
  if (!known.empty()) {
    if (IsSameProposal(known.front(), spec)) return known.front();
    return absl::AlreadyExistsError(absl::StrCat(
        "request id ", spec.request_id, " was used by another proposal of ", spec.proposed_by.name()));
  }
  RETURN_IF_ERROR(change.LockCounters({spec.account_id}));
  const LockedCounter* counter = change.counter({spec.account_id, spec.counter});
  if (counter == nullptr) return InvalidField("counter", "the account has no such counter");
  const LimitProposal proposal{.id = id,
                               .dataset_id = dataset_id,
                               .account_id = spec.account_id,
                               .counter = spec.counter,
                               .old_limit = counter->limit,
                               .new_limit = spec.new_limit,
                               .reason = spec.reason,
                               .proposed_by = spec.proposed_by.name(),
                               .proposed_at_us = change.now_us(),
                               .request_id = spec.request_id};
  const int64_t seq = AppendLimit(change, kLimitProposed, proposal, spec.proposed_by.name());
  RETURN_IF_ERROR(
      transaction
          .Execute("INSERT INTO limit_proposals (id, dataset_id, account_id, counter, old_limit, "
                   "new_limit, reason, proposed_by, proposed_at_us, request_id, entry_seq) VALUES ($1, $2, "
                   "$3, $4, $5, $6, $7, $8, $9, $10, $11)",
                   {proposal.id, dataset_id, proposal.account_id, proposal.counter, proposal.old_limit,
                    proposal.new_limit, proposal.reason, proposal.proposed_by, proposal.proposed_at_us,
                    spec.request_id, seq})
          .status());
  return proposal;
}

absl::Status CheckApproval(const LimitProposal& proposal, const LockedCounter& counter,
                           std::string_view actor) {
  if (proposal.proposed_by == actor) {
    return absl::FailedPreconditionError("the proposer of a limit cannot approve it");
  }
  if (!proposal.approved_by.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("this proposal was approved by ", proposal.approved_by));
  }
  if (counter.limit != proposal.old_limit) {
    return absl::FailedPreconditionError("the limit has changed since this was proposed: propose it again");
  }
  if (counter.spent > proposal.new_limit - counter.held) {
    // The message leaves out the balance, which the caller may not be allowed to read.
    return absl::FailedPreconditionError("the new limit is below what is already spent and held");
  }
  return absl::OkStatus();
}

absl::StatusOr<LimitProposal> Approve(WriteSet& change, std::string_view proposal_id,
                                      std::string_view actor) {
  Transaction& transaction = change.transaction();
  const Parameters by_id = {std::string(proposal_id)};
  ASSIGN_OR_RETURN(std::vector<LimitProposal> found, ReadProposals(transaction, "id = $1", by_id));
  if (found.empty()) return absl::NotFoundError("there is no such proposal");
  RETURN_IF_ERROR(change.LockChains({found.front().dataset_id}));
  ASSIGN_OR_RETURN(found, ReadProposals(transaction, "id = $1", by_id));
  LimitProposal proposal = found.at(0);
  RETURN_IF_ERROR(CheckIsAsRecorded(transaction, proposal));
  if (proposal.approved_by == actor) return proposal;
  RETURN_IF_ERROR(change.LockCounters({proposal.account_id}));
  const LockedCounter* counter = change.counter({proposal.account_id, proposal.counter});
  if (counter == nullptr) return absl::InternalError("a proposal names a counter that does not exist");
  RETURN_IF_ERROR(CheckApproval(proposal, *counter, actor));
  RETURN_IF_ERROR(
      transaction
          .Execute("UPDATE account_counters SET limit_value = $3 WHERE account_id = $1 AND counter = $2",
                   {proposal.account_id, proposal.counter, proposal.new_limit})
          .status());
  RETURN_IF_ERROR(
      transaction.Execute("UPDATE accounts SET version = version + 1 WHERE id = $1", {proposal.account_id})
          .status());
  RETURN_IF_ERROR(
      transaction
          .Execute("UPDATE limit_proposals SET approved_by = $2, approved_at_us = $3 WHERE id = $1",
                   {proposal.id, std::string(actor), change.now_us()})
          .status());
  AppendLimit(change, kLimitChanged, proposal, actor);
  proposal.approved_by = actor;
  return proposal;
}

}  // namespace

absl::StatusOr<LimitProposal> SqlLedger::ProposeLimit(const LimitProposalSpec& spec) {
  RETURN_IF_ERROR(CheckProposal(spec));
  const std::string id = NewUuid();
  LimitProposal proposal;
  std::string dataset_id;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(dataset_id, OpenedBy(transaction, spec.account_id));
    return absl::OkStatus();
  }));
  RETURN_IF_ERROR(Write(dataset_id, [&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(proposal, FindOrPropose(change, spec, id));
    return absl::OkStatus();
  }));
  return proposal;
}

absl::StatusOr<LimitProposal> SqlLedger::ApproveLimit(std::string_view proposal_id, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  ASSIGN_OR_RETURN(LimitProposal proposal, GetLimitProposal(proposal_id));
  RETURN_IF_ERROR(Write(proposal.dataset_id, [&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(proposal, Approve(change, proposal_id, actor.name()));
    return absl::OkStatus();
  }));
  return proposal;
}

absl::StatusOr<LimitProposal> SqlLedger::GetLimitProposal(std::string_view proposal_id) {
  std::vector<LimitProposal> found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(found, ReadProposals(transaction, "id = $1", {std::string(proposal_id)}));
    return absl::OkStatus();
  }));
  if (found.empty()) return absl::NotFoundError("there is no such proposal");
  return std::move(found.front());
}

absl::StatusOr<LimitProposal> SqlLedger::FindLimitProposal(const Principal& proposed_by,
                                                           std::string_view request_id) {
  std::vector<LimitProposal> found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(found, ReadProposals(transaction, "proposed_by = $1 AND request_id = $2",
                                          {proposed_by.name(), std::string(request_id)}));
    return absl::OkStatus();
  }));
  if (found.empty()) return absl::NotFoundError("no proposal has this request id");
  return std::move(found.front());
}

absl::StatusOr<std::vector<LimitProposal>> SqlLedger::ListLimitProposals(std::string_view dataset_id,
                                                                         const std::vector<int64_t>& accounts,
                                                                         const ProposalPage& page) {
  RETURN_IF_ERROR(CheckPageLimit(page.limit));
  const int64_t before = page.before_id.empty() ? std::numeric_limits<int64_t>::max() : page.before_us;
  std::vector<LimitProposal> proposals;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(ReadLineageId(transaction, dataset_id).status());
    proposals.clear();
    if (accounts.empty()) {
      ASSIGN_OR_RETURN(proposals,
                       ReadProposals(transaction,
                                     "dataset_id = $1 AND (proposed_at_us, id) < ($2, $3) "
                                     "ORDER BY proposed_at_us DESC, id DESC LIMIT $4",
                                     {std::string(dataset_id), before, page.before_id, page.limit}));
    }
    for (const int64_t account : accounts) {
      ASSIGN_OR_RETURN(
          std::vector<LimitProposal> some,
          ReadProposals(transaction,
                        "account_id = $1 AND (proposed_at_us, id) < ($2, $3) AND dataset_id = $5 "
                        "ORDER BY proposed_at_us DESC, id DESC LIMIT $4",
                        {account, before, page.before_id, page.limit, std::string(dataset_id)}));
      std::move(some.begin(), some.end(), std::back_inserter(proposals));
    }
    std::sort(proposals.begin(), proposals.end(), [](const LimitProposal& a, const LimitProposal& b) {
      return std::tie(a.proposed_at_us, a.id) > std::tie(b.proposed_at_us, b.id);
    });
    if (static_cast<int64_t>(proposals.size()) > page.limit) {
      proposals.resize(static_cast<size_t>(page.limit));
    }
    return absl::OkStatus();
  }));
  return proposals;
}

}  // namespace curator::ledger::sql
