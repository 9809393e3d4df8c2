#include "client/client.h"

#include <grpcpp/client_context.h>
#include <grpcpp/support/sync_stream.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "client/connection.h"
#include "client/error.h"
#include "client/request_id.h"
#include "client/wire.h"

namespace curator {
namespace {

using client::Change;
using client::Connection;
using client::EnsureRequestId;
using client::FromGrpc;
using client::Once;
using client::Pages;
using client::Read;

constexpr size_t kCsvPieceBytes = 256 << 10;

// Hands each message to `take` until the stream ends or `take` fails; the call is cancelled in that case.
template <typename Message, typename Take>
absl::Status ReadAll(grpc::ClientContext& context, grpc::ClientReader<Message>& reader, const Take& take) {
  Message message;
  while (reader.Read(&message)) {
    if (absl::Status status = take(std::move(message)); !status.ok()) {
      context.TryCancel();
      reader.Finish();
      return status;
    }
  }
  return FromGrpc(reader.Finish());
}

// The dataset's own account or those of its parts come first, then those of analysts, then of groups.
std::pair<bool, std::string> PlaceInListing(const v1::Account& account) {
  const bool is_of_analysts = account.has_analyst() || account.has_group();
  return {is_of_analysts, account.name()};
}

// The status of a sink of the caller's. An error ends the call, whatever its code: after a retry the sink
// would not be given again what it refused.
class CallersSink {
 public:
  // Returns a status that ends the reading and is never retried, when `status` is an error.
  absl::Status Keep(absl::Status status) {
    error_ = std::move(status);
    return error_.ok() ? absl::OkStatus() : absl::CancelledError("the caller's sink failed");
  }
  bool ok() const { return error_.ok(); }
  const absl::Status& error() const { return error_; }

 private:
  absl::Status error_;
};

// Reads a list in attempts. CANCELLED from the sink ends the list without an error.
template <typename Attempt>
absl::Status List(const Connection& connection, const Attempt& attempt) {
  CallersSink taken;
  const absl::Status status =
      connection.Run("", [&](grpc::ClientContext& context) { return attempt(context, taken); });
  if (taken.ok()) return status;
  return absl::IsCancelled(taken.error()) ? absl::OkStatus() : taken.error();
}

// A CSV file that is sent in pieces, from its present position, as often as attempts are made.
class CsvSource {
 public:
  explicit CsvSource(std::istream& stream) : stream_(stream), start_(stream.tellg()) {}

  absl::Status Rewind() {
    if (!sent_before_) {
      sent_before_ = true;
      return absl::OkStatus();
    }
    stream_.clear();
    if (start_ == std::istream::pos_type(-1) || !stream_.seekg(start_)) {
      return absl::FailedPreconditionError(
          "the connection was lost and the input cannot be read a second time: nothing has been imported "
          "unless the dataset says so; send it again under the same request id");
    }
    return absl::OkStatus();
  }

  // Sends pieces until the input ends or the server takes no more, and returns what the server says.
  // The last message is what `set_end` makes of the number of bytes; none unless it returns true.
  template <typename Request, typename SetPiece, typename SetEnd>
  absl::Status SendTo(grpc::ClientWriter<Request>& writer, grpc::ClientContext& context,
                      const SetPiece& set_piece, const SetEnd& set_end) {
    std::vector<char> piece(kCsvPieceBytes);
    bool wanted = true;
    int64_t bytes = 0;
    while (wanted && stream_) {
      stream_.read(piece.data(), static_cast<std::streamsize>(piece.size()));
      const size_t length = static_cast<size_t>(stream_.gcount());
      if (length == 0) break;
      Request request;
      set_piece(request, std::string(piece.data(), length));
      wanted = writer.Write(request);
      bytes += static_cast<int64_t>(length);
    }
    if (stream_.bad()) {
      context.TryCancel();
      writer.Finish();
      return absl::DataLossError("the input cannot be read to its end");
    }
    if (Request end; wanted && set_end(end, bytes)) writer.Write(end);
    writer.WritesDone();
    return FromGrpc(writer.Finish());
  }

