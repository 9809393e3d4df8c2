// What each command line sends to the server, and which lines are refused as wrong usage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "client/cli/testing/command_line.h"
#include "curator/v1/accountant.pb.h"
#include "curator/v1/audit.pb.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/metrics.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/owner.pb.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/synthesis.pb.h"
#include "curator/v1/version.pb.h"

namespace curator::cli {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::Pair;
using ::testing::UnorderedElementsAre;

constexpr char kId[] = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";
constexpr char kZoneSchema[] = R"({"attributes":[{"name":"zone","coded":{"size":7}}]})";

class Arguments : public ::testing::Test {
 protected:
  // A line of `dataset create NAME` with a schema file.
  std::string Create(const std::string& name, const std::string& more) const {
    return "dataset create " + name + " --schema " + command_line_.File("s.json", kZoneSchema) + " " + more;
  }
  template <typename Request>
  Request Sent(const std::string& line) {
    SCOPED_TRACE(line);
    return command_line_.Sent<Request>(line);
  }
  // Whether the line makes sense, whatever became of it.
  bool Accepted(const std::string& line) { return command_line_.Run(line) != ExitStatus::kUsage; }

  testing::CommandLine command_line_;
};

TEST_F(Arguments, GlobalOptionsWorkBeforeAndAfterTheCommand) {
  // The line's --server comes after the one that the test adds.
  const std::string server = "--server " + command_line_.server.address();
  const std::vector<std::string> lines = {"--as ana --output json budget show census",
                                          "budget show census --as ana --output json",
                                          "budget --as ana show --output json census"};
  for (const std::string& line : lines) {
    EXPECT_EQ(Sent<v1::GetBudgetRequest>(line).dataset(), "census");
    EXPECT_EQ(command_line_.server.last_principal(), "ana") << line;
    EXPECT_TRUE(nlohmann::json::accept(command_line_.out())) << line << ": " << command_line_.out();
  }
  for (const std::string& line :
       {server + " --as ana budget show census", "budget show census --as ana " + server,
        "budget " + server + " show census --as ana"}) {
    std::istringstream in;
    std::ostringstream out;
    std::ostringstream error;
    EXPECT_EQ(RunProgram(testing::Words(line), Terminal(), {in, out, error}), ExitStatus::kDone) << line;
  }
}

TEST_F(Arguments, AnOwnersQuestionNamesItsReleaseAndItsGroups) {
  const auto evaluate = Sent<v1::EvaluateRequest>(
      std::string("owner evaluate census --by PUMA,YEAR --pairs 20 --release ") + kId);
  EXPECT_EQ(evaluate.dataset(), "census");
  EXPECT_EQ(evaluate.release_id(), kId);
  EXPECT_THAT(evaluate.by(), ElementsAre("PUMA", "YEAR"));
  EXPECT_EQ(evaluate.pairs(), 20);
  EXPECT_EQ(Sent<v1::RowCountsRequest>("owner rows census").dataset(), "census");
  EXPECT_EQ(Sent<v1::RiskRequest>("owner risk pupils").grid(), v1::RiskRequest::GRID_AROUND_FIT);
  EXPECT_EQ(Sent<v1::RiskRequest>("owner risk pupils --grid bounds").grid(),
            v1::RiskRequest::GRID_WITHIN_BOUNDS);
  EXPECT_FALSE(Accepted("owner evaluate census"));
}

TEST_F(Arguments, GroupsOfAttributesAreOneSetting) {
  const auto sent = Sent<v1::CreateSynthesisRequest>(
      "synth run census --method prior --epsilon 1 --set prior=open --set region=STATE --set "
      "group=PUMA,YEAR");
  EXPECT_THAT(sent.spec().settings(), UnorderedElementsAre(Pair("group", "PUMA,YEAR"), Pair("prior", "open"),
                                                           Pair("region", "STATE")));
}

TEST_F(Arguments, PartsAreNamedByTheLabelsOfTheirBins) {
  const auto created = Sent<v1::CreateDatasetRequest>(
      Create("visits",
             "--rule pure --epsilon 3 --partition-by year --part early=2019..2021,2023 "
             "--part late=[2024,2030),2031"));
  EXPECT_EQ(created.partition().attribute(), "year");
  ASSERT_EQ(created.partition().parts_size(), 2);
  EXPECT_EQ(created.partition().parts(0).name(), "early");
  EXPECT_THAT(created.partition().parts(0).labels(), ElementsAre("2019..2021", "2023"));
  EXPECT_EQ(created.partition().parts(1).name(), "late");
  EXPECT_THAT(created.partition().parts(1).labels(), ElementsAre("[2024,2030)", "2031"))
      << "a comma inside an interval";

  const auto added = Sent<v1::AddPartRequest>("dataset add-part visits 2032=2032 --rule pure --epsilon 1");
  EXPECT_EQ(added.part().name(), "2032");
  EXPECT_EQ(added.limit().epsilon(), "1");
  const std::string csv = command_line_.File("f.csv", "zone\n1\n");
  EXPECT_EQ(command_line_.Run("dataset import visits " + csv + " --part early"), ExitStatus::kDone);
  EXPECT_EQ(command_line_.server.Received<v1::ImportRecordsRequest>().front().header().part(), "early");
  EXPECT_EQ(Sent<v1::SealDatasetRequest>("dataset seal visits --part early").part(), "early");
  EXPECT_THAT(
      Sent<v1::AnswerWorkloadRequest>("workload answer visits --marginals 1 --rho 1 --parts early,late")
          .parts(),
      ElementsAre("early", "late"));
  EXPECT_THAT(Sent<v1::CreateSynthesisRequest>("synth run visits --method mwem --epsilon 1 --parts late")
                  .spec()
                  .parts(),
              ElementsAre("late"));

  EXPECT_FALSE(Accepted(Create("v", "--rule pure --epsilon 3 --part early=1")));
  EXPECT_FALSE(Accepted(Create("v", "--rule pure --epsilon 3 --partition-by y --part early")));
  EXPECT_FALSE(Accepted("dataset add-part visits 2032"));
  EXPECT_FALSE(Accepted("dataset add-part visits 2032=2032 --epsilon 1")) << "a limit needs its rule";
  EXPECT_FALSE(Accepted("workload answer visits --marginals 1 --rho 1 --parts early,early"));
}

TEST_F(Arguments, CreateTakesTheWholePromise) {
  const auto created = Sent<v1::CreateDatasetRequest>(
      Create("census", "--rule zcdp --epsilon 3 --delta 1e-9 --neighbours replace-one"));
  EXPECT_EQ(created.name(), "census");
  EXPECT_EQ(created.schema().attributes(0).name(), "zone");
  EXPECT_EQ(created.limit().rule(), v1::RULE_ZCDP);
  EXPECT_EQ(created.limit().epsilon(), "3");
  EXPECT_EQ(created.limit().delta(), "1e-9");
  EXPECT_EQ(created.neighbours(), v1::NEIGHBOUR_RELATION_REPLACE_ONE);
  EXPECT_FALSE(created.public_());
}

TEST_F(Arguments, AddRemoveIsTheDefault) {
  EXPECT_EQ(Sent<v1::CreateDatasetRequest>(Create("c", "--rule pure --epsilon 1")).neighbours(),
            v1::NEIGHBOUR_RELATION_ADD_REMOVE);
}

TEST_F(Arguments, AnAccountIsAnAnalystsOrAGroupsWithMembers) {
  const std::string create = "account create census --rule pure --epsilon 1 ";
  EXPECT_EQ(Sent<v1::CreateAccountRequest>(create + "--analyst ana").analyst(), "ana");
  const auto group = Sent<v1::CreateAccountRequest>(create + "--group interns --members ana,bob").group();
  EXPECT_EQ(group.name(), "interns");
  EXPECT_THAT(group.members(), ElementsAre("ana", "bob"));
  EXPECT_FALSE(Accepted(create));
  EXPECT_FALSE(Accepted(create + "--group interns"));
  EXPECT_FALSE(Accepted(create + "--analyst ana --members bob"));
  EXPECT_FALSE(Accepted(create + "--analyst ana --group interns --members bob"));
}

TEST_F(Arguments, ARepairSaysWhatItAcceptsAndWhy) {
  const std::string propose = "ledger repair propose census --out " + command_line_.Path("repair.json");
  const auto repair = Sent<v1::ProposeRepairRequest>(propose + " --reason lost");
  EXPECT_EQ(repair.reason(), "lost");
  EXPECT_TRUE(Accepted(propose + " --reason lost --receipts mine.jsonl"));
  EXPECT_FALSE(Accepted(propose)) << "a reason is in the history for good";
  EXPECT_FALSE(Accepted("ledger repair propose census --reason lost")) << "an approver needs the file";
  EXPECT_TRUE(Accepted("ledger repair approve census repair.json --dry-run"));
  EXPECT_FALSE(Accepted("ledger repair approve census"));
  EXPECT_EQ(Sent<v1::VerifyLedgerRequest>("ledger verify census").dataset(), "census");
  EXPECT_TRUE(Accepted("ledger verify census --receipts mine.jsonl --key " + std::string(64, 'a')));
  EXPECT_FALSE(Accepted("ledger verify census --key " + std::string(64, 'a'))) << "a key of what?";
  EXPECT_FALSE(Accepted("ledger verify census --receipts mine.jsonl --key abc"));
  Sent<v1::GetReceiptKeyRequest>("ledger key");
}

TEST_F(Arguments, ALimitIsProposedWithAReasonAndOnePromise) {
  const std::string propose = "account limit propose census --reason more ";
  const auto own = Sent<v1::ProposeLimitChangeRequest>(propose + "--epsilon 2");
  EXPECT_EQ(own.account(), "") << "the dataset's own";
  EXPECT_EQ(own.epsilon(), "2");
  EXPECT_EQ(own.reason(), "more");
  EXPECT_EQ(Sent<v1::ProposeLimitChangeRequest>(propose + "--group interns --epsilon 2").account(),
            "dataset/census/group/interns");
  EXPECT_EQ(Sent<v1::ProposeLimitChangeRequest>(propose + "--delta 1e-6").delta(), "1e-6");
  const auto approve = Sent<v1::ApproveLimitChangeRequest>("account limit approve census 1b4e");
  EXPECT_EQ(approve.proposal_id(), "1b4e");
  EXPECT_FALSE(approve.validate_only());
  EXPECT_TRUE(Sent<v1::ApproveLimitChangeRequest>("account limit show census 1b4e").validate_only());
  EXPECT_EQ(Sent<v1::ListLimitProposalsRequest>("account limit list census").dataset(), "census");
  const auto take_up = Sent<v1::ProposeLimitChangeRequest>("account limit take-up census 1b4e");
  EXPECT_EQ(take_up.takes_up(), "1b4e");
  EXPECT_EQ(take_up.promise_case(), v1::ProposeLimitChangeRequest::PROMISE_NOT_SET) << "as it was asked";
  const auto less = Sent<v1::ProposeLimitChangeRequest>("account limit take-up census 1b4e --epsilon 3");
  EXPECT_EQ(less.epsilon(), "3");
  EXPECT_FALSE(Accepted("account limit propose census --epsilon 2")) << "without a reason";
  EXPECT_FALSE(Accepted(propose)) << "without a promise";
  EXPECT_FALSE(Accepted(propose + "--epsilon 2 --delta 1e-6"));
  EXPECT_FALSE(Accepted(propose + "--analyst ana --group interns --epsilon 2"));
  EXPECT_FALSE(Accepted("account limit approve census"));
  EXPECT_FALSE(Accepted("account limit approve census 1b4e --epsilon 3")) << "it is approved as it is";
}

TEST_F(Arguments, APublicDatasetAndASuccessorTakeNoBudget) {
  const auto open = Sent<v1::CreateDatasetRequest>(Create("c", "--public --yes"));
  EXPECT_TRUE(open.public_());
  EXPECT_FALSE(open.has_limit());
  const auto successor = Sent<v1::CreateDatasetRequest>(Create("c", "--successor-of b"));
  EXPECT_EQ(successor.successor_of(), "b");
  EXPECT_FALSE(successor.has_limit());
}

TEST_F(Arguments, MoneyStaysTheTextThatWasTyped) {
  const auto spend_of = [&](const std::string& options) {
    return Sent<v1::AnswerWorkloadRequest>("workload answer c --marginals 2 " + options).spend();
  };
  const std::string exact = "0.1000000000000000000000000000000000000001";
  EXPECT_EQ(spend_of("--epsilon " + exact).epsilon(), exact);
  EXPECT_EQ(spend_of("--rho 1e400").rho(), "1e400");
  EXPECT_EQ(spend_of("--epsilon -1").epsilon(), "-1");
  EXPECT_EQ(spend_of("--epsilon NaN").epsilon(), "NaN");
}

TEST_F(Arguments, AWorkloadNamesItsAttributes) {
  const auto sent = Sent<v1::EstimateWorkloadRequest>(
      "workload estimate c --marginals 3 --attributes age,sex,zone --rho 0.1 --mechanism gaussian "
      "--confidence 0.9 --assume-rows 1000");
  ASSERT_EQ(sent.workload().query_sets_size(), 1);
  const v1::AllKWay& marginals = sent.workload().query_sets(0).marginals().all_k_way();
  EXPECT_EQ(marginals.k(), 3);
  EXPECT_THAT(marginals.attributes(), ElementsAre("age", "sex", "zone"));
  EXPECT_EQ(sent.mechanism(), v1::MECHANISM_DISCRETE_GAUSSIAN);
  EXPECT_EQ(sent.confidence_level(), 0.9);
  // The number of records that is assumed stays here: it only scales what is shown.
  v1::EstimateWorkloadResponse estimate;
  estimate.add_marginals()->mutable_noise()->set_expected_absolute_error(10);
  command_line_.server.Answer<v1::EstimateWorkloadRequest>(estimate);
  Sent<v1::EstimateWorkloadRequest>("workload estimate c --marginals 1 --rho 1 --assume-rows 1000");
  EXPECT_THAT(command_line_.out(), AllOf(HasSubstr("|error| / rows"), HasSubstr(" 0.01\n")));
}

TEST_F(Arguments, AnswerTakesARequestIdAndAFile) {
  const auto sent =
      Sent<v1::AnswerWorkloadRequest>("workload answer c --marginals 2 --epsilon 1 --delta 1e-9 --out " +
                                      command_line_.Path("a.csv") + " --request-id " + kId);
  EXPECT_EQ(sent.request_id(), kId);
  EXPECT_EQ(sent.spend().delta(), "1e-9");
  EXPECT_EQ(command_line_.Content("a.csv"),
            "query_set,query_class,query,estimate,standard_deviation,low,high,confidence_level,method,noise,"
            "post_processing,sex\n"
            "0,marginals,sex,5,,,,,model,,,f\n0,marginals,sex,10,,,,,model,,,m\n");
}

TEST_F(Arguments, SettingsMayBeRepeatedAndHoldEqualsSigns) {
  const auto sent = Sent<v1::CreateSynthesisRequest>(
      "synth run --set rounds=10 --set note=a=b census --method mwem --epsilon 1 --rows 5 --as-bins --out " +
      command_line_.Path("s.csv"));
  EXPECT_EQ(sent.dataset(), "census");
  EXPECT_THAT(sent.spec().settings(), UnorderedElementsAre(Pair("note", "a=b"), Pair("rounds", "10")));
  EXPECT_FALSE(sent.spec().has_workload());
  const auto samples = command_line_.server.Received<v1::SampleModelRequest>();
  ASSERT_EQ(samples.size(), 1u);
  EXPECT_EQ(samples[0].rows(), 5);
  EXPECT_TRUE(samples[0].as_bins());
}

TEST_F(Arguments, ASynthesisMayNameItsWorkload) {
  const auto workload_of = [&](const std::string& options) {
    return Sent<v1::EstimateSynthesisRequest>("synth estimate c --method mwem --rho 1 " + options)
        .spec()
        .workload();
  };
  EXPECT_THAT(workload_of("--attributes a,b").query_sets(0).marginals().all_k_way().attributes(),
              ElementsAre("a", "b"));
  EXPECT_THAT(workload_of("--ranges a,b").query_sets(0).ranges().attributes(), ElementsAre("a", "b"));
}

TEST_F(Arguments, ASynthesisWithoutAMethodLeavesTheChoiceToTheServer) {
  EXPECT_EQ(Sent<v1::EstimateSynthesisRequest>("synth estimate c --rho 1").spec().method(), "auto");
}

TEST_F(Arguments, AChargeIsReservedByAGuaranteeOrAnEventFile) {
  const auto reserve =
      Sent<v1::ReserveBudgetRequest>("charge reserve census --epsilon 0.1 --delta 1e-9 --lifetime 60");
  EXPECT_EQ(reserve.dataset(), "census");
  EXPECT_EQ(reserve.event().approximate().epsilon(), "0.1");
  EXPECT_EQ(reserve.event().approximate().delta(), "1e-9");
  EXPECT_EQ(reserve.lifetime().seconds(), 60);
  const std::string event = command_line_.File("e.json", R"({"zcdp": {"rho": "0.5"}})");
  EXPECT_EQ(Sent<v1::ReserveBudgetRequest>("charge reserve census --event " + event).event().zcdp().rho(),
            "0.5");
  EXPECT_FALSE(Sent<v1::StartChargeRequest>("charge start c1").has_final_event());
  EXPECT_EQ(Sent<v1::StartChargeRequest>("charge start c1 --rho 0.1").final_event().zcdp().rho(), "0.1");
  EXPECT_EQ(Sent<v1::CommitBudgetRequest>("charge commit c1").charge_id(), "c1");
  EXPECT_EQ(Sent<v1::CancelReservationRequest>("charge cancel c1 --reason x").reason(), "x");
  EXPECT_EQ(Sent<v1::ExtendReservationRequest>("charge extend c1 --lifetime 5").lifetime().seconds(), 5);
  EXPECT_EQ(Sent<v1::GetChargeRequest>("charge show c1").charge_id(), "c1");
  EXPECT_EQ(Sent<v1::GetChargeRequest>("charge show --request-id u1").request_id(), "u1");
}

TEST_F(Arguments, EveryCommandOfDatasetsIsKnown) {
  const std::string csv = command_line_.File("f.csv", "zone\n1\n");
  EXPECT_EQ(Sent<v1::ImportRecordsRequest>("dataset import c " + csv).csv_bytes(), 7);
  EXPECT_EQ(command_line_.server.Received<v1::ImportRecordsRequest>().end()[-2].csv(), "zone\n1\n");
  EXPECT_EQ(Sent<v1::SealDatasetRequest>("dataset seal c").dataset(), "c");
  EXPECT_FALSE(Sent<v1::SealDatasetRequest>("dataset seal c").accept_equal_content());
  EXPECT_TRUE(Sent<v1::SealDatasetRequest>("dataset seal c --accept-equal-content").accept_equal_content());
  EXPECT_EQ(Sent<v1::GrantAccessRequest>("dataset grant c ana").principal(), "ana");
  Sent<v1::ListDatasetsRequest>("dataset list");
  EXPECT_EQ(Sent<v1::GetDatasetRequest>("dataset show c").dataset(), "c");
  EXPECT_EQ(Sent<v1::ArchiveDatasetRequest>("dataset archive c").dataset(), "c");
  EXPECT_EQ(Sent<v1::PublishDatasetRequest>("dataset publish c --yes").dataset(), "c");
  const std::string schema = command_line_.File("s.json", kZoneSchema);
  EXPECT_EQ(Sent<v1::CheckSchemaRequest>("schema check " + schema).schema().attributes(0).name(), "zone");
  EXPECT_EQ(Sent<v1::CheckSchemaRequest>("schema check " + schema + " " + csv).csv(), "zone\n1\n");
}

TEST_F(Arguments, ALimitIsAskedForRejectedAndWithdrawn) {
  const auto ask = Sent<v1::RequestLimitChangeRequest>(
      "account limit request census --analyst ana --epsilon 2 --reason thesis");
  EXPECT_EQ(ask.account(), "dataset/census/analyst/ana");
  EXPECT_EQ(ask.epsilon(), "2");
  EXPECT_EQ(ask.reason(), "thesis");
  EXPECT_FALSE(Accepted("account limit request census --epsilon 2")) << "without a reason";
  const auto reject = Sent<v1::RejectLimitChangeRequest>("account limit reject census 1b4e --reason no");
  EXPECT_EQ(reject.proposal_id(), "1b4e");
  EXPECT_EQ(reject.reason(), "no");
  EXPECT_FALSE(Accepted("account limit reject census 1b4e")) << "without a reason";
  EXPECT_EQ(Sent<v1::WithdrawLimitChangeRequest>("account limit withdraw census 1b4e").proposal_id(), "1b4e");
}

TEST_F(Arguments, AHistoryIsShownFromItsEndAndSeveralAreWatched) {
  const auto show = Sent<v1::ListLedgerEntriesRequest>("ledger show census --newest 20 --before 100");
  EXPECT_EQ(show.newest(), 20);
  EXPECT_EQ(show.before_sequence(), 100);
  EXPECT_EQ(show.after_sequence(), 0);
  EXPECT_FALSE(Accepted("ledger show census --newest 0"));
  EXPECT_FALSE(Accepted("ledger show census --newest 1001"));
  EXPECT_FALSE(Accepted("ledger show census --before 0"));
  EXPECT_EQ(Sent<v1::WatchLedgerRequest>("ledger watch census --after 7").after_sequence(), 7);
  const auto one = Sent<v1::WatchLedgerRequest>("ledger watch census:7");
  EXPECT_EQ(one.dataset(), "census");
  EXPECT_EQ(one.after_sequence(), 7);
  EXPECT_TRUE(one.positions().empty());
  const auto several = Sent<v1::WatchLedgerRequest>("ledger watch census:7 schools");
  EXPECT_EQ(several.dataset(), "");
  ASSERT_EQ(several.positions_size(), 2);
  EXPECT_EQ(several.positions(0).dataset(), "census");
  EXPECT_EQ(several.positions(0).after_sequence(), 7);
  EXPECT_EQ(several.positions(1).dataset(), "schools");
  EXPECT_EQ(several.positions(1).after_sequence(), 0);
}

TEST_F(Arguments, AMalformedPlaceInAHistoryIsNotSent) {
  for (const char* const places : {"census:x", "census:-1", "census: schools", "census schools --after 7",
                                   "census:5 --after 7", "census:0 --after 7"}) {
    EXPECT_NE(command_line_.Run(absl::StrCat("ledger watch ", places)), ExitStatus::kDone) << places;
  }
}

TEST_F(Arguments, RefusalsShowWhatWasAskedAndWhatWasLeft) {
  v1::ListRefusalsResponse list;
  v1::Refusal& refusal = *list.add_refusals();
  refusal.set_principal("ana");
  refusal.set_method("QueryService/AnswerWorkload");
  v1::Refusal::Account& full = *refusal.add_accounts();
  full.set_account("dataset/census");
  full.set_asked("0.5");
  full.set_remaining("0.25");
  command_line_.server.Answer<v1::ListRefusalsRequest>(list);
  EXPECT_EQ(command_line_.Run("ledger refusals census"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), AllOf(HasSubstr("ana"), HasSubstr("dataset/census"), HasSubstr("0.25")));
}

TEST_F(Arguments, ABudgetHasItsHistoryInPoints) {
  const auto asked =
      Sent<v1::GetBurnDownRequest>("budget history census --account dataset/census/analyst/ana --points 7");
  EXPECT_EQ(asked.dataset(), "census");
  EXPECT_EQ(asked.account(), "dataset/census/analyst/ana");
  EXPECT_EQ(asked.points(), 7);
  EXPECT_FALSE(Accepted("budget history census --points 2001"));
  v1::GetBurnDownResponse history;
  history.set_account("dataset/census");
  v1::GetBurnDownResponse::Counter& counter = *history.add_counters();
  counter.set_name("rho");
  v1::BurnDownPoint& point = *counter.add_points();
  point.mutable_time()->set_seconds(1'700'000'000);
  point.set_spent("0.25");
  command_line_.server.Answer<v1::GetBurnDownRequest>(history);
  EXPECT_EQ(command_line_.Run("budget history census --output csv"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), AllOf(HasSubstr("2023-11-14"), HasSubstr("rho"), HasSubstr("0.25")));
}

TEST_F(Arguments, TheInboxShowsOnWhichDatasetsToAnswer) {
  v1::ListInboxResponse inbox;
  v1::ListInboxResponse::Item& item = *inbox.add_items();
  item.set_dataset("census");
  item.mutable_proposal()->set_id("1b4e");
  item.mutable_proposal()->set_state(v1::LimitProposal::REQUESTED);
  command_line_.server.Answer<v1::ListInboxRequest>(inbox);
  EXPECT_EQ(command_line_.Run("inbox"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), AllOf(HasSubstr("census"), HasSubstr("1b4e"), HasSubstr("requested")));
  EXPECT_EQ(command_line_.Run("inbox --output json"), ExitStatus::kDone);
  EXPECT_EQ(nlohmann::json::parse(command_line_.out())["items"][0]["dataset"], "census");
}

TEST_F(Arguments, AnOwnerRefusesByRules) {
  const auto add = Sent<v1::AddRefusalRuleRequest>(
      "dataset refuse add census no-income --principal ana --principal bob --kind workload --kind "
      "reservation "
      "--attribute income --price-above rho=0.05 --from 2026-11-26T00:00:00Z --until 2026-11-27T00:00:00Z "
      "--note audited");
  EXPECT_EQ(add.dataset(), "census");
  EXPECT_EQ(add.rule().name(), "no-income");
  EXPECT_THAT(add.rule().principals(), ElementsAre("ana", "bob"));
  EXPECT_THAT(add.rule().kinds(), ElementsAre(v1::RefusalRule::WORKLOAD, v1::RefusalRule::RESERVATION));
  EXPECT_THAT(add.rule().attributes(), ElementsAre("income"));
  EXPECT_EQ(add.rule().price_above().counter(), "rho");
  EXPECT_EQ(add.rule().price_above().amount(), "0.05");
  EXPECT_EQ(add.rule().note(), "audited");
  EXPECT_EQ(add.rule().end_time().seconds() - add.rule().start_time().seconds(), 24 * 3600);
  const auto all = Sent<v1::AddRefusalRuleRequest>("dataset refuse add census closed");
  EXPECT_FALSE(all.rule().has_price_above());
  EXPECT_FALSE(all.rule().has_start_time());
  EXPECT_TRUE(all.rule().kinds().empty());
  EXPECT_EQ(Sent<v1::RemoveRefusalRuleRequest>("dataset refuse remove census closed").name(), "closed");
  EXPECT_EQ(Sent<v1::ListRefusalRulesRequest>("dataset refuse list census --limit 5").page_size(), 5);
  EXPECT_FALSE(Accepted("dataset refuse add census"));
  EXPECT_FALSE(Accepted("dataset refuse add census a --kind question"));
  EXPECT_FALSE(Accepted("dataset refuse add census a --price-above rho"));
  EXPECT_FALSE(Accepted("dataset refuse add census a --until tomorrow"));
}

TEST_F(Arguments, RefusalRulesAreListedInEveryForm) {
  v1::ListRefusalRulesResponse list;
  v1::RefusalRule& rule = *list.add_rules();
  rule.set_name("no-income");
  rule.add_kinds(v1::RefusalRule::SYNTHESIS);
  rule.add_attributes("income");
  rule.mutable_price_above()->set_counter("rho");
  rule.mutable_price_above()->set_amount("0.05");
  command_line_.server.Answer<v1::ListRefusalRulesRequest>(list);
  EXPECT_EQ(command_line_.Run("dataset refuse list census"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(),
              AllOf(HasSubstr("no-income"), HasSubstr("synthesis"), HasSubstr("rho=0.05")));
  EXPECT_EQ(command_line_.Run("dataset refuse list census --output json"), ExitStatus::kDone);
  EXPECT_EQ(nlohmann::json::parse(command_line_.out())["rules"][0]["attributes"][0], "income");
}

TEST_F(Arguments, QuotasShowLimitsAndWhatIsUsed) {
  EXPECT_EQ(Sent<v1::GetQuotasRequest>("quotas").principal(), "");
  EXPECT_EQ(Sent<v1::GetQuotasRequest>("quotas --principal bob").principal(), "bob");
  v1::GetQuotasResponse quotas;
  quotas.set_principal("bob");
  v1::Quota& bytes = *quotas.add_quotas();
  bytes.set_name("import_bytes_per_hour");
  bytes.set_limit(1 << 30);
  bytes.mutable_period()->set_seconds(3600);
  bytes.set_used(77);
  v1::Quota& memory = *quotas.add_quotas();
  memory.set_name("synthesis_memory_bytes");
  memory.set_limit(4096);
  command_line_.server.Answer<v1::GetQuotasRequest>(quotas);
  EXPECT_EQ(command_line_.Run("quotas"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), AllOf(HasSubstr("import_bytes_per_hour"), HasSubstr("1073741824"),
                                         HasSubstr("hour"), HasSubstr("77")));
  EXPECT_EQ(command_line_.Run("quotas --output json"), ExitStatus::kDone);
  const auto json = nlohmann::json::parse(command_line_.out());
  EXPECT_EQ(json["quotas"][0]["used"], 77);
  EXPECT_TRUE(json["quotas"][1]["used"].is_null());
}

TEST_F(Arguments, AnAuditorChoosesRecords) {
  const auto list = Sent<v1::ListAuditRecordsRequest>(
      "audit list --principal ana --dataset c --method QueryService/AnswerWorkload --refused --since "
      "2026-11-26T00:00:00Z --until 2026-11-27T00:00:00Z --limit 7");
  EXPECT_EQ(list.principal(), "ana");
  EXPECT_EQ(list.dataset(), "c");
  EXPECT_EQ(list.method(), "QueryService/AnswerWorkload");
  EXPECT_EQ(list.decision(), v1::AuditRecord::REFUSED);
  EXPECT_EQ(list.until_time().seconds() - list.since_time().seconds(), 24 * 3600);
  EXPECT_EQ(list.page_size(), 7);
  EXPECT_FALSE(Sent<v1::ListAuditRecordsRequest>("audit list").has_since_time());
  EXPECT_EQ(Sent<v1::WatchAuditRequest>("audit watch --after 812").after_id(), 812);
  EXPECT_FALSE(Sent<v1::WatchAuditRequest>("audit watch").has_after_id());
  EXPECT_FALSE(Accepted("audit list --since yesterday"));
  EXPECT_FALSE(Accepted("audit watch --after -1"));
}

TEST_F(Arguments, TheAuditIsListedAndWatchedInEveryForm) {
  v1::AuditRecord call;
  call.set_id(7);
  call.set_kind(v1::AuditRecord::CALL);
  call.mutable_time()->set_seconds(1'700'000'000);
  call.set_principal("ana");
  call.set_method("BudgetService/GetBudget");
  call.set_dataset("census\x1b[2J");
  call.set_decision(v1::AuditRecord::REFUSED);
  call.set_status("RESOURCE_EXHAUSTED");
  call.set_reason("QUOTA");
  v1::AuditRecord gap;
  gap.set_id(8);
  gap.set_kind(v1::AuditRecord::GAP);
  gap.set_count(12);
  v1::ListAuditRecordsResponse list;
  *list.add_records() = gap;
  *list.add_records() = call;
  command_line_.server.Answer<v1::ListAuditRecordsRequest>(list);
  EXPECT_EQ(command_line_.Run("audit list"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), AllOf(HasSubstr("QUOTA"), HasSubstr("12 calls are missing")));
  EXPECT_THAT(command_line_.out(), Not(HasSubstr("\x1b[2J")));
  EXPECT_EQ(command_line_.Run("audit list --output json"), ExitStatus::kDone);
  const nlohmann::json document = nlohmann::json::parse(command_line_.out());
  EXPECT_EQ(document["records"][1]["status"], "RESOURCE_EXHAUSTED");
  EXPECT_EQ(document["records"][0]["count"], 12);
  command_line_.server.Answer<v1::WatchAuditRequest>(call, gap);
  EXPECT_EQ(command_line_.Run("audit watch"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), HasSubstr("7  2023-11-14T22:13:20Z  QUOTA  ana  BudgetService/GetBudget"));
  EXPECT_THAT(command_line_.error(), HasSubstr("--after 8"));
  EXPECT_EQ(command_line_.Run("audit watch --output json"), ExitStatus::kDone);
  std::istringstream lines(command_line_.out());
  std::string line;
  ASSERT_TRUE(std::getline(lines, line));
  EXPECT_EQ(nlohmann::json::parse(line)["principal"], "ana");
  EXPECT_EQ(command_line_.Run("audit watch --output csv"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), HasSubstr("id,time,kind,decision,principal"));
}

TEST_F(Arguments, MetricsArePrintedAsTheyCome) {
  v1::GetMetricsResponse metrics;
  metrics.set_text("# TYPE curator_build_info gauge\ncurator_build_info{version=\"1\"} 1\n");
  command_line_.server.Answer<v1::GetMetricsRequest>(metrics);
  EXPECT_EQ(command_line_.Run("server metrics"), ExitStatus::kDone);
  EXPECT_EQ(command_line_.out(), metrics.text());
  EXPECT_EQ(command_line_.Run("server metrics --output json"), ExitStatus::kDone);
  EXPECT_EQ(nlohmann::json::parse(command_line_.out())["text"], metrics.text());
}

TEST_F(Arguments, EverySettingOfEveryMethodIsListedInEveryForm) {
  v1::ListSynthesizersResponse list;
  for (int method = 0; method < 3; ++method) {
    v1::Synthesizer& synthesizer = *list.add_synthesizers();
    synthesizer.set_method("m" + std::to_string(method));
    for (int i = 0; i < 50 * method; ++i)
      synthesizer.add_settings()->set_key("key-" + std::to_string(method) + "-" + std::to_string(i) + "-");
  }
  command_line_.server.Answer<v1::ListSynthesizersRequest>(list);
  for (const char* form : {"table", "csv", "json"}) {
    ASSERT_EQ(command_line_.Run(std::string("synth list --output ") + form), ExitStatus::kDone);
    EXPECT_THAT(command_line_.out(), HasSubstr("m0")) << form << ": a method without settings";
    for (const v1::Synthesizer& synthesizer : list.synthesizers()) {
      for (const v1::Setting& setting : synthesizer.settings())
        EXPECT_THAT(command_line_.out(), HasSubstr(setting.key())) << form;
    }
  }
}

TEST_F(Arguments, EveryCommandIsKnown) {
  Sent<v1::ListSynthesizersRequest>("synth list");
  EXPECT_EQ(Sent<v1::ListReleasesRequest>("release list c").dataset(), "c");
  EXPECT_EQ(Sent<v1::GetReleaseRequest>("release show r1").release_id(), "r1");
  const auto query = Sent<v1::QueryModelRequest>("release query r1 --marginals 1");
  EXPECT_EQ(query.workload().query_sets(0).marginals().all_k_way().k(), 1);
  EXPECT_EQ(
      Sent<v1::SampleModelRequest>("release sample r1 --rows 9 --out " + command_line_.Path("f")).rows(), 9);
  Sent<v1::ListOperationsRequest>("operation list");
  EXPECT_EQ(Sent<v1::GetOperationRequest>("operation show o1").operation_id(), "o1");
  const auto wait = Sent<v1::WaitOperationRequest>("operation wait o1 --timeout 5");
  EXPECT_EQ(wait.operation_id(), "o1");
  EXPECT_GT(wait.timeout().seconds() * 1000 + wait.timeout().nanos() / 1'000'000, 3000);
  EXPECT_LE(wait.timeout().seconds(), 5);
  EXPECT_EQ(Sent<v1::CancelOperationRequest>("operation cancel o1").operation_id(), "o1");
  Sent<v1::ListAllOperationsRequest>("operation list --all");
  EXPECT_EQ(Sent<v1::StopOperationRequest>("operation stop o1 --reason night").reason(), "night");
  EXPECT_FALSE(Accepted("operation stop o1")) << "without a reason";
  EXPECT_EQ(Sent<v1::ListLedgerEntriesRequest>("ledger show c --after 7 --limit 2").after_sequence(), 7);
  const std::string exported = command_line_.Path("c.jsonl");
  EXPECT_EQ(Sent<v1::ListLedgerEntriesRequest>("ledger export census --out " + exported).dataset(), "census");
  EXPECT_EQ(command_line_.Content("c.jsonl"), "");
  EXPECT_EQ(Sent<v1::VerifyLedgerRequest>("ledger verify c").dataset(), "c");
  Sent<v1::GetVersionRequest>("version");
}

TEST_F(Arguments, WrongUsageIsRefusedWithAReason) {
  struct Wrong {
    std::string line;
    std::string reason;
  };
  const std::vector<Wrong> lines = {
      {"", "one of its commands"},
      {"bogus", "'bogus'"},
      {"dataset frobnicate x", "'frobnicate'"},
      {"dataset create c --schema s", "--rule"},
      {"dataset create c --schema s --rule pure", "--epsilon"},
      {"dataset create c --rule pure --epsilon 1", "--schema"},
      {"dataset create c --schema s --rule best --epsilon 1", "pure|advanced|zcdp"},
      {"dataset create c --schema s --public --epsilon 1", "no budget"},
      {"dataset create c --schema s --successor-of b --rule pure --epsilon 1", "successor"},
      {"dataset import c", "FILE"},
      {"dataset import c f --from postgresql://h/d --table t", "one source"},
      {"dataset import c f --table t", "--from"},
      {"dataset import c f --where a=1", "--columns and --where are for --table of a database"},
      {"dataset import c f --columns a", "all rows of a file are read"},
      {"dataset import c --from postgresql://a:secret@h/d --table t", "--from contains a password"},
      {"dataset import c --from postgresql://h/d?password=secret", "--from contains a password"},
      {"dataset import c f --from h:5432/d", "--from is malformed: write postgresql://"},
      {"dataset import c --from postgresql://h/d", "--table or --query"},
      {"dataset import c --from postgresql://h/d --table t --query q --yes", "--table or --query"},
      {"dataset import c --from postgresql://h/d --query q", "needs --yes"},
      {"dataset import c --from postgresql://h/d --query q --yes --where a=1", "--where are for --table"},
      {"dataset import c --from postgresql://h/d --table t --columns a,,b", "empty"},
      {"workload answer c --marginals 2", "--epsilon"},
      {"workload answer c --marginals 2 --epsilon 1 --rho 1", "only one of these"},
      {"workload answer c --marginals 2 --rho 1 --delta 1", "--delta"},
      {"workload answer c --epsilon 1", "--marginals"},
      {"workload answer c --marginals 0 --epsilon 1", "--marginals"},
      {"workload answer c --marginals two --epsilon 1", "--marginals"},
      {"workload answer c --marginals 2 --epsilon 1 --attributes a,,b", "empty"},
      {"workload answer c --marginals 2 --epsilon 1 --attributes a,b,a", "twice"},
      {"workload answer c --marginals 2 --epsilon 1 --confidence 95", "between 0 and 1"},
      {"workload answer c --marginals 2 --epsilon 1 --confidence nan", "between 0 and 1"},
      {"workload answer c --marginals 2 --epsilon 1 --request-id 7", "UUID"},
      {"workload answer c d --marginals 2 --epsilon 1", "d"},
      {"synth run c --method m --epsilon 1 --set rounds", "key=value"},
      {"synth run c --method m --epsilon 1 --set a=1 --set a=2", "twice"},
      {"synth run c --method m --epsilon 1 --rows 5", "--out"},
      {"synth run c --method m --epsilon 1 --rows 0 --out f", "--rows"},
      {"release sample r1 --rows 5", "--out"},
      {"--output xml version", "table|json|csv"},
      {"version --frobnicate", "--frobnicate"}};
  for (const Wrong& wrong : lines) {
    EXPECT_EQ(command_line_.Run(wrong.line), ExitStatus::kUsage) << wrong.line;
    EXPECT_THAT(command_line_.error(), HasSubstr(wrong.reason)) << wrong.line;
    EXPECT_THAT(command_line_.error(), HasSubstr("--help")) << wrong.line;
  }
}

TEST_F(Arguments, HelpSaysUnitsDefaultsAndAnExample) {
  EXPECT_EQ(command_line_.Run("workload answer --help"), ExitStatus::kDone);
  for (const char* part : {"--rho", "zcdp", "Default: 0.95", "Example:", "curator workload answer census"}) {
    EXPECT_THAT(command_line_.out(), HasSubstr(part));
  }
  EXPECT_EQ(command_line_.Run("--version"), ExitStatus::kDone);
  EXPECT_THAT(command_line_.out(), HasSubstr("curator " CURATOR_VERSION));
}

}  // namespace
}  // namespace curator::cli
