#include "rpc/budget_rpc.h"

#include <functional>
#include <memory>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/accounting/rule.h"
#include "google/protobuf/util/time_util.h"
#include "rpc/audit_page.h"
#include "rpc/convert_budget.h"
#include "rpc/convert_schema.h"
#include "rpc/convert_time.h"
#include "rpc/handle.h"
#include "rpc/message_stream.h"
#include "rpc/page.h"
#include "service/accounts/accounts.h"
#include "service/accounts/budgets.h"
#include "service/accounts/burn_down.h"
#include "service/accounts/limits.h"
#include "service/datasets/inbox.h"

namespace curator::rpc {
namespace {

absl::Status GetBudget(service::Services& services, const Call& call, const v1::GetBudgetRequest& request,
                       v1::GetBudgetResponse& response) {
  const auto detail =
      request.with_comparison() ? service::BudgetDetail::kWithComparison : service::BudgetDetail::kBalances;
  ASSIGN_OR_RETURN(const service::BudgetView budget,
                   service::GetBudget(services, call.principal(), DatasetName(request.dataset()), detail,
                                      call.client_left()));
  response = ToProto(budget);
  if (const std::optional<service::AccountView> largest =
          service::LargestPart(request.dataset(), budget.accounts)) {
    *response.mutable_largest_part() = ToProto(*largest);
    response.mutable_largest_part()->clear_promise();
  }
  return absl::OkStatus();
}

absl::Status GetBurnDown(service::Services& services, const Call& call, const v1::GetBurnDownRequest& request,
                         v1::GetBurnDownResponse& response) {
  service::BurnDownQuery query{.dataset = DatasetName(request.dataset()), .account = request.account()};
  if (request.has_from()) {
    RETURN_IF_ERROR(CheckTime("from", request.from()));
    query.from_second = request.from().seconds();
  }
  if (request.has_to()) {
    RETURN_IF_ERROR(CheckTime("to", request.to()));
    query.to_second = request.to().seconds();
  }
  if (request.points() != 0) query.most_points = request.points();
  ASSIGN_OR_RETURN(const service::BurnDown burn_down,
                   service::GetBurnDown(services.access(), call.principal(), query));
  response = ToProto(burn_down);
  return absl::OkStatus();
}

absl::Status ListAccounts(service::Services& services, const Call& call,
                          const v1::ListAccountsRequest& request, v1::ListAccountsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "accounts", request.dataset()));
  ASSIGN_OR_RETURN(const std::vector<service::AccountView> accounts,
                   service::ListAccounts(services.access(), call.principal(), DatasetName(request.dataset()),
                                         page.after, page.size));
  for (const service::AccountView& account : accounts) *response.add_accounts() = ToProto(account);
  if (static_cast<int64_t>(accounts.size()) == page.size) {
    response.set_next_page_token(page.TokenAfter(accounts.back().name));
  }
  return absl::OkStatus();
}

// The analysts of a new account, after whether the caller may open it: only owners learn who is known.
absl::Status CheckHolders(service::Services& services, const service::AccountOrder& order) {
  RETURN_IF_ERROR(service::CreateAccount(services.access(), order, service::Intent::kValidateOnly).status());
  if (!order.is_group) return service::CheckCanHoldRights(services.directory, "analyst", order.holder);
  for (const std::string& member : order.members) {
    RETURN_IF_ERROR(service::CheckCanHoldRights(services.directory, "group.members", member));
  }
  return absl::OkStatus();
}

absl::Status CreateAccount(service::Services& services, const Call& call,
                           const v1::CreateAccountRequest& request, v1::Account& response) {
  if (request.holder_case() == v1::CreateAccountRequest::HOLDER_NOT_SET) {
    return InvalidField("analyst", "name either an analyst or a group");
  }
  const absl::StatusOr<dp::RuleSpec> limit = rpc::FromProto(request.limit());
  if (!limit.ok()) return WithinField("limit", limit.status());
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  const service::AccountOrder order{
      .request_id = std::move(request_id),
      .principal = call.principal(),
      .dataset = DatasetName(request.dataset()),
      .is_group = request.has_group(),
      .holder = request.has_group() ? request.group().name() : request.analyst(),
      .members = {request.group().members().begin(), request.group().members().end()},
      .limit = *limit};
  if (services.directory != nullptr) RETURN_IF_ERROR(CheckHolders(services, order));
  ASSIGN_OR_RETURN(const service::AccountView account,
                   service::CreateAccount(services.access(), order, IntentOf(request)));
  response = ToProto(account);
  return absl::OkStatus();
}

