#include "service/workloads/free_answers.h"

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <span>
#include <tuple>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "codec/release_codec.h"
#include "dp/domain/attribute_set.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/answer_reader.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/residual/parity_reader.h"
#include "dp/workload/residual/residual_errors.h"
#include "dp/workload/sum_out.h"

namespace curator::service {
namespace {

// One way to answer one set. Its sources are positions among the stored measurements or, after those, among
// the gathered ones.
struct CandidatePlan {
  dp::SetPlan plan;
  double mean_variance = 0;  // in units of the noise's
};

// Where each box of some measured group is.
class BoxIndex {
 public:
  BoxIndex(const dp::Boxes& boxes, size_t sides) : boxes_(boxes), sides_(sides) {
    places_.resize(boxes.sides.size() / sides);
    std::iota(places_.begin(), places_.end(), 0U);
    std::ranges::stable_sort(places_, [this](uint32_t a, uint32_t b) { return IsBefore(At(a), At(b)); });
  }

  std::optional<size_t> Find(std::span<const dp::CodeInterval> box) const {
    const auto found =
        std::ranges::lower_bound(places_, box, IsBefore, [this](uint32_t place) { return At(place); });
    if (found == places_.end() || IsBefore(box, At(*found))) return std::nullopt;
    return *found;
  }

 private:
  using Box = std::span<const dp::CodeInterval>;
  Box At(uint32_t place) const { return Box(boxes_.sides).subspan(place * sides_, sides_); }
  static bool IsBefore(Box a, Box b) {
    return std::ranges::lexicographical_compare(
        a, b, [](const dp::CodeInterval& x, const dp::CodeInterval& y) {
          return std::tie(x.first, x.last) < std::tie(y.first, y.last);
        });
  }

  const dp::Boxes& boxes_;
  const size_t sides_;
  std::vector<uint32_t> places_;  // sorted by their boxes
};

double MeanVariance(const dp::Domain& domain, const dp::QuerySet& set, const dp::SetPlan& plan,
                    dp::MeasuredErrors& measured) {
  double sum = 0;
  double answers = 0;
  for (size_t i = 0; i < set.groups.size(); ++i) {
    const auto errors = measured.Of(set.groups[i], plan, plan.sources[i]);
    const auto count = static_cast<double>(dp::NumberOfQueries(domain, set.groups[i]));
    for (const dp::AnswerError& error : errors)
      sum += error.variance_factor * count / static_cast<double>(errors.size());
    answers += count;
  }
  return sum / answers;
}

// The measurements of one release, and the ways in which they answer query sets.
class StoredMeasurements {
 public:
  StoredMeasurements(const dp::Domain& domain, const dp::WorkloadRelease& release, SearchEffort& effort)
      : domain_(domain),
        release_(release),
        effort_(effort),
        measured_(release.measured),
        values_(release.values) {
    for (size_t i = 0; i < release.measured.size(); ++i) {
      const dp::QueryGroup& group = release.measured[i];
      of_attributes_[group.attributes].push_back(i);
      sizes_.push_back(SizeOf(group));
      if (!std::holds_alternative<dp::EveryCell>(group.queries)) continue;
      for (const uint32_t attribute : group.attributes) marginals_over_[attribute].push_back(i);
    }
    for (size_t i = 0; i < release.plans.size(); ++i) {
      if (release.plans[i].strategy != dp::Strategy::kTree) continue;
      for (const size_t source : release.plans[i].sources) trees_[source] = release.plans[i].branching;
    }
  }

  std::optional<dp::SetPlan> Answer(const dp::QuerySet& set) {
    std::vector<CandidatePlan> ways;
    for (const std::optional<dp::SetPlan>& plan : {Direct(set), FromMarginals(set), FromTree(set)}) {
      if (!plan) continue;
      dp::MeasuredErrors measured(domain_, measured_);
      ways.push_back({*plan, MeanVariance(domain_, set, *plan, measured)});
    }
    if (ways.empty()) return std::nullopt;
    return std::ranges::min_element(ways, {}, &CandidatePlan::mean_variance)->plan;
  }

