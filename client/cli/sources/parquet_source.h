// Parquet files as sources of an import, through DuckDB's library where it is installed.
//
// The library sees this one file: its access to other files and to the network is off, it loads and installs
// no extension, and neither can be changed again. It uses one thread and a bounded amount of memory, whatever
// the file's size. Rows come in the order of the file.
//
// The texts: dates and times are ISO 8601, times with a zone in UTC, booleans "true" and "false", numbers in
// plain or exponent form. NULL is an empty cell.
//
// Not thread-safe: a source belongs to one import.
#pragma once

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "client/cli/sources/csv_source.h"

namespace curator::cli {

// Whether a file is read as Parquet: its name ends in ".parquet", or it is a regular file that begins as such
// files do. Nothing is read of a pipe.
bool IsParquet(const std::string& path);

// All columns of the file but those whose values are lists, records or bytes: where `form` names one of
// those, the file is refused.
//
// Errors: NOT_FOUND and PERMISSION_DENIED (the file), FAILED_PRECONDITION (no usable library),
// INVALID_ARGUMENT (no Parquet, or damaged). None contains a value of a row.
absl::StatusOr<std::unique_ptr<CsvSource>> OpenParquet(const std::string& path, const CsvForm& form);

}  // namespace curator::cli
