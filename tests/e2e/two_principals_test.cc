// Two principals on one server: nothing that one of them does changes any byte that the other sees.
//
// Bob makes one list of calls, which contains every call of the API, in two worlds: Alice is quiet in the
// first and busy in the second, where she also holds the same records as Bob. The texts of all that Bob sees
// are equal, up to the rule of tests/testing/scripted_calls.h: ids, times, and the values of draws; on the
// dataset that both may question also budgets and the length of its history. Names of datasets are public,
// so Alice takes the same ones in both worlds.
#include <gmock/gmock.h>
#include <google/protobuf/text_format.h>
#include <gtest/gtest.h>

#include <chrono>
#include <functional>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "base/testing/names.h"
#include "client/request_id.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "tests/testing/nested_table.h"
#include "tests/testing/scripted_calls.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsSupersetOf;

// ---- What Alice does

void ImportInto(const Client& owner, const std::string& dataset, const std::string& csv) {
  v1::ImportRecordsRequest::Header header;
  header.set_dataset(dataset);
  std::istringstream bytes(csv);
  EXPECT_TRUE(owner.ImportRecords(header, bytes).ok());
}

void OpenAccountOf(const Client& owner, const std::string& dataset, const std::string& analyst) {
  v1::CreateAccountRequest account;
  account.set_dataset(dataset);
  account.set_analyst(analyst);
  account.mutable_limit()->set_rule(v1::RULE_PURE);
  account.mutable_limit()->set_epsilon("1");
  EXPECT_TRUE(owner.CreateAccount(account).ok());
}

v1::AnswerWorkloadRequest Question(const std::string& dataset, const std::string& epsilon) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset(dataset);
  *request.mutable_workload() = AllMarginals(1);
  request.mutable_spend()->set_epsilon(epsilon);
  return request;
}

// Ids of what Alice made, or of nothing.
struct IdsOfAlice {
  std::string release = *client::NewRequestId();
  std::string operation = *client::NewRequestId();
  std::string reservation = *client::NewRequestId();
};

// A dataset that Bob may see, with a budget that no charge uses.
void MakeGranted(const Client& alice) {
  MakeSealed(alice, NewDataset("granted", v1::RULE_PURE, "1"), SmallCsv(9));
  Grant(alice, "granted", "bob");
}

class Quiet {
 public:
  // Before Bob has anything, and when Bob's datasets are sealed.
  static void Begin(const Client& alice) {
    MakeSealed(alice, NewDataset("alices", v1::RULE_PURE, "1"), SmallCsv(7));
    MakeGranted(alice);
  }
  static IdsOfAlice GoOn(const Client&) { return {}; }
};

class Busy {
 public:
  static void Begin(const Client& alice) {
    ASSERT_TRUE(alice.CreateDataset(NewDataset("alices", v1::RULE_PURE, "1")).ok());
    ImportInto(alice, "alices", "sex,age,region\nnone,1000,77\n,,\n");
    ImportInto(alice, "alices", SmallCsv(80));  // Bob's records
    v1::SealDatasetRequest seal;
    seal.set_dataset("alices");
    ASSERT_TRUE(alice.SealDataset(seal).ok());
    EXPECT_FALSE(alice.SealDataset({}).ok());
    Grant(alice, "alices", "eve");
    OpenAccountOf(alice, "alices", "eve");
    MakeGranted(alice);
    EXPECT_TRUE(alice.AnswerWorkload(Question("alices", "0.1")).ok());
  }

