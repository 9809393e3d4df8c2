// curator.v1.AccountantService: one use case behind each method.
#pragma once

#include "curator/v1/accountant.grpc.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class AccountantRpc final : public v1::AccountantService::CallbackService {
 public:
  explicit AccountantRpc(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* EstimateCost(grpc::CallbackServerContext* context,
                                         const v1::EstimateCostRequest* request,
                                         v1::EstimateCostResponse* response) override;
  grpc::ServerUnaryReactor* ReserveBudget(grpc::CallbackServerContext* context,
                                          const v1::ReserveBudgetRequest* request,
                                          v1::Charge* response) override;
  grpc::ServerUnaryReactor* BatchReserveBudget(grpc::CallbackServerContext* context,
                                               const v1::BatchReserveBudgetRequest* request,
                                               v1::BatchReserveBudgetResponse* response) override;
  grpc::ServerUnaryReactor* StartCharge(grpc::CallbackServerContext* context,
                                        const v1::StartChargeRequest* request, v1::Charge* response) override;
  grpc::ServerUnaryReactor* CommitBudget(grpc::CallbackServerContext* context,
                                         const v1::CommitBudgetRequest* request,
                                         v1::Charge* response) override;
  grpc::ServerUnaryReactor* CancelReservation(grpc::CallbackServerContext* context,
                                              const v1::CancelReservationRequest* request,
                                              v1::Charge* response) override;
  grpc::ServerUnaryReactor* ExtendReservation(grpc::CallbackServerContext* context,
                                              const v1::ExtendReservationRequest* request,
                                              v1::Charge* response) override;
  grpc::ServerUnaryReactor* GetCharge(grpc::CallbackServerContext* context,
                                      const v1::GetChargeRequest* request, v1::Charge* response) override;

 private:
  Calls& calls_;
};

}  // namespace curator::rpc
