// The C++ client of a Curator server: one method for each RPC, with request ids and safe retries.
//
// Messages are those of proto/curator/v1, whose comments define each call. Streams are assembled here: an
// answer, a release or an import is one call.
//
// Request ids: a request whose request_id is empty gets a new UUID. Set it explicitly (client/request_id.h)
// to repeat the request after a failure: the same id is never charged twice and returns the same bytes.
//
// Retries: attempts that end with UNAVAILABLE, or with ABORTED and RetryInfo, are repeated under the same
// request id with growing delays until ClientOptions::retry.window has passed (client/error.h). No other
// error is retried. Calls have no deadline: the charge of a request that a client abandons is not refunded.
//
// Errors: the server's, with their details (client/error.h); UNAVAILABLE with IsUnreachable() when no
// server answers or the connection was lost; DATA_LOSS when a stream ends before everything has arrived.
//
// Thread-safe. Every method blocks.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <istream>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/connection.h"
#include "client/error.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/audit.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/identity.pb.h"
#include "curator/v1/metrics.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/owner.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/synthesis.pb.h"
#include "curator/v1/version.pb.h"

namespace curator {

struct ClientOptions {
  // "https://HOST" or "https://HOST:PORT", over TLS; "unix:/PATH", a socket of this host; or "HOST:PORT" of a
  // development server.
  std::string server = "127.0.0.1:7878";
  // The name that a development server accepts without authentication; empty for none. It provides no
  // security.
  std::string principal;
  client::RetryPolicy retry;
  // Who calls; sent over TLS or a unix socket only.
  client::TokenSource token = nullptr;
  client::TlsFiles tls = {};
};

// The result of GetRelease(): the release's description and, by its kind, the answer or the description of
// the model.
struct ReleaseContent {
  v1::Release release;
  std::optional<Answer> answer;
  std::optional<v1::SynthesisSummary> synthesis;
};

class Client {
 public:
  // For listings, whose methods read as many pages as they need: no limit on the number of items.
  static constexpr int64_t kAll = std::numeric_limits<int64_t>::max();

  // Connects on the first call.
  explicit Client(ClientOptions options);
  ~Client();
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;

  absl::StatusOr<v1::GetVersionResponse> GetVersion() const;

  // Changes of principals, credentials and roles have no request ids, so they are made once: after
  // UNAVAILABLE, look whether the change was made before it is asked for again.
  absl::StatusOr<v1::WhoAmIResponse> WhoAmI() const;
  absl::StatusOr<v1::WhoAmIResponse> Enrol(const v1::EnrolRequest& request) const;
  absl::StatusOr<v1::OpenEnrolmentResponse> OpenEnrolment(const v1::OpenEnrolmentRequest& request) const;
  absl::StatusOr<v1::PrincipalInfo> CreatePrincipal(const v1::CreatePrincipalRequest& request) const;
  absl::StatusOr<v1::PrincipalInfo> DisablePrincipal(const v1::DisablePrincipalRequest& request) const;
  absl::StatusOr<v1::PrincipalInfo> EnablePrincipal(const v1::EnablePrincipalRequest& request) const;
  absl::StatusOr<v1::ForgetPrincipalResponse> ForgetPrincipal(
      const v1::ForgetPrincipalRequest& request) const;
  absl::StatusOr<v1::PrincipalInfo> GetPrincipal(const std::string& name) const;
  absl::StatusOr<v1::ListPrincipalsResponse> ListPrincipals(int64_t most = kAll) const;
  // One's own when `principal` is empty.
  absl::StatusOr<v1::GetQuotasResponse> GetQuotas(const std::string& principal = "") const;
  absl::StatusOr<v1::Credential> LinkIdentity(const v1::LinkIdentityRequest& request) const;
  absl::StatusOr<v1::CreateApiTokenResponse> CreateApiToken(const v1::CreateApiTokenRequest& request) const;
  absl::StatusOr<v1::Credential> ApproveCredential(const v1::ApproveCredentialRequest& request) const;
  absl::StatusOr<v1::RemoveCredentialResponse> RemoveCredential(
      const v1::RemoveCredentialRequest& request) const;
  absl::StatusOr<v1::RoleBinding> BindRole(const v1::BindRoleRequest& request) const;
  absl::StatusOr<v1::RoleBinding> ApproveRole(const v1::ApproveRoleRequest& request) const;
  absl::StatusOr<v1::UnbindRoleResponse> UnbindRole(const v1::UnbindRoleRequest& request) const;

