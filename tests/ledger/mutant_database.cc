#include "tests/ledger/mutant_database.h"

#include "absl/strings/str_cat.h"

namespace curator::ledger {

class MutantDatabase::MutantTransaction final : public sql::Transaction {
 public:
  MutantTransaction(sql::Transaction& real, MutantDatabase& database) : real_(real), database_(database) {}

  absl::StatusOr<std::vector<sql::Row>> Execute(std::string_view statement,
                                                const sql::Parameters& parameters) override {
    return real_.Execute(database_.Mutated(statement), parameters);
  }
  absl::StatusOr<std::vector<std::vector<sql::Row>>> ExecuteEach(
      std::string_view statement, const std::vector<sql::Parameters>& each) override {
    return real_.ExecuteEach(database_.Mutated(statement), each);
  }
  absl::Status InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                          const std::vector<sql::Parameters>& rows) override {
    // A mutation of "INSERT INTO table" leaves it out.
    const std::string insert = absl::StrCat("INSERT INTO ", std::string(table));
    if (database_.Mutated(insert) != insert) return absl::OkStatus();
    return real_.InsertRows(table, columns, rows);
  }
  absl::Status ExecuteScript(const std::string& script) override { return real_.ExecuteScript(script); }

 private:
  sql::Transaction& real_;
  MutantDatabase& database_;
};

std::string MutantDatabase::Mutated(std::string_view statement) {
  std::string mutated(statement);
  for (const Mutation& mutation : mutations_) {
    const size_t place = mutated.find(mutation.text);
    if (place == std::string::npos) continue;
    mutated.replace(place, mutation.text.size(), mutation.replacement);
    ++applied_;
  }
  return mutated;
}

sql::Outcome MutantDatabase::Write(const sql::Body& body) {
  return real_->Write([&](sql::Transaction& real) {
    MutantTransaction transaction(real, *this);
    return body(transaction);
  });
}

sql::Outcome MutantDatabase::Read(const sql::Body& body) {
  return real_->Read([&](sql::Transaction& real) {
    MutantTransaction transaction(real, *this);
    return body(transaction);
  });
}

}  // namespace curator::ledger
