#include "tests/testing/postgres_cluster.h"

#include <arpa/inet.h>
#include <fcntl.h>
#include <grp.h>
#include <libpq-fe.h>
#include <pwd.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>
#include <thread>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::testing {
namespace {

namespace fs = std::filesystem;

// PostgreSQL refuses to run as root: then it runs as the user its package made.
std::optional<passwd> ServerUser() {
  if (geteuid() != 0) return std::nullopt;
  const passwd* user = getpwnam("postgres");
  return user == nullptr ? std::nullopt : std::optional<passwd>(*user);
}

std::string FindPrograms() {
  if (const char* named = std::getenv("CURATOR_POSTGRES_BIN"); named != nullptr) return named;
  std::string newest;
  std::error_code error;
  for (const auto& version : fs::directory_iterator("/usr/lib/postgresql", error)) {
    const std::string programs = version.path() / "bin";
    if (fs::exists(absl::StrCat(programs, "/postgres"), error)) newest = std::max(newest, programs);
  }
  return newest;
}

int FreePort() {
  const int probe = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  sockaddr_in address = {};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof(address);
  int port = 0;
  if (bind(probe, reinterpret_cast<sockaddr*>(&address), size) == 0 &&
      getsockname(probe, reinterpret_cast<sockaddr*>(&address), &size) == 0) {
    port = ntohs(address.sin_port);
  }
  close(probe);
  return port;
}

// Starts `arguments` as the server's user, with its output in `log`. Between fork and exec only what is safe
// there.
pid_t Spawn(const std::vector<std::string>& arguments, const std::string& log) {
  const std::optional<passwd> user = ServerUser();
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  const pid_t parent = getpid();
  const pid_t child = fork();
  if (child != 0) return child;
  const int output = open(log.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0644);
  const int input = open("/dev/null", O_RDONLY);
  dup2(input, STDIN_FILENO);
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  if (user && (setgroups(0, nullptr) != 0 || setgid(user->pw_gid) != 0 || setuid(user->pw_uid) != 0))
    _exit(126);
  // After setuid, which clears it: whatever ends this program ends the server.
  prctl(PR_SET_PDEATHSIG, SIGQUIT);
  if (getppid() != parent) _exit(125);
  execv(argv[0], argv.data());
  _exit(127);
}

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

[[noreturn]] void GiveUp(const absl::Status& status) {
  std::fprintf(stderr, "FAILED: the tests need a PostgreSQL server: %s\n",
               std::string(status.message()).c_str());
  std::_Exit(1);
}

}  // namespace

PostgresCluster& PostgresCluster::Shared() {
  static const std::unique_ptr<PostgresCluster> cluster = [] {
    absl::StatusOr<std::unique_ptr<PostgresCluster>> started =
        Start({.autovacuum = "off"}, Collation::kEnglish);
    if (!started.ok()) GiveUp(started.status());
    return *std::move(started);
  }();
  return *cluster;
}

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::Start(const PostgresMemory& memory,
                                                                        Collation collation) {
  const std::string programs = FindPrograms();
  if (programs.empty()) {
    return absl::FailedPreconditionError("no PostgreSQL server is installed (apt-get install postgresql)");
  }
  if (geteuid() == 0 && !ServerUser()) {
    return absl::FailedPreconditionError("there is no user postgres to run the server as");
  }
  std::unique_ptr<PostgresCluster> cluster(new PostgresCluster(programs, FreePort(), memory, collation));
  RETURN_IF_ERROR(cluster->Initialize());
  RETURN_IF_ERROR(cluster->Launch());
  return cluster;
}

PostgresCluster::~PostgresCluster() {
  Kill(SIGQUIT);
}

void PostgresCluster::Kill(int signal) {
  if (server_ <= 0) return;
  kill(server_, signal);
  waitpid(server_, nullptr, 0);
  server_ = -1;
}

absl::Status PostgresCluster::OpenFolder() {
  if (chmod(folder_.c_str(), 0755) != 0) return absl::FailedPreconditionError("cannot open up the folder");
  if (const std::optional<passwd> user = ServerUser();
      user && chown(folder_.c_str(), user->pw_uid, user->pw_gid) != 0) {
    return absl::FailedPreconditionError("cannot give the folder to the user postgres");
  }
  return absl::OkStatus();
}