 private:
  std::istream& stream_;
  const std::istream::pos_type start_;
  bool sent_before_ = false;
};

}  // namespace

Client::Client(ClientOptions options) : wire_(std::make_unique<Wire>(std::move(options))) {}
Client::~Client() = default;

absl::StatusOr<v1::GetVersionResponse> Client::GetVersion() const {
  return Read(wire_->connection, wire_->version, &v1::VersionService::Stub::GetVersion,
              v1::GetVersionRequest());
}

absl::StatusOr<v1::Dataset> Client::CreateDataset(v1::CreateDatasetRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::CreateDataset,
                std::move(request));
}

absl::StatusOr<v1::Dataset> Client::AddPart(v1::AddPartRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::AddPart, std::move(request));
}

absl::StatusOr<v1::ImportRecordsResponse> Client::ImportRecords(v1::ImportRecordsRequest::Header header,
                                                                std::istream& csv) const {
  if (absl::Status status = EnsureRequestId(header); !status.ok()) return status;
  CsvSource source(csv);
  v1::ImportRecordsResponse response;
  const absl::Status status = wire_->connection.Run(header.request_id(), [&](grpc::ClientContext& context) {
    if (absl::Status rewound = source.Rewind(); !rewound.ok()) return rewound;
    response.Clear();
    const auto writer = wire_->datasets.ImportRecords(&context, &response);
    v1::ImportRecordsRequest first;
    *first.mutable_header() = header;
    if (!writer->Write(first)) return FromGrpc(writer->Finish());
    return source.SendTo(
        *writer, context,
        [](v1::ImportRecordsRequest& request, std::string piece) { request.set_csv(std::move(piece)); },
        [](v1::ImportRecordsRequest& request, int64_t bytes) {
          request.set_csv_bytes(bytes);
          return true;
        });
  });
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::SealDatasetResponse> Client::SealDataset(v1::SealDatasetRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::SealDataset,
                std::move(request));
}

absl::StatusOr<v1::DeleteDatasetResponse> Client::DeleteDataset(v1::DeleteDatasetRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::DeleteDataset,
                std::move(request));
}

absl::StatusOr<v1::UndoImportResponse> Client::UndoImport(v1::UndoImportRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::UndoImport,
                std::move(request));
}

absl::StatusOr<v1::ListImportsResponse> Client::ListImports(const std::string& dataset, int64_t most) const {
  v1::ListImportsRequest request;
  request.set_dataset(dataset);
  return Pages<v1::ListImportsResponse>(most, request, [&](const auto& page) {
    return Read(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::ListImports, page);
  });
}

absl::StatusOr<v1::GrantAccessResponse> Client::GrantAccess(v1::GrantAccessRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::GrantAccess,
                std::move(request));
}

absl::StatusOr<v1::RevokeAccessResponse> Client::RevokeAccess(v1::RevokeAccessRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::RevokeAccess,
                std::move(request));
}

absl::StatusOr<v1::ListGrantsResponse> Client::ListGrants(const std::string& dataset, int64_t most) const {
  v1::ListGrantsRequest request;
  request.set_dataset(dataset);
  return Pages<v1::ListGrantsResponse>(most, request, [&](const auto& page) {
    return Read(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::ListGrants, page);
  });
}

absl::StatusOr<v1::RefusalRule> Client::AddRefusalRule(v1::AddRefusalRuleRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::AddRefusalRule,
                std::move(request));
}

absl::StatusOr<v1::RemoveRefusalRuleResponse> Client::RemoveRefusalRule(
    v1::RemoveRefusalRuleRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::RemoveRefusalRule,
                std::move(request));
}

absl::StatusOr<v1::ListRefusalRulesResponse> Client::ListRefusalRules(const std::string& dataset,
                                                                      int64_t most) const {
  v1::ListRefusalRulesRequest request;
  request.set_dataset(dataset);
  return Pages<v1::ListRefusalRulesResponse>(most, request, [&](const auto& page) {
    return Read(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::ListRefusalRules, page);
  });
}

