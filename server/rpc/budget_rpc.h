// curator.v1.BudgetService: one use case behind each method.
#pragma once

#include "curator/v1/budget.grpc.pb.h"
#include "service/services.h"

namespace curator::rpc {

class BudgetRpc final : public v1::BudgetService::Service {
 public:
  explicit BudgetRpc(service::Services& services) : services_(services) {}

  grpc::Status GetBudget(grpc::ServerContext* context, const v1::GetBudgetRequest* request,
                         v1::GetBudgetResponse* response) override;
  grpc::Status ListAccounts(grpc::ServerContext* context, const v1::ListAccountsRequest* request,
                            v1::ListAccountsResponse* response) override;
  grpc::Status CreateAccount(grpc::ServerContext* context, const v1::CreateAccountRequest* request,
                             v1::Account* response) override;
  grpc::Status ProposeLimitChange(grpc::ServerContext* context, const v1::ProposeLimitChangeRequest* request,
                                  v1::LimitProposal* response) override;
  grpc::Status ApproveLimitChange(grpc::ServerContext* context, const v1::ApproveLimitChangeRequest* request,
                                  v1::LimitProposal* response) override;
  grpc::Status ListLimitProposals(grpc::ServerContext* context, const v1::ListLimitProposalsRequest* request,
                                  v1::ListLimitProposalsResponse* response) override;
  grpc::Status ListLedgerEntries(grpc::ServerContext* context, const v1::ListLedgerEntriesRequest* request,
                                 grpc::ServerWriter<v1::LedgerEntry>* writer) override;
  grpc::Status VerifyLedger(grpc::ServerContext* context, const v1::VerifyLedgerRequest* request,
                            v1::VerifyLedgerResponse* response) override;

  grpc::Status GetReceiptKey(grpc::ServerContext* context, const v1::GetReceiptKeyRequest* request,
                             v1::GetReceiptKeyResponse* response) override;
  grpc::Status ListChainLinks(grpc::ServerContext* context, const v1::ListChainLinksRequest* request,
                              grpc::ServerWriter<v1::ChainLink>* writer) override;
  grpc::Status RepairLedger(grpc::ServerContext* context, const v1::RepairLedgerRequest* request,
                            v1::RepairLedgerResponse* response) override;

 private:
  service::Services& services_;
};

}  // namespace curator::rpc
