// Records that lie in groups, for end-to-end tests: invented pupils in schools.
#pragma once

#include <cstdint>
#include <string>

#include "curator/v1/dataset.pb.h"

namespace curator::testing {

// Which unit a dataset of pupils protects.
enum class PupilUnit { kPupil, kSchool };

// sex (F, M), score (0 to 100 by steps of 0.5, the response) and the column "school" of groups.
v1::Schema PupilSchema(PupilUnit unit);

// "pupils", under zCDP with a limit of (epsilon, 1e-6).
v1::CreateDatasetRequest PupilDataset(PupilUnit unit, const std::string& epsilon);

// `schools` of `each` pupils with a header line: scores around 50, with a standard deviation of 8 between
// schools and of 10 within them. The same for the same seed.
std::string PupilCsv(int schools, int each, uint64_t seed);

}  // namespace curator::testing
