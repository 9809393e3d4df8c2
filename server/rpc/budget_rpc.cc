#include "rpc/budget_rpc.h"

#include <optional>
#include <string>

#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/caller.h"
#include "rpc/convert_schema.h"
#include "rpc/grpc_status.h"
#include "service/accounts.h"
#include "service/budgets.h"
#include "service/limits.h"

namespace curator::rpc {
namespace {

v1::Account ToProto(const service::AccountView& account) {
  v1::Account proto;
  proto.set_name(account.name);
  *proto.mutable_promise() = rpc::ToProto(account.rule);
  for (const ledger::CounterBalance& balance : account.counters) {
    v1::Counter* counter = proto.add_counters();
    counter->set_name(balance.counter);
    counter->set_limit(dp::FormatCounter(balance.counter, balance.limit));
    counter->set_spent(dp::FormatCounter(balance.counter, balance.spent));
    counter->set_held(dp::FormatCounter(balance.counter, balance.held));
    counter->set_remaining(dp::FormatCounter(balance.counter, balance.limit - balance.spent - balance.held));
  }
  if (account.scope_type == ledger::ScopeType::kPart) proto.set_part(account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalyst) proto.set_analyst(account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalystGroup) {
    proto.mutable_group()->set_name(account.scope_key);
    for (const std::string& member : account.members) proto.mutable_group()->add_members(member);
  }
  return proto;
}

service::Intent IntentOf(bool validate_only) {
  return validate_only ? service::Intent::kValidateOnly : service::Intent::kDo;
}

v1::LimitProposal::State ToProto(service::ProposalState state) {
  switch (state) {
    case service::ProposalState::kPending:
      return v1::LimitProposal::PENDING;
    case service::ProposalState::kApproved:
      return v1::LimitProposal::APPROVED;
    case service::ProposalState::kOutdated:
      return v1::LimitProposal::OUTDATED;
  }
  return v1::LimitProposal::STATE_UNSPECIFIED;
}

v1::LimitProposal ToProto(const service::LimitView& view) {
  const ledger::LimitProposal& proposal = view.proposal;
  v1::LimitProposal proto;
  proto.set_id(proposal.id);
  proto.set_state(ToProto(view.state));
  proto.set_account(view.account);
  *proto.mutable_old_promise() = rpc::ToProto(view.before);
  *proto.mutable_new_promise() = rpc::ToProto(view.after);
  proto.set_counter(proposal.counter);
  proto.set_old_limit(dp::FormatCounter(proposal.counter, proposal.old_limit));
  proto.set_new_limit(dp::FormatCounter(proposal.counter, proposal.new_limit));
  proto.set_reason(proposal.reason);
  proto.set_proposed_by(proposal.proposed_by);
  if (proposal.proposed_at_us != 0) {
    *proto.mutable_propose_time() =
        google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(proposal.proposed_at_us);
  }
  proto.set_approved_by(proposal.approved_by);
  return proto;
}

v1::LedgerEntry ToProto(const ledger::Entry& entry) {
  v1::LedgerEntry proto;
  proto.set_sequence(entry.seq);
  proto.set_kind(entry.kind);
  proto.set_actor(entry.actor);
  proto.set_charge_id(entry.charge_id);
  *proto.mutable_time() = google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(entry.created_at_us);
  proto.set_summary(service::Summary(entry));
  proto.set_payload(entry.payload);
  proto.set_previous_hash(entry.prev_hash);
  proto.set_hash(entry.hash);
  proto.set_dataset_id(entry.dataset_id);
  return proto;
}

absl::Status Get(service::Curator& curator, const grpc::ServerContext& context,
                 const v1::GetBudgetRequest& request, v1::GetBudgetResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const std::vector<service::AccountView> accounts,
                   service::GetBudget(curator.ledger, principal, request.dataset()));
  for (const service::AccountView& account : accounts) *response.add_accounts() = ToProto(account);
  if (const std::optional<service::AccountView> largest = service::LargestPart(request.dataset(), accounts)) {
    *response.mutable_largest_part() = ToProto(*largest);
    response.mutable_largest_part()->clear_promise();
  }
  return absl::OkStatus();
}

absl::Status ListAll(service::Curator& curator, const grpc::ServerContext& context,
                     const v1::ListAccountsRequest& request, v1::ListAccountsResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const std::vector<service::AccountView> accounts,
                   service::GetBudget(curator.ledger, principal, request.dataset()));
  for (const service::AccountView& account : accounts) *response.add_accounts() = ToProto(account);
  return absl::OkStatus();
}

absl::Status Create(service::Curator& curator, const grpc::ServerContext& context,
                    const v1::CreateAccountRequest& request, v1::Account& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  if (request.holder_case() == v1::CreateAccountRequest::HOLDER_NOT_SET) {
    return InvalidField("analyst", "name either an analyst or a group");
  }
  const absl::StatusOr<dp::RuleSpec> limit = rpc::FromProto(request.limit());
  if (!limit.ok()) return WithinField("limit", limit.status());
  const service::AccountOrder order{
      .request_id = request.request_id(),
      .principal = principal,
      .dataset = request.dataset(),
      .is_group = request.has_group(),
      .holder = request.has_group() ? request.group().name() : request.analyst(),
      .members = {request.group().members().begin(), request.group().members().end()},
      .limit = *limit};
  ASSIGN_OR_RETURN(const service::AccountView account,
                   service::CreateAccount(curator.ledger, order, IntentOf(request.validate_only())));
  response = ToProto(account);
  return absl::OkStatus();
}

