#include "client/cli/commands/dataset_document.h"

#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"
#include "rpc/convert_attribute.h"

namespace curator::cli {
namespace {

// "in groups (column school), with the response score; all records of a group share sector"; empty where
// records lie in none.
std::string DescribeNesting(const v1::Schema& schema) {
  if (!schema.has_nesting()) return "";
  const v1::Nesting& nesting = schema.nesting();
  const std::string& column =
      nesting.group_column().empty() ? schema.unit().group().id_column() : nesting.group_column();
  return absl::StrCat(
      "in groups (column ", column,
      nesting.has_max_group_size() ? absl::StrCat(", at most ", nesting.max_group_size(), " records each")
                                   : "",
      "), with the response ", nesting.response(),
      nesting.group_attributes().empty()
          ? ""
          : absl::StrCat("; all records of a group share ", absl::StrJoin(nesting.group_attributes(), ", ")));
}

// "0 to 20000" or, of even steps, "0 to 100 by 0.5"; empty where there is no bin.
std::string DescribeRange(const v1::Numeric& numeric) {
  if (numeric.edges_size() == 0 && numeric.has_step()) {
    return absl::StrCat(ExactText(numeric.min()), " to ", ExactText(numeric.max()), " by ",
                        ExactText(numeric.step()));
  }
  if (numeric.edges_size() < 2) return "";
  return absl::StrCat(ExactText(numeric.edges(0)), " to ",
                      ExactText(numeric.edges(numeric.edges_size() - 1)));
}

// "2019-01-15 to 2020-12-31 by month", or "2019-01-15 up to before 2020-07-01 in 3 listed bins".
std::string DescribeDates(const v1::Date& date) {
  const std::string zone = date.time_zone().empty() ? "" : absl::StrCat(", in ", date.time_zone());
  if (date.edges_size() > 1) {
    return absl::StrCat(date.edges(0), " up to before ", date.edges(date.edges_size() - 1), " in ",
                        date.edges_size() - 1, " listed bins", zone);
  }
  return absl::StrCat(date.from(), " to ", date.to(), " by ",
                      absl::AsciiStrToLower(v1::Date::Bins_Name(date.bins())), zone);
}

std::string DescribeValues(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical: {
      const v1::Categorical& categorical = attribute.categorical();
      const std::string others =
          categorical.has_catch_all() ? absl::StrCat(" and \"", categorical.catch_all(), "\"") : "";
      return absl::StrCat("categorical, ", categorical.values_size(),
                          categorical.ordered() ? " values in order" : " values", others);
    }
    case v1::Attribute::kInteger: {
      const v1::Integer& integer = attribute.integer();
      const int64_t width = integer.has_bin_width() ? integer.bin_width() : 1;
      const std::string bins = width == 1 ? "" : absl::StrCat(" by ", width);
      return absl::StrCat("integer, ", integer.min(), " to ", integer.max(), bins);
    }
    case v1::Attribute::kNumeric: {
      const std::string range = DescribeRange(attribute.numeric());
      return range.empty() ? "numeric" : absl::StrCat("numeric, ", range);
    }
    case v1::Attribute::kCoded:
      return absl::StrCat("coded, 0 to ", attribute.coded().size() - 1);
    case v1::Attribute::kDate:
      return absl::StrCat("date, ", DescribeDates(attribute.date()));
    default:
      return "unknown";
  }
}

RawJson SchemaAsJson(const v1::Schema& schema) {
  std::string json;
  if (!google::protobuf::util::MessageToJsonString(schema, &json).ok()) json = "null";
  return {json};
}

// The numbers of the lines, which are those of the first of the rows.
std::vector<std::string> LinesOf(const v1::Rejection& rejection) {
  std::vector<std::string> lines;
  for (const int64_t line : rejection.lines()) lines.push_back(absl::StrCat(line));
  return lines;
}

std::string DescribeLines(const v1::Rejection& rejection) {
  const int64_t more = rejection.rows() - rejection.lines_size();
  return absl::StrCat(absl::StrJoin(rejection.lines(), ", "),
                      more > 0 ? absl::StrCat(" and ", more, " more") : "");
}

// "start <= end"; of pairs "(city, state) in 3 pairs: (Berlin, BE), (Bonn, NW), (Köln, NW)", the first few of
// many.
std::string DescribeConstraint(const v1::Constraint& constraint) {
  if (constraint.has_order()) {
    const v1::Constraint::Order& order = constraint.order();
    return absl::StrCat(order.lower(), order.strict() ? " < " : " <= ", order.upper());
  }
  constexpr int kMostShown = 4;
  const v1::Constraint::AllowedPairs& pairs = constraint.allowed_pairs();
  std::string text = absl::StrCat("(", absl::StrJoin(pairs.attributes(), ", "), ") in ", pairs.pairs_size(),
                                  pairs.pairs_size() == 1 ? " pair" : " pairs");
  for (int i = 0; i < std::min(pairs.pairs_size(), kMostShown); ++i) {
    absl::StrAppend(&text, i == 0 ? ": (" : ", (", absl::StrJoin(pairs.pairs(i).values(), ", "), ")");
  }
  return pairs.pairs_size() > kMostShown ? text + ", ..." : text;
}

// "0 to 200000 by 100; may be missing; from the column Income"
std::string DescribeMeasure(const v1::Measure& measure) {
  std::string text = absl::StrCat(ExactText(measure.low()), " to ", ExactText(measure.high()), " by ",
                                  ExactText(measure.resolution()));
  if (measure.has_missing()) absl::StrAppend(&text, "; may be missing");
  if (!measure.reading().column().empty())
    absl::StrAppend(&text, "; from the column ", measure.reading().column());
  return text;
}

// By measure, in the order of the names.
void AddClippedCells(const v1::ImportRecordsResponse& import, Document& document) {
  if (import.cells_clipped().empty()) return;
  const std::map<std::string, int64_t> sorted(import.cells_clipped().begin(), import.cells_clipped().end());
  std::string described;
  nlohmann::ordered_json json = nlohmann::ordered_json::object();
  for (const auto& [measure, cells] : sorted) {
    absl::StrAppend(&described, described.empty() ? "" : ", ", cells, " of ", measure);
    json[measure] = cells;
  }
  const char* const title = "numbers set to the nearest bound";
  document.fields.push_back({"described_cells_clipped", title, described, ShownIn::kTables});
  document.fields.push_back(
      {"cells_clipped", title,
       RawJson{json.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace)},
       ShownIn::kJsonAndCsv});
}

