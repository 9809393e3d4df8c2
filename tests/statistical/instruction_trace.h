// What a call executes, instruction by instruction: a measure of its running time without a clock, the same
// on every run.
//
// Two calls with equal traces have taken the same branches and run the same loops equally often. What equal
// traces do not show: the addresses that were read and written (caches), and instructions whose own time
// depends on their operands.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace curator::statistics {

struct Trace {
  uint64_t instructions = 0;
  uint64_t path = 0;  // a hash of the addresses of all instructions, in their order

  bool operator==(const Trace&) const = default;
};

// Runs what `prepare` returns in a fork of this process, in the processor's single-step mode; what it changes
// is lost. It runs twice, and the second time counts, so that first times (of the dynamic linker, of the
// allocator) do not. Traces of one process can be compared with each other, those of different processes
// cannot. None when it did not come to its end. Some ten thousand instructions a second at the least; x86-64
// alone.
std::optional<Trace> TraceOf(const std::function<std::function<void()>()>& prepare);

}  // namespace curator::statistics
