#include "client/cli/output/document.h"

#include <algorithm>
#include <utility>

#include "client/cli/output/text.h"

namespace curator::cli {
namespace {

constexpr char kGap[] = "  ";

void AppendPadded(std::string& line, const std::string& cell, size_t width, Align align) {
  const size_t used = DisplayWidth(cell);
  const std::string padding(width > used ? width - used : 0, ' ');
  line += align == Align::kRight ? padding + cell : cell + padding;
}

std::string WithoutTrailingBlanks(std::string line) {
  line.erase(line.find_last_not_of(' ') + 1);
  return line;
}

class TextRows : public RowWriter {
 public:
  TextRows(const std::vector<Column>& columns, const Terminal& terminal, std::ostream& out)
      : columns_(columns), terminal_(terminal), out_(out) {}

  void Add(Row row) override {
    std::vector<std::string> cells;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].shown_in != ShownIn::kJsonAndCsv) cells.push_back(DisplayText(row[i]));
    }
    held_.push_back(std::move(cells));
    if (held_.size() >= kHeldRows) Flush();
  }

  void Finish() override { Flush(); }

 private:
  static constexpr size_t kHeldRows = 200;

  void Flush() {
    if (widths_.empty()) WriteHeading();
    for (const std::vector<std::string>& cells : held_) out_ << LineOf(cells) << "\n";
    held_.clear();
  }

  void WriteHeading() {
    std::vector<std::string> titles;
    for (const Column& column : columns_) {
      if (column.shown_in == ShownIn::kJsonAndCsv) continue;
      shown_.push_back(&column);
      titles.push_back(column.title);
    }
    widths_.assign(shown_.size(), 0);
    const auto widen = [this](const std::vector<std::string>& cells) {
      for (size_t i = 0; i < cells.size(); ++i) widths_[i] = std::max(widths_[i], DisplayWidth(cells[i]));
    };
    widen(titles);
    for (const std::vector<std::string>& cells : held_) widen(cells);
    out_ << Styled(terminal_, Style::kBold, LineOf(titles)) << "\n";
  }

  std::string LineOf(const std::vector<std::string>& cells) const {
    std::string line;
    for (size_t i = 0; i < cells.size(); ++i) {
      if (i > 0) line += kGap;
      AppendPadded(line, cells[i], widths_[i], shown_[i]->align);
    }
    return WithoutTrailingBlanks(std::move(line));
  }

  const std::vector<Column>& columns_;
  const Terminal& terminal_;
  std::ostream& out_;
  std::vector<const Column*> shown_;
  std::vector<size_t> widths_;  // empty until the heading is written
  std::vector<std::vector<std::string>> held_;
};

class CsvRows : public RowWriter {
 public:
  CsvRows(const std::vector<Column>& columns, std::ostream& out) : columns_(columns), out_(out) {
    Row keys;
    for (const Column& column : columns_) keys.emplace_back(column.key);
    CsvRows::Add(std::move(keys));
  }

  void Add(Row row) override {
    bool first = true;
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].shown_in == ShownIn::kTables) continue;
      if (!std::exchange(first, false)) out_ << ",";
      out_ << CsvField(row[i]);
    }
    out_ << "\n";
  }

  void Finish() override {}

 private:
  const std::vector<Column>& columns_;
  std::ostream& out_;
};

class JsonRows : public RowWriter {
 public:
  JsonRows(const std::vector<Column>& columns, JsonWriter& json) : columns_(columns), json_(json) {
    json_.BeginArray();
  }

  void Add(Row row) override {
    json_.BeginObject();
    for (size_t i = 0; i < columns_.size(); ++i) {
      if (columns_[i].shown_in == ShownIn::kTables) continue;
      json_.Key(columns_[i].key);
      json_.Write(row[i]);
    }
    json_.EndObject();
  }

  void Finish() override { json_.EndArray(); }

 private:
  const std::vector<Column>& columns_;
  JsonWriter& json_;
};