  dp::WorkloadRelease With(const std::vector<dp::AskedSet>& asked, std::vector<dp::SetPlan> plans) && {
    return {.asked = asked,
            .plans = std::move(plans),
            .measured = std::move(measured_),
            .noise = release_.noise,
            .values = std::move(values_),
            .event = {}};
  }

 private:
  // Each query was measured itself, all of a group's in one group.
  std::optional<dp::SetPlan> Direct(const dp::QuerySet& set) {
    dp::SetPlan plan{.strategy = dp::Strategy::kDirect, .branching = 0, .sources = {}};
    for (const dp::QueryGroup& group : set.groups) {
      const std::optional<size_t> source = MeasuredItself(group);
      if (!source) return std::nullopt;
      plan.sources.push_back(*source);
    }
    return plan;
  }

  std::optional<size_t> MeasuredItself(const dp::QueryGroup& group) {
    const auto candidates = of_attributes_.find(group.attributes);
    if (candidates == of_attributes_.end()) return std::nullopt;
    const size_t size = SizeOf(group);
    for (const size_t i : candidates->second) {
      if (!effort_.Take(sizes_[i] == size ? size : 1)) return std::nullopt;
      if (release_.measured[i] == group) return i;
    }
    for (const size_t i : candidates->second) {
      std::optional<std::vector<int64_t>> values = Gathered(group, i);
      if (!values) continue;
      measured_.push_back(group);
      values_.push_back(*std::move(values));
      return measured_.size() - 1;
    }
    return std::nullopt;
  }

  // The values of the boxes of `group`, if each is one of the measured group `from`.
  std::optional<std::vector<int64_t>> Gathered(const dp::QueryGroup& group, size_t from) {
    constexpr size_t kStepsOfABox = 16;
    const auto* wanted = std::get_if<dp::Boxes>(&group.queries);
    const auto* boxes = std::get_if<dp::Boxes>(&release_.measured[from].queries);
    if (wanted == nullptr || boxes == nullptr) return std::nullopt;
    const size_t sides = group.attributes.size();
    auto index = boxes_.find(from);
    if (index == boxes_.end()) {
      if (!effort_.Take(kStepsOfABox * boxes->sides.size())) return std::nullopt;
      index = boxes_.try_emplace(from, *boxes, sides).first;
    }
    std::vector<int64_t> gathered;
    for (size_t at = 0; at < wanted->sides.size(); at += sides) {
      if (!effort_.Take(kStepsOfABox)) return std::nullopt;
      const std::optional<size_t> found = index->second.Find(std::span(wanted->sides).subspan(at, sides));
      if (!found) return std::nullopt;
      gathered.push_back(release_.values[from][*found]);
    }
    return gathered;
  }

  // The smallest measured marginal around each group.
  std::optional<dp::SetPlan> FromMarginals(const dp::QuerySet& set) {
    dp::SetPlan plan{.strategy = dp::Strategy::kBaseHistogram, .branching = 0, .sources = {}};
    for (const dp::QueryGroup& group : set.groups) {
      const std::optional<size_t> smallest = SmallestMarginalAround(group);
      // Its cells are summed up for each group.
      if (!smallest || !effort_.Take(SizeOf(group) + release_.values[*smallest].size())) return std::nullopt;
      plan.sources.push_back(*smallest);
    }
    return plan;
  }

  std::optional<size_t> SmallestMarginalAround(const dp::QueryGroup& group) {
    if (const auto same = of_attributes_.find(group.attributes); same != of_attributes_.end()) {
      for (const size_t i : same->second) {
        if (!effort_.Take(1)) return std::nullopt;
        if (std::holds_alternative<dp::EveryCell>(release_.measured[i].queries)) return i;
      }
    }
    const std::vector<size_t>* candidates = nullptr;
    for (const uint32_t attribute : group.attributes) {
      const std::vector<size_t>& over = marginals_over_[attribute];
      if (candidates == nullptr || over.size() < candidates->size()) candidates = &over;
    }
    std::optional<size_t> smallest;
    if (candidates == nullptr || !effort_.Take(candidates->size())) return smallest;
    for (const size_t i : *candidates) {
      if (!dp::IsSubset(group.attributes, release_.measured[i].attributes)) continue;
      if (!smallest || release_.values[i].size() < release_.values[*smallest].size()) smallest = i;
    }
    return smallest;
  }

