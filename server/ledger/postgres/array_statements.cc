#include "ledger/postgres/array_statements.h"

#include <algorithm>
#include <string_view>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "ledger/postgres/wire_values.h"

namespace curator::ledger::postgres {
namespace {

std::string_view TypeOf(sql::ColumnType type) {
  const std::string_view array = ArrayTypeOf(type);
  return array.substr(0, array.find('['));
}

// How many columns, from the first on, have the same value in every row. Not any columns that happen to: each
// choice is a statement of its own, which the server keeps.
size_t ColumnsSentOnce(const sql::Insertion& insertion) {
  const std::vector<sql::Parameters>& rows = insertion.rows;
  // An array has a price of its own, which one row does not repay.
  if (rows.size() == 1) return insertion.columns->size();
  size_t same = 0;
  const auto is_same = [&](const sql::Parameters& row) { return row[same] == rows.front()[same]; };
  // The last column stays an array, whose length says how many rows there are.
  while (same + 1 < insertion.columns->size() && std::all_of(rows.begin(), rows.end(), is_same)) ++same;
  return same;
}

}  // namespace

ArrayStatement InsertAll(const sql::Insertion& insertion) {
  const std::vector<sql::Column>& columns = *insertion.columns;
  const size_t same = ColumnsSentOnce(insertion);
  std::string names;
  std::string values;
  ArrayStatement all;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [name, type] = columns[i];
    absl::StrAppend(&names, i == 0 ? "" : ", ", std::string(name));
    absl::StrAppend(&values, i == 0 ? "" : ", ");
    if (i < same) {
      absl::StrAppend(&values, "$", i + 1, "::", std::string(TypeOf(type)));
      all.arrays.push_back(insertion.rows.front()[i]);
    } else {
      // Side by side in the list, not as a table: a table would be stored before it is read.
      absl::StrAppend(&values, "unnest($", i + 1, "::", std::string(ArrayTypeOf(type)), ")");
      all.arrays.emplace_back(ArrayOf(insertion.rows, i, type));
    }
  }
  all.text = absl::StrCat("INSERT INTO ", std::string(insertion.table), " (", names, ") SELECT ", values);
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
