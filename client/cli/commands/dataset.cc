// `curator dataset`: private tables, declared, filled, sealed and shown.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/acceptance.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/dataset_document.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/text.h"
#include "client/cli/schema/schema_file.h"
#include "client/client.h"

namespace curator::cli {
namespace {

// NAME=LABEL,LABEL,...: a part of a partitioned dataset by the labels of its bins.
struct PartChoice {
  std::string name;
  std::vector<std::string> labels;
};

struct CreateDataset {
  std::string name;
  std::string schema_file;
  PromiseChoice promise;
  v1::NeighbourRelation neighbours = v1::NEIGHBOUR_RELATION_ADD_REMOVE;
  bool is_public = false;
  bool confirmed = false;
  std::string successor_of;
  std::string partition_attribute;  // empty: not partitioned
  std::vector<PartChoice> parts;    // each bin is a part when empty
  std::string request_id;
};

struct AddPart {
  std::string dataset;
  PartChoice part;
  PromiseChoice promise;  // none: the dataset's limit
  std::string request_id;
};

struct SealDataset {
  std::string dataset;
  std::string part;  // of a partitioned dataset
  bool accept_equal_content = false;
  bool confirmed = false;
  std::string request_id;
};

struct ListDatasets {
  int64_t most = Client::kAll;
};

struct ShowDataset {
  std::string dataset;
};

struct PublishDataset {
  std::string dataset;
  bool confirmed = false;
  std::string request_id;
};

struct ArchiveDataset {
  std::string dataset;
  std::string request_id;
};

void SetPart(v1::Part& part, const PartChoice& choice) {
  part.set_name(choice.name);
  for (const std::string& label : choice.labels) part.add_labels(label);
}

// What is public stays public: it is asked for on a terminal and needs --yes elsewhere.
absl::Status ConfirmPublic(Session& session, const std::string& name) {
  constexpr char kWarning[] = "a public dataset has no privacy guarantee, no account and no charge, for good";
  if (!session.terminal.in_is_terminal || !session.terminal.error_is_terminal) {
    return absl::CancelledError(
        absl::StrCat("not done: give --yes where no question can be answered; ", kWarning));
  }
  session.error << kWarning << "\nType the dataset's name to make it public: " << std::flush;
  std::string typed;
  std::getline(session.in, typed);
  if (typed != name) return absl::CancelledError("not confirmed: nothing was done");
  return absl::OkStatus();
}

v1::CreateDatasetRequest RequestOf(const CreateDataset& command, SchemaFile file) {
  v1::CreateDatasetRequest request;
  request.set_name(command.name);
  *request.mutable_schema() = std::move(file.schema);
  for (v1::OwnerLook& look : file.looks) *request.add_looks() = std::move(look);
  request.set_neighbours(command.neighbours);
  request.set_public_(command.is_public);
  request.set_successor_of(command.successor_of);
  if (command.promise.has_rule()) *request.mutable_limit() = LimitOf(command.promise);
  if (!command.partition_attribute.empty()) {
    request.mutable_partition()->set_attribute(command.partition_attribute);
    for (const PartChoice& part : command.parts) SetPart(*request.mutable_partition()->add_parts(), part);
  }
  return request;
}

absl::Status Run(Session& session, const CreateDataset& command) {
  ASSIGN_OR_RETURN(SchemaFile file, ReadSchemaFile(command.schema_file));
  RETURN_IF_ERROR(CheckFilled(file.schema, command.schema_file));
  if (command.is_public && !command.confirmed) {
    RETURN_IF_ERROR(ConfirmPublic(session, command.name));
  }
  v1::CreateDatasetRequest request = RequestOf(command, std::move(file));
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.CreateDataset(std::move(request)));

