// The table of sensitivities of Kim, Savitsky, Williams, Hu 2023, on data simulated as theirs.
#pragma once

#include <cstdint>

namespace curator::bench {

// Prints, for several simulations, the quartiles over groups of sup over theta of |log integrated density|
// under the slides' weights, and the pseudo-posterior's sigma^2 and tau^2.
void PrintSlidesTable(uint64_t first_seed, int simulations);

}  // namespace curator::bench
