#include "rpc/dataset_rpc.h"

#include <google/protobuf/util/time_util.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "records/files.h"
#include "rpc/convert_refusal_rule.h"
#include "rpc/convert_schema.h"
#include "rpc/handle.h"
#include "rpc/page.h"
#include "service/datasets/datasets.h"
#include "service/datasets/deletion.h"
#include "service/datasets/grants.h"
#include "service/datasets/imports.h"
#include "service/datasets/parts.h"
#include "service/datasets/refusal_rules.h"
#include "service/datasets/seen_records.h"

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
  proto.mutable_cells_clipped()->insert(report.cells_clipped.begin(), report.cells_clipped.end());
  proto.set_same_file_as(report.same_file_as);
  for (const records::Rejection& rejection : report.rejections) {
    v1::Rejection* added = proto.add_rejections();
    added->set_attribute(rejection.attribute);
    added->set_reason(rejection.reason);
    added->set_rows(rejection.rows);
    for (const int64_t line : rejection.lines) added->add_lines(line);
  }
  return proto;
}

constexpr std::pair<v1::RecordSource, records::RecordSource> kSources[] = {
    {v1::RECORD_SOURCE_FILE, records::RecordSource::kFile},
    {v1::RECORD_SOURCE_TABLE, records::RecordSource::kTable},
    {v1::RECORD_SOURCE_QUERY, records::RecordSource::kQuery}};

absl::StatusOr<records::RecordSource> SourceOf(const v1::ImportRecordsRequest::Header& header) {
  if (header.source() == v1::RECORD_SOURCE_UNSPECIFIED) return records::RecordSource::kFile;
  for (const auto& [proto, source] : kSources) {
    if (proto == header.source()) return source;
  }
  return InvalidField("header.source",
                      "must be RECORD_SOURCE_FILE, RECORD_SOURCE_TABLE or RECORD_SOURCE_QUERY");
}

v1::Import ImportToProto(const service::ListedImport& import) {
  v1::Import proto;
  proto.set_request_id(import.stored.request_id);
  proto.set_part(import.part);
  if (import.stored.time_us != 0) {
    *proto.mutable_time() = google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(import.stored.time_us);
  }
  proto.set_rows_accepted(import.stored.rows_accepted);
  for (const auto& [each, source] : kSources) {
    if (source == import.stored.source) proto.set_source(each);
  }
  return proto;
}

service::NamedPart FromProto(const v1::Part& part) {
  return {.name = part.name(), .labels = {part.labels().begin(), part.labels().end()}};
}

absl::StatusOr<service::NewDataset> FromProto(const v1::CreateDatasetRequest& request, Principal principal) {
  absl::StatusOr<dp::Schema> schema = rpc::FromProto(request.schema());
  if (!schema.ok()) return WithinField("schema", schema.status());
  ASSIGN_OR_RETURN(const dp::NeighbourRelation relation, rpc::FromProto(request.neighbours()));
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  service::NewDataset dataset{.request_id = std::move(request_id),
                              .principal = std::move(principal),
                              .name = DatasetName(request.name()),
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

absl::Status AddPart(service::Services& services, const Call& call, const v1::AddPartRequest& request,
                     v1::Dataset& response) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  service::PartOrder order{.request_id = std::move(request_id),
                           .principal = call.principal(),
                           .dataset = DatasetName(request.dataset()),
                           .part = FromProto(request.part()),
                           .limit = std::nullopt};
  if (request.has_limit()) {
    absl::StatusOr<dp::RuleSpec> limit = rpc::FromProto(request.limit());
    if (!limit.ok()) return WithinField("limit", limit.status());
    order.limit = *limit;
  }
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::AddPart(services.access(), order, IntentOf(request)));
  response = ToProto(view, call.principal());
  return absl::OkStatus();
}