absl::StatusOr<v1::Dataset> Client::GetDataset(const std::string& dataset) const {
  v1::GetDatasetRequest request;
  request.set_dataset(dataset);
  return Read(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::GetDataset, request);
}

absl::StatusOr<v1::ListDatasetsResponse> Client::ListDatasets(int64_t most) const {
  return Pages<v1::ListDatasetsResponse>(most, v1::ListDatasetsRequest(), [&](const auto& request) {
    return Read(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::ListDatasets, request);
  });
}

absl::StatusOr<v1::Dataset> Client::PublishDataset(v1::PublishDatasetRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::PublishDataset,
                std::move(request));
}

absl::StatusOr<v1::Dataset> Client::ArchiveDataset(v1::ArchiveDatasetRequest request) const {
  return Change(wire_->connection, wire_->datasets, &v1::DatasetService::Stub::ArchiveDataset,
                std::move(request));
}

absl::StatusOr<v1::CheckSchemaResponse> Client::CheckSchema(const v1::Schema& schema) const {
  std::istringstream nothing;
  return CheckSchema(schema, nothing, Compression::kNone);
}

absl::StatusOr<v1::CheckSchemaResponse> Client::CheckSchema(const v1::Schema& schema, std::istream& csv,
                                                            Compression compression) const {
  CsvSource source(csv);
  v1::CheckSchemaResponse response;
  const absl::Status status = wire_->connection.Run("", [&](grpc::ClientContext& context) {
    if (absl::Status rewound = source.Rewind(); !rewound.ok()) return rewound;
    response.Clear();
    const auto writer = wire_->datasets.CheckSchema(&context, &response);
    v1::CheckSchemaRequest first;
    *first.mutable_schema() = schema;
    first.set_gzip(compression == Compression::kGzip);
    if (!writer->Write(first)) return FromGrpc(writer->Finish());
    return source.SendTo(
        *writer, context,
        [](v1::CheckSchemaRequest& request, std::string piece) { request.set_csv(std::move(piece)); },
        [](v1::CheckSchemaRequest&, int64_t) { return false; });
  });
  if (!status.ok()) return status;
  return response;
}

absl::StatusOr<v1::EstimateWorkloadResponse> Client::EstimateWorkload(
    const v1::EstimateWorkloadRequest& request) const {
  return Read(wire_->connection, wire_->queries, &v1::QueryService::Stub::EstimateWorkload, request);
}

absl::StatusOr<v1::TranslateSqlResponse> Client::TranslateSql(const v1::TranslateSqlRequest& request) const {
  return Read(wire_->connection, wire_->queries, &v1::QueryService::Stub::TranslateSql, request);
}

absl::StatusOr<Answer> Client::AnswerWorkload(v1::AnswerWorkloadRequest request) const {
  if (absl::Status status = EnsureRequestId(request); !status.ok()) return status;
  client::AnswerAssembler assembler;
  const absl::Status status = wire_->connection.Run(request.request_id(), [&](grpc::ClientContext& context) {
    assembler = {};
    const auto reader = wire_->queries.AnswerWorkload(&context, request);
    return ReadAll(context, *reader, [&](v1::AnswerChunk chunk) { return assembler.Add(std::move(chunk)); });
  });
  if (!status.ok()) return status;
  return assembler.Finish();
}

absl::StatusOr<ReleaseContent> Client::GetRelease(const v1::GetReleaseRequest& request) const {
  ReleaseContent content;
  std::optional<client::AnswerAssembler> assembler;
  const absl::Status status = wire_->connection.Run("", [&](grpc::ClientContext& context) {
    content = {};
    assembler.reset();
    const auto reader = wire_->queries.GetRelease(&context, request);
    return ReadAll(context, *reader, [&](v1::GetReleaseChunk chunk) {
      if (chunk.has_release()) content.release = std::move(*chunk.mutable_release());
      if (chunk.has_synthesis()) content.synthesis = std::move(*chunk.mutable_synthesis());
      if (!chunk.has_answer()) return absl::OkStatus();
      if (!assembler) assembler.emplace();
      return assembler->Add(std::move(*chunk.mutable_answer()));
    });
  });
  if (!status.ok()) return status;
  if (content.release.id().empty()) return absl::DataLossError("the release came without its description");
  if (assembler) {
    absl::StatusOr<Answer> answer = assembler->Finish();
    if (!answer.ok()) return answer.status();
    content.answer = *std::move(answer);
  }
  return content;
}

