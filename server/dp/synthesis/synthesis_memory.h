// How much memory a synthesis takes, from public facts alone: upper bounds of what was measured
// (docs/results/bounds.md), with a margin. They count neither the private table nor what is kept for each of
// its records while a draw reads it.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <span>

#include "dp/domain/domain.h"
#include "dp/queries/linear_queries.h"

namespace curator::dp {

// In bytes.
struct SynthesisMemory {
  int64_t fitting = 0;  // by Fit() and while its model is stored, beside the input
  int64_t stored = 0;   // what Serialize() returns
  int64_t reading = 0;  // by Restore() and a Sample(), beside the stored bytes
};

// What a method says of it.
struct MethodMemory {
  int64_t working = 0;   // while it fits, and makes the model
  int64_t model = 0;     // a fitted model by itself
  int64_t stored = 0;    // what Serialize() returns
  int64_t sampling = 0;  // by Sample(), beside the model
};
SynthesisMemory MemoryOf(const MethodMemory& method);

// Bytes for making a model from its stored bytes, and a Sample().
int64_t ReadingBytesOf(const MethodMemory& method);

// Bytes for planning a synthesis of a valid workload, and for the plan, whatever the method. A prior is not
// among them.
int64_t SynthesisPlanningBytes(const Domain& domain, std::span<const QueryGroup> workload);
// The same for a workload of so many groups, which list queries of so many bytes.
int64_t SynthesisPlanningBytes(const Domain& domain, int64_t groups, int64_t bytes_of_lists);

// Bytes of what the groups list: the terms of queries or their sides, and the attributes of wide sets.
int64_t BytesOfLists(std::span<const QueryGroup> groups);

// Bytes of a model's display lines, at most, when it has `lines` of them that name sets of at most
// `attributes` attributes.
int64_t BytesOfLines(const Domain& domain, int64_t lines, int64_t attributes);

// The number of cells of `set`, or `most` where there are more.
int64_t CellsUpTo(const Domain& domain, const AttributeSet& set, int64_t most);

}  // namespace curator::dp
