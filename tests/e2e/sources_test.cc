// Imports from a PostgreSQL database with the command line, on whole servers: what the records are, what is
// refused, what nobody gets to see; and the law of imports: with one person removed from a table, the sealed
// records differ in that person's alone.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <libpq-fe.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"
#include "tests/testing/server_process.h"
#include "tests/testing/shell.h"
#include "tests/testing/small_table.h"
#include "tests/testing/test_server.h"

namespace curator::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

constexpr int kPersons = 12;
constexpr int kAmounts = 20;
constexpr int kRefused = 1;
constexpr int kWrongUsage = 2;

// Of a person, with two values. The person is an attribute, too, so that a record says whose it is.
struct Visit {
  int person = 0;
  int kind = 0;
  int amount = 0;
};
using Visits = std::vector<Visit>;

v1::CreateDatasetRequest VisitsDataset(const std::string& name) {
  v1::CreateDatasetRequest request = NewDataset(name, v1::RULE_PURE, "1000");
  v1::Schema& schema = *request.mutable_schema();
  schema.Clear();
  const std::pair<const char*, int64_t> attributes[] = {{"who", kPersons}, {"kind", 3}, {"amount", kAmounts}};
  for (const auto& [attribute, size] : attributes) {
    schema.add_attributes()->set_name(attribute);
    schema.mutable_attributes()->rbegin()->mutable_coded()->set_size(size);
  }
  schema.mutable_unit()->mutable_person()->set_id_column("pid");
  schema.mutable_unit()->mutable_person()->set_max_records(3);
  return request;
}

Visits RandomVisits(std::mt19937_64& random) {
  Visits visits;
  for (size_t left = 40 + random() % 40; left > 0; --left) {
    const bool is_common = random() % 2 == 0;  // equal visits of one person
    visits.push_back({static_cast<int>(random() % kPersons), static_cast<int>(random() % 3),
                      is_common ? 7 : static_cast<int>(random() % kAmounts)});
  }
  return visits;
}

Visits Without(Visits visits, int person) {
  std::erase_if(visits, [person](const Visit& visit) { return visit.person == person; });
  return visits;
}

std::string InQuotes(const std::string& text) {
  return absl::StrCat("'", absl::StrReplaceAll(text, {{"'", "'\\''"}}), "'");
}

class Sources : public ::testing::TestWithParam<Backend> {
 protected:
  Sources() : server_(GetParam()) {}

  Client Owner() const { return server_.ClientFor("owner"); }

  void Execute(const std::string& statements) const {
    PGconn* const connection = PQconnectdb(database_.c_str());
    PGresult* const result = PQexec(connection, statements.c_str());
    const ExecStatusType status = PQresultStatus(result);
    EXPECT_TRUE(status == PGRES_COMMAND_OK || status == PGRES_TUPLES_OK) << PQerrorMessage(connection);
    PQclear(result);
    PQfinish(connection);
  }

  std::pair<int, std::string> Curator(const std::string& command) const {
    return Shell(absl::StrCat(CURATOR_PATH " --server ", server_.address(), " --as owner ", command));
  }
  std::pair<int, std::string> Import(const std::string& dataset, const std::string& source) const {
    return Curator(absl::StrCat("dataset import ", dataset, " --from ", database_, " ", source));
  }
  void Create(const v1::CreateDatasetRequest& dataset) const {
    const auto created = Owner().CreateDataset(dataset);
    EXPECT_TRUE(created.ok()) << created.status();
  }
  // The table "visits" with these rows in a random order.
  void Fill(Visits visits, std::mt19937_64& random) const {
    std::shuffle(visits.begin(), visits.end(), random);
    std::vector<std::string> rows;
    for (const Visit& visit : visits) {
      rows.push_back(
          absl::StrCat("('p", visit.person, "',", visit.person, ",", visit.kind, ",", visit.amount, ")"));
    }
    Execute(
        absl::StrCat("DROP TABLE IF EXISTS visits;"
                     "CREATE TABLE visits (pid text, who int, kind int, amount int);"
                     "INSERT INTO visits VALUES ",
                     absl::StrJoin(rows, ",")));
  }

