// Two tables with the same public facts and different records, also in their number: before a charge, or
// without one, a grantee sees the same.
//
// Ana makes one list of calls, which contains every call of the API, on servers that hold the one and the
// other tables: no status, price, refusal, admission, listing or byte differs, up to the rule of
// tests/testing/scripted_calls.h: ids, times, and the values of draws that were charged. Calls that are for
// owners alone are exempt, because what an owner sees of their own records is not protected from them; Ana
// is refused each of them, in the same words.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "tests/testing/nested_table.h"
#include "tests/testing/scripted_calls.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::Each;

// ---- The owner's tables

struct Tables {
  v1::Schema people = SmallSchema();
  std::string census;  // of people, also with rows that are rejected
  std::string north;   // a part of "visits"
  std::string pupils;
};

Tables Full() {
  return {.census = SmallCsv(800), .north = SmallCsv(30), .pupils = PupilCsv(12, 9, 1)};
}

// Of other sizes, down to none.
Tables Sparse() {
  return {.census = "sex,age,region\nMale,99,3\nnone,1,1\nMale,98,3\n",
          .north = "sex,age,region\n",
          .pupils = PupilCsv(3, 2, 2)};
}

void Fill(const Client& owner, const std::string& dataset, const std::string& part, const std::string& csv) {
  v1::ImportRecordsRequest::Header header;
  header.set_dataset(dataset);
  header.set_part(part);
  std::istringstream bytes(csv);
  ASSERT_TRUE(owner.ImportRecords(header, bytes).ok());
  v1::SealDatasetRequest seal;
  seal.set_dataset(dataset);
  seal.set_part(part);
  seal.set_accept_no_records(true);
  ASSERT_TRUE(owner.SealDataset(seal).ok());
}

// The owner looks at the records first; what they do afterwards does not depend on them here.
void MakeTables(const Client& owner, const Tables& tables) {
  v1::CreateDatasetRequest census = NewDataset("census", v1::RULE_ZCDP, "9", "1e-9");
  *census.mutable_schema() = tables.people;
  ASSERT_TRUE(owner.CreateDataset(census).ok());
  Fill(owner, "census", "", tables.census);
  v1::CreateDatasetRequest visits = NewDataset("visits", v1::RULE_PURE, "2");
  visits.mutable_partition()->set_attribute("region");
  for (const char* part : {"north", "south"}) {
    v1::Part* added = visits.mutable_partition()->add_parts();
    added->set_name(part);
    added->add_labels(part == std::string("north") ? "0..1" : "2..3");
  }
  ASSERT_TRUE(owner.CreateDataset(visits).ok());
  Fill(owner, "visits", "north", tables.north);
  ASSERT_TRUE(owner.CreateDataset(PupilDataset(PupilUnit::kPupil, "9")).ok());
  Fill(owner, "pupils", "", tables.pupils);
  ASSERT_TRUE(owner.CreateDataset(NewDataset("empty", v1::RULE_PURE, "1")).ok());
  for (const char* dataset : {"census", "visits", "pupils", "empty"})
    Grant(owner, dataset, "ana", {v1::ANALYST, v1::SERVICE});
  v1::ProposeLimitChangeRequest propose;
  propose.set_dataset("census");
  propose.set_epsilon("8");
  propose.set_reason("less");
  ASSERT_TRUE(owner.ProposeLimitChange(propose).ok());
}

// ---- What Ana asks

std::string SchemaText() {
  std::string text;
  google::protobuf::TextFormat::PrintToString(SmallSchema(), &text);
  return absl::StrCat("schema { ", text, " }");
}

std::string On(const std::string& dataset, const std::string& more = "") {
  return absl::StrCat("dataset: '", dataset, "' ", more);
}

std::string Request(const std::string& dataset, const std::string& more = "") {
  return absl::StrCat("request_id: '$NEW' ", On(dataset, more));
}

constexpr char kMarginals[] = "workload { query_sets { marginals { all_k_way { k: 1 } } } } ";
constexpr char kRanges[] = "workload { query_sets { ranges { attributes: 'age' } } } ";

