// curator.v1.BudgetService: one use case behind each method.
#pragma once

#include "audit/audit_store.h"
#include "curator/v1/budget.grpc.pb.h"
#include "rpc/handle.h"
#include "service/accounts/history_watch.h"

namespace curator::rpc {

class BudgetRpc final : public v1::BudgetService::CallbackService {
 public:
  BudgetRpc(Calls& calls, service::HistoryWatches& histories, audit::AuditStore& audit)
      : calls_(calls), histories_(histories), audit_(audit) {}

  grpc::ServerUnaryReactor* GetBudget(grpc::CallbackServerContext* context,
                                      const v1::GetBudgetRequest* request,
                                      v1::GetBudgetResponse* response) override;
  grpc::ServerUnaryReactor* GetBurnDown(grpc::CallbackServerContext* context,
                                        const v1::GetBurnDownRequest* request,
                                        v1::GetBurnDownResponse* response) override;
  grpc::ServerUnaryReactor* ListAccounts(grpc::CallbackServerContext* context,
                                         const v1::ListAccountsRequest* request,
                                         v1::ListAccountsResponse* response) override;
  grpc::ServerUnaryReactor* CreateAccount(grpc::CallbackServerContext* context,
                                          const v1::CreateAccountRequest* request,
                                          v1::Account* response) override;
  grpc::ServerUnaryReactor* ProposeLimitChange(grpc::CallbackServerContext* context,
                                               const v1::ProposeLimitChangeRequest* request,
                                               v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* RequestLimitChange(grpc::CallbackServerContext* context,
                                               const v1::RequestLimitChangeRequest* request,
                                               v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* ApproveLimitChange(grpc::CallbackServerContext* context,
                                               const v1::ApproveLimitChangeRequest* request,
                                               v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* RejectLimitChange(grpc::CallbackServerContext* context,
                                              const v1::RejectLimitChangeRequest* request,
                                              v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* WithdrawLimitChange(grpc::CallbackServerContext* context,
                                                const v1::WithdrawLimitChangeRequest* request,
                                                v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* ListLimitProposals(grpc::CallbackServerContext* context,
                                               const v1::ListLimitProposalsRequest* request,
                                               v1::ListLimitProposalsResponse* response) override;
  grpc::ServerUnaryReactor* ListInbox(grpc::CallbackServerContext* context,
                                      const v1::ListInboxRequest* request,
                                      v1::ListInboxResponse* response) override;
  grpc::ServerUnaryReactor* ListRefusals(grpc::CallbackServerContext* context,
                                         const v1::ListRefusalsRequest* request,
                                         v1::ListRefusalsResponse* response) override;
  grpc::ServerWriteReactor<v1::LedgerEntry>* ListLedgerEntries(
      grpc::CallbackServerContext* context, const v1::ListLedgerEntriesRequest* request) override;
  // Sends what is new, and holds no thread.
  grpc::ServerWriteReactor<v1::LedgerEntry>* WatchLedger(grpc::CallbackServerContext* context,
                                                         const v1::WatchLedgerRequest* request) override;
  grpc::ServerUnaryReactor* VerifyLedger(grpc::CallbackServerContext* context,
                                         const v1::VerifyLedgerRequest* request,
                                         v1::VerifyLedgerResponse* response) override;

  grpc::ServerUnaryReactor* GetReceiptKey(grpc::CallbackServerContext* context,
                                          const v1::GetReceiptKeyRequest* request,
                                          v1::GetReceiptKeyResponse* response) override;
  grpc::ServerWriteReactor<v1::ChainLink>* ListChainLinks(grpc::CallbackServerContext* context,
                                                          const v1::ListChainLinksRequest* request) override;
  grpc::ServerUnaryReactor* ProposeRepair(grpc::CallbackServerContext* context,
                                          const v1::ProposeRepairRequest* request,
                                          v1::ProposeRepairResponse* response) override;
  grpc::ServerUnaryReactor* ApproveRepair(grpc::CallbackServerContext* context,
                                          const v1::ApproveRepairRequest* request,
                                          v1::RepairReport* response) override;

 private:
  Calls& calls_;
  service::HistoryWatches& histories_;
  audit::AuditStore& audit_;
};

}  // namespace curator::rpc
