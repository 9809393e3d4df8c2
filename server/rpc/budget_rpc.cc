#include "rpc/budget_rpc.h"

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
  if (account.scope_type == ledger::ScopeType::kAnalyst) proto.set_analyst(account.scope_key);
  if (account.scope_type == ledger::ScopeType::kAnalystGroup) {
    proto.mutable_group()->set_name(account.scope_key);
    for (const std::string& member : account.members) proto.mutable_group()->add_members(member);
  }
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
  const service::Intent intent =
      request.validate_only() ? service::Intent::kValidateOnly : service::Intent::kDo;
  ASSIGN_OR_RETURN(const service::AccountView account, service::CreateAccount(curator.ledger, order, intent));
  response = ToProto(account);
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
