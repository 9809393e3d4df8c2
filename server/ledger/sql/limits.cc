// Changes of limits: proposed, or asked for by those who spend, and approved by a second principal, rejected
// or withdrawn.
#include <algorithm>
#include <iterator>
#include <limits>
#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "ledger/history/entry_payload.h"
#include "ledger/history/hash_chain.h"
#include "ledger/sql/datasets.h"
#include "ledger/sql/request_checks.h"
#include "ledger/sql/sql_ledger.h"

namespace curator::ledger::sql {

namespace {

constexpr char kSelectProposals[] =
    "SELECT id, dataset_id, account_id, counter, old_limit, new_limit, reason, proposed_by, proposed_at_us, "
    "approved_by, request_id, is_request, ended_as, ended_by, end_reason FROM limit_proposals WHERE ";

// Neither approved nor ended, of one lineage: as the index limit_proposals_open has them.
constexpr char kIsOpen[] = "dataset_id = $1 AND approved_by = '' AND ended_as = ''";

absl::StatusOr<std::vector<LimitProposal>> ReadProposals(Transaction& transaction, std::string_view condition,
                                                         const Parameters& parameters) {
  ASSIGN_OR_RETURN(const std::vector<Row> rows,
                   transaction.Execute(absl::StrCat(kSelectProposals, std::string(condition)), parameters));
  std::vector<LimitProposal> proposals;
  for (const Row& row : rows) {
    ASSIGN_OR_RETURN(const ProposalEnd end, ProposalEndFromName(row.Text(12)));
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
                         .request_id = row.Text(10),
                         .is_request = row.Integer(11) != 0,
                         .end = end,
                         .ended_by = row.Text(13),
                         .end_reason = row.Text(14)});
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

std::string PayloadOf(const LimitProposal& proposal, Approval approval = Approval::kByAnother) {
  return EncodePayload(LimitChange{.proposal_id = proposal.id,
                                   .account_id = proposal.account_id,
                                   .counter = proposal.counter,
                                   .old_limit = proposal.old_limit,
                                   .new_limit = proposal.new_limit,
                                   .reason = proposal.reason,
                                   .approval = approval});
}

// Returns the entry's seq.
int64_t AppendLimit(WriteSet& change, const char* kind, const LimitProposal& proposal, std::string_view actor,
                    Approval approval = Approval::kByAnother) {
  return change
      .Append({.dataset_id = proposal.dataset_id,
               .kind = kind,
               .payload = PayloadOf(proposal, approval),
               .actor = std::string(actor)})
      .seq;
}

const char* KindOf(const LimitProposal& proposal) {
  return proposal.is_request ? kLimitRequested : kLimitProposed;
}

// Those that may have recorded the proposal.
absl::StatusOr<std::vector<Row>> EntriesProposing(Transaction& transaction, const LimitProposal& proposal) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> stored,
      transaction.Execute("SELECT entry_seq FROM limit_proposals WHERE id = $1 AND entry_seq IS NOT NULL",
                          {proposal.id}));
  if (!stored.empty()) return stored;
  return transaction.Execute("SELECT seq FROM entries WHERE dataset_id = $1 AND kind = $2 ORDER BY seq",
                             {proposal.dataset_id, std::string(KindOf(proposal))});
}

