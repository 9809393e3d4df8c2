// The result of a command, as fields, tables and notes, and its output in each form.
//
// Thread-safe but for RowWriter, which belongs to one thread.
#pragma once

#include <cstddef>
#include <memory>
#include <ostream>
#include <string>
#include <vector>

#include "client/cli/output/json_writer.h"
#include "client/cli/output/terminal.h"
#include "client/cli/output/value.h"

namespace curator::cli {

enum class Align { kLeft, kRight };
// The output forms in which a part of a document appears.
enum class ShownIn { kAllForms, kTables, kJsonAndCsv };

struct Column {
  std::string key;    // in JSON and CSV
  std::string title;  // in tables
  Align align = Align::kLeft;
  ShownIn shown_in = ShownIn::kAllForms;
};

using Row = std::vector<Value>;  // one for each column

struct Table {
  std::string key;    // in JSON
  std::string title;  // above it, in tables; may be empty
  std::vector<Column> columns;
  std::vector<Row> rows;
  // The most rows in table form; a line reports how many more there are.
  size_t displayed_rows = 40;
  ShownIn shown_in = ShownIn::kAllForms;
};

struct Field {
  std::string key;
  std::string title;
  Value value;
  ShownIn shown_in = ShownIn::kAllForms;
};

struct Document {
  std::vector<Field> fields;
  std::vector<Table> tables;       // CSV prints the first one, or the fields as one row when there is none
  std::vector<std::string> notes;  // sentences, omitted in JSON
};

// Prints the document. In table form the notes follow on `out`; in CSV they go to `error`; in JSON they are
// omitted.
void Print(const Document& document, OutputForm form, const Terminal& terminal, std::ostream& out,
           std::ostream& error);

// Prints the rows of one table as they arrive. In table form the first rows determine the widths of the
// columns.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void Add(Row row) = 0;
  // Writes the buffered rows. To be called once, as the last call.
  virtual void Finish() = 0;
};

// A writer for tables with a heading, CSV with a header line, or a JSON array of objects (without a line
// end). The arguments that are references must outlive it.
std::unique_ptr<RowWriter> MakeRowWriter(const std::vector<Column>& columns, OutputForm form,
                                         const Terminal& terminal, std::ostream& out, JsonWriter& json);

}  // namespace curator::cli
