// `curator owner`: what an owner may see of their own records, marked as private wherever it is printed.
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/tables.h"
#include "client/client.h"
#include "curator/v1/owner.pb.h"

namespace curator::cli {
namespace {

struct EvaluateRelease {
  std::string dataset;
  std::string release;
  std::vector<std::string> by;
  std::optional<int64_t> pairs;
  std::string request_id;
};

struct CountOwnRows {
  std::string dataset;
  std::string request_id;
};

struct ReportRisk {
  std::string dataset;
  v1::RiskRequest::Grid grid = v1::RiskRequest::GRID_AROUND_FIT;
  std::string request_id;
};

absl::Status Run(Session& session, const EvaluateRelease& command) {
  v1::EvaluateRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_release_id(command.release);
  for (const std::string& attribute : command.by) request.add_by(attribute);
  if (command.pairs) request.set_pairs(*command.pairs);
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(command.dataset));
  ASSIGN_OR_RETURN(const v1::EvaluateResponse evaluated, session.client.Evaluate(request));
  Document document;
  document.fields = {{"private", "PRIVATE", true},
                     {"error", "error (0 to 2)", evaluated.error()},
                     {"error_without_bias", "without the bias penalty", evaluated.error_without_bias()},
                     {"biased_groups", "groups with a wrong size", evaluated.biased_groups()},
                     {"empty_groups", "groups without records, left out", evaluated.empty_groups()},
                     {"warning", "warning", evaluated.warning(), ShownIn::kJsonAndCsv}};
  AddDataFacts(dataset.domain_from_records(), dataset.rows_from_query(), document);
  Table table{"groups",
              "PRIVATE",
              {{"private", "", Align::kLeft, ShownIn::kJsonAndCsv},
               {"label", "group"},
               {"distance", "error", Align::kRight},
               {"records", "records", Align::kRight},
               {"estimated_records", "estimated", Align::kRight},
               {"biased", "biased"}},
              {}};
  for (const v1::EvaluateResponse::Group& group : evaluated.groups())
    table.rows.push_back(
        {true, group.label(), group.distance(), group.records(), group.estimated_records(), group.biased()});
  document.tables.push_back(std::move(table));
  document.notes.push_back(evaluated.warning());
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const CountOwnRows& command) {
  v1::RowCountsRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  ASSIGN_OR_RETURN(const v1::RowCountsResponse counted, session.client.RowCounts(request));
  Document document;
  document.fields = {{"private", "PRIVATE", true},
                     {"records", "records", counted.records()},
                     {"warning", "warning", counted.warning(), ShownIn::kJsonAndCsv}};
  document.notes.push_back(counted.warning());
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ReportRisk& command) {
  v1::RiskRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_grid(command.grid);
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(command.dataset));
  ASSIGN_OR_RETURN(const v1::RiskResponse report, session.client.RiskReport(request));
  Document document;
  document.fields = {{"private", "PRIVATE", true},
                     {"groups", "groups", report.groups()},
                     {"records", "records", report.records()},
                     {"grid", "over parameters", report.grid()},
                     {"warning", "warning", report.warning(), ShownIn::kJsonAndCsv}};
  AddDataFacts(dataset.domain_from_records(), dataset.rows_from_query(), document);
  Table table{"sensitivities",
              "PRIVATE: the largest share of a group, or of a record, in the log-likelihood",
              {{"private", "", Align::kLeft, ShownIn::kJsonAndCsv},
               {"level", "of a"},
               {"weighting", "weights"},
               {"option", "option"},
               {"least", "least", Align::kRight},
               {"first_quartile", "1st quartile", Align::kRight},
               {"median", "median", Align::kRight},
               {"third_quartile", "3rd quartile", Align::kRight},
               {"largest", "largest", Align::kRight}},
              {}};
  for (const v1::RiskResponse::Sensitivities& row : report.sensitivities())
    table.rows.push_back({true, row.level(), row.weighting(), row.option(), row.least(), row.first_quartile(),
                          row.median(), row.third_quartile(), row.largest()});
  document.tables.push_back(std::move(table));
  document.notes.push_back(report.warning());
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddOwnerCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      AddGroup(app, "owner",
               "Exact queries of your own private records; each access is recorded in the history first");

  const auto evaluate = std::make_shared<EvaluateRelease>();
  CLI::App* command = AddCommand(
      *group, "evaluate",
      "PRIVATE: the error of a synthetic release, as the mean L1 distance from the records of random two-way "
      "marginals per group",
      "curator owner evaluate census --release ID --by PUMA,YEAR");
  command->add_option("NAME", evaluate->dataset, "The dataset")->required();
  command->add_option("--release", evaluate->release, "The synthetic release")->type_name("ID")->required();
  command
      ->add_option_function<std::string>(
          "--by", [evaluate](const std::string& names) { evaluate->by = SplitAtCommas(names); },
          "Attributes whose values are the groups. Default: the whole table is one group")
      ->type_name("A,B")
      ->check([](const std::string& names) { return CheckNames(names); });
  command->add_option("--pairs", evaluate->pairs, "Marginals for each group. Default: 50")
      ->type_name("N")
      ->check(CLI::Range(int64_t{1}, int64_t{10'000}));
  AddRequestId(command, evaluate->request_id);
  Choose(command, evaluate, chosen);

  const auto rows = std::make_shared<CountOwnRows>();
  CLI::App* count =
      AddCommand(*group, "rows", "PRIVATE: the exact number of records", "curator owner rows census");
  count->add_option("NAME", rows->dataset, "The dataset")->required();
  AddRequestId(count, rows->request_id);
  Choose(count, rows, chosen);

  const auto risk = std::make_shared<ReportRisk>();
  CLI::App* report = AddCommand(*group, "risk",
                                "PRIVATE: the influence of single groups and records of nested data on the "
                                "likelihood, under the weightings of "
                                "pseudo-posteriors",
                                "curator owner risk pupils");
  report->add_option("NAME", risk->dataset, "The dataset")->required();
  AddChoice<v1::RiskRequest::Grid>(
      *report, "--grid", "fit|bounds", risk->grid,
      {{"fit", v1::RiskRequest::GRID_AROUND_FIT}, {"bounds", v1::RiskRequest::GRID_WITHIN_BOUNDS}},
      "Over parameters that the data might be of, or over all within the response's bounds. Default: fit");
  AddRequestId(report, risk->request_id);
  Choose(report, risk, chosen);
}

}  // namespace curator::cli
