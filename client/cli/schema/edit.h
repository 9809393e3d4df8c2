// Questions and answers in the terminal that fill in a schema.
//
// Not thread-safe: belongs to one command.
#pragma once

#include <istream>
#include <ostream>
#include <string>

#include "absl/status/status.h"
#include "client/cli/schema/schema_file.h"

namespace curator::cli {

enum class EditEnd { kAllAnswered, kStopped };

// Asks, attribute by attribute, for the kind and what it needs, for missing values and ways of writing, and
// at the end whom the guarantee protects, and for the measures. A new measure of an attribute's name is read
// as the attribute is. An empty answer keeps what is in brackets, "<" goes back by one question, and the end
// of `in` or "quit" stops; at the measures with kAllAnswered, because nothing is lacking. Each attribute is
// checked as the server checks it. What was answered so far is in `schema` whatever the end is.
EditEnd EditSchema(v1::Schema& schema, std::istream& in, std::ostream& out);

}  // namespace curator::cli
