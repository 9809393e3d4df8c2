#include "client/cli/arguments.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace curator::cli {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Pair;

constexpr char kId[] = "1b4e28ba-2fa1-4d3b-a3f5-ef19b5a7633b";

// Words are separated by single blanks.
std::vector<std::string> Words(const std::string& line) {
  std::vector<std::string> words;
  std::istringstream stream(line);
  for (std::string word; stream >> word;) words.push_back(word);
  return words;
}

template <typename Options>
Options Chosen(const std::string& line) {
  const auto parsed = Parse(Words(line));
  if (const auto* error = std::get_if<UsageError>(&parsed)) ADD_FAILURE() << line << ": " << error->text;
  const auto* invocation = std::get_if<Invocation>(&parsed);
  const Options* options = invocation == nullptr ? nullptr : std::get_if<Options>(&invocation->command);
  if (options == nullptr) {
    ADD_FAILURE() << line << " is not that command";
    return {};
  }
  return *options;
}

TEST(Arguments, GlobalOptionsWorkBeforeAndAfterTheCommand) {
  for (const char* line : {"--server h:1 --as ana --output json budget show census",
                           "budget show census --server h:1 --as ana --output json",
                           "budget --as ana show --output json census --server h:1"}) {
    const auto parsed = Parse(Words(line));
    const auto* invocation = std::get_if<Invocation>(&parsed);
    ASSERT_NE(invocation, nullptr) << line;
    EXPECT_EQ(invocation->server, "h:1");
    EXPECT_EQ(invocation->principal, "ana");
    EXPECT_EQ(invocation->form, OutputForm::kJson);
    EXPECT_EQ(std::get<ShowBudget>(invocation->command).dataset, "census");
  }
}

TEST(Arguments, AnOwnersQuestionNamesItsReleaseAndItsGroups) {
  const auto options = Chosen<EvaluateRelease>(
      std::string("owner evaluate census --by PUMA,YEAR --pairs 20 --release ") + kId);
  EXPECT_EQ(options.dataset, "census");
  EXPECT_EQ(options.release, kId);
  EXPECT_THAT(options.by, ElementsAre("PUMA", "YEAR"));
  EXPECT_EQ(options.pairs, 20);
  EXPECT_EQ(Chosen<CountOwnRows>("owner rows census").dataset, "census");
  EXPECT_EQ(Chosen<ReportRisk>("owner risk pupils").grid, v1::RiskRequest::GRID_AROUND_FIT);
  EXPECT_EQ(Chosen<ReportRisk>("owner risk pupils --grid bounds").grid, v1::RiskRequest::GRID_WITHIN_BOUNDS);
  EXPECT_TRUE(std::holds_alternative<UsageError>(Parse(Words("owner evaluate census"))));
}

TEST(Arguments, GroupsOfAttributesAreOneSetting) {
  const auto options = Chosen<RunSynthesis>(
      "synth run census --method prior --epsilon 1 --set prior=open --set region=STATE --set "
      "group=PUMA,YEAR");
  EXPECT_THAT(options.choice.settings,
              ElementsAre(Pair("group", "PUMA,YEAR"), Pair("prior", "open"), Pair("region", "STATE")));
}

TEST(Arguments, PartsAreNamedByTheLabelsOfTheirBins) {
  const auto options = Chosen<CreateDataset>(
      "dataset create visits --schema s.json --rule pure --epsilon 3 --partition-by year "
      "--part early=2019..2021,2023 --part late=[2024,2030),2031");
  EXPECT_EQ(options.partition_attribute, "year");
  ASSERT_EQ(options.parts.size(), 2u);
  EXPECT_EQ(options.parts[0].name, "early");
  EXPECT_THAT(options.parts[0].labels, ElementsAre("2019..2021", "2023"));
  EXPECT_THAT(options.parts[1].labels, ElementsAre("[2024,2030)", "2031")) << "a comma inside an interval";

  const auto added = Chosen<AddPart>("dataset add-part visits 2032=2032 --rule pure --epsilon 1");
  EXPECT_EQ(added.part.name, "2032");
  EXPECT_EQ(added.epsilon, "1");
  EXPECT_EQ(Chosen<ImportRecords>("dataset import visits f.csv --part early").part, "early");
  EXPECT_EQ(Chosen<SealDataset>("dataset seal visits --part early").part, "early");
  EXPECT_THAT(Chosen<AnswerWorkload>("workload answer visits --marginals 1 --rho 1 --parts early,late").parts,
              ElementsAre("early", "late"));
  EXPECT_THAT(Chosen<RunSynthesis>("synth run visits --method mwem --epsilon 1 --parts late").choice.parts,
              ElementsAre("late"));

  const auto refused = [](const std::string& line) {
    return std::holds_alternative<UsageError>(Parse(Words(line)));
  };
  EXPECT_TRUE(refused("dataset create v --schema s.json --rule pure --epsilon 3 --part early=1"));
  EXPECT_TRUE(
      refused("dataset create v --schema s.json --rule pure --epsilon 3 --partition-by y --part early"));
  EXPECT_TRUE(refused("dataset add-part visits 2032"));
  EXPECT_TRUE(refused("dataset add-part visits 2032=2032 --epsilon 1")) << "a limit needs its rule";
  EXPECT_TRUE(refused("workload answer visits --marginals 1 --rho 1 --parts early,early"));
}

