// `curator owner`: what an owner may see of their own records, marked as private wherever it is printed.
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"

namespace curator::cli {

absl::Status Run(Session& session, const EvaluateRelease& command) {
  v1::EvaluateRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_release_id(command.release);
  for (const std::string& attribute : command.by) request.add_by(attribute);
  if (command.pairs) request.set_pairs(*command.pairs);
  ASSIGN_OR_RETURN(const v1::EvaluateResponse evaluated, session.client.Evaluate(request));
  Document document;
  document.fields = {{"private", "PRIVATE", true},
                     {"error", "error (0 to 2)", evaluated.error()},
                     {"error_without_bias", "without the bias penalty", evaluated.error_without_bias()},
                     {"biased_groups", "groups with a wrong size", evaluated.biased_groups()},
                     {"empty_groups", "groups without records, left out", evaluated.empty_groups()},
                     {"warning", "warning", evaluated.warning(), Audience::kPrograms}};
  Table table{"groups",
              "PRIVATE",
              {{"private", "", Align::kLeft, Audience::kPrograms},
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
                     {"warning", "warning", counted.warning(), Audience::kPrograms}};
  document.notes.push_back(counted.warning());
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ReportRisk& command) {
  v1::RiskRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_grid(command.grid);
  ASSIGN_OR_RETURN(const v1::RiskResponse report, session.client.RiskReport(request));
  Document document;
  document.fields = {{"private", "PRIVATE", true},
                     {"groups", "groups", report.groups()},
                     {"records", "records", report.records()},
                     {"grid", "over parameters", report.grid()},
                     {"warning", "warning", report.warning(), Audience::kPrograms}};
  Table table{"sensitivities",
              "PRIVATE: the largest share of a group, or of a record, in the log-likelihood",
              {{"private", "", Align::kLeft, Audience::kPrograms},
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

}  // namespace curator::cli
