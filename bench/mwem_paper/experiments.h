// The experiments of Hardt, Ligett, McSherry 2012, one function each. They print their tables.
#pragma once

#include <string>

#include "bench/mwem_paper/bench_world.h"

namespace curator::bench {

// What the command line says: how often each run is repeated, settings of MWEM that are made before an
// experiment's own, and (not empty) the only data to run on, by the beginning of its name.
struct Options {
  int repetitions = 3;
  Settings settings;
  std::string only;

  Settings With(Settings own) const;
  bool Wants(const std::string& name) const { return name.starts_with(only); }
};

void RangeQueries(const Options& options);       // section 3.1, against epsilon
void RangeCounts(const Options& options);        // section 3.1, against the number of ranges
void ContingencyTables(const Options& options);  // section 3.2
void SparseTables(const Options& options);       // section 3.2, on generated tables
void DataCubes(const Options& options);          // section 3.3
void Scaling(const Options& options);            // section 4.1
void AdaptiveRounds(const Options& options);     // rounds that double their budget

// A row of a table, as Options::only names it: epsilon with one decimal.
std::string RowName(const std::string& data, double epsilon);

// The rounds that a request will take.
std::string RoundsOf(const dp::SynthesisInput& input);

}  // namespace curator::bench
