#include "tests/e2e/all_calls.h"

#include <google/protobuf/text_format.h>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "tests/testing/nested_table.h"
#include "tests/testing/small_table.h"

namespace curator::testing {
namespace {

std::string Text(const v1::Schema& schema) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(schema, &text);
  return text;
}

std::string Csv(const std::string& bytes) {
  return absl::StrCat("csv: \"", absl::CEscape(bytes), "\"");
}

std::vector<std::string> ImportOf(const std::string& dataset, const std::string& csv,
                                  const std::string& request_id = "$NEW") {
  return {absl::StrCat("header { request_id: '", request_id, "' dataset: '", dataset, "' }"), Csv(csv),
          absl::StrCat("csv_bytes: ", csv.size())};
}

constexpr char kImportToUndo[] = "2f0b4c1e-5b0d-4a53-9c36-7a3a4a7f6e01";

std::string Create(const std::string& name, const v1::Schema& schema, const std::string& more = "") {
  return absl::StrCat("request_id: '$NEW' name: '", name, "' schema { ", Text(schema),
                      " } limit { rule: RULE_PURE epsilon: '9' } ", more);
}

constexpr char kParts[] = "partition { attribute: 'region' parts { name: 'north' labels: '0..1' } }";
constexpr char kQuestion[] =
    "request_id: '$NEW' dataset: 'census' workload { query_sets { marginals { all_k_way { k: 1 } } } } "
    "spend { epsilon: '0.1' }";
constexpr char kSynthesis[] = "spec { method: 'mwem' spend { epsilon: '0.1' } }";
constexpr char kReservation[] = "request_id: '$NEW' dataset: 'census' event { pure { epsilon: '0.1' } }";

std::vector<Step> CallsOnDatasets() {
  return {
      {"VersionService.GetVersion", {""}},
      {"IdentityService.WhoAmI", {""}},
      {"SynthesisService.ListSynthesizers", {""}},
      {"DatasetService.CreateDataset", {Create("of-$WHO", SmallSchema())}},
      {"DatasetService.ListDatasets", {""}},
      {"DatasetService.CheckSchema",
       {absl::StrCat("schema { ", Text(SmallSchema()), " }"), Csv("sex,age,region\nMale,3,1\n")}},
      {"DatasetService.GetDataset", {"dataset: 'census'"}},
      {"DatasetService.AddPart", {"request_id: '$NEW' dataset: 'divided' part { name: 'west' labels: '3' }"}},
      {"DatasetService.ImportRecords", ImportOf("draft", SmallCsv(5))},
      {"DatasetService.ListImports", {"dataset: 'draft'"}},
      {"DatasetService.UndoImport",
       {absl::StrCat("request_id: '$NEW' dataset: 'draft' import_request_id: '", kImportToUndo, "'")}},
      {"DatasetService.SealDataset", {"request_id: '$NEW' dataset: 'draft'"}},
      {"DatasetService.DeleteDataset", {"request_id: '$NEW' dataset: 'divided' validate_only: true"}},
      {"DatasetService.GrantAccess", {"request_id: '$NEW' dataset: 'census' principal: 'dora'"}},
      {"DatasetService.RevokeAccess", {"request_id: '$NEW' dataset: 'census' principal: 'dora'"}},
      {"DatasetService.ListGrants", {"dataset: 'census'"}},
      {"DatasetService.PublishDataset", {"request_id: '$NEW' dataset: 'divided' validate_only: true"}},
      {"DatasetService.AddRefusalRule", {"request_id: '$NEW' dataset: 'divided' rule { name: 'night' }"}},
      {"DatasetService.ListRefusalRules", {"dataset: 'divided'"}},
      {"DatasetService.RemoveRefusalRule", {"request_id: '$NEW' dataset: 'divided' name: 'night'"}},
      {"DatasetService.ArchiveDataset", {"request_id: '$NEW' dataset: 'divided'"}},
      {"OwnerService.RowCounts", {"request_id: '$NEW' dataset: 'census'"}},
      {"OwnerService.Evaluate", {"request_id: '$NEW' dataset: 'census' release_id: '$model'"}},
      {"OwnerService.RiskReport", {"request_id: '$NEW' dataset: 'pupils'"}}};
}

std::vector<Step> CallsOnBudgets() {
  return {
      {"BudgetService.GetReceiptKey", {""}},
      {"BudgetService.GetBudget", {"dataset: 'census'"}},
      {"BudgetService.GetBurnDown", {"dataset: 'census'"}},
      {"BudgetService.ListAccounts", {"dataset: 'census'"}},
      {"BudgetService.CreateAccount",
       {"request_id: '$NEW' dataset: 'census' analyst: 'dora' limit { rule: RULE_PURE epsilon: '1' }"}},
      {"BudgetService.ProposeLimitChange",
       {"request_id: '$NEW' dataset: 'census' epsilon: '7' reason: 'less'"}},
      {"BudgetService.ApproveLimitChange", {"request_id: '$NEW' dataset: 'census' proposal_id: '$proposal'"}},
      {"BudgetService.RejectLimitChange",
       {"request_id: '$NEW' dataset: 'census' proposal_id: '$ask' reason: 'no'"}},
      {"BudgetService.RequestLimitChange",
       {"request_id: '$NEW' dataset: 'census' epsilon: '30' reason: 'more'"}},
      {"BudgetService.WithdrawLimitChange", {"request_id: '$NEW' dataset: 'census' proposal_id: '$wish'"}},
      {"BudgetService.ListLimitProposals", {"dataset: 'census'"}},
      {"BudgetService.ListInbox", {""}},
      {"BudgetService.ListRefusals", {"dataset: 'census'"}},
      {"BudgetService.WatchLedger", {"dataset: 'census'"}},
      {"BudgetService.WatchLedger", {"positions { dataset: 'census' after_sequence: 1 }"}},
      {"BudgetService.ListLedgerEntries", {"dataset: 'census'"}},
      {"BudgetService.ListLedgerEntries", {"dataset: 'census' before_sequence: 9 newest: 3"}},
      {"BudgetService.ListChainLinks", {"dataset: 'census'"}},
      {"BudgetService.VerifyLedger", {"dataset: 'census'"}},
      {"BudgetService.ProposeRepair", {"dataset: 'census' reason: 'none'"}},
      {"BudgetService.ApproveRepair", {"request_id: '$NEW' dataset: 'census' proposal { statement: '{}' }"}},
      {"AccountantService.EstimateCost", {"dataset: 'census' event { pure { epsilon: '0.1' } }"}},
      {"AccountantService.ReserveBudget", {kReservation}},
      {"AccountantService.BatchReserveBudget", {absl::StrCat("requests { ", kReservation, " }")}},
      {"AccountantService.GetCharge", {"charge_id: '$charge'"}},
      {"AccountantService.ExtendReservation", {"charge_id: '$charge' lifetime { seconds: 7200 }"}},
      {"AccountantService.StartCharge", {"charge_id: '$charge'"}},
      {"AccountantService.CommitBudget", {"charge_id: '$charge'"}},
      {"AccountantService.CancelReservation", {"charge_id: '$other' reason: 'not needed'"}}};
}

std::vector<Step> CallsOnReleases() {
  const std::string workload = "workload { query_sets { marginals { all_k_way { k: 1 } } } }";
  return {{"QueryService.EstimateWorkload",
           {absl::StrCat("dataset: 'census' ", workload, " spend { epsilon: '0.1' }")}},
          {"QueryService.AnswerWorkload", {kQuestion}},
          {"QueryService.GetRelease", {"release_id: '$release'"}},
          {"QueryService.ListReleases", {"dataset: 'census'"}},
          {"QueryService.TranslateSql", {"dataset: 'census' sql: 'SELECT COUNT(*) FROM census'"}},
          {"SynthesisService.EstimateSynthesis", {absl::StrCat("dataset: 'census' ", kSynthesis)}},
          {"SynthesisService.CreateSynthesis",
           {absl::StrCat("request_id: '$NEW' dataset: 'census' ", kSynthesis)}},
          {"SynthesisService.SampleModel", {"release_id: '$model' rows: 5"}},
          {"SynthesisService.QueryModel", {absl::StrCat("release_id: '$model' ", workload)}},
          {"OperationService.GetOperation", {"operation_id: '$operation'"}},
          {"OperationService.WaitOperation", {"operation_id: '$operation'"}},
          {"OperationService.WatchOperation", {"operation_id: '$operation'"}},
          {"OperationService.CancelOperation", {"operation_id: '$operation'"}},
          {"OperationService.ListOperations", {""}},
          {"OperationService.ListAllOperations", {""}},
          {"MetricsService.GetMetrics", {""}},
          {"OperationService.StopOperation", {"operation_id: '$operation' reason: 'night'"}},
          {"QueryService.ShareRelease", {"release_id: '$release' principal: 'dora'"}}};
}

}  // namespace

