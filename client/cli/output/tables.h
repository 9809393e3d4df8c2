// Tables that several commands print, from the same parts.
//
// Thread-safe: pure functions.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "client/cli/output/document.h"
#include "curator/v1/budget.pb.h"
#include "curator/v1/operation.pb.h"
#include "curator/v1/query.pb.h"

namespace curator::cli {

// The texts as the value of a cell.
std::vector<std::string> ListOf(const google::protobuf::RepeatedPtrField<std::string>& texts);

// The text as the value of a cell, which is empty when the text is.
Value TextOrNone(const std::string& text);

// Each counter of each account; on a terminal with a bar.
Table AccountTable(const google::protobuf::RepeatedPtrField<v1::Account>& accounts, const Terminal& terminal);

// What a request costs each account, and what is left after it.
Table CostTable(const google::protobuf::RepeatedPtrField<v1::Cost>& costs);

// All facts about an operation, its state first.
Document OperationDocument(const v1::Operation& operation);

// OK when it is done; INTERNAL when it failed and UNAVAILABLE when it was interrupted, in words that say what
// to do.
absl::Status StatusOf(const v1::Operation& operation);

// "95%" for 0.95.
std::string TextOfConfidence(double level);

}  // namespace curator::cli
