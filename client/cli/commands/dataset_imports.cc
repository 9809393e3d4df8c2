// `curator dataset imports`, `undo-import`: what was imported into a dataset, until it is sealed.
#include <memory>
#include <string>
#include <utility>

#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ListImports {
  std::string dataset;
  int64_t most = Client::kAll;
};

struct UndoImport {
  std::string dataset;
  std::string import_request_id;
  std::string request_id;
};

std::string NameOfSource(v1::RecordSource source) {
  switch (source) {
    case v1::RECORD_SOURCE_TABLE:
      return "table";
    case v1::RECORD_SOURCE_QUERY:
      return "query";
    default:
      return "file";
  }
}

absl::Status Run(Session& session, const ListImports& command) {
  ASSIGN_OR_RETURN(const v1::ListImportsResponse list,
                   session.client.ListImports(command.dataset, command.most));
  Table table{"imports",
              "",
              {{"request_id", "import"},
               {"part", "part"},
               {"time", "time"},
               {"rows_accepted", "rows", Align::kRight},
               {"source", "source"}},
              {}};
  for (const v1::Import& import : list.imports()) {
    table.rows.push_back({import.request_id(), import.part().empty() ? Value() : Value(import.part()),
                          import.has_time() ? Value(FormatTime(import.time())) : Value(),
                          import.rows_accepted(), NameOfSource(import.source())});
  }
  Document document;
  document.tables.push_back(std::move(table));
  document.notes.emplace_back("these figures depend on the records: for the owner's eyes only");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const UndoImport& command) {
  v1::UndoImportRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_import_request_id(command.import_request_id);
  RETURN_IF_ERROR(session.client.UndoImport(std::move(request)).status());
  Document document;
  document.fields = {{"dataset", "dataset", command.dataset},
                     {"import", "import undone", command.import_request_id}};
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

void AddUndoImport(CLI::App& group, Chosen& chosen) {
  const auto options = std::make_shared<UndoImport>();
  CLI::App* command = AddCommand(group, "undo-import",
                                 "Remove the records of an import, until the dataset or its part is sealed",
                                 "curator dataset undo-import census 0192f2c1-7d5b-7c3e-9a41-5b0d6e8f1a2b");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command
      ->add_option("REQUEST_ID", options->import_request_id,
                   "That of the import (see: curator dataset imports NAME)")
      ->required();
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

}  // namespace

void AddDatasetImportsCommands(CLI::App& dataset_group, Chosen& chosen) {
  AddNameCommand(dataset_group, "imports", "The imports of a dataset, from the first to the last",
                 "curator dataset imports census", &ListImports::dataset, "NAME", chosen);
  AddUndoImport(dataset_group, chosen);
}

}  // namespace curator::cli
