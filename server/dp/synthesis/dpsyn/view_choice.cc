#include "dp/synthesis/dpsyn/view_choice.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <utility>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/attribute_set.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/dpsyn/covering_design.h"
#include "dp/synthesis/dpsyn/view_table.h"

namespace curator::dp {
namespace {

constexpr double kModelError = 1.0 / 20'000;  // of records^2, for a triple that is not covered
constexpr size_t kMostScored = 150;           // sets of the workload, evenly spread over it
constexpr size_t kMostTriples = 45'000;       // to be covered when asked
constexpr size_t kFewTriples = 5'000;         // to be covered when that is better
constexpr int kRisesToStop = 3;
constexpr int64_t kSearchWhileChoosing = 3'000;
constexpr int64_t kSearchWhenChosen = 60'000;

// A design in terms of the domain's attributes.
struct Candidate {
  int64_t cells = 0;
  int64_t strength = 2;
  std::vector<AttributeSet> views;
  double squared_error = 0;
};

// The targets of a design, with the attributes numbered from 0.
struct Wanted {
  AttributeSet attributes;
  std::vector<int64_t> sizes;
  std::vector<AttributeSet> pairs;    // of the domain's attributes
  std::vector<AttributeSet> triples;  // likewise; empty when there are too many
};

// Whether a view can hold two attributes of the set.
bool HasSmallPair(const ViewQuestion& question, const AttributeSet& set) {
  std::vector<int64_t> sizes = question.domain.SizesOf(set);
  if (sizes.size() < 2) return false;
  std::ranges::nth_element(sizes, sizes.begin() + 1);
  return sizes[1] <= question.max_view_cells / sizes[0];
}

// Too many attributes are refused before their pairs are listed, unless no pair lies within a view.
absl::StatusOr<Wanted> WantedOf(const ViewQuestion& question, Pacer& pacer) {
  Wanted wanted{.attributes = Union(question.workload), .sizes = {}, .pairs = {}, .triples = {}};
  const auto has_small_pair = [&](const AttributeSet& set) { return HasSmallPair(question, set); };
  if (wanted.attributes.size() > kMostDesignAttributes &&
      std::ranges::any_of(question.workload, has_small_pair)) {
    return InvalidField("workload", absl::StrCat("covers ", wanted.attributes.size(), " attributes; at most ",
                                                 kMostDesignAttributes, " can be covered by views"));
  }
  wanted.sizes = question.domain.SizesOf(wanted.attributes);
  ASSIGN_OR_RETURN(wanted.pairs, SubsetsWithin(question.workload, 2, pacer, question.last_step));
  const size_t d = wanted.attributes.size();
  if (d < 3 || d * (d - 1) * (d - 2) / 6 > kMostTriples) return wanted;
  ASSIGN_OR_RETURN(wanted.triples, SubsetsWithin(question.workload, 3, pacer, question.last_step));
  return wanted;
}

// How long a design is searched for.
struct SearchFor {
  int64_t steps = 0;      // of the local search
  int64_t last_step = 0;  // of the pacer
};

// A set of the domain's attributes as one of those that are wanted, numbered from 0.
AttributeSet LocalTo(const Wanted& wanted, const AttributeSet& set) {
  AttributeSet local;
  local.reserve(set.size());
  for (const uint32_t attribute : set)
    local.push_back(static_cast<uint32_t>(*PositionIn(wanted.attributes, attribute)));
  return local;
}

// Blocks that hold every target (LocalTo()), all of which are within the bound; empty when they would be too
// many.
absl::StatusOr<std::vector<AttributeSet>> BlocksFor(const Wanted& wanted, std::vector<AttributeSet> targets,
                                                    int64_t cells, const SearchFor& search, Pacer& pacer) {
  const CoverRequest request{.sizes = wanted.sizes,
                             .targets = std::move(targets),
                             .most_cells = cells,
                             .most_blocks = kMostViews,
                             .search_steps = search.steps,
                             .last_step = search.last_step};
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> blocks, CoveringDesign(request, pacer));
  std::vector<AttributeSet> views;
  for (const AttributeSet& block : blocks) {
    AttributeSet& view = views.emplace_back();
    for (const uint32_t attribute : block) view.push_back(wanted.attributes[attribute]);
  }
  return views;
}

// The design for what lies within the bound, and a view for each larger pair; empty when they are too many.
absl::StatusOr<std::vector<AttributeSet>> DesignFor(const ViewQuestion& question, const Wanted& wanted,
                                                    int64_t strength, int64_t cells, const SearchFor& search,
                                                    Pacer& pacer) {
  std::vector<AttributeSet> views;
  if (strength == 3) {
    std::vector<AttributeSet> targets;
    for (const AttributeSet& triple : wanted.triples) {
      if (CellsOf(question.domain, triple) <= cells) targets.push_back(LocalTo(wanted, triple));
    }
    ASSIGN_OR_RETURN(views, BlocksFor(wanted, std::move(targets), cells, search, pacer));
    if (views.empty()) return views;
  }
  std::vector<AttributeSet> targets;
  std::vector<AttributeSet> large;
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> covered, SubsetsWithin(views, 2, pacer, search.last_step));
  for (const AttributeSet& pair : wanted.pairs) {
    if (std::ranges::binary_search(covered, pair)) continue;
    const int64_t size = CellsOf(question.domain, pair);
    if (size <= cells) {
      targets.push_back(LocalTo(wanted, pair));
    } else if (size <= question.max_view_cells) {
      large.push_back(pair);
    }
  }
  const bool has_targets = !targets.empty();
  ASSIGN_OR_RETURN(const std::vector<AttributeSet> blocks,
                   BlocksFor(wanted, std::move(targets), cells, search, pacer));
  if (blocks.empty() && has_targets) return blocks;
  views.insert(views.end(), blocks.begin(), blocks.end());
  views.insert(views.end(), large.begin(), large.end());
  if (views.size() > kMostViews) return std::vector<AttributeSet>();
  std::ranges::sort(views);
  return views;
}

