#include "client/cli/output/line_writer.h"

#include <string>

#include "absl/strings/str_cat.h"
#include "client/cli/output/text.h"

namespace curator::cli {

LineWriter::LineWriter(const std::vector<Column>& columns, OutputForm form, const Terminal& terminal,
                       std::ostream& out)
    : columns_(columns),
      form_(form),
      out_(out),
      unused_json_(out),
      csv_(form == OutputForm::kCsv ? MakeRowWriter(columns, form, terminal, out, unused_json_) : nullptr) {}

void LineWriter::Write(const Row& row) {
  if (form_ == OutputForm::kJson) WriteJson(row);
  if (form_ == OutputForm::kCsv) csv_->Add(row);
  if (form_ == OutputForm::kTable) WriteText(row);
  out_.flush();
}

void LineWriter::WriteJson(const Row& row) {
  JsonWriter json(out_);
  json.BeginObject();
  for (size_t i = 0; i < row.size(); ++i) {
    if (columns_[i].shown_in == ShownIn::kTables) continue;
    json.Key(columns_[i].key);
    json.Write(row[i]);
  }
  json.EndObject();
  out_ << "\n";
}

void LineWriter::WriteText(const Row& row) {
  std::string line;
  for (size_t i = 0; i < row.size(); ++i) {
    if (columns_[i].shown_in == ShownIn::kJsonAndCsv) continue;
    const std::string text = DisplayText(row[i]);
    absl::StrAppend(&line, line.empty() ? "" : "  ", text.empty() ? "-" : text);
  }
  out_ << line << "\n";
}

}  // namespace curator::cli
