// Tables of two levels: simulated as in the slides of Kim, Savitsky, Williams, Hu 2023, and real ones beside
// their non-private fits.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dp/kernel/utility/group_models.h"

namespace curator::bench {

struct Reference {
  double nu = 0;
  double tau = 1;
  double sigma = 1;

  double group_share() const { return tau * tau / (tau * tau + sigma * sigma); }
};

struct NestedTable {
  std::string name;
  std::vector<double> numbers;  // that the codes of the response stand for
  double low = 0;
  double high = 1;
  std::vector<std::vector<uint32_t>> groups;  // codes
  Reference reference;                        // REML, or the truth of a simulation
};

// The real tables, with the public bounds that their folder declares and the fit "1 + (1 | group)" of its
// reference.json. Exits when they are not there.
std::vector<NestedTable> RealNestedTables();

// `groups` groups of `size`, nu = 0, tau^2 = 4, sigma^2 = 1; bounds -10 and 10.
NestedTable SimulatedTable(int groups, int size, uint64_t seed);

}  // namespace curator::bench