  Document document = DatasetDocument(dataset);
  AddRequestFacts(session, document);
  document.notes.push_back(absl::StrCat("next: curator dataset import ", dataset.name(), " FILE.csv",
                                        dataset.has_partition() ? " --part PART" : ""));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const AddPart& command) {
  v1::AddPartRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  SetPart(*request.mutable_part(), command.part);
  if (command.promise.has_rule()) *request.mutable_limit() = LimitOf(command.promise);
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.AddPart(std::move(request)));

  Document document;
  document.fields = {{"dataset", "dataset", command.dataset}, {"part", "part added", command.part.name}};
  AddPartitionFacts(dataset.partition(), document);
  AddRequestFacts(session, document);
  document.notes.push_back(
      absl::StrCat("next: curator dataset import ", dataset.name(), " FILE.csv --part ", command.part.name));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const SealDataset& command) {
  v1::SealDatasetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_part(command.part);
  request.set_accept_equal_content(command.accept_equal_content);
  const std::vector<Acceptance> acceptances = {
      {"EQUAL_CONTENT", "Seal it under a budget of its own",
       [&request] { request.set_accept_equal_content(true); }},
      {"NO_RECORDS", "Seal it without records", [&request] { request.set_accept_no_records(true); }},
      {"DOMAIN_FROM_RECORDS", "Seal it, and say so for ever",
       [&request] { request.set_accept_domain_from_records(true); }}};
  ASSIGN_OR_RETURN(const v1::SealDatasetResponse sealed,
                   SendAccepting(session, command.confirmed, acceptances,
                                 [&] { return session.client.SealDataset(request); }));

  Document document;
  document.fields = {{"dataset", "dataset", sealed.dataset().name()},
                     {"state", "state", NameOf(sealed.dataset().state())},
                     {"records", "records", sealed.records()},
                     {"records_dropped", "beyond their unit's bound", sealed.records_dropped()}};
  PrintForOwner(session, document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListDatasets& command) {
  ASSIGN_OR_RETURN(const v1::ListDatasetsResponse list, session.client.ListDatasets(command.most));
  Table table{"datasets",
              "",
              {{"name", "dataset"},
               {"owner", "owner"},
               {"state", "state"},
               {"public", "public"},
               {"neighbours", "neighbours"},
               {"attributes", "attributes", Align::kRight},
               {"create_time", "created"}},
              {}};
  for (const v1::Dataset& dataset : list.datasets()) {
    table.rows.push_back({dataset.name(), dataset.owner(), NameOf(dataset.state()), dataset.public_(),
                          NameOf(dataset.neighbours()), int64_t{dataset.schema().attributes_size()},
                          FormatTime(dataset.create_time())});
  }
  Document document;
  document.tables.push_back(std::move(table));
  for (const std::string& name : list.unreadable()) {
    document.notes.push_back(
        absl::StrCat("dataset \"", name, "\" is left out: its row in the database is damaged"));
  }
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowDataset& command) {
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(command.dataset));
  session.Print(DatasetDocument(dataset));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const PublishDataset& command) {
  if (!command.confirmed) RETURN_IF_ERROR(ConfirmPublic(session, command.dataset));
  v1::PublishDatasetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.PublishDataset(std::move(request)));
  Document document = DatasetDocument(dataset);
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ArchiveDataset& command) {
  v1::ArchiveDatasetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.ArchiveDataset(std::move(request)));
  Document document = DatasetDocument(dataset);
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

