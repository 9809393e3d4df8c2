// The excerpt of the American Community Survey of 2019 that NIST publishes, as codes: the columns whose
// values its data dictionary lists, and ages, numbers of persons and poverty ratios in bins. 19 attributes.
#pragma once

#include "real_tables.h"

namespace curator::bench {

// Reads $CURATOR_SHARED/data/nist_acs. Ends the program with a message when it cannot be read.
RealTable ReadAcsTable();

}  // namespace curator::bench
