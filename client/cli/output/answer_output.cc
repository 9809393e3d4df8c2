#include "client/cli/output/answer_output.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/output/answer_rows.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/statistics_table.h"
#include "client/cli/output/tables.h"
#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

constexpr size_t kDisplayedTables = 10;
constexpr size_t kDisplayedRows = 20;

template <typename Number>
Value OrNone(const std::optional<Number>& number) {
  if (number) return *number;
  return std::monostate();
}

Value UpperOf(const std::optional<AnswerInterval>& interval) {
  if (interval) return interval->upper;
  return std::monostate();
}

Value LowerOf(const std::optional<AnswerInterval>& interval) {
  if (interval) return interval->lower;
  return std::monostate();
}

void WriteMembers(const std::vector<std::pair<const char*, Value>>& members, JsonWriter& json) {
  for (const auto& [key, value] : members) {
    json.Key(key);
    json.Write(value);
  }
}

void WriteNoise(const v1::Noise& noise, JsonWriter& json) {
  json.BeginObject();
  WriteMembers({{"mechanism", NameOf(noise.mechanism())},
                {"scale", TextOrNone(noise.scale())},
                {"sigma_squared", TextOrNone(noise.sigma_squared())},
                {"standard_deviation", noise.standard_deviation()},
                {"expected_absolute_error", noise.expected_absolute_error()},
                {"confidence_half_width", noise.confidence_half_width()},
                {"confidence_level", noise.confidence_level()}},
               json);
  json.EndObject();
}