// Everything that is listed and priced about a dataset, without a charge.
std::vector<Step> Listed(const std::string& dataset) {
  return {
      {"DatasetService.GetDataset", {On(dataset)}},
      {"BudgetService.GetBudget", {On(dataset, "with_comparison: true")}},
      // One point: how many seconds a run takes differs.
      {"BudgetService.GetBurnDown", {On(dataset, "points: 1")}},
      {"BudgetService.ListAccounts", {On(dataset)}},
      {"BudgetService.ListLimitProposals", {On(dataset)}},
      {"BudgetService.ListChainLinks", {On(dataset)}},
      {"BudgetService.VerifyLedger", {On(dataset)}},
      {"QueryService.ListReleases", {On(dataset)}},
      {"QueryService.TranslateSql",
       {On(dataset, absl::StrCat("sql: 'SELECT COUNT(*) FROM \"", dataset, "\"'"))}},
      {"QueryService.EstimateWorkload", {On(dataset, absl::StrCat(kMarginals, "spend { epsilon: '0.1' }"))}},
      {"QueryService.EstimateWorkload", {On(dataset, absl::StrCat(kRanges, "target { max_error: 9 }"))}},
      {"QueryService.EstimateWorkload", {On(dataset, kMarginals)}},
      {"SynthesisService.EstimateSynthesis",
       {On(dataset, "spec { method: 'mwem' spend { epsilon: '0.1' } }")}},
      {"SynthesisService.EstimateSynthesis",
       {On(dataset, "spec { method: 'rap' spend { epsilon: '0.1' } }")}},
      {"SynthesisService.EstimateSynthesis",
       {On(dataset, "spec { method: 'dpsyn' spend { epsilon: '0.1' } }")}},
      {"SynthesisService.EstimateSynthesis", {On(dataset, "spec { method: 'nested' spend { rho: '0.1' } }")}},
      {"AccountantService.EstimateCost", {On(dataset, "event { pure { epsilon: '0.1' } }")}},
      // Checked in full, and refused, without a charge.
      {"QueryService.AnswerWorkload",
       {Request(dataset, absl::StrCat(kMarginals, "spend { epsilon: '0.1' } validate_only: true"))}},
      {"QueryService.AnswerWorkload",
       {Request(dataset, absl::StrCat(kMarginals, "spend { epsilon: '900' }"))}},
      {"QueryService.AnswerWorkload", {Request(dataset, absl::StrCat(kRanges, "spend { epsilon: 'x' }"))}},
      {"SynthesisService.CreateSynthesis",
       {Request(dataset, "spec { method: 'mwem' spend { epsilon: '900' } }")}},
      {"SynthesisService.CreateSynthesis",
       {Request(dataset, "spec { method: 'prior' spend { epsilon: '0.1' } }")}}};
}

std::vector<Step> ForOwnersAlone(const std::string& dataset) {
  return {{"DatasetService.AddPart", {Request(dataset, "part { name: 'more' labels: '3' }")}},
          {"DatasetService.ImportRecords",
           {absl::StrCat("header { ", Request(dataset), " }"), "csv: 'sex,age,region\\n'", "csv_bytes: 15"}},
          {"DatasetService.SealDataset", {Request(dataset)}},
          {"DatasetService.UndoImport",
           {Request(dataset, "import_request_id: '00000000-0000-4000-8000-000000000026'")}},
          {"DatasetService.ListImports", {On(dataset)}},
          {"DatasetService.DeleteDataset", {Request(dataset)}},
          {"DatasetService.GrantAccess", {Request(dataset, "principal: 'eve'")}},
          {"DatasetService.RevokeAccess", {Request(dataset, "principal: 'ana'")}},
          {"DatasetService.ListGrants", {On(dataset)}},
          {"DatasetService.AddRefusalRule", {Request(dataset, "rule { name: 'night' attributes: 'age' }")}},
          {"DatasetService.RemoveRefusalRule", {Request(dataset, "name: 'night'")}},
          {"DatasetService.ListRefusalRules", {On(dataset)}},
          {"DatasetService.ArchiveDataset", {Request(dataset)}},
          {"BudgetService.CreateAccount",
           {Request(dataset, "analyst: 'eve' limit { rule: RULE_PURE epsilon: '1' }")}},
          {"BudgetService.ProposeLimitChange", {Request(dataset, "epsilon: '20' reason: 'more'")}},
          {"BudgetService.ListLedgerEntries", {On(dataset)}},
          {"BudgetService.ProposeRepair", {On(dataset, "reason: 'none'")}},
          {"BudgetService.ApproveRepair", {Request(dataset, "proposal { statement: '{}' }")}},
          {"DatasetService.PublishDataset", {Request(dataset, "validate_only: true")}},
          {"OwnerService.Evaluate", {Request(dataset, "release_id: '$model'")}},
          {"OwnerService.RowCounts", {Request(dataset)}},
          {"OwnerService.RiskReport", {Request(dataset)}}};
}