  std::optional<dp::SetPlan> FromTree(const dp::QuerySet& set) {
    for (const auto& [source, branching] : trees_) {
      const dp::AttributeSet& attributes = release_.measured[source].attributes;
      const bool holds_all = std::ranges::all_of(set.groups, [&](const dp::QueryGroup& group) {
        return group.attributes == attributes && std::holds_alternative<dp::Boxes>(group.queries);
      });
      if (holds_all) {
        // A tree is estimated for each group, where others lie between them.
        for (const dp::QueryGroup& group : set.groups) {
          if (!effort_.Take(SizeOf(group) + kStepsOfANode * release_.values[source].size()))
            return std::nullopt;
        }
        return dp::SetPlan{.strategy = dp::Strategy::kTree,
                           .branching = branching,
                           .sources = std::vector<size_t>(set.groups.size(), source)};
      }
    }
    return std::nullopt;
  }

  static constexpr size_t kStepsOfANode = 8;

  // In numbers that are compared, or answered.
  static size_t SizeOf(const dp::QueryGroup& group) {
    if (const auto* boxes = std::get_if<dp::Boxes>(&group.queries)) return boxes->sides.size();
    size_t size = 1;
    if (const auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&group.queries)) {
      for (const dp::LinearQuery& query : *queries) size += query.size();
    }
    return size;
  }

