#include "tests/ledger/counting_database.h"

#include <regex>
#include <string_view>
#include <utility>
#include <variant>

#include "base/status_macros.h"
#include "host/entropy.h"
#include "ledger/open_ledger.h"
#include "ledger/sql/migrations.h"
#include "ledger/sql/sql_ledger.h"
#include "tests/testing/postgres_cluster.h"

namespace curator::ledger {
namespace {

// The rows that the scans of a plan read: "Index Scan using ... (actual time=0.01..0.02 rows=3 loops=2)",
// then "Rows Removed by Filter: 7".
int64_t RowsRead(const std::vector<sql::Row>& plan) {
  static const std::regex scan(R"(Scan.*\(actual time=[0-9.]+ rows=([0-9]+) loops=([0-9]+)\))");
  static const std::regex removed(R"(Rows Removed by .*: ([0-9]+))");
  int64_t rows = 0;
  int64_t loops = 1;
  for (const sql::Row& line : plan) {
    const std::string& text = line.Text(0);
    std::smatch found;
    if (std::regex_search(text, found, scan)) {
      loops = std::stoll(found[2]);
      rows += std::stoll(found[1]) * loops;
    } else if (std::regex_search(text, found, removed)) {
      rows += std::stoll(found[1]) * loops;
    }
  }
  return rows;
}

}  // namespace

class CountingDatabase::CountingTransaction final : public sql::Transaction {
 public:
  CountingTransaction(CountingDatabase& owner, sql::Transaction& real) : owner_(owner), real_(real) {}

  absl::StatusOr<std::vector<sql::Row>> Execute(std::string_view statement,
                                                const sql::Parameters& parameters) override {
    const bool is_read = owner_.is_counting_ && statement.starts_with("SELECT");
    if (is_read) RETURN_IF_ERROR(Explain(statement, parameters));
    ASSIGN_OR_RETURN(std::vector<sql::Row> rows, real_.Execute(statement, parameters));
    const bool counts_results = is_read && !is_postgres();
    owner_.Count({.statements = 1, .rows_read = counts_results ? static_cast<int64_t>(rows.size()) : 0});
    return rows;
  }

  absl::StatusOr<std::vector<std::vector<sql::Row>>> ExecuteEach(
      std::string_view statement, const std::vector<sql::Parameters>& each) override {
    std::vector<std::vector<sql::Row>> answers;
    for (const sql::Parameters& parameters : each) {
      ASSIGN_OR_RETURN(std::vector<sql::Row> rows, Execute(statement, parameters));
      answers.push_back(std::move(rows));
    }
    return answers;
  }

  absl::Status InsertRows(std::string_view table, const std::vector<sql::Column>& columns,
                          const std::vector<sql::Parameters>& rows) override {
    owner_.Count({.statements = 1, .rows_written = static_cast<int64_t>(rows.size())});
    return real_.InsertRows(table, columns, rows);
  }

  absl::Status ExecuteLast(const std::vector<sql::Step>& steps) override {
    for (const sql::Step& step : steps) {
      const size_t rows = std::visit([](const auto& each) { return each.rows.size(); }, step);
      if (rows > 0) owner_.Count({.statements = 1, .rows_written = static_cast<int64_t>(rows)});
    }
    return real_.ExecuteLast(steps);
  }

  absl::Status ExecuteScript(const std::string& script) override { return real_.ExecuteScript(script); }

 private:
  bool is_postgres() const { return owner_.dialect().name == "postgres"; }

  absl::Status Explain(std::string_view statement, const sql::Parameters& parameters) {
    if (is_postgres()) {
      ASSIGN_OR_RETURN(const std::vector<sql::Row> plan,
                       real_.Execute("EXPLAIN (ANALYZE, TIMING) " + std::string(statement), parameters));
      owner_.Count({.rows_read = RowsRead(plan)});
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(const std::vector<sql::Row> plan,
                     real_.Execute("EXPLAIN QUERY PLAN " + std::string(statement), parameters));
    // A lineage has an account for each of its analysts, so these are as many rows.
    static const std::regex all_accounts(R"(^SEARCH .*accounts\w* \(lineage_id=\?\))");
    const bool is_bounded = statement.find(" LIMIT ") != std::string_view::npos;
    for (const sql::Row& line : plan) {
      // "SCAN CONSTANT ROW": the statement reads no table.
      const bool is_scan = line.Text(3).starts_with("SCAN ") && !line.Text(3).starts_with("SCAN CONSTANT");
      const bool is_search_of_all = !is_bounded && std::regex_search(line.Text(3), all_accounts);
      if (!is_scan && !is_search_of_all) continue;
      const std::lock_guard lock(owner_.mutex_);
      owner_.scans_.push_back(line.Text(3) + " of " + std::string(statement));
    }
    return absl::OkStatus();
  }

  CountingDatabase& owner_;
  sql::Transaction& real_;
};

std::vector<std::string> CountingDatabase::TakeScans() {
  const std::lock_guard lock(mutex_);
  return std::exchange(scans_, {});
}

void CountingDatabase::StartCounting() {
  const std::lock_guard lock(mutex_);
  counts_ = {};
  is_counting_ = true;
}

StoreCounts CountingDatabase::StopCounting() {
  const std::lock_guard lock(mutex_);
  is_counting_ = false;
  return counts_;
}

void CountingDatabase::Count(const StoreCounts& more) {
  const std::lock_guard lock(mutex_);
  if (!is_counting_) return;
  counts_.reads += more.reads;
  counts_.writes += more.writes;
  counts_.statements += more.statements;
  counts_.rows_read += more.rows_read;
  counts_.rows_written += more.rows_written;
}

sql::Outcome CountingDatabase::Write(const sql::Body& body) {
  Count({.writes = 1});
  return real_->Write([&](sql::Transaction& real) {
    CountingTransaction counting(*this, real);
    return body(counting);
  });
}

sql::Outcome CountingDatabase::Read(const sql::Body& body) {
  Count({.reads = 1});
  return real_->Read([&](sql::Transaction& real) {
    CountingTransaction counting(*this, real);
    return body(counting);
  });
}

std::unique_ptr<Ledger> OpenCountedLedger(const std::string& backend, const std::string& folder,
                                          CountingDatabase*& counted) {
  const std::string url = backend == "sqlite" ? "sqlite:" + folder + "/ledger.db"
                                              : testing::PostgresCluster::Shared().CreateDatabase();
  auto database = std::make_unique<CountingDatabase>(OpenLedgerDatabase(url).value());
  const absl::Status migrated = sql::Migrate(*database, sql::EmbeddedMigrations());
  if (!migrated.ok()) return nullptr;
  counted = database.get();
  return sql::SqlLedger::Open(std::move(database), folder + "/anchor", host::RandomBytes).value();
}

}  // namespace curator::ledger
