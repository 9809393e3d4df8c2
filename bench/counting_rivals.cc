#include "bench/counting_rivals.h"

#include <libpq-fe.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <sstream>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "tests/testing/postgres_cluster.h"
#include "tests/testing/scratch_folder.h"

namespace curator::bench {
namespace {

constexpr uint64_t kModulus = 1009;

constexpr char kNumpyProgram[] = R"(
import json, sys, time
try:
    import numpy as np
except ImportError:
    sys.exit(3)
folder = sys.argv[1]
task = json.load(open(folder + "/task.json"))
rows, sizes = task["rows"], task["sizes"]
columns = np.fromfile(folder + "/codes", dtype=np.uint8).reshape(len(sizes), rows)

def cells(attributes, begin, end):
    index = columns[attributes[0]][begin:end].astype(np.intp)
    for a in attributes[1:]:
        index *= sizes[a]
        index += columns[a][begin:end]
    return index

def count(attributes, block):
    size = 1
    for a in attributes:
        size *= sizes[a]
    total = np.zeros(size, dtype=np.int64)
    for begin in range(0, rows, block):
        total += np.bincount(cells(attributes, begin, min(rows, begin + block)), minlength=size)
    return total

def measure(block):
    best = None
    for _ in range(2):
        start = time.process_time()
        counts = [count(s, block) for s in task["sets"]]
        taken = time.process_time() - start
        best = taken if best is None else min(best, taken)
    checksum = sum(int((c * (np.arange(len(c)) % 1009)).sum()) for c in counts)
    return best, checksum

print(np.__version__, *measure(rows), *measure(65536))
)";

absl::Status WriteNumpyTask(const std::string& folder, const dp::ColumnsView& columns,
                            std::span<const dp::AttributeSet> sets) {
  std::ofstream codes(folder + "/codes", std::ios::binary);
  std::vector<std::string> sizes;
  for (const dp::ColumnView& column : columns.columns) {
    if (column.width != dp::CodeWidth::kOneByte) return absl::InvalidArgumentError("codes of one byte only");
    codes.write(reinterpret_cast<const char*>(column.codes), columns.rows);
    sizes.push_back(absl::StrCat(column.size));
  }
  std::vector<std::string> lists;
  for (const dp::AttributeSet& set : sets) lists.push_back(absl::StrCat("[", absl::StrJoin(set, ","), "]"));
  std::ofstream(folder + "/task.json")
      << "{\"rows\":" << columns.rows << ",\"sizes\":[" << absl::StrJoin(sizes, ",") << "],\"sets\":["
      << absl::StrJoin(lists, ",") << "]}";
  std::ofstream(folder + "/count.py") << kNumpyProgram;
  return codes.good() ? absl::OkStatus() : absl::UnavailableError("the temporary file could not be written");
}

// A connection whose errors are statuses.
class Connection {
 public:
  explicit Connection(const std::string& url) : connection_(PQconnectdb(url.c_str()), &PQfinish) {}

  using Result = std::unique_ptr<PGresult, decltype(&PQclear)>;

  absl::StatusOr<Result> Run(const std::string& sql) {
    Result result(PQexec(connection_.get(), sql.c_str()), &PQclear);
    const ExecStatusType status = PQresultStatus(result.get());
    if (status != PGRES_COMMAND_OK && status != PGRES_TUPLES_OK && status != PGRES_COPY_IN)
      return absl::UnavailableError(PQerrorMessage(connection_.get()));
    return result;
  }

  absl::Status CopyRows(const dp::ColumnsView& columns) {
    RETURN_IF_ERROR(Run("COPY codes FROM STDIN").status());
    std::string text;
    for (int64_t row = 0; row < columns.rows; ++row) {
      for (const dp::ColumnView& column : columns.columns) {
        absl::StrAppend(&text, column[row]);
        text += '\t';
      }
      text.back() = '\n';
      if (text.size() > (size_t{1} << 20) || row + 1 == columns.rows) {
        if (PQputCopyData(connection_.get(), text.data(), static_cast<int>(text.size())) != 1) break;
        text.clear();
      }
    }
    PQputCopyEnd(connection_.get(), nullptr);
    const Result end(PQgetResult(connection_.get()), &PQclear);
    if (PQresultStatus(end.get()) != PGRES_COMMAND_OK)
      return absl::UnavailableError(PQerrorMessage(connection_.get()));
    const Result none(PQgetResult(connection_.get()), &PQclear);
    return absl::OkStatus();
  }

  // Of the backend, which is a process of this machine.
  double ProcessorSeconds() {
    std::ifstream file(absl::StrCat("/proc/", PQbackendPID(connection_.get()), "/schedstat"));
    double nanoseconds = 0;
    file >> nanoseconds;
    return nanoseconds * 1e-9;
  }

