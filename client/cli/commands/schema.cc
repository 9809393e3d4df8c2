// `curator schema`: schema files.
#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/dataset_document.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct CheckSchema {
  std::string schema_file;
  std::string csv_file;  // empty for none
};

absl::Status Run(Session& session, const CheckSchema& command) {
  ASSIGN_OR_RETURN(const v1::Schema schema, ReadSchema(command.schema_file));
  absl::StatusOr<v1::CheckSchemaResponse> checked;
  if (command.csv_file.empty()) {
    checked = session.client.CheckSchema(schema);
  } else {
    ASSIGN_OR_RETURN(InputFile file, OpenInput(command.csv_file));
    checked = session.client.CheckSchema(schema, file.stream, file.compression);
  }
  RETURN_IF_ERROR(checked.status());

  Document document;
  document.fields = {{"unit", "protects one", DescribeUnit(schema)},
                     {"cells", "cells in all", checked->cells()}};
  AddNestingFacts(schema, document);
  Table attributes{
      "attributes", "", {{"name", "attribute"}, {"kind", "kind"}, {"bins", "bins", Align::kRight}}, {}};
  for (int i = 0; i < checked->attributes_size(); ++i) {
    const std::string kind = i < schema.attributes_size() ? DescribeKind(schema.attributes(i)) : "";
    attributes.rows.push_back({checked->attributes(i).name(), kind, checked->attributes(i).bins()});
  }
  document.tables.push_back(std::move(attributes));
  if (checked->has_import()) AddImportFacts(checked->import(), document);
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddSchemaCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "schema", "Schema files");
  const auto options = std::make_shared<CheckSchema>();
  CLI::App* command =
      AddCommand(*group, "check", "Check a schema, and a CSV file against it; nothing is stored",
                 "curator schema check census.json people.csv");
  command->add_option("SCHEMA", options->schema_file, "The schema in JSON")
      ->type_name("FILE.json")
      ->required();
  command->add_option("CSV", options->csv_file, "A CSV file, plain or gzip, to try against it")
      ->type_name("FILE.csv");
  command->footer(
      "A schema is an ordered list of attributes and, optionally, whom the guarantee protects:\n"
      "  {\"attributes\": [\n"
      "     {\"name\": \"age\",    \"integer\": {\"min\": 17, \"max\": 90, \"binWidth\": 5}},\n"
      "     {\"name\": \"sex\",    \"categorical\": {\"values\": [\"Female\", \"Male\"], \"catchAll\": "
      "\"?\"}},\n"
      "     {\"name\": \"income\", \"numeric\": {\"edges\": [0, 1000, 5000, 20000]}},\n"
      "     {\"name\": \"zone\",   \"coded\": {\"size\": 7}}],\n"
      "   \"unit\": {\"person\": {\"idColumn\": \"pid\", \"maxRecords\": 3}}}\n"
      "\nThe unit says whom the guarantee protects: {\"record\": {}} (default), a person as above, or a "
      "group,\n"
      "{\"group\": {\"idColumn\": \"school\", \"maxRecords\": 400}}, all of whose records are protected "
      "together.\n"
      "\nA number may be given by even steps, {\"numeric\": {\"min\": 0, \"max\": 100, \"step\": 0.5}}. "
      "Records that\n"
      "lie in groups (pupils in schools) name the groups' column, which is never released, and a number as "
      "the\n"
      "response: \"nesting\": {\"groupColumn\": \"school\", \"response\": \"score\"}; see: curator synth "
      "list\n"
      "Example:\n  curator schema check census.json people.csv");
  Choose(command, options, chosen);
}

}  // namespace curator::cli