// Its file is known by the keyed hash, as that of an import is.
absl::StatusOr<ledger::OwnerLook> LookOf(const records::DatasetStore& store, const v1::OwnerLook& look) {
  if (look.content_hash().size() != records::kDigestBytes)
    return InvalidField("content_hash", "must be the SHA-256 of the file: 32 bytes");
  constexpr int32_t kNanos = 1'000'000'000;
  const google::protobuf::Timestamp& time = look.time();
  const bool is_time = time.seconds() > 0 && time.nanos() >= 0 && time.nanos() < kNanos &&
                       time.seconds() <= google::protobuf::util::TimeUtil::kTimestampMaxSeconds;
  if (!is_time) return InvalidField("time", "must say when the look was made");
  return ledger::OwnerLook{.file_hash = store.FileHash(look.content_hash()),
                           .time_us = google::protobuf::util::TimeUtil::TimestampToMicroseconds(time),
                           .accepted_domain = look.accepted_domain()};
}

absl::Status CreateDataset(service::Services& services, const Call& call,
                           const v1::CreateDatasetRequest& request, v1::Dataset& response) {
  ASSIGN_OR_RETURN(service::NewDataset dataset, FromProto(request, call.principal()));
  for (int i = 0; i < request.looks_size(); ++i) {
    absl::StatusOr<ledger::OwnerLook> look = LookOf(services.store, request.looks(i));
    if (!look.ok()) return WithinField(absl::StrCat("looks[", i, "]"), look.status());
    dataset.looks.push_back(*std::move(look));
  }
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::CreateDataset(services.access(), dataset, IntentOf(request)));
  response = ToProto(view, call.principal());
  return absl::OkStatus();
}

absl::Status CountReceived(service::Services& services, const Call& call, std::string_view bytes) {
  if (services.quotas == nullptr) return absl::OkStatus();
  return services.quotas->CountImported(call.principal(), static_cast<int64_t>(bytes.size()));
}

// Reads the messages after the header. A stream that a broken connection has ended looks like one that its
// client has ended, so the file is whole only if the client says how long it is.
absl::Status AppendFile(service::Services& services, const Call& call,
                        MessageReader<v1::ImportRecordsRequest>& reader, records::RecordImport& import) {
  v1::ImportRecordsRequest message;
  int64_t bytes = 0;
  while (true) {
    ASSIGN_OR_RETURN(const bool has_message, reader.Read(message));
    if (!has_message) {
      return InvalidField("csv_bytes", "must be the last message of an import; nothing was imported");
    }
    if (message.has_csv_bytes()) break;
    if (!message.has_csv()) {
      return InvalidField("csv", "must be in each message between the header and csv_bytes");
    }
    bytes += static_cast<int64_t>(message.csv().size());
    RETURN_IF_ERROR(CountReceived(services, call, message.csv()));
    RETURN_IF_ERROR(import.Append(message.csv()));
  }
  if (message.csv_bytes() == bytes) return absl::OkStatus();
  return InvalidField("csv_bytes", absl::StrCat("is ", message.csv_bytes(), ", and ", bytes,
                                                " bytes were sent; nothing was imported"));
}

absl::Status ImportRecords(service::Services& services, const Call& call,
                           MessageReader<v1::ImportRecordsRequest>& reader,
                           v1::ImportRecordsResponse& response) {
  v1::ImportRecordsRequest message;
  ASSIGN_OR_RETURN(const bool has_message, reader.Read(message));
  if (!has_message || !message.has_header()) {
    return InvalidField("header", "must be the first message of an import");
  }
  const v1::ImportRecordsRequest::Header header = message.header();
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(header.request_id()));
  ASSIGN_OR_RETURN(const records::RecordSource source, SourceOf(header));
  const records::ImportOptions options{.compression = CompressionOf(header.gzip()),
                                       .source = source,
                                       .accept_same_file = header.accept_same_file()};
  ASSIGN_OR_RETURN(const std::unique_ptr<records::RecordImport> import,
                   service::BeginImport(services.access(), services.store,
                                        {.request_id = std::move(request_id),
                                         .principal = call.principal(),
                                         .dataset = DatasetName(header.dataset()),
                                         .part = header.part(),
                                         .options = options},
                                        IntentOf(header)));
  RETURN_IF_ERROR(AppendFile(services, call, reader, *import));
  ASSIGN_OR_RETURN(const records::ImportReport report, import->Finish());
  response = ReportProto(report);
  return absl::OkStatus();
}

