#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/commands.h"
#include "client/cli/commands/session.h"
#include "client/cli/output/document.h"
#include "client/cli/output/files.h"
#include "client/cli/output/labels.h"
#include "client/cli/output/names.h"
#include "client/cli/output/text.h"
#include "client/client.h"

namespace curator::cli {
namespace {

std::string UnitOf(const v1::Schema& schema) {
  if (schema.unit().has_group()) {
    const v1::GroupUnit& group = schema.unit().group();
    return absl::StrCat(
        "group (column ", group.id_column(), ", ",
        group.has_max_records() ? absl::StrCat("at most ", group.max_records()) : "any number of",
        " records each)");
  }
  if (!schema.unit().has_person()) return "record";
  const v1::PersonUnit& person = schema.unit().person();
  return absl::StrCat("person (column ", person.id_column(), ", at most ", person.max_records(),
                      " records each)");
}

// "in groups (column school), of the response score"; empty where records lie in none.
std::string NestingOf(const v1::Schema& schema) {
  if (!schema.has_nesting()) return "";
  const v1::Nesting& nesting = schema.nesting();
  const std::string& column =
      nesting.group_column().empty() ? schema.unit().group().id_column() : nesting.group_column();
  return absl::StrCat("in groups (column ", column,
                      nesting.has_max_group_size()
                          ? absl::StrCat(", at most ", nesting.max_group_size(), " records each")
                          : "",
                      "), with the response ", nesting.response());
}

void AddNesting(Document& document, const v1::Schema& schema) {
  if (!schema.has_nesting()) return;
  document.fields.push_back({"nesting", "records lie", NestingOf(schema)});
}

RawJson SchemaAsJson(const v1::Schema& schema) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(schema, &json).ok()) json = "null";
  return {json};
}

// The parts with their bins; for people, a few of them.
void AddPartition(Document& document, const v1::Partition& partition) {
  constexpr int kFew = 6;
  document.fields.push_back({"partition_attribute", "divided by", partition.attribute()});
  Table parts{"parts",
              "parts",
              {{"part", "part"},
               {"state", "state"},
               {"holds", "holds", Align::kLeft, Audience::kPeople},
               {"labels", "labels", Align::kLeft, Audience::kPrograms}},
              {}};
  for (const v1::Part& part : partition.parts()) {
    std::string few;
    for (int i = 0; i < std::min(part.labels_size(), kFew); ++i) {
      absl::StrAppend(&few, few.empty() ? "" : ", ", part.labels(i));
    }
    if (part.labels_size() > kFew) absl::StrAppend(&few, " and ", part.labels_size() - kFew, " more");
    parts.rows.push_back({part.name(), NameOf(part.state()), few,
                          std::vector<std::string>(part.labels().begin(), part.labels().end())});
  }
  document.tables.push_back(std::move(parts));
}

void SetPart(v1::Part& part, const PartChoice& choice) {
  part.set_name(choice.name);
  for (const std::string& label : choice.labels) part.add_labels(label);
}

void SetLimit(v1::BudgetLimit& limit, v1::Rule rule, const std::string& epsilon, const std::string& delta) {
  limit.set_rule(rule);
  limit.set_epsilon(epsilon);
  limit.set_delta(delta);
}

Document DatasetDocument(const v1::Dataset& dataset) {
  Document document;
  document.fields = {{"name", "dataset", dataset.name()},
                     {"owner", "owner", dataset.owner()},
                     {"state", "state", NameOf(dataset.state())},
                     {"public", "public", dataset.public_()},
                     {"neighbours", "neighbours", NameOf(dataset.neighbours())},
                     {"unit", "protects one", UnitOf(dataset.schema())},
                     {"grantees", "others who may ask",
                      std::vector<std::string>(dataset.grantees().begin(), dataset.grantees().end())},
                     {"create_time", "created", TextOfTime(dataset.create_time())},
                     {"schema", "schema", SchemaAsJson(dataset.schema()), Audience::kPrograms}};
  AddNesting(document, dataset.schema());
  Table attributes{
      "attributes", "", {{"name", "attribute"}, {"kind", "kind"}, {"bins", "bins", Align::kRight}}, {}};
  for (const v1::Attribute& attribute : dataset.schema().attributes()) {
    attributes.rows.push_back({attribute.name(), KindOf(attribute), BinsOf(attribute)});
  }
  document.tables.push_back(std::move(attributes));
  if (dataset.has_partition()) AddPartition(document, dataset.partition());
  return document;
}