  void Seal(const std::string& dataset) const {
    v1::SealDatasetRequest request;
    request.set_dataset(dataset);
    request.set_accept_equal_content(true);
    const auto sealed = Owner().SealDataset(request);
    EXPECT_TRUE(sealed.ok()) << sealed.status();
  }
  // The sealed records: how many there are of each. The price is so high that the noise is 0.
  std::vector<int64_t> SealedRecords(const std::string& dataset) const {
    Seal(dataset);
    v1::AnswerWorkloadRequest request;
    request.set_dataset(dataset);
    v1::Marginals& marginals = *request.mutable_workload()->add_query_sets()->mutable_marginals();
    v1::AttributeNames& set = *marginals.add_sets();
    const v1::Schema schema = Owner().GetDataset(dataset)->schema();
    for (const v1::Attribute& attribute : schema.attributes()) {
      set.add_names(attribute.name());
    }
    request.mutable_spend()->set_epsilon("900");
    const auto answer = Owner().AnswerWorkload(request);
    EXPECT_TRUE(answer.ok()) << answer.status();
    if (!answer.ok()) return {};
    std::vector<int64_t> counts = answer->marginals[0].counts;
    for (const double estimate : answer->marginals[0].estimates) counts.push_back(std::llround(estimate));
    return counts;
  }
  // Stops the server with a dataset "visits" of which RecordsOf() fills copies: which rows of a person are
  // kept depends on the key of the server and on the dataset.
  void MakeDatasetToCopy() {
    Create(VisitsDataset("visits"));
    original_ = server_.options();
    server_.RestartWith(FreshOptions(GetParam(), folder_ / "idle"));
  }
  // What is sealed after this import into a copy of the dataset.
  std::vector<int64_t> RecordsOf(const Visits& visits, const std::string& source, std::mt19937_64& random) {
    const std::filesystem::path copy = folder_ / absl::StrCat("copy", ++copies_);
    AppOptions options = original_;
    options.data_directory = copy / "data";
    std::filesystem::create_directories(copy);
    std::filesystem::copy(original_.data_directory, options.data_directory,
                          std::filesystem::copy_options::recursive);
    if (GetParam() == Backend::kPostgres) {
      options.ledger = PostgresCluster::Shared().CopyDatabase(original_.ledger);
    } else {
      const std::string original = original_.ledger.substr(std::string("sqlite:").size());
      std::filesystem::copy(original, copy / "ledger.db");
      options.ledger = "sqlite:" + (copy / "ledger.db").string();
    }
    server_.RestartWith(options);
    Fill(visits, random);
    const auto [status, output] = Import("visits", source);
    EXPECT_EQ(status, 0) << output;
    return SealedRecords("visits");
  }
  // In how many of three random tables the records of others change when one person's rows go.
  int Violations(const std::string& source) {
    MakeDatasetToCopy();
    std::mt19937_64 random(26);
    int violations = 0;
    for (int round = 0; round < 3; ++round) {
      const Visits visits = RandomVisits(random);
      const int removed = visits[random() % visits.size()].person;
      std::vector<int64_t> with = RecordsOf(visits, source, random);
      const std::vector<int64_t> without = RecordsOf(Without(visits, removed), source, random);
      if (with.size() != static_cast<size_t>(kPersons * 3 * kAmounts)) {
        ADD_FAILURE() << "not all cells";
        return -1;
      }
      std::fill_n(with.begin() + removed * 3 * kAmounts, 3 * kAmounts, 0);
      if (with != without) ++violations;
    }
    return violations;
  }

  const std::string database_ = PostgresCluster::Shared().CreateDatabase();
  const ScratchFolder folder_;
  TestServer server_;
  AppOptions original_;
  int copies_ = 0;
};

INSTANTIATE_TEST_SUITE_P(Ledgers, Sources, ::testing::Values(Backend::kSqlite, Backend::kPostgres),
                         [](const auto& backend) { return BackendName(backend.param); });

TEST_P(Sources, WithOnePersonRemovedFromATableTheRecordsOfTheOthersAreTheSame) {
  EXPECT_EQ(Violations("--table public.visits"), 0);
}

TEST_P(Sources, TheSameHoldsWithACondition) {
  EXPECT_EQ(Violations("--table visits --where \"kind in (0, 1) and not amount = 3\""), 0);
}

TEST_P(Sources, AWindowInAQueryBreaksThatLawWhichIsWhyAQueryNeedsYes) {
  EXPECT_GT(Violations(
                "--yes --query 'SELECT pid, who, kind, (row_number() OVER (ORDER BY pid, kind, amount)) % 20 "
                "AS amount FROM visits'"),
            0);
  EXPECT_TRUE(Owner().GetDataset("visits")->rows_from_query());
}