TEST(Arguments, CreateTakesTheWholePromise) {
  const auto options = Chosen<CreateDataset>(
      "dataset create census --schema s.json --rule zcdp --epsilon 3 --delta 1e-9 --neighbours replace-one");
  EXPECT_EQ(options.name, "census");
  EXPECT_EQ(options.schema_file, "s.json");
  EXPECT_EQ(options.rule, v1::RULE_ZCDP);
  EXPECT_EQ(options.epsilon, "3");
  EXPECT_EQ(options.delta, "1e-9");
  EXPECT_EQ(options.neighbours, v1::NEIGHBOUR_RELATION_REPLACE_ONE);
  EXPECT_FALSE(options.is_public);
}

TEST(Arguments, AddRemoveIsTheDefault) {
  EXPECT_EQ(Chosen<CreateDataset>("dataset create c --schema s --rule pure --epsilon 1").neighbours,
            v1::NEIGHBOUR_RELATION_ADD_REMOVE);
}

TEST(Arguments, AnAccountIsAnAnalystsOrAGroupsWithMembers) {
  const auto accepted = [](const std::string& line) {
    return std::holds_alternative<Invocation>(
        Parse(Words("account create census --rule pure --epsilon 1 " + line)));
  };
  EXPECT_TRUE(accepted("--analyst ana"));
  EXPECT_TRUE(accepted("--group interns --members ana,bob"));
  EXPECT_FALSE(accepted(""));
  EXPECT_FALSE(accepted("--group interns"));
  EXPECT_FALSE(accepted("--analyst ana --members bob"));
  EXPECT_FALSE(accepted("--analyst ana --group interns --members bob"));
}

TEST(Arguments, ARepairSaysWhatItAcceptsAndWhy) {
  const auto accepted = [](const std::string& line) {
    return std::holds_alternative<Invocation>(Parse(Words("ledger " + line)));
  };
  EXPECT_TRUE(accepted("repair census --raise-to-anchor --reason lost"));
  EXPECT_TRUE(accepted("repair census --raise-to-anchor --reason lost --receipts mine.jsonl --dry-run"));
  EXPECT_FALSE(accepted("repair census --reason lost"));
  EXPECT_FALSE(accepted("repair census --raise-to-anchor"));
  EXPECT_TRUE(accepted("verify census"));
  EXPECT_TRUE(accepted("verify census --receipts mine.jsonl --key " + std::string(64, 'a')));
  EXPECT_FALSE(accepted("verify census --key " + std::string(64, 'a'))) << "a key of what?";
  EXPECT_FALSE(accepted("verify census --receipts mine.jsonl --key abc"));
  EXPECT_TRUE(accepted("key"));
}

TEST(Arguments, ALimitIsProposedWithAReasonAndOnePromise) {
  const auto accepted = [](const std::string& line) {
    return std::holds_alternative<Invocation>(Parse(Words("account limit " + line)));
  };
  EXPECT_TRUE(accepted("propose census --epsilon 2 --reason more"));
  EXPECT_TRUE(accepted("propose census --group interns --epsilon 2 --reason more"));
  EXPECT_TRUE(accepted("propose census --delta 1e-6 --reason more"));
  EXPECT_TRUE(accepted("approve census 1b4e"));
  EXPECT_TRUE(accepted("show census 1b4e"));
  EXPECT_TRUE(accepted("list census"));
  EXPECT_FALSE(accepted("propose census --epsilon 2")) << "without a reason";
  EXPECT_FALSE(accepted("propose census --reason more")) << "without a promise";
  EXPECT_FALSE(accepted("propose census --epsilon 2 --delta 1e-6 --reason more"));
  EXPECT_FALSE(accepted("propose census --analyst ana --group interns --epsilon 2 --reason more"));
  EXPECT_FALSE(accepted("approve census"));
  EXPECT_FALSE(accepted("approve census 1b4e --epsilon 3")) << "it is approved as it is";
}