  static IdsOfAlice GoOn(const Client& alice) {
    v1::CreateDatasetRequest successor = NewDataset("successor", v1::RULE_PURE, "1");
    successor.clear_limit();
    successor.set_successor_of("granted");
    EXPECT_TRUE(alice.CreateDataset(successor).ok());
    IdsOfAlice ids;
    ids.release = alice.AnswerWorkload(Question("alices", "0.2"))->header.release_id();
    EXPECT_FALSE(alice.AnswerWorkload(Question("alices", "5")).ok()) << "more than is left";
    EXPECT_FALSE(alice.AnswerWorkload(Question("bobs", "0.1")).ok()) << "not hers";
    EXPECT_TRUE(alice.AnswerWorkload(Question("shared", "3")).ok());
    v1::ShareReleaseRequest share;
    share.set_release_id(ids.release);
    share.set_principal("eve");
    EXPECT_TRUE(alice.ShareRelease(share).ok());
    v1::ReserveBudgetRequest reserve;
    reserve.set_dataset("shared");
    reserve.mutable_event()->mutable_pure()->set_epsilon("2");
    ids.reservation = alice.ReserveBudget(reserve)->id();
    v1::ProposeLimitChangeRequest propose;
    propose.set_dataset("alices");
    propose.set_epsilon("2");
    propose.set_reason("more");
    EXPECT_TRUE(alice.ProposeLimitChange(propose).ok());
    v1::RequestLimitChangeRequest wish;
    wish.set_dataset("shared");
    wish.set_epsilon("130");
    wish.set_reason("more than Bob asks for");
    EXPECT_TRUE(alice.RequestLimitChange(wish).ok());
    v1::CreateSynthesisRequest synthesis;
    synthesis.set_dataset("alices");
    synthesis.mutable_spec()->set_method("mwem");
    synthesis.mutable_spec()->mutable_spend()->set_epsilon("0.3");
    ids.operation = alice.CreateSynthesis(synthesis)->id();
    EXPECT_EQ(alice.WaitOperation(ids.operation, std::chrono::minutes(2))->state(), v1::Operation::DONE);
    return ids;
  }
};

// ---- What Bob asks

std::string SchemaText(const v1::Schema& schema) {
  std::string text;
  google::protobuf::TextFormat::PrintToString(schema, &text);
  return text;
}

std::string Csv(const std::string& bytes) {
  return absl::StrCat("csv: \"", absl::CEscape(bytes), "\"");
}

Step Create(const std::string& name, const v1::Schema& schema, const std::string& more) {
  return {"DatasetService.CreateDataset",
          {absl::StrCat("request_id: '$NEW' name: '", name, "' schema { ", SchemaText(schema), " } ", more)}};
}

Step Import(const std::string& dataset, const std::string& part, const std::string& csv,
            const std::string& request_id = "$NEW") {
  return {
      "DatasetService.ImportRecords",
      {absl::StrCat("header { request_id: '", request_id, "' dataset: '", dataset, "' part: '", part, "' }"),
       Csv(csv), absl::StrCat("csv_bytes: ", csv.size())}};
}

Step Undo(const std::string& dataset, const std::string& request_id) {
  return {
      "DatasetService.UndoImport",
      {absl::StrCat("request_id: '$NEW' dataset: '", dataset, "' import_request_id: '", request_id, "'")}};
}

constexpr char kMistake[] = "2f0b4c1e-5b0d-4a53-9c36-7a3a4a7f6e01";  // an import, of Bob's

Step Seal(const std::string& dataset, const std::string& part = "") {
  return {"DatasetService.SealDataset",
          {absl::StrCat("request_id: '$NEW' dataset: '", dataset, "' part: '", part, "'")}};
}

