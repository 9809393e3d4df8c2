#include "ledger/postgres/array_statements.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ledger/postgres/wire_values.h"

namespace curator::ledger::postgres {

ArrayStatement InsertAll(const sql::Insertion& insertion) {
  std::string names;
  std::string arrays;
  ArrayStatement all;
  if (insertion.rows.size() == 1) {
    // Arrays have a price of their own, which one row does not repay.
    for (size_t i = 0; i < insertion.columns->size(); ++i) {
      absl::StrAppend(&names, i == 0 ? "" : ", ", std::string((*insertion.columns)[i].name));
      absl::StrAppend(&arrays, i == 0 ? "$" : ", $", i + 1);
    }
    all.text =
        absl::StrCat("INSERT INTO ", std::string(insertion.table), " (", names, ") VALUES (", arrays, ")");
    all.arrays = insertion.rows.front();
    return all;
  }
  for (size_t i = 0; i < insertion.columns->size(); ++i) {
    const sql::Column& column = (*insertion.columns)[i];
    absl::StrAppend(&names, i == 0 ? "" : ", ", std::string(column.name));
    absl::StrAppend(&arrays, i == 0 ? "$" : ", $", i + 1, "::", std::string(ArrayTypeOf(column.type)));
    all.arrays.emplace_back(ArrayOf(insertion.rows, i, column.type));
  }
  all.text = absl::StrCat("INSERT INTO ", std::string(insertion.table), " (", names,
                          ") SELECT * FROM unnest(", arrays, ")");
  return all;
}

ArrayStatement LookUpAll(const sql::Statement& statement) {
  std::string names;
  std::string arrays;
  std::string select(statement.text);
  ArrayStatement all;
  // From the last parameter to the first, because $1 is how $10 begins.
  for (size_t i = statement.key_types.size(); i-- > 0;) {
    select = absl::StrReplaceAll(select, {{absl::StrCat("$", i + 1), absl::StrCat("keys.key", i + 1)}});
  }
  for (size_t i = 0; i < statement.key_types.size(); ++i) {
    absl::StrAppend(&names, "key", i + 1, ", ");
    absl::StrAppend(&arrays, i == 0 ? "$" : ", $", i + 1,
                    "::", std::string(ArrayTypeOf(statement.key_types[i])));
    all.arrays.emplace_back(ArrayOf(statement.each, i, statement.key_types[i]));
  }
  // A subquery that locks or has a LIMIT stays a loop over the keys, in their order.
  all.text = absl::StrCat("SELECT keys.number, found.* FROM unnest(", arrays, ") WITH ORDINALITY AS keys (",
                          names, "number), LATERAL (", select, ") AS found");
  return all;
}

sql::Answers AnswersByKey(const std::vector<sql::Row>& rows, size_t keys) {
  sql::Answers answers(keys);
  for (const sql::Row& row : rows) {
    answers.at(static_cast<size_t>(row.Integer(0) - 1)).push_back(row.Without(1));
  }
  return answers;
}

}  // namespace curator::ledger::postgres
