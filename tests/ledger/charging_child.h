// A child process of the test that runs charging_work.h: a fork, because starting a program costs more than
// the charges.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

namespace curator::ledger {

class ChargingChild {
 public:
  // Starts it with these arguments. It dies with the test, which has no other threads.
  explicit ChargingChild(const std::vector<std::string>& arguments);
  ~ChargingChild();
  ChargingChild(const ChargingChild&) = delete;
  ChargingChild& operator=(const ChargingChild&) = delete;

  // Waits until it has written at least this many lines, or has ended.
  void WaitForLines(size_t lines);
  void Send(char byte);
  void Signal(int signal);
  // Waits until it has been stopped by a signal.
  void WaitUntilStopped();
  // Waits for its end, reading its remaining output. The exit status, or minus the signal that ended it.
  int WaitForEnd();

  // Its standard output so far, and its standard error once it has ended.
  const std::string& reported() const { return reported_; }
  const std::string& complaints() const { return complaints_; }

 private:
  bool ReadMore();

  pid_t pid_ = -1;
  int input_ = -1;
  int output_ = -1;
  int errors_ = -1;
  std::string reported_;
  std::string complaints_;
};

}  // namespace curator::ledger
