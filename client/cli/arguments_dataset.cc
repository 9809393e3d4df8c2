#include "client/cli/arguments_parts.h"

namespace curator::cli {
namespace {

// A private dataset has a rule and a limit; a public one has none; a successor has its predecessor's.
void CheckBudget(const CreateDataset& options) {
  const bool has_limit =
      options.rule != v1::RULE_UNSPECIFIED || !options.epsilon.empty() || !options.delta.empty();
  if (options.is_public && has_limit)
    throw CLI::ValidationError("--public", "a public dataset has no budget");
  if (!options.successor_of.empty() && has_limit) {
    throw CLI::ValidationError("--successor-of",
                               "a successor shares the earlier dataset's budget and takes no other");
  }
  if (options.is_public || !options.successor_of.empty()) return;
  if (options.rule == v1::RULE_UNSPECIFIED) throw CLI::RequiredError("--rule");
  if (options.epsilon.empty()) throw CLI::RequiredError("--epsilon");
}

void AddCreate(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<CreateDataset>();
  CLI::App* command = AddCommand(
      group, "create", "Declare a dataset: its schema, its neighbours and its budget, before any record",
      "curator dataset create census --schema census.json --rule zcdp --epsilon 3 --delta 1e-9");
  command->add_option("NAME", options->name, "1 to 63 of a-z, 0-9, _ and -, starting with a letter")
      ->required();
  command
      ->add_option("--schema", options->schema_file, "The schema in JSON (see: curator schema check --help)")
      ->type_name("FILE.json")
      ->required();
  AddPromise(command, options->rule, options->epsilon, options->delta);
  AddChoice<v1::NeighbourRelation>(*command, "--neighbours", "add-remove|replace-one", options->neighbours,
                                   {{"add-remove", v1::NEIGHBOUR_RELATION_ADD_REMOVE},
                                    {"replace-one", v1::NEIGHBOUR_RELATION_REPLACE_ONE}},
                                   "Whether the number of records is private or public. Default: add-remove");
  command->add_flag("--public", options->is_public,
                    "No guarantee, no account, no charge; cannot be taken back");
  command->add_flag("--yes", options->confirmed, "Do not ask before making a dataset public");
  command
      ->add_option("--successor-of", options->successor_of,
                   "An earlier dataset about the same people, whose budget is shared")
      ->type_name("NAME");
  AddRequestId(command, options->request_id);
  command->final_callback([options, &chosen] {
    CheckBudget(*options);
    chosen = *options;
  });
}

void AddImport(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ImportRecords>();
  CLI::App* command = AddCommand(group, "import", "Send a CSV file with a header line; all or nothing",
                                 "curator dataset import census people.csv.gz");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("FILE", options->file, "CSV, plain or gzip; it is streamed, never in memory whole")
      ->required();
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

// Commands that take a dataset and change it.
template <typename Options>
void AddChange(CLI::App& group, const std::string& name, const std::string& summary, Chosen& chosen) {
  const auto options = std::make_shared<Options>();
  CLI::App* command = AddCommand(group, name, summary, "curator dataset " + name + " census");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddGrant(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<GrantAccess>();
  CLI::App* command = AddCommand(group, "grant", "Let someone else ask", "curator dataset grant census ana");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_option("PRINCIPAL", options->principal, "Who may ask from now on")->required();
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddSchemaGroup(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("schema", "Schema files");
  group->require_subcommand(1);
  const auto options = std::make_shared<CheckSchema>();
  CLI::App* command =
      AddCommand(*group, "check", "Check a schema, and a CSV file against it; nothing is kept",
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
      "Example:\n  curator schema check census.json people.csv");
  Choose(command, options, chosen);
}

}  // namespace

void AddDatasetGroups(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("dataset", "Private tables: declare, fill, seal, show");
  group->require_subcommand(1);
  AddCreate(*group, chosen);
  AddImport(*group, chosen);
  AddChange<SealDataset>(*group, "seal", "Close a dataset to imports and open it to questions", chosen);
  AddGrant(*group, chosen);
  Choose(AddCommand(*group, "list", "The datasets that you may see", "curator dataset list"),
         std::make_shared<ListDatasets>(), chosen);
  AddNameCommand(*group, "show", "The public facts about a dataset", "curator dataset show census",
                 &ShowDataset::dataset, "NAME", chosen);
  AddChange<ArchiveDataset>(*group, "archive", "Close a dataset for good; its releases and history stay",
                            chosen);
  AddSchemaGroup(app, chosen);
}

}  // namespace curator::cli