  const dp::Domain& domain_;
  const dp::WorkloadRelease& release_;
  SearchEffort& effort_;
  std::map<dp::AttributeSet, std::vector<size_t>> of_attributes_;  // which measured groups are over these
  std::map<uint32_t, std::vector<size_t>> marginals_over_;         // which whole marginals hold an attribute
  std::map<size_t, BoxIndex> boxes_;                               // of measured groups
  std::vector<size_t> sizes_;                                      // of the measured groups
  std::vector<dp::QueryGroup> measured_;                           // then those gathered from several of them
  std::vector<std::vector<int64_t>> values_;
  std::map<size_t, int64_t> trees_;  // which of them are trees, and their branches
};

// Whether a charge paid for access to exactly the records of `scope`, by its postings to accounts of parts.
bool IsOfScope(const ledger::Charge& charge, const ledger::Dataset& dataset, const RequestScope& scope) {
  std::set<int64_t> paid;
  std::set<int64_t> wanted;
  for (const ledger::Part& part : dataset.parts) {
    for (const ledger::Posting& posting : charge.postings) {
      if (posting.account_id == part.account_id) paid.insert(part.account_id);
    }
  }
  for (const ledger::Part& part : scope.parts) wanted.insert(part.account_id);
  return paid == wanted;
}

// The measure of releases about these parts that measured a set of attributes.
ledger::Measure MeasureOf(const std::vector<int64_t>& parts, const dp::AttributeSet& attributes) {
  constexpr size_t kMeasureBytes = 16;
  CanonicalWriter writer("curator.measure", 1);
  writer.Integer(static_cast<int64_t>(parts.size()));
  for (const int64_t part : parts) writer.Integer(part);
  writer.Integer(static_cast<int64_t>(attributes.size()));
  for (const uint32_t attribute : attributes) writer.Integer(attribute);
  return Sha256(std::move(writer).Take()).substr(0, kMeasureBytes);
}

// The attributes by which a release of statistics is found: those of its first set.
dp::AttributeSet AttributesOf(const dp::AskedStatistics& asked) {
  dp::AttributeSet attributes;
  std::ranges::set_union(asked.by, asked.where, std::back_inserter(attributes));
  return attributes;
}

// A release that answers everything asked has measured the attributes of the largest group, or more: then
// also each of them.
std::vector<ledger::Measure> MeasuresFor(const std::vector<int64_t>& parts,
                                         const std::vector<dp::AskedSet>& asked) {
  const dp::AttributeSet* largest = nullptr;
  for (const dp::AskedSet& set : asked) {
    for (const dp::QueryGroup& group : set.queries.groups) {
      if (largest == nullptr || group.attributes.size() > largest->size()) largest = &group.attributes;
    }
  }
  std::vector<ledger::Measure> measures = {std::string(ledger::kUnknownMeasure)};
  if (dp::AreStatistics(asked)) measures.push_back(MeasureOf(parts, AttributesOf(*asked.front().statistics)));
  if (largest == nullptr) return measures;
  measures.push_back(MeasureOf(parts, *largest));
  if (largest->size() > 1) measures.push_back(MeasureOf(parts, {largest->front()}));
  return measures;
}

// Of the same statistics, what has the less noise in its draws is the better answer.
double NoiseOf(const dp::StatisticsRelease& statistics) {
  double noise = 0;
  for (size_t i = 0; i < statistics.draws.size(); ++i) {
    const dp::BoughtDraw& bought = statistics.bought[i];
    noise += std::holds_alternative<dp::QuantileDraw>(statistics.draws[i].what)
                 ? static_cast<double>(dp::kEpsilonUnitsPerOne) / static_cast<double>(bought.epsilon.units())
                 : dp::ForecastError(bought.noise).standard_deviation;
  }
  return noise;
}

// The largest mean variance of a set's answers.
double ResidualVariance(const dp::Domain& domain, const dp::WorkloadRelease& answer) {
  const absl::StatusOr<dp::ResidualErrors> errors = dp::ResidualErrors::Create(domain, *answer.residual);
  double worst = 0;
  for (const dp::AskedSet& set : answer.asked) {
    double sum = 0;
    double answers = 0;
    for (const dp::QueryGroup& group : set.queries.groups) {
      const auto count = static_cast<double>(dp::NumberOfQueries(domain, group));
      sum += count * errors->MeanVarianceOf(group);
      answers += count;
    }
    worst = std::max(worst, sum / answers);
  }
  return worst;
}

double VarianceOf(const dp::Domain& domain, const dp::WorkloadRelease& answer) {
  if (dp::AreStatistics(answer.asked)) return NoiseOf(answer.statistics);
  if (answer.residual) return ResidualVariance(domain, answer);
  double worst = 0;
  const double own = dp::ForecastError(answer.noise).standard_deviation;
  dp::MeasuredErrors measured(domain, answer.measured);
  for (size_t i = 0; i < answer.asked.size(); ++i) {
    const double variance = MeanVariance(domain, answer.asked[i].queries, answer.plans[i], measured);
    worst = std::max(worst, own * own * variance);
  }
  return worst;
}

// Sets of statistics that were asked in the same way, each with the draws that were made for it.
std::optional<dp::WorkloadRelease> StatisticsAnsweredBy(const dp::WorkloadRelease& stored,
                                                        const std::vector<dp::AskedSet>& asked,
                                                        SearchEffort& effort) {
  dp::WorkloadRelease answer;
  answer.asked = asked;
  for (size_t set = 0; set < asked.size(); ++set) {
    const auto same = std::ranges::find_if(stored.asked, [&](const dp::AskedSet& each) {
      return effort.Take(each.statistics ? 1 + each.statistics->cells.size() : 1) &&
             each.statistics == asked[set].statistics;
    });
    if (same == stored.asked.end()) return std::nullopt;
    const auto position = static_cast<size_t>(same - stored.asked.begin());
    for (size_t i = 0; i < stored.statistics.draws.size(); ++i) {
      if (stored.statistics.draws[i].set != position) continue;
      if (!effort.Take(stored.statistics.values[i].size())) return std::nullopt;
      dp::StatisticsDraw& draw = answer.statistics.draws.emplace_back(stored.statistics.draws[i]);
      draw.set = set;
      answer.statistics.bought.push_back(stored.statistics.bought[i]);
      answer.statistics.values.push_back(stored.statistics.values[i]);
    }
  }
  return answer;
}

// Groups of which all subsets were measured.
std::optional<dp::WorkloadRelease> ResidualsAnsweredBy(const dp::Domain& domain,
                                                       const dp::WorkloadRelease& stored,
                                                       const std::vector<dp::AskedSet>& asked,
                                                       SearchEffort& effort) {
  constexpr size_t kStepsOfAGroup = 16;
  if (!effort.Take(kStepsOfAGroup * stored.values.size())) return std::nullopt;
  const absl::StatusOr<dp::ResidualErrors> errors = dp::ResidualErrors::Create(domain, *stored.residual);
  if (!errors.ok()) return std::nullopt;
  for (const dp::AskedSet& set : asked) {
    for (const dp::QueryGroup& group : set.queries.groups) {
      if (!effort.Take(kStepsOfAGroup) || !errors->CanRead(group)) return std::nullopt;
    }
  }
  if (!effort.Take(static_cast<size_t>(dp::ResidualReadingSteps(domain, asked, stored.residual->queries))))
    return std::nullopt;
  return dp::WorkloadRelease{
      .asked = asked,
      .plans = std::vector<dp::SetPlan>(asked.size(), {.strategy = dp::Strategy::kResidual}),
      .measured = {},
      .noise = stored.noise,
      .values = stored.values,
      .residual = stored.residual};
}

// Groups whose attributes' parities were measured.
std::optional<dp::WorkloadRelease> ParitiesAnsweredBy(const dp::Domain& domain,
                                                      const dp::WorkloadRelease& stored,
                                                      const std::vector<dp::AskedSet>& asked,
                                                      SearchEffort& effort) {
  constexpr size_t kStepsOfAGroup = 16;
  if (!effort.Take(kStepsOfAGroup * stored.values.size())) return std::nullopt;
  std::optional<dp::ParityReader> parities = dp::ParityReader::Create(stored.measured);
  if (!parities) return std::nullopt;
  std::vector<dp::SetPlan> plans;
  for (const dp::AskedSet& set : asked) {
    dp::SetPlan& plan = plans.emplace_back(dp::SetPlan{.strategy = dp::Strategy::kParity});
    for (const dp::QueryGroup& group : set.queries.groups) {
      const auto cells = static_cast<size_t>(domain.CellCount(group.attributes).value_or(0));
      const auto answers = static_cast<size_t>(dp::NumberOfQueries(domain, group));
      if (!effort.Take(kStepsOfAGroup) || !parities->CanRead(group) || !effort.Take(cells * (1 + answers)))
        return std::nullopt;
      plan.sources.push_back(parities->PositionOf(group.attributes));
    }
  }
  return dp::WorkloadRelease{.asked = asked,
                             .plans = std::move(plans),
                             .measured = stored.measured,
                             .noise = stored.noise,
                             .values = stored.values,
                             .event = {}};
}

}  // namespace

