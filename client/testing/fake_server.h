// A network peer for tests of the client: gRPC services on a loopback port whose answers the test chooses.
#pragma once

#include <grpcpp/grpcpp.h>

#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "client/error.h"
#include "curator/v1/budget.grpc.pb.h"
#include "curator/v1/dataset.grpc.pb.h"
#include "curator/v1/identity.grpc.pb.h"
#include "curator/v1/metrics.grpc.pb.h"
#include "curator/v1/operation.grpc.pb.h"
#include "curator/v1/query.grpc.pb.h"
#include "curator/v1/synthesis.grpc.pb.h"
#include "curator/v1/version.grpc.pb.h"

namespace curator::client::testing {

// An error with details, as a server sends it.
grpc::Status DetailedError(grpc::StatusCode code, const std::string& message,
                           const std::vector<const google::protobuf::Message*>& details);

// Retries without waiting long.
RetryPolicy Impatient();

// Each method does what its function says; one without a function is UNIMPLEMENTED. Functions run on the
// server's threads.
struct FakeServices : v1::DatasetService::Service,
                      v1::QueryService::Service,
                      v1::SynthesisService::Service,
                      v1::OperationService::Service,
                      v1::BudgetService::Service,
                      v1::IdentityService::Service,
                      v1::MetricsService::Service,
                      v1::VersionService::Service {
  using Context = grpc::ServerContext;
  template <typename Request, typename Response>
  using Unary = std::function<grpc::Status(Context&, const Request&, Response&)>;
  template <typename Request, typename Message>
  using Streaming = std::function<grpc::Status(Context&, const Request&, grpc::ServerWriter<Message>&)>;

  Unary<v1::GetVersionRequest, v1::GetVersionResponse> on_get_version;
  Unary<v1::CreateDatasetRequest, v1::Dataset> on_create_dataset;
  Unary<v1::GetDatasetRequest, v1::Dataset> on_get_dataset;
  std::function<grpc::Status(Context&, grpc::ServerReader<v1::ImportRecordsRequest>&,
                             v1::ImportRecordsResponse&)>
      on_import;
  Unary<v1::SealDatasetRequest, v1::SealDatasetResponse> on_seal;
  Unary<v1::EstimateWorkloadRequest, v1::EstimateWorkloadResponse> on_estimate_workload;
  Streaming<v1::AnswerWorkloadRequest, v1::AnswerChunk> on_answer;
  Unary<v1::CreateSynthesisRequest, v1::Operation> on_create_synthesis;
  Streaming<v1::SampleModelRequest, v1::SampleModelChunk> on_sample;
  Streaming<v1::WatchOperationRequest, v1::Operation> on_watch;
  Unary<v1::GetBudgetRequest, v1::GetBudgetResponse> on_get_budget;
  Unary<v1::CreateAccountRequest, v1::Account> on_create_account;
  Unary<v1::ProposeLimitChangeRequest, v1::LimitProposal> on_propose_limit;
  Unary<v1::ApproveLimitChangeRequest, v1::LimitProposal> on_approve_limit;
  Streaming<v1::ListLedgerEntriesRequest, v1::LedgerEntry> on_list_entries;
  Streaming<v1::WatchLedgerRequest, v1::LedgerEntry> on_watch_ledger;
  Unary<v1::VerifyLedgerRequest, v1::VerifyLedgerResponse> on_verify;
  Unary<v1::WhoAmIRequest, v1::WhoAmIResponse> on_who_am_i;
  Unary<v1::GetMetricsRequest, v1::GetMetricsResponse> on_get_metrics;

  grpc::Status GetVersion(Context* context, const v1::GetVersionRequest* request,
                          v1::GetVersionResponse* response) override;
  grpc::Status CreateDataset(Context* context, const v1::CreateDatasetRequest* request,
                             v1::Dataset* response) override;
  grpc::Status GetDataset(Context* context, const v1::GetDatasetRequest* request,
                          v1::Dataset* response) override;
  grpc::Status ImportRecords(Context* context, grpc::ServerReader<v1::ImportRecordsRequest>* reader,
                             v1::ImportRecordsResponse* response) override;
  grpc::Status SealDataset(Context* context, const v1::SealDatasetRequest* request,
                           v1::SealDatasetResponse* response) override;
  grpc::Status EstimateWorkload(Context* context, const v1::EstimateWorkloadRequest* request,
                                v1::EstimateWorkloadResponse* response) override;
  grpc::Status AnswerWorkload(Context* context, const v1::AnswerWorkloadRequest* request,
                              grpc::ServerWriter<v1::AnswerChunk>* writer) override;
  grpc::Status CreateSynthesis(Context* context, const v1::CreateSynthesisRequest* request,
                               v1::Operation* response) override;
  grpc::Status SampleModel(Context* context, const v1::SampleModelRequest* request,
                           grpc::ServerWriter<v1::SampleModelChunk>* writer) override;
  grpc::Status WatchOperation(Context* context, const v1::WatchOperationRequest* request,
                              grpc::ServerWriter<v1::Operation>* writer) override;
  grpc::Status GetBudget(Context* context, const v1::GetBudgetRequest* request,
                         v1::GetBudgetResponse* response) override;
  grpc::Status CreateAccount(Context* context, const v1::CreateAccountRequest* request,
                             v1::Account* response) override;
  grpc::Status ProposeLimitChange(Context* context, const v1::ProposeLimitChangeRequest* request,
                                  v1::LimitProposal* response) override;
  grpc::Status ApproveLimitChange(Context* context, const v1::ApproveLimitChangeRequest* request,
                                  v1::LimitProposal* response) override;
  grpc::Status ListLedgerEntries(Context* context, const v1::ListLedgerEntriesRequest* request,
                                 grpc::ServerWriter<v1::LedgerEntry>* writer) override;
  grpc::Status WatchLedger(Context* context, const v1::WatchLedgerRequest* request,
                           grpc::ServerWriter<v1::LedgerEntry>* writer) override;
  grpc::Status VerifyLedger(Context* context, const v1::VerifyLedgerRequest* request,
                            v1::VerifyLedgerResponse* response) override;
  grpc::Status WhoAmI(Context* context, const v1::WhoAmIRequest* request,
                      v1::WhoAmIResponse* response) override;
  grpc::Status GetMetrics(Context* context, const v1::GetMetricsRequest* request,
                          v1::GetMetricsResponse* response) override;
};

// Serves until it is destroyed.
class FakeServer {
 public:
  FakeServer();
  ~FakeServer();

  FakeServices services;
  const std::string& address() const { return address_; }

 private:
  std::string address_;
  std::unique_ptr<grpc::Server> server_;
};

// What arrived, in order; written by server threads and read by the test.
class Log {
 public:
  // How many entries there are now.
  size_t Add(std::string entry);
  std::vector<std::string> entries() const;

 private:
  mutable std::mutex mutex_;
  std::vector<std::string> entries_;
};

}  // namespace curator::client::testing
