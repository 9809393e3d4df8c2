// Partitioned datasets over a real socket: who pays for what, growing data, replays, and other processes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <chrono>
#include <csignal>
#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "client/error.h"
#include "client/request_id.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

// "north": regions 0 and 1, "south": region 2. Region 3 waits for a part.
v1::CreateDatasetRequest Divided(const std::string& name, v1::Rule rule, const std::string& epsilon,
                                 const std::string& delta = "") {
  v1::CreateDatasetRequest request = NewDataset(name, rule, epsilon, delta);
  request.mutable_partition()->set_attribute("region");
  v1::Part* north = request.mutable_partition()->add_parts();
  north->set_name("north");
  north->add_labels("0..1");
  v1::Part* south = request.mutable_partition()->add_parts();
  south->set_name("south");
  south->add_labels("2");
  return request;
}

absl::StatusOr<v1::ImportRecordsResponse> Import(const Client& owner, const std::string& part,
                                                 const std::string& csv) {
  v1::ImportRecordsRequest::Header header;
  header.set_dataset("visits");
  header.set_part(part);
  header.set_accept_same_file(true);
  std::istringstream bytes(csv);
  return owner.ImportRecords(header, bytes);
}

absl::StatusOr<v1::SealDatasetResponse> Seal(const Client& owner, const std::string& part) {
  v1::SealDatasetRequest seal;
  seal.set_dataset("visits");
  seal.set_part(part);
  seal.set_accept_no_records(true);
  return owner.SealDataset(seal);
}

v1::AddPartRequest West() {
  v1::AddPartRequest request;
  request.set_dataset("visits");
  request.mutable_part()->set_name("west");
  request.mutable_part()->add_labels("3");
  return request;
}

// All regions; a part takes its own rows and rejects the others.
void Fill(const Client& owner, const std::string& part, int rows = 80) {
  const absl::StatusOr<v1::ImportRecordsResponse> imported = Import(owner, part, SmallCsv(rows));
  ASSERT_TRUE(imported.ok()) << imported.status();
  const absl::StatusOr<v1::SealDatasetResponse> sealed = Seal(owner, part);
  ASSERT_TRUE(sealed.ok()) << sealed.status();
}

v1::AnswerWorkloadRequest Question(const std::string& epsilon, const std::vector<std::string>& parts = {}) {
  v1::AnswerWorkloadRequest request;
  request.set_dataset("visits");
  v1::Marginals& marginals = *request.mutable_workload()->add_query_sets()->mutable_marginals();
  marginals.add_sets()->add_names("region");
  request.mutable_spend()->set_epsilon(epsilon);
  for (const std::string& part : parts) request.add_parts(part);
  return request;
}

std::vector<std::string> FullOnes(const absl::Status& status) {
  std::vector<std::string> names;
  for (const client::FullAccount& full : client::FullAccounts(status)) names.push_back(full.account);
  return names;
}

// "north 0.3" for each part, in order.
std::vector<std::string> SpentOf(const Client& who) {
  std::vector<std::string> spent;
  const absl::StatusOr<v1::GetBudgetResponse> budget = who.GetBudget("visits");
  EXPECT_TRUE(budget.ok()) << budget.status();
  for (const v1::Account& account : budget->accounts()) {
    const std::string name = account.has_part() ? account.part() : account.analyst();
    spent.push_back(name + " " + account.counters(0).spent());
  }
  return spent;
}

class Parts : public ::testing::TestWithParam<Backend> {
 protected:
  Parts() : server_(GetParam()), owner_(server_.ClientFor("owner")) {}

  void MakeVisits(const v1::CreateDatasetRequest& request = Divided("visits", v1::RULE_PURE, "1")) {
    const absl::StatusOr<v1::Dataset> made = owner_.CreateDataset(request);
    ASSERT_TRUE(made.ok()) << made.status();
    Fill(owner_, "north");
    Fill(owner_, "south");
  }

