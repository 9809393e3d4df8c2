// A server in a process of its own, so that its processor time and memory are its own.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <string>
#include <vector>

namespace curator::bench {

// Dies with this program. Make it on the main thread: it is killed when the thread that made it ends.
class ChildProcess {
 public:
  // Runs `words`, with its standard error in the file `log`: a server that logs every call would soon wait
  // for a reader of a pipe.
  ChildProcess(std::vector<std::string> words, std::string log);
  ~ChildProcess();
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;

  // Waits until it says where it serves. Ends this program, with the child's last words, when it ended
  // before.
  std::string AwaitAddress();
  // Waits until its log contains `text`; ends this program in the same way.
  void AwaitLog(const std::string& text);
  // Asks it to end, and waits until it has.
  void Stop();

  double ProcessorSeconds() const;
  double ResidentMegabytes() const;

 private:
  const std::string log_;
  pid_t pid_ = -1;
};

}  // namespace curator::bench