absl::Status SealDataset(service::Services& services, const Call& call, const v1::SealDatasetRequest& request,
                         v1::SealDatasetResponse& response) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  ASSIGN_OR_RETURN(const service::Sealed sealed,
                   service::SealDataset(services.access(), services.store,
                                        {.principal = call.principal(),
                                         .dataset = DatasetName(request.dataset()),
                                         .part = request.part(),
                                         .accept_equal_content = request.accept_equal_content(),
                                         .accept_no_records = request.accept_no_records(),
                                         .accept_domain_from_records = request.accept_domain_from_records()},
                                        IntentOf(request)));
  *response.mutable_dataset() = ToProto(sealed.dataset, call.principal());
  response.set_records(sealed.records);
  response.set_records_dropped(sealed.records_dropped);
  return absl::OkStatus();
}

absl::Status DeleteDataset(service::Services& services, const Call& call,
                           const v1::DeleteDatasetRequest& request, v1::DeleteDatasetResponse& response) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  ASSIGN_OR_RETURN(std::string id, service::DeleteDataset(services,
                                                          {.request_id = std::move(request_id),
                                                           .principal = call.principal(),
                                                           .dataset = DatasetName(request.dataset())},
                                                          IntentOf(request)));
  response.set_dataset_id(std::move(id));
  return absl::OkStatus();
}

absl::Status UndoImport(service::Services& services, const Call& call, const v1::UndoImportRequest& request,
                        v1::UndoImportResponse&) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  return service::UndoImport(services.access(), services.store,
                             {.request_id = std::move(request_id),
                              .principal = call.principal(),
                              .dataset = DatasetName(request.dataset()),
                              .import_request_id = request.import_request_id()},
                             IntentOf(request));
}

absl::Status ListImports(service::Services& services, const Call& call, const v1::ListImportsRequest& request,
                         v1::ListImportsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked asked, PageOf(request, "imports", request.dataset()));
  ASSIGN_OR_RETURN(const service::ImportPage page,
                   service::ListImports(services.access(), services.store, call.principal(),
                                        DatasetName(request.dataset()), asked.after, asked.size));
  for (const service::ListedImport& import : page.imports) *response.add_imports() = ImportToProto(import);
  if (!page.next.empty()) response.set_next_page_token(asked.TokenAfter(page.next));
  return absl::OkStatus();
}

constexpr std::pair<v1::GranteeRole, int64_t> kGranteeRoles[] = {
    {v1::ANALYST, ledger::kGrantedAnalyst},
    {v1::SERVICE, ledger::kGrantedService},
    {v1::AUDITOR, ledger::kGrantedAuditor},
    {v1::FORMER, ledger::kGrantedFormer},
    {v1::GRANTED_APPROVER, ledger::kGrantedApprover}};

absl::StatusOr<int64_t> RolesOf(const v1::GrantAccessRequest& request) {
  if (request.roles().empty()) return ledger::kGrantedAnalyst;
  int64_t roles = 0;
  for (int i = 0; i < request.roles_size(); ++i) {
    const auto* const found =
        std::ranges::find(kGranteeRoles, request.roles(i), [](const auto& each) { return each.first; });
    const bool is_known = found != std::end(kGranteeRoles) && found->first != v1::FORMER;
    if (!is_known) return InvalidField(absl::StrCat("roles[", i, "]"), "must be ANALYST, SERVICE or AUDITOR");
    roles |= found->second;
  }
  return roles;
}

absl::StatusOr<int64_t> ExpiryOf(const google::protobuf::Timestamp& time) {
  using google::protobuf::util::TimeUtil;
  if (time.seconds() <= 0 || time.seconds() > TimeUtil::kTimestampMaxSeconds) {
    return InvalidField("expire_time", "must be a time in the future");
  }
  return TimeUtil::TimestampToMicroseconds(time);
}

absl::Status GrantAccess(service::Services& services, const Call& call, const v1::GrantAccessRequest& request,
                         v1::GrantAccessResponse&) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  service::GrantOrder order{.principal = call.principal(),
                            .dataset = DatasetName(request.dataset()),
                            .grantee = request.principal()};
  ASSIGN_OR_RETURN(order.roles, RolesOf(request));
  if (request.has_expire_time()) {
    ASSIGN_OR_RETURN(order.expires_at_us, ExpiryOf(request.expire_time()));
  }
  return service::GrantAccess(services.access(), order, IntentOf(request));
}

