#include "tests/statistical/instruction_trace.h"

#include <signal.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

namespace curator::statistics {
namespace {

Trace trace;  // of the one call that a forked child runs

// The processor raises SIGTRAP after every instruction while the trap flag is set; the kernel clears it for
// the handler.
void CountStep(int /*signal*/, siginfo_t* /*info*/, void* context) {
  const auto address = static_cast<uint64_t>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
  ++trace.instructions;
  trace.path = (trace.path ^ address) * 0x9e3779b97f4a7c15U;
}

// Below the 128 bytes under the stack pointer that a function may use without saying so.
void StartStepping() {
  asm volatile("lea -128(%%rsp), %%rsp\n\tpushfq\n\torq $0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
                   : "memory", "cc");
}
void StopStepping() {
  asm volatile(
      "lea -128(%%rsp), %%rsp\n\tpushfq\n\tandq $~0x100, (%%rsp)\n\tpopfq\n\tlea 128(%%rsp), %%rsp" ::
          : "memory", "cc");
}

[[noreturn]] void RunStepped(const std::function<std::function<void()>()>& prepare, int result) {
  prepare()();
  const std::function<void()> call = prepare();
  struct sigaction action = {};
  action.sa_sigaction = CountStep;
  action.sa_flags = SA_SIGINFO;
  sigaction(SIGTRAP, &action, nullptr);
  StartStepping();
  call();
  StopStepping();
  _exit(write(result, &trace, sizeof trace) == sizeof trace ? 0 : 1);
}

}  // namespace

std::optional<Trace> TraceOf(const std::function<std::function<void()>()>& prepare) {
  int ends[2];
  if (pipe(ends) != 0) return std::nullopt;
  const pid_t child = fork();
  if (child == 0) RunStepped(prepare, ends[1]);
  close(ends[1]);
  Trace result;
  const bool complete = child > 0 && read(ends[0], &result, sizeof result) == sizeof result;
  close(ends[0]);
  if (child > 0) waitpid(child, nullptr, 0);
  return complete ? std::optional(result) : std::nullopt;
}

}  // namespace curator::statistics