// Bob makes datasets of his own, one of each kind.
std::vector<Step> BobBegins() {
  return {
      {"VersionService.GetVersion", {""}},
      {"IdentityService.WhoAmI", {""}},
      {"BudgetService.GetReceiptKey", {""}},
      {"SynthesisService.ListSynthesizers", {""}},
      {"DatasetService.ListDatasets", {""}},
      {"DatasetService.CheckSchema",
       {absl::StrCat("schema { ", SchemaText(SmallSchema()), " }"),
        Csv("sex,age,region\nMale,3,1\n?,3,9\n")}},
      Create("bobs", SmallSchema(), "limit { rule: RULE_ZCDP epsilon: '9' delta: '1e-9' }"),
      Create("bobs", SmallSchema(), "limit { rule: RULE_ZCDP epsilon: '9' delta: '1e-9' }"),
      Create("alices", SmallSchema(), "limit { rule: RULE_PURE epsilon: '1' }"),
      Import("bobs", "", "sex,age,region\nnone,3,1\n"),
      Import("bobs", "", "sex,age,region\nMale,3,1\n", kMistake),
      Undo("bobs", kMistake),
      Undo("alices", kMistake),
      {"DatasetService.ListImports", {"dataset: 'bobs'"}},
      {"DatasetService.ListImports", {"dataset: 'alices'"}},
      {"DatasetService.DeleteDataset", {"request_id: '$NEW' dataset: 'alices'"}},
      Create("mistake", SmallSchema(), "limit { rule: RULE_PURE epsilon: '1' }"),
      {"DatasetService.DeleteDataset", {"request_id: '$NEW' dataset: 'mistake' validate_only: true"}},
      Import("bobs", "", SmallCsv(80)),
      Seal("bobs"),
      Seal("bobs"),
      Create("divided", SmallSchema(),
             "limit { rule: RULE_PURE epsilon: '2' } partition { attribute: 'region' "
             "parts { name: 'north' labels: '0..1' } parts { name: 'south' labels: '2' } }"),
      {"DatasetService.AddPart", {"request_id: '$NEW' dataset: 'divided' part { name: 'west' labels: '3' }"}},
      Import("divided", "north", SmallCsv(30)),
      Seal("divided", "north"),
      Seal("divided", "west"),
      {"DatasetService.SealDataset",
       {"request_id: '$NEW' dataset: 'divided' part: 'west' accept_no_records: true"}},
      Create("pupils", PupilSchema(PupilUnit::kPupil),
             "limit { rule: RULE_ZCDP epsilon: '9' delta: '1e-9' }"),
      Import("pupils", "", PupilCsv(6, 8, 1)),
      Seal("pupils"),
      {"DatasetService.GrantAccess", {"request_id: '$NEW' dataset: 'bobs' principal: 'dora'"}},
      {"DatasetService.GrantAccess", {"request_id: '$NEW' dataset: 'bobs' principal: 'bob' roles: SERVICE"}},
      {"DatasetService.GrantAccess", {"request_id: '$NEW' dataset: 'alices' principal: 'dora'"}},
      {"DatasetService.GrantAccess", {"request_id: '$NEW' dataset: 'divided' principal: 'dora'"}},
      {"DatasetService.RevokeAccess", {"request_id: '$NEW' dataset: 'divided' principal: 'dora'"}},
      {"DatasetService.RevokeAccess", {"request_id: '$NEW' dataset: 'alices' principal: 'eve'"}},
      {"DatasetService.ListGrants", {"dataset: 'divided'"}},
      {"DatasetService.ListGrants", {"dataset: 'alices'"}},
      {"DatasetService.AddRefusalRule",
       {"request_id: '$NEW' dataset: 'divided' rule { name: 'night' principals: 'dora' attributes: 'age' }"}},
      {"DatasetService.AddRefusalRule", {"request_id: '$NEW' dataset: 'alices' rule { name: 'night' }"}},
      {"DatasetService.ListRefusalRules", {"dataset: 'divided'"}},
      {"DatasetService.ListRefusalRules", {"dataset: 'alices'"}},
      {"DatasetService.ListRefusalRules", {"dataset: 'granted'"}},
      {"DatasetService.RemoveRefusalRule", {"request_id: '$NEW' dataset: 'divided' name: 'night'"}},
      {"DatasetService.RemoveRefusalRule", {"request_id: '$NEW' dataset: 'alices' name: 'night'"}}};
}

std::vector<Step> BobLists(const std::string& dataset, bool is_shared) {
  const std::string only = absl::StrCat("dataset: '", dataset, "'");
  std::vector<Step> steps = {
      {"DatasetService.GetDataset", {only}},
      {"BudgetService.GetBudget", {only + " with_comparison: true"}},
      // One point: how many seconds a run takes differs.
      {"BudgetService.GetBurnDown", {only + " points: 1"}},
      {"BudgetService.ListAccounts", {only}},
      {"BudgetService.ListLimitProposals", {only}},
      {"BudgetService.ListLedgerEntries", {only}},
      {"BudgetService.ListChainLinks", {only}},
      {"BudgetService.VerifyLedger", {only}},
      {"QueryService.ListReleases", {only}},
      {"QueryService.TranslateSql", {absl::StrCat(only, " sql: 'SELECT COUNT(*) FROM \"", dataset, "\"'")}},
      {"QueryService.EstimateWorkload",
       {only + " workload { query_sets { marginals { all_k_way { k: 2 } } } } "
               "spend { epsilon: '0.1' }"}},
      {"SynthesisService.EstimateSynthesis", {only + " spec { method: 'mwem' spend { epsilon: '0.1' } }"}},
      {"AccountantService.EstimateCost", {only + " event { pure { epsilon: '0.1' } }"}},
      {"BudgetService.ProposeRepair", {only + " reason: 'none'"}},
      {"BudgetService.ApproveRepair", {only + " request_id: '$NEW' proposal { statement: '{}' }"}},
      {"DatasetService.PublishDataset", {only + " request_id: '$NEW' validate_only: true"}},
      {"OwnerService.RowCounts", {only + " request_id: '$NEW'"}}};
  for (Step& step : steps) step.is_shared = is_shared;
  return steps;
}

