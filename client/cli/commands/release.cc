// `curator release`: what has been answered, shown, queried and sampled again.
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
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

struct ListReleases {
  std::string dataset;
  int64_t most = Client::kAll;
};

struct ShowRelease {
  std::string release;
  std::optional<double> confidence;
  v1::PostProcessing post_processing;
  DeliveryChoice delivery;
};

struct ShareRelease {
  std::string release;
  std::string principal;
};

struct QueryRelease {
  std::string release;
  WorkloadChoice workload;
  DeliveryChoice delivery;
};

struct SampleRelease {
  std::string release;
  SampleChoice sample;
  std::string out;
};

absl::StatusOr<ReleaseContent> Fetch(Session& session, const ShowRelease& command) {
  v1::GetReleaseRequest request;
  request.set_release_id(command.release);
  if (command.confidence) request.set_confidence_level(*command.confidence);
  if (command.post_processing.ByteSizeLong() > 0)
    *request.mutable_post_processing() = command.post_processing;
  return session.client.GetRelease(request);
}

std::vector<Field> FactsOf(const v1::Release& release) {
  return {{"release_id", "release", release.id()},
          {"dataset", "dataset", release.dataset()},
          {"kind", "kind", release.kind()},
          {"summary", "what", release.summary()},
          {"principal", "asked by", release.principal()},
          {"create_time", "made", FormatTime(release.create_time())},
          {"charge_id", "charge", release.charge_id()},
          {"request_id", "request id", release.request_id()},
          {"size_bytes", "bytes", release.size_bytes()},
          {"payload_hash", "hash", Hex(release.payload_hash())}};
}

Document SynthesisDocument(const ReleaseContent& content) {
  const v1::SynthesisSummary& synthesis = *content.synthesis;
  Document document;
  document.fields = FactsOf(content.release);
  document.fields.push_back({"method", "method", synthesis.method()});
  document.fields.push_back({"attributes", "attributes", ListOf(synthesis.attributes())});
  document.fields.push_back({"records", "records (noisy)", synthesis.records()});
  document.fields.push_back({"event", "recorded as", synthesis.event()});
  document.fields.push_back({"protects", "protects", synthesis.protects()});
  Table settings{"settings", "settings", {{"key", "key"}, {"value", "value"}}, {}};
  const std::map<std::string, std::string> sorted(synthesis.settings().begin(), synthesis.settings().end());
  for (const auto& [key, value] : sorted) settings.rows.push_back({key, value});
  Table transcript{"transcript", "transcript", {{"step", "step", Align::kRight}, {"what", "what"}}, {}};
  for (int i = 0; i < synthesis.transcript_size(); ++i) {
    transcript.rows.push_back({int64_t{i} + 1, synthesis.transcript(i)});
  }
  document.tables = {std::move(settings), std::move(transcript)};
  return document;
}

absl::Status Run(Session& session, const ListReleases& command) {
  ASSIGN_OR_RETURN(const v1::ListReleasesResponse list,
                   session.client.ListReleases(command.dataset, command.most));
  Table table{"releases",
              "",
              {{"release_id", "release"},
               {"kind", "kind"},
               {"summary", "what"},
               {"principal", "asked by"},
               {"create_time", "made"},
               {"size_bytes", "bytes", Align::kRight},
               {"request_id", "request id"},
               {"charge_id", "charge", Align::kLeft, ShownIn::kJsonAndCsv},
               {"payload_hash", "hash", Align::kLeft, ShownIn::kJsonAndCsv}},
              {}};
  for (const v1::Release& release : list.releases()) {
    table.rows.push_back({release.id(), release.kind(), release.summary(), release.principal(),
                          FormatTime(release.create_time()), release.size_bytes(), release.request_id(),
                          release.charge_id(), Hex(release.payload_hash())});
  }
  Document document;
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowRelease& command) {
  ASSIGN_OR_RETURN(OpenDelivery delivery, Open(session, command.delivery));
  ASSIGN_OR_RETURN(const ReleaseContent content, Fetch(session, command));
  if (content.answer) {
    ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(content.release.dataset()));
    return DeliverAnswer(session, *content.answer, dataset.schema(), std::move(delivery));
  }
  if (!command.delivery.out.empty() || command.delivery.plot) {
    return absl::FailedPreconditionError(
        absl::StrCat("this release is a model: curator release sample ", command.release, " --out FILE.csv"));
  }
  Document document;
  document.fields = FactsOf(content.release);
  if (content.synthesis) {
    document = SynthesisDocument(content);
    AddDataFacts(content.synthesis->domain_from_records(), content.synthesis->rows_from_query(), document);
  }
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShareRelease& command) {
  v1::ShareReleaseRequest request;
  request.set_release_id(command.release);
  request.set_principal(command.principal);
  ASSIGN_OR_RETURN(const v1::ShareReleaseResponse shared, session.client.ShareRelease(request));
  Document document;
  document.fields = {{"release_id", "release", command.release},
                     {"principals", "shared with", ListOf(shared.principals())}};
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const QueryRelease& command) {
  ASSIGN_OR_RETURN(OpenDelivery delivery, Open(session, command.delivery));
  ASSIGN_OR_RETURN(const ReleaseContent content, Fetch(session, ShowRelease{.release = command.release}));
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(content.release.dataset()));
  ASSIGN_OR_RETURN(v1::Workload workload, WorkloadOf(command.workload, dataset.schema()));
  NameQuerySets(command.workload, workload, session.fields);
  v1::QueryModelRequest request;
  request.set_release_id(command.release);
  *request.mutable_workload() = std::move(workload);
  ASSIGN_OR_RETURN(const Answer answer, session.client.QueryModel(request));
  return DeliverModelAnswer(session, answer, dataset.schema(), std::move(delivery));
}

