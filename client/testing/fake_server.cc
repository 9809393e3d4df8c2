#include "client/testing/fake_server.h"

#include <utility>

#include "google/rpc/status.pb.h"

namespace curator::client::testing {
namespace {

template <typename Function, typename... Arguments>
grpc::Status Do(const Function& function, Arguments&&... arguments) {
  if (!function)
    return grpc::Status(grpc::StatusCode::UNIMPLEMENTED, "the test says nothing about this method");
  return function(std::forward<Arguments>(arguments)...);
}

}  // namespace

grpc::Status DetailedError(grpc::StatusCode code, const std::string& message,
                           const std::vector<const google::protobuf::Message*>& details) {
  google::rpc::Status status;
  status.set_code(code);
  status.set_message(message);
  for (const google::protobuf::Message* detail : details) status.add_details()->PackFrom(*detail);
  return grpc::Status(code, message, status.SerializeAsString());
}

RetryPolicy Impatient() {
  return {std::chrono::milliseconds(1), std::chrono::milliseconds(2), std::chrono::milliseconds(2000)};
}

grpc::Status FakeServices::GetVersion(Context* context, const v1::GetVersionRequest* request,
                                      v1::GetVersionResponse* response) {
  return Do(on_get_version, *context, *request, *response);
}
grpc::Status FakeServices::CreateDataset(Context* context, const v1::CreateDatasetRequest* request,
                                         v1::Dataset* response) {
  return Do(on_create_dataset, *context, *request, *response);
}
grpc::Status FakeServices::GetDataset(Context* context, const v1::GetDatasetRequest* request,
                                      v1::Dataset* response) {
  return Do(on_get_dataset, *context, *request, *response);
}
grpc::Status FakeServices::ImportRecords(Context* context,
                                         grpc::ServerReader<v1::ImportRecordsRequest>* reader,
                                         v1::ImportRecordsResponse* response) {
  return Do(on_import, *context, *reader, *response);
}
grpc::Status FakeServices::SealDataset(Context* context, const v1::SealDatasetRequest* request,
                                       v1::SealDatasetResponse* response) {
  return Do(on_seal, *context, *request, *response);
}
grpc::Status FakeServices::EstimateWorkload(Context* context, const v1::EstimateWorkloadRequest* request,
                                            v1::EstimateWorkloadResponse* response) {
  return Do(on_estimate_workload, *context, *request, *response);
}
grpc::Status FakeServices::AnswerWorkload(Context* context, const v1::AnswerWorkloadRequest* request,
                                          grpc::ServerWriter<v1::AnswerChunk>* writer) {
  return Do(on_answer, *context, *request, *writer);
}
grpc::Status FakeServices::CreateSynthesis(Context* context, const v1::CreateSynthesisRequest* request,
                                           v1::Operation* response) {
  return Do(on_create_synthesis, *context, *request, *response);
}
grpc::Status FakeServices::SampleModel(Context* context, const v1::SampleModelRequest* request,
                                       grpc::ServerWriter<v1::SampleModelChunk>* writer) {
  return Do(on_sample, *context, *request, *writer);
}
grpc::Status FakeServices::WatchOperation(Context* context, const v1::WatchOperationRequest* request,
                                          grpc::ServerWriter<v1::Operation>* writer) {
  return Do(on_watch, *context, *request, *writer);
}
grpc::Status FakeServices::GetBudget(Context* context, const v1::GetBudgetRequest* request,
                                     v1::GetBudgetResponse* response) {
  return Do(on_get_budget, *context, *request, *response);
}
grpc::Status FakeServices::CreateAccount(Context* context, const v1::CreateAccountRequest* request,
                                         v1::Account* response) {
  return Do(on_create_account, *context, *request, *response);
}
grpc::Status FakeServices::ProposeLimitChange(Context* context, const v1::ProposeLimitChangeRequest* request,
                                              v1::LimitProposal* response) {
  return Do(on_propose_limit, *context, *request, *response);
}
grpc::Status FakeServices::ApproveLimitChange(Context* context, const v1::ApproveLimitChangeRequest* request,
                                              v1::LimitProposal* response) {
  return Do(on_approve_limit, *context, *request, *response);
}
grpc::Status FakeServices::ListLedgerEntries(Context* context, const v1::ListLedgerEntriesRequest* request,
                                             grpc::ServerWriter<v1::LedgerEntry>* writer) {
  return Do(on_list_entries, *context, *request, *writer);
}
grpc::Status FakeServices::WatchLedger(Context* context, const v1::WatchLedgerRequest* request,
                                       grpc::ServerWriter<v1::LedgerEntry>* writer) {
  return Do(on_watch_ledger, *context, *request, *writer);
}
grpc::Status FakeServices::VerifyLedger(Context* context, const v1::VerifyLedgerRequest* request,
                                        v1::VerifyLedgerResponse* response) {
  return Do(on_verify, *context, *request, *response);
}
grpc::Status FakeServices::WhoAmI(Context* context, const v1::WhoAmIRequest* request,
                                  v1::WhoAmIResponse* response) {
  return Do(on_who_am_i, *context, *request, *response);
}
grpc::Status FakeServices::GetMetrics(Context* context, const v1::GetMetricsRequest* request,
                                      v1::GetMetricsResponse* response) {
  return Do(on_get_metrics, *context, *request, *response);
}

FakeServer::FakeServer() {
  int port = 0;
  grpc::ServerBuilder builder;
  builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
  builder.RegisterService(static_cast<v1::DatasetService::Service*>(&services));
  builder.RegisterService(static_cast<v1::QueryService::Service*>(&services));
  builder.RegisterService(static_cast<v1::SynthesisService::Service*>(&services));
  builder.RegisterService(static_cast<v1::OperationService::Service*>(&services));
  builder.RegisterService(static_cast<v1::BudgetService::Service*>(&services));
  builder.RegisterService(static_cast<v1::IdentityService::Service*>(&services));
  builder.RegisterService(static_cast<v1::MetricsService::Service*>(&services));
  builder.RegisterService(static_cast<v1::VersionService::Service*>(&services));
  server_ = builder.BuildAndStart();
  address_ = "127.0.0.1:" + std::to_string(port);
}

FakeServer::~FakeServer() {
  server_->Shutdown(std::chrono::system_clock::now());
}

size_t Log::Add(std::string entry) {
  const std::lock_guard<std::mutex> lock(mutex_);
  entries_.push_back(std::move(entry));
  return entries_.size();
}

std::vector<std::string> Log::entries() const {
  const std::lock_guard<std::mutex> lock(mutex_);
  return entries_;
}

}  // namespace curator::client::testing