// What a proposal and a request for one have in common.
template <typename Request>
absl::StatusOr<service::LimitOrder> LimitOrderOf(const Call& call, const Request& request) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  service::LimitOrder order{.request_id = std::move(request_id),
                            .principal = call.principal(),
                            .dataset = DatasetName(request.dataset()),
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
  return order;
}

absl::Status ProposeLimitChange(service::Services& services, const Call& call,
                                const v1::ProposeLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(service::LimitOrder order, LimitOrderOf(call, request));
  order.takes_up = request.takes_up();
  ASSIGN_OR_RETURN(const service::LimitView proposal,
                   service::ProposeLimit(services.access(), order, IntentOf(request)));
  response = ToProto(proposal);
  return absl::OkStatus();
}

absl::Status RequestLimitChange(service::Services& services, const Call& call,
                                const v1::RequestLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(const service::LimitOrder order, LimitOrderOf(call, request));
  ASSIGN_OR_RETURN(const service::LimitView asked, service::RequestLimit(services, order, IntentOf(request)));
  response = ToProto(asked);
  return absl::OkStatus();
}

template <typename Request>
absl::StatusOr<service::LimitChoice> ChoiceOf(const Call& call, const Request& request) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  return service::LimitChoice{call.principal(), DatasetName(request.dataset()), request.proposal_id()};
}

absl::Status ApproveLimitChange(service::Services& services, const Call& call,
                                const v1::ApproveLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(const service::LimitChoice choice, ChoiceOf(call, request));
  ASSIGN_OR_RETURN(const service::LimitView approved,
                   service::ApproveLimit(services.access(), choice, IntentOf(request)));
  response = ToProto(approved);
  return absl::OkStatus();
}

absl::Status RejectLimitChange(service::Services& services, const Call& call,
                               const v1::RejectLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(const service::LimitChoice choice, ChoiceOf(call, request));
  ASSIGN_OR_RETURN(const service::LimitView rejected,
                   service::RejectLimit(services.access(), choice, request.reason(), IntentOf(request)));
  response = ToProto(rejected);
  return absl::OkStatus();
}

absl::Status WithdrawLimitChange(service::Services& services, const Call& call,
                                 const v1::WithdrawLimitChangeRequest& request, v1::LimitProposal& response) {
  ASSIGN_OR_RETURN(const service::LimitChoice choice, ChoiceOf(call, request));
  ASSIGN_OR_RETURN(const service::LimitView withdrawn,
                   service::WithdrawLimit(services.access(), choice, IntentOf(request)));
  response = ToProto(withdrawn);
  return absl::OkStatus();
}

absl::Status ListLimitProposals(service::Services& services, const Call& call,
                                const v1::ListLimitProposalsRequest& request,
                                v1::ListLimitProposalsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "limit_proposals", request.dataset()));
  ASSIGN_OR_RETURN(const std::vector<service::LimitView> proposals,
                   service::ListLimitProposals(services.access(), call.principal(),
                                               DatasetName(request.dataset()), page.after, page.size));
  for (const service::LimitView& proposal : proposals) *response.add_proposals() = ToProto(proposal);
  if (static_cast<int64_t>(proposals.size()) == page.size) {
    response.set_next_page_token(page.TokenAfter(proposals.back().proposal.id));
  }
  return absl::OkStatus();
}

absl::Status ListInbox(service::Services& services, const Call& call, const v1::ListInboxRequest& request,
                       v1::ListInboxResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "inbox"));
  ASSIGN_OR_RETURN(const service::Inbox inbox,
                   service::ReadInbox(services.access(), call.principal(), page.after, page.size));
  for (const service::InboxItem& item : inbox.items) {
    v1::ListInboxResponse::Item& added = *response.add_items();
    added.set_dataset(item.dataset);
    if (item.view) *added.mutable_proposal() = ToProto(*item.view);
    if (!item.view) added.set_publication(true);
  }
  if (inbox.has_more) response.set_next_page_token(page.TokenAfter(inbox.last));
  return absl::OkStatus();
}

