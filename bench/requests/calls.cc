#include "bench/requests/calls.h"

#include <grpcpp/create_channel.h>
#include <grpcpp/security/credentials.h>
#include <grpcpp/support/sync_stream.h>

#include <chrono>
#include <cstdio>
#include <thread>

#include "client/error.h"

namespace curator::bench {

Connections::Connections(const std::string& address, int connections) {
  for (int i = 0; i < connections; ++i) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    // Otherwise channels to one address share one connection.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    const auto channel = grpc::CreateCustomChannel(address, grpc::InsecureChannelCredentials(), arguments);
    if (!channel->WaitForConnected(std::chrono::system_clock::now() + std::chrono::seconds(10)))
      Must(absl::UnavailableError("nobody answers at " + address));
    stubs_.push_back(std::make_unique<Stubs>(channel));
  }
}

Stubs& Connections::OfClient(int client) const {
  return *stubs_[static_cast<size_t>(client) % stubs_.size()];
}

void Caller::Run(const std::string& id, const std::function<grpc::Status(grpc::ClientContext&)>& attempt) {
  constexpr int kMostFailures = 1000;
  for (int failures = 1;; ++failures) {
    grpc::ClientContext context;
    context.AddMetadata("curator-principal", principal_);
    const grpc::Status ended = attempt(context);
    if (ended.ok()) return;
    const absl::Status error = client::FromGrpc(ended);
    if (!client::MayRetry(error) || failures == kMostFailures) Must(error);
    if (refusals_++ == 0) std::fprintf(stderr, "refused: %s\n", error.ToString().c_str());
    std::this_thread::sleep_for(client::DelayAfter({}, failures, error, id));
  }
}

void Caller::Answer(const v1::AnswerWorkloadRequest& request, std::vector<v1::AnswerChunk>* kept) {
  Run(request.request_id(), [&](grpc::ClientContext& context) {
    const auto reader = stubs_.queries.AnswerWorkload(&context, request);
    v1::AnswerChunk chunk;
    while (reader->Read(&chunk)) {
      if (kept != nullptr) kept->push_back(chunk);
    }
    return reader->Finish();
  });
}

v1::Charge Caller::Reserve(const v1::ReserveBudgetRequest& request) {
  v1::Charge charge;
  Run(request.request_id(), [&](grpc::ClientContext& context) {
    return stubs_.accountant.ReserveBudget(&context, request, &charge);
  });
  return charge;
}

v1::Charge Caller::Start(const std::string& charge_id) {
  v1::StartChargeRequest request;
  request.set_charge_id(charge_id);
  v1::Charge charge;
  Run(charge_id, [&](grpc::ClientContext& context) {
    return stubs_.accountant.StartCharge(&context, request, &charge);
  });
  return charge;
}

v1::Charge Caller::Commit(const std::string& charge_id) {
  v1::CommitBudgetRequest request;
  request.set_charge_id(charge_id);
  v1::Charge charge;
  Run(charge_id, [&](grpc::ClientContext& context) {
    return stubs_.accountant.CommitBudget(&context, request, &charge);
  });
  return charge;
}

}  // namespace curator::bench