absl::Status PostgresCluster::Initialize() {
  RETURN_IF_ERROR(OpenFolder());
  const std::string log = absl::StrCat(folder_, "/initdb.log");
  std::vector<std::string> initdb = {absl::StrCat(programs_, "/initdb"),
                                     "-D",
                                     absl::StrCat(folder_, "/data"),
                                     "-U",
                                     "postgres",
                                     "-A",
                                     "trust",
                                     "-E",
                                     "UTF8",
                                     "--no-sync",
                                     "--no-instructions"};
  if (collation_ == Collation::kBytes) {
    initdb.emplace_back("--locale=C");
  } else {
    for (const char* option : {"--locale-provider=icu", "--icu-locale=en-US", "--locale=C.UTF-8"}) {
      initdb.emplace_back(option);
    }
  }
  const pid_t child = Spawn(initdb, log);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    return absl::FailedPreconditionError(absl::StrCat("initdb failed: ", Contents(log)));
  }
  return absl::OkStatus();
}

absl::Status PostgresCluster::Launch() {
  const std::string log = absl::StrCat(folder_, "/server.log");
  server_ = Spawn({absl::StrCat(programs_, "/postgres"), "-D", absl::StrCat(folder_, "/data"), "-p",
                   absl::StrCat(port_), "-k", folder_, "-c", "listen_addresses=127.0.0.1", "-c",
                   absl::StrCat("max_connections=", memory_.max_connections), "-c",
                   absl::StrCat("shared_buffers=", memory_.shared_buffers), "-c",
                   absl::StrCat("max_wal_size=", memory_.max_wal_size), "-c",
                   absl::StrCat("autovacuum=", memory_.autovacuum)},
                  log);
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  const std::string url = UrlOf("postgres");
  while (PQping(url.c_str()) != PQPING_OK) {
    if (waitpid(server_, nullptr, WNOHANG) == server_) {
      server_ = -1;
      return absl::UnavailableError(absl::StrCat("the server ended: ", Contents(log)));
    }
    if (std::chrono::steady_clock::now() > deadline) {
      return absl::UnavailableError(absl::StrCat("the server does not answer: ", Contents(log)));
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  return absl::OkStatus();
}

absl::Status PostgresCluster::CrashAndRestart() {
  Crash();
  return Launch();
}

void PostgresCluster::Crash() {
  Kill(SIGQUIT);
}

absl::StatusOr<std::unique_ptr<PostgresCluster>> PostgresCluster::StartStandby() const {
  std::unique_ptr<PostgresCluster> standby(new PostgresCluster(programs_, FreePort(), memory_, collation_));
  RETURN_IF_ERROR(standby->OpenFolder());
  const std::string log = absl::StrCat(standby->folder_, "/pg_basebackup.log");
  const pid_t child =
      Spawn({absl::StrCat(programs_, "/pg_basebackup"), "-h", "127.0.0.1", "-p", absl::StrCat(port_), "-U",
             "postgres", "-D", absl::StrCat(standby->folder_, "/data"), "--write-recovery-conf",
             "--checkpoint=fast", "--no-sync"},
            log);
  int status = 0;
  if (waitpid(child, &status, 0) != child || status != 0) {
    return absl::FailedPreconditionError(absl::StrCat("pg_basebackup failed: ", Contents(log)));
  }
  RETURN_IF_ERROR(standby->Launch());
  return standby;
}

absl::Status PostgresCluster::Promote() {
  return Execute("SELECT pg_promote()");
}

std::string PostgresCluster::UrlOf(const std::string& database) const {
  return absl::StrCat("postgresql://postgres@127.0.0.1:", port_, "/", database);
}

absl::Status PostgresCluster::Execute(const std::string& statement) const {
  PGconn* connection = PQconnectdb(UrlOf("postgres").c_str());
  PGresult* result = PQexec(connection, statement.c_str());
  const ExecStatusType type = PQresultStatus(result);
  const absl::Status status = type == PGRES_COMMAND_OK || type == PGRES_TUPLES_OK
                                  ? absl::OkStatus()
                                  : absl::InternalError(PQerrorMessage(connection));
  PQclear(result);
  PQfinish(connection);
  return status;
}

std::string PostgresCluster::CreateDatabase() {
  const std::string name = absl::StrCat("test", ++databases_);
  const absl::Status created = Execute(absl::StrCat("CREATE DATABASE ", name));
  if (!created.ok()) GiveUp(created);
  return UrlOf(name);
}

std::string PostgresCluster::CreatePreparedDatabase(
    const std::function<absl::Status(const std::string& url)>& prepare) {
  if (prepared_.empty()) {
    const std::string url = CreateDatabase();
    const absl::Status is_prepared = prepare(url);
    if (!is_prepared.ok()) GiveUp(is_prepared);
    prepared_ = url;
  }
  return CopyDatabase(prepared_);
}

std::string PostgresCluster::CopyDatabase(const std::string& url) {
  const std::string name = absl::StrCat("test", ++databases_);
  const std::string original = url.substr(url.rfind('/') + 1);
  const absl::Status created = Execute(absl::StrCat("CREATE DATABASE ", name, " TEMPLATE ", original));
  if (!created.ok()) GiveUp(created);
  return UrlOf(name);
}

}  // namespace curator::testing
