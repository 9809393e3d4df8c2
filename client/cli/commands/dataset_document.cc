#include "client/cli/commands/dataset_document.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/output/labels.h"
#include "client/cli/output/names.h"

namespace curator::cli {
namespace {

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

RawJson SchemaAsJson(const v1::Schema& schema) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(schema, &json).ok()) json = "null";
  return {json};
}

}  // namespace

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
  AddNestingFacts(dataset.schema(), document);
  Table attributes{
      "attributes", "", {{"name", "attribute"}, {"kind", "kind"}, {"bins", "bins", Align::kRight}}, {}};
  for (const v1::Attribute& attribute : dataset.schema().attributes()) {
    attributes.rows.push_back({attribute.name(), KindOf(attribute), BinsOf(attribute)});
  }
  document.tables.push_back(std::move(attributes));
  if (dataset.has_partition()) AddPartitionFacts(dataset.partition(), document);
  return document;
}

void AddPartitionFacts(const v1::Partition& partition, Document& document) {
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

void AddNestingFacts(const v1::Schema& schema, Document& document) {
  if (!schema.has_nesting()) return;
  document.fields.push_back({"nesting", "records lie", NestingOf(schema)});
}

void AddImportFacts(const v1::ImportRecordsResponse& import, Document& document) {
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

}  // namespace curator::cli