std::optional<dp::WorkloadRelease> AnsweredBy(const dp::Domain& domain, const dp::WorkloadRelease& stored,
                                              const std::vector<dp::AskedSet>& asked, SearchEffort& effort) {
  if (dp::AreStatistics(asked)) return StatisticsAnsweredBy(stored, asked, effort);
  if (dp::AreStatistics(stored.asked)) return std::nullopt;
  if (stored.residual) return ResidualsAnsweredBy(domain, stored, asked, effort);
  if (dp::AreByParity(stored.plans)) return ParitiesAnsweredBy(domain, stored, asked, effort);
  StoredMeasurements numbers(domain, stored, effort);
  std::vector<dp::SetPlan> plans;
  for (const dp::AskedSet& set : asked) {
    std::optional<dp::SetPlan> plan = numbers.Answer(set.queries);
    if (!plan) return std::nullopt;
    plans.push_back(*std::move(plan));
  }
  return std::move(numbers).With(asked, std::move(plans));
}

std::vector<ledger::Measure> MeasuresOf(const std::vector<int64_t>& parts,
                                        const dp::WorkloadRelease& release) {
  // Of the sets themselves, and of their single attributes, by which questions about smaller sets find them.
  constexpr size_t kMostSets = 256;
  std::set<dp::AttributeSet> sets;
  for (const dp::QueryGroup& group : release.measured) {
    if (dp::AreByParity(release.plans) || sets.size() == kMostSets) break;
    sets.insert(group.attributes);
  }
  // Of residuals and parities, the sets that were asked; their subsets are found by their attributes.
  for (const dp::AskedSet& asked : release.asked) {
    for (const dp::QueryGroup& group : asked.queries.groups) {
      const bool is_joint = release.residual || dp::AreByParity(release.plans);
      if (!is_joint || sets.size() == kMostSets) break;
      sets.insert(group.attributes);
    }
  }
  for (const dp::AskedSet& asked : release.asked) {
    if (sets.size() == kMostSets) break;
    if (asked.statistics) sets.insert(AttributesOf(*asked.statistics));
  }
  std::set<dp::AttributeSet> found_by = sets;
  found_by.insert(dp::AttributeSet());
  for (const dp::AttributeSet& set : sets) {
    for (const uint32_t attribute : set) {
      if (found_by.size() < 2 * kMostSets) found_by.insert({attribute});
    }
  }
  std::vector<ledger::Measure> measures;
  for (const dp::AttributeSet& set : found_by) measures.push_back(MeasureOf(parts, set));
  return measures;
}

