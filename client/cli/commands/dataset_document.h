// The public facts about a dataset, and the report of an import, as documents.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <string>

#include "client/cli/output/document.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// All public facts about a dataset.
Document DatasetDocument(const v1::Dataset& dataset);

// The parts with their bins; tables show the first few bins.
void AddPartitionFacts(const v1::Partition& partition, Document& document);

// The number of bins of the attribute, as the server makes them; 0 for an attribute that no server accepts.
int64_t BinsOf(const v1::Attribute& attribute);

// What values the attribute takes: "integer, 17 to 90 by 5", "categorical, 4 values and \"?\"".
std::string DescribeKind(const v1::Attribute& attribute);

// The unit that the guarantee protects: "person (column pid, at most 3 records each)".
std::string DescribeUnit(const v1::Schema& schema);

// The groups of nested records; adds nothing if records are not nested.
void AddNestingFacts(const v1::Schema& schema, Document& document);

// The measures with their values, "0 to 200000 by 100"; adds nothing if there are none.
void AddMeasures(const v1::Schema& schema, Document& document);

// The constraints between attributes, "start <= end"; adds nothing if there are none.
void AddConstraints(const v1::Schema& schema, Document& document);

// The report of an import: numbers of rows, and what was rejected by column and reason. For the owner only.
void AddImportFacts(const v1::ImportRecordsResponse& import, Document& document);

}  // namespace curator::cli