  TestServer server_;
  Client owner_;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Parts, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Parts, APartIsFilledWithItsOwnRowsAndSealedOnItsOwn) {
  ASSERT_TRUE(owner_.CreateDataset(Divided("visits", v1::RULE_PURE, "1")).ok());
  const absl::StatusOr<v1::ImportRecordsResponse> north = Import(owner_, "north", SmallCsv(80));
  ASSERT_TRUE(north.ok()) << north.status();
  EXPECT_EQ(north->rows_accepted(), 40);
  EXPECT_EQ(north->rows_rejected(), 40);
  EXPECT_EQ(north->examples(0).attribute(), "region");
  EXPECT_EQ(north->examples(0).reason(), "does not lie in the part \"north\"");

  EXPECT_EQ(owner_.AnswerWorkload(Question("0.1", {"north"})).status().code(),
            absl::StatusCode::kFailedPrecondition)
      << "it is not sealed yet";
  const absl::StatusOr<v1::SealDatasetResponse> sealed = Seal(owner_, "north");
  ASSERT_TRUE(sealed.ok()) << sealed.status();
  EXPECT_EQ(sealed->records(), 40);
  EXPECT_EQ(Import(owner_, "north", SmallCsv(80)).status().code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_TRUE(Import(owner_, "south", SmallCsv(80)).ok()) << "the other part still takes records";
  const absl::Status unsealed = owner_.AnswerWorkload(Question("0.1", {"north", "south"})).status();
  EXPECT_EQ(unsealed.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(unsealed.message()), HasSubstr("\"south\""));

  const absl::StatusOr<v1::Dataset> shown = owner_.GetDataset("visits");
  EXPECT_EQ(shown->partition().attribute(), "region");
  ASSERT_EQ(shown->partition().parts_size(), 2);
  EXPECT_THAT(shown->partition().parts(0).labels(), ElementsAre("0", "1"));
  EXPECT_EQ(shown->partition().parts(0).state(), v1::DATASET_STATE_SEALED);
  EXPECT_EQ(shown->partition().parts(1).state(), v1::DATASET_STATE_CREATED);
}

TEST_P(Parts, AQuestionChargesThePartsThatItTouchesAndNoOther) {
  MakeVisits();
  const absl::StatusOr<Answer> north = owner_.AnswerWorkload(Question("0.3", {"north"}));
  ASSERT_TRUE(north.ok()) << north.status();
  EXPECT_EQ(north->header.costs_size(), 1);
  EXPECT_EQ(north->header.costs(0).account(), "dataset/visits/part/north");
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 0.3", "south 0"));

  ASSERT_TRUE(owner_.AnswerWorkload(Question("0.2")).ok());
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 0.5", "south 0.2"));
  EXPECT_EQ(owner_.ListReleases("visits")->releases(0).summary(), "1 marginal, 4 cells of 2 parts");
  EXPECT_EQ(owner_.ListReleases("visits")->releases(1).summary(), "1 marginal, 4 cells of part north");
  EXPECT_EQ(owner_.GetBudget("visits")->largest_part().counters(0).spent(), "0.5");

  const absl::Status refused = owner_.AnswerWorkload(Question("0.6")).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kResourceExhausted);
  EXPECT_THAT(FullOnes(refused), ElementsAre("dataset/visits/part/north"));
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 0.5", "south 0.2"));
  EXPECT_TRUE(owner_.AnswerWorkload(Question("0.6", {"south"})).ok());
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 0.5", "south 0.8"));
  EXPECT_TRUE(owner_.VerifyLedger("visits")->ok());
}

TEST_P(Parts, AnAnswerCountsTheRecordsOfItsPartsAlone) {
  MakeVisits(Divided("visits", v1::RULE_PURE, "100000"));
  const auto counts = [&](const std::vector<std::string>& parts) {
    const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Question("20000", parts));
    EXPECT_TRUE(answer.ok()) << answer.status();
    return answer.ok() ? answer->marginals[0].counts : std::vector<int64_t>();
  };
  EXPECT_THAT(counts({"north"}), ElementsAre(20, 20, 0, 0));
  EXPECT_THAT(counts({"south"}), ElementsAre(0, 0, 20, 0));
  EXPECT_THAT(counts({"south", "north"}), ElementsAre(20, 20, 20, 0));
  EXPECT_THAT(counts({}), ElementsAre(20, 20, 20, 0));
}