absl::Status RevokeAccess(service::Services& services, const Call& call,
                          const v1::RevokeAccessRequest& request, v1::RevokeAccessResponse&) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  return service::RevokeAccess(services.access(),
                               {.principal = call.principal(),
                                .dataset = DatasetName(request.dataset()),
                                .grantee = request.principal(),
                                .with_releases = request.with_releases()},
                               IntentOf(request));
}

v1::Grant GrantToProto(const ledger::Grant& grant) {
  v1::Grant proto;
  proto.set_principal(grant.grantee);
  for (const auto& [role, bit] : kGranteeRoles) {
    if ((grant.roles & bit) != 0) proto.add_roles(role);
  }
  if (grant.expires_at_us != 0) {
    *proto.mutable_expire_time() =
        google::protobuf::util::TimeUtil::MicrosecondsToTimestamp(grant.expires_at_us);
  }
  return proto;
}

absl::Status ListGrants(service::Services& services, const Call& call, const v1::ListGrantsRequest& request,
                        v1::ListGrantsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "grants", request.dataset()));
  ASSIGN_OR_RETURN(const std::vector<ledger::Grant> grants,
                   service::ListGrants(services.access(), call.principal(), DatasetName(request.dataset())));
  for (const ledger::Grant& grant : grants) {
    if (grant.grantee <= page.after) continue;
    if (response.grants_size() == page.size) {
      response.set_next_page_token(page.TokenAfter(response.grants().rbegin()->principal()));
      break;
    }
    *response.add_grants() = GrantToProto(grant);
  }
  return absl::OkStatus();
}

absl::Status AddRefusalRule(service::Services& services, const Call& call,
                            const v1::AddRefusalRuleRequest& request, v1::RefusalRule& response) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  absl::StatusOr<codec::RefusalRule> asked = rpc::FromProto(request.rule());
  if (!asked.ok()) return WithinField("rule", asked.status());
  ASSIGN_OR_RETURN(const codec::RefusalRule rule,
                   service::AddRefusalRule(services.access(),
                                           {.request_id = std::move(request_id),
                                            .principal = call.principal(),
                                            .dataset = DatasetName(request.dataset()),
                                            .rule = *std::move(asked)},
                                           IntentOf(request)));
  response = rpc::ToProto(rule);
  return absl::OkStatus();
}

absl::Status RemoveRefusalRule(service::Services& services, const Call& call,
                               const v1::RemoveRefusalRuleRequest& request, v1::RemoveRefusalRuleResponse&) {
  ASSIGN_OR_RETURN(RequestId request_id, RequestId::Parse(request.request_id()));
  return service::RemoveRefusalRule(services.access(),
                                    {.request_id = std::move(request_id),
                                     .principal = call.principal(),
                                     .dataset = DatasetName(request.dataset()),
                                     .rule = request.name()},
                                    IntentOf(request));
}

absl::Status ListRefusalRules(service::Services& services, const Call& call,
                              const v1::ListRefusalRulesRequest& request,
                              v1::ListRefusalRulesResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "refusal_rules", request.dataset()));
  ASSIGN_OR_RETURN(
      const std::vector<codec::RefusalRule> rules,
      service::ListRefusalRules(services.access(), call.principal(), DatasetName(request.dataset())));
  for (const codec::RefusalRule& rule : rules) {
    if (rule.name <= page.after) continue;
    if (response.rules_size() == page.size) {
      response.set_next_page_token(page.TokenAfter(response.rules().rbegin()->name()));
      break;
    }
    *response.add_rules() = rpc::ToProto(rule);
  }
  return absl::OkStatus();
}

absl::Status GetDataset(service::Services& services, const Call& call, const v1::GetDatasetRequest& request,
                        v1::Dataset& response) {
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::GetDataset(services.access(), call.principal(), DatasetName(request.dataset())));
  response = ToProto(view, call.principal());
  return absl::OkStatus();
}

