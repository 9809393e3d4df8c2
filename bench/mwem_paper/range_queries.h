// Random ranges over numerical attributes, and how far a model's answers are from the true ones.
//
// Thread-safe: pure functions.
#pragma once

#include <string>
#include <vector>

#include "bench/mwem_paper/bench_world.h"

namespace curator::bench {

inline constexpr int kUsualRanges = 2000;

struct RangeData {
  std::string name;
  BenchTable table;
};

// The four tables of section 3.1. Exits when their files are not there.
std::vector<RangeData> AllRangeData();

// So many products of intervals between two random codes of each attribute; those of a smaller number are the
// first of a larger one's.
dp::QueryGroup RandomRanges(const dp::Domain& domain, int ranges);

// With a public guess of the number of records: the next thousand.
dp::SynthesisInput RangeInput(const RangeData& data, const dp::QueryGroup& group, double epsilon,
                              Settings settings);

// Of the answers, in records^2.
double MeanSquaredError(const BenchTable& table, const dp::QueryGroup& group,
                        const dp::SynthesisModel& model);

}  // namespace curator::bench
