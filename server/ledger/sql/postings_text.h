// A charge's postings as they stand in its row: [[1,"releases",1],[1,"rho",1000]], ascending by account and
// counter. It is JSON, so that the store can show them, but no other JSON than this is read: no spaces, no
// escapes (counters are words, request_checks.h).
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "ledger/ledger.h"

namespace curator::ledger::sql {

// By account, then by the bytes of the counter's name.
std::vector<Posting> Ascending(std::vector<Posting> postings);

std::string PostingsText(std::vector<Posting> postings);

// DATA_LOSS for a text that PostingsText() would not write.
absl::StatusOr<std::vector<Posting>> ParsePostingsText(std::string_view text);

}  // namespace curator::ledger::sql
