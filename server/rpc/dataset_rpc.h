// curator.v1.DatasetService: one use case behind each method.
#pragma once

#include "curator/v1/dataset.grpc.pb.h"
#include "rpc/handle.h"

namespace curator::rpc {

class DatasetRpc final : public v1::DatasetService::CallbackService {
 public:
  explicit DatasetRpc(Calls& calls) : calls_(calls) {}

  grpc::ServerUnaryReactor* CreateDataset(grpc::CallbackServerContext* context,
                                          const v1::CreateDatasetRequest* request,
                                          v1::Dataset* response) override;
  grpc::ServerUnaryReactor* AddPart(grpc::CallbackServerContext* context, const v1::AddPartRequest* request,
                                    v1::Dataset* response) override;
  grpc::ServerReadReactor<v1::ImportRecordsRequest>* ImportRecords(
      grpc::CallbackServerContext* context, v1::ImportRecordsResponse* response) override;
  grpc::ServerUnaryReactor* SealDataset(grpc::CallbackServerContext* context,
                                        const v1::SealDatasetRequest* request,
                                        v1::SealDatasetResponse* response) override;
  grpc::ServerUnaryReactor* UndoImport(grpc::CallbackServerContext* context,
                                       const v1::UndoImportRequest* request,
                                       v1::UndoImportResponse* response) override;
  grpc::ServerUnaryReactor* ListImports(grpc::CallbackServerContext* context,
                                        const v1::ListImportsRequest* request,
                                        v1::ListImportsResponse* response) override;
  grpc::ServerUnaryReactor* GrantAccess(grpc::CallbackServerContext* context,
                                        const v1::GrantAccessRequest* request,
                                        v1::GrantAccessResponse* response) override;
  grpc::ServerUnaryReactor* RevokeAccess(grpc::CallbackServerContext* context,
                                         const v1::RevokeAccessRequest* request,
                                         v1::RevokeAccessResponse* response) override;
  grpc::ServerUnaryReactor* ListGrants(grpc::CallbackServerContext* context,
                                       const v1::ListGrantsRequest* request,
                                       v1::ListGrantsResponse* response) override;
  grpc::ServerUnaryReactor* AddRefusalRule(grpc::CallbackServerContext* context,
                                           const v1::AddRefusalRuleRequest* request,
                                           v1::RefusalRule* response) override;
  grpc::ServerUnaryReactor* RemoveRefusalRule(grpc::CallbackServerContext* context,
                                              const v1::RemoveRefusalRuleRequest* request,
                                              v1::RemoveRefusalRuleResponse* response) override;
  grpc::ServerUnaryReactor* ListRefusalRules(grpc::CallbackServerContext* context,
                                             const v1::ListRefusalRulesRequest* request,
                                             v1::ListRefusalRulesResponse* response) override;
  grpc::ServerUnaryReactor* GetDataset(grpc::CallbackServerContext* context,
                                       const v1::GetDatasetRequest* request, v1::Dataset* response) override;
  grpc::ServerUnaryReactor* ListDatasets(grpc::CallbackServerContext* context,
                                         const v1::ListDatasetsRequest* request,
                                         v1::ListDatasetsResponse* response) override;
  grpc::ServerUnaryReactor* PublishDataset(grpc::CallbackServerContext* context,
                                           const v1::PublishDatasetRequest* request,
                                           v1::Dataset* response) override;
  grpc::ServerUnaryReactor* ArchiveDataset(grpc::CallbackServerContext* context,
                                           const v1::ArchiveDatasetRequest* request,
                                           v1::Dataset* response) override;
  grpc::ServerUnaryReactor* DeleteDataset(grpc::CallbackServerContext* context,
                                          const v1::DeleteDatasetRequest* request,
                                          v1::DeleteDatasetResponse* response) override;
  grpc::ServerReadReactor<v1::CheckSchemaRequest>* CheckSchema(grpc::CallbackServerContext* context,
                                                               v1::CheckSchemaResponse* response) override;

 private:
  Calls& calls_;
};

}  // namespace curator::rpc
