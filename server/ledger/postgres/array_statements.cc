#include "ledger/postgres/array_statements.h"

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "absl/strings/str_cat.h"

namespace curator::ledger::postgres {
namespace {

// `text` with each $n replaced by `names[n - 1]`.
std::string WithNames(std::string_view text, const std::vector<std::string>& names) {
  std::string named;
  named.reserve(2 * text.size());
  for (size_t place = 0; place < text.size();) {
    const size_t dollar = std::min(text.find('$', place), text.size());
    named += text.substr(place, dollar - place);
    size_t number = 0;
    for (place = dollar + 1; place < text.size() && text[place] >= '0' && text[place] <= '9'; ++place) {
      number = 10 * number + static_cast<size_t>(text[place] - '0');
    }
    if (dollar < text.size()) named += names.at(number - 1);
  }
  return named;
}

// Collects arguments, and names each in the text as a parameter of its type.
class ArgumentList {
 public:
  explicit ArgumentList(std::vector<Argument>& arguments) : arguments_(arguments) {}

  std::string AddScalar(const sql::Value& value, sql::ColumnType type) {
    if (std::holds_alternative<sql::Null>(value)) return absl::StrCat("NULL::", Name(type));
    arguments_.emplace_back(value);
    return absl::StrCat("$", arguments_.size(), "::", Name(type));
  }
  std::string AddArray(const std::vector<sql::Parameters>& rows, size_t column, sql::ColumnType type) {
    arguments_.emplace_back(rows, column, type);
    return absl::StrCat("$", arguments_.size(), "::", Name(type), "[]");
  }

 private:
  static std::string Name(sql::ColumnType type) { return std::string(TypeOf(type)); }

  std::vector<Argument>& arguments_;
};

// How many leading columns have the same value in every row. Only leading ones count, because each choice of
// columns is a prepared statement of its own.
size_t ColumnsSentOnce(const sql::Insertion& insertion) {
  const std::vector<sql::Parameters>& rows = insertion.rows;
  // For one row an array costs more than it saves.
  if (rows.size() == 1) return insertion.columns->size();
  size_t same = 0;
  const auto is_same = [&](const sql::Parameters& row) { return row[same] == rows.front()[same]; };
  // The last column stays an array, whose length says how many rows there are.
  while (same + 1 < insertion.columns->size() && std::all_of(rows.begin(), rows.end(), is_same)) ++same;
  return same;
}

std::string InsertText(const sql::Insertion& insertion, ArgumentList arguments,
                       const std::string& condition) {
  const std::vector<sql::Column>& columns = *insertion.columns;
  const size_t same = ColumnsSentOnce(insertion);
  std::string names;
  std::string values;
  for (size_t i = 0; i < columns.size(); ++i) {
    const auto [name, type] = columns[i];
    absl::StrAppend(&names, i == 0 ? "" : ", ", std::string(name));
    absl::StrAppend(&values, i == 0 ? "" : ", ");
    if (i < same) {
      absl::StrAppend(&values, arguments.AddScalar(insertion.rows.front().at(i), type));
    } else {
      // Side by side in the list, not as a table: a table would be stored before it is read.
      absl::StrAppend(&values, "unnest(", arguments.AddArray(insertion.rows, i, type), ")");
    }
  }
  return absl::StrCat("INSERT INTO ", std::string(insertion.table), " (", names, ") SELECT ", values,
                      condition);
}

// The last UPDATE or DELETE before a step.
struct Before {
  size_t step = 0;       // its number; 0: there was none
  std::string expected;  // an expression for the number of rows that it must have changed