absl::StatusOr<v1::ShareReleaseResponse> Client::ShareRelease(const v1::ShareReleaseRequest& request) const {
  return Read(wire_->connection, wire_->queries, &v1::QueryService::Stub::ShareRelease, request);
}

absl::StatusOr<v1::ListReleasesResponse> Client::ListReleases(const std::string& dataset,
                                                              int64_t most) const {
  v1::ListReleasesRequest first;
  first.set_dataset(dataset);
  return Pages<v1::ListReleasesResponse>(most, std::move(first), [&](const auto& request) {
    return Read(wire_->connection, wire_->queries, &v1::QueryService::Stub::ListReleases, request);
  });
}

absl::StatusOr<v1::ListSynthesizersResponse> Client::ListSynthesizers() const {
  return Read(wire_->connection, wire_->synthesis, &v1::SynthesisService::Stub::ListSynthesizers,
              v1::ListSynthesizersRequest());
}

absl::StatusOr<v1::EstimateSynthesisResponse> Client::EstimateSynthesis(
    const v1::EstimateSynthesisRequest& request) const {
  return Read(wire_->connection, wire_->synthesis, &v1::SynthesisService::Stub::EstimateSynthesis, request);
}

absl::StatusOr<v1::Operation> Client::CreateSynthesis(v1::CreateSynthesisRequest request) const {
  return Change(wire_->connection, wire_->synthesis, &v1::SynthesisService::Stub::CreateSynthesis,
                std::move(request));
}

absl::Status Client::SampleModel(const v1::SampleModelRequest& request, const ByteSink& sink) const {
  size_t delivered = 0;
  CallersSink taken;
  const absl::Status status = wire_->connection.Run("", [&](grpc::ClientContext& context) {
    size_t position = 0;  // the same request gives the same bytes: what was delivered before is skipped
    const auto reader = wire_->synthesis.SampleModel(&context, request);
    return ReadAll(context, *reader, [&](const v1::SampleModelChunk& chunk) {
      std::string_view bytes = chunk.csv();
      const size_t known = std::min(bytes.size(), delivered - position);
      position += bytes.size();
      bytes.remove_prefix(known);
      if (bytes.empty()) return absl::OkStatus();
      delivered += bytes.size();
      return taken.Keep(sink(bytes));
    });
  });
  return taken.ok() ? status : taken.error();
}

absl::StatusOr<Answer> Client::QueryModel(const v1::QueryModelRequest& request) const {
  client::AnswerAssembler assembler;
  const absl::Status status = wire_->connection.Run("", [&](grpc::ClientContext& context) {
    assembler = {};
    const auto reader = wire_->synthesis.QueryModel(&context, request);
    return ReadAll(context, *reader, [&](v1::AnswerChunk chunk) { return assembler.Add(std::move(chunk)); });
  });
  if (!status.ok()) return status;
  return assembler.Finish();
}

absl::StatusOr<v1::Operation> Client::GetOperation(const std::string& operation_id) const {
  v1::GetOperationRequest request;
  request.set_operation_id(operation_id);
  return Read(wire_->connection, wire_->operations, &v1::OperationService::Stub::GetOperation, request);
}

absl::StatusOr<v1::ListOperationsResponse> Client::ListOperations(int64_t most) const {
  return Pages<v1::ListOperationsResponse>(most, v1::ListOperationsRequest(), [&](const auto& request) {
    return Read(wire_->connection, wire_->operations, &v1::OperationService::Stub::ListOperations, request);
  });
}

absl::StatusOr<v1::Operation> Client::WaitOperation(const std::string& operation_id,
                                                    std::chrono::milliseconds timeout) const {
  v1::WaitOperationRequest request;
  request.set_operation_id(operation_id);
  request.mutable_timeout()->set_seconds(timeout.count() / 1000);
  request.mutable_timeout()->set_nanos(static_cast<int32_t>(timeout.count() % 1000) * 1'000'000);
  return Read(wire_->connection, wire_->operations, &v1::OperationService::Stub::WaitOperation, request);
}

