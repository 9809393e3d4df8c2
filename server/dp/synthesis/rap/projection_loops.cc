#include "dp/synthesis/rap/projection_loops.h"

#include <array>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace curator::dp {
namespace {

#define CURATOR_LOOPS_NAMESPACE everywhere
#define CURATOR_LOOPS_NAME "4 floats"
#define CURATOR_LOOPS_WIDTH 4
#define CURATOR_LOOPS_CHUNK 2
#define CURATOR_LOOPS_TARGET
#include "dp/synthesis/rap/projection_loops_body.h"
#undef CURATOR_LOOPS_NAMESPACE
#undef CURATOR_LOOPS_NAME
#undef CURATOR_LOOPS_WIDTH
#undef CURATOR_LOOPS_CHUNK
#undef CURATOR_LOOPS_TARGET

#if defined(__x86_64__)
#define CURATOR_LOOPS_NAMESPACE avx2
#define CURATOR_LOOPS_NAME "8 floats (AVX2)"
#define CURATOR_LOOPS_WIDTH 8
#define CURATOR_LOOPS_CHUNK 2
#define CURATOR_LOOPS_TARGET __attribute__((target("avx2")))
#include "dp/synthesis/rap/projection_loops_body.h"
#undef CURATOR_LOOPS_NAMESPACE
#undef CURATOR_LOOPS_NAME
#undef CURATOR_LOOPS_WIDTH
#undef CURATOR_LOOPS_CHUNK
#undef CURATOR_LOOPS_TARGET

#define CURATOR_LOOPS_NAMESPACE avx512
#define CURATOR_LOOPS_NAME "16 floats (AVX-512)"
#define CURATOR_LOOPS_WIDTH 16
#define CURATOR_LOOPS_CHUNK 4
#if defined(__clang__)  // knows no preferred width, and takes that of the type
#define CURATOR_LOOPS_TARGET __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl")))
#else
#define CURATOR_LOOPS_TARGET \
  __attribute__((target("avx512f,avx512dq,avx512bw,avx512vl,prefer-vector-width=512")))
#endif
#include "dp/synthesis/rap/projection_loops_body.h"
#undef CURATOR_LOOPS_NAMESPACE
#undef CURATOR_LOOPS_NAME
#undef CURATOR_LOOPS_WIDTH
#undef CURATOR_LOOPS_CHUNK
#undef CURATOR_LOOPS_TARGET
#endif

struct Available {
  std::array<const ProjectionLoops*, 3> loops{};
  size_t count = 0;
};

Available FindAvailable() {
  Available available;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl")) {
    available.loops[available.count++] = &avx512::kLoops;
  }
  if (__builtin_cpu_supports("avx2")) available.loops[available.count++] = &avx2::kLoops;
#endif
  available.loops[available.count++] = &everywhere::kLoops;
  return available;
}

}  // namespace

std::span<const ProjectionLoops* const> AvailableProjectionLoops() {
  static const Available available = FindAvailable();
  return {available.loops.data(), available.count};
}

#if defined(__x86_64__)
FlushToZero::FlushToZero() : before_(_mm_getcsr()) {
  constexpr unsigned kFlushResults = 0x8000;
  constexpr unsigned kFlushArguments = 0x0040;
  _mm_setcsr(before_ | kFlushResults | kFlushArguments);
}
FlushToZero::~FlushToZero() {
  _mm_setcsr(before_);
}
#else
FlushToZero::FlushToZero() = default;
FlushToZero::~FlushToZero() = default;
#endif

}  // namespace curator::dp