  // True, or an error: division by zero. PostgreSQL evaluates it before it reads a row of the step that has
  // it as a condition, and so runs that one first.
  std::string Check() const {
    return absl::StrCat("1 / CAST((SELECT COUNT(*) FROM step", step, ") = ", expected, " AS INTEGER) = 1");
  }
  std::string Condition() const { return step == 0 ? std::string() : absl::StrCat(" WHERE ", Check()); }
};

// The parameters of an UPDATE or a DELETE: how its text names them, and the table that they come from, which
// is empty for a single row.
struct GivenValues {
  std::vector<std::string> names;
  std::string table;
};

template <typename Change>
GivenValues ValuesOf(const Change& change, ArgumentList arguments) {
  GivenValues given;
  if (change.rows.size() == 1) {
    for (size_t i = 0; i < change.types.size(); ++i) {
      given.names.push_back(arguments.AddScalar(change.rows.front().at(i), change.types[i]));
    }
    return given;
  }
  std::string arrays;
  std::string columns;
  for (size_t i = 0; i < change.types.size(); ++i) {
    absl::StrAppend(&arrays, i == 0 ? "" : ", ", arguments.AddArray(change.rows, i, change.types[i]));
    absl::StrAppend(&columns, i == 0 ? "" : ", ", "value", i + 1);
    given.names.push_back(absl::StrCat("given.value", i + 1));
  }
  given.table = absl::StrCat("unnest(", arrays, ") AS given (", columns, ")");
  return given;
}

std::string WhereText(std::string_view where, const GivenValues& given, const Before& before) {
  return absl::StrCat(" WHERE ", WithNames(where, given.names),
                      before.step > 0 ? absl::StrCat(" AND ", before.Check()) : "", " RETURNING 1");
}

std::string ChangeText(const sql::Update& update, ArgumentList arguments, const Before& before) {
  const GivenValues given = ValuesOf(update, arguments);
  return absl::StrCat("UPDATE ", std::string(update.table), " SET ", WithNames(update.set, given.names),
                      given.table.empty() ? "" : " FROM ", given.table,
                      WhereText(update.where, given, before));
}

std::string ChangeText(const sql::Deletion& deletion, ArgumentList arguments, const Before& before) {
  const GivenValues given = ValuesOf(deletion, arguments);
  return absl::StrCat("DELETE FROM ", std::string(deletion.table), given.table.empty() ? "" : " USING ",
                      given.table, WhereText(deletion.where, given, before));
}

}  // namespace

ArrayStatement InsertAll(const sql::Insertion& insertion) {
  ArrayStatement all;
  all.text = InsertText(insertion, ArgumentList(all.arguments), "");
  return all;
}

ArrayStatement WriteAll(const std::vector<sql::Step>& steps) {
  ArrayStatement all;
  const ArgumentList arguments(all.arguments);
  std::vector<const sql::Step*> used;
  for (const sql::Step& step : steps) {
    if (std::visit([](const auto& each) { return !each.rows.empty(); }, step)) used.push_back(&step);
  }
  Before before;
  for (size_t i = 0; i < used.size(); ++i) {
    const auto* const insertion = std::get_if<sql::Insertion>(used[i]);
    if (insertion != nullptr && i + 1 == used.size()) {
      absl::StrAppend(&all.text, i == 0 ? "" : ") ", InsertText(*insertion, arguments, before.Condition()));
      return all;
    }
    absl::StrAppend(&all.text, i == 0 ? "WITH step" : "), step", i + 1, " AS (");
    if (insertion != nullptr) {
      absl::StrAppend(&all.text, InsertText(*insertion, arguments, ""));
      continue;
    }
    const size_t first_argument = all.arguments.size() + 1;
    const auto* const update = std::get_if<sql::Update>(used[i]);
    const auto* const deletion = std::get_if<sql::Deletion>(used[i]);
    absl::StrAppend(&all.text, update != nullptr ? ChangeText(*update, arguments, before)
                                                 : ChangeText(*deletion, arguments, before));
    const size_t rows = update != nullptr ? update->rows.size() : deletion->rows.size();
    before = {i + 1, rows == 1 ? "1" : absl::StrCat("cardinality($", first_argument, ")")};
  }
  if (!used.empty()) absl::StrAppend(&all.text, ") SELECT 1", before.Condition());
  return all;
}

ArrayStatement LookUpAll(const sql::Statement& statement) {
  ArrayStatement all;
  ArgumentList arguments(all.arguments);
  std::string names;
  std::string arrays;
  std::vector<std::string> keys;
  for (size_t i = 0; i < statement.key_types.size(); ++i) {
    absl::StrAppend(&names, "key", i + 1, ", ");
    absl::StrAppend(&arrays, i == 0 ? "" : ", ",
                    arguments.AddArray(statement.each, i, statement.key_types[i]));
    keys.push_back(absl::StrCat("keys.key", i + 1));
  }
  // A subquery that locks or has a LIMIT stays a loop over the keys, in their order.
  all.text = absl::StrCat("SELECT keys.number, found.* FROM unnest(", arrays, ") WITH ORDINALITY AS keys (",
                          names, "number), LATERAL (", WithNames(statement.text, keys), ") AS found");
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
