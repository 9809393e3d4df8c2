#include "client/cli/answer_output.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "client/cli/files.h"
#include "client/cli/json_writer.h"
#include "client/cli/labels.h"
#include "client/cli/names.h"
#include "client/cli/tables.h"
#include "client/cli/text.h"

namespace curator::cli {
namespace {

constexpr size_t kMarginalsForPeople = 10;
constexpr size_t kCellsForPeople = 20;

// Model estimates come without noise and so without an interval.
bool HasInterval(const Marginal& marginal) {
  return marginal.header.noise().confidence_level() > 0;
}

Value CountOf(const Marginal& marginal, size_t cell) {
  if (!marginal.counts.empty()) return marginal.counts[cell];
  return marginal.estimates[cell];
}

double CountAsDouble(const Marginal& marginal, size_t cell) {
  return marginal.counts.empty() ? marginal.estimates[cell] : static_cast<double>(marginal.counts[cell]);
}

// Cell by cell at the stated level; the true count is not negative, the interval may reach below.
struct Interval {
  double lower;
  double upper;
};
Interval IntervalOf(const Marginal& marginal, size_t cell) {
  const double half = marginal.header.noise().confidence_half_width();
  const double count = CountAsDouble(marginal, cell);
  return {count - half, count + half};
}

std::vector<std::string> AttributesOf(const Marginal& marginal) {
  return {marginal.header.attributes().begin(), marginal.header.attributes().end()};
}

// The attributes that occur, in the order of the schema.
std::vector<std::string> AttributesOf(const Answer& answer, const v1::Schema& schema) {
  std::vector<std::string> occurring;
  for (const v1::Attribute& attribute : schema.attributes()) {
    const bool occurs =
        std::any_of(answer.marginals.begin(), answer.marginals.end(), [&](const Marginal& marginal) {
          const auto& names = marginal.header.attributes();
          return std::find(names.begin(), names.end(), attribute.name()) != names.end();
        });
    if (occurs) occurring.push_back(attribute.name());
  }
  return occurring;
}

// For each column, the attribute's position in the marginal, or none.
std::vector<std::optional<size_t>> PositionsIn(const Marginal& marginal,
                                               const std::vector<std::string>& columns) {
  const std::vector<std::string> names = AttributesOf(marginal);
  std::vector<std::optional<size_t>> positions;
  for (const std::string& column : columns) {
    const auto found = std::find(names.begin(), names.end(), column);
    positions.push_back(found == names.end()
                            ? std::nullopt
                            : std::optional<size_t>(static_cast<size_t>(found - names.begin())));
  }
  return positions;
}

void WriteNoise(const v1::Noise& noise, JsonWriter& json) {
  const std::vector<std::pair<const char*, Value>> members = {
      {"mechanism", NameOf(noise.mechanism())},
      {"scale", noise.scale().empty() ? Value() : Value(noise.scale())},
      {"sigma_squared", noise.sigma_squared().empty() ? Value() : Value(noise.sigma_squared())},
      {"standard_deviation", noise.standard_deviation()},
      {"expected_absolute_error", noise.expected_absolute_error()},
      {"confidence_half_width", noise.confidence_half_width()},
      {"confidence_level", noise.confidence_level()}};
  json.BeginObject();
  for (const auto& [key, value] : members) {
    json.Key(key);
    json.Write(value);
  }
  json.EndObject();
}

void WriteMarginal(const Marginal& marginal, const CellLabels& labels, JsonWriter& json) {
  json.BeginObject();
  json.Key("attributes");
  json.Write(AttributesOf(marginal));
  json.Key("sizes");
  json.BeginArray();
  for (const int64_t size : marginal.header.sizes()) json.Write(size);
  json.EndArray();
  if (HasInterval(marginal)) {
    json.Key("noise");
    WriteNoise(marginal.header.noise(), json);
  }
  json.Key("cells");
  json.BeginArray();
  std::vector<std::string> values(labels.attributes());
  for (size_t cell = 0; cell < marginal.cells(); ++cell) {
    for (size_t i = 0; i < values.size(); ++i) values[i] = labels.Of(i, cell);
    json.BeginObject();
    json.Key("values");
    json.Write(values);
    json.Key("count");
    json.Write(CountOf(marginal, cell));
    if (HasInterval(marginal)) {
      const Interval interval = IntervalOf(marginal, cell);
      json.Key("lower");
      json.Write(interval.lower);
      json.Key("upper");
      json.Write(interval.upper);
    }
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

std::string TitleOf(const Marginal& marginal) {
  std::string title;
  for (const std::string& name : marginal.header.attributes())
    absl::StrAppend(&title, title.empty() ? "" : " x ", name);
  absl::StrAppend(&title, "  (", marginal.cells(), " cells");
  if (HasInterval(marginal)) {
    const v1::Noise& noise = marginal.header.noise();
    absl::StrAppend(&title, ", ", NameOf(noise.mechanism()), " noise, ",
                    TextOfConfidence(noise.confidence_level()), " within +-",
                    RoundedText(noise.confidence_half_width()));
  }
  return title + ")";
}

Table TableOf(const Marginal& marginal, const CellLabels& labels) {
  Table table;
  table.title = TitleOf(marginal);
  table.rows_for_people = kCellsForPeople;
  for (const std::string& name : AttributesOf(marginal)) table.columns.push_back({name, name});
  table.columns.push_back({"count", "count", Align::kRight});
  if (HasInterval(marginal)) {
    table.columns.push_back({"lower", "from", Align::kRight});
    table.columns.push_back({"upper", "to", Align::kRight});
  }
  // Rows that are not shown are made empty: only their number matters.
  const size_t shown = std::min(marginal.cells(), kCellsForPeople);
  table.rows.resize(marginal.cells());
  for (size_t cell = 0; cell < shown; ++cell) {
    Row& row = table.rows[cell];
    for (size_t i = 0; i < labels.attributes(); ++i) row.emplace_back(labels.Of(i, cell));
    row.emplace_back(CountOf(marginal, cell));
    if (HasInterval(marginal)) {
      const Interval interval = IntervalOf(marginal, cell);
      row.emplace_back(interval.lower);
      row.emplace_back(interval.upper);
    }
  }
  return table;
}

OutputForm FormOf(const std::string& path, OutputForm fallback) {
  if (path.ends_with(".json")) return OutputForm::kJson;
  if (path.ends_with(".csv") || fallback == OutputForm::kTable) return OutputForm::kCsv;
  return fallback;
}

absl::Status WriteAnswer(const Answer& answer, const v1::Schema& schema, OutputForm form, std::ostream& out) {
  return form == OutputForm::kJson ? WriteAnswerJson(answer, schema, out)
                                   : WriteAnswerCsv(answer, schema, out);
}

}  // namespace

absl::Status WriteAnswerCsv(const Answer& answer, const v1::Schema& schema, std::ostream& out) {
  const std::vector<std::string> columns = AttributesOf(answer, schema);
  const bool intervals = std::any_of(answer.marginals.begin(), answer.marginals.end(), HasInterval);
  out << "marginal";
  for (const std::string& column : columns) out << "," << CsvText(column);
  out << ",count" << (intervals ? ",lower,upper" : "") << "\n";
  for (const Marginal& marginal : answer.marginals) {
    const absl::StatusOr<CellLabels> labels = CellLabels::Create(schema, marginal.header);
    if (!labels.ok()) return labels.status();
    const std::string name = CsvField(Value(AttributesOf(marginal)));
    const std::vector<std::optional<size_t>> positions = PositionsIn(marginal, columns);
    for (size_t cell = 0; cell < marginal.cells(); ++cell) {
      out << name;
      for (const std::optional<size_t> position : positions) {
        out << ",";
        if (position) out << CsvText(labels->Of(*position, cell));
      }
      out << "," << CsvField(CountOf(marginal, cell));
      if (HasInterval(marginal)) {
        const Interval interval = IntervalOf(marginal, cell);
        out << "," << ExactText(interval.lower) << "," << ExactText(interval.upper);
      } else if (intervals) {
        out << ",,";
      }
      out << "\n";
    }
  }
  return absl::OkStatus();
}

absl::Status WriteAnswerJson(const Answer& answer, const v1::Schema& schema, std::ostream& out) {
  JsonWriter json(out);
  json.BeginObject();
  const Document summary = SummaryOf(answer);
  for (const Field& field : summary.fields) {
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
    const absl::StatusOr<CellLabels> labels = CellLabels::Create(schema, marginal.header);
    if (!labels.ok()) return labels.status();
    WriteMarginal(marginal, *labels, json);
  }
  json.EndArray();
  json.EndObject();
  out << "\n";
  return absl::OkStatus();
}

absl::Status WriteAnswerTables(const Answer& answer, const v1::Schema& schema, const Terminal& terminal,
                               std::ostream& out) {
  const size_t shown = std::min(answer.marginals.size(), kMarginalsForPeople);
  Document document;
  for (size_t i = 0; i < shown; ++i) {
    const absl::StatusOr<CellLabels> labels = CellLabels::Create(schema, answer.marginals[i].header);
    if (!labels.ok()) return labels.status();
    document.tables.push_back(TableOf(answer.marginals[i], *labels));
  }
  if (shown < answer.marginals.size()) {
    document.notes.push_back(
        absl::StrCat("... ", answer.marginals.size() - shown, " more marginals (--out FILE.csv writes all)"));
  }
  Print(document, OutputForm::kTable, terminal, out, out);
  return absl::OkStatus();
}

Document SummaryOf(const Answer& answer) {
  Document document;
  const v1::AnswerHeader& header = answer.header;
  int64_t cells = 0;
  for (const Marginal& marginal : answer.marginals) cells += static_cast<int64_t>(marginal.cells());
  document.fields = {{"release_id", "release", header.release_id()},
                     {"charge_id", "charge", header.charge_id()},
                     {"request_id", "request id", header.request_id()},
                     {"replayed", "replayed", header.replayed()},
                     {"event", "recorded as", header.event().empty() ? Value() : Value(header.event())},
                     {"marginal_count", "marginals", int64_t{header.marginal_count()}},
                     {"cell_count", "cells", cells}};
  if (!header.costs().empty()) document.tables.push_back(CostTable(header.costs()));
  if (header.replayed()) document.notes.push_back("from a stored release: nothing was charged now");
  return document;
}

absl::Status DeliverAnswer(Session& session, const Answer& answer, const v1::Schema& schema,
                           const std::string& path) {
  if (path.empty() && session.form == OutputForm::kTable) {
    const absl::Status written = WriteAnswerTables(answer, schema, session.terminal, session.out);
    if (!written.ok()) return written;
    session.out << "\n";
    session.Print(SummaryOf(answer));
    return absl::OkStatus();
  }
  const bool to_standard_output = path.empty() || path == "-";
  absl::StatusOr<std::unique_ptr<OutputFile>> file =
      OutputFile::Create(to_standard_output ? "-" : path, session.out);
  if (!file.ok()) return file.status();
  const absl::Status written = WriteAnswer(answer, schema, FormOf(path, session.form), (*file)->stream());
  if (!written.ok()) return written;
  if (absl::Status committed = (*file)->Commit(); !committed.ok()) return committed;

  Document summary = SummaryOf(answer);
  if (to_standard_output) {
    if (!answer.header.request_id().empty())
      session.error << "request id " << answer.header.request_id() << "\n";
    return absl::OkStatus();
  }
  summary.fields.push_back({"out", "written to", path});
  session.Print(summary);
  return absl::OkStatus();
}

}  // namespace curator::cli
