#include "host/child_program.h"

#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"

namespace curator::host {
namespace {

using Clock = std::chrono::steady_clock;

class File {
 public:
  explicit File(int descriptor = -1) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  ~File() { Close(); }

  int get() const { return descriptor_; }
  void Close() {
    if (descriptor_ >= 0) close(descriptor_);
    descriptor_ = -1;
  }

 private:
  int descriptor_;
};

int MillisecondsUntil(Clock::time_point deadline) {
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
  return static_cast<int>(std::max<int64_t>(0, left));
}

// Of a process that has ended, a signal changes nothing.
int KillAndReap(pid_t pid) {
  kill(pid, SIGKILL);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  return status;
}

// A started program; killed, if it still runs, and reaped with this object.
class Child {
 public:
  explicit Child(pid_t pid) : pid_(pid), ended_(static_cast<int>(syscall(SYS_pidfd_open, pid, 0))) {}
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (!is_reaped_) KillAndReap(pid_);
  }

  // Once.
  int AwaitEnd(Clock::time_point deadline) {
    is_reaped_ = true;
    return AwaitChild(pid_, ended_.get(), deadline);
  }

 private:
  const pid_t pid_;
  const File ended_;  // readable after its end
  bool is_reaped_ = false;
};

// The arguments of posix_spawn that a program starts with.
class SpawnSettings {
 public:
  explicit SpawnSettings(int socket) {
    posix_spawn_file_actions_init(&actions_);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDIN_FILENO);
    posix_spawn_file_actions_adddup2(&actions_, socket, STDOUT_FILENO);
    posix_spawn_file_actions_addopen(&actions_, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
    posix_spawn_file_actions_addclosefrom_np(&actions_, STDERR_FILENO + 1);
    posix_spawn_file_actions_addchdir_np(&actions_, "/");
    sigset_t none;
    sigset_t all;
    sigemptyset(&none);
    sigfillset(&all);
    posix_spawnattr_init(&attributes_);
    posix_spawnattr_setsigmask(&attributes_, &none);
    posix_spawnattr_setsigdefault(&attributes_, &all);
    posix_spawnattr_setpgroup(&attributes_, 0);
    posix_spawnattr_setflags(&attributes_,
                             POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP);
  }
  SpawnSettings(const SpawnSettings&) = delete;
  SpawnSettings& operator=(const SpawnSettings&) = delete;
  ~SpawnSettings() {
    posix_spawn_file_actions_destroy(&actions_);
    posix_spawnattr_destroy(&attributes_);
  }

  absl::StatusOr<pid_t> Spawn(std::string path) const {
    std::array<char*, 2> arguments = {path.data(), nullptr};
    char* environment = nullptr;
    pid_t pid = 0;
    const int error =
        posix_spawn(&pid, path.c_str(), &actions_, &attributes_, arguments.data(), &environment);
    if (error == 0) return pid;
    return absl::NotFoundError(absl::StrCat(path, " cannot be started: ", std::strerror(error)));
  }

 private:
  posix_spawn_file_actions_t actions_;
  posix_spawnattr_t attributes_;
};

// Writes the input and reads the output at the same time: either side may wait for the other.
class Exchange {
 public:
  Exchange(int socket, std::string_view input, size_t most_output)
      : socket_(socket), input_(input), most_output_(most_output) {
    EndInputIfWritten();
  }

  // Until the other side has closed the socket.
  absl::StatusOr<std::string> Run(Clock::time_point deadline) {
    while (true) {
      const int left = MillisecondsUntil(deadline);
      if (left == 0) return absl::DeadlineExceededError("the program did not end in time");
      pollfd ready = {.fd = socket_, .events = POLLIN, .revents = 0};
      if (!input_.empty()) ready.events |= POLLOUT;
      if (poll(&ready, 1, left) <= 0) continue;
      if ((ready.revents & POLLOUT) != 0) Write();
      if ((ready.revents & (POLLIN | POLLHUP | POLLERR)) == 0) continue;
      ASSIGN_OR_RETURN(const bool has_ended, Read());
      if (has_ended) return std::move(output_);
    }
  }

 private:
  void EndInputIfWritten() {
    if (input_.empty()) shutdown(socket_, SHUT_WR);
  }

  void Write() {
    const ssize_t written = send(socket_, input_.data(), input_.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (written > 0) input_.remove_prefix(static_cast<size_t>(written));
    // A program that reads no more may have its answer.
    if (written < 0 && errno != EINTR && errno != EAGAIN) input_ = {};
    EndInputIfWritten();
  }

  // Whether the output has ended.
  absl::StatusOr<bool> Read() {
    std::array<char, 1 << 16> buffer;
    const ssize_t bytes = recv(socket_, buffer.data(), buffer.size(), MSG_DONTWAIT);
    if (bytes < 0 && (errno == EINTR || errno == EAGAIN)) return false;
    if (bytes <= 0) return true;  // also where it ended without reading all: then its status says how
    output_.append(buffer.data(), static_cast<size_t>(bytes));
    if (output_.size() > most_output_)
      return absl::ResourceExhaustedError(
          absl::StrCat("the program wrote more than ", most_output_, " bytes"));
    return false;
  }

  const int socket_;
  std::string_view input_;
  const size_t most_output_;
  std::string output_;
};

absl::Status StatusOfEnd(int status) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return absl::OkStatus();
  if (WIFEXITED(status))
    return absl::FailedPreconditionError(absl::StrCat("the program ended with status ", WEXITSTATUS(status)));
  return absl::AbortedError(absl::StrCat("the program ended by signal ", WTERMSIG(status)));
}

}  // namespace

absl::StatusOr<std::string> RunChildProgram(const std::string& path, std::string_view input,
                                            std::chrono::milliseconds patience, size_t most_output) {
  const Clock::time_point deadline = Clock::now() + patience;
  std::array<int, 2> pair{};
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair.data()) != 0)
    return absl::NotFoundError(absl::StrCat("no socket for ", path, ": ", std::strerror(errno)));
  const File own(pair[0]);
  File its(pair[1]);
  ASSIGN_OR_RETURN(const pid_t pid, SpawnSettings(its.get()).Spawn(path));
  Child child(pid);
  its.Close();
  ASSIGN_OR_RETURN(std::string output, Exchange(own.get(), input, most_output).Run(deadline));
  RETURN_IF_ERROR(StatusOfEnd(child.AwaitEnd(deadline)));
  return output;
}

int AwaitChild(pid_t pid, int ended, Clock::time_point deadline) {
  if (ended >= 0) {
    pollfd end = {.fd = ended, .events = POLLIN, .revents = 0};
    while (poll(&end, 1, MillisecondsUntil(deadline)) < 0 && errno == EINTR) continue;
    return KillAndReap(pid);
  }
  constexpr int kMillisecondsBetweenLooks = 5;
  while (true) {
    int status = 0;
    if (waitpid(pid, &status, WNOHANG) == pid) return status;
    const int left = MillisecondsUntil(deadline);
    if (left == 0) return KillAndReap(pid);
    poll(nullptr, 0, std::min(left, kMillisecondsBetweenLooks));
  }
}

}  // namespace curator::host