void PrintJson(const Document& document, std::ostream& out) {
  JsonWriter json(out);
  json.BeginObject();
  for (const Field& field : document.fields) {
    if (field.shown_in == ShownIn::kTables) continue;
    json.Key(field.key);
    json.Write(field.value);
  }
  for (const Table& table : document.tables) {
    if (table.shown_in == ShownIn::kTables) continue;
    json.Key(table.key);
    JsonRows rows(table.columns, json);
    for (const Row& row : table.rows) rows.Add(row);
    rows.Finish();
  }
  json.EndObject();
  out << "\n";
}

Table FieldsAsTable(const std::vector<Field>& fields) {
  Table table;
  table.rows.emplace_back();
  for (const Field& field : fields) {
    if (std::holds_alternative<RawJson>(field.value)) continue;
    table.columns.push_back({field.key, field.title, Align::kLeft, field.shown_in});
    table.rows.back().emplace_back(field.value);
  }
  return table;
}

void PrintCsv(const Document& document, std::ostream& out) {
  const Table table = document.tables.empty() ? FieldsAsTable(document.fields) : document.tables.front();
  CsvRows rows(table.columns, out);
  for (const Row& row : table.rows) rows.Add(row);
}

void PrintFields(const std::vector<Field>& fields, const Terminal& terminal, std::ostream& out) {
  size_t width = 0;
  for (const Field& field : fields) {
    if (field.shown_in != ShownIn::kJsonAndCsv) width = std::max(width, DisplayWidth(field.title));
  }
  for (const Field& field : fields) {
    if (field.shown_in == ShownIn::kJsonAndCsv) continue;
    std::string title;
    AppendPadded(title, field.title, width, Align::kLeft);
    out << Styled(terminal, Style::kBold, title) << kGap << DisplayText(field.value) << "\n";
  }
}

void PrintTable(const Table& table, const Terminal& terminal, std::ostream& out) {
  if (!table.title.empty()) out << Styled(terminal, Style::kBold, Printable(table.title)) << "\n";
  TextRows rows(table.columns, terminal, out);
  const size_t shown = std::min(table.rows.size(), table.displayed_rows);
  for (size_t i = 0; i < shown; ++i) rows.Add(table.rows[i]);
  rows.Finish();
  if (shown < table.rows.size()) {
    out << Styled(terminal, Style::kDim,
                  "... " + std::to_string(table.rows.size() - shown) +
                      " more rows (--output csv or json prints all)")
        << "\n";
  }
}

}  // namespace

void Print(const Document& document, OutputForm form, const Terminal& terminal, std::ostream& out,
           std::ostream& error) {
  if (form == OutputForm::kJson) return PrintJson(document, out);
  if (form == OutputForm::kCsv) {
    PrintCsv(document, out);
    for (const std::string& note : document.notes) error << Printable(note) << "\n";
    return;
  }
  PrintFields(document.fields, terminal, out);
  bool first = document.fields.empty();
  for (const Table& table : document.tables) {
    if (table.shown_in == ShownIn::kJsonAndCsv) continue;
    if (!std::exchange(first, false)) out << "\n";
    PrintTable(table, terminal, out);
  }
  if (!document.notes.empty() && !first) out << "\n";
  for (const std::string& note : document.notes)
    out << Styled(terminal, Style::kDim, Printable(note)) << "\n";
}

std::unique_ptr<RowWriter> MakeRowWriter(const std::vector<Column>& columns, OutputForm form,
                                         const Terminal& terminal, std::ostream& out, JsonWriter& json) {
  switch (form) {
    case OutputForm::kJson:
      return std::make_unique<JsonRows>(columns, json);
    case OutputForm::kCsv:
      return std::make_unique<CsvRows>(columns, out);
    case OutputForm::kTable:
      break;
  }
  return std::make_unique<TextRows>(columns, terminal, out);
}

}  // namespace curator::cli