std::vector<Step> OwnerMakesDatasets(const std::string& grantee) {
  std::vector<Step> steps = {
      {"DatasetService.CreateDataset", {Create("census", SmallSchema())}},
      {"DatasetService.CreateDataset", {Create("draft", SmallSchema())}},
      {"DatasetService.CreateDataset", {Create("divided", SmallSchema(), kParts)}},
      {"DatasetService.CreateDataset", {Create("pupils", PupilSchema(PupilUnit::kPupil))}},
      {"DatasetService.ImportRecords", ImportOf("census", SmallCsv(80))},
      {"DatasetService.ImportRecords", ImportOf("draft", SmallCsv(3), kImportToUndo)},
      {"DatasetService.ImportRecords", ImportOf("pupils", PupilCsv(6, 8, 1))}};
  for (const char* dataset : {"census", "pupils"})
    steps.push_back(
        {"DatasetService.SealDataset", {absl::StrCat("request_id: '$NEW' dataset: '", dataset, "'")}});
  for (const char* dataset : {"census", "draft", "divided", "pupils"}) {
    steps.push_back(
        {"DatasetService.GrantAccess",
         {absl::StrCat("request_id: '$NEW' dataset: '", dataset, "' principal: '", grantee, "'")}});
  }
  return steps;
}