  absl::StatusOr<v1::Dataset> CreateDataset(v1::CreateDatasetRequest request) const;
  absl::StatusOr<v1::Dataset> AddPart(v1::AddPartRequest request) const;
  // Sends `csv` to its end in pieces of 256 KiB, which are not kept in memory. A retry seeks back to the
  // initial position, so a stream that cannot seek is sent at most once.
  absl::StatusOr<v1::ImportRecordsResponse> ImportRecords(v1::ImportRecordsRequest::Header header,
                                                          std::istream& csv) const;
  absl::StatusOr<v1::SealDatasetResponse> SealDataset(v1::SealDatasetRequest request) const;
  absl::StatusOr<v1::DeleteDatasetResponse> DeleteDataset(v1::DeleteDatasetRequest request) const;
  absl::StatusOr<v1::UndoImportResponse> UndoImport(v1::UndoImportRequest request) const;
  // Of all pages, at most `most`.
  absl::StatusOr<v1::ListImportsResponse> ListImports(const std::string& dataset, int64_t most = kAll) const;
  absl::StatusOr<v1::GrantAccessResponse> GrantAccess(v1::GrantAccessRequest request) const;
  absl::StatusOr<v1::RevokeAccessResponse> RevokeAccess(v1::RevokeAccessRequest request) const;
  // Of all pages, at most `most`.
  absl::StatusOr<v1::ListGrantsResponse> ListGrants(const std::string& dataset, int64_t most = kAll) const;
  absl::StatusOr<v1::RefusalRule> AddRefusalRule(v1::AddRefusalRuleRequest request) const;
  absl::StatusOr<v1::RemoveRefusalRuleResponse> RemoveRefusalRule(v1::RemoveRefusalRuleRequest request) const;
  // Of all pages, at most `most`.
  absl::StatusOr<v1::ListRefusalRulesResponse> ListRefusalRules(const std::string& dataset,
                                                                int64_t most = kAll) const;
  absl::StatusOr<v1::Dataset> GetDataset(const std::string& dataset) const;
  absl::StatusOr<v1::ListDatasetsResponse> ListDatasets(int64_t most = kAll) const;
  absl::StatusOr<v1::Dataset> PublishDataset(v1::PublishDatasetRequest request) const;
  absl::StatusOr<v1::Dataset> ArchiveDataset(v1::ArchiveDatasetRequest request) const;
  // Stores nothing. With `csv`, its rows are checked against the schema; read as in ImportRecords().
  absl::StatusOr<v1::CheckSchemaResponse> CheckSchema(const v1::Schema& schema) const;
  enum class Compression { kNone, kGzip };
  absl::StatusOr<v1::CheckSchemaResponse> CheckSchema(const v1::Schema& schema, std::istream& csv,
                                                      Compression compression) const;

  absl::StatusOr<v1::EstimateWorkloadResponse> EstimateWorkload(
      const v1::EstimateWorkloadRequest& request) const;
  // A statement in SQL as a workload (docs/SQL.md). INVALID_ARGUMENT with its line and a mark at the error.
  absl::StatusOr<v1::TranslateSqlResponse> TranslateSql(const v1::TranslateSqlRequest& request) const;
  absl::StatusOr<Answer> AnswerWorkload(v1::AnswerWorkloadRequest request) const;
  absl::StatusOr<ReleaseContent> GetRelease(const v1::GetReleaseRequest& request) const;
  absl::StatusOr<v1::ShareReleaseResponse> ShareRelease(const v1::ShareReleaseRequest& request) const;
  absl::StatusOr<v1::ListReleasesResponse> ListReleases(const std::string& dataset,
                                                        int64_t most = kAll) const;

