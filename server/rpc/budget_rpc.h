// curator.v1.BudgetService: one use case behind each method.
#pragma once

#include "curator/v1/budget.grpc.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class BudgetRpc final : public v1::BudgetService::CallbackService {
 public:
  explicit BudgetRpc(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* GetBudget(grpc::CallbackServerContext* context,
                                      const v1::GetBudgetRequest* request,
                                      v1::GetBudgetResponse* response) override;
  grpc::ServerUnaryReactor* ListAccounts(grpc::CallbackServerContext* context,
                                         const v1::ListAccountsRequest* request,
                                         v1::ListAccountsResponse* response) override;
  grpc::ServerUnaryReactor* CreateAccount(grpc::CallbackServerContext* context,
                                          const v1::CreateAccountRequest* request,
                                          v1::Account* response) override;
  grpc::ServerUnaryReactor* ProposeLimitChange(grpc::CallbackServerContext* context,
                                               const v1::ProposeLimitChangeRequest* request,
                                               v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* ApproveLimitChange(grpc::CallbackServerContext* context,
                                               const v1::ApproveLimitChangeRequest* request,
                                               v1::LimitProposal* response) override;
  grpc::ServerUnaryReactor* ListLimitProposals(grpc::CallbackServerContext* context,
                                               const v1::ListLimitProposalsRequest* request,
                                               v1::ListLimitProposalsResponse* response) override;
  grpc::ServerWriteReactor<v1::LedgerEntry>* ListLedgerEntries(
      grpc::CallbackServerContext* context, const v1::ListLedgerEntriesRequest* request) override;
  grpc::ServerUnaryReactor* VerifyLedger(grpc::CallbackServerContext* context,
                                         const v1::VerifyLedgerRequest* request,
                                         v1::VerifyLedgerResponse* response) override;

  grpc::ServerUnaryReactor* GetReceiptKey(grpc::CallbackServerContext* context,
                                          const v1::GetReceiptKeyRequest* request,
                                          v1::GetReceiptKeyResponse* response) override;
  grpc::ServerWriteReactor<v1::ChainLink>* ListChainLinks(grpc::CallbackServerContext* context,
                                                          const v1::ListChainLinksRequest* request) override;
  grpc::ServerUnaryReactor* RepairLedger(grpc::CallbackServerContext* context,
                                         const v1::RepairLedgerRequest* request,
                                         v1::RepairLedgerResponse* response) override;

 private:
  Calls& calls_;
};

}  // namespace curator::rpc