TEST_P(Sources, WhatIsKeptOfATableDoesNotDependOnTheOrderOfItsRows) {
  MakeDatasetToCopy();
  std::mt19937_64 random(5);
  const Visits visits = RandomVisits(random);
  const std::vector<int64_t> records = RecordsOf(visits, "--table visits", random);
  EXPECT_EQ(records, RecordsOf(visits, "--table visits", random));
  EXPECT_FALSE(Owner().GetDataset("visits")->rows_from_query());
}

TEST_P(Sources, AQueryWithoutYesIsRefusedBeforeAnythingIsRead) {
  const auto [status, output] = Import("visits", "--query 'SELECT 1 AS who'");
  EXPECT_EQ(status, kWrongUsage);
  EXPECT_THAT(output,
              AllOf(HasSubstr("--query"), HasSubstr("needs --yes"), HasSubstr("one person may change")));
}

TEST_P(Sources, APasswordIsRefusedBeforeAnyServerIsAskedAndNotRepeated) {
  const std::string with_password = absl::StrReplaceAll(database_, {{"postgres@", "postgres:secret@"}});
  const auto [status, output] =
      Curator(absl::StrCat("dataset import no_such_dataset --table visits --from ", with_password));
  EXPECT_EQ(status, kWrongUsage);
  EXPECT_THAT(output, AllOf(HasSubstr("contains a password"), HasSubstr("PGPASSFILE"),
                            HasSubstr("PGPASSWORD"), Not(HasSubstr("secret"))));
}

TEST_P(Sources, AViewIsRefusedAndAQueryOfItIsNot) {
  std::mt19937_64 random(1);
  Fill({{1, 0, 2}}, random);
  Execute("CREATE VIEW latest AS SELECT * FROM visits ORDER BY amount LIMIT 5");
  Create(VisitsDataset("visits"));
  const auto [status, output] = Import("visits", "--table latest");
  EXPECT_EQ(status, kRefused);
  EXPECT_THAT(output, HasSubstr("--table latest is a view: one person may change the rows of others in it"));
  const auto [query_status, query_output] = Import("visits", "--yes --query 'TABLE latest'");
  EXPECT_EQ(query_status, 0) << query_output;
}

TEST_P(Sources, NullIsAMissingValueAndTypesBecomeTheTextsThatASchemaReads) {
  v1::CreateDatasetRequest request = NewDataset("people", v1::RULE_PURE, "1000");
  v1::Schema& schema = *request.mutable_schema();
  schema.Clear();
  schema.mutable_format()->set_separator(";");
  v1::Attribute& smoker = *schema.add_attributes();
  smoker.set_name("smoker");
  smoker.mutable_categorical()->add_values("false");
  smoker.mutable_categorical()->add_values("true");
  smoker.mutable_missing()->set_bin("unknown");
  v1::Attribute& cost = *schema.add_attributes();
  cost.set_name("cost");
  for (const double edge : {0.0, 10.0, 20.0}) cost.mutable_numeric()->add_edges(edge);
  cost.mutable_missing()->set_bin("unknown");
  cost.mutable_reading()->set_column("kosten");
  cost.mutable_reading()->set_decimal_sign(",");
  cost.mutable_reading()->set_thousands_separator(".");
  v1::Attribute& seen = *schema.add_attributes();
  seen.set_name("seen");
  seen.mutable_date()->set_from("2019-01-01");
  seen.mutable_date()->set_to("2020-12-31");
  seen.mutable_date()->set_bins(v1::Date::YEAR);
  Create(request);
  Execute(
      "CREATE TABLE people (smoker boolean, kosten numeric(8,3), seen timestamptz);"
      "INSERT INTO people VALUES (true, 12.500, '2020-01-01 00:30+01'), (NULL, NULL, '2020-06-01 12:00Z'),"
      " (false, 3.5, '2019-05-05 05:00Z')");
  const auto [status, output] = Import("people", "--table people");
  EXPECT_EQ(status, 0) << output;
  // smoker (false, true, unknown) x cost (below 10, from 10, unknown) x seen (2019, 2020)
  std::vector<int64_t> expected(18);
  expected[0 * 6 + 0 * 2 + 0] = 1;
  expected[1 * 6 + 1 * 2 + 0] = 1;  // half past eleven in the evening of 2019 in UTC
  expected[2 * 6 + 2 * 2 + 1] = 1;
  EXPECT_EQ(SealedRecords("people"), expected);
}