std::vector<Step> BobAsks(const std::string& dataset, bool is_shared) {
  const std::string question = absl::StrCat("request_id: '$NEW' dataset: '", dataset,
                                            "' workload { query_sets { marginals { all_k_way { k: 1 } } } }");
  std::vector<Step> steps = {
      {"QueryService.AnswerWorkload",
       {question + " spend { epsilon: '0.1' }"},
       {{"release", "header.release_id"}}},
      {"QueryService.AnswerWorkload", {question + " spend { epsilon: '900' }"}},
      {"QueryService.AnswerWorkload", {question + " prefer_free: true"}},
      {"QueryService.GetRelease", {"release_id: '$release'"}},
      {"AccountantService.ReserveBudget",
       {absl::StrCat("request_id: '$NEW' dataset: '", dataset, "' event { pure { epsilon: '0.1' } }")},
       {{"charge", "id"}}},
      {"AccountantService.StartCharge", {"charge_id: '$charge'"}},
      {"AccountantService.CommitBudget", {"charge_id: '$charge'"}},
      {"AccountantService.GetCharge", {"charge_id: '$charge'"}},
      {"AccountantService.BatchReserveBudget",
       {absl::StrCat("requests { request_id: '$NEW' dataset: '", dataset,
                     "' event { pure { epsilon: '0.1' } } summary: 'two' }")},
       {{"batch", "charges.id"}}},
      {"AccountantService.ExtendReservation", {"charge_id: '$batch' lifetime { seconds: 7200 }"}},
      {"AccountantService.CancelReservation", {"charge_id: '$batch' reason: 'not needed'"}},
      {"AccountantService.CommitBudget", {"charge_id: '$batch'"}}};
  for (Step& step : steps) step.is_shared = is_shared;
  return steps;
}