TEST_P(Parts, AnEmptyPartPaysLikeAnyOther) {
  ASSERT_TRUE(owner_.CreateDataset(Divided("visits", v1::RULE_PURE, "1")).ok());
  Fill(owner_, "north");
  ASSERT_TRUE(Seal(owner_, "south").ok());
  ASSERT_TRUE(owner_.AnswerWorkload(Question("0.4")).ok());
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 0.4", "south 0.4"));
}

TEST_P(Parts, GrowingDataGetsAFreshLimitAndARequestKeepsItsParts) {
  MakeVisits();
  v1::AnswerWorkloadRequest whole = Question("0.4");
  whole.set_request_id(*client::NewRequestId());
  const absl::StatusOr<Answer> first = owner_.AnswerWorkload(whole);
  ASSERT_TRUE(first.ok()) << first.status();
  ASSERT_TRUE(owner_.AnswerWorkload(Question("0.6", {"north"})).ok());
  server_.Restart();
  const Client owner = server_.ClientFor("owner");

  const absl::StatusOr<v1::Dataset> grown = owner.AddPart(West());
  ASSERT_TRUE(grown.ok()) << grown.status();
  EXPECT_EQ(grown->partition().parts_size(), 3);
  EXPECT_THAT(SpentOf(owner), ElementsAre("north 1", "south 0.4", "west 0"));
  EXPECT_TRUE(owner.AnswerWorkload(Question("0.1", {"south"})).ok());
  Fill(owner, "west", 400);

  EXPECT_THAT(FullOnes(owner.AnswerWorkload(Question("0.1")).status()),
              ElementsAre("dataset/visits/part/north"));
  ASSERT_TRUE(owner.AnswerWorkload(Question("0.5", {"south", "west"})).ok());
  EXPECT_THAT(SpentOf(owner), ElementsAre("north 1", "south 1", "west 0.5"));

  const absl::StatusOr<Answer> again = owner.AnswerWorkload(whole);
  ASSERT_TRUE(again.ok()) << again.status();
  EXPECT_TRUE(again->header.replayed()) << "the whole table of then is not that of now";
  EXPECT_EQ(again->marginals[0].counts, first->marginals[0].counts);
  EXPECT_EQ(again->header.costs_size(), 2);
  whole.add_parts("north");
  EXPECT_EQ(owner.AnswerWorkload(whole).status().code(), absl::StatusCode::kAlreadyExists)
      << "other parts are another request";
  EXPECT_THAT(SpentOf(owner), ElementsAre("north 1", "south 1", "west 0.5"));
  EXPECT_TRUE(owner.VerifyLedger("visits")->ok());
}

TEST_P(Parts, AnalystsPayForEveryPartAndFromTheirOwnAccounts) {
  MakeVisits();
  Grant(owner_, "visits", "ana");
  v1::CreateAccountRequest account;
  account.set_dataset("visits");
  account.set_analyst("ana");
  account.mutable_limit()->set_rule(v1::RULE_PURE);
  account.mutable_limit()->set_epsilon("0.5");
  ASSERT_TRUE(owner_.CreateAccount(account).ok());
  const Client ana = server_.ClientFor("ana");
  ASSERT_TRUE(ana.AnswerWorkload(Question("0.2", {"north"})).ok());
  ASSERT_TRUE(ana.AnswerWorkload(Question("0.2", {"south"})).ok());
  EXPECT_THAT(SpentOf(ana), ElementsAre("north 0.2", "south 0.2", "ana 0.4"));
  EXPECT_THAT(FullOnes(ana.AnswerWorkload(Question("0.2", {"south"})).status()),
              ElementsAre("dataset/visits/analyst/ana"));
}

