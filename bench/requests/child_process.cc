#include "bench/requests/child_process.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <sstream>
#include <thread>
#include <utility>

#include "absl/strings/str_cat.h"

namespace curator::bench {
namespace {

// As curatord logs it, and the echo after it.
constexpr char kServing[] = "\"event\":\"serving\",\"address\":\"";

std::string Contents(const std::string& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

}  // namespace

ChildProcess::ChildProcess(std::vector<std::string> words, std::string log) : log_(std::move(log)) {
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  const int output = open(log_.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(output, STDERR_FILENO);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(output);
}

ChildProcess::~ChildProcess() {
  if (pid_ <= 0) return;
  kill(pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

void ChildProcess::AwaitLog(const std::string& text) {
  while (Contents(log_).find(text) == std::string::npos) {
    if (waitpid(pid_, nullptr, WNOHANG) == pid_) {
      std::fprintf(stderr, "a server ended:\n%s\n", Contents(log_).c_str());
      std::exit(1);
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
}

std::string ChildProcess::AwaitAddress() {
  AwaitLog(kServing);
  const std::string log = Contents(log_);
  const size_t start = log.find(kServing) + sizeof(kServing) - 1;
  return log.substr(start, log.find('"', start) - start);
}

void ChildProcess::Stop() {
  kill(pid_, SIGTERM);
  waitpid(std::exchange(pid_, -1), nullptr, 0);
}

double ChildProcess::ProcessorSeconds() const {
  // After the name in brackets: the state, and from the twelfth word on the ticks in its own code and in the
  // kernel.
  const std::string stat = Contents(absl::StrCat("/proc/", pid_, "/stat"));
  std::istringstream words(stat.substr(stat.rfind(')') + 1));
  std::string skipped;
  for (int i = 0; i < 11; ++i) words >> skipped;
  double user = 0;
  double system = 0;
  words >> user >> system;
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

double ChildProcess::ResidentMegabytes() const {
  std::ifstream statm(absl::StrCat("/proc/", pid_, "/statm"));
  double all = 0;
  double resident = 0;
  statm >> all >> resident;
  return resident * static_cast<double>(sysconf(_SC_PAGESIZE)) / 1e6;
}

}  // namespace curator::bench
