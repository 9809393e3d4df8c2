// `curator schema`: schema files.
#include <signal.h>
#include <unistd.h>

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/dataset_document.h"
#include "client/cli/commands/most_rejected.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/text.h"
#include "client/cli/schema/csv_columns.h"
#include "client/cli/schema/edit.h"
#include "client/cli/schema/look.h"
#include "client/cli/schema/schema_file.h"
#include "client/cli/schema/template.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct CheckSchema {
  std::string schema_file;
  std::string csv_file;  // empty for none
  MostRejected most_rejected;
};

struct MakeTemplate {
  std::string csv_file;
  std::string out = "-";
  bool looks = false;
  bool accepts_domain = false;
};

absl::Status Run(Session& session, const CheckSchema& command) {
  ASSIGN_OR_RETURN(const SchemaFile schema_file, ReadSchemaFile(command.schema_file));
  const v1::Schema& schema = schema_file.schema;
  RETURN_IF_ERROR(CheckFilled(schema, command.schema_file));
  session.fields.AddFile("schema", command.schema_file, "schema");
  session.fields.Add("csv", command.csv_file);
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
  AddMeasures(schema, document);
  AddConstraints(schema, document);
  if (checked->has_import()) AddImportFacts(checked->import(), document);
  session.Print(document);
  if (!command.most_rejected.IsExceededBy(checked->import())) return absl::OkStatus();
  return absl::FailedPreconditionError(command.most_rejected.Complaint(checked->import()));
}

struct EditSchemaFile {
  std::string schema_file;
};

// While it lives, Ctrl-C ends the reading of an answer, as Ctrl-D does, and not the program.
class CtrlCEndsInput {
 public:
  CtrlCEndsInput() {
    struct sigaction action = {};
    action.sa_handler = [](int) {};
    sigaction(SIGINT, &action, &before_);
  }
  ~CtrlCEndsInput() { sigaction(SIGINT, &before_, nullptr); }
  CtrlCEndsInput(const CtrlCEndsInput&) = delete;
  CtrlCEndsInput& operator=(const CtrlCEndsInput&) = delete;

 private:
  struct sigaction before_ = {};
};

absl::Status Run(Session& session, const EditSchemaFile& command) {
  const std::string& path = command.schema_file;
  ASSIGN_OR_RETURN(SchemaFile file, ReadSchemaFile(path));
  const CtrlCEndsInput guard;
  const EditEnd end = EditSchema(file.schema, session.in, session.out);
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> out,
                   CreateOutput({"SCHEMA", "schemas"}, path, session.out));
  out->stream() << TextOf(file);
  RETURN_IF_ERROR(out->Commit());
  session.out << Printable(path)
              << (end == EditEnd::kStopped ? " is saved as far as you came; go on with: curator schema edit "
                                           : " is saved; next: curator schema check ")
              << Printable(path) << "\n";
  return absl::OkStatus();
}

void AddEdit(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<EditSchemaFile>();
  CLI::App* command = AddCommand(
      group, "edit", "Fill in or change a schema by questions and answers; saved at the end and on Ctrl-C",
      "curator schema edit people.json");
  command
      ->add_option("SCHEMA", options->schema_file, "The schema in JSON, such as a template; it is replaced")
      ->type_name("FILE.json")
      ->required();
  Choose(command, options, chosen);
}

constexpr char kOfALook[] =
    "--look reads private values, and the file that it writes depends on them: on which columns are "
    "integers, "
    "numbers, dates or texts, and on how they are written, so that analysts learn that much of the records. "
    "The history of each dataset that is created with the file has the look, its time and the file's "
    "SHA-256.";
constexpr char kOfTheDomain[] =
    "--accept-domain-from-records also takes ranges, categories and bins from the records. Everybody who "
    "sees "
    "the schema learns these values, such as the largest income and a category of one person, and the "
    "guarantee does not cover them. The dataset says so for ever, in each estimate, answer and receipt.";

absl::StatusOr<SchemaFile> ProposedByLook(Session& session, const MakeTemplate& command,
                                          const CsvHeader& header, const SchemaFile& unfilled) {
  session.error << "PRIVATE: " << kOfALook << "\n";
  if (command.accepts_domain) session.error << "PRIVATE: " << kOfTheDomain << "\n";
  session.error << std::flush;
  ASSIGN_OR_RETURN(Look look,
                   LookAt(command.csv_file, header, unfilled,
                          command.accepts_domain ? LookFor::kDomain : LookFor::kKinds, absl::Now()));
  if (!look.notes.empty()) session.error << "For the owner's eyes only, and not in the file:\n";
  for (const std::string& note : look.notes) session.error << "  " << Printable(note) << "\n";
  return std::move(look.file);
}

