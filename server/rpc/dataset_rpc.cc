#include "rpc/dataset_rpc.h"

#include <memory>
#include <optional>
#include <string>

#include "base/errors.h"
#include "base/status_macros.h"
#include "rpc/caller.h"
#include "rpc/convert_schema.h"
#include "rpc/grpc_status.h"
#include "service/datasets/datasets.h"
#include "service/datasets/parts.h"

namespace curator::rpc {
namespace {

records::Compression CompressionOf(bool gzip) {
  return gzip ? records::Compression::kGzip : records::Compression::kNone;
}

v1::ImportRecordsResponse ReportProto(const records::ImportReport& report) {
  v1::ImportRecordsResponse proto;
  proto.set_rows_read(report.rows_read);
  proto.set_rows_accepted(report.rows_accepted);
  proto.set_rows_rejected(report.rows_rejected);
  for (const records::RejectedRow& row : report.examples) {
    v1::RejectedRow* example = proto.add_examples();
    example->set_line(row.line);
    example->set_attribute(row.attribute);
    example->set_reason(row.reason);
  }
  for (const std::string& column : report.ignored_columns) proto.add_ignored_columns(column);
  proto.set_responses_clamped(report.responses_clamped);
  return proto;
}

service::NamedPart FromProto(const v1::Part& part) {
  return {.name = part.name(), .labels = {part.labels().begin(), part.labels().end()}};
}

absl::StatusOr<service::NewDataset> FromProto(const v1::CreateDatasetRequest& request,
                                              std::string principal) {
  absl::StatusOr<dp::Schema> schema = rpc::FromProto(request.schema());
  if (!schema.ok()) return WithinField("schema", schema.status());
  ASSIGN_OR_RETURN(const dp::NeighbourRelation relation, rpc::FromProto(request.neighbours()));
  service::NewDataset dataset{.request_id = request.request_id(),
                              .principal = std::move(principal),
                              .name = request.name(),
                              .schema = *std::move(schema),
                              .relation = relation,
                              .limit = std::nullopt,
                              .is_public = request.public_(),
                              .successor_of = request.successor_of()};
  if (request.has_limit()) {
    absl::StatusOr<dp::RuleSpec> limit = rpc::FromProto(request.limit());
    if (!limit.ok()) return WithinField("limit", limit.status());
    dataset.limit = *limit;
  }
  if (request.has_partition()) {
    service::Partition partition{.attribute = request.partition().attribute(), .parts = {}};
    for (const v1::Part& part : request.partition().parts()) partition.parts.push_back(FromProto(part));
    dataset.partition = std::move(partition);
  }
  return dataset;
}

absl::Status Add(service::Curator& curator, const grpc::ServerContext& context,
                 const v1::AddPartRequest& request, v1::Dataset& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  service::PartOrder order{.request_id = request.request_id(),
                           .principal = principal,
                           .dataset = request.dataset(),
                           .part = FromProto(request.part()),
                           .limit = std::nullopt};
  if (request.has_limit()) {
    absl::StatusOr<dp::RuleSpec> limit = rpc::FromProto(request.limit());
    if (!limit.ok()) return WithinField("limit", limit.status());
    order.limit = *limit;
  }
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::AddPart(curator.ledger, order, IntentOf(request.validate_only())));
  response = ToProto(view, principal);
  return absl::OkStatus();
}

absl::Status Create(service::Curator& curator, const grpc::ServerContext& context,
                    const v1::CreateDatasetRequest& request, v1::Dataset& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const service::NewDataset dataset, FromProto(request, principal));
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::CreateDataset(curator.ledger, dataset, IntentOf(request.validate_only())));
  response = ToProto(view, principal);
  return absl::OkStatus();
}

absl::Status Import(service::Curator& curator, const grpc::ServerContext& context,
                    grpc::ServerReader<v1::ImportRecordsRequest>& reader,
                    v1::ImportRecordsResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  v1::ImportRecordsRequest message;
  if (!reader.Read(&message) || !message.has_header()) {
    return InvalidField("header", "must be the first message of an import");
  }
  const v1::ImportRecordsRequest::Header header = message.header();
  const records::ImportOptions options{.compression = CompressionOf(header.gzip())};
  ASSIGN_OR_RETURN(const std::unique_ptr<records::RecordImport> import,
                   service::BeginImport(curator.ledger, curator.store,
                                        {.request_id = header.request_id(),
                                         .principal = principal,
                                         .dataset = header.dataset(),
                                         .part = header.part(),
                                         .options = options},
                                        IntentOf(header.validate_only())));
  while (reader.Read(&message)) {
    if (!message.has_csv()) return InvalidField("csv", "all messages after the first must carry CSV bytes");
    RETURN_IF_ERROR(import->Append(message.csv()));
  }
  // A client that went away sent only part of its file: nothing of it may stay.
  if (context.IsCancelled()) return absl::CancelledError("the client ended the import before its end");
  ASSIGN_OR_RETURN(const records::ImportReport report, import->Finish());
  response = ReportProto(report);
  return absl::OkStatus();
}

absl::Status Seal(service::Curator& curator, const grpc::ServerContext& context,
                  const v1::SealDatasetRequest& request, v1::SealDatasetResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  RETURN_IF_ERROR(service::CheckRequestId(request.request_id()));
  ASSIGN_OR_RETURN(const service::Sealed sealed,
                   service::SealDataset(curator.ledger, curator.store, principal, request.dataset(),
                                        request.part(), IntentOf(request.validate_only())));
  *response.mutable_dataset() = ToProto(sealed.dataset, principal);
  response.set_records(sealed.records);
  response.set_records_dropped(sealed.records_dropped);
  return absl::OkStatus();
}

