// CSV files, plain or compressed with gzip, as an import divides them into fields.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "records/csv_reader.h"

namespace curator::cli {

struct CsvHeader {
  char separator = ',';  // the one of , ; | and a tab that occurs most often in the header, outside of quotes
  std::vector<std::string> columns;  // without blanks at their ends; empty for a column without a name
};

// Reads no further than the header. INVALID_ARGUMENT names `path` when there is none, and when two columns
// have the same name; errors of OpenInput().
absl::StatusOr<CsvHeader> ReadCsvHeader(const std::string& path);

// Passes all rows to `sink`, and returns the SHA-256 of the file, 32 bytes.
absl::StatusOr<std::string> ReadCsvRows(const std::string& path, char separator, records::CsvSink& sink);

}  // namespace curator::cli