namespace {

// What reading one release takes beside the best answer so far.
int64_t BytesToRead(int64_t stored_bytes) {
  return dp::StoredAnswerBytes(stored_bytes) + stored_bytes;
}

// What the cells of these conditions take in the best answer.
int64_t BytesOfConditions(const std::vector<dp::AskedSet>& asked) {
  int64_t cells = 0;
  for (const dp::AskedSet& set : asked) cells += set.statistics ? std::ssize(set.statistics->cells) : 0;
  return dp::ConditionBytes(cells);
}

using Stored = StoredAnswers::Stored;
using Candidates = std::vector<std::shared_ptr<const Stored>>;

// The principal as whose releases they are found; empty: all releases are.
std::string_view ReaderOf(const DatasetView& dataset, const Principal& principal) {
  return dataset.record.owner == principal.name() ? std::string_view() : principal.name();
}

// None unless all of them are kept.
std::optional<Candidates> KeptCandidates(Services& services, const DatasetView& dataset,
                                         const Principal& principal, const std::vector<int64_t>& numbers) {
  Candidates kept;
  for (const int64_t number : numbers) {
    kept.push_back(services.stored.Find(principal, dataset.record.id, number));
    if (kept.back() == nullptr) return std::nullopt;
  }
  return kept;
}

absl::StatusOr<Candidates> ReadCandidates(Services& services, const DatasetView& dataset,
                                          const RequestScope& scope, const Principal& principal,
                                          const std::vector<dp::AskedSet>& asked,
                                          const std::stop_token& client_left) {
  ASSIGN_OR_RETURN(
      const std::vector<ledger::Release> releases,
      services.ledger.FindReleases(dataset.record.id, ReaderOf(dataset, principal),
                                   MeasuresFor(scope.PartNumbers(), asked), kMostReleasesPerMeasure));
  Candidates candidates;
  for (const ledger::Release& listed : releases) {
    RETURN_IF_ERROR(CheckGoesOn(client_left));
    if (!MayReadRelease(listed, dataset.record, principal)) continue;
    auto kept = services.stored.Find(principal, dataset.record.id, listed.number);
    if (kept == nullptr || kept->head.id != listed.id) {
      Stored stored{.head = listed, .charge = {}};
      if (listed.kind == kWorkloadKind) {
        ASSIGN_OR_RETURN(stored.charge, services.ledger.GetCharge(listed.charge_id));
      }
      kept = services.stored.Keep(principal, std::move(stored));
    }
    candidates.push_back(std::move(kept));
  }
  return candidates;
}

// `memory` has at least `bytes` to read it, and gets more for the cells of conditions.
absl::StatusOr<std::shared_ptr<const dp::WorkloadRelease>> AnswerOf(Services& services,
                                                                    const Principal& principal,
                                                                    const Stored& candidate, int64_t bytes,
                                                                    RequestMemory& memory) {
  if (candidate.answer != nullptr) return candidate.answer;
  ASSIGN_OR_RETURN(const ledger::Release release, services.ledger.GetRelease(candidate.head.id));
  bytes += dp::ConditionBytes(codec::ConditionCells(release.payload));
  if (bytes > memory.bytes()) RETURN_IF_ERROR(memory.Add(bytes - memory.bytes()));
  ASSIGN_OR_RETURN(dp::WorkloadRelease decoded, codec::DecodeWorkloadRelease(release.payload));
  auto answer = std::make_shared<const dp::WorkloadRelease>(std::move(decoded));
  services.stored.Keep(principal, {candidate.head, candidate.charge, answer});
  return answer;
}

}  // namespace