class Forecast {
 public:
  Forecast(const ViewQuestion& question, const std::vector<AttributeSet>& views, int64_t last_step,
           Pacer& pacer)
      : question_(question), views_(views), last_step_(last_step), pacer_(pacer) {
    std::vector<int64_t> cells;
    for (const AttributeSet& view : views) cells.push_back(CellsOf(question.domain, view));
    const std::vector<double> shares = BudgetShares(cells, question.split, question.budget.pure);
    for (size_t i = 0; i < views.size(); ++i)
      errors_.push_back(static_cast<double>(cells[i]) * NoiseVariance(question.budget, shares[i]));
  }

  absl::StatusOr<double> OfWorkload() {
    const size_t step = std::max<size_t>(1, question_.workload.size() / kMostScored);
    double sum = 0;
    double number = 0;
    for (size_t i = 0; i < question_.workload.size(); i += step, ++number) {
      ASSIGN_OR_RETURN(const double error, Of(question_.workload[i]));
      sum += error;
    }
    return sum / number;
  }

  // By the views that hold all of `set`; none: nothing.
  absl::StatusOr<std::optional<double>> Covered(const AttributeSet& set) {
    constexpr int64_t kStepsToFind = 16;
    constexpr int64_t kStepsToKeep = 128;
    RETURN_IF_ERROR(AdvanceTo(last_step_, kStepsToFind, pacer_));
    const auto [entry, fresh] = known_.emplace(set, std::nullopt);
    if (!fresh) return entry->second;
    RETURN_IF_ERROR(AdvanceTo(last_step_, kStepsToKeep + std::ssize(views_), pacer_));
    double weights = 0;
    for (size_t i = 0; i < views_.size(); ++i) {
      if (IsSubset(set, views_[i])) weights += 1 / errors_[i];
    }
    if (weights > 0) entry->second = 1 / weights;
    return entry->second;
  }

 private:
  absl::StatusOr<double> Of(const AttributeSet& set) {
    ASSIGN_OR_RETURN(const std::optional<double> whole, Covered(set));
    if (whole) return *whole;
    double noise = 0;
    double triples = 0;
    double missed = 0;
    for (size_t i = 0; i < set.size(); ++i) {
      for (size_t j = i + 1; j < set.size(); ++j) {
        ASSIGN_OR_RETURN(const std::optional<double> pair, Covered({set[i], set[j]}));
        noise = std::max(noise, pair.value_or(0));
        for (size_t k = j + 1; k < set.size(); ++k, ++triples) {
          ASSIGN_OR_RETURN(const std::optional<double> triple, Covered({set[i], set[j], set[k]}));
          missed += triple ? 0 : 1;
        }
      }
    }
    const double share = triples == 0 ? 0 : missed / triples;
    return noise + share * kModelError * question_.records * question_.records;
  }

