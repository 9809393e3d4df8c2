// Many runs of one statement, or all last steps of a transaction, as one statement over arrays.
//
// Thread-safe: pure functions. What they return refers to the values of their arguments.
#pragma once

#include <string>
#include <vector>

#include "ledger/postgres/arguments.h"
#include "ledger/sql/database.h"

namespace curator::ledger::postgres {

struct ArrayStatement {
  std::string text;
  std::vector<Argument> arguments;
};

// INSERT ... SELECT $1, ..., unnest($9), ...: the rows keep their order, so generated numbers follow it.
// Leading columns that are equal in every row are sent once.
ArrayStatement InsertAll(const sql::Insertion& insertion);

// All steps as one statement: the last one, WITH a data-modifying query for each of the others. An UPDATE
// or DELETE locks its rows before any later one begins, and the statement fails unless each has met every row
// that it was given. Insertions follow all of these and do not see each other: PostgreSQL runs them in any
// order.
// Steps without rows are left out; no text when there are no others.
ArrayStatement WriteAll(const std::vector<sql::Step>& steps);

// A SELECT that finds rows by a key, for all keys in their order, in which it also takes locks. Each row
// begins with the number of its key.
ArrayStatement LookUpAll(const sql::Statement& statement);
// The rows of such a SELECT, grouped by key, without that number.
sql::Answers AnswersByKey(const std::vector<sql::Row>& rows, size_t keys);

}  // namespace curator::ledger::postgres
