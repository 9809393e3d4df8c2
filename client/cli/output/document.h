// A command's result: facts, then tables, then remarks; and how it is printed in each form.
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
enum class Audience {
  kEveryone,
  kPeople,
  kPrograms
};  // kPeople: table form only; kPrograms: JSON and CSV only

struct Column {
  std::string key;    // in JSON and CSV
  std::string title;  // in tables
  Align align = Align::kLeft;
  Audience audience = Audience::kEveryone;
};

using Row = std::vector<Value>;  // as many as there are columns

struct Table {
  std::string key;    // in JSON
  std::string title;  // above it, in tables; may be empty
  std::vector<Column> columns;
  std::vector<Row> rows;
  // In table form, this many rows at most; a line says how many more there are.
  size_t rows_for_people = 40;
  Audience audience = Audience::kEveryone;
};

struct Field {
  std::string key;
  std::string title;
  Value value;
  Audience audience = Audience::kEveryone;
};

struct Document {
  std::vector<Field> fields;
  std::vector<Table> tables;       // CSV prints the first one, or the fields as one row when there is none
  std::vector<std::string> notes;  // for people
};

// In table form the notes follow on `out`; in CSV they go to `error`; in JSON they are left out.
void Print(const Document& document, OutputForm form, const Terminal& terminal, std::ostream& out,
           std::ostream& error);

// Rows of one table as they come. In table form columns are as wide as the widest of the first rows needs.
class RowWriter {
 public:
  virtual ~RowWriter() = default;
  virtual void Add(Row row) = 0;
  // Writes what is still held back. Call once, last.
  virtual void Finish() = 0;
};

// Table form with a heading, CSV with a header line, or a JSON array of objects (without a line end).
// Everything passed by reference must outlive the writer.
std::unique_ptr<RowWriter> MakeRowWriter(const std::vector<Column>& columns, OutputForm form,
                                         const Terminal& terminal, std::ostream& out, JsonWriter& json);

}  // namespace curator::cli