absl::Status Run(Session& session, const SampleRelease& command) {
  ASSIGN_OR_RETURN(const std::unique_ptr<OutputFile> file, OpenSample(session, command.out));
  ASSIGN_OR_RETURN(const int64_t bytes, WriteSample(session, command.release, command.sample, *file));
  if (command.out == "-") return absl::OkStatus();
  Document document;
  document.fields = {{"release_id", "release", command.release},
                     {"out", "written to", command.out},
                     {"out_bytes", "bytes", bytes}};
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace

void AddReleaseCommands(CLI::App& app, Chosen& chosen) {
  CLI::App* group =
      AddGroup(app, "release", "Stored answers and models: show, query and sample them again, free");
  AddNameCommand(*group, "list", "The releases of a dataset", "curator release list census",
                 &ListReleases::dataset, "NAME", chosen);

  const auto show = std::make_shared<ShowRelease>();
  CLI::App* command = AddCommand(*group, "show", "A release: the answer, or the description of the model",
                                 "curator release show ID --out pairs.csv");
  command->add_option("ID", show->release, "The release")->required();
  AddConfidence(command, show->confidence);
  AddPostProcessing(command, show->post_processing);
  AddDelivery(command, show->delivery, "Write all answers to this file, CSV or JSON by its extension");
  Choose(command, show, chosen);

  const auto share = std::make_shared<ShareRelease>();
  command = AddCommand(*group, "share", "Let another principal read a release, and get free answers from it",
                       "curator release share ID --with bob");
  command->add_option("ID", share->release, "The release; yours, or of a dataset that you own")->required();
  command->add_option("--with", share->principal, "A principal with access to the dataset")
      ->type_name("PRINCIPAL")
      ->required();
  Choose(command, share, chosen);

  const auto query = std::make_shared<QueryRelease>();
  command = AddCommand(*group, "query", "Query a model, without further noise and free",
                       "curator release query ID --marginals 2 --attributes age,sex");
  command->add_option("ID", query->release, "The release of a synthesis")->required();
  AddWorkload(command, query->workload, WorkloadNeed::kRequired);
  AddDelivery(command, query->delivery, "Write all answers to this file, CSV or JSON by its extension");
  command->parse_complete_callback([query] { CheckWorkload(query->workload); });
  Choose(command, query, chosen);

  const auto sample = std::make_shared<SampleRelease>();
  command = AddCommand(*group, "sample",
                       "Synthetic records from a model, free; the same command gives the same file",
                       "curator release sample ID --rows 10000 --out synthetic.csv");
  command->add_option("ID", sample->release, "The release of a synthesis")->required();
  AddSample(command, sample->sample);
  command->add_option("--out", sample->out, "The CSV file to write; - is standard output")
      ->type_name("FILE.csv")
      ->required();
  Choose(command, sample, chosen);
}

}  // namespace curator::cli