 private:
  std::unique_ptr<PGconn, decltype(&PQfinish)> connection_;
};

std::string NamesOf(const dp::AttributeSet& set) {
  std::vector<std::string> names;
  for (const uint32_t attribute : set) names.push_back(absl::StrCat("c", attribute));
  return absl::StrJoin(names, ", ");
}

std::string GroupBy(const dp::AttributeSet& set) {
  return absl::StrCat("SELECT ", NamesOf(set), ", count(*) FROM codes GROUP BY ", NamesOf(set));
}

uint64_t ChecksumOf(const PGresult* groups, const dp::ColumnsView& columns, const dp::AttributeSet& set) {
  uint64_t checksum = 0;
  for (int row = 0; row < PQntuples(groups); ++row) {
    uint64_t cell = 0;
    int field = 0;
    for (const uint32_t attribute : set) {
      cell = cell * static_cast<uint64_t>(columns.columns[attribute].size) +
             std::strtoull(PQgetvalue(groups, row, field++), nullptr, 10);
    }
    checksum += cell % kModulus * std::strtoull(PQgetvalue(groups, row, field), nullptr, 10);
  }
  return checksum;
}

absl::Status Load(Connection& connection, const dp::ColumnsView& columns) {
  std::vector<std::string> definitions;
  for (size_t i = 0; i < columns.columns.size(); ++i)
    definitions.push_back(absl::StrCat("c", i, " smallint NOT NULL"));
  for (const std::string& sql :
       {absl::StrCat("CREATE UNLOGGED TABLE codes (", absl::StrJoin(definitions, ", "), ")"),
        std::string("SET max_parallel_workers_per_gather = 0"), std::string("SET work_mem = '256MB'"),
        std::string("SET jit = off")}) {
    RETURN_IF_ERROR(connection.Run(sql).status());
  }
  RETURN_IF_ERROR(connection.CopyRows(columns));
  return connection.Run("VACUUM ANALYZE codes").status();
}

}  // namespace

uint64_t ChecksumOf(const std::vector<std::vector<int64_t>>& counts) {
  uint64_t checksum = 0;
  for (const std::vector<int64_t>& marginal : counts) {
    for (size_t cell = 0; cell < marginal.size(); ++cell)
      checksum += cell % kModulus * static_cast<uint64_t>(marginal[cell]);
  }
  return checksum;
}

absl::StatusOr<NumpyCounted> CountWithNumpy(const dp::ColumnsView& columns,
                                            std::span<const dp::AttributeSet> sets) {
  const testing::ScratchFolder scratch;
  const std::string folder = scratch.path();
  RETURN_IF_ERROR(WriteNumpyTask(folder, columns, sets));
  const std::string command = absl::StrCat("/usr/bin/python3 ", folder, "/count.py ", folder);
  std::string output;
  FILE* const pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return absl::UnavailableError("python3 could not be started");
  std::array<char, 256> piece;
  while (std::fgets(piece.data(), piece.size(), pipe) != nullptr) output += piece.data();
  if (pclose(pipe) != 0)
    return absl::UnavailableError("no numpy for /usr/bin/python3 (Debian package python3-numpy)");
  NumpyCounted counted;
  std::istringstream(output) >> counted.version >> counted.whole.seconds >> counted.whole.checksum >>
      counted.blocks.seconds >> counted.blocks.checksum;
  return counted;
}

absl::StatusOr<PostgresCounted> CountWithPostgres(const dp::ColumnsView& columns,
                                                  std::span<const dp::AttributeSet> sets) {
  ASSIGN_OR_RETURN(const std::unique_ptr<testing::PostgresCluster> cluster,
                   testing::PostgresCluster::Start({.shared_buffers = "2GB", .max_wal_size = "2GB"}));
  Connection connection(cluster->CreateDatabase());
  PostgresCounted result;
  const auto before = std::chrono::steady_clock::now();
  RETURN_IF_ERROR(Load(connection, columns));
  result.load_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - before).count();

  ASSIGN_OR_RETURN(const Connection::Result plan, connection.Run("EXPLAIN " + GroupBy(sets.front())));
  result.plan = PQgetvalue(plan.get(), 0, 0);
  RETURN_IF_ERROR(
      connection.Run(GroupBy(sets.front())).status());  // the table is in its buffers from here on
  for (const dp::AttributeSet& set : sets) {
    const double start = connection.ProcessorSeconds();
    ASSIGN_OR_RETURN(const Connection::Result groups, connection.Run(GroupBy(set)));
    result.counted.seconds += connection.ProcessorSeconds() - start;
    result.counted.checksum += ChecksumOf(groups.get(), columns, set);
  }
  return result;
}

}  // namespace curator::bench