// What an import reports: rows, and the first that were rejected. For the owner's eyes.
void AddImport(Document& document, const v1::ImportRecordsResponse& import) {
  const std::vector<std::string> ignored(import.ignored_columns().begin(), import.ignored_columns().end());
  document.fields.push_back({"rows_read", "rows read", import.rows_read()});
  document.fields.push_back({"rows_accepted", "accepted", import.rows_accepted()});
  document.fields.push_back({"rows_rejected", "rejected", import.rows_rejected()});
  document.fields.push_back({"responses_clamped", "responses set to the nearest bound",
                             import.responses_clamped(),
                             import.responses_clamped() > 0 ? Audience::kEveryone : Audience::kPrograms});
  document.fields.push_back({"ignored_columns", "columns ignored", ignored});
  Table rejected{"rejected_rows",
                 "first rejected rows",
                 {{"line", "line", Align::kRight}, {"attribute", "attribute"}, {"reason", "reason"}},
                 {}};
  for (const v1::RejectedRow& row : import.examples()) {
    rejected.rows.push_back({row.line(), row.attribute(), row.reason()});
  }
  if (!rejected.rows.empty()) document.tables.push_back(std::move(rejected));
}

void AddRequestId(Document& document, const Session& session) {
  document.fields.push_back({"request_id", "request id", session.request_id});
}

// --public cannot be taken back: it is asked for on a terminal and needs --yes elsewhere.
absl::Status ConfirmPublic(Session& session, const std::string& name) {
  const std::string warning = absl::StrCat(
      "a public dataset has no privacy guarantee, no account and no charge; this cannot be taken back");
  if (!session.terminal.in_is_terminal || !session.terminal.error_is_terminal) {
    return absl::CancelledError(absl::StrCat("--public needs --yes here: ", warning));
  }
  session.error << warning << "\nType the dataset's name to make it public: " << std::flush;
  std::string typed;
  std::getline(session.in, typed);
  if (typed != name) return absl::CancelledError("not confirmed: nothing has been created");
  return absl::OkStatus();
}

v1::CreateDatasetRequest RequestOf(const CreateDataset& command, v1::Schema schema) {
  v1::CreateDatasetRequest request;
  request.set_name(command.name);
  *request.mutable_schema() = std::move(schema);
  request.set_neighbours(command.neighbours);
  request.set_public_(command.is_public);
  request.set_successor_of(command.successor_of);
  if (command.rule != v1::RULE_UNSPECIFIED) {
    SetLimit(*request.mutable_limit(), command.rule, command.epsilon, command.delta);
  }
  if (!command.partition_attribute.empty()) {
    request.mutable_partition()->set_attribute(command.partition_attribute);
    for (const PartChoice& part : command.parts) SetPart(*request.mutable_partition()->add_parts(), part);
  }
  return request;
}

}  // namespace

