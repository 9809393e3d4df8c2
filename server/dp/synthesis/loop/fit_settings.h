// Settings that every method has that measures marginals and fits them as a product over cliques.
//
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "dp/synthesis/loop/candidates.h"
#include "dp/synthesis/settings.h"

namespace curator::dp {

// How measurements are fitted.
struct FitSettings {
  int64_t max_cells = 1;  // of all cliques together
  int64_t last_sweeps = 300;
  double slack = 0.3;
};

Setting CandidatesSetting();
Setting MaxCellsSetting();
Setting LastSweepsSetting();
Setting SlackSetting();

// Each reads its settings. Errors: those of SettingsReader.

// UsualCandidates() where the setting is absent or "auto".
absl::StatusOr<CandidateSets> ReadCandidates(const Domain& domain, const std::vector<AttributeSet>& workload,
                                             SettingsReader& reader);
std::string NameOfCandidates(CandidateSets candidates);

// All but the slack, whose default follows from the number of measurements.
absl::StatusOr<FitSettings> ReadFitSettings(SettingsReader& reader);
absl::StatusOr<double> ReadSlack(int64_t measurements, SettingsReader& reader);

}  // namespace curator::dp