void WriteRows(const AnswerRows& rows, JsonWriter& json) {
  json.BeginArray();
  std::vector<std::string> labels(rows.columns().size());
  for (size_t row = 0; row < rows.size(); ++row) {
    for (size_t i = 0; i < labels.size(); ++i) labels[i] = rows.Label(i, row);
    json.BeginObject();
    WriteMembers({{"values", labels}, {rows.is_statistics() ? "value" : "count", rows.Count(row)}}, json);
    if (const auto deviation = rows.StandardDeviation(row))
      WriteMembers({{"standard_deviation", *deviation}}, json);
    if (const auto interval = rows.Interval(row))
      WriteMembers({{"lower", interval->lower}, {"upper", interval->upper}}, json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteNoiseOf(const AnswerRows& rows, JsonWriter& json) {
  if (rows.noise() == nullptr) return;
  json.Key("noise");
  WriteNoise(*rows.noise(), json);
}

void WriteMarginal(const AnswerRows& rows, JsonWriter& json) {
  json.BeginObject();
  json.Key("attributes");
  json.Write(rows.columns());
  json.Key("sizes");
  json.BeginArray();
  for (const int64_t size : rows.marginal()->header.sizes()) json.Write(size);
  json.EndArray();
  WriteNoiseOf(rows, json);
  json.Key("cells");
  WriteRows(rows, json);
  json.EndObject();
}

// The measures that statistics are of, which are of the clipped values.
void WriteClipped(const QuerySetAnswer& set, const v1::Schema& schema, JsonWriter& json) {
  json.Key("clipped");
  json.BeginArray();
  for (const v1::Measure* measure : MeasuresNamed(set, schema)) {
    json.BeginObject();
    WriteMembers({{"measure", measure->name()},
                  {"low", measure->low()},
                  {"high", measure->high()},
                  {"resolution", measure->resolution()}},
                 json);
    json.EndObject();
  }
  json.EndArray();
}

void WriteQuerySet(const AnswerRows& rows, const v1::Schema& schema, JsonWriter& json) {
  const v1::QuerySetHeader& header = rows.set()->header;
  json.BeginObject();
  WriteMembers({{"query_set", int64_t{header.query_set()}},
                {"class", header.query_class()},
                {"columns", rows.columns()},
                {"strategy", NameOf(header.strategy())},
                {"strategy_words", TextOrNone(header.strategy_words())},
                {"measurement_count", header.measurement_count()},
                {"confidence_level", rows.level()}},
               json);
  WriteNoiseOf(rows, json);
  if (rows.is_statistics()) WriteClipped(*rows.set(), schema, json);
  json.Key("answers");
  WriteRows(rows, json);
  json.EndObject();
}

constexpr char kErrorsOfAModel[] =
    "estimated standard deviations of the error in each count that is due to the measurements' noise, for "
    "the marginals "
    "where they are known; they do not include the error of the model itself";

std::string TitleOf(const AnswerRows& rows, const v1::AnswerHeader& header) {
  std::string title;
  if (rows.set() != nullptr) {
    // Words of the direct strategy begin with the number of answers.
    const v1::QuerySetHeader& set = rows.set()->header;
    title = absl::StrCat(rows.name(), "  (");
    if (set.strategy() != v1::STRATEGY_DIRECT || set.strategy_words().empty())
      absl::StrAppend(&title, rows.size(), " answers", set.strategy_words().empty() ? "" : ", ");
    absl::StrAppend(&title, set.strategy_words());
  } else {
    for (const std::string& name : rows.columns()) absl::StrAppend(&title, title.empty() ? "" : " x ", name);
    absl::StrAppend(&title, "  (", rows.size(), " cells");
  }
  if (rows.noise() != nullptr) {
    absl::StrAppend(&title, ", ", NameOf(rows.noise()->mechanism()), " noise");
    if (const auto half = rows.size() > 0 && rows.errors_are_equal() ? rows.HalfWidth(0) : std::nullopt)
      absl::StrAppend(&title, ", ", FormatConfidence(rows.level()), " within +-", RoundedText(*half));
  }
  if (rows.errors_are_of_a_model() && rows.size() > 0 && rows.errors_are_equal())
    absl::StrAppend(&title, ", sd about ", RoundedText(*rows.StandardDeviation(0)));
  if (!header.post_processing().empty()) absl::StrAppend(&title, ", made ", header.post_processing());
  return title + ")";
}

Table TableOf(const AnswerRows& rows, const v1::AnswerHeader& header) {
  Table table;
  table.title = TitleOf(rows, header);
  table.displayed_rows = kDisplayedRows;
  for (const std::string& name : rows.columns()) table.columns.push_back({name, name});
  table.columns.push_back({"count", "count", Align::kRight});
  const bool intervals = rows.level() > 0;
  if (!rows.errors_are_equal()) table.columns.push_back({"standard_deviation", "std dev", Align::kRight});
  if (intervals) {
    table.columns.push_back({"lower", "from", Align::kRight});
    table.columns.push_back({"upper", "to", Align::kRight});
  }
  // Rows that are not shown are made empty: only their number matters.
  const size_t shown = std::min(rows.size(), kDisplayedRows);
  table.rows.resize(rows.size());
  for (size_t i = 0; i < shown; ++i) {
    Row& row = table.rows[i];
    for (size_t column = 0; column < rows.columns().size(); ++column) row.emplace_back(rows.Label(column, i));
    row.emplace_back(rows.Count(i));
    if (!rows.errors_are_equal()) row.emplace_back(OrNone(rows.StandardDeviation(i)));
    if (intervals) {
      row.emplace_back(LowerOf(rows.Interval(i)));
      row.emplace_back(UpperOf(rows.Interval(i)));
    }
  }
  return table;
}

constexpr const char* kFixedColumns[] = {
    "query_set", "query_class",      "query",  "estimate", "standard_deviation", "low",
    "high",      "confidence_level", "method", "noise",    "post_processing"};

// An attribute whose name is that of another column is marked.
std::string CsvNameOf(const std::string& attribute) {
  const bool is_taken = std::ranges::find(kFixedColumns, attribute) != std::end(kFixedColumns);
  return is_taken ? attribute + " (attribute)" : attribute;
}

// For each attribute of the file its column of labels; none where the table does not have it.
std::vector<std::optional<size_t>> PositionsOf(const std::vector<std::string>& attributes,
                                               const AnswerRows& rows) {
  std::vector<std::optional<size_t>> positions;
  const auto begin = rows.columns().begin() + static_cast<std::ptrdiff_t>(rows.first_attribute());
  const auto end = rows.columns().begin() + static_cast<std::ptrdiff_t>(rows.attributes_end());
  for (const std::string& attribute : attributes) {
    const auto found = std::find(begin, end, attribute);
    positions.emplace_back();
    if (found != end) positions.back() = static_cast<size_t>(found - rows.columns().begin());
  }
  return positions;
}

void WriteCsvRows(const AnswerRows& rows, const std::vector<std::string>& attributes,
                  const std::string& processing, std::ostream& out) {
  const std::string begin = absl::StrCat(rows.query_set(), ",", CsvText(rows.query_class()), ",");
  const std::string level = rows.level() > 0 ? CsvField(Value(rows.level())) : std::string();
  const std::string end = absl::StrCat(",", level, ",", rows.method(), ",",
                                       rows.noise() == nullptr ? "" : NameOf(rows.noise()->mechanism()), ",",
                                       CsvText(processing));
  const std::vector<std::optional<size_t>> positions = PositionsOf(attributes, rows);
  for (size_t row = 0; row < rows.size(); ++row) {
    const std::optional<AnswerInterval> interval = rows.Interval(row);
    out << begin << CsvText(rows.Words(row)) << "," << CsvField(rows.Count(row)) << ","
        << CsvField(OrNone(rows.StandardDeviation(row))) << "," << CsvField(LowerOf(interval)) << ","
        << CsvField(UpperOf(interval)) << end;
    for (const std::optional<size_t> position : positions) {
      out << ",";
      if (position) out << CsvText(rows.Label(*position, row));
    }
    out << "\n";
  }
}

}  // namespace

absl::Status WriteAnswerCsv(const Answer& answer, const v1::Schema& schema, std::ostream& out) {
  const std::vector<std::string> attributes = AttributeColumnsOf(answer, schema);
  out << absl::StrJoin(kFixedColumns, ",");
  for (const std::string& attribute : attributes) out << "," << CsvText(CsvNameOf(attribute));
  out << "\n";
  return ForEachTable(answer, schema, [&](const AnswerRows& rows) {
    WriteCsvRows(rows, attributes, answer.header.post_processing(), out);
    return absl::OkStatus();
  });
}

absl::Status WriteAnswerJson(const Answer& answer, const v1::Schema& schema, std::ostream& out) {
  JsonWriter json(out);
  json.BeginObject();
  const Document summary = SummaryOf(answer);
  for (const Field& field : summary.fields) {
    if (field.shown_in == ShownIn::kTables) continue;
    json.Key(field.key);
    json.Write(field.value);
  }
  for (const Table& table : summary.tables) {
    json.Key(table.key);
    const std::unique_ptr<RowWriter> rows =
        MakeRowWriter(table.columns, OutputForm::kJson, Terminal(), out, json);
    for (const Row& row : table.rows) rows->Add(row);
    rows->Finish();
  }
  json.Key("marginals");
  json.BeginArray();
  for (const Marginal& marginal : answer.marginals) {
    ASSIGN_OR_RETURN(const AnswerRows rows, AnswerRows::Of(marginal, answer.header, schema));
    WriteMarginal(rows, json);
  }
  json.EndArray();
  json.Key("query_sets");
  json.BeginArray();
  for (const QuerySetAnswer& set : answer.query_sets)
    WriteQuerySet(AnswerRows::Of(set, answer.header), schema, json);
  json.EndArray();
  json.EndObject();
  out << "\n";
  return absl::OkStatus();
}

namespace {

// A table with a row for each group, and what has to be said beneath it.
absl::Status AddStatistics(const AnswerRows& rows, const v1::AnswerHeader& header, const v1::Schema& schema,
                           Document& document) {
  ASSIGN_OR_RETURN(Table table, StatisticsTable(*rows.set(), header, {}, kDisplayedRows));
  table.displayed_rows = kDisplayedRows;
  document.tables.push_back(std::move(table));
  for (std::string& note : StatisticsNotes(*rows.set(), MeasuresNamed(*rows.set(), schema))) {
    if (std::ranges::find(document.notes, note) == document.notes.end())
      document.notes.push_back(std::move(note));
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status WriteAnswerTables(const Answer& answer, const v1::Schema& schema, const Terminal& terminal,
                               std::ostream& out) {
  Document document;
  size_t more = 0;
  RETURN_IF_ERROR(ForEachTable(answer, schema, [&](const AnswerRows& rows) {
    if (document.tables.size() >= kDisplayedTables) {
      ++more;
      return absl::OkStatus();
    }
    if (rows.is_statistics()) return AddStatistics(rows, answer.header, schema, document);
    document.tables.push_back(TableOf(rows, answer.header));
    return absl::OkStatus();
  }));
  if (more > 0) {
    document.notes.push_back(absl::StrCat(
        "... ", more, " more ", answer.query_sets.empty() ? "marginals" : "marginals and query sets",
        " (--out FILE.csv writes all)"));
  }
  Print(document, OutputForm::kTable, terminal, out, out);
  return absl::OkStatus();
}

Document SummaryOf(const Answer& answer) {
  Document document;
  const v1::AnswerHeader& header = answer.header;
  int64_t cells = 0;
  for (const Marginal& marginal : answer.marginals) cells += static_cast<int64_t>(marginal.size());
  int64_t answers = 0;
  for (const QuerySetAnswer& set : answer.query_sets) answers += static_cast<int64_t>(set.size());
  // JSON has every member, tables only those with information.
  const auto unless = [](bool empty) { return empty ? ShownIn::kJsonAndCsv : ShownIn::kAllForms; };
  const ShownIn query_sets = unless(answer.query_sets.empty());
  const ShownIn marginals = unless(answer.marginals.empty() && !answer.query_sets.empty());
  document.fields = {{"release_id", "release", TextOrNone(header.release_id())},
                     {"charge_id", "charge", TextOrNone(header.charge_id())},
                     {"request_id", "request id", TextOrNone(header.request_id())},
                     {"replayed", "replayed", header.replayed()},
                     {"event", "recorded as", TextOrNone(header.event()), ShownIn::kJsonAndCsv},
                     {"event", "recorded as", TextOrNone(FormatEvent(header.event())), ShownIn::kTables},
                     {"marginal_count", "marginals", int64_t{header.marginal_count()}, marginals},
                     {"cell_count", "cells", cells, marginals},
                     {"query_set_count", "query sets", int64_t{header.query_set_count()}, query_sets},
                     {"answer_count", "their answers", answers, query_sets}};
  document.fields.push_back({"post_processing", "made", TextOrNone(header.post_processing()),
                             unless(header.post_processing().empty())});
  const bool of_a_model = std::ranges::any_of(
      answer.marginals, [&](const Marginal& marginal) { return HasErrorsOfAModel(marginal, header); });
  document.fields.push_back(
      {"standard_deviations", "errors", TextOrNone(of_a_model ? kErrorsOfAModel : ""), unless(!of_a_model)});
  const auto add_releases = [&](const char* key, const char* title,
                                const google::protobuf::RepeatedPtrField<std::string>& releases) {
    document.fields.push_back({key, title, ListOf(releases), unless(releases.empty())});
  };
  add_releases("free_from", "free from", header.free_from());
  add_releases("could_be_free_from", "could be free from", header.could_be_free_from());
  AddDataFacts(header.domain_from_records(), header.rows_from_query(), document);
  if (!header.costs().empty()) document.tables.push_back(CostTable(header.costs(), header.replayed()));
  if (const std::string cost = CostNote(header); !cost.empty()) document.notes.push_back(cost);
  if (header.replayed()) document.notes.emplace_back("from a stored release: nothing was charged now");
  if (!header.free_from().empty())
    document.notes.emplace_back("made from earlier releases: nothing was charged");
  if (!header.could_be_free_from().empty())
    document.notes.push_back(
        "earlier releases determine these answers: --prefer-free would have charged nothing");
  if (!header.post_processing().empty())
    document.notes.emplace_back("the answers were changed after they were measured (" +
                                header.post_processing() + "): their error is not that of the noise");
  return document;
}

}  // namespace curator::cli