absl::Status Run(Session& session, const CreateDataset& command) {
  ASSIGN_OR_RETURN(v1::Schema schema, ReadSchema(command.schema_file));
  if (command.is_public && !command.confirmed) {
    RETURN_IF_ERROR(ConfirmPublic(session, command.name));
  }
  v1::CreateDatasetRequest request = RequestOf(command, std::move(schema));
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.CreateDataset(std::move(request)));

  Document document = DatasetDocument(dataset);
  AddRequestId(document, session);
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
  if (command.rule != v1::RULE_UNSPECIFIED) {
    SetLimit(*request.mutable_limit(), command.rule, command.epsilon, command.delta);
  }
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.AddPart(std::move(request)));

  Document document;
  document.fields = {{"dataset", "dataset", command.dataset}, {"part", "part added", command.part.name}};
  AddPartition(document, dataset.partition());
  AddRequestId(document, session);
  document.notes.push_back(
      absl::StrCat("next: curator dataset import ", dataset.name(), " FILE.csv --part ", command.part.name));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ImportRecords& command) {
  ASSIGN_OR_RETURN(InputFile file, OpenInput(command.file));
  v1::ImportRecordsRequest::Header header;
  RETURN_IF_ERROR(session.SetRequestId(header, command.request_id));
  header.set_dataset(command.dataset);
  header.set_part(command.part);
  header.set_gzip(file.compression == Client::Compression::kGzip);
  ASSIGN_OR_RETURN(const v1::ImportRecordsResponse import,
                   session.client.ImportRecords(std::move(header), file.stream));

  Document document;
  document.fields.push_back({"dataset", "dataset", command.dataset});
  AddImport(document, import);
  AddRequestId(document, session);
  document.notes.emplace_back("these figures depend on the records: for the owner's eyes only");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const SealDataset& command) {
  v1::SealDatasetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_part(command.part);
  ASSIGN_OR_RETURN(const v1::SealDatasetResponse sealed, session.client.SealDataset(std::move(request)));

  Document document;
  document.fields = {{"dataset", "dataset", sealed.dataset().name()},
                     {"state", "state", NameOf(sealed.dataset().state())},
                     {"records", "records", sealed.records()},
                     {"records_dropped", "beyond their unit's bound", sealed.records_dropped()}};
  AddRequestId(document, session);
  document.notes.emplace_back("these figures depend on the records: for the owner's eyes only");
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const GrantAccess& command) {
  v1::GrantAccessRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  request.set_principal(command.principal);
  ASSIGN_OR_RETURN(const v1::GrantAccessResponse granted, session.client.GrantAccess(std::move(request)));

  Document document;
  document.fields = {{"dataset", "dataset", command.dataset},
                     {"principal", "may ask now", command.principal}};
  AddRequestId(document, session);
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ListDatasets&) {
  ASSIGN_OR_RETURN(const v1::ListDatasetsResponse list, session.client.ListDatasets());
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
                          TextOfTime(dataset.create_time())});
  }
  Document document;
  document.tables.push_back(std::move(table));
  session.Print(document);
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ShowDataset& command) {
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.GetDataset(command.dataset));
  session.Print(DatasetDocument(dataset));
  return absl::OkStatus();
}

absl::Status Run(Session& session, const ArchiveDataset& command) {
  v1::ArchiveDatasetRequest request;
  RETURN_IF_ERROR(session.SetRequestId(request, command.request_id));
  request.set_dataset(command.dataset);
  ASSIGN_OR_RETURN(const v1::Dataset dataset, session.client.ArchiveDataset(std::move(request)));
  Document document = DatasetDocument(dataset);
  AddRequestId(document, session);
  session.Print(document);
  return absl::OkStatus();
}

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
  document.fields = {{"unit", "protects one", UnitOf(schema)}, {"cells", "cells in all", checked->cells()}};
  AddNesting(document, schema);
  Table attributes{
      "attributes", "", {{"name", "attribute"}, {"kind", "kind"}, {"bins", "bins", Align::kRight}}, {}};
  for (int i = 0; i < checked->attributes_size(); ++i) {
    const std::string kind = i < schema.attributes_size() ? KindOf(schema.attributes(i)) : "";
    attributes.rows.push_back({checked->attributes(i).name(), kind, checked->attributes(i).bins()});
  }
  document.tables.push_back(std::move(attributes));
  if (checked->has_import()) AddImport(document, checked->import());
  session.Print(document);
  return absl::OkStatus();
}

}  // namespace curator::cli
