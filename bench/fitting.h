// A synthesizer run once on a real table, from public draws.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "dp/data/sealed_table_handle.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesizer.h"
#include "real_tables.h"

namespace curator::dp {

// Processor time of this program so far.
double CpuSeconds();

// Repetition r draws from the key whose first byte is r.
Drbg BitsOf(int repetition);

// All of a budget of `rule`: pure; certified (ADVANCED, a promise of (epsilon, 1e-9) kept by numerical
// composition); or zcdp (the rho of (epsilon, 1e-9)).
void SetBudget(const std::string& rule, const std::string& epsilon, SynthesisInput& input);

// A request for whole marginals with the settings key=value among the arguments from `first` on.
// "assume_records=N" is no setting but a public guess of the number of records.
SynthesisInput InputFor(const bench::RealTable& table, const std::vector<AttributeSet>& workload, int argc,
                        char** argv, int first);

// A fitted model; for the method "direct", the noisy answers to the workload themselves.
struct Fitted {
  std::unique_ptr<SynthesisModel> model;
  std::vector<std::vector<int64_t>> answers;
  double cpu_seconds = 0;  // of planning, drawing and fitting
};

Fitted FitOnce(const std::string& method, const SynthesisInput& input, const SealedTableHandle& table,
               int repetition);

}  // namespace curator::dp