// The row alone would let its editor choose a limit, or approve what they proposed.
absl::Status CheckIsAsRecorded(Transaction& transaction, const LimitProposal& proposal) {
  ASSIGN_OR_RETURN(const std::vector<Row> seqs, EntriesProposing(transaction, proposal));
  for (const Row& seq : seqs) {
    ASSIGN_OR_RETURN(const std::vector<Entry> found,
                     ReadEntries(transaction, proposal.dataset_id, seq.Integer(0) - 1, 1));
    for (const Entry& entry : found) {
      const bool is_it = entry.seq == seq.Integer(0) && entry.kind == KindOf(proposal) &&
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
         proposal.new_limit == spec.new_limit && proposal.reason == spec.reason &&
         proposal.is_request == spec.is_request;
}

absl::StatusOr<LimitProposal> ReadProposal(Transaction& transaction, std::string_view id) {
  ASSIGN_OR_RETURN(std::vector<LimitProposal> found,
                   ReadProposals(transaction, "id = $1", {std::string(id)}));
  if (found.empty()) return absl::NotFoundError("there is no such proposal");
  return std::move(found.front());
}

absl::Status CheckIsOpen(const LimitProposal& proposal) {
  if (!proposal.approved_by.empty()) {
    return absl::FailedPreconditionError(
        absl::StrCat("this proposal was approved by ", proposal.approved_by));
  }
  switch (proposal.end) {
    case ProposalEnd::kNone:
      return absl::OkStatus();
    case ProposalEnd::kRejected:
      return absl::FailedPreconditionError(absl::StrCat("this was rejected by ", proposal.ended_by));
    case ProposalEnd::kWithdrawn:
      return absl::FailedPreconditionError("this was withdrawn");
    case ProposalEnd::kTakenUp:
      return absl::FailedPreconditionError(
          absl::StrCat("this request was taken up by proposal ", proposal.end_reason));
  }
  return absl::OkStatus();
}

// The chain of the proposal's dataset is locked.
absl::Status End(WriteSet& change, const LimitProposal& proposal, ProposalEnd end, const std::string& reason,
                 const std::string& actor) {
  RETURN_IF_ERROR(
      change.transaction()
          .Execute("UPDATE limit_proposals SET ended_as = $2, ended_by = $3, end_reason = $4 WHERE id = $1",
                   {proposal.id, std::string(EndName(end)), actor, reason})
          .status());
  change.Append({.dataset_id = proposal.dataset_id,
                 .kind = KindOf(end),
                 .payload = EncodePayload(LimitEnded{proposal.id, reason}),
                 .actor = actor});
  return absl::OkStatus();
}

// So that what is open of a lineage stays few enough to be read at once.
absl::Status CheckMayOpenOneMore(Transaction& transaction, const std::string& dataset_id,
                                 const LimitProposalSpec& spec) {
  ASSIGN_OR_RETURN(
      const std::vector<Row> counts,
      transaction.Execute(
          absl::StrCat("SELECT CAST(COUNT(*) AS BIGINT), CAST(COALESCE(SUM(CASE WHEN proposed_by = $3 THEN 1 "
                       "ELSE 0 END), 0) AS BIGINT) FROM limit_proposals WHERE is_request = $2 AND ",
                       std::string(kIsOpen)),
          {dataset_id, static_cast<int64_t>(spec.is_request), spec.proposed_by.name()}));
  if (spec.is_request && counts.at(0).Integer(1) >= kMostOpenRequestsOfOne) {
    return absl::FailedPreconditionError(
        absl::StrCat("you have ", kMostOpenRequestsOfOne, " open requests on this dataset: withdraw one"));
  }
  if (counts.at(0).Integer(0) >= kMostOpenProposals) {
    return absl::FailedPreconditionError(
        absl::StrCat("the dataset has ", kMostOpenProposals,
                     spec.is_request ? " open requests: its owner has to answer some first"
                                     : " open proposals: withdraw some first"));
  }
  return absl::OkStatus();
}

// Later than the proposals before it, so that listings by time have their order: two may be made within one
// tick of the store's clock.
absl::StatusOr<int64_t> TimeOfNextProposal(WriteSet& change, const std::string& dataset_id) {
  ASSIGN_OR_RETURN(const std::vector<Row> newest,
                   change.transaction().Execute("SELECT proposed_at_us FROM limit_proposals WHERE dataset_id "
                                                "= $1 ORDER BY proposed_at_us DESC LIMIT 1",
                                                {dataset_id}));
  return newest.empty() ? change.now_us() : std::max(change.now_us(), newest.front().Integer(0) + 1);
}

absl::Status TakeUp(WriteSet& change, const LimitProposalSpec& spec, const LimitProposal& proposal) {
  ASSIGN_OR_RETURN(const LimitProposal request, ReadProposal(change.transaction(), spec.takes_up));
  RETURN_IF_ERROR(CheckIsAsRecorded(change.transaction(), request));
  const bool is_of_account = request.is_request && request.account_id == proposal.account_id;
  if (!is_of_account) return absl::NotFoundError("there is no such request for this account");
  RETURN_IF_ERROR(CheckIsOpen(request));
  return End(change, request, ProposalEnd::kTakenUp, proposal.id, proposal.proposed_by);
}

absl::StatusOr<LimitProposal> FindOrPropose(WriteSet& change, const LimitProposalSpec& spec,
                                            const std::string& id) {
  Transaction& transaction = change.transaction();
  ASSIGN_OR_RETURN(const std::string dataset_id, OpenedBy(transaction, spec.account_id));
  RETURN_IF_ERROR(change.LockChains({dataset_id}));
  RETURN_IF_ERROR(change.FindDataset(dataset_id).status());
  ASSIGN_OR_RETURN(const std::vector<LimitProposal> known,
                   ReadProposals(transaction, "proposed_by = $1 AND request_id = $2",
                                 {spec.proposed_by.name(), spec.request_id}));
  if (!known.empty()) {
    if (IsSameProposal(known.front(), spec)) return known.front();
    return absl::AlreadyExistsError(absl::StrCat(
        "request id ", spec.request_id, " was used by another proposal of ", spec.proposed_by.name()));
  }
  RETURN_IF_ERROR(CheckMayOpenOneMore(transaction, dataset_id, spec));
  RETURN_IF_ERROR(change.LockCounters({spec.account_id}));
  const LockedCounter* counter = change.counter({spec.account_id, spec.counter});
  if (counter == nullptr) return InvalidField("counter", "the account has no such counter");
  ASSIGN_OR_RETURN(const int64_t now_us, TimeOfNextProposal(change, dataset_id));
  const LimitProposal proposal{.id = id,
                               .dataset_id = dataset_id,
                               .account_id = spec.account_id,
                               .counter = spec.counter,
                               .old_limit = counter->limit,
                               .new_limit = spec.new_limit,
                               .reason = spec.reason,
                               .proposed_by = spec.proposed_by.name(),
                               .proposed_at_us = now_us,
                               .request_id = spec.request_id,
                               .is_request = spec.is_request};
  const int64_t seq = AppendLimit(change, KindOf(proposal), proposal, spec.proposed_by.name());
  RETURN_IF_ERROR(
      transaction
          .Execute(
              "INSERT INTO limit_proposals (id, dataset_id, account_id, counter, old_limit, "
              "new_limit, reason, proposed_by, proposed_at_us, request_id, entry_seq, is_request) VALUES "
              "($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
              {proposal.id, dataset_id, proposal.account_id, proposal.counter, proposal.old_limit,
               proposal.new_limit, proposal.reason, proposal.proposed_by, proposal.proposed_at_us,
               spec.request_id, seq, static_cast<int64_t>(spec.is_request)})
          .status());
  if (!spec.takes_up.empty()) RETURN_IF_ERROR(TakeUp(change, spec, proposal));
  return proposal;
}

absl::Status CheckApproval(const LimitProposal& proposal, const LockedCounter& counter,
                           std::string_view actor, Approval approval) {
  if (approval == Approval::kByAnother && proposal.proposed_by == actor) {
    return absl::FailedPreconditionError("the proposer of a limit cannot approve it");
  }
  if (proposal.is_request) {
    return absl::FailedPreconditionError("this is a request: the owner has to propose the change first");
  }
  RETURN_IF_ERROR(CheckIsOpen(proposal));
  if (counter.limit != proposal.old_limit) {
    return absl::FailedPreconditionError("the limit has changed since this was proposed: propose it again");
  }
  if (counter.spent > proposal.new_limit - counter.held) {
    // The message leaves out the balance, which the caller may not be allowed to read.
    return absl::FailedPreconditionError("the new limit is below what is already spent and held");
  }
  return absl::OkStatus();
}

// The proposal as an entry has recorded it, after the chain of its dataset was locked.
absl::StatusOr<LimitProposal> ReadAndLock(WriteSet& change, std::string_view proposal_id) {
  Transaction& transaction = change.transaction();
  ASSIGN_OR_RETURN(LimitProposal proposal, ReadProposal(transaction, proposal_id));
  RETURN_IF_ERROR(change.LockChains({proposal.dataset_id}));
  RETURN_IF_ERROR(change.FindDataset(proposal.dataset_id).status());
  ASSIGN_OR_RETURN(proposal, ReadProposal(transaction, proposal_id));
  RETURN_IF_ERROR(CheckIsAsRecorded(transaction, proposal));
  return proposal;
}

absl::StatusOr<LimitProposal> Approve(WriteSet& change, std::string_view proposal_id, std::string_view actor,
                                      Approval approval) {
  Transaction& transaction = change.transaction();
  ASSIGN_OR_RETURN(LimitProposal proposal, ReadAndLock(change, proposal_id));
  if (proposal.approved_by == actor) return proposal;
  RETURN_IF_ERROR(change.LockCounters({proposal.account_id}));
  const LockedCounter* counter = change.counter({proposal.account_id, proposal.counter});
  if (counter == nullptr) return absl::InternalError("a proposal names a counter that does not exist");
  RETURN_IF_ERROR(CheckApproval(proposal, *counter, actor, approval));
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
  AppendLimit(change, kLimitChanged, proposal, actor, approval);
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

absl::StatusOr<LimitProposal> SqlLedger::ApproveLimit(std::string_view proposal_id, const Principal& actor,
                                                      Approval approval) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  ASSIGN_OR_RETURN(LimitProposal proposal, GetLimitProposal(proposal_id));
  RETURN_IF_ERROR(Write(proposal.dataset_id, [&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(proposal, Approve(change, proposal_id, actor.name(), approval));
    return absl::OkStatus();
  }));
  return proposal;
}

absl::StatusOr<LimitProposal> SqlLedger::EndLimitProposal(std::string_view proposal_id, ProposalEnd end,
                                                          std::string_view reason, const Principal& actor) {
  RETURN_IF_ERROR(CheckText("actor", actor.name()));
  if (end != ProposalEnd::kRejected && end != ProposalEnd::kWithdrawn) {
    return InvalidField("end", "must be a rejection or a withdrawal");
  }
  ASSIGN_OR_RETURN(LimitProposal proposal, GetLimitProposal(proposal_id));
  RETURN_IF_ERROR(Write(proposal.dataset_id, [&](WriteSet& change) -> absl::Status {
    ASSIGN_OR_RETURN(proposal, ReadAndLock(change, proposal_id));
    if (proposal.end == end && proposal.ended_by == actor.name()) return absl::OkStatus();
    RETURN_IF_ERROR(CheckIsOpen(proposal));
    RETURN_IF_ERROR(sql::End(change, proposal, end, std::string(reason), actor.name()));
    proposal.end = end;
    proposal.ended_by = actor.name();
    proposal.end_reason = reason;
    return absl::OkStatus();
  }));
  return proposal;
}

absl::StatusOr<LimitProposal> SqlLedger::GetLimitProposal(std::string_view proposal_id) {
  std::optional<LimitProposal> found;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    ASSIGN_OR_RETURN(found, ReadProposal(transaction, proposal_id));
    return absl::OkStatus();
  }));
  return *std::move(found);
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
      ASSIGN_OR_RETURN(proposals, ReadProposals(transaction,
                                                "dataset_id = $1 AND (proposed_at_us, id) < ($2, $3) AND "
                                                "($5 = '' OR is_request = 0 OR proposed_by = $5) "
                                                "ORDER BY proposed_at_us DESC, id DESC LIMIT $4",
                                                {std::string(dataset_id), before, page.before_id, page.limit,
                                                 page.requests_of}));
    }
    for (const int64_t account : accounts) {
      ASSIGN_OR_RETURN(
          std::vector<LimitProposal> some,
          ReadProposals(
              transaction,
              "account_id = $1 AND (proposed_at_us, id) < ($2, $3) AND dataset_id = $5 AND "
              "($6 = '' OR is_request = 0 OR proposed_by = $6) "
              "ORDER BY proposed_at_us DESC, id DESC LIMIT $4",
              {account, before, page.before_id, page.limit, std::string(dataset_id), page.requests_of}));
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

absl::StatusOr<std::vector<LimitProposal>> SqlLedger::ListOpenProposals(std::string_view dataset_id) {
  std::vector<LimitProposal> proposals;
  RETURN_IF_ERROR(Read([&](Transaction& transaction) -> absl::Status {
    RETURN_IF_ERROR(ReadLineageId(transaction, dataset_id).status());
    ASSIGN_OR_RETURN(
        proposals,
        ReadProposals(transaction,
                      absl::StrCat(std::string(kIsOpen),
                                   " AND old_limit = (SELECT c.limit_value FROM account_counters c WHERE "
                                   "c.account_id = limit_proposals.account_id AND c.counter = "
                                   "limit_proposals.counter) ORDER BY proposed_at_us, id LIMIT $2"),
                      {std::string(dataset_id), 2 * kMostOpenProposals}));
    return absl::OkStatus();
  }));
  return proposals;
}

}  // namespace curator::ledger::sql
