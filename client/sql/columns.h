// The columns of a dataset as a statement names them.
//
// Thread-safe: immutable; the schema, the statement and the table outlive it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sql/parse_tree.pb.h"
#include "client/sql/statement.h"
#include "curator/v1/schema.pb.h"

namespace curator::sql {

// An attribute, a measure, both of one name, or the column of ids.
struct Column {
  std::string name;  // as the schema writes it
  const v1::Attribute* attribute = nullptr;
  const v1::Measure* measure = nullptr;
  bool is_id = false;

  // Whether it has a sum: a measure, or an integer attribute with bins of one value.
  bool has_numbers() const;
  // Whether its values have an order of numbers, in which quantiles are: also other integers and numbers.
  bool has_quantiles() const;
  // Whether a record may be without a value of it.
  bool may_be_missing() const;
};

class Columns {
 public:
  Columns(std::string_view sql, const v1::Schema& schema, const Table& table);

  // The column of this reference: of the exact name or, as SQL writes names without quotation marks in lower
  // case, of the only one that differs in upper and lower case. Errors: Refusal() with similar names.
  absl::StatusOr<Column> Find(const tree::ColumnReference& reference) const;

  // The same, if it is an attribute: `clause` is where the statement uses it ("GROUP BY").
  absl::StatusOr<Column> FindAttribute(const tree::ColumnReference& reference, std::string_view clause) const;

  // Whether a column is called so; true of a name with a table.
  bool Has(const tree::ColumnReference& reference) const;

  // "income, age": the names of columns that `accepts` holds for, the first few.
  template <typename Accepts>
  std::string Some(const Accepts& accepts) const {
    std::vector<std::string> names;
    for (const Column& column : columns_) {
      if (accepts(column)) names.push_back(column.name);
    }
    return Joined(names);
  }

  // The column of ids; empty where a record is the unit.
  const std::string& id_column() const { return id_column_; }

 private:
  static std::string Joined(const std::vector<std::string>& names);
  absl::StatusOr<std::string> NameOf(const tree::ColumnReference& reference) const;
  std::vector<const Column*> Matching(std::string_view name) const;

  std::string_view sql_;
  const Table& table_;
  std::string id_column_;
  std::vector<Column> columns_;
};

// Whether the parser read `name`, which the schema writes, as `read`: it cuts names after 63 bytes.
bool IsReadAs(std::string_view name, std::string_view read);

}  // namespace curator::sql