absl::Status ListRefusals(audit::AuditStore& audit, service::Services& services, const Call& call,
                          const v1::ListRefusalsRequest& request, v1::ListRefusalsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "refusals", request.dataset()));
  ASSIGN_OR_RETURN(const audit::AuditPlace place, PlaceOf(page));
  ASSIGN_OR_RETURN(const service::DatasetView dataset,
                   service::FindDataset(services.access(), Method::kListRefusals, call.principal(),
                                        DatasetName(request.dataset())));
  const std::string whose = dataset.MayAll(Method::kListRefusals) ? "" : call.principal().name();
  ASSIGN_OR_RETURN(const audit::AuditPage found,
                   audit.ListBudgetRefusals(request.dataset(), whose, place, page.size));
  for (const audit::AuditRecord& record : found.records) *response.add_refusals() = ToProto(record);
  if (found.next.has_value()) response.set_next_page_token(TokenAfter(page, *found.next));
  return absl::OkStatus();
}

absl::Status CheckSequence(std::string_view field, int64_t sequence) {
  return sequence < 0 ? InvalidField(field, "must not be negative") : absl::OkStatus();
}

absl::StatusOr<ledger::EntryRange> RangeOf(const v1::ListLedgerEntriesRequest& request) {
  constexpr int32_t kMostNewest = 1000;
  RETURN_IF_ERROR(CheckSequence("after_sequence", request.after_sequence()));
  RETURN_IF_ERROR(CheckSequence("before_sequence", request.before_sequence()));
  if (request.newest() < 0 || request.newest() > kMostNewest) {
    return InvalidField("newest", absl::StrCat("must be 1 to ", kMostNewest, ", or 0 for all"));
  }
  ledger::EntryRange range{.after_seq = request.after_sequence()};
  if (request.before_sequence() > 0) range.before_seq = request.before_sequence();
  if (request.newest() > 0) range.limit = request.newest();
  range.newest = request.newest() > 0;
  return range;
}

absl::Status ListLedgerEntries(service::Services& services, const Call& call,
                               const v1::ListLedgerEntriesRequest& request,
                               MessageWriter<v1::LedgerEntry>& writer) {
  ASSIGN_OR_RETURN(ledger::EntryRange range, RangeOf(request));
  while (true) {
    ASSIGN_OR_RETURN(const service::EntriesPage read,
                     service::ListLedgerEntries(services.access(), call.principal(),
                                                DatasetName(request.dataset()), range));
    for (const ledger::Entry& entry : read.entries) {
      if (!writer.Write(ToProto(entry, request.dataset()))) return ClientDisconnected();
    }
    if (!read.has_more || range.newest) return absl::OkStatus();
    range.after_seq = read.last_seq;
  }
}

absl::StatusOr<std::vector<service::HistoryPosition>> PositionsOf(const v1::WatchLedgerRequest& request) {
  if (request.positions().empty()) {
    RETURN_IF_ERROR(CheckSequence("after_sequence", request.after_sequence()));
    return std::vector<service::HistoryPosition>{{DatasetName(request.dataset()), request.after_sequence()}};
  }
  if (!request.dataset().empty()) return InvalidField("dataset", "must be empty where positions are given");
  if (request.after_sequence() != 0) {
    return InvalidField("after_sequence", "must be 0 where positions are given: each has its own");
  }
  if (request.positions_size() > static_cast<int>(kMostPositions)) {
    return InvalidField("positions", absl::StrCat("are more than ", kMostPositions));
  }
  std::set<std::string> seen;
  std::vector<service::HistoryPosition> positions;
  for (const v1::LedgerPosition& position : request.positions()) {
    const std::string path = absl::StrCat("positions[", positions.size(), "]");
    RETURN_IF_ERROR(CheckSequence(path + ".after_sequence", position.after_sequence()));
    if (!seen.insert(position.dataset()).second) {
      return InvalidField(path + ".dataset", "is in positions already: each dataset is watched once");
    }
    positions.push_back({DatasetName(position.dataset()), position.after_sequence()});
  }
  return positions;
}

