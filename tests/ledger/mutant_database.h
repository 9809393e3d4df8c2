// A store that alters statements before it runs them, and so makes a mutant of the ledger above it.
//
// Not thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "ledger/sql/database.h"

namespace curator::ledger {

// Replaces `text` by `replacement` in statements that contain it.
struct Mutation {
  std::string text;
  std::string replacement;
};

class MutantDatabase final : public sql::Database {
 public:
  // Adds the number of altered statements to `applied`, which must outlive it.
  MutantDatabase(std::unique_ptr<sql::Database> real, std::vector<Mutation> mutations, int& applied)
      : real_(std::move(real)), mutations_(std::move(mutations)), applied_(applied) {}

  const sql::Dialect& dialect() const override { return real_->dialect(); }
  sql::Outcome Write(const sql::Body& body) override;
  sql::Outcome Read(const sql::Body& body) override;

 private:
  class MutantTransaction;

  std::string Mutated(std::string_view statement);

  const std::unique_ptr<sql::Database> real_;
  const std::vector<Mutation> mutations_;
  int& applied_;
};

}  // namespace curator::ledger