TEST_P(Parts, ASubstitutedRecordMayMoveBetweenPartsAndIsPaidForInBoth) {
  v1::CreateDatasetRequest request = Divided("visits", v1::RULE_PURE, "10");
  request.set_neighbours(v1::NEIGHBOUR_RELATION_REPLACE_ONE);
  MakeVisits(request);
  ASSERT_TRUE(owner_.AnswerWorkload(Question("1", {"north"})).ok());
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 1", "south 0"))
      << "marginals cost a record that moves at most half of one that is replaced";

  v1::EstimateSynthesisRequest synthesis;
  synthesis.set_dataset("visits");
  synthesis.mutable_spec()->set_method("mwem");
  synthesis.mutable_spec()->mutable_spend()->set_epsilon("1");
  synthesis.mutable_spec()->add_parts("south");
  const absl::StatusOr<v1::EstimateSynthesisResponse> estimate = owner_.EstimateSynthesis(synthesis);
  ASSERT_TRUE(estimate.ok()) << estimate.status();
  EXPECT_EQ(estimate->costs(0).account(), "dataset/visits/part/south");
  EXPECT_THAT(estimate->costs(0).amount(), HasSubstr("1.0499999")) << "the number of records counts twice";

  Grant(owner_, "visits", "owner", {v1::SERVICE});
  v1::ReserveBudgetRequest outside;
  outside.set_dataset("visits");
  outside.mutable_event()->mutable_pure()->set_epsilon("0.3");
  const absl::Status refused = owner_.ReserveBudget(outside).status();
  EXPECT_EQ(refused.code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_THAT(std::string(refused.message()), HasSubstr("is partitioned"));
}

TEST_P(Parts, AMechanismThatRunsOutsidePaysForEveryPart) {
  ASSERT_TRUE(owner_.CreateDataset(Divided("visits", v1::RULE_PURE, "1")).ok());
  Fill(owner_, "north");
  Grant(owner_, "visits", "owner", {v1::SERVICE});
  v1::ReserveBudgetRequest request;
  request.set_dataset("visits");
  request.mutable_event()->mutable_pure()->set_epsilon("0.3");
  const absl::StatusOr<v1::Charge> reserved = owner_.ReserveBudget(request);
  ASSERT_TRUE(reserved.ok()) << reserved.status();
  EXPECT_EQ(reserved->costs_size(), 2);
  v1::StartChargeRequest start;
  start.set_charge_id(reserved->id());
  start.mutable_final_event()->mutable_pure()->set_epsilon("0.2");
  ASSERT_TRUE(owner_.StartCharge(start).ok());
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 0.2", "south 0.2"));
}

TEST_P(Parts, ABadPartitionIsRefusedByItsField) {
  const auto refusal = [&](const std::function<void(v1::CreateDatasetRequest&)>& spoil) {
    v1::CreateDatasetRequest request = Divided("visits", v1::RULE_PURE, "1");
    spoil(request);
    return std::string(owner_.CreateDataset(request).status().message());
  };
  const auto parts = [](v1::CreateDatasetRequest& request) { return request.mutable_partition(); };
  EXPECT_THAT(refusal([&](auto& request) { parts(request)->set_attribute("zone"); }),
              HasSubstr("partition.attribute: "));
  EXPECT_THAT(refusal([&](auto& request) { parts(request)->mutable_parts(1)->set_labels(0, "1"); }),
              HasSubstr("partition.parts[1].labels: "));
  EXPECT_THAT(refusal([&](auto& request) { parts(request)->mutable_parts(1)->set_labels(0, "7"); }),
              HasSubstr("partition.parts[1].labels[0]: "));
  EXPECT_THAT(refusal([&](auto& request) { parts(request)->mutable_parts(1)->clear_labels(); }),
              HasSubstr("partition.parts[1].labels: "));
  EXPECT_THAT(refusal([&](auto& request) { parts(request)->mutable_parts(1)->set_name("north"); }),
              HasSubstr("partition.parts[1].name: "));
  EXPECT_THAT(refusal([&](auto& request) { parts(request)->mutable_parts(1)->set_name("a,b"); }),
              HasSubstr("partition.parts[1].name: "));
  EXPECT_THAT(refusal([&](auto& request) {
                request.set_public_(true);
                request.clear_limit();
              }),
              HasSubstr("partition: "));
  EXPECT_THAT(owner_.ListDatasets()->datasets(), IsEmpty());
}

TEST_P(Parts, APartThatIsNotThereAndADatasetWithoutPartsAreRefusedByTheirFields) {
  MakeVisits();
  EXPECT_THAT(std::string(owner_.AnswerWorkload(Question("0.1", {"north", "east"})).status().message()),
              HasSubstr("parts[1]: there is no part \"east\"; there are: north, south"));
  EXPECT_THAT(std::string(owner_.AnswerWorkload(Question("0.1", {"north", "north"})).status().message()),
              HasSubstr("parts[1]: names a part twice"));
  EXPECT_THAT(std::string(Seal(owner_, "").status().message()), HasSubstr("part: is missing"));
  EXPECT_THAT(std::string(Import(owner_, "east", SmallCsv(8)).status().message()),
              HasSubstr("part: the dataset has no part \"east\""));
  v1::AddPartRequest west = West();
  west.mutable_limit()->set_rule(v1::RULE_PURE);
  west.mutable_limit()->set_epsilon("2");
  EXPECT_THAT(std::string(owner_.AddPart(west).status().message()), HasSubstr("limit.epsilon: "));
  west.mutable_limit()->set_epsilon("0.25");
  EXPECT_TRUE(owner_.AddPart(west).ok());
  EXPECT_EQ(owner_.GetBudget("visits")->accounts(2).counters(0).limit(), "0.25");
  EXPECT_EQ(server_.ClientFor("stranger").AddPart(West()).status().code(), absl::StatusCode::kNotFound);

  MakeSealed(owner_, NewDataset("census", v1::RULE_PURE, "1"), SmallCsv(80));
  v1::AnswerWorkloadRequest question = Question("0.1", {"north"});
  question.set_dataset("census");
  EXPECT_THAT(std::string(owner_.AnswerWorkload(question).status().message()),
              HasSubstr("parts[0]: must be left out"));
  v1::AddPartRequest nowhere = West();
  nowhere.set_dataset("census");
  EXPECT_EQ(owner_.AddPart(nowhere).status().code(), absl::StatusCode::kFailedPrecondition);
  v1::CreateDatasetRequest successor = NewDataset("visits-2", v1::RULE_PURE, "1");
  successor.clear_limit();
  successor.set_successor_of("visits");
  EXPECT_THAT(std::string(owner_.CreateDataset(successor).status().message()), HasSubstr("into a new part"));
}

TEST_P(Parts, APersonsRecordBoundHoldsInAllPartsAndIsPaidForInEach) {
  v1::CreateDatasetRequest request = Divided("visits", v1::RULE_PURE, "1000000");
  v1::PersonUnit& person = *request.mutable_schema()->mutable_unit()->mutable_person();
  person.set_id_column("pid");
  person.set_max_records(2);
  ASSERT_TRUE(owner_.CreateDataset(request).ok());
  const std::string csv =
      "pid,sex,age,region\nann,Female,30,0\nann,Female,30,1\nann,Female,30,2\nbob,Male,40,0\nbob,Male,40,2\n"
      "cid,Male,50,2\ncid,Male,50,2\ncid,Male,50,2\n";
  ASSERT_TRUE(Import(owner_, "north", csv).ok());
  EXPECT_EQ(Seal(owner_, "north")->records(), 3);
  ASSERT_TRUE(Import(owner_, "south", csv).ok());
  const absl::StatusOr<v1::SealDatasetResponse> south = Seal(owner_, "south");
  ASSERT_TRUE(south.ok()) << south.status();
  EXPECT_EQ(south->records(), 3);
  EXPECT_EQ(south->records_dropped(), 2) << "ann has two records in the north, and cid a third one";

  const absl::StatusOr<Answer> answer = owner_.AnswerWorkload(Question("100000"));
  ASSERT_TRUE(answer.ok()) << answer.status();
  EXPECT_THAT(answer->marginals[0].counts, ElementsAre(2, 1, 3, 0));
  EXPECT_THAT(SpentOf(owner_), ElementsAre("north 100000", "south 100000"));

  Grant(owner_, "visits", "owner", {v1::SERVICE});
  v1::ReserveBudgetRequest outside;
  outside.set_dataset("visits");
  outside.mutable_event()->mutable_pure()->set_epsilon("0.3");
  EXPECT_EQ(owner_.ReserveBudget(outside).status().code(), absl::StatusCode::kFailedPrecondition);
}

TEST_P(Parts, EveryBinIsAPartUnlessPartsAreNamed) {
  v1::CreateDatasetRequest request = Divided("visits", v1::RULE_ZCDP, "1", "1e-9");
  request.mutable_partition()->clear_parts();
  const absl::StatusOr<v1::Dataset> made = owner_.CreateDataset(request);
  ASSERT_TRUE(made.ok()) << made.status();
  ASSERT_EQ(made->partition().parts_size(), 4);
  EXPECT_EQ(made->partition().parts(3).name(), "3");
  EXPECT_EQ(owner_.GetBudget("visits")->accounts_size(), 4);
}

// Whoever takes a request up after a crash reads the parts that were sealed when it was charged.
TEST_P(Parts, AKilledSynthesisIsFinishedOverThePartsOfThen) {
  const ScratchFolder directory;
  const AppOptions options = FreshOptions(GetParam(), directory.path());
  const std::vector<std::string> arguments = {"--listen=127.0.0.1:0", "--dev", "--ledger=" + options.ledger,
                                              "--data-dir=" + options.data_directory, "--drain-seconds=0"};
  v1::CreateSynthesisRequest request = LongSynthesis();
  request.set_dataset("visits");
  int64_t records_of_then = 0;
  {
    ServerProcess server(arguments);
    const std::optional<std::string> address = server.Address();
    ASSERT_TRUE(address.has_value()) << server.log();
    const Client owner({.server = *address, .principal = "owner"});
    v1::CreateDatasetRequest dataset = LargeDataset();
    dataset.set_name("visits");
    *dataset.mutable_partition() = Divided("visits", v1::RULE_PURE, "10").partition();
    ASSERT_TRUE(owner.CreateDataset(dataset).ok());
    for (const std::string part : {"north", "south"}) {
      records_of_then += Import(owner, part, LargeCsv())->rows_accepted();
      ASSERT_TRUE(Seal(owner, part).ok());
    }
    const absl::StatusOr<v1::Operation> started = owner.CreateSynthesis(request);
    ASSERT_TRUE(started.ok()) << started.status();
    ASSERT_EQ(AwaitBegun(owner, started->id()), v1::Operation::RUNNING);
    ASSERT_EQ(server.Stop(SIGKILL), -SIGKILL);
  }
  ServerProcess server(arguments);
  const std::optional<std::string> address = server.Address();
  ASSERT_TRUE(address.has_value()) << server.log();
  const Client owner({.server = *address, .principal = "owner"});
  ASSERT_TRUE(owner.AddPart(West()).ok());
  for (int i = 0; i < 5; ++i) ASSERT_TRUE(Import(owner, "west", LargeCsv()).ok());
  ASSERT_TRUE(Seal(owner, "west").ok());

  const absl::StatusOr<v1::Operation> again = owner.CreateSynthesis(request);
  ASSERT_TRUE(again.ok()) << again.status();
  const absl::StatusOr<v1::Operation> done = owner.WaitOperation(again->id(), std::chrono::minutes(5));
  ASSERT_EQ(done->state(), v1::Operation::DONE) << done->DebugString();
  const std::vector<std::string> spent = SpentOf(owner);
  ASSERT_EQ(spent.size(), 3u);
  EXPECT_EQ(spent[0].substr(6), spent[1].substr(6)) << "charged once, alike";
  EXPECT_EQ(spent[2], "west 0");
  v1::GetReleaseRequest get;
  get.set_release_id(done->release_id());
  const absl::StatusOr<ReleaseContent> content = owner.GetRelease(get);
  ASSERT_TRUE(content.ok() && content->synthesis) << content.status();
  // The noise of scale 5 is a thousand away once in e^200 times; west has five thousand records.
  EXPECT_NEAR(static_cast<double>(content->synthesis->records()), static_cast<double>(records_of_then), 1000);
  EXPECT_TRUE(owner.VerifyLedger("visits")->ok());
  EXPECT_EQ(server.Stop(SIGTERM), 0) << server.log();
}

}  // namespace
}  // namespace curator::testing
