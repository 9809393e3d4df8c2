// `curator synth`: synthetic data.
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands/commands.h"
#include "client/cli/commands/delivery.h"
#include "client/cli/commands/workload_choice.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/tables.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct SynthesisChoice {
  std::string method = "auto";
  SpendChoice spend;
  std::map<std::string, std::string> settings;
  WorkloadChoice workload;  // what the model should answer well; the method's own when nothing is asked
  std::vector<std::string> parts;  // all that are sealed when empty
};

struct ListSynthesizers {};

struct EstimateSynthesis {
  std::string dataset;
  SynthesisChoice choice;
  std::optional<int64_t> assumed_rows;
};

struct RunSynthesis {
  std::string dataset;
  SynthesisChoice choice;
  SampleChoice sample;
  std::string receipt;  // a file to which the receipt is appended
  std::string request_id;
  std::string out;  // empty: nothing is sampled
};

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
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(dataset_name));
  ASSIGN_OR_RETURN(v1::Workload workload, WorkloadOf(asked, dataset.schema()));
  NameQuerySets(asked, workload, session.fields);
  *spec.mutable_workload() = std::move(workload);
  return spec;
}

// Follows the operation to its end, with a bar on a terminal.
absl::StatusOr<v1::Operation> Follow(Session& session, const std::string& operation_id) {
  const auto visibility =
      session.terminal.error_is_terminal ? ProgressBar::Visibility::kShown : ProgressBar::Visibility::kHidden;
  ProgressBar bar(session.error, session.terminal, visibility);
  return session.client.WatchOperation(operation_id, [&bar](const v1::Operation& operation) {
    const int64_t position = operation.queue_position();
    bar.Show(operation.percent(), position == 0
                                      ? operation.summary()
                                      : absl::StrCat(operation.summary(), " (", position, " in the queue)"));
  });
}

// One row for each setting, and one for a method without settings: CSV has a single table.
Table SettingRecords(const v1::ListSynthesizersResponse& list) {
  Table records{"settings",
                "",
                {{"method", ""}, {"method_summary", ""}, {"key", ""}, {"default", ""}, {"summary", ""}},
                {}};
  for (const v1::Synthesizer& synthesizer : list.synthesizers()) {
    for (const v1::Setting& setting : synthesizer.settings()) {
      records.rows.push_back({synthesizer.method(), synthesizer.summary(), setting.key(),
                              setting.default_value(), setting.summary()});
    }
    if (synthesizer.settings().empty()) {
      records.rows.push_back({synthesizer.method(), synthesizer.summary(), std::monostate(), std::monostate(),
                              std::monostate()});
    }
  }
  return records;
}

absl::Status Run(Session& session, const ListSynthesizers&) {
  ASSIGN_OR_RETURN(const v1::ListSynthesizersResponse list, session.client.ListSynthesizers());
  Document document;
  if (session.form == OutputForm::kCsv) {
    document.tables.push_back(SettingRecords(list));
    session.Print(document);
    return absl::OkStatus();
  }
  Table methods{"synthesizers", "", {{"method", "method"}, {"summary", "what it does"}}, {}};
  Table settings{"settings",
                 "settings (--set key=value)",
                 {{"method", "method"}, {"key", "key"}, {"default", "default"}, {"summary", "what it sets"}},
                 {}};
  settings.displayed_rows = std::numeric_limits<size_t>::max();  // who looks for one needs them all
  for (const v1::Synthesizer& synthesizer : list.synthesizers()) {
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
  ASSIGN_OR_RETURN(v1::SynthesisSpec spec, SpecOf(session, command.dataset, command.choice));
  *request.mutable_spec() = std::move(spec);
  if (command.assumed_rows) request.set_assume_rows(*command.assumed_rows);
  ASSIGN_OR_RETURN(const v1::EstimateSynthesisResponse estimate, session.client.EstimateSynthesis(request));

  Document document;
  document.fields = {{"dataset", "dataset", command.dataset},
                     {"method", "method", command.choice.method},
                     {"model_cells", "cells of the model", estimate.model_cells()},
                     {"event", "would be recorded as", estimate.event()},
                     {"protects", "protects", estimate.protects()},
                     {"fits", "fits the budget", estimate.fits()},
                     {"predicted_cpu_seconds", "processor seconds", estimate.predicted_cpu_seconds()},
                     {"predicted_memory_bytes", "bytes of memory", estimate.predicted_memory_bytes()},
                     RefusalField(estimate.refused_by_rule())};
  Table settings{"settings", "settings", {{"key", "key"}, {"value", "value"}}, {}};
  const std::map<std::string, std::string> sorted(estimate.settings().begin(), estimate.settings().end());
  for (const auto& [key, value] : sorted) settings.rows.push_back({key, value});
  Table schedule{"schedule", "schedule", {{"step", "step", Align::kRight}, {"what", "what"}}, {}};
  for (int i = 0; i < estimate.schedule_size(); ++i)
    schedule.rows.push_back({int64_t{i} + 1, estimate.schedule(i)});
  document.tables = {CostTable(estimate.costs()), std::move(settings), std::move(schedule)};
  AddDataFacts(estimate.domain_from_records(), estimate.rows_from_query(), document);
  document.notes.emplace_back("nothing was charged, no record was read");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const RunSynthesis& command) {
  std::unique_ptr<OutputFile> out;
  if (!command.out.empty()) {
    ASSIGN_OR_RETURN(out, OpenSample(session, command.out));
  }
  ASSIGN_OR_RETURN(ReceiptFile receipts, ReceiptFile::Open(command.receipt));
  v1::CreateSynthesisRequest request;
  request.set_dataset(command.dataset);
  ASSIGN_OR_RETURN(v1::SynthesisSpec spec, SpecOf(session, command.dataset, command.choice));
  *request.mutable_spec() = std::move(spec);
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  // An operation does not say what its dataset does. Asked before the charge: an error costs nothing then.
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(command.dataset));
  ASSIGN_OR_RETURN(const v1::Operation started, session.client.CreateSynthesis(std::move(request)));
  RETURN_IF_ERROR(receipts.AppendOwn(session));
  session.error << "operation " << started.id() << ", request id " << session.request_id << "\n";
  ASSIGN_OR_RETURN(const v1::Operation ended, Follow(session, started.id()));
  RETURN_IF_ERROR(StatusOf(ended));

  Document document = OperationDocument(ended);
  AddDataFacts(dataset.domain_from_records(), dataset.rows_from_query(), document);
  if (out == nullptr) {
    document.notes.push_back(
        absl::StrCat("next: curator release sample ", ended.release_id(), " --out FILE.csv"));
  } else {
    const absl::StatusOr<int64_t> bytes = WriteSample(session, ended.release_id(), command.sample, *out);
    if (!bytes.ok()) return StoredAgain(bytes.status(), session.request_id, "sample " + ended.release_id());
    if (command.out == "-") return absl::OkStatus();
    document.fields.push_back({"out", "written to", command.out});
    document.fields.push_back({"out_bytes", "bytes", *bytes});
  }
  session.Print(document);
  return absl::OkStatus();
}

