#include "client/sql/confinement.h"

#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <csignal>
#include <cstddef>
#include <vector>

namespace curator::sql {
namespace {

constexpr rlim_t kMemory = rlim_t{512} << 20;
constexpr rlim_t kSeconds = 2;
constexpr rlim_t kFiles = 3;

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Sanitizers map terabytes, and call what they like.
constexpr bool kIsInstrumented = true;
#else
constexpr bool kIsInstrumented = false;
#endif

#if defined(__x86_64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_X86_64;
#elif defined(__aarch64__)
constexpr unsigned kArchitecture = AUDIT_ARCH_AARCH64;
#endif

bool Limit(int resource, rlim_t most) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource_t>(resource), &limit) != 0) return false;
  const rlim_t own = limit.rlim_max == RLIM_INFINITY || limit.rlim_max > most ? most : limit.rlim_max;
  limit = {.rlim_cur = own, .rlim_max = own};
  return setrlimit(static_cast<__rlimit_resource_t>(resource), &limit) == 0;
}

// Ends the process at each system call but those that reading, writing, memory and the end take.
bool FilterCalls() {
  constexpr unsigned kAllowed[] = {
      SYS_read,      SYS_write,         SYS_brk,        SYS_mmap,         SYS_munmap,
      SYS_mremap,    SYS_madvise,       SYS_futex,      SYS_rt_sigreturn, SYS_rt_sigprocmask,
      SYS_getrandom, SYS_clock_gettime, SYS_exit_group, SYS_exit,         SYS_sched_yield,
  };
  std::vector<sock_filter> filter = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, arch)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, kArchitecture, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
  };
  for (const unsigned call : kAllowed) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, call, 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS));
  const sock_fprog program = {.len = static_cast<unsigned short>(filter.size()), .filter = filter.data()};
  return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

bool ConfineThisProcess() {
  // With the server that started it, it ends too.
  bool is_confined = prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && prctl(PR_SET_DUMPABLE, 0) == 0 &&
                     prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
  is_confined = is_confined && Limit(RLIMIT_CPU, kSeconds) && Limit(RLIMIT_NOFILE, kFiles) &&
                Limit(RLIMIT_FSIZE, 0) && Limit(RLIMIT_CORE, 0);
  if (!kIsInstrumented) is_confined = is_confined && Limit(RLIMIT_AS, kMemory) && FilterCalls();
  return is_confined;
}

}  // namespace curator::sql