// Sends what the watch finds, or ends the stream when the principal may no longer watch a dataset. Returns
// whether it sent something. `note` is called with datasets that the principal may watch, while the call is
// being answered.
bool SendNew(service::HistoryWatch& watch, MessageStream<v1::LedgerEntry>& stream,
             const std::function<void(std::vector<std::string> allowed)>& note) {
  const absl::StatusOr<std::vector<service::WatchedEntry>> found = watch.Look();
  if (std::vector<std::string> allowed = watch.TakeAllowed(); !allowed.empty())
    stream.WhileOpen([&] { note(std::move(allowed)); });
  // While the store is away there is nothing to show; the next look may find it back.
  if (absl::IsUnavailable(found.status())) return false;
  if (!found.ok()) {
    stream.End(ToGrpcStatus(found.status()));
    return false;
  }
  std::vector<v1::LedgerEntry> messages;
  for (const service::WatchedEntry& each : *found) messages.push_back(ToProto(each.entry, each.dataset));
  if (messages.empty()) return false;
  stream.Send(std::move(messages));
  return true;
}

absl::Status VerifyLedger(service::Services& services, const Call& call,
                          const v1::VerifyLedgerRequest& request, v1::VerifyLedgerResponse& response) {
  ASSIGN_OR_RETURN(const service::VerifiedLedger verified,
                   service::VerifyLedger(services.access(), call.principal(), DatasetName(request.dataset()),
                                         services.quotas));
  const ledger::Verification& verification = verified.verification;
  response.set_ok(verification.ok);
  response.set_entries_checked(verification.entries_checked);
  response.set_head_hash(verification.head_hash);
  response.set_anchored_sequence(verification.anchored_seq);
  for (const std::string& finding : verification.findings) response.add_findings(finding);
  response.set_ledger_id(services.ledger.LedgerId());
  response.set_dataset_id(verified.dataset_id);
  response.set_receipt_key(services.signer.public_key());
  *response.mutable_verify_time() =
      google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(verification.made_at_us);
  return absl::OkStatus();
}

absl::Status ListChainLinks(service::Services& services, const Call& call,
                            const v1::ListChainLinksRequest& request, MessageWriter<v1::ChainLink>& writer) {
  if (request.after_sequence() < 0) return InvalidField("after_sequence", "must not be negative");
  ledger::Page page{.after_seq = request.after_sequence()};
  while (true) {
    ASSIGN_OR_RETURN(
        const std::vector<service::LinkView> links,
        service::ListChainLinks(services.access(), call.principal(), DatasetName(request.dataset()), page));
    for (const service::LinkView& link : links) {
      if (!writer.Write(ToProto(link, request.dataset()))) return ClientDisconnected();
    }
    if (static_cast<int64_t>(links.size()) < page.limit) return absl::OkStatus();
    page.after_seq = links.back().entry.seq;
  }
}

template <typename Message>
std::vector<service::Receipt> ReceiptsIn(const Message& message) {
  std::vector<service::Receipt> receipts;
  for (const v1::Receipt& receipt : message.receipts()) {
    receipts.push_back({receipt.statement(), receipt.signature(), receipt.public_key()});
  }
  return receipts;
}

absl::Status ProposeRepair(service::Services& services, const Call& call,
                           const v1::ProposeRepairRequest& request, v1::ProposeRepairResponse& response) {
  ASSIGN_OR_RETURN(const service::ProposedRepair proposed,
                   service::ProposeRepair(services.access(), services.signer,
                                          {.principal = call.principal(),
                                           .dataset = DatasetName(request.dataset()),
                                           .reason = request.reason(),
                                           .receipts = ReceiptsIn(request)},
                                          services.quotas));
  *response.mutable_proposal() = ToProto(proposed.proposal);
  *response.mutable_effect() = ToProto(proposed.effect);
  return absl::OkStatus();
}