TEST(Arguments, APublicDatasetAndASuccessorTakeNoBudget) {
  EXPECT_TRUE(Chosen<CreateDataset>("dataset create c --schema s --public --yes").confirmed);
  EXPECT_EQ(Chosen<CreateDataset>("dataset create c --schema s --successor-of b").successor_of, "b");
}

TEST(Arguments, MoneyStaysTheTextThatWasTyped) {
  const std::string exact = "0.1000000000000000000000000000000000000001";
  EXPECT_EQ(Chosen<AnswerWorkload>("workload answer c --marginals 2 --epsilon " + exact).price.spend.epsilon,
            exact);
  EXPECT_EQ(Chosen<AnswerWorkload>("workload answer c --marginals 2 --rho 1e400").price.spend.rho, "1e400");
  EXPECT_EQ(Chosen<AnswerWorkload>("workload answer c --marginals 2 --epsilon -1").price.spend.epsilon, "-1");
  EXPECT_EQ(Chosen<AnswerWorkload>("workload answer c --marginals 2 --epsilon NaN").price.spend.epsilon,
            "NaN");
}

TEST(Arguments, AWorkloadNamesItsAttributes) {
  const auto options = Chosen<EstimateWorkload>(
      "workload estimate c --marginals 3 --attributes age,sex,zone --rho 0.1 --mechanism gaussian "
      "--confidence 0.9 "
      "--assume-rows 1000");
  EXPECT_EQ(options.workload.marginals, 3);
  EXPECT_THAT(options.workload.attributes, ElementsAre("age", "sex", "zone"));
  EXPECT_EQ(options.mechanism, v1::MECHANISM_DISCRETE_GAUSSIAN);
  EXPECT_EQ(options.confidence, 0.9);
  EXPECT_EQ(options.assumed_rows, 1000);
}

TEST(Arguments, AnswerTakesARequestIdAndAFile) {
  const auto options =
      Chosen<AnswerWorkload>(std::string("workload answer c --marginals 2 --epsilon 1 --delta 1e-9 "
                                         "--out a.csv --request-id ") +
                             kId);
  EXPECT_EQ(options.request_id, kId);
  EXPECT_EQ(options.delivery.out, "a.csv");
  EXPECT_EQ(options.price.spend.delta, "1e-9");
}

TEST(Arguments, SettingsMayBeRepeatedAndHoldEqualsSigns) {
  const auto options = Chosen<RunSynthesis>(
      "synth run --set rounds=10 --set note=a=b census --method mwem --epsilon 1 --rows 5 --as-bins --out "
      "s.csv");
  EXPECT_EQ(options.dataset, "census");
  EXPECT_THAT(options.choice.settings, ElementsAre(Pair("note", "a=b"), Pair("rounds", "10")));
  EXPECT_FALSE(options.choice.workload.asks());
  EXPECT_EQ(options.rows, 5);
  EXPECT_TRUE(options.as_bins);
}

TEST(Arguments, ASynthesisMayNameItsWorkload) {
  const auto options = Chosen<EstimateSynthesis>("synth estimate c --method mwem --rho 1 --attributes a,b");
  EXPECT_THAT(options.choice.workload.attributes, ElementsAre("a", "b"));
  EXPECT_THAT(
      Chosen<EstimateSynthesis>("synth estimate c --method mwem --rho 1 --ranges a,b").choice.workload.ranges,
      ElementsAre(ElementsAre("a", "b")));
}

TEST(Arguments, AChargeIsReservedByAGuaranteeOrAnEventFile) {
  const auto reserve =
      Chosen<ReserveCharge>("charge reserve census --epsilon 0.1 --delta 1e-9 --lifetime 60");
  EXPECT_EQ(reserve.dataset, "census");
  EXPECT_EQ(reserve.event.guarantee.epsilon, "0.1");
  EXPECT_EQ(reserve.event.guarantee.delta, "1e-9");
  EXPECT_EQ(reserve.lifetime_seconds, 60);
  EXPECT_EQ(Chosen<ReserveCharge>("charge reserve census --event e.json").event.file, "e.json");
  EXPECT_FALSE(Chosen<StartCharge>("charge start c1").final_event.has_value());
  EXPECT_EQ(Chosen<StartCharge>("charge start c1 --rho 0.1").final_event->guarantee.rho, "0.1");
  EXPECT_EQ(Chosen<CommitCharge>("charge commit c1").charge, "c1");
  EXPECT_EQ(Chosen<CancelCharge>("charge cancel c1 --reason x").reason, "x");
  EXPECT_EQ(Chosen<ExtendCharge>("charge extend c1 --lifetime 5").lifetime_seconds, 5);
  EXPECT_EQ(Chosen<ShowCharge>("charge show c1").charge, "c1");
  EXPECT_EQ(Chosen<ShowCharge>("charge show --request-id u1").request_id, "u1");
}

