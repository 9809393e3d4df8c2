// curator.v1.AccountantService: one use case behind each method.
#pragma once

#include "curator/v1/accountant.grpc.pb.h"
#include "service/services.h"

namespace curator::rpc {

class AccountantRpc final : public v1::AccountantService::Service {
 public:
  explicit AccountantRpc(service::Services& services) : services_(services) {}

  grpc::Status EstimateCost(grpc::ServerContext* context, const v1::EstimateCostRequest* request,
                            v1::EstimateCostResponse* response) override;
  grpc::Status ReserveBudget(grpc::ServerContext* context, const v1::ReserveBudgetRequest* request,
                             v1::Charge* response) override;
  grpc::Status BatchReserveBudget(grpc::ServerContext* context, const v1::BatchReserveBudgetRequest* request,
                                  v1::BatchReserveBudgetResponse* response) override;
  grpc::Status StartCharge(grpc::ServerContext* context, const v1::StartChargeRequest* request,
                           v1::Charge* response) override;
  grpc::Status CommitBudget(grpc::ServerContext* context, const v1::CommitBudgetRequest* request,
                            v1::Charge* response) override;
  grpc::Status CancelReservation(grpc::ServerContext* context, const v1::CancelReservationRequest* request,
                                 v1::Charge* response) override;
  grpc::Status ExtendReservation(grpc::ServerContext* context, const v1::ExtendReservationRequest* request,
                                 v1::Charge* response) override;
  grpc::Status GetCharge(grpc::ServerContext* context, const v1::GetChargeRequest* request,
                         v1::Charge* response) override;

 private:
  service::Services& services_;
};

}  // namespace curator::rpc