absl::Status Grant(service::Curator& curator, const grpc::ServerContext& context,
                   const v1::GrantAccessRequest& request) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  RETURN_IF_ERROR(service::CheckRequestId(request.request_id()));
  return service::GrantAccess(curator.ledger, principal, request.dataset(), request.principal(),
                              IntentOf(request.validate_only()));
}

absl::Status Get(service::Curator& curator, const grpc::ServerContext& context,
                 const v1::GetDatasetRequest& request, v1::Dataset& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::FindVisible(curator.ledger, principal, request.dataset()));
  response = ToProto(view, principal);
  return absl::OkStatus();
}

absl::Status List(service::Curator& curator, const grpc::ServerContext& context,
                  v1::ListDatasetsResponse& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  ASSIGN_OR_RETURN(const std::vector<service::DatasetView> views,
                   service::ListVisibleDatasets(curator.ledger, principal));
  for (const service::DatasetView& view : views) *response.add_datasets() = ToProto(view, principal);
  return absl::OkStatus();
}

absl::Status Archive(service::Curator& curator, const grpc::ServerContext& context,
                     const v1::ArchiveDatasetRequest& request, v1::Dataset& response) {
  ASSIGN_OR_RETURN(const std::string principal, CallerOf(context));
  RETURN_IF_ERROR(service::CheckRequestId(request.request_id()));
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::ArchiveDataset(curator.ledger, curator.store, principal, request.dataset(),
                                           IntentOf(request.validate_only())));
  response = ToProto(view, principal);
  return absl::OkStatus();
}

absl::Status Check(const grpc::ServerContext& context, grpc::ServerReader<v1::CheckSchemaRequest>& reader,
                   v1::CheckSchemaResponse& response) {
  RETURN_IF_ERROR(CallerOf(context).status());
  v1::CheckSchemaRequest message;
  if (!reader.Read(&message) || !message.has_schema()) {
    return InvalidField("schema", "must be in the first message of a check");
  }
  absl::StatusOr<dp::Schema> schema = rpc::FromProto(message.schema());
  if (!schema.ok()) return WithinField("schema", schema.status());
  for (const dp::Attribute& attribute : schema->domain.attributes()) {
    v1::CheckSchemaResponse::AttributeSize* size = response.add_attributes();
    size->set_name(attribute.name());
    size->set_bins(attribute.size());
  }
  response.set_cells(service::DomainSize(schema->domain));

  const records::ImportOptions options{.compression = CompressionOf(message.gzip())};
  std::unique_ptr<records::RecordImport> trial;
  while (reader.Read(&message)) {
    if (!message.has_csv()) return InvalidField("csv", "all messages after the first must carry CSV bytes");
    if (!trial) trial = records::CheckRecords(*schema, options);
    RETURN_IF_ERROR(trial->Append(message.csv()));
  }
  if (!trial) return absl::OkStatus();
  ASSIGN_OR_RETURN(const records::ImportReport report, trial->Finish());
  *response.mutable_import() = ReportProto(report);
  return absl::OkStatus();
}

}  // namespace

grpc::Status DatasetRpc::CreateDataset(grpc::ServerContext* context, const v1::CreateDatasetRequest* request,
                                       v1::Dataset* response) {
  return ToGrpcStatus(Create(curator_, *context, *request, *response));
}

grpc::Status DatasetRpc::AddPart(grpc::ServerContext* context, const v1::AddPartRequest* request,
                                 v1::Dataset* response) {
  return ToGrpcStatus(Add(curator_, *context, *request, *response));
}

grpc::Status DatasetRpc::ImportRecords(grpc::ServerContext* context,
                                       grpc::ServerReader<v1::ImportRecordsRequest>* reader,
                                       v1::ImportRecordsResponse* response) {
  return ToGrpcStatus(Import(curator_, *context, *reader, *response));
}

grpc::Status DatasetRpc::SealDataset(grpc::ServerContext* context, const v1::SealDatasetRequest* request,
                                     v1::SealDatasetResponse* response) {
  return ToGrpcStatus(Seal(curator_, *context, *request, *response));
}

grpc::Status DatasetRpc::GrantAccess(grpc::ServerContext* context, const v1::GrantAccessRequest* request,
                                     v1::GrantAccessResponse*) {
  return ToGrpcStatus(Grant(curator_, *context, *request));
}

grpc::Status DatasetRpc::GetDataset(grpc::ServerContext* context, const v1::GetDatasetRequest* request,
                                    v1::Dataset* response) {
  return ToGrpcStatus(Get(curator_, *context, *request, *response));
}

grpc::Status DatasetRpc::ListDatasets(grpc::ServerContext* context, const v1::ListDatasetsRequest*,
                                      v1::ListDatasetsResponse* response) {
  return ToGrpcStatus(List(curator_, *context, *response));
}

grpc::Status DatasetRpc::ArchiveDataset(grpc::ServerContext* context,
                                        const v1::ArchiveDatasetRequest* request, v1::Dataset* response) {
  return ToGrpcStatus(Archive(curator_, *context, *request, *response));
}

grpc::Status DatasetRpc::CheckSchema(grpc::ServerContext* context,
                                     grpc::ServerReader<v1::CheckSchemaRequest>* reader,
                                     v1::CheckSchemaResponse* response) {
  return ToGrpcStatus(Check(*context, *reader, *response));
}

}  // namespace curator::rpc
