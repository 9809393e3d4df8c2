// A program that is run for one input: it has a socket as its standard input and output, and nothing else
// of this process.
//
// Thread-safe.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <string>
#include <string_view>

#include "absl/status/statusor.h"

namespace curator::host {

// Runs the program at `path`, without arguments, in the folder "/", with an empty environment and no open
// file but the socket and /dev/null; gives it `input`; and returns what it wrote until it ended. It is
// ended and reaped when this returns, whatever it did. Errors: NOT_FOUND where it cannot be started;
// DEADLINE_EXCEEDED after `patience`; RESOURCE_EXHAUSTED for more than `most_output` bytes;
// FAILED_PRECONDITION where it ended with another status than 0, and ABORTED where a signal ended it, which
// the message says. A program need not read all of its input.
absl::StatusOr<std::string> RunChildProgram(const std::string& path, std::string_view input,
                                            std::chrono::milliseconds patience, size_t most_output);

// Waits until the child `pid` of this process ends, kills it at `deadline` if it has not, reaps it, and
// returns its status (wait(2)). `ended` becomes readable at its end (pidfd_open(2)); where the system does
// not allow that it is negative, and the child is looked at every few milliseconds.
int AwaitChild(pid_t pid, int ended, std::chrono::steady_clock::time_point deadline);

}  // namespace curator::host
