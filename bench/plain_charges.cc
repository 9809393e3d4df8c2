#include "bench/plain_charges.h"

#include <libpq-fe.h>
#include <sqlite3.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "tests/testing/scratch_folder.h"

namespace curator::bench {
namespace {

constexpr char kPostgresTables[] =
    "SET client_min_messages = warning; CREATE TABLE IF NOT EXISTS plain_accounts (id BIGINT PRIMARY KEY, "
    "spent BIGINT NOT NULL, "
    "limit_value BIGINT NOT NULL, CHECK (spent <= limit_value));"
    "INSERT INTO plain_accounts VALUES (1, 0, 9223372036854775807) ON CONFLICT DO NOTHING;"
    "CREATE TABLE IF NOT EXISTS plain_charges (id BIGINT GENERATED ALWAYS AS IDENTITY PRIMARY KEY, "
    "account_id BIGINT NOT NULL, principal TEXT NOT NULL, cost BIGINT NOT NULL);";

constexpr char kPostgresScript[] =
    "BEGIN;\n"
    "UPDATE plain_accounts SET spent = spent + 1000 WHERE id = 1 AND 1000 <= limit_value - spent;\n"
    "INSERT INTO plain_charges (account_id, principal, cost) VALUES (1, 'analyst/ana', 1000);\n"
    "COMMIT;\n";

[[noreturn]] void GiveUp(const std::string& message) {
  std::fprintf(stderr, "%s\n", message.c_str());
  std::exit(1);
}

std::string PgbenchProgram() {
  std::error_code error;
  std::string newest;
  for (const auto& version : std::filesystem::directory_iterator("/usr/lib/postgresql", error)) {
    const std::string program = version.path() / "bin/pgbench";
    if (std::filesystem::exists(program, error)) newest = std::max(newest, program);
  }
  if (newest.empty()) GiveUp("pgbench is not installed (apt-get install postgresql)");
  return newest;
}

void CheckSqlite(int code, sqlite3* database) {
  if (code != SQLITE_OK && code != SQLITE_DONE) GiveUp(sqlite3_errmsg(database));
}

// One connection with its four statements.
class PlainSqlite {
 public:
  explicit PlainSqlite(const std::string& path) {
    CheckSqlite(sqlite3_open(path.c_str(), &database_), database_);
    CheckSqlite(
        sqlite3_exec(
            database_,
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE IF NOT EXISTS plain_accounts (id INTEGER PRIMARY KEY, spent INTEGER NOT NULL, "
            "limit_value INTEGER NOT NULL, CHECK (spent <= limit_value)) STRICT;"
            "INSERT OR IGNORE INTO plain_accounts VALUES (1, 0, 9223372036854775807);"
            "CREATE TABLE IF NOT EXISTS plain_charges (id INTEGER PRIMARY KEY, account_id INTEGER NOT "
            "NULL, principal TEXT NOT NULL, cost INTEGER NOT NULL) STRICT;",
            nullptr, nullptr, nullptr),
        database_);
    constexpr std::array<const char*, 4> kTexts = {
        "BEGIN IMMEDIATE",
        "UPDATE plain_accounts SET spent = spent + 1000 WHERE id = 1 AND 1000 <= limit_value - spent",
        "INSERT INTO plain_charges (account_id, principal, cost) VALUES (1, 'analyst/ana', 1000)", "COMMIT"};
    for (size_t i = 0; i < kTexts.size(); ++i) {
      CheckSqlite(sqlite3_prepare_v2(database_, kTexts[i], -1, &statements_[i], nullptr), database_);
    }
  }
  ~PlainSqlite() {
    for (sqlite3_stmt* statement : statements_) sqlite3_finalize(statement);
    sqlite3_close(database_);
  }
  PlainSqlite(const PlainSqlite&) = delete;
  PlainSqlite& operator=(const PlainSqlite&) = delete;

  void Charge() {
    const std::scoped_lock lock(mutex_);
    for (sqlite3_stmt* statement : statements_) {
      CheckSqlite(sqlite3_step(statement), database_);
      sqlite3_reset(statement);
    }
  }

 private:
  std::mutex mutex_;
  sqlite3* database_ = nullptr;
  std::array<sqlite3_stmt*, 4> statements_ = {};
};

}  // namespace

Observed ChargePlainlyOnPostgres(const std::string& url, const Load& load, Protocol protocol,
                                 int transactions) {
  PGconn* connection = PQconnectdb(url.c_str());
  PQclear(PQexec(connection, kPostgresTables));
  PQfinish(connection);
  const testing::ScratchFolder scratch;
  const std::string script = absl::StrCat(scratch.path(), "/charge.sql");
  std::ofstream text(script);
  for (int i = 0; i < transactions; ++i) text << kPostgresScript;
  text.close();
  const std::string command =
      absl::StrCat("cd ", scratch.path(), " && ", PgbenchProgram(), " -n -M ",
                   protocol == Protocol::kSimple ? "simple" : "prepared", " -l -c ", load.clients, " -j ",
                   std::min(load.clients, 2), " -T ", static_cast<int>(load.seconds), " -f ", script, " '",
                   url, "' > report 2>&1");
  if (std::system(command.c_str()) != 0) GiveUp("pgbench failed");
  // One line of its log for each time that it ran the script; the third word is the microseconds it took.
  std::vector<double> latencies_us;
  for (const auto& file : std::filesystem::directory_iterator(scratch.path())) {
    if (file.path().filename().string().rfind("pgbench_log", 0) != 0) continue;
    std::ifstream log(file.path());
    std::string line;
    while (std::getline(log, line)) {
      std::istringstream words(line);
      double client = 0;
      double number = 0;
      double microseconds = 0;
      if (words >> client >> number >> microseconds) latencies_us.push_back(microseconds);
    }
  }
  return Summarize(std::move(latencies_us), static_cast<int>(load.seconds));
}

Observed ChargePlainlyOnSqlite(const std::string& path, const Load& load, int transactions) {
  PlainSqlite store(path);
  return ChargeByClients(load, [&store, transactions](int) {
    for (int i = 0; i < transactions; ++i) store.Charge();
  });
}

}  // namespace curator::bench
