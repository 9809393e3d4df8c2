// Reads CSV field by field from bytes that arrive in pieces of any size; only the current field is kept.
//
// CSV as in RFC 4180, with a header line: quoted fields; LF, CRLF or CR; blanks around unquoted fields are
// ignored; blank lines and a UTF-8 byte order mark are skipped; other bytes are passed through. Lines are
// counted as an editor counts them: a quoted line break counts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"

namespace curator::records {

inline constexpr size_t kMaxFieldBytes = size_t{1} << 16;
inline constexpr size_t kMaxColumns = size_t{1} << 14;
inline constexpr size_t kMaxHeaderBytes = size_t{1} << 20;
// A bound on the time for a few compressed bytes that decompress to blank lines.
inline constexpr int64_t kMaxLines = int64_t{1} << 33;

// INVALID_ARGUMENT for the field "csv": "line 7: ...".
absl::Status CsvError(int64_t line, std::string_view what);

// The receiver of the rows.
class CsvSink {
 public:
  virtual ~CsvSink() = default;
  virtual absl::Status TakeHeader(const std::vector<std::string>& columns) = 0;
  // For each row: its fields from left to right, as many as the header has, then TakeRow(). `text` is valid
  // during the call only.
  virtual void TakeField(size_t column, std::string_view text) = 0;
  // `line` is where the row begins; 1 is the file's first.
  virtual absl::Status TakeRow(int64_t line) = 0;
  // What the error of a header has at its end. `header` begins with the header line as it is in the file, and
  // may lack the end of a long one.
  virtual std::string AdviceOn(std::string_view /*header*/) const { return ""; }
};

// Not thread-safe. Both methods return INVALID_ARGUMENT (field "csv") for malformed CSV, or the sink's error.
// After an error, every further call returns that error.
class CsvReader {
 public:
  // `sink` must outlive the reader; `separator` is one of , ; | and a tab.
  explicit CsvReader(CsvSink& sink, char separator = ',');
  ~CsvReader();

  absl::Status Append(std::string_view bytes);
  absl::Status Finish();

 private:
  class Parser;
  std::unique_ptr<Parser> parser_;
};

}  // namespace curator::records
