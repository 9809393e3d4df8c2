// Many runs of one statement as one statement over arrays.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

struct ArrayStatement {
  std::string text;
  sql::Parameters arrays;
};

// INSERT ... SELECT $1, ..., unnest($9), ...: the rows keep their order, so generated numbers follow it.
// Columns that come first and are the same in every row are sent once.
ArrayStatement InsertAll(const sql::Insertion& insertion);

// A SELECT that finds rows by a key, for all keys at once, one after the other in their order: locks are
// taken in that order, too. Its rows begin with the number of their key: AnswersByKey() gives each key its
// rows.
ArrayStatement LookUpAll(const sql::Statement& statement);
sql::Answers AnswersByKey(const std::vector<sql::Row>& rows, size_t keys);

}  // namespace curator::ledger::postgres