absl::Status ListDatasets(service::Services& services, const Call& call,
                          const v1::ListDatasetsRequest& request, v1::ListDatasetsResponse& response) {
  ASSIGN_OR_RETURN(const PageAsked page, PageOf(request, "datasets"));
  ASSIGN_OR_RETURN(const service::DatasetViews views,
                   service::ListVisibleDatasets(services.access(), call.principal(),
                                                {.after = page.after, .limit = page.size}));
  for (const service::DatasetView& view : views.datasets) {
    *response.add_datasets() = ToProto(view, call.principal());
  }
  for (const std::string& name : views.unreadable) response.add_unreadable(name);
  if (views.has_more) response.set_next_page_token(page.TokenAfter(views.last));
  return absl::OkStatus();
}

absl::Status PublishDataset(service::Services& services, const Call& call,
                            const v1::PublishDatasetRequest& request, v1::Dataset& response) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::PublishDataset(services.access(), call.principal(),
                                           DatasetName(request.dataset()), IntentOf(request)));
  response = ToProto(view, call.principal());
  return absl::OkStatus();
}

absl::Status ArchiveDataset(service::Services& services, const Call& call,
                            const v1::ArchiveDatasetRequest& request, v1::Dataset& response) {
  RETURN_IF_ERROR(RequestId::Parse(request.request_id()).status());
  ASSIGN_OR_RETURN(const service::DatasetView view,
                   service::ArchiveDataset(services.access(), services.store, call.principal(),
                                           DatasetName(request.dataset()), IntentOf(request)));
  response = ToProto(view, call.principal());
  return absl::OkStatus();
}

absl::Status CheckSchema(service::Services& services, const Call& call,
                         MessageReader<v1::CheckSchemaRequest>& reader, v1::CheckSchemaResponse& response) {
  v1::CheckSchemaRequest message;
  ASSIGN_OR_RETURN(bool has_message, reader.Read(message));
  if (!has_message || !message.has_schema()) {
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
  while (true) {
    ASSIGN_OR_RETURN(has_message, reader.Read(message));
    if (!has_message) break;
    if (!message.has_csv()) return InvalidField("csv", "all messages after the first must carry CSV bytes");
    RETURN_IF_ERROR(CountReceived(services, call, message.csv()));
    if (!trial)
      trial = service::CheckFile(services.ledger, services.store, call.principal(), *schema, options);
    RETURN_IF_ERROR(trial->Append(message.csv()));
  }
  if (!trial) return absl::OkStatus();
  ASSIGN_OR_RETURN(const records::ImportReport report, trial->Finish());
  *response.mutable_import() = ReportProto(report);
  return absl::OkStatus();
}

}  // namespace

grpc::ServerUnaryReactor* DatasetRpc::CreateDataset(grpc::CallbackServerContext* context,
                                                    const v1::CreateDatasetRequest* request,
                                                    v1::Dataset* response) {
  return Handle<Method::kCreateDataset>(calls_, *context, *request, *response, rpc::CreateDataset);
}

grpc::ServerUnaryReactor* DatasetRpc::AddPart(grpc::CallbackServerContext* context,
                                              const v1::AddPartRequest* request, v1::Dataset* response) {
  return Handle<Method::kAddPart>(calls_, *context, *request, *response, rpc::AddPart);
}

grpc::ServerReadReactor<v1::ImportRecordsRequest>* DatasetRpc::ImportRecords(
    grpc::CallbackServerContext* context, v1::ImportRecordsResponse* response) {
  return Handle<Method::kImportRecords>(calls_, *context, *response, rpc::ImportRecords);
}

grpc::ServerUnaryReactor* DatasetRpc::SealDataset(grpc::CallbackServerContext* context,
                                                  const v1::SealDatasetRequest* request,
                                                  v1::SealDatasetResponse* response) {
  return Handle<Method::kSealDataset>(calls_, *context, *request, *response, rpc::SealDataset);
}

grpc::ServerUnaryReactor* DatasetRpc::UndoImport(grpc::CallbackServerContext* context,
                                                 const v1::UndoImportRequest* request,
                                                 v1::UndoImportResponse* response) {
  return Handle<Method::kUndoImport>(calls_, *context, *request, *response, rpc::UndoImport);
}

grpc::ServerUnaryReactor* DatasetRpc::ListImports(grpc::CallbackServerContext* context,
                                                  const v1::ListImportsRequest* request,
                                                  v1::ListImportsResponse* response) {
  return Handle<Method::kListImports>(calls_, *context, *request, *response, rpc::ListImports);
}