TEST_P(Sources, WithoutDuckdbAParquetFileIsRefusedWithTheWayOut) {
  Create(VisitsDataset("visits"));
  const auto [status, output] =
      Shell(absl::StrCat("CURATOR_DUCKDB_LIBRARY=/nowhere " CURATOR_PATH " --server ", server_.address(),
                         " --as owner dataset import visits ", CURATOR_PARQUET_FILE));
  EXPECT_EQ(status, kRefused);
  EXPECT_THAT(output, AllOf(HasSubstr("CURATOR_DUCKDB_LIBRARY"), HasSubstr("convert the file to CSV")));
}

// At night: tests/parquet/run.
TEST_P(Sources, AParquetFileIsImportedAsAFileInItsOrder) {
  if (std::getenv("CURATOR_DUCKDB_LIBRARY") == nullptr)
    GTEST_SKIP() << "CURATOR_DUCKDB_LIBRARY names no library";
  Create(VisitsDataset("visits"));
  const auto [status, output] = Curator(absl::StrCat("dataset import visits ", CURATOR_PARQUET_FILE));
  EXPECT_EQ(status, 0) << output;
  // The file has 4 visits of 3 persons each, of which the first 3 are kept.
  std::vector<int64_t> expected(kPersons * 3 * kAmounts);
  for (int i = 0; i < 9; ++i) expected[(i % 3) * 3 * kAmounts + (i % 3) * kAmounts + i] = 1;
  EXPECT_EQ(SealedRecords("visits"), expected);
}

// The peak of memory of a child that ran `arguments`, in kilobytes; it must succeed.
int64_t PeakOf(const std::vector<std::string>& arguments) {
  const pid_t child = fork();
  if (child == 0) {
    std::vector<char*> argv;
    for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
    argv.push_back(nullptr);
    setenv("ASAN_OPTIONS", "quarantine_size_mb=1", 1);
    execv(argv[0], argv.data());
    _exit(127);
  }
  int status = 0;
  rusage usage = {};
  wait4(child, &status, 0, &usage);
  EXPECT_EQ(status, 0);
  return usage.ru_maxrss;
}

TEST_P(Sources, MemoryDoesNotGrowWithTheNumberOfRows) {
  Execute(
      "CREATE TABLE many AS SELECT 'p' || i AS pid, i % 12 AS who, i % 3 AS kind, i % 20 AS amount,"
      " repeat('x', 1000) AS note FROM generate_series(1, 100000) i;"
      "CREATE TABLE few AS SELECT * FROM many LIMIT 1000");
  const auto peak = [this](const std::string& table) {
    Create(VisitsDataset(table));
    return PeakOf({CURATOR_PATH, "--server", server_.address(), "--as", "owner", "dataset", "import", table,
                   "--from", database_, "--table", table, "--columns", "pid,who,kind,amount,note"});
  };
  EXPECT_LT(peak("many") - peak("few"), 20'000) << "the table has 100 MB";
}

std::string ContentOfAllFilesIn(const std::filesystem::path& folder) {
  std::string all;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (!entry.is_regular_file()) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

TEST_P(Sources, TheTextOfAQueryIsInNoLogAndInNoFileOfTheServer) {
  const ScratchFolder folder;
  const AppOptions options = FreshOptions(GetParam(), folder.path());
  ServerProcess curatord({"--dev", "--listen=127.0.0.1:0", "--ledger=" + options.ledger,
                          "--data-dir=" + options.data_directory, "--drain-seconds=0"});
  const auto address = curatord.Address();
  ASSERT_TRUE(address.has_value()) << curatord.log();
  const Client owner({.server = *address, .principal = "owner"});
  ASSERT_TRUE(owner.CreateDataset(VisitsDataset("visits")).ok());
  std::mt19937_64 random(1);
  Fill({{1, 0, 2}}, random);
  const auto import = [&](const std::string& query) {
    return Shell(absl::StrCat(CURATOR_PATH " --server ", *address,
                              " --as owner dataset import visits --yes --from ", database_, " --query ",
                              InQuotes(query)));
  };
  const auto [status, output] = import("SELECT * FROM visits WHERE 'canary' <> '' -- canary");
  EXPECT_EQ(status, 0) << output;
  const auto [failed_status, failed_output] = import("SELECT canary FROM visits");
  EXPECT_EQ(failed_status, kRefused);
  EXPECT_THAT(failed_output, HasSubstr("SQLSTATE 42703"));
  EXPECT_EQ(curatord.Stop(SIGTERM), 0);
  for (const std::string& text :
       {output, failed_output, curatord.log(), ContentOfAllFilesIn(folder.path())}) {
    EXPECT_THAT(text, Not(HasSubstr("canary")));
  }
}

}  // namespace
}  // namespace curator::testing