absl::Status Run(Session& session, const MakeTemplate& command) {
  const OutputOption option{"--out", "schemas", {".json"}};
  RETURN_IF_ERROR(CheckExtension(option, command.out));  // before records are read
  if (command.out != "-" && access(command.out.c_str(), F_OK) == 0) {
    return absl::AlreadyExistsError(
        absl::StrCat("--out ", command.out, " exists already: give another name, or remove it"));
  }
  ASSIGN_OR_RETURN(const CsvHeader header, ReadCsvHeader(command.csv_file));
  ASSIGN_OR_RETURN(SchemaFile file, UnfilledSchema(header, command.csv_file));
  if (command.looks) {
    ASSIGN_OR_RETURN(file, ProposedByLook(session, command, header, file));
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> out, CreateOutput(option, command.out, session.out));
  out->stream() << TemplateText(file, command.csv_file);
  RETURN_IF_ERROR(out->Commit());
  if (command.out != "-") {
    session.error << "next: fill it in, in an editor or with: curator schema edit " << Printable(command.out)
                  << "\n";
  }
  return absl::OkStatus();
}

void AddTemplate(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<MakeTemplate>();
  CLI::App* command =
      AddCommand(group, "template",
                 "Write a schema for a CSV file from its header alone, to be filled in with its comments",
                 "curator schema template people.csv --out people.json");
  command->add_option("CSV", options->csv_file, "A CSV file, plain or gzip")
      ->type_name("FILE.csv")
      ->required();
  command
      ->add_option("--out", options->out,
                   "The file to write; it must not exist yet. Default: standard output")
      ->type_name("FILE.json");
  CLI::Option* const looks = command->add_flag(
      "--look", options->looks,
      "PRIVATE: read the records, too, and propose kinds and ways of writing, but no range, category or bin. "
      "The dataset's history will say that you looked");
  command
      ->add_flag(
          "--accept-domain-from-records", options->accepts_domain,
          "PRIVATE: propose ranges, categories and bins, too, as they are in the records. All who see the "
          "schema learn them, and the dataset says for ever that its guarantee does not cover them")
      ->needs(looks);
  Choose(command, options, chosen);
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
  AddMaxRejected(command, options->most_rejected);
  command->footer(
      "A schema is an ordered list of attributes and, optionally, whom the guarantee protects:\n"
      "  {\"attributes\": [\n"
      "     {\"name\": \"age\",    \"integer\": {\"min\": 17, \"max\": 90, \"binWidth\": 5}},\n"
      "     {\"name\": \"sex\",    \"categorical\": {\"values\": [\"Female\", \"Male\"], \"catchAll\": "
      "\"?\"}},\n"
      "     {\"name\": \"income\", \"numeric\": {\"edges\": [0, 1000, 5000, 20000]}},\n"
      "     {\"name\": \"visit\",  \"date\": {\"from\": \"2019-01-01\", \"to\": \"2024-12-31\", \"bins\": "
      "\"MONTH\"}},\n"
      "     {\"name\": \"zone\",   \"coded\": {\"size\": 7}}],\n"
      "   \"unit\": {\"person\": {\"idColumn\": \"pid\", \"maxRecords\": 3}}}\n"
      "\nThe unit says whom the guarantee protects: {\"record\": {}} (default), a person as above, or a "
      "group,\n"
      "{\"group\": {\"idColumn\": \"school\", \"maxRecords\": 400}}, all of whose records are protected "
      "together.\n"
      "\nBeside its kind an attribute may have a bin for missing values, \"missing\": {\"bin\": \"none\"}, "
      "and how "
      "its cells\n"
      "are written, \"reading\": {\"decimalSign\": \",\"}. Comments begin with //. All of it, with examples: "
      "curator "
      "schema template\n"
      "\nNumbers that sums, means and variances are taken of are measures, beside the attributes:\n"
      "  \"measures\": [{\"name\": \"income\", \"low\": 0, \"high\": 200000, \"resolution\": 100}]\n"
      "\nA number may be given by even steps, {\"numeric\": {\"min\": 0, \"max\": 100, \"step\": 0.5}}. "
      "Records that\n"
      "lie in groups (pupils in schools) name the groups' column, which is never released, and a number as "
      "the\n"
      "response: \"nesting\": {\"groupColumn\": \"school\", \"response\": \"score\"}; see: curator synth "
      "list.\n"
      "Attributes of the group itself, \"groupAttributes\": [\"sector\"], are the same for all records of a "
      "synthetic\n"
      "group.\n"
      "Example:\n  curator schema check census.json people.csv");
  Choose(command, options, chosen);
  AddTemplate(*group, chosen);
  AddEdit(*group, chosen);
}

}  // namespace curator::cli