// A private dataset has a rule and a limit; a public one has none; a successor has its predecessor's.
void CheckBudget(const CreateDataset& options) {
  const bool has_limit = options.promise.has_rule() || options.promise.has_limit();
  if (options.is_public && has_limit)
    throw CLI::ValidationError("--public", "a public dataset has no budget");
  if (!options.successor_of.empty() && has_limit) {
    throw CLI::ValidationError("--successor-of",
                               "a successor shares the earlier dataset's budget and takes no other");
  }
  if (options.is_public || !options.successor_of.empty()) return;
  if (!options.promise.has_rule()) throw CLI::RequiredError("--rule");
  if (options.promise.epsilon.empty()) throw CLI::RequiredError("--epsilon");
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

void AddPartitionOptions(CLI::App* command, CreateDataset& options) {
  CLI::Option* attribute =
      command
          ->add_option(
              "--partition-by", options.partition_attribute,
              "Divide the dataset by this attribute, permanently: each part has its own budget and is "
              "imported and sealed separately")
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
  CLI::App* command = AddCommand(group, "add-part", "Add a part with a new budget to a partitioned dataset",
                                 "curator dataset add-part visits 2027=2027");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command
      ->add_option_function<std::string>(
          "PART", [options](const std::string& text) { options->part = PartIn(text); },
          "The part and the labels of its bins")
      ->type_name("NAME=LABELS")
      ->required();
  AddPromise(command, options->promise);
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen, [](const AddPart& add) {
    if (add.promise.has_limit() && !add.promise.has_rule()) throw CLI::RequiredError("--rule");
  });
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
  AddPromise(command, options->promise);
  AddChoice<v1::NeighbourRelation>(*command, "--neighbours", "add-remove|replace-one", options->neighbours,
                                   {{"add-remove", v1::NEIGHBOUR_RELATION_ADD_REMOVE},
                                    {"replace-one", v1::NEIGHBOUR_RELATION_REPLACE_ONE}},
                                   "Whether the number of records is private or public. Default: add-remove");
  command->add_flag("--public", options->is_public, "No guarantee, no account, no charge; irrevocable");
  command->add_flag("--yes", options->confirmed, "Do not ask before making a dataset public");
  command
      ->add_option("--successor-of", options->successor_of,
                   "An earlier dataset about the same people, whose budget is shared")
      ->type_name("NAME");
  AddPartitionOptions(command, *options);
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen, CheckBudget);
}

void AddSealDataset(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<SealDataset>();
  CLI::App* command =
      AddCommand(group, "seal", "Close a dataset, or a part, to imports and open it to queries",
                 "curator dataset seal census");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  AddPartName(command, options->part);
  command->add_flag("--accept-equal-content", options->accept_equal_content,
                    "Seal records that another of your datasets holds under another budget");
  AddYes(command, options->confirmed, "Accept whatever the server asks to accept, without asking here");
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddPublishDataset(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<PublishDataset>();
  CLI::App* command =
      AddCommand(group, "publish",
                 "Let a dataset that its owner created as public be used without any guarantee, for "
                 "good; for approvers, except the owner",
                 "curator dataset publish census-2010");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_flag("--yes", options->confirmed, "Do not ask for confirmation");
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

void AddArchiveDataset(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<ArchiveDataset>();
  CLI::App* command =
      AddCommand(group, "archive", "Close a dataset permanently; its releases and history remain",
                 "curator dataset archive census");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

}  // namespace

void AddDatasetCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group = AddGroup(app, "dataset", "Private tables: declare, fill, seal, show");
  AddCreateDataset(*group, chosen);
  AddAddPart(*group, chosen);
  AddDatasetImportCommand(*group, chosen);
  AddDatasetImportsCommands(*group, chosen);
  AddSealDataset(*group, chosen);
  AddDatasetGrantCommands(*group, chosen);
  AddDatasetRefusalCommands(*group, chosen);
  const auto list = std::make_shared<ListDatasets>();
  CLI::App* command =
      AddCommand(*group, "list", "The datasets that you have access to, by name", "curator dataset list");
  AddMost(command, list->most);
  Choose(command, list, chosen);
  AddNameCommand(*group, "show", "The public facts about a dataset", "curator dataset show census",
                 &ShowDataset::dataset, "NAME", chosen);
  AddPublishDataset(*group, chosen);
  AddArchiveDataset(*group, chosen);
  AddDatasetDeleteCommand(*group, chosen);
}

}  // namespace curator::cli
