// The owner's look at the records of a file, which are private: it proposes how to declare their columns.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "client/cli/schema/csv_columns.h"
#include "client/cli/schema/schema_file.h"

namespace curator::cli {

enum class LookFor {
  kKinds,   // and ways of writing (v1::Reading); no range, category or bin
  kDomain,  // also ranges, categories and bins: the schema has domain_from_records
};

struct Look {
  SchemaFile file;                 // what was proposed, and the look itself
  std::vector<std::string> notes;  // for the owner's eyes only: they depend on the records
};

// Reads the whole file. `unfilled` is of its header; `now` becomes the time of the look. A column is an
// integer, a number or a date when nine of ten cells are that are not missing values; else its kind is
// categorical. A column without any value, and one of very many texts whose values are looked for, stays
// unfilled. Errors of ReadCsvRows().
absl::StatusOr<Look> LookAt(const std::string& path, const CsvHeader& header, const SchemaFile& unfilled,
                            LookFor what, absl::Time now);

}  // namespace curator::cli