absl::StatusOr<v1::Operation> Client::WatchOperation(const std::string& operation_id,
                                                     const OperationObserver& observe) const {
  v1::WatchOperationRequest request;
  request.set_operation_id(operation_id);
  v1::Operation last;
  const absl::Status status = wire_->connection.Run("", [&](grpc::ClientContext& context) {
    const auto reader = wire_->operations.WatchOperation(&context, request);
    return ReadAll(context, *reader, [&](v1::Operation operation) {
      last = std::move(operation);
      observe(last);
      return absl::OkStatus();
    });
  });
  if (!status.ok()) return status;
  if (last.id().empty()) return absl::DataLossError("the server sent no state of the operation");
  return last;
}

absl::StatusOr<v1::Operation> Client::CancelOperation(const std::string& operation_id) const {
  v1::CancelOperationRequest request;
  request.set_operation_id(operation_id);
  return Read(wire_->connection, wire_->operations, &v1::OperationService::Stub::CancelOperation, request);
}

absl::StatusOr<v1::ListAllOperationsResponse> Client::ListAllOperations(int64_t most) const {
  return Pages<v1::ListAllOperationsResponse>(most, v1::ListAllOperationsRequest(), [&](const auto& request) {
    return Read(wire_->connection, wire_->operations, &v1::OperationService::Stub::ListAllOperations,
                request);
  });
}

absl::StatusOr<v1::AnyOperation> Client::StopOperation(const v1::StopOperationRequest& request) const {
  return Read(wire_->connection, wire_->operations, &v1::OperationService::Stub::StopOperation, request);
}

absl::StatusOr<v1::GetMetricsResponse> Client::GetMetrics() const {
  return Read(wire_->connection, wire_->metrics, &v1::MetricsService::Stub::GetMetrics,
              v1::GetMetricsRequest());
}

absl::StatusOr<v1::ListAuditRecordsResponse> Client::ListAuditRecords(v1::ListAuditRecordsRequest request,
                                                                      int64_t most) const {
  return Pages<v1::ListAuditRecordsResponse>(most, std::move(request), [&](const auto& page) {
    return Read(wire_->connection, wire_->audits, &v1::AuditService::Stub::ListAuditRecords, page);
  });
}

absl::Status Client::WatchAudit(std::optional<int64_t> after_id, const AuditSink& sink) const {
  v1::WatchAuditRequest request;
  if (after_id.has_value()) request.set_after_id(*after_id);
  return List(wire_->connection, [&](grpc::ClientContext& context, CallersSink& taken) {
    const auto reader = wire_->audits.WatchAudit(&context, request);
    return ReadAll(context, *reader, [&](const v1::AuditRecord& record) {
      request.set_after_id(record.id());
      return taken.Keep(sink(record));
    });
  });
}

absl::StatusOr<v1::EstimateCostResponse> Client::EstimateCost(const v1::EstimateCostRequest& request) const {
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::EstimateCost, request);
}

absl::StatusOr<v1::Charge> Client::ReserveBudget(v1::ReserveBudgetRequest request) const {
  return Change(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::ReserveBudget,
                std::move(request));
}

absl::StatusOr<v1::BatchReserveBudgetResponse> Client::BatchReserveBudget(
    v1::BatchReserveBudgetRequest request) const {
  for (v1::ReserveBudgetRequest& each : *request.mutable_requests()) {
    if (absl::Status status = EnsureRequestId(each); !status.ok()) return status;
  }
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::BatchReserveBudget,
              request);
}

// The changes below are harmless when repeated: the charge's id and its state make them so.

absl::StatusOr<v1::Charge> Client::StartCharge(const v1::StartChargeRequest& request) const {
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::StartCharge, request);
}

absl::StatusOr<v1::Charge> Client::CommitBudget(const std::string& charge_id) const {
  v1::CommitBudgetRequest request;
  request.set_charge_id(charge_id);
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::CommitBudget, request);
}

