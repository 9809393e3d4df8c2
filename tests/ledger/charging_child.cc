#include "tests/ledger/charging_child.h"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <utility>

#include "tests/ledger/charging_work.h"

namespace curator::ledger {
namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
};

Pipe NewPipe() {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) std::abort();
  return {ends[0], ends[1]};
}

}  // namespace

ChargingChild::ChargingChild(const std::vector<std::string>& arguments) {
  const Pipe in = NewPipe();
  const Pipe out = NewPipe();
  const Pipe err = NewPipe();
  pid_ = fork();
  if (pid_ == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(in.read_end, STDIN_FILENO);
    dup2(out.write_end, STDOUT_FILENO);
    dup2(err.write_end, STDERR_FILENO);
    for (const Pipe& pipe : {in, out, err}) {
      close(pipe.read_end);
      close(pipe.write_end);
    }
    DoChargingWork(arguments);
    _exit(0);
  }
  close(in.read_end);
  close(out.write_end);
  close(err.write_end);
  input_ = in.write_end;
  output_ = out.read_end;
  errors_ = err.read_end;
}

ChargingChild::~ChargingChild() {
  if (pid_ > 0) {
    Signal(SIGKILL);
    WaitForEnd();
  }
  for (const int end : {input_, output_, errors_}) close(end);
}

bool ChargingChild::ReadMore() {
  char buffer[4096];
  const ssize_t size = read(output_, buffer, sizeof(buffer));
  if (size > 0) reported_.append(buffer, static_cast<size_t>(size));
  return size > 0;
}

void ChargingChild::WaitForLines(size_t lines) {
  while (static_cast<size_t>(std::count(reported_.begin(), reported_.end(), '\n')) < lines && ReadMore()) {
  }
}

void ChargingChild::Send(char byte) {
  if (write(input_, &byte, 1) != 1) std::abort();
}

void ChargingChild::Signal(int signal) {
  kill(pid_, signal);
}

void ChargingChild::WaitUntilStopped() {
  int status = 0;
  if (waitpid(pid_, &status, WUNTRACED) != pid_ || !WIFSTOPPED(status)) std::abort();
}

int ChargingChild::WaitForEnd() {
  while (ReadMore()) {
  }
  char buffer[4096];
  for (ssize_t size = read(errors_, buffer, sizeof(buffer)); size > 0;
       size = read(errors_, buffer, sizeof(buffer))) {
    complaints_.append(buffer, static_cast<size_t>(size));
  }
  int status = 0;
  if (waitpid(std::exchange(pid_, -1), &status, 0) < 0) std::abort();
  return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

}  // namespace curator::ledger