absl::Status Propose(service::Curator& curator, const grpc::ServerContext& context,
                     const v1::ProposeLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  service::LimitOrder order{.request_id = request.request_id(),
                            .principal = principal,
                            .dataset = request.dataset(),
                            .account = request.account(),
                            .epsilon = std::nullopt,
                            .delta = std::nullopt,
                            .reason = request.reason()};
  if (request.has_epsilon()) {
    ASSIGN_OR_RETURN(order.epsilon, dp::Epsilon::Parse(request.epsilon(), "epsilon"));
  }
  if (request.has_delta()) {
    ASSIGN_OR_RETURN(order.delta, dp::Delta::Parse(request.delta(), "delta"));
  }
  ASSIGN_OR_RETURN(const service::LimitView proposal,
                   service::ProposeLimit(curator.ledger, order, IntentOf(request.validate_only())));
  response = ToProto(proposal);
  return absl::OkStatus();
}

absl::Status Approve(service::Curator& curator, const grpc::ServerContext& context,
                     const v1::ApproveLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  RETURN_IF_ERROR(service::CheckRequestId(request.request_id()));
  ASSIGN_OR_RETURN(const service::LimitView approved,
                   service::ApproveLimit(curator.ledger, principal, request.dataset(), request.proposal_id(),
                                         IntentOf(request.validate_only())));
  response = ToProto(approved);
  return absl::OkStatus();
}

absl::Status ListProposals(service::Curator& curator, const grpc::ServerContext& context,
                           const v1::ListLimitProposalsRequest& request,
                           v1::ListLimitProposalsResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const std::vector<service::LimitView> proposals,
                   service::ListLimitProposals(curator.ledger, principal, request.dataset()));
  for (const service::LimitView& proposal : proposals) *response.add_proposals() = ToProto(proposal);
  return absl::OkStatus();
}

absl::Status List(service::Curator& curator, const grpc::ServerContext& context,
                  const v1::ListLedgerEntriesRequest& request, grpc::ServerWriter<v1::LedgerEntry>& writer) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  if (request.after_sequence() < 0) return InvalidField("after_sequence", "must not be negative");
  ledger::Page page{.after_seq = request.after_sequence()};
  while (true) {
    ASSIGN_OR_RETURN(const std::vector<ledger::Entry> entries,
                     service::ListLedgerEntries(curator.ledger, principal, request.dataset(), page));
    for (const ledger::Entry& entry : entries) {
      if (!writer.Write(ToProto(entry)))
        return absl::CancelledError("the client left before the end of the history");
    }
    if (static_cast<int64_t>(entries.size()) < page.limit) return absl::OkStatus();
    page.after_seq = entries.back().seq;
  }
}

absl::Status Verify(service::Curator& curator, const grpc::ServerContext& context,
                    const v1::VerifyLedgerRequest& request, v1::VerifyLedgerResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const ledger::Verification verification,
                   service::VerifyLedger(curator.ledger, principal, request.dataset()));
  response.set_ok(verification.ok);
  response.set_entries_checked(verification.entries_checked);
  response.set_head_hash(verification.head_hash);
  response.set_anchored_sequence(verification.anchored_seq);
  for (const std::string& finding : verification.findings) response.add_findings(finding);
  return absl::OkStatus();
}

}  // namespace

grpc::Status BudgetRpc::GetBudget(grpc::ServerContext* context, const v1::GetBudgetRequest* request,
                                  v1::GetBudgetResponse* response) {
  return ToGrpcStatus(Get(curator_, *context, *request, *response));
}

grpc::Status BudgetRpc::ListAccounts(grpc::ServerContext* context, const v1::ListAccountsRequest* request,
                                     v1::ListAccountsResponse* response) {
  return ToGrpcStatus(ListAll(curator_, *context, *request, *response));
}

grpc::Status BudgetRpc::CreateAccount(grpc::ServerContext* context, const v1::CreateAccountRequest* request,
                                      v1::Account* response) {
  return ToGrpcStatus(Create(curator_, *context, *request, *response));
}

grpc::Status BudgetRpc::ProposeLimitChange(grpc::ServerContext* context,
                                           const v1::ProposeLimitChangeRequest* request,
                                           v1::LimitProposal* response) {
  return ToGrpcStatus(Propose(curator_, *context, *request, *response));
}

grpc::Status BudgetRpc::ApproveLimitChange(grpc::ServerContext* context,
                                           const v1::ApproveLimitChangeRequest* request,
                                           v1::LimitProposal* response) {
  return ToGrpcStatus(Approve(curator_, *context, *request, *response));
}

grpc::Status BudgetRpc::ListLimitProposals(grpc::ServerContext* context,
                                           const v1::ListLimitProposalsRequest* request,
                                           v1::ListLimitProposalsResponse* response) {
  return ToGrpcStatus(ListProposals(curator_, *context, *request, *response));
}

grpc::Status BudgetRpc::ListLedgerEntries(grpc::ServerContext* context,
                                          const v1::ListLedgerEntriesRequest* request,
                                          grpc::ServerWriter<v1::LedgerEntry>* writer) {
  return ToGrpcStatus(List(curator_, *context, *request, *writer));
}

grpc::Status BudgetRpc::VerifyLedger(grpc::ServerContext* context, const v1::VerifyLedgerRequest* request,
                                     v1::VerifyLedgerResponse* response) {
  return ToGrpcStatus(Verify(curator_, *context, *request, *response));
}

}  // namespace curator::rpc