absl::Status ApproveRepair(service::Services& services, const Call& call,
                           const v1::ApproveRepairRequest& request, v1::RepairReport& response) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  const service::RepairProposal proposal{.statement = request.proposal().statement(),
                                         .signature = request.proposal().signature(),
                                         .public_key = request.proposal().public_key(),
                                         .receipts = ReceiptsIn(request.proposal())};
  ASSIGN_OR_RETURN(
      const service::RepairView view,
      service::ApproveRepair(services.access(), services.signer, call.principal(),
                             DatasetName(request.dataset()), proposal, IntentOf(request), services.quotas));
  response = ToProto(view);
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* BudgetRpc::GetBudget(grpc::CallbackServerContext* context,
                                               const v1::GetBudgetRequest* request,
                                               v1::GetBudgetResponse* response) {
  return Handle<Method::kGetBudget>(calls_, *context, *request, *response, rpc::GetBudget);
}

grpc::ServerUnaryReactor* BudgetRpc::GetBurnDown(grpc::CallbackServerContext* context,
                                                 const v1::GetBurnDownRequest* request,
                                                 v1::GetBurnDownResponse* response) {
  return Handle<Method::kGetBurnDown>(calls_, *context, *request, *response, rpc::GetBurnDown);
}

grpc::ServerUnaryReactor* BudgetRpc::ListAccounts(grpc::CallbackServerContext* context,
                                                  const v1::ListAccountsRequest* request,
                                                  v1::ListAccountsResponse* response) {
  return Handle<Method::kListAccounts>(calls_, *context, *request, *response, rpc::ListAccounts);
}

grpc::ServerUnaryReactor* BudgetRpc::CreateAccount(grpc::CallbackServerContext* context,
                                                   const v1::CreateAccountRequest* request,
                                                   v1::Account* response) {
  return Handle<Method::kCreateAccount>(calls_, *context, *request, *response, rpc::CreateAccount);
}

grpc::ServerUnaryReactor* BudgetRpc::ProposeLimitChange(grpc::CallbackServerContext* context,
                                                        const v1::ProposeLimitChangeRequest* request,
                                                        v1::LimitProposal* response) {
  return Handle<Method::kProposeLimitChange>(calls_, *context, *request, *response, rpc::ProposeLimitChange);
}

grpc::ServerUnaryReactor* BudgetRpc::RequestLimitChange(grpc::CallbackServerContext* context,
                                                        const v1::RequestLimitChangeRequest* request,
                                                        v1::LimitProposal* response) {
  return Handle<Method::kRequestLimitChange>(calls_, *context, *request, *response, rpc::RequestLimitChange);
}

grpc::ServerUnaryReactor* BudgetRpc::ApproveLimitChange(grpc::CallbackServerContext* context,
                                                        const v1::ApproveLimitChangeRequest* request,
                                                        v1::LimitProposal* response) {
  return Handle<Method::kApproveLimitChange>(calls_, *context, *request, *response, rpc::ApproveLimitChange);
}

grpc::ServerUnaryReactor* BudgetRpc::RejectLimitChange(grpc::CallbackServerContext* context,
                                                       const v1::RejectLimitChangeRequest* request,
                                                       v1::LimitProposal* response) {
  return Handle<Method::kRejectLimitChange>(calls_, *context, *request, *response, rpc::RejectLimitChange);
}

grpc::ServerUnaryReactor* BudgetRpc::WithdrawLimitChange(grpc::CallbackServerContext* context,
                                                         const v1::WithdrawLimitChangeRequest* request,
                                                         v1::LimitProposal* response) {
  return Handle<Method::kWithdrawLimitChange>(calls_, *context, *request, *response,
                                              rpc::WithdrawLimitChange);
}

grpc::ServerUnaryReactor* BudgetRpc::ListLimitProposals(grpc::CallbackServerContext* context,
                                                        const v1::ListLimitProposalsRequest* request,
                                                        v1::ListLimitProposalsResponse* response) {
  return Handle<Method::kListLimitProposals>(calls_, *context, *request, *response, rpc::ListLimitProposals);
}

grpc::ServerUnaryReactor* BudgetRpc::ListInbox(grpc::CallbackServerContext* context,
                                               const v1::ListInboxRequest* request,
                                               v1::ListInboxResponse* response) {
  return Handle<Method::kListInbox>(calls_, *context, *request, *response, rpc::ListInbox);
}