std::vector<Step> Accounted(const std::string& dataset) {
  return {{"AccountantService.ReserveBudget",
           {Request(dataset, "event { pure { epsilon: '0.1' } }")},
           {{"charge", "id"}}},
          {"AccountantService.StartCharge", {"charge_id: '$charge'"}},
          {"AccountantService.CommitBudget", {"charge_id: '$charge'"}},
          {"AccountantService.GetCharge", {"charge_id: '$charge'"}},
          {"AccountantService.BatchReserveBudget",
           {absl::StrCat("requests { ", Request(dataset, "event { pure { epsilon: '0.1' } }"), " }")},
           {{"batch", "charges.id"}}},
          {"AccountantService.ExtendReservation", {"charge_id: '$batch' lifetime { seconds: 7200 }"}},
          {"AccountantService.CancelReservation", {"charge_id: '$batch'"}}};
}

// What is charged: its values are draws, all else is the same.
std::vector<Step> Charged() {
  return {{"QueryService.AnswerWorkload",
           {Request("census", absl::StrCat(kMarginals, "spend { epsilon: '0.1' }"))},
           {{"release", "header.release_id"}}},
          {"QueryService.AnswerWorkload", {Request("census", absl::StrCat(kMarginals, "prefer_free: true"))}},
          {"QueryService.AnswerWorkload",
           {Request("visits", absl::StrCat(kMarginals, "spend { epsilon: '0.1' }"))}},
          {"QueryService.GetRelease", {"release_id: '$release'"}},
          {"QueryService.ShareRelease", {"release_id: '$release' principal: 'bea'"}},
          {"SynthesisService.CreateSynthesis",
           {Request("census", "spec { method: 'mwem' spend { epsilon: '0.3' } }")},
           {{"operation", "id"}}},
          {"OperationService.WaitOperation",
           {"operation_id: '$operation' timeout { seconds: 120 }"},
           {{"model", "release_id"}}},
          {"OperationService.GetOperation", {"operation_id: '$operation'"}},
          {"OperationService.WatchOperation", {"operation_id: '$operation'"}},
          {"OperationService.CancelOperation", {"operation_id: '$operation'"}},
          {"OperationService.ListOperations", {""}},
          {"OperationService.ListAllOperations", {""}},
          {"MetricsService.GetMetrics", {""}},
          {"OperationService.StopOperation", {"operation_id: '$operation' reason: 'night'"}},
          {"SynthesisService.SampleModel", {"release_id: '$model' rows: 5"}},
          {"SynthesisService.QueryModel", {absl::StrCat("release_id: '$model' ", kMarginals)}},
          {"QueryService.GetRelease", {"release_id: '$model'"}}};
}