  const ViewQuestion& question_;
  const std::vector<AttributeSet>& views_;
  const int64_t last_step_;
  Pacer& pacer_;
  std::vector<double> errors_;  // of each view, the sum over its cells
  std::map<AttributeSet, std::optional<double>> known_;
};

std::vector<int64_t> BoundsToTry(const ViewQuestion& question, int64_t strength) {
  if (question.cells) return {*question.cells};
  std::vector<int64_t> bounds;
  for (int64_t cells = strength == 2 ? 4 : 16; cells <= question.max_view_cells; cells *= 2)
    bounds.push_back(cells);
  return bounds;
}

std::string Describe(const Candidate& candidate) {
  return absl::StrCat(candidate.views.size(), " views of at most ", candidate.cells, " cells for every ",
                      candidate.strength == 2 ? "pair" : "triple", ", expected squared error ",
                      candidate.squared_error);
}

absl::Status CheckEach(const Domain& domain, const AttributeSet& view, int64_t max_view_cells) {
  if (std::ranges::adjacent_find(view) != view.end())
    return InvalidField("settings.views", "names an attribute twice in one view");
  const int64_t cells = CellsOf(domain, view);
  if (cells > max_view_cells) {
    return InvalidField("settings.views", absl::StrCat("has a view of ", NamesOf(domain, view), " with ",
                                                       cells, " cells; a view has at most ", max_view_cells));
  }
  return absl::OkStatus();
}

absl::StatusOr<uint32_t> ReadAttribute(const Domain& domain, std::string_view name) {
  if (name.starts_with('#')) {
    uint32_t index = 0;
    if (!absl::SimpleAtoi(std::string(name.substr(1)), &index) || index >= domain.size())
      return InvalidField("settings.views", absl::StrCat("has no attribute ", std::string(name)));
    return index;
  }
  const absl::StatusOr<uint32_t> index = domain.IndexOf(name);
  if (!index.ok()) return InvalidField("settings.views", std::string(index.status().message()));
  return index;
}

}  // namespace

absl::StatusOr<ViewChoice> ChooseViews(const ViewQuestion& question, Pacer& pacer) {
  const int64_t last_step = question.last_step;
  ASSIGN_OR_RETURN(const Wanted wanted, WantedOf(question, pacer));
  ViewChoice choice;
  for (const AttributeSet& pair : wanted.pairs) {
    if (CellsOf(question.domain, pair) > question.max_view_cells) choice.uncovered.push_back(pair);
  }
  choice.cells = question.cells.value_or(1);
  if (choice.uncovered.size() == wanted.pairs.size()) return choice;
  std::optional<Candidate> best;
  for (const int64_t strength : {2, 3}) {
    if (question.strength.value_or(strength) != strength) continue;
    if (strength == 3 &&
        (wanted.triples.empty() || (!question.strength && wanted.triples.size() > kFewTriples)))
      continue;
    size_t views_before = 0;
    double least = 0;
    int rises = 0;
    for (const int64_t cells : BoundsToTry(question, strength)) {
      Candidate candidate{.cells = cells, .strength = strength, .views = {}};
      RETURN_IF_ERROR(pacer.Check());
      ASSIGN_OR_RETURN(candidate.views, DesignFor(question, wanted, strength, cells,
                                                  {kSearchWhileChoosing, last_step}, pacer));
      if (candidate.views.empty() || candidate.views.size() == views_before) continue;
      views_before = candidate.views.size();
      ASSIGN_OR_RETURN(candidate.squared_error,
                       Forecast(question, candidate.views, last_step, pacer).OfWorkload());
      choice.considered.push_back(Describe(candidate));
      rises = least > 0 && candidate.squared_error > least ? rises + 1 : 0;
      least = least > 0 ? std::min(least, candidate.squared_error) : candidate.squared_error;
      if (!best || candidate.squared_error < best->squared_error) best = std::move(candidate);
      if (rises == kRisesToStop) break;
    }
  }
  if (!best) {
    return InvalidField(question.cells ? "settings.cells" : "workload",
                        absl::StrCat("would need more than ", kMostViews, " views"));
  }
  ASSIGN_OR_RETURN(
      const std::vector<AttributeSet> refined,
      DesignFor(question, wanted, best->strength, best->cells, {kSearchWhenChosen, last_step}, pacer));
  choice.views = refined.size() < best->views.size() ? refined : best->views;
  choice.cells = best->cells;
  choice.strength = best->strength;
  ASSIGN_OR_RETURN(choice.squared_error, Forecast(question, choice.views, last_step, pacer).OfWorkload());
  return choice;
}

