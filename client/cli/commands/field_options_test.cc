#include "client/cli/commands/field_options.h"

#include <gtest/gtest.h>

#include <CLI/CLI.hpp>

#include "client/cli/commands/workload_choice.h"
#include "client/error.h"
#include "google/rpc/error_details.pb.h"

namespace curator::cli {
namespace {

// A command with options, one group of them, and what was given of them.
FieldOptions OptionsGiven(const std::vector<std::string>& arguments) {
  CLI::App command;
  std::string text;
  for (const char* name : {"--delta", "--confidence", "--set", "--rows", "--summary"})
    command.add_option(name, text);
  CLI::Option_group* group = command.add_option_group("Mechanism");
  for (const char* name : {"--event", "--epsilon", "--rho", "--max-error"}) group->add_option(name, text);
  command.parse(std::vector<std::string>(arguments.rbegin(), arguments.rend()));
  return FieldOptions(command);
}

TEST(FieldOptions, AreFoundByTheNamesInAFieldsPath) {
  const FieldOptions fields = OptionsGiven({});
  EXPECT_EQ(fields.WordsFor("limit.delta"), "--delta");
  EXPECT_EQ(fields.WordsFor("target.max_error"), "--max-error");
  EXPECT_EQ(fields.WordsFor("confidence_level"), "--confidence");
  EXPECT_EQ(fields.WordsFor("requests[0].label"), "--summary");
  EXPECT_EQ(fields.WordsFor("spend"), "--epsilon, --rho");
  EXPECT_EQ(fields.WordsFor("rule.events[2]"), "--event") << "one of several";
  EXPECT_EQ(fields.WordsFor("dataset"), "dataset") << "no option: it is said as it is";
}

TEST(FieldOptions, AreThoseThatWereGivenWhereSeveralFit) {
  EXPECT_EQ(OptionsGiven({"--rho", "1"}).WordsFor("event.zcdp.rho"), "--rho");
  EXPECT_EQ(OptionsGiven({"--event", "e.json"}).WordsFor("event.composed.parts[1].event.zcdp.rho"),
            "--event: zcdp.rho");
}

TEST(FieldOptions, AnInnerFieldIsItsOwnOptionAlthoughAnOuterOneWasGiven) {
  EXPECT_EQ(OptionsGiven({"--epsilon", "3"}).WordsFor("limit.delta"), "--delta");
  EXPECT_EQ(OptionsGiven({"--event", "e.json"}).WordsFor("final_event.laplace.scale"),
            "--event: laplace.scale");
}

TEST(FieldOptions, ASettingIsSaidAsItIsTyped) {
  EXPECT_EQ(OptionsGiven({"--rows", "5"}).WordsFor("settings.rows"), "--set rows");
  EXPECT_EQ(OptionsGiven({}).WordsFor("settings"), "--set");
}

TEST(FieldOptions, ThatACommandAddsOverrideShorterFieldsAndNames) {
  FieldOptions fields = OptionsGiven({"--rho", "1"});
  fields.AddFile("workload", "--file w.json", "workload");
  fields.AddFile("workload.query_sets[0]", "--file w.json", "query_sets[0]");
  fields.Add("workload.query_sets[10]", "--where 'a = 1'");
  EXPECT_EQ(fields.WordsFor("workload.query_sets[0].ranges.rho"), "--file w.json: query_sets[0].ranges.rho");
  EXPECT_EQ(fields.WordsFor("workload.query_sets[10].predicates"), "--where 'a = 1'");
  EXPECT_EQ(fields.WordsFor("workload.query_sets[1].x"), "--file w.json: workload.query_sets[1].x");
}

absl::Status Refused(const std::string& field, const std::string& description) {
  google::rpc::BadRequest detail;
  detail.add_field_violations()->set_field(field);
  detail.mutable_field_violations(0)->set_description(description);
  absl::Status status = absl::InvalidArgumentError(field + ": " + description);
  status.SetPayload("type.googleapis.com/google.rpc.BadRequest", absl::Cord(detail.SerializeAsString()));
  return status;
}

TEST(FieldOptions, TranslateTheMessageAndKeepItsDetails) {
  const FieldOptions fields = OptionsGiven({});
  const absl::Status said = fields.Translated(Refused("limit.delta", "must be positive"));
  EXPECT_EQ(said.message(), "--delta: must be positive");
  EXPECT_EQ(client::FieldViolations(said).at(0).field, "limit.delta");
  EXPECT_EQ(fields.Translated(absl::NotFoundError("limit.delta: x")).message(), "limit.delta: x");
}

TEST(FieldOptions, AMessageEndsWithThePlaceOfItsField) {
  FieldOptions fields;
  fields.Add("workload", "the statement");
  fields.AddPlace("workload.where", "LINE 1: age\n        ^");
  fields.AddPlace("workload.where.in[1]", "LINE 1: 7\n        ^");
  EXPECT_EQ(fields.Translated(Refused("workload.where.in[1]", "cuts a bin")).message(),
            "the statement: cuts a bin\nLINE 1: 7\n        ^");
  EXPECT_EQ(fields.Translated(Refused("workload.where.in[0]", "is none")).message(),
            "the statement: is none\nLINE 1: age\n        ^");
  EXPECT_EQ(fields.Translated(Refused("workload.by", "is none")).message(), "the statement: is none");
}

TEST(FieldOptions, OfQuerySetsAreTheFlagsThatAskedForThem) {
  const WorkloadChoice choice{.file = "w.json",
                              .marginals = 2,
                              .max_cells = 5,
                              .parities = 1,
                              .attributes = {"age"},
                              .ranges = {{"age", "zone"}},
                              .prefixes = {"age"},
                              .thresholds = {"at least 1 of (sex = m)"},
                              .where = {"sex = m", "sex = f"},
                              .by = {"zone"}};
  v1::Workload workload;
  for (int i = 0; i < 8; ++i) workload.add_query_sets();  // two of them from the file
  FieldOptions fields;
  NameQuerySets(choice, workload, fields);
  const auto said = [&](const std::string& field) { return fields.WordsFor("workload.query_sets" + field); };
  EXPECT_EQ(said("[1].prefixes.attribute"), "--file w.json: query_sets[1].prefixes.attribute");
  EXPECT_EQ(said("[2].marginals.all_k_way.k"), "--marginals");
  EXPECT_EQ(said("[2].marginals.all_k_way.attributes[0]"), "--attributes");
  EXPECT_EQ(said("[2].marginals.all_k_way.max_cells"), "--max-cells");
  EXPECT_EQ(said("[3].ranges.attributes[0]"), "--ranges 'age,zone'");
  EXPECT_EQ(said("[4].prefixes.attribute"), "--prefixes age");
  EXPECT_EQ(said("[5].thresholds.at_least[0]"), "--thresholds 'at least 1 of (sex = m)'");
  EXPECT_EQ(said("[5].thresholds.by[0]"), "--by");
  EXPECT_EQ(said("[6].parities.up_to_k_way.k"), "--parities");
  EXPECT_EQ(said("[6].parities.up_to_k_way.attributes[1]"), "--attributes");
  EXPECT_EQ(said("[7].predicates.predicates[1].all_of[0].in[0]"), "--where 'sex = f'");
  EXPECT_EQ(said("[7].predicates.by[0]"), "--by");
  EXPECT_EQ(said("[7].strategy"), "--strategy");
  EXPECT_EQ(said("[7].weight"), "--weight");
  EXPECT_EQ(said("[0].weight"), "--file w.json: query_sets[0].weight");
}

TEST(FieldOptions, OfStatisticsAreTheFlagsThatAskedForThem) {
  WorkloadChoice choice;
  choice.prefixes = {"age"};
  choice.where = {"sex = f"};
  choice.by = {"region"};
  choice.statistics.count = true;
  choice.statistics.means = {"income"};
  choice.statistics.quantiles = {"income 0.25"};
  v1::Workload workload;
  for (int i = 0; i < 2; ++i) workload.add_query_sets();
  FieldOptions fields;
  NameQuerySets(choice, workload, fields);
  const auto said = [&](const std::string& field) {
    return fields.WordsFor("workload.query_sets[1]" + field);
  };
  EXPECT_EQ(said(".statistics.statistics[0].count"), "--count");
  EXPECT_EQ(said(".statistics.statistics[1].mean"), "--mean income");
  EXPECT_EQ(said(".statistics.statistics[2].quantiles.of"), "--quantiles 'income 0.25'");
  EXPECT_EQ(said(".statistics.statistics"), "--count, --mean income, --quantiles 'income 0.25'");
  EXPECT_EQ(said(".statistics.by[0]"), "--by");
  EXPECT_EQ(said(".statistics.where.all_of[0].in[0]"), "--where 'sex = f'");
  EXPECT_EQ(said(".strategy"), "--quantiles-by");
}

}  // namespace
}  // namespace curator::cli