std::vector<Step> AnaAsks() {
  std::vector<Step> steps = {
      {"VersionService.GetVersion", {""}},
      {"IdentityService.WhoAmI", {""}},
      {"BudgetService.GetReceiptKey", {""}},
      {"SynthesisService.ListSynthesizers", {""}},
      {"DatasetService.ListDatasets", {""}},
      {"DatasetService.CheckSchema", {SchemaText()}},
      {"DatasetService.CreateDataset",
       {absl::StrCat("request_id: '$NEW' name: 'own' ", SchemaText(),
                     " limit { rule: RULE_PURE epsilon: '1' }")}},
      {"DatasetService.CreateDataset",
       {absl::StrCat("request_id: '$NEW' name: 'later' ", SchemaText(), " successor_of: 'census'")}},
      {"BudgetService.ListLimitProposals", {On("census")}, {{"proposal", "proposals.id"}}},
      {"BudgetService.ApproveLimitChange", {Request("census", "proposal_id: '$proposal'")}},
      {"BudgetService.RequestLimitChange",
       {Request("census", "epsilon: '40' reason: 'more'")},
       {{"wish", "id"}}},
      {"BudgetService.WithdrawLimitChange", {Request("census", "proposal_id: '$wish'")}},
      {"BudgetService.RejectLimitChange", {Request("census", "proposal_id: '$proposal' reason: 'no'")}},
      {"BudgetService.ListRefusals", {On("empty")}},
      {"BudgetService.ListInbox", {""}}};
  const auto add = [&](const std::vector<Step>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  for (const char* dataset : {"census", "visits", "pupils", "empty"}) add(Listed(dataset));
  add(Accounted("census"));
  add(Accounted("visits"));
  add(Charged());
  add({{"BudgetService.WatchLedger", {On("census")}},
       {"BudgetService.WatchLedger", {"positions { dataset: 'census' } positions { dataset: 'visits' }"}},
       {"BudgetService.ListLedgerEntries", {absl::StrCat(On("census"), " newest: 20")}}});
  for (const char* dataset : {"census", "visits", "pupils", "empty"}) {
    add(Listed(dataset));
    add(ForOwnersAlone(dataset));
  }
  return steps;
}

// What Ana saw beside these tables.
ScriptedCalls AnaBeside(const TestServer& server, const Tables& tables) {
  MakeTables(server.ClientFor("owner"), tables);
  ScriptedCalls ana(server.address(), "ana");
  ana.Run(AnaAsks());
  return ana;
}

class TwoTables : public ::testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Ledgers, TwoTables, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(TwoTables, OfTheSamePublicFactsAGranteeSeesTheSame) {
  const TestServer first(GetParam());
  const TestServer second(GetParam());
  const std::vector<std::string> beside_full = AnaBeside(first, Full()).Seen();
  const std::vector<std::string> beside_sparse = AnaBeside(second, Sparse()).Seen();
  ASSERT_EQ(beside_full.size(), beside_sparse.size());
  for (size_t i = 0; i < beside_full.size(); ++i) EXPECT_EQ(beside_sparse[i], beside_full[i]) << "step " << i;
}

TEST_P(TwoTables, TheListContainsEveryCallAndAGranteeIsRefusedThoseOfOwners) {
  const TestServer server(GetParam());
  const ScriptedCalls ana = AnaBeside(server, Full());
  std::set<std::string> for_others = CallsOf("owner");
  for (const char* const who : {"owner or auditor", "owner or approver", "approver"})
    for_others.merge(CallsOf(who));
  for (const std::string& call : AllCalls()) {
    const auto codes = ana.codes().find(call);
    if (codes == ana.codes().end()) {
      ADD_FAILURE() << call << " is missing: add it to the steps of Ana";
    } else if (for_others.contains(call)) {
      EXPECT_THAT(codes->second, Each(static_cast<int>(grpc::StatusCode::PERMISSION_DENIED))) << call;
    } else {
      EXPECT_TRUE(codes->second.contains(0))
          << call << " never succeeds: nothing of its response is compared";
    }
  }
}

// An owner, or a program, that takes the number of regions from the records.
TEST(TwoTablesCanary, ADomainLearnedFromTheRecordsIsCaught) {
  const TestServer first(Backend::kSqlite);
  const TestServer second(Backend::kSqlite);
  Tables learned = Full();
  learned.people.mutable_attributes(2)->mutable_coded()->set_size(5);
  const std::vector<std::string> sound = AnaBeside(first, Full()).Seen();
  const std::vector<std::string> leaking = AnaBeside(second, learned).Seen();
  ASSERT_EQ(leaking.size(), sound.size());
  std::set<std::string> calls;
  for (size_t i = 0; i < sound.size(); ++i) {
    if (leaking[i] != sound[i]) calls.insert(sound[i].substr(0, sound[i].find(' ')));
  }
  for (const char* call :
       {"DatasetService.GetDataset", "QueryService.EstimateWorkload", "QueryService.AnswerWorkload"})
    EXPECT_TRUE(calls.contains(call)) << call;
}

}  // namespace
}  // namespace curator::testing
