// The template of a schema: a file of comments and of attributes that wait for their kinds.
//
// Thread-safe: pure functions.
#pragma once

#include <string>

#include "absl/status/statusor.h"
#include "client/cli/schema/csv_columns.h"
#include "client/cli/schema/schema_file.h"

namespace curator::cli {

// An attribute for each column that has a name, without its kind, in the file's order; the separator.
// INVALID_ARGUMENT names `path` and the column whose name no attribute may have.
absl::StatusOr<SchemaFile> UnfilledSchema(const CsvHeader& header, const std::string& path);

// The text of a file that says, for each attribute that is not filled in, how. `path` is of the CSV file.
std::string TemplateText(const SchemaFile& file, const std::string& path);

}  // namespace curator::cli