std::vector<Step> BobSynthesizes() {
  return {{"SynthesisService.CreateSynthesis",
           {"request_id: '$NEW' dataset: 'bobs' spec { method: 'mwem' spend { epsilon: '0.3' } }"},
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
          {"SynthesisService.QueryModel",
           {"release_id: '$model' workload { query_sets { marginals { all_k_way { k: 1 } } } }"}},
          {"QueryService.GetRelease", {"release_id: '$model'"}},
          {"QueryService.ShareRelease", {"release_id: '$model' principal: 'dora'"}},
          {"OwnerService.Evaluate", {"request_id: '$NEW' dataset: 'bobs' release_id: '$model'"}},
          {"OwnerService.RiskReport", {"request_id: '$NEW' dataset: 'pupils'"}}};
}

// Calls about what is Alice's, and about nothing.
std::vector<Step> BobTries() {
  std::vector<Step> steps = BobLists("alices", false);
  for (const Step& step : BobAsks("alices", false)) {
    if (step.requests.front().find("'alices'") != std::string::npos) steps.push_back(step);
  }
  for (const char* thing : {"$alices_release", "$alices_operation", "$alices_reservation"}) {
    steps.push_back({"QueryService.GetRelease", {absl::StrCat("release_id: '", thing, "'")}});
    steps.push_back({"OperationService.GetOperation", {absl::StrCat("operation_id: '", thing, "'")}});
    steps.push_back({"OperationService.CancelOperation", {absl::StrCat("operation_id: '", thing, "'")}});
    steps.push_back({"AccountantService.GetCharge", {absl::StrCat("charge_id: '", thing, "'")}});
    steps.push_back({"AccountantService.CommitBudget", {absl::StrCat("charge_id: '", thing, "'")}});
    steps.push_back({"SynthesisService.SampleModel", {absl::StrCat("release_id: '", thing, "'")}});
  }
  return steps;
}

std::vector<Step> BobGoesOn() {
  std::vector<Step> steps = BobAsks("bobs", false);
  const auto add = [&](const std::vector<Step>& more) {
    steps.insert(steps.end(), more.begin(), more.end());
  };
  add(BobSynthesizes());
  add(BobAsks("shared", true));
  add({{"BudgetService.CreateAccount",
        {"request_id: '$NEW' dataset: 'bobs' analyst: 'dora' limit { rule: RULE_PURE epsilon: '1' }"}},
       {"BudgetService.ProposeLimitChange",
        {"request_id: '$NEW' dataset: 'bobs' epsilon: '8' reason: 'less'"},
        {{"proposal", "id"}}},
       {"BudgetService.ApproveLimitChange", {"request_id: '$NEW' dataset: 'bobs' proposal_id: '$proposal'"}},
       {"BudgetService.ListLimitProposals", {"dataset: 'shared'"}, {{"carols", "proposals.id"}}, true},
       {"BudgetService.ApproveLimitChange",
        {"request_id: '$NEW' dataset: 'shared' proposal_id: '$carols'"},
        {},
        true},
       {"BudgetService.RequestLimitChange",
        {"request_id: '$NEW' dataset: 'shared' epsilon: '120' reason: 'more'"},
        {{"wish", "id"}}},
       {"BudgetService.ListLimitProposals", {"dataset: 'shared'"}},
       {"BudgetService.WithdrawLimitChange", {"request_id: '$NEW' dataset: 'shared' proposal_id: '$wish'"}},
       {"BudgetService.ListInbox", {""}},
       {"BudgetService.WatchLedger", {"dataset: 'bobs'"}},
       {"BudgetService.WatchLedger", {"positions { dataset: 'bobs' } positions { dataset: 'shared' }"}},
       {"BudgetService.WatchLedger", {"positions { dataset: 'alices' } positions { dataset: 'bobs' }"}},
       {"BudgetService.ListLedgerEntries", {"dataset: 'bobs' newest: 5"}},
       {"BudgetService.ListRefusals", {"dataset: 'divided'"}},
       {"BudgetService.ListLimitProposals", {"dataset: 'judged'"}, {{"judged", "proposals.id"}}},
       {"BudgetService.RejectLimitChange",
        {"request_id: '$NEW' dataset: 'judged' proposal_id: '$rejected' reason: 'no'"}},
       {"BudgetService.ApproveLimitChange", {"request_id: '$NEW' dataset: 'judged' proposal_id: '$judged'"}},
       {"BudgetService.ApproveRepair",
        {"request_id: '$NEW' dataset: 'judged' "
         "proposal { statement: '$statement' signature: '$signature' }"}},
       {"DatasetService.PublishDataset", {"request_id: '$NEW' dataset: 'open'"}}});
  add(BobTries());
  add(BobLists("bobs", false));
  add(BobLists("divided", false));
  add(BobLists("granted", false));
  add(BobLists("shared", true));
  add({{"DatasetService.ArchiveDataset", {"request_id: '$NEW' dataset: 'divided'"}},
       {"DatasetService.ListDatasets", {""}}});
  return steps;
}

// ---- The worlds

// What Carol leaves for Bob to decide.
struct Waiting {
  std::string id_to_reject;
  v1::RepairProposal repair;
};

// "shared" belongs to Carol, who lets both ask; so do "judged" and the public "open", of which Bob is the
// approver. She has proposed other limits of both, of "judged" two, and a repair of "judged".
void MakeShared(const Client& carol, Waiting& waiting) {
  MakeSealed(carol, NewDataset("shared", v1::RULE_PURE, "100"), SmallCsv(50));
  for (const char* const analyst : {"alice", "bob"})
    Grant(carol, "shared", analyst, {v1::ANALYST, v1::SERVICE});
  MakeSealed(carol, NewDataset("judged", v1::RULE_PURE, "100"), SmallCsv(50));
  Grant(carol, "judged", "bob", {v1::GRANTED_APPROVER});
  v1::ProposeLimitChangeRequest propose;
  propose.set_epsilon("90");
  propose.set_reason("less");
  for (const char* const dataset : {"shared", "judged"}) {
    propose.set_dataset(dataset);
    const auto proposed = carol.ProposeLimitChange(propose);
    ASSERT_TRUE(proposed.ok()) << proposed.status();
    waiting.id_to_reject = proposed->id();
  }
  propose.set_epsilon("80");
  ASSERT_TRUE(carol.ProposeLimitChange(propose).ok());
  v1::ProposeRepairRequest repair;
  repair.set_dataset("judged");
  repair.set_reason("none");
  const absl::StatusOr<v1::ProposeRepairResponse> proposed = carol.ProposeRepair(repair);
  ASSERT_TRUE(proposed.ok()) << proposed.status();
  waiting.repair = proposed->proposal();
  v1::CreateDatasetRequest open = NewDataset("open", v1::RULE_PURE, "1");
  open.clear_limit();
  open.set_public_(true);
  MakeSealed(carol, open, SmallCsv(30));
  Grant(carol, "open", "bob", {v1::GRANTED_APPROVER});
}

// What Bob saw.
template <typename Alice>
ScriptedCalls BobBeside(
    const TestServer& server, const std::function<void()>& between = [] {}) {
  Waiting waiting;
  MakeShared(server.ClientFor("carol"), waiting);
  const Client alice = server.ClientFor("alice");
  Alice::Begin(alice);
  ScriptedCalls bob(server.address(), "bob");
  bob.Run(BobBegins());
  const IdsOfAlice ids = Alice::GoOn(alice);
  bob.Know("rejected", waiting.id_to_reject);
  bob.Know("statement", absl::CEscape(waiting.repair.statement()));
  bob.Know("signature", absl::CEscape(waiting.repair.signature()));
  bob.Know("alices_release", ids.release);
  bob.Know("alices_operation", ids.operation);
  bob.Know("alices_reservation", ids.reservation);
  between();
  bob.Run(BobGoesOn());
  return bob;
}

class TwoPrincipals : public ::testing::TestWithParam<Backend> {};

INSTANTIATE_TEST_SUITE_P(Ledgers, TwoPrincipals, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(TwoPrincipals, NothingThatAliceDoesChangesWhatBobSees) {
  const TestServer first(GetParam());
  const TestServer second(GetParam());
  const std::vector<std::string> beside_quiet = BobBeside<Quiet>(first).Seen();
  const std::vector<std::string> beside_busy = BobBeside<Busy>(second).Seen();
  ASSERT_EQ(beside_quiet.size(), beside_busy.size());
  for (size_t i = 0; i < beside_quiet.size(); ++i) EXPECT_EQ(beside_busy[i], beside_quiet[i]) << "step " << i;
}

TEST_P(TwoPrincipals, TheListContainsEveryCallAndEachOfThemSucceedsOnce) {
  const TestServer server(GetParam());
  const ScriptedCalls bob = BobBeside<Busy>(server);
  for (const std::string& call : AllCalls()) {
    const auto codes = bob.codes().find(call);
    if (codes == bob.codes().end()) {
      ADD_FAILURE() << call << " is missing: add it to the steps of Bob";
    } else {
      EXPECT_TRUE(codes->second.contains(0))
          << call << " never succeeds: nothing of its response is compared";
    }
  }
}

// A server that writes the name of a dataset with the same records into Bob's history, as Curator once did.
TEST(TwoPrincipalsCanary, ANoteOfEqualContentInTheHistoryIsCaught) {
  const TestServer first(Backend::kSqlite);
  const TestServer second(Backend::kSqlite);
  const std::vector<std::string> sound = BobBeside<Quiet>(first).Seen();
  const std::vector<std::string> leaking =
      BobBeside<Busy>(second, [&] {
        const auto ledger = ledger::OpenLedger({.url = second.options().ledger,
                                                .anchor_dir = second.options().data_directory + "/anchor",
                                                .entropy = host::RandomBytes});
        ASSERT_TRUE(ledger.ok()) << ledger.status();
        const std::string id = (*ledger)->GetDataset("bobs")->id;
        ASSERT_TRUE((*ledger)->RecordOwnerAction(id, "equal to alices", TestPrincipal("bob")).ok());
      }).Seen();
  ASSERT_EQ(leaking.size(), sound.size());
  std::set<std::string> different;
  for (size_t i = 0; i < sound.size(); ++i) {
    if (leaking[i] == sound[i]) continue;
    different.insert(sound[i].substr(0, sound[i].find(' ')));
    EXPECT_THAT(sound[i], HasSubstr("bobs"));
  }
  EXPECT_THAT(different, IsSupersetOf({"BudgetService.ListChainLinks", "BudgetService.ListLedgerEntries",
                                       "BudgetService.VerifyLedger"}));
}

}  // namespace
}  // namespace curator::testing