  absl::StatusOr<v1::ListSynthesizersResponse> ListSynthesizers() const;
  absl::StatusOr<v1::EstimateSynthesisResponse> EstimateSynthesis(
      const v1::EstimateSynthesisRequest& request) const;
  absl::StatusOr<v1::Operation> CreateSynthesis(v1::CreateSynthesisRequest request) const;
  // Passes the CSV bytes to `sink` in order, each once, also across retries. An error of `sink` ends the call
  // and is returned.
  using ByteSink = std::function<absl::Status(std::string_view bytes)>;
  absl::Status SampleModel(const v1::SampleModelRequest& request, const ByteSink& sink) const;
  absl::StatusOr<Answer> QueryModel(const v1::QueryModelRequest& request) const;

  absl::StatusOr<v1::Operation> GetOperation(const std::string& operation_id) const;
  absl::StatusOr<v1::ListOperationsResponse> ListOperations(int64_t most = kAll) const;
  // Returns the operation when it has ended or `timeout` has passed: its state distinguishes the two. The
  // server waits at most 10 minutes. INVALID_ARGUMENT (timeout) when negative.
  absl::StatusOr<v1::Operation> WaitOperation(const std::string& operation_id,
                                              std::chrono::milliseconds timeout) const;
  // Calls `observe` with every state that the server sends, on the calling thread; a retry may repeat one.
  // Returns the last state: it has not ended when the server closed the stream early, and the call can be
  // made again.
  using OperationObserver = std::function<void(const v1::Operation& operation)>;
  absl::StatusOr<v1::Operation> WatchOperation(const std::string& operation_id,
                                               const OperationObserver& observe) const;
  absl::StatusOr<v1::Operation> CancelOperation(const std::string& operation_id) const;
  // For operators.
  absl::StatusOr<v1::ListAllOperationsResponse> ListAllOperations(int64_t most = kAll) const;
  absl::StatusOr<v1::AnyOperation> StopOperation(const v1::StopOperationRequest& request) const;
  // All metrics of the server, in the text format of Prometheus.
  absl::StatusOr<v1::GetMetricsResponse> GetMetrics() const;

  // At most `most` records that the request's filter has, newest first.
  absl::StatusOr<v1::ListAuditRecordsResponse> ListAuditRecords(v1::ListAuditRecordsRequest request,
                                                                int64_t most = kAll) const;
  // Hands every record after `after_id`, or that is new, to `sink` in order, on the calling thread, until the
  // stream ends: with the server's error, or that of `sink`. A retry goes on after the last record.
  using AuditSink = std::function<absl::Status(const v1::AuditRecord& record)>;
  absl::Status WatchAudit(std::optional<int64_t> after_id, const AuditSink& sink) const;

  absl::StatusOr<v1::EstimateCostResponse> EstimateCost(const v1::EstimateCostRequest& request) const;
  absl::StatusOr<v1::Charge> ReserveBudget(v1::ReserveBudgetRequest request) const;
  absl::StatusOr<v1::BatchReserveBudgetResponse> BatchReserveBudget(
      v1::BatchReserveBudgetRequest request) const;
  // The caller may access the data only after this has returned OK.
  absl::StatusOr<v1::Charge> StartCharge(const v1::StartChargeRequest& request) const;
  absl::StatusOr<v1::Charge> CommitBudget(const std::string& charge_id) const;
  absl::StatusOr<v1::Charge> CancelReservation(const v1::CancelReservationRequest& request) const;
  absl::StatusOr<v1::Charge> ExtendReservation(const v1::ExtendReservationRequest& request) const;
  absl::StatusOr<v1::Charge> GetCharge(const v1::GetChargeRequest& request) const;