// "key=value", each key once.
void AddSettings(CLI::App* command, std::map<std::string, std::string>& settings) {
  command
      ->add_option_function<std::vector<std::string>>(
          "--set",
          [&settings](const std::vector<std::string>& pairs) {
            for (const std::string& pair : pairs) {
              const size_t equals = pair.find('=');
              if (equals == std::string::npos || equals == 0) {
                throw CLI::ValidationError("--set", "'" + pair + "' is not key=value");
              }
              const std::string key = pair.substr(0, equals);
              if (!settings.emplace(key, pair.substr(equals + 1)).second) {
                throw CLI::ValidationError("--set", "'" + key + "' is set twice");
              }
            }
          },
          "A setting of the method; may be repeated (see: curator synth list)")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);
}

void AddSynthesisChoice(CLI::App* command, SynthesisChoice& choice) {
  command
      ->add_option(
          "--method", choice.method,
          "How the model is learned (see: curator synth list); auto: chosen by what is public and by a "
          "noisy number of records")
      ->type_name("M")
      ->capture_default_str();
  AddSpend(command, choice.spend);
  AddSettings(command, choice.settings);
  AddWorkload(command, choice.workload, WorkloadNeed::kOptional);
  command->parse_complete_callback([&choice] { CheckWorkload(choice.workload); });
  AddParts(command, choice.parts);
}

}  // namespace

void AddSynthCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      AddGroup(app, "synth", "Synthetic data: learn a model from noisy measurements, sample it");
  Choose(AddCommand(*group, "list", "The methods and their settings", "curator synth list"),
         std::make_shared<ListSynthesizers>(), chosen);

  const auto estimate = std::make_shared<EstimateSynthesis>();
  CLI::App* command =
      AddCommand(*group, "estimate", "Price, schedule and settings, computed from public facts; free",
                 "curator synth estimate census --epsilon 1");
  command->add_option("NAME", estimate->dataset, "The dataset")->required();
  AddSynthesisChoice(command, estimate->choice);
  AddAssumedRows(command, estimate->assumed_rows,
                 "The number of records to assume where the forecast depends on it");
  Choose(command, estimate, chosen);

  const auto run = std::make_shared<RunSynthesis>();
  command = AddCommand(*group, "run", "Charge the budget, learn a model, and sample it into a file",
                       "curator synth run census --epsilon 1 --out synthetic.csv");
  command->add_option("NAME", run->dataset, "The dataset")->required();
  AddSynthesisChoice(command, run->choice);
  CLI::Option* out =
      command->add_option("--out", run->out, "Write synthetic records to this CSV file; - is standard output")
          ->type_name("FILE.csv");
  AddSample(command, run->sample, out);
  AddRequestId(command, run->request_id);
  AddReceipt(command, run->receipt);
  Choose(command, run, chosen);
}

}  // namespace curator::cli
