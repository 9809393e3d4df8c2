#include "tests/testing/server_process.h"

#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <iostream>
#include <utility>

namespace curator::testing {

ServerProcess::ServerProcess(const std::vector<std::string>& arguments)
    : ServerProcess(CURATORD_PATH, arguments) {}

ServerProcess::ServerProcess(const std::string& program, const std::vector<std::string>& arguments) {
  int ends[2];
  if (pipe(ends) != 0) std::abort();
  std::vector<std::string> words = {program};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    execv(argv[0], argv.data());
    _exit(127);
  }
  close(ends[1]);
  log_pipe_ = ends[0];
}

ServerProcess::~ServerProcess() {
  if (pid_ > 0) Stop(SIGKILL);
  close(log_pipe_);
}

bool ServerProcess::ReadMore() {
  char buffer[4096];
  const ssize_t size = read(log_pipe_, buffer, sizeof(buffer));
  if (size <= 0) return false;
  log_.append(buffer, static_cast<size_t>(size));
  return true;
}

std::optional<std::string> ServerProcess::Address() {
  static const std::string kMark = "\"event\":\"serving\",\"address\":\"";
  do {
    const size_t mark = log_.find(kMark);
    const size_t start = mark + kMark.size();
    const size_t end = mark == std::string::npos ? mark : log_.find('"', start);
    if (end != std::string::npos) return log_.substr(start, end - start);
  } while (ReadMore());
  return std::nullopt;
}

bool ServerProcess::AwaitLog(const std::string& text) {
  do {
    if (log_.find(text) != std::string::npos) return true;
  } while (ReadMore());
  return false;
}

bool ServerProcess::IsRunning() const {
  siginfo_t ended = {};
  return waitid(P_PID, static_cast<id_t>(pid_), &ended, WEXITED | WNOHANG | WNOWAIT) == 0 &&
         ended.si_pid == 0;
}

void ServerProcess::Signal(int signal) const {
  kill(pid_, signal);
}

int ServerProcess::Stop(int signal) {
  Signal(signal);
  return WaitForEnd();
}

void ServerProcess::Pause() {
  kill(pid_, SIGSTOP);
  int status = 0;
  if (waitpid(pid_, &status, WUNTRACED) != pid_ || !WIFSTOPPED(status)) std::abort();
}

void ServerProcess::Resume() {
  kill(pid_, SIGCONT);
}

int ServerProcess::WaitForEnd() {
  while (ReadMore()) {
  }
  int status = 0;
  if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) std::abort();
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace curator::testing
