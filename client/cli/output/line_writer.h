// Rows that are written one by one as they come, such as those of a stream.
#pragma once

#include <memory>
#include <ostream>
#include <vector>

#include "client/cli/output/document.h"
#include "client/cli/output/json_writer.h"
#include "client/cli/output/terminal.h"

namespace curator::cli {

// A line for each row: in table form with two blanks between cells, in JSON form an object, in CSV form after
// a header line. The arguments must outlive it. Not thread-safe.
class LineWriter {
 public:
  LineWriter(const std::vector<Column>& columns, OutputForm form, const Terminal& terminal,
             std::ostream& out);
  void Write(const Row& row);

 private:
  void WriteJson(const Row& row);
  void WriteText(const Row& row);

  const std::vector<Column>& columns_;
  const OutputForm form_;
  std::ostream& out_;
  JsonWriter unused_json_;
  const std::unique_ptr<RowWriter> csv_;
};

}  // namespace curator::cli
