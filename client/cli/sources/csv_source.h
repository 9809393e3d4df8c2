// Rows of a source other than a CSV file, as the bytes of a CSV file: a header line, then the rows.
//
// Not thread-safe: a source belongs to one import.
#pragma once

#include <istream>
#include <memory>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// How a dataset's schema wants its files written, and which of their columns it reads.
struct CsvForm {
  char separator = ',';
  // In the order of the schema: the id and group columns, then those of the attributes and of the measures,
  // each once.
  std::vector<std::string> columns;
  // Of these, those whose numbers have a comma as their decimal sign.
  std::set<std::string> decimal_commas;
};
CsvForm CsvFormOf(const v1::Schema& schema);

// What a cell holds in its source, as far as its text in the file depends on that.
enum class CellType {
  kText,     // and everything that is written as it is
  kNumber,   // with a "." as its decimal sign
  kBoolean,  // begins with "t" or "f"
  kInstant,  // a time with "+00" as its offset from UTC at the end
};

// Writes lines of a CSV file. The cells of a line come in order.
class CsvLines {
 public:
  // Begins with the header line.
  CsvLines(const CsvForm& form, const std::vector<std::string>& columns, std::vector<CellType> types);

  void AppendCell(std::string_view text);
  // Of a missing value: an empty cell.
  void AppendNull() { AppendCell(""); }

  // The lines since the last call; call it at the end of a line.
  std::string Take();
  size_t size() const { return lines_.size(); }

 private:
  void AppendText(std::string_view text);
  void AppendNumber(std::string_view text);

  const char separator_;
  const std::string must_be_quoted_;
  std::vector<CellType> types_;
  std::vector<bool> has_decimal_comma_;
  size_t column_ = 0;
  std::string lines_;
};

class CsvSource {
 public:
  virtual ~CsvSource() = default;
  // The next lines, in pieces that do not grow with the source; empty at its end. Not after an error.
  virtual absl::StatusOr<std::string> NextLines() = 0;
};

// The bytes of a source, which cannot be read twice. The stream is bad() after an error of the source.
class CsvStream : public std::istream {
 public:
  explicit CsvStream(std::unique_ptr<CsvSource> source);
  ~CsvStream() override;

  // The error of the source, if it had one.
  const absl::Status& status() const;

 private:
  class Buffer;
  const std::unique_ptr<Buffer> buffer_;
};

}  // namespace curator::cli