std::vector<Step> AnalystBegins() {
  return {{"QueryService.AnswerWorkload", {kQuestion}, {{"release", "header.release_id"}}},
          {"SynthesisService.CreateSynthesis",
           {absl::StrCat("request_id: '$NEW' dataset: 'census' ", kSynthesis)},
           {{"operation", "id"}}},
          {"OperationService.WaitOperation",
           {"operation_id: '$operation' timeout { seconds: 120 }"},
           {{"model", "release_id"}}}};
}

std::vector<Step> ServiceBegins() {
  return {{"AccountantService.ReserveBudget", {kReservation}, {{"charge", "id"}}},
          {"AccountantService.ReserveBudget", {kReservation}, {{"other", "id"}}},
          {"BudgetService.RequestLimitChange",
           {"request_id: '$NEW' dataset: 'census' epsilon: '20' reason: 'more'"},
           {{"wish", "id"}}},
          {"BudgetService.RequestLimitChange",
           {"request_id: '$NEW' dataset: 'census' epsilon: '25' reason: 'more'"},
           {{"ask", "id"}}}};
}

std::vector<Step> OwnerProposes() {
  return {{"BudgetService.ProposeLimitChange",
           {"request_id: '$NEW' dataset: 'census' epsilon: '8' reason: 'less'"},
           {{"proposal", "id"}}}};
}

std::vector<Step> AllSteps() {
  std::vector<Step> steps = CallsOnDatasets();
  for (const std::vector<Step>& more : {CallsOnBudgets(), CallsOnReleases()})
    steps.insert(steps.end(), more.begin(), more.end());
  return steps;
}

}  // namespace curator::testing
