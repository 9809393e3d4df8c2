// `curator dataset delete`: a dataset that was never charged.
#include <iostream>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/output/document.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct DeleteDataset {
  std::string dataset;
  bool confirmed = false;
  std::string request_id;
};

absl::Status ConfirmDeletion(Session& session, const std::string& dataset) {
  constexpr char kWarning[] = "the records of a deleted dataset are gone for good, and its name is free";
  if (!session.terminal.in_is_terminal || !session.terminal.error_is_terminal)
    return absl::CancelledError(
        absl::StrCat("not deleted: give --yes where no question can be answered; ", kWarning));
  session.error << kWarning << "\nType the dataset's name to delete it: " << std::flush;
  std::string typed;
  std::getline(session.in, typed);
  if (typed != dataset) return absl::CancelledError("not confirmed: nothing was done");
  return absl::OkStatus();
}

absl::Status Run(Session& session, const DeleteDataset& command) {
  if (!command.confirmed) RETURN_IF_ERROR(ConfirmDeletion(session, command.dataset));
  v1::DeleteDatasetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  ASSIGN_OR_RETURN(const v1::DeleteDatasetResponse deleted, session.client.DeleteDataset(std::move(request)));
  Document document;
  document.fields = {{"dataset", "deleted", command.dataset}, {"dataset_id", "id", deleted.dataset_id()}};
  document.notes.push_back(absl::StrCat("its history stays: curator ledger show ", deleted.dataset_id()));
  AddRequestFacts(session, document);
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddDatasetDeleteCommand(CLI::App& dataset_group, Chosen& chosen) {
  const auto options = std::make_shared<DeleteDataset>();
  CLI::App* command =
      AddCommand(dataset_group, "delete", "Remove a dataset that was never charged; its history stays",
                 "curator dataset delete census");
  command->add_option("NAME", options->dataset, "The dataset")->required();
  command->add_flag("--yes", options->confirmed, "Do not ask for confirmation");
  AddRequestId(command, options->request_id);
  Choose(command, options, chosen);
}

}  // namespace curator::cli
