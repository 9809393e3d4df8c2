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

// "a,[0, 10),b" are three labels: a comma inside brackets belongs to an interval.
std::vector<std::string> LabelsIn(const std::string& text) {
  std::vector<std::string> labels(1);
  bool inside = false;
  for (const char c : text) {
    if (c == ',' && !inside) {
      labels.emplace_back();
      continue;
    }
    labels.back().push_back(c);
    if (c == '[') inside = true;
    if (c == ')' || c == ']') inside = false;
  }
  return labels;
}

PartChoice PartIn(const std::string& text) {
  const size_t equals = text.find('=');
  if (equals == 0 || equals == std::string::npos || equals + 1 == text.size()) {
    throw CLI::ValidationError("part", "'" + text + "' is not NAME=LABEL,LABEL,...");
  }
  return {text.substr(0, equals), LabelsIn(text.substr(equals + 1))};
}

void AddPartition(CLI::App* command, CreateDataset& options) {
  CLI::Option* attribute =
      command
          ->add_option(
              "--partition-by", options.partition_attribute,
              "Divide the dataset by this attribute, for ever: each part has a budget of its own and is "
              "imported and sealed on its own")
          ->type_name("ATTRIBUTE");
  command
      ->add_option_function<std::vector<std::string>>(
          "--part",
          [&options](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) options.parts.push_back(PartIn(text));
          },
          "A part and the labels of its bins, e.g. early=2019..2021; may be repeated. Bins that no part "
          "names "
          "wait for `dataset add-part`. Default: each bin is a part")
      ->type_name("NAME=LABELS")
      ->allow_extra_args(false)
      ->needs(attribute);
}

void AddAddPart(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<AddPart>();
  CLI::App* command = AddCommand(group, "add-part", "Add a part with a fresh budget to a partitioned dataset",
                                 "curator dataset add-part visits 2027=2027");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command
      ->add_option_function<std::string>(
          "PART", [options](const std::string& text) { options->part = PartIn(text); },
          "The part and the labels of its bins")
      ->type_name("NAME=LABELS")
      ->required();
  AddPromise(command, options->rule, options->epsilon, options->delta);
  AddRequestId(command, options->request_id);
  command->final_callback([options, &chosen] {
    const bool names_limit = !options->epsilon.empty() || !options->delta.empty();
    if (names_limit && options->rule == v1::RULE_UNSPECIFIED) throw CLI::RequiredError("--rule");
    chosen = *options;
  });
}

void AddPartName(CLI::App* command, std::string& part) {
  command->add_option("--part", part, "The part, of a partitioned dataset")->type_name("PART");
}

void AddCreateDataset(CLI::App& group, Chosen& chosen) {
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
  AddPartition(command, *options);
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
  AddPartName(command, options->part);
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddSeal(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<SealDataset>();
  CLI::App* command =
      AddCommand(group, "seal", "Close a dataset, or a part, to imports and open it to questions",
                 "curator dataset seal census");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  AddPartName(command, options->part);
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
      "\nA number may be given by even steps, {\"numeric\": {\"min\": 0, \"max\": 100, \"step\": 0.5}}. "
      "Records that\n"
      "lie in groups (pupils in schools) name the groups' column, which is never released, and a number as "
      "the\n"
      "response: \"nesting\": {\"groupColumn\": \"school\", \"response\": \"score\"}; see: curator synth "
      "list\n"
      "Example:\n  curator schema check census.json people.csv");
  Choose(command, options, chosen);
}

}  // namespace

void AddDatasetGroups(CLI::App& app, Chosen& chosen) {
  CLI::App* group = app.add_subcommand("dataset", "Private tables: declare, fill, seal, show");
  group->require_subcommand(1);
  AddCreateDataset(*group, chosen);
  AddAddPart(*group, chosen);
  AddImport(*group, chosen);
  AddSeal(*group, chosen);
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
