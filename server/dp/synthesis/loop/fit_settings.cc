#include "dp/synthesis/loop/fit_settings.h"

#include <algorithm>
#include <optional>

#include "base/status_macros.h"
#include "dp/synthesis/models/product_model.h"

namespace curator::dp {
namespace {

constexpr int64_t kUsualMostCells = int64_t{1} << 18;
constexpr double kLeastSlack = 0.3;
constexpr double kMostSlack = 1;

// Without a value the choice follows from the request.
constexpr Choices<std::optional<CandidateSets>, 4> kCandidateSets = {{{"auto", std::nullopt},
                                                                      {"workload", CandidateSets::kWorkload},
                                                                      {"pairs", CandidateSets::kPairs},
                                                                      {"both", CandidateSets::kBoth}}};

}  // namespace

Setting CandidatesSetting() {
  return ChoiceSetting(
      "candidates",
      "what may be measured. workload: its marginals; pairs: the pairs of attributes in them; "
      "both; auto: workload where none of its marginals has more than 64 cells, else pairs",
      kCandidateSets);
}

Setting MaxCellsSetting() {
  return IntegerSetting(
      "max_cells",
      "cells of all cliques that are held in memory; candidates that would need more are not chosen",
      kUsualMostCells, {1, kMostDenseCells});
}

Setting LastSweepsSetting() {
  return IntegerSetting("last_sweeps", "how often all measurements are fitted after the last round at most",
                        300, {1, 100'000});
}

Setting SlackSetting() {
  return RealSetting("slack",
                     "how far answers may be missed in favour of uniformity, in units of their noise",
                     "a hundredth of the measurements, from 0.3 to 1", RealRange{0.001, 1000});
}

absl::StatusOr<CandidateSets> ReadCandidates(const Domain& domain, const std::vector<AttributeSet>& workload,
                                             SettingsReader& reader) {
  ASSIGN_OR_RETURN(const std::optional<CandidateSets> candidates,
                   reader.Choice("candidates", kCandidateSets));
  return candidates.value_or(UsualCandidates(domain, workload));
}

std::string NameOfCandidates(CandidateSets candidates) {
  return NameOf(kCandidateSets, std::optional(candidates));
}

absl::StatusOr<FitSettings> ReadFitSettings(SettingsReader& reader) {
  FitSettings settings;
  ASSIGN_OR_RETURN(settings.max_cells, reader.Integer("max_cells"));
  ASSIGN_OR_RETURN(settings.last_sweeps, reader.Integer("last_sweeps"));
  return settings;
}

absl::StatusOr<double> ReadSlack(int64_t measurements, SettingsReader& reader) {
  return reader.Real("slack", std::clamp(static_cast<double>(measurements) / 100, kLeastSlack, kMostSlack));
}

}  // namespace curator::dp