  absl::StatusOr<v1::GetBudgetResponse> GetBudget(const std::string& dataset) const;
  // The same, with the epsilon of the charges so far under other rules, which takes the server longer.
  absl::StatusOr<v1::GetBudgetResponse> GetBudgetWithComparison(const std::string& dataset) const;
  // How an account came to what it has spent.
  absl::StatusOr<v1::GetBurnDownResponse> GetBurnDown(const v1::GetBurnDownRequest& request) const;
  // Ordered by name, the dataset's own account or those of its parts first. Where there are more than `most`,
  // which of them are left out is arbitrary.
  absl::StatusOr<v1::ListAccountsResponse> ListAccounts(const std::string& dataset,
                                                        int64_t most = kAll) const;
  absl::StatusOr<v1::Account> CreateAccount(v1::CreateAccountRequest request) const;
  absl::StatusOr<v1::LimitProposal> ProposeLimitChange(v1::ProposeLimitChangeRequest request) const;
  absl::StatusOr<v1::LimitProposal> RequestLimitChange(v1::RequestLimitChangeRequest request) const;
  absl::StatusOr<v1::LimitProposal> ApproveLimitChange(v1::ApproveLimitChangeRequest request) const;
  absl::StatusOr<v1::LimitProposal> RejectLimitChange(v1::RejectLimitChangeRequest request) const;
  absl::StatusOr<v1::LimitProposal> WithdrawLimitChange(v1::WithdrawLimitChangeRequest request) const;
  absl::StatusOr<v1::ListLimitProposalsResponse> ListLimitProposals(const std::string& dataset,
                                                                    int64_t most = kAll) const;
  // Charges on the dataset that did not fit, newest first.
  absl::StatusOr<v1::ListRefusalsResponse> ListRefusals(const std::string& dataset,
                                                        int64_t most = kAll) const;
  // What waits for the caller on all datasets.
  absl::StatusOr<v1::ListInboxResponse> ListInbox(int64_t most = kAll) const;
  // Passes the entries after `after_sequence` to `take` in order, each once, also across retries. An error of
  // `take` ends the listing and is returned, except CANCELLED, which ends it with OK.
  using EntrySink = std::function<absl::Status(const v1::LedgerEntry& entry)>;
  absl::Status ListLedgerEntries(const std::string& dataset, int64_t after_sequence,
                                 const EntrySink& take) const;
  // The same for other ranges. Where a retry follows newer entries, there may be more than `newest`.
  absl::Status ListLedgerEntries(v1::ListLedgerEntriesRequest request, const EntrySink& take) const;
  // The same, and then each new entry as it is made, until the stream ends: with the server's error, or that
  // of `take`.
  absl::Status WatchLedger(const std::string& dataset, int64_t after_sequence, const EntrySink& take) const;
  // The same for several datasets, 1 to 100, in the order in which entries come: LedgerEntry.dataset says of
  // which one each is.
  absl::Status WatchLedgers(const std::vector<v1::LedgerPosition>& positions, const EntrySink& take) const;
  absl::StatusOr<v1::VerifyLedgerResponse> VerifyLedger(const std::string& dataset) const;
  absl::StatusOr<v1::GetReceiptKeyResponse> GetReceiptKey() const;
  // The same for the links of the hash chain.
  using LinkSink = std::function<absl::Status(const v1::ChainLink&)>;
  absl::Status ListChainLinks(const std::string& dataset, int64_t after_sequence, const LinkSink& take) const;
  absl::StatusOr<v1::ProposeRepairResponse> ProposeRepair(const v1::ProposeRepairRequest& request) const;
  absl::StatusOr<v1::RepairReport> ApproveRepair(v1::ApproveRepairRequest request) const;

  // Private answers for the owner. The server records every attempt as a data access.
  absl::StatusOr<v1::EvaluateResponse> Evaluate(v1::EvaluateRequest request) const;
  absl::StatusOr<v1::RowCountsResponse> RowCounts(v1::RowCountsRequest request) const;
  absl::StatusOr<v1::RiskResponse> RiskReport(v1::RiskRequest request) const;

 private:
  struct Wire;
  const std::unique_ptr<const Wire> wire_;
};

}  // namespace curator