absl::StatusOr<v1::Charge> Client::CancelReservation(const v1::CancelReservationRequest& request) const {
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::CancelReservation, request);
}

absl::StatusOr<v1::Charge> Client::ExtendReservation(const v1::ExtendReservationRequest& request) const {
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::ExtendReservation, request);
}

absl::StatusOr<v1::Charge> Client::GetCharge(const v1::GetChargeRequest& request) const {
  return Read(wire_->connection, wire_->accountant, &v1::AccountantService::Stub::GetCharge, request);
}

absl::StatusOr<v1::GetBudgetResponse> Client::GetBudget(const std::string& dataset) const {
  v1::GetBudgetRequest request;
  request.set_dataset(dataset);
  return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::GetBudget, request);
}

absl::StatusOr<v1::ListAccountsResponse> Client::ListAccounts(const std::string& dataset,
                                                              int64_t most) const {
  v1::ListAccountsRequest first;
  first.set_dataset(dataset);
  absl::StatusOr<v1::ListAccountsResponse> listed =
      Pages<v1::ListAccountsResponse>(most, std::move(first), [&](const auto& request) {
        return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ListAccounts, request);
      });
  if (listed.ok()) std::ranges::sort(*listed->mutable_accounts(), {}, PlaceInListing);
  return listed;
}

absl::StatusOr<v1::Account> Client::CreateAccount(v1::CreateAccountRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::CreateAccount,
                std::move(request));
}

absl::StatusOr<v1::LimitProposal> Client::ProposeLimitChange(v1::ProposeLimitChangeRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ProposeLimitChange,
                std::move(request));
}

absl::StatusOr<v1::LimitProposal> Client::RequestLimitChange(v1::RequestLimitChangeRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::RequestLimitChange,
                std::move(request));
}

absl::StatusOr<v1::LimitProposal> Client::ApproveLimitChange(v1::ApproveLimitChangeRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ApproveLimitChange,
                std::move(request));
}

absl::StatusOr<v1::LimitProposal> Client::RejectLimitChange(v1::RejectLimitChangeRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::RejectLimitChange,
                std::move(request));
}

absl::StatusOr<v1::LimitProposal> Client::WithdrawLimitChange(v1::WithdrawLimitChangeRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::WithdrawLimitChange,
                std::move(request));
}

absl::StatusOr<v1::ListLimitProposalsResponse> Client::ListLimitProposals(const std::string& dataset,
                                                                          int64_t most) const {
  v1::ListLimitProposalsRequest first;
  first.set_dataset(dataset);
  return Pages<v1::ListLimitProposalsResponse>(most, std::move(first), [&](const auto& request) {
    return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ListLimitProposals, request);
  });
}

absl::StatusOr<v1::GetBurnDownResponse> Client::GetBurnDown(const v1::GetBurnDownRequest& request) const {
  return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::GetBurnDown, request);
}

absl::StatusOr<v1::ListRefusalsResponse> Client::ListRefusals(const std::string& dataset,
                                                              int64_t most) const {
  v1::ListRefusalsRequest first;
  first.set_dataset(dataset);
  return Pages<v1::ListRefusalsResponse>(most, std::move(first), [&](const auto& request) {
    return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ListRefusals, request);
  });
}

absl::StatusOr<v1::ListInboxResponse> Client::ListInbox(int64_t most) const {
  return Pages<v1::ListInboxResponse>(most, v1::ListInboxRequest(), [&](const auto& request) {
    return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ListInbox, request);
  });
}

absl::Status Client::ListLedgerEntries(const std::string& dataset, int64_t after_sequence,
                                       const EntrySink& take) const {
  v1::ListLedgerEntriesRequest request;
  request.set_dataset(dataset);
  request.set_after_sequence(after_sequence);
  return ListLedgerEntries(std::move(request), take);
}