TEST(Arguments, EveryCommandIsKnown) {
  EXPECT_EQ(Chosen<ImportRecords>("dataset import c f.csv.gz").file, "f.csv.gz");
  EXPECT_EQ(Chosen<SealDataset>("dataset seal c").dataset, "c");
  EXPECT_EQ(Chosen<GrantAccess>("dataset grant c ana").principal, "ana");
  Chosen<ListDatasets>("dataset list");
  EXPECT_EQ(Chosen<ShowDataset>("dataset show c").dataset, "c");
  EXPECT_EQ(Chosen<ArchiveDataset>("dataset archive c").dataset, "c");
  EXPECT_EQ(Chosen<CheckSchema>("schema check s.json").csv_file, "");
  EXPECT_EQ(Chosen<CheckSchema>("schema check s.json f.csv").csv_file, "f.csv");
  Chosen<ListSynthesizers>("synth list");
  EXPECT_EQ(Chosen<ListReleases>("release list c").dataset, "c");
  EXPECT_EQ(Chosen<ShowRelease>("release show r1").release, "r1");
  EXPECT_EQ(Chosen<QueryRelease>("release query r1 --marginals 1").workload.marginals, 1);
  EXPECT_EQ(Chosen<SampleRelease>("release sample r1 --rows 9 --out f").rows, 9);
  Chosen<ListOperations>("operation list");
  EXPECT_EQ(Chosen<ShowOperation>("operation show o1").operation, "o1");
  EXPECT_EQ(Chosen<WaitOperation>("operation wait o1 --timeout 5").timeout_seconds, 5);
  EXPECT_EQ(Chosen<CancelOperation>("operation cancel o1").operation, "o1");
  EXPECT_EQ(Chosen<ShowLedger>("ledger show c --after 7 --limit 2").after, 7);
  EXPECT_EQ(Chosen<ExportLedger>("ledger export census --out c.jsonl").out, "c.jsonl");
  EXPECT_EQ(Chosen<VerifyLedger>("ledger verify c").dataset, "c");
  Chosen<ShowVersion>("version");
}

TEST(Arguments, WrongUsageIsRefusedWithAReason) {
  struct Wrong {
    std::string line;
    std::string reason;
  };
  const std::vector<Wrong> lines = {
      {"", "subcommand"},
      {"bogus", "'bogus'"},
      {"dataset frobnicate x", "'frobnicate'"},
      {"dataset create c --schema s", "--rule"},
      {"dataset create c --schema s --rule pure", "--epsilon"},
      {"dataset create c --rule pure --epsilon 1", "--schema"},
      {"dataset create c --schema s --rule best --epsilon 1", "pure|advanced|zcdp"},
      {"dataset create c --schema s --public --epsilon 1", "no budget"},
      {"dataset create c --schema s --successor-of b --rule pure --epsilon 1", "successor"},
      {"dataset import c", "FILE"},
      {"workload answer c --marginals 2", "--epsilon"},
      {"workload answer c --marginals 2 --epsilon 1 --rho 1", "1 option"},
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
    const auto parsed = Parse(Words(wrong.line));
    const auto* error = std::get_if<UsageError>(&parsed);
    ASSERT_NE(error, nullptr) << wrong.line;
    EXPECT_THAT(error->text, HasSubstr(wrong.reason)) << wrong.line;
    EXPECT_THAT(error->text, HasSubstr("--help")) << wrong.line;
  }
}

TEST(Arguments, HelpSaysUnitsDefaultsAndAnExample) {
  const auto parsed = Parse(Words("workload answer --help"));
  const auto* help = std::get_if<HelpText>(&parsed);
  ASSERT_NE(help, nullptr);
  for (const char* part : {"--rho", "zcdp", "Default: 0.95", "Example:", "curator workload answer census"}) {
    EXPECT_THAT(help->text, HasSubstr(part));
  }
  const auto version = Parse({"--version"});
  EXPECT_THAT(std::get<HelpText>(version).text, HasSubstr("curator " CURATOR_VERSION));
}

}  // namespace
}  // namespace curator::cli
