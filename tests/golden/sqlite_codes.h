// The same records in SQLite, and what it counts: an account of counting that shares nothing with ours but
// the words of the schema.
#pragma once

#include <sqlite3.h>

#include <cstdint>
#include <string>
#include <vector>

#include "dp/domain/domain.h"

namespace curator::golden {

// Columns c0, c1, ... hold the code of each attribute. Errors of SQLite fail the test.
class SqliteCodes {
 public:
  // From raw CSV without quotes, with a header: SQLite computes the codes, from the text of each cell.
  SqliteCodes(const dp::Domain& domain, const std::string& csv);
  // From rows of codes.
  SqliteCodes(const dp::Domain& domain, const std::vector<std::vector<uint32_t>>& rows);
  ~SqliteCodes();
  SqliteCodes(const SqliteCodes&) = delete;
  SqliteCodes& operator=(const SqliteCodes&) = delete;

  // SELECT cell, COUNT(*) GROUP BY cell, the last attribute varying fastest.
  std::vector<int64_t> Marginal(const dp::AttributeSet& set);

  // The single number that `SELECT expression FROM codes` gives, 0 where that is NULL; for example
  // "SUM(c0 = 1 AND c2 BETWEEN 3 AND 5)".
  int64_t Value(const std::string& expression);

  // The same over the text of the cells of the CSV, r0, r1, ...; of a table made from CSV.
  int64_t ValueOfTexts(const std::string& expression);

  // The number of a row's cell, as an expression over its columns.
  std::string CellOf(const dp::AttributeSet& set) const;

 private:
  void Run(const std::string& sql);
  int64_t Number(const std::string& sql);
  void InsertRaw(const std::string& csv);

  dp::Domain domain_;
  sqlite3* database_ = nullptr;
};

}  // namespace curator::golden
