// The exact distribution of what `nested` draws: the exponential mechanism's probabilities over the whole
// grid, from the kernel's own scores. No sampling, hence no error of sampling.
#pragma once

#include <string>
#include <vector>

#include "bench/nested_data.h"
#include "dp/kernel/utility/utility.h"

namespace curator::bench {

// A way of weighing, and what it is called.
struct Weighting {
  std::string name;
  bool protects_groups = false;
  dp::RecordWeights records = dp::RecordWeights::kOne;
  dp::GroupWeight group = dp::GroupWeight::kOne;
  double width_factor = 1;  // times what a response in the middle moves
  double clip = 8;
  bool pays_for_group = false;  // a record at the price of its whole group
};

// The default grid of the method, over these bounds.
dp::NormalGroups GridFor(const NestedTable& table);

// The scores of all candidates, and how far apart one unit (added or removed) can move two of them.
struct Scored {
  dp::NormalGroups grid;
  std::vector<double> scores;
  double range = 1;
  double mean_weight = 1;  // of the records
};
Scored Score(const NestedTable& table, const Weighting& weighting);

// Of one draw for epsilon.
struct Summary {
  double nu_mean = 0, nu_deviation = 0;
  double tau_mean = 0, tau_deviation = 0;
  double sigma_mean = 0, sigma_deviation = 0;
  double group_share = 0;  // the mean of tau^2 / (tau^2 + sigma^2)
  double share_error = 0;  // the root of the mean squared distance of that from the reference's
  double at_the_edge = 0;  // the probability that tau is
};
Summary Summarise(const Scored& scored, const Reference& reference, double epsilon);

}  // namespace curator::bench