grpc::ServerUnaryReactor* DatasetRpc::GrantAccess(grpc::CallbackServerContext* context,
                                                  const v1::GrantAccessRequest* request,
                                                  v1::GrantAccessResponse* response) {
  return Handle<Method::kGrantAccess>(calls_, *context, *request, *response, rpc::GrantAccess);
}

grpc::ServerUnaryReactor* DatasetRpc::RevokeAccess(grpc::CallbackServerContext* context,
                                                   const v1::RevokeAccessRequest* request,
                                                   v1::RevokeAccessResponse* response) {
  return Handle<Method::kRevokeAccess>(calls_, *context, *request, *response, rpc::RevokeAccess);
}

grpc::ServerUnaryReactor* DatasetRpc::ListGrants(grpc::CallbackServerContext* context,
                                                 const v1::ListGrantsRequest* request,
                                                 v1::ListGrantsResponse* response) {
  return Handle<Method::kListGrants>(calls_, *context, *request, *response, rpc::ListGrants);
}

grpc::ServerUnaryReactor* DatasetRpc::AddRefusalRule(grpc::CallbackServerContext* context,
                                                     const v1::AddRefusalRuleRequest* request,
                                                     v1::RefusalRule* response) {
  return Handle<Method::kAddRefusalRule>(calls_, *context, *request, *response, rpc::AddRefusalRule);
}

grpc::ServerUnaryReactor* DatasetRpc::RemoveRefusalRule(grpc::CallbackServerContext* context,
                                                        const v1::RemoveRefusalRuleRequest* request,
                                                        v1::RemoveRefusalRuleResponse* response) {
  return Handle<Method::kRemoveRefusalRule>(calls_, *context, *request, *response, rpc::RemoveRefusalRule);
}

grpc::ServerUnaryReactor* DatasetRpc::ListRefusalRules(grpc::CallbackServerContext* context,
                                                       const v1::ListRefusalRulesRequest* request,
                                                       v1::ListRefusalRulesResponse* response) {
  return Handle<Method::kListRefusalRules>(calls_, *context, *request, *response, rpc::ListRefusalRules);
}

grpc::ServerUnaryReactor* DatasetRpc::GetDataset(grpc::CallbackServerContext* context,
                                                 const v1::GetDatasetRequest* request,
                                                 v1::Dataset* response) {
  return Handle<Method::kGetDataset>(calls_, *context, *request, *response, rpc::GetDataset);
}

grpc::ServerUnaryReactor* DatasetRpc::ListDatasets(grpc::CallbackServerContext* context,
                                                   const v1::ListDatasetsRequest* request,
                                                   v1::ListDatasetsResponse* response) {
  return Handle<Method::kListDatasets>(calls_, *context, *request, *response, rpc::ListDatasets);
}

grpc::ServerUnaryReactor* DatasetRpc::PublishDataset(grpc::CallbackServerContext* context,
                                                     const v1::PublishDatasetRequest* request,
                                                     v1::Dataset* response) {
  return Handle<Method::kPublishDataset>(calls_, *context, *request, *response, rpc::PublishDataset);
}

grpc::ServerUnaryReactor* DatasetRpc::ArchiveDataset(grpc::CallbackServerContext* context,
                                                     const v1::ArchiveDatasetRequest* request,
                                                     v1::Dataset* response) {
  return Handle<Method::kArchiveDataset>(calls_, *context, *request, *response, rpc::ArchiveDataset);
}

grpc::ServerUnaryReactor* DatasetRpc::DeleteDataset(grpc::CallbackServerContext* context,
                                                    const v1::DeleteDatasetRequest* request,
                                                    v1::DeleteDatasetResponse* response) {
  return Handle<Method::kDeleteDataset>(calls_, *context, *request, *response, rpc::DeleteDataset);
}

grpc::ServerReadReactor<v1::CheckSchemaRequest>* DatasetRpc::CheckSchema(grpc::CallbackServerContext* context,
                                                                         v1::CheckSchemaResponse* response) {
  return Handle<Method::kCheckSchema>(calls_, *context, *response, rpc::CheckSchema);
}

}  // namespace curator::rpc
