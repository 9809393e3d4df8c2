// A curatord of its own process: for what cannot be tested in one's own, such as being killed.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <vector>

namespace curator::testing {

// Runs the curatord of this build. Dies with the test.
class ServerProcess {
 public:
  // Starts it; `Address()` waits until it serves.
  explicit ServerProcess(const std::vector<std::string>& arguments);
  // Another program, whose log is its standard error.
  ServerProcess(const std::string& program, const std::vector<std::string>& arguments);
  ~ServerProcess();
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  // Reads the log until the server says where it serves; none when it ended before.
  std::optional<std::string> Address();

  // Whether it has not ended.
  bool IsRunning() const;
  // Sends the signal.
  void Signal(int signal) const;
  // Reads the log until it contains `text`; false when the server ended before.
  bool AwaitLog(const std::string& text);

  // Sends the signal and waits for the end. The exit status, or minus the signal that ended it.
  int Stop(int signal);
  int WaitForEnd();

  // Stops it as SIGSTOP does, and lets it go on.
  void Pause();
  void Resume();

  pid_t pid() const { return pid_; }

  // Everything that it has written to its standard error so far (until its end, once it has ended).
  const std::string& log() const { return log_; }

 private:
  bool ReadMore();

  pid_t pid_ = -1;
  int log_pipe_ = -1;
  std::string log_;
};

}  // namespace curator::testing
