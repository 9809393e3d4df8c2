// Files with a schema: proto3's JSON form of v1::Schema, with two additions. `//` begins a comment, outside
// of texts in quotes, which ends with its line. And beside the schema's own fields the file may say that
// private values were read for it, which `curator dataset create` has written into the history:
//
//   "looks": [{"sha256": "9f86d0...", "time": "2026-11-28T04:00:00Z", "acceptedDomain": true}]
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "curator/v1/dataset.pb.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

struct SchemaFile {
  v1::Schema schema;
  std::vector<v1::OwnerLook> looks;
};

// Of the text of a file; attributes may be unfilled. INVALID_ARGUMENT names `path` and the place of the
// error: line and column of a syntax error, or the path of an unknown field.
absl::StatusOr<SchemaFile> ParseSchemaFile(std::string_view text, const std::string& path);
// The same of a file. A look that took the domain from the records needs the schema to say so.
absl::StatusOr<SchemaFile> ReadSchemaFile(const std::string& path);

// What an attribute lacks, "has no kind"; empty when it is filled in. A range of integers from 0 to 0 counts
// as none.
std::string WhatIsUnfilled(const v1::Attribute& attribute);
// INVALID_ARGUMENT names what is not filled in, and how to do it.
absl::Status CheckFilled(const v1::Schema& schema, const std::string& path);

// One line of JSON.
std::string JsonOf(const v1::Attribute& attribute);
std::string JsonOf(const v1::Measure& measure);
std::string JsonOf(const v1::Constraint& constraint);
std::string JsonOf(const v1::PrivacyUnit& unit);
std::string JsonOf(const v1::OwnerLook& look);
std::string JsonOf(std::string_view text);

// A file that ParseSchemaFile() reads as the same, without comments but for a first line.
std::string TextOf(const SchemaFile& file);

}  // namespace curator::cli
