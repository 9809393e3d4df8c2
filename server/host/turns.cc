#include "host/turns.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace curator::host {
namespace {

// struct sched_attr of the kernel (sched_setattr(2)), of which the C library has no declaration.
struct Attributes {
  uint32_t size = sizeof(Attributes);
  uint32_t policy = 0;
  uint64_t flags = 0;
  int32_t niceness = 0;
  uint32_t priority = 0;
  uint64_t runtime_ns = 0;  // of an ordinary thread: the length of a turn; 0 is the system's
  uint64_t deadline_ns = 0;
  uint64_t period_ns = 0;
};

void SetTurn(uint64_t nanoseconds) {
  constexpr pid_t kThisThread = 0;
  Attributes attributes;
  if (syscall(SYS_sched_getattr, kThisThread, &attributes, sizeof(attributes), 0) != 0) return;
  if (attributes.policy != SCHED_OTHER && attributes.policy != SCHED_BATCH) return;
  attributes.runtime_ns = nanoseconds;
  // A wish: where it is not granted, everything works as before.
  static_cast<void>(syscall(SYS_sched_setattr, kThisThread, &attributes, 0));
}

}  // namespace

void TakeShortTurns() {
  constexpr uint64_t kShortNs = 100'000;
  SetTurn(kShortNs);
}

void TakeOrdinaryTurns() {
  SetTurn(0);
}

}  // namespace curator::host
