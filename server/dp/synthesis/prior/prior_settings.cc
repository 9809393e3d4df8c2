#include "dp/synthesis/prior/prior_settings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/synthesis/settings.h"

namespace curator::dp {
namespace {

constexpr Choices<PriorSupport, 2> kSupports = {
    {{"prior", PriorSupport::kPrior}, {"full", PriorSupport::kFullDomain}}};
constexpr Choices<MeasuredSets, 2> kMeasures = {
    {{"chosen", MeasuredSets::kChosen}, {"given", MeasuredSets::kGiven}}};
constexpr Choices<AnswerWeighting, 3> kWeightings = {{{"weighed", AnswerWeighting::kByNoise},
                                                      {"nearest", AnswerWeighting::kExactlyNearest},
                                                      {"scaled", AnswerWeighting::kExactlyScaled}}};
constexpr int64_t kCountPercent = 10;
constexpr int64_t kCountPercentWithGroups = 50;

// "PUMA+YEAR" or "PUMA,YEAR": names of attributes. A name that has such a character is taken whole.
absl::StatusOr<AttributeSet> NamedAttributes(const Domain& domain, const std::string& key,
                                             const std::string& text) {
  if (text.empty()) return AttributeSet();
  AttributeSet set;
  if (const absl::StatusOr<uint32_t> whole = domain.IndexOf(text); whole.ok()) return AttributeSet{*whole};
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(text, absl::ByAnyChar("+,")))) {
    const absl::StatusOr<uint32_t> index = domain.IndexOf(name);
    if (!index.ok())
      return InvalidField(absl::StrCat("settings.", key), std::string(index.status().message()));
    if (std::ranges::find(set, *index) != set.end())
      return InvalidField(absl::StrCat("settings.", key), absl::StrCat("names \"", name, "\" twice"));
    set.push_back(*index);
  }
  std::ranges::sort(set);
  return set;
}

}  // namespace

absl::StatusOr<PriorSettings> ReadPriorSettings(const SynthesisInput& input) {
  SettingsReader reader(PriorSettingsTable(), input.settings);
  PriorSettings settings;
  RETURN_IF_ERROR(reader.Text("prior").status());
  ASSIGN_OR_RETURN(const std::string region, reader.Text("region"));
  ASSIGN_OR_RETURN(settings.region, NamedAttributes(input.domain, "region", region));
  ASSIGN_OR_RETURN(const std::string group, reader.Text("group"));
  ASSIGN_OR_RETURN(settings.group, NamedAttributes(input.domain, "group", group));
  if (settings.group.empty() && !settings.region.empty())
    return InvalidField("settings.group", "regions are made of groups: say which attributes make a group");
  ASSIGN_OR_RETURN(settings.support, reader.Choice("support", kSupports));
  ASSIGN_OR_RETURN(settings.measure, reader.Choice("measure", kMeasures));
  ASSIGN_OR_RETURN(settings.threshold, reader.Real("threshold"));
  ASSIGN_OR_RETURN(settings.clique_cells, reader.Integer("clique_cells"));
  ASSIGN_OR_RETURN(settings.roots, reader.Integer("roots"));
  ASSIGN_OR_RETURN(settings.region_percent, reader.Integer("region_percent"));
  ASSIGN_OR_RETURN(
      settings.count_percent,
      reader.Integer("count_percent", settings.group.empty() ? kCountPercent : kCountPercentWithGroups));
  ASSIGN_OR_RETURN(settings.estimation.most_sweeps, reader.Integer("sweeps"));
  ASSIGN_OR_RETURN(settings.weighting, reader.Choice("answers", kWeightings));
  settings.estimation.projection =
      settings.weighting == AnswerWeighting::kExactlyScaled ? Projection::kScale : Projection::kNearest;
  ASSIGN_OR_RETURN(settings.trust, reader.Real("trust"));
  ASSIGN_OR_RETURN(settings.group_trust, reader.Real("group_trust"));
  ASSIGN_OR_RETURN(settings.max_cells, reader.Integer("max_cells"));
  RETURN_IF_ERROR(reader.Finish());
  settings.used = reader.used();
  return settings;
}

const std::vector<Setting>& PriorSettingsTable() {
  static const auto* const settings = new std::vector<Setting>{
      TextSetting("prior",
                  "the public data to start from: a public dataset's name, or the id of a synthetic release",
                  "", "must be given"),
      ChoiceSetting("support",
                    "which records may get weight: prior, the distinct records of the prior; full, all cells "
                    "of the domain",
                    kSupports),
      ChoiceSetting("measure",
                    "chosen: marginals that are worth measuring according to the prior; given: those of the "
                    "workload",
                    kMeasures),
      RealSetting("threshold", "attributes that share more nats than this in the prior are measured together",
                  0.05, {0, 100}),
      IntegerSetting("clique_cells",
                     "the most cells of attributes that are measured together; 0: from the noise", 0,
                     {0, int64_t{1} << 24}),
      TextSetting(
          "region",
          "attributes, joined by '+', that divide the records into regions, each estimated on its own "
          "first",
          "", "the whole table"),
      TextSetting("group",
                  "attributes, joined by '+', that divide regions into groups, each estimated from its "
                  "region's estimate",
                  "", "no groups"),
      IntegerSetting("roots", "how many nearly independent attributes are measured in each group at most", 5,
                     {1, 1000}),
      IntegerSetting("region_percent", "the regions' share of the budget where there are groups", 50,
                     {1, 99}),
      IntegerSetting("count_percent", "the share of each level's budget that counts its records",
                     absl::StrCat(kCountPercentWithGroups, " with groups, else ", kCountPercent),
                     IntegerRange{1, 99}),
      IntegerSetting("sweeps", "how often all measurements are visited at most", 100, {1, 10'000}),
      ChoiceSetting("answers",
                    "weighed: answers count as far as their noise allows; nearest: they are made a "
                    "distribution, of all nearest ones that nearest to the prior, and met exactly; scaled: "
                    "clipped at zero, scaled, and met exactly",
                    kWeightings),
      RealSetting("trust", "how many records the prior is worth beside weighed answers; 0: as many as it has",
                  0, {0, 1e12}),
      RealSetting("group_trust", "how many records a region's estimate is worth in each of its groups", 100,
                  {0.001, 1e12}),
      IntegerSetting("max_cells", "the most weights that are held, for all groups together, 2 bytes each",
                     kMostPriorWeights, {1, kMostPriorWeights})};
  return *settings;
}

}  // namespace curator::dp
