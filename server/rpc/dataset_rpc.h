// curator.v1.DatasetService: one use case behind each method.
#pragma once

#include "curator/v1/dataset.grpc.pb.h"
#include "service/services.h"

namespace curator::rpc {

class DatasetRpc final : public v1::DatasetService::Service {
 public:
  explicit DatasetRpc(service::Services& services) : services_(services) {}

  grpc::Status CreateDataset(grpc::ServerContext* context, const v1::CreateDatasetRequest* request,
                             v1::Dataset* response) override;
  grpc::Status AddPart(grpc::ServerContext* context, const v1::AddPartRequest* request,
                       v1::Dataset* response) override;
  grpc::Status ImportRecords(grpc::ServerContext* context,
                             grpc::ServerReader<v1::ImportRecordsRequest>* reader,
                             v1::ImportRecordsResponse* response) override;
  grpc::Status SealDataset(grpc::ServerContext* context, const v1::SealDatasetRequest* request,
                           v1::SealDatasetResponse* response) override;
  grpc::Status GrantAccess(grpc::ServerContext* context, const v1::GrantAccessRequest* request,
                           v1::GrantAccessResponse* response) override;
  grpc::Status GetDataset(grpc::ServerContext* context, const v1::GetDatasetRequest* request,
                          v1::Dataset* response) override;
  grpc::Status ListDatasets(grpc::ServerContext* context, const v1::ListDatasetsRequest* request,
                            v1::ListDatasetsResponse* response) override;
  grpc::Status ArchiveDataset(grpc::ServerContext* context, const v1::ArchiveDatasetRequest* request,
                              v1::Dataset* response) override;
  grpc::Status CheckSchema(grpc::ServerContext* context, grpc::ServerReader<v1::CheckSchemaRequest>* reader,
                           v1::CheckSchemaResponse* response) override;

 private:
  service::Services& services_;
};

}  // namespace curator::rpc