grpc::ServerUnaryReactor* BudgetRpc::ListRefusals(grpc::CallbackServerContext* context,
                                                  const v1::ListRefusalsRequest* request,
                                                  v1::ListRefusalsResponse* response) {
  return Handle<Method::kListRefusals>(
      calls_, *context, *request, *response,
      [&audit = audit_](service::Services& services, const Call& call, const v1::ListRefusalsRequest& asked,
                        v1::ListRefusalsResponse& answer) {
        return rpc::ListRefusals(audit, services, call, asked, answer);
      });
}

grpc::ServerWriteReactor<v1::LedgerEntry>* BudgetRpc::ListLedgerEntries(
    grpc::CallbackServerContext* context, const v1::ListLedgerEntriesRequest* request) {
  return Handle<Method::kListLedgerEntries>(calls_, *context, *request, rpc::ListLedgerEntries);
}

grpc::ServerWriteReactor<v1::LedgerEntry>* BudgetRpc::WatchLedger(grpc::CallbackServerContext* context,
                                                                  const v1::WatchLedgerRequest* request) {
  using Stream = std::shared_ptr<MessageStream<v1::LedgerEntry>>;
  NoteNames(calls_, *context, *request);
  return StreamToFollower<v1::LedgerEntry>(
      calls_, *context, kPermissionFor<Method::kWatchLedger>, histories_.followers(),
      [&](const Stream& stream, const Principal& principal) -> uint64_t {
        absl::StatusOr<std::vector<service::HistoryPosition>> positions = PositionsOf(*request);
        if (!positions.ok()) {
          stream->End(ToGrpcStatus(positions.status()));
          return kNoFollower;
        }
        const auto watch = std::make_shared<service::HistoryWatch>(
            calls_.services.access(), histories_.heads(), principal, *std::move(positions));
        const auto note = [&calls = calls_, context](std::vector<std::string> allowed) {
          try {
            calls.on_noted(*context, {.allowed_datasets = std::move(allowed)});
          } catch (const std::bad_alloc&) {
            // The audit will lack them. The entries that were found must not be lost.
            return;
          }
        };
        return histories_.followers().Follow([stream, watch, note] { return SendNew(*watch, *stream, note); },
                                             [stream] { stream->End(ToGrpcStatus(ServerIsStopping())); });
      });
}

grpc::ServerUnaryReactor* BudgetRpc::VerifyLedger(grpc::CallbackServerContext* context,
                                                  const v1::VerifyLedgerRequest* request,
                                                  v1::VerifyLedgerResponse* response) {
  return Handle<Method::kVerifyLedger>(calls_, *context, *request, *response, rpc::VerifyLedger);
}

grpc::ServerUnaryReactor* BudgetRpc::GetReceiptKey(grpc::CallbackServerContext* context,
                                                   const v1::GetReceiptKeyRequest*,
                                                   v1::GetReceiptKeyResponse* response) {
  response->set_ledger_id(calls_.services.ledger.LedgerId());
  response->set_public_key(calls_.services.signer.public_key());
  return AnswerAtOnce(*context);
}

grpc::ServerWriteReactor<v1::ChainLink>* BudgetRpc::ListChainLinks(grpc::CallbackServerContext* context,
                                                                   const v1::ListChainLinksRequest* request) {
  return Handle<Method::kListChainLinks>(calls_, *context, *request, rpc::ListChainLinks);
}

grpc::ServerUnaryReactor* BudgetRpc::ProposeRepair(grpc::CallbackServerContext* context,
                                                   const v1::ProposeRepairRequest* request,
                                                   v1::ProposeRepairResponse* response) {
  return Handle<Method::kProposeRepair>(calls_, *context, *request, *response, rpc::ProposeRepair);
}

grpc::ServerUnaryReactor* BudgetRpc::ApproveRepair(grpc::CallbackServerContext* context,
                                                   const v1::ApproveRepairRequest* request,
                                                   v1::RepairReport* response) {
  return Handle<Method::kApproveRepair>(calls_, *context, *request, *response, rpc::ApproveRepair);
}

}  // namespace curator::rpc