absl::StatusOr<double> PairNoise(const ViewQuestion& question, const std::vector<AttributeSet>& pairs,
                                 const std::vector<AttributeSet>& views, Pacer& pacer) {
  Forecast forecast(question, views, question.last_step, pacer);
  const size_t step = std::max<size_t>(1, pairs.size() / kMostScored);
  double sum = 0;
  double number = 0;
  for (size_t i = 0; i < pairs.size(); i += step) {
    ASSIGN_OR_RETURN(const std::optional<double> squares, forecast.Covered(pairs[i]));
    if (!squares) continue;
    const int64_t cells = CellsOf(question.domain, pairs[i]);
    sum += std::min(1.0, NoiseShare(cells, *squares / static_cast<double>(cells), question.records));
    ++number;
  }
  return number > 0 ? sum / number : 0;
}

double NoiseShare(int64_t cells, double variance, double records) {
  constexpr double kMeanOverDeviation = 0.7978845608028654;  // sqrt(2 / pi)
  return kMeanOverDeviation * static_cast<double>(cells) * std::sqrt(variance) / records;
}

absl::StatusOr<std::vector<AttributeSet>> ReadViews(const Domain& domain, std::string_view text,
                                                    int64_t max_view_cells) {
  std::set<AttributeSet> views;
  for (const auto& part : absl::StrSplit(std::string(text), ';', absl::SkipWhitespace())) {
    AttributeSet view;
    for (const auto& piece : absl::StrSplit(part, ',')) {
      const std::string name(absl::StripAsciiWhitespace(piece));
      ASSIGN_OR_RETURN(const uint32_t attribute, ReadAttribute(domain, name));
      view.push_back(attribute);
    }
    std::ranges::sort(view);
    RETURN_IF_ERROR(CheckEach(domain, view, max_view_cells));
    views.insert(std::move(view));
  }
  if (views.empty())
    return InvalidField("settings.views",
                        "is \"design\", \"selected\", \"singles\", or views such as \"age,sex;sex,income\"");
  if (views.size() > kMostViews)
    return InvalidField("settings.views", absl::StrCat("lists ", views.size(), " views; at most ", kMostViews,
                                                       " are measured"));
  return std::vector<AttributeSet>(views.begin(), views.end());
}

std::vector<double> BudgetShares(std::span<const int64_t> cells, BudgetSplit split, bool pure) {
  std::vector<double> shares;
  for (const int64_t each : cells) {
    double weight = 1;
    if (split == BudgetSplit::kSquaredError) {
      // Of the power of four below the number of cells: the cube root of a pure budget, else the square root.
      constexpr double kCubeRoots[] = {1, 1.5874010519681994, 2.5198420997897464};  // of 1, 4, 16
      int power = 0;
      while (power < 30 && int64_t{4} << 2 * power <= each) ++power;
      weight = pure ? std::ldexp(kCubeRoots[power % 3], 2 * (power / 3)) : std::ldexp(1.0, power);
    }
    shares.push_back(weight);
  }
  const double sum = std::accumulate(shares.begin(), shares.end(), 0.0);
  for (double& share : shares) share /= sum;
  return shares;
}

double NoiseVariance(const ViewBudget& budget, double share) {
  if (!budget.pure) return budget.squared_l2_sensitivity / (2 * budget.amount * share);
  const double scale = budget.l1_sensitivity / (budget.amount * share);
  return 2 * scale * scale;
}

int64_t CellsOf(const Domain& domain, const AttributeSet& set) {
  return domain.CellCount(set).value_or(int64_t{1} << 62);
}

}  // namespace curator::dp
