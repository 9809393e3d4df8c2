// Constants of a statement.
//
// Thread-safe: pure functions.
#pragma once

#include <string_view>

#include "absl/status/statusor.h"
#include "client/sql/parse_tree.pb.h"
#include "google/protobuf/struct.pb.h"

namespace curator::sql {

// Whether the node is a constant of some type: a number, a text, DATE '...', TRUE or NULL.
bool IsConstant(const tree::Node& node);

// A number or a text, as the schema writes values; a date as its text. Errors: Refusal() for NULL, TRUE and
// FALSE, constants of other types, and everything that would have to be calculated.
absl::StatusOr<google::protobuf::Value> ConstantOf(std::string_view sql, const tree::Node& node);

// A finite number. Errors: Refusal() which says what `what` must be ("a comparison in HAVING").
absl::StatusOr<double> NumberOf(std::string_view sql, const tree::Node& node, std::string_view what);

}  // namespace curator::sql