void LookForReleases(const DatasetView& dataset, const RequestScope& scope, const Principal& principal,
                     const std::vector<dp::AskedSet>& asked, ledger::EarlierQuery& query) {
  query.reader = ReaderOf(dataset, principal);
  query.measures = MeasuresFor(scope.PartNumbers(), asked);
  query.most_releases = kMostReleasesPerMeasure;
}

absl::StatusOr<std::optional<FreeAnswer>> FindFreeAnswer(Services& services, const DatasetView& dataset,
                                                         const RequestScope& scope,
                                                         const Principal& principal,
                                                         const std::vector<dp::AskedSet>& asked,
                                                         const std::stop_token& client_left,
                                                         const std::vector<int64_t>* numbers) {
  std::optional<Candidates> candidates;
  if (numbers != nullptr) candidates = KeptCandidates(services, dataset, principal, *numbers);
  if (!candidates) {
    ASSIGN_OR_RETURN(candidates, ReadCandidates(services, dataset, scope, principal, asked, client_left));
  }
  SearchEffort effort(client_left);
  Candidates to_read;
  int64_t bytes = 0;
  int64_t largest = 0;
  for (std::shared_ptr<const Stored>& candidate : *candidates) {
    const int64_t size = candidate->head.payload_size;
    if (candidate->head.kind != kWorkloadKind || !IsOfScope(candidate->charge, dataset.record, scope))
      continue;
    if (bytes + size > kMostReadBytes || BytesToRead(size) > kMostFreeBytes) continue;
    bytes += size;
    largest = std::max(largest, size);
    to_read.push_back(std::move(candidate));
  }
  RETURN_IF_ERROR(CheckGoesOn(client_left));
  if (to_read.empty()) return std::optional<FreeAnswer>();
  RequestMemory memory(services.memory, principal, client_left);
  const int64_t to_read_one = BytesToRead(largest) + BytesOfConditions(asked);
  RETURN_IF_ERROR(memory.Add(to_read_one));
  std::optional<FreeAnswer> best;
  double least = 0;
  for (const std::shared_ptr<const Stored>& candidate : to_read) {
    RETURN_IF_ERROR(CheckGoesOn(client_left));
    ASSIGN_OR_RETURN(const std::shared_ptr<const dp::WorkloadRelease> stored,
                     AnswerOf(services, principal, *candidate, to_read_one, memory));
    std::optional<dp::WorkloadRelease> answer = AnsweredBy(dataset.schema.domain, *stored, asked, effort);
    if (!answer) continue;
    const double variance = VarianceOf(dataset.schema.domain, *answer);
    if (best && variance >= least) continue;
    least = variance;
    best = FreeAnswer{candidate->head.id, *std::move(answer)};
  }
  RETURN_IF_ERROR(CheckGoesOn(client_left));
  if (best) best->memory = std::move(memory);
  return best;
}

}  // namespace curator::service