absl::Status Client::ListLedgerEntries(v1::ListLedgerEntriesRequest request, const EntrySink& take) const {
  return List(wire_->connection, [&](grpc::ClientContext& context, CallersSink& taken) {
    const auto reader = wire_->budgets.ListLedgerEntries(&context, request);
    return ReadAll(context, *reader, [&](const v1::LedgerEntry& entry) {
      request.set_after_sequence(entry.sequence());
      return taken.Keep(take(entry));
    });
  });
}

absl::Status Client::WatchLedger(const std::string& dataset, int64_t after_sequence,
                                 const EntrySink& take) const {
  v1::WatchLedgerRequest request;
  request.set_dataset(dataset);
  request.set_after_sequence(after_sequence);
  return List(wire_->connection, [&](grpc::ClientContext& context, CallersSink& taken) {
    const auto reader = wire_->budgets.WatchLedger(&context, request);
    return ReadAll(context, *reader, [&](const v1::LedgerEntry& entry) {
      request.set_after_sequence(entry.sequence());
      return taken.Keep(take(entry));
    });
  });
}

absl::Status Client::WatchLedgers(const std::vector<v1::LedgerPosition>& positions,
                                  const EntrySink& take) const {
  v1::WatchLedgerRequest request;
  request.mutable_positions()->Assign(positions.begin(), positions.end());
  return List(wire_->connection, [&](grpc::ClientContext& context, CallersSink& taken) {
    const auto reader = wire_->budgets.WatchLedger(&context, request);
    return ReadAll(context, *reader, [&](const v1::LedgerEntry& entry) {
      for (v1::LedgerPosition& position : *request.mutable_positions()) {
        if (position.dataset() == entry.dataset()) position.set_after_sequence(entry.sequence());
      }
      return taken.Keep(take(entry));
    });
  });
}

absl::StatusOr<v1::VerifyLedgerResponse> Client::VerifyLedger(const std::string& dataset) const {
  v1::VerifyLedgerRequest request;
  request.set_dataset(dataset);
  return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::VerifyLedger, request);
}

absl::StatusOr<v1::GetBudgetResponse> Client::GetBudgetWithComparison(const std::string& dataset) const {
  v1::GetBudgetRequest request;
  request.set_dataset(dataset);
  request.set_with_comparison(true);
  return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::GetBudget, request);
}

absl::StatusOr<v1::GetReceiptKeyResponse> Client::GetReceiptKey() const {
  return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::GetReceiptKey,
              v1::GetReceiptKeyRequest());
}

absl::Status Client::ListChainLinks(const std::string& dataset, int64_t after_sequence,
                                    const LinkSink& take) const {
  v1::ListChainLinksRequest request;
  request.set_dataset(dataset);
  request.set_after_sequence(after_sequence);
  return List(wire_->connection, [&](grpc::ClientContext& context, CallersSink& taken) {
    const auto reader = wire_->budgets.ListChainLinks(&context, request);
    return ReadAll(context, *reader, [&](const v1::ChainLink& link) {
      request.set_after_sequence(link.sequence());
      return taken.Keep(take(link));
    });
  });
}

absl::StatusOr<v1::ProposeRepairResponse> Client::ProposeRepair(
    const v1::ProposeRepairRequest& request) const {
  return Read(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ProposeRepair, request);
}

absl::StatusOr<v1::RepairReport> Client::ApproveRepair(v1::ApproveRepairRequest request) const {
  return Change(wire_->connection, wire_->budgets, &v1::BudgetService::Stub::ApproveRepair,
                std::move(request));
}

absl::StatusOr<v1::EvaluateResponse> Client::Evaluate(v1::EvaluateRequest request) const {
  return Change(wire_->connection, wire_->owners, &v1::OwnerService::Stub::Evaluate, std::move(request));
}

absl::StatusOr<v1::RowCountsResponse> Client::RowCounts(v1::RowCountsRequest request) const {
  return Change(wire_->connection, wire_->owners, &v1::OwnerService::Stub::RowCounts, std::move(request));
}

absl::StatusOr<v1::RiskResponse> Client::RiskReport(v1::RiskRequest request) const {
  return Change(wire_->connection, wire_->owners, &v1::OwnerService::Stub::RiskReport, std::move(request));
}

}  // namespace curator
