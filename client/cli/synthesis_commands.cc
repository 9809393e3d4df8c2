#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "client/cli/commands.h"
#include "client/cli/document.h"
#include "client/cli/names.h"
#include "client/cli/receipt_file.h"
#include "client/cli/sample_output.h"
#include "client/cli/session.h"
#include "client/cli/tables.h"
#include "client/cli/workload_choice.h"
#include "client/client.h"

namespace curator::cli {
namespace {

// What a model is to answer well: attributes alone stand for all pairs of them.
WorkloadChoice WorkloadToLearn(WorkloadChoice choice) {
  if (!choice.asks() && !choice.attributes.empty()) choice.marginals = 2;
  return choice;
}

absl::StatusOr<v1::SynthesisSpec> SpecOf(Session& session, const std::string& dataset_name,
                                         const SynthesisChoice& choice) {
  v1::SynthesisSpec spec;
  spec.set_method(choice.method);
  *spec.mutable_spend() = SpendOf(choice.spend);
  for (const auto& [key, value] : choice.settings) (*spec.mutable_settings())[key] = value;
  for (const std::string& part : choice.parts) spec.add_parts(part);
  const WorkloadChoice asked = WorkloadToLearn(choice.workload);
  if (!asked.asks()) return spec;
  const absl::StatusOr<v1::Dataset> dataset = session.client.GetDataset(dataset_name);
  if (!dataset.ok()) return dataset.status();
  absl::StatusOr<v1::Workload> workload = WorkloadOf(asked, dataset->schema());
  if (!workload.ok()) return workload.status();
  *spec.mutable_workload() = *std::move(workload);
  return spec;
}

// Follows the operation to its end, with a bar on a terminal.
absl::StatusOr<v1::Operation> Follow(Session& session, const std::string& operation_id) {
  const auto visibility =
      session.terminal.error_is_terminal ? ProgressBar::Visibility::kShown : ProgressBar::Visibility::kHidden;
  ProgressBar bar(session.error, session.terminal, visibility);
  return session.client.WatchOperation(operation_id, [&bar](const v1::Operation& operation) {
    bar.Show(operation.percent(), operation.summary());
  });
}

}  // namespace

absl::Status Run(Session& session, const ListSynthesizers&) {
  const absl::StatusOr<v1::ListSynthesizersResponse> list = session.client.ListSynthesizers();
  if (!list.ok()) return list.status();
  Document document;
  Table methods{"synthesizers", "", {{"method", "method"}, {"summary", "what it does"}}, {}};
  Table settings{"settings",
                 "settings (--set key=value)",
                 {{"method", "method"}, {"key", "key"}, {"default", "default"}, {"summary", "what it sets"}},
                 {}};
  for (const v1::Synthesizer& synthesizer : list->synthesizers()) {
    methods.rows.push_back({synthesizer.method(), synthesizer.summary()});
    for (const v1::Setting& setting : synthesizer.settings()) {
      settings.rows.push_back(
          {synthesizer.method(), setting.key(), setting.default_value(), setting.summary()});
    }
  }
  document.tables = {std::move(methods), std::move(settings)};
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const EstimateSynthesis& command) {
  v1::EstimateSynthesisRequest request;
  request.set_dataset(command.dataset);
  absl::StatusOr<v1::SynthesisSpec> spec = SpecOf(session, command.dataset, command.choice);
  if (!spec.ok()) return spec.status();
  *request.mutable_spec() = *std::move(spec);
  if (command.assumed_rows) request.set_assume_rows(*command.assumed_rows);
  const absl::StatusOr<v1::EstimateSynthesisResponse> estimate = session.client.EstimateSynthesis(request);
  if (!estimate.ok()) return estimate.status();

  Document document;
  document.fields = {{"dataset", "dataset", command.dataset},
                     {"method", "method", command.choice.method},
                     {"model_cells", "cells of the model", estimate->model_cells()},
                     {"event", "would be recorded as", estimate->event()},
                     {"protects", "protects", estimate->protects()},
                     {"fits", "fits the budget", estimate->fits()}};
  Table settings{"settings", "settings", {{"key", "key"}, {"value", "value"}}, {}};
  const std::map<std::string, std::string> sorted(estimate->settings().begin(), estimate->settings().end());
  for (const auto& [key, value] : sorted) settings.rows.push_back({key, value});
  Table schedule{"schedule", "schedule", {{"step", "step", Align::kRight}, {"what", "what"}}, {}};
  for (int i = 0; i < estimate->schedule_size(); ++i)
    schedule.rows.push_back({int64_t{i} + 1, estimate->schedule(i)});
  document.tables = {CostTable(estimate->costs()), std::move(settings), std::move(schedule)};
  document.notes.emplace_back("nothing was charged, no record was read");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const RunSynthesis& command) {
  v1::CreateSynthesisRequest request;
  request.set_dataset(command.dataset);
  absl::StatusOr<v1::SynthesisSpec> spec = SpecOf(session, command.dataset, command.choice);
  if (!spec.ok()) return spec.status();
  *request.mutable_spec() = *std::move(spec);
  if (absl::Status status = session.SetRequestId(request, command.request_id); !status.ok()) return status;
  const absl::StatusOr<v1::Operation> started = session.client.CreateSynthesis(std::move(request));
  if (!started.ok()) return started.status();
  if (absl::Status kept = KeepReceipt(session, command.receipt); !kept.ok()) return kept;
  session.error << "operation " << started->id() << ", request id " << session.request_id << "\n";
  const absl::StatusOr<v1::Operation> ended = Follow(session, started->id());
  if (!ended.ok()) return ended.status();
  if (absl::Status status = StatusOf(*ended); !status.ok()) return status;

  Document document = OperationDocument(*ended);
  if (command.out.empty()) {
    document.notes.push_back(
        absl::StrCat("next: curator release sample ", ended->release_id(), " --out FILE.csv"));
  } else {
    const absl::StatusOr<int64_t> bytes =
        WriteSample(session, {ended->release_id(), command.rows, command.as_bins}, command.out);
    if (!bytes.ok()) return bytes.status();
    if (command.out == "-") return absl::OkStatus();
    document.fields.push_back({"out", "written to", command.out});
    document.fields.push_back({"out_bytes", "bytes", *bytes});
  }
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
