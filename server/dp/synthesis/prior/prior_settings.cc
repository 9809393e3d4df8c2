#include "dp/synthesis/prior/prior_settings.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/synthesis/settings_reader.h"

namespace curator::dp {
namespace {

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
  SettingsReader reader(input.settings);
  PriorSettings settings;
  reader.Text("prior");
  ASSIGN_OR_RETURN(settings.region, NamedAttributes(input.domain, "region", reader.Text("region")));
  ASSIGN_OR_RETURN(settings.group, NamedAttributes(input.domain, "group", reader.Text("group")));
  if (settings.group.empty() && !settings.region.empty())
    return InvalidField("settings.group", "regions are made of groups: say which attributes make a group");
  const absl::StatusOr<std::string> support = reader.Choice("support", {"prior", "full"});
  RETURN_IF_ERROR(support.status());
  settings.support = *support == "full" ? PriorSupport::kFullDomain : PriorSupport::kPrior;
  const absl::StatusOr<std::string> measure = reader.Choice("measure", {"chosen", "given"});
  RETURN_IF_ERROR(measure.status());
  settings.measure = *measure == "given" ? MeasuredSets::kGiven : MeasuredSets::kChosen;
  ASSIGN_OR_RETURN(settings.threshold, reader.Real("threshold", 0.05, 0, 100));
  ASSIGN_OR_RETURN(settings.clique_cells, reader.Integer("clique_cells", 0, 0, int64_t{1} << 24));
  ASSIGN_OR_RETURN(settings.roots, reader.Integer("roots", 5, 1, 1000));
  ASSIGN_OR_RETURN(settings.region_percent, reader.Integer("region_percent", 50, 1, 99));
  ASSIGN_OR_RETURN(settings.count_percent,
                   reader.Integer("count_percent", settings.group.empty() ? 10 : 50, 1, 99));
  ASSIGN_OR_RETURN(settings.estimation.most_sweeps, reader.Integer("sweeps", 100, 1, 10'000));
  const absl::StatusOr<std::string> heed = reader.Choice("answers", {"weighed", "nearest", "scaled"});
  RETURN_IF_ERROR(heed.status());
  settings.heed = *heed == "weighed" ? Heed::kWeighed : Heed::kExactly;
  settings.estimation.projection = *heed == "scaled" ? Projection::kScale : Projection::kNearest;
  ASSIGN_OR_RETURN(settings.trust, reader.Real("trust", 0, 0, 1e12));
  ASSIGN_OR_RETURN(settings.group_trust, reader.Real("group_trust", 100, 0.001, 1e12));
  ASSIGN_OR_RETURN(settings.max_cells, reader.Integer("max_cells", kMostPriorWeights, 1, kMostPriorWeights));
  RETURN_IF_ERROR(reader.Finish());
  settings.used = reader.used();
  return settings;
}

const std::vector<Setting>& PriorSettingsForPeople() {
  static const auto* const settings = new std::vector<Setting>{
      {"prior", "the public data to start from: a public dataset's name, or the id of a synthetic release",
       "must be given"},
      {"support",
       "which records may get weight: prior, the distinct records of the prior; full, all cells of the "
       "domain",
       "prior"},
      {"measure",
       "chosen: marginals that the prior says are worth it; given: those that the workload is over",
       "chosen"},
      {"threshold", "attributes that share more than so many nats in the prior are measured together",
       "0.05"},
      {"clique_cells", "the most cells of attributes that are measured together; 0: from the noise", "0"},
      {"region",
       "attributes, joined by '+', that divide the records into regions, each estimated on its own first",
       "the whole table"},
      {"group",
       "attributes, joined by '+', that divide regions into groups, each estimated from its region's "
       "estimate",
       "no groups"},
      {"roots", "how many nearly independent attributes are measured in each group at most", "5"},
      {"region_percent", "the regions' share of the budget where there are groups, 1 to 99", "50"},
      {"count_percent", "the share of each level's budget that counts its records, 1 to 99",
       "50 with groups, else 10"},
      {"sweeps", "how often all measurements are visited at most", "100"},
      {"answers",
       "weighed: heeded as far as their noise allows; nearest: made a distribution, of all nearest ones that "
       "nearest to the prior, and heeded whole; scaled: clipped at zero, scaled, and heeded whole",
       "weighed"},
      {"trust", "how many records the prior is worth beside weighed answers; 0: as many as it has", "0"},
      {"group_trust", "how many records a region's estimate is worth in each of its groups", "100"},
      {"max_cells", "the most weights that are held, for all groups together, 2 bytes each",
       absl::StrCat(kMostPriorWeights)}};
  return *settings;
}

}  // namespace curator::dp
