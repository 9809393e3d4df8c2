// Features of this machine's processor, detected at run time, so that one build runs on every machine.
//
// Thread-safe.
#pragma once

namespace curator {

#if defined(__x86_64__)
inline bool MachineHasAvx2() {
  static const bool has_avx2 = __builtin_cpu_supports("avx2") != 0;
  return has_avx2;
}
#endif

}  // namespace curator