Table RejectionTable(const v1::ImportRecordsResponse& import) {
  Table table{"rejections",
              "rejected, by column and reason",
              {{"attribute", "column"},
               {"reason", "reason"},
               {"rows", "rows", Align::kRight},
               {"described_lines", "lines", Align::kLeft, ShownIn::kTables},
               {"lines", "lines", Align::kLeft, ShownIn::kJsonAndCsv}},
              {}};
  for (const v1::Rejection& rejection : import.rejections()) {
    table.rows.push_back({rejection.attribute(), rejection.reason(), rejection.rows(),
                          DescribeLines(rejection), LinesOf(rejection)});
  }
  return table;
}

}  // namespace

Document DatasetDocument(const v1::Dataset& dataset) {
  Document document;
  document.fields = {{"name", "dataset", dataset.name()},
                     {"owner", "owner", dataset.owner()},
                     {"state", "state", NameOf(dataset.state())},
                     {"public", "public", dataset.public_()},
                     {"neighbours", "neighbours", NameOf(dataset.neighbours())},
                     {"unit", "protects one", DescribeUnit(dataset.schema())},
                     {"grantees", "others with access", ListOf(dataset.grantees())},
                     {"create_time", "created", FormatTime(dataset.create_time())},
                     {"schema", "schema", SchemaAsJson(dataset.schema()), ShownIn::kJsonAndCsv}};
  if (dataset.awaits_publication()) {
    document.notes.push_back(absl::StrCat(
        "it is no prior yet: once it is sealed, an approver publishes it with: curator dataset publish ",
        dataset.name()));
  }
  AddDataFacts(dataset.domain_from_records(), dataset.rows_from_query(), document);
  AddNestingFacts(dataset.schema(), document);
  Table attributes{
      "attributes", "", {{"name", "attribute"}, {"kind", "kind"}, {"bins", "bins", Align::kRight}}, {}};
  for (const v1::Attribute& attribute : dataset.schema().attributes()) {
    attributes.rows.push_back({attribute.name(), DescribeKind(attribute), BinsOf(attribute)});
  }
  document.tables.push_back(std::move(attributes));
  AddMeasures(dataset.schema(), document);
  AddConstraints(dataset.schema(), document);
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
               {"holds", "holds", Align::kLeft, ShownIn::kTables},
               {"labels", "labels", Align::kLeft, ShownIn::kJsonAndCsv}},
              {}};
  for (const v1::Part& part : partition.parts()) {
    std::string few;
    for (int i = 0; i < std::min(part.labels_size(), kFew); ++i) {
      absl::StrAppend(&few, few.empty() ? "" : ", ", part.labels(i));
    }
    if (part.labels_size() > kFew) absl::StrAppend(&few, " and ", part.labels_size() - kFew, " more");
    parts.rows.push_back({part.name(), NameOf(part.state()), few, ListOf(part.labels())});
  }
  document.tables.push_back(std::move(parts));
}

