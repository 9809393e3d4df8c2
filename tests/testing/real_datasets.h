// The real data sets of the shared folder, as they are imported: schema and CSV.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace curator::testing {

struct RealDataset {
  std::string name;  // "loans"
  std::string csv;   // its file in the shared folder; ends in ".gz" when compressed
  std::string
      schema;       // of tests/data, or a domain.json of the shared folder: attributes with numbers of codes
  int64_t records;  // says its description; all of them fit the schema
};

// Every data set with records, smallest ones first.
const std::vector<RealDataset>& RealDatasets();

// The data set of that name; ends the program when there is none.
const RealDataset& RealDatasetNamed(const std::string& name);

// Its schema as the JSON form of curator.v1.Schema.
std::string SchemaJsonOf(const RealDataset& dataset);

// Its CSV, not compressed, with at most `most_records` records. Of nist_acs, "N" (not applicable) in the
// three numeric columns that have it is written as a number in a bin of its own, because a bin of a number
// has no catch-all: INDP 0, PINCP -9999, POVPIP -10.
std::string CsvOf(const RealDataset& dataset, int64_t most_records);

}  // namespace curator::testing