int64_t BinsOf(const v1::Attribute& attribute) {
  const absl::StatusOr<dp::Attribute> converted = rpc::FromProto(attribute);
  return converted.ok() ? converted->size() : 0;
}

std::string DescribeKind(const v1::Attribute& attribute) {
  std::string text = DescribeValues(attribute);
  if (attribute.missing().has_bin())
    absl::StrAppend(&text, "; missing values are \"", attribute.missing().bin(), "\"");
  if (!attribute.reading().column().empty())
    absl::StrAppend(&text, "; from the column ", attribute.reading().column());
  return text;
}

std::string DescribeUnit(const v1::Schema& schema) {
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
  document.fields.push_back({"nesting", "records lie", DescribeNesting(schema)});
}

void AddMeasures(const v1::Schema& schema, Document& document) {
  if (schema.measures().empty()) return;
  Table measures{"measures", "", {{"name", "measure"}, {"values", "values"}}, {}};
  for (const v1::Measure& measure : schema.measures())
    measures.rows.push_back({measure.name(), DescribeMeasure(measure)});
  document.tables.push_back(std::move(measures));
}

void AddConstraints(const v1::Schema& schema, Document& document) {
  if (schema.constraints().empty()) return;
  Table constraints{"constraints", "", {{"constraint", "every record has"}}, {}};
  for (const v1::Constraint& constraint : schema.constraints())
    constraints.rows.push_back({DescribeConstraint(constraint)});
  document.tables.push_back(std::move(constraints));
}

void AddImportFacts(const v1::ImportRecordsResponse& import, Document& document) {
  const std::vector<std::string> ignored(import.ignored_columns().begin(), import.ignored_columns().end());
  document.fields.push_back({"rows_read", "rows read", import.rows_read()});
  document.fields.push_back({"rows_accepted", "accepted", import.rows_accepted()});
  document.fields.push_back({"rows_rejected", "rejected", import.rows_rejected()});
  document.fields.push_back({"responses_clamped", "responses set to the nearest bound",
                             import.responses_clamped(),
                             import.responses_clamped() > 0 ? ShownIn::kAllForms : ShownIn::kJsonAndCsv});
  AddClippedCells(import, document);
  document.fields.push_back({"ignored_columns", "columns ignored", ignored});
  if (import.rejections_size() > 0) document.tables.push_back(RejectionTable(import));
  if (import.same_file_as().empty()) return;
  document.fields.push_back({"same_file_as", "the same file as import", import.same_file_as()});
  document.notes.emplace_back(
      "warning: this file was imported before; its records count twice, and a person is protected half as "
      "well");
}

}  // namespace curator::cli
