#include "service/workloads/free_answers.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "codec/release_codec.h"
#include "dp/domain/attribute_set.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/sum_out.h"

namespace curator::service {
namespace {

// One way to answer one set. Its sources are positions among the stored measurements or, after those, among
// the gathered ones.
struct CandidatePlan {
  dp::SetPlan plan;
  double mean_variance = 0;  // in units of the noise's
};

double MeanVariance(const dp::Domain& domain, const dp::QuerySet& set, const dp::SetPlan& plan,
                    const std::vector<dp::QueryGroup>& sources) {
  double sum = 0;
  double answers = 0;
  for (size_t i = 0; i < set.groups.size(); ++i) {
    const auto errors = dp::ErrorsOf(domain, set.groups[i], plan, sources[plan.sources[i]]);
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
  StoredMeasurements(const dp::Domain& domain, const dp::WorkloadRelease& release)
      : domain_(domain), release_(release), measured_(release.measured), values_(release.values) {
    for (size_t i = 0; i < release.plans.size(); ++i) {
      if (release.plans[i].strategy != dp::Strategy::kTree) continue;
      for (const size_t source : release.plans[i].sources) trees_[source] = release.plans[i].branching;
    }
  }

  std::optional<dp::SetPlan> Answer(const dp::QuerySet& set) {
    std::vector<CandidatePlan> ways;
    for (const std::optional<dp::SetPlan>& plan : {Direct(set), FromMarginals(set), FromTree(set)}) {
      if (plan) ways.push_back({*plan, MeanVariance(domain_, set, *plan, measured_)});
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
    for (size_t i = 0; i < release_.measured.size(); ++i) {
      if (release_.measured[i] == group) return i;
    }
    for (size_t i = 0; i < release_.measured.size(); ++i) {
      const dp::QueryGroup& measured = release_.measured[i];
      if (measured.attributes != group.attributes) continue;
      std::optional<std::vector<int64_t>> values = Gathered(group, measured, values_[i]);
      if (!values) continue;
      measured_.push_back(group);
      values_.push_back(*std::move(values));
      return measured_.size() - 1;
    }
    return std::nullopt;
  }

  // The values of the boxes of `group`, each of which is one of `measured`.
  static std::optional<std::vector<int64_t>> Gathered(const dp::QueryGroup& group,
                                                      const dp::QueryGroup& measured,
                                                      const std::vector<int64_t>& values) {
    const auto* wanted = std::get_if<dp::Boxes>(&group.queries);
    const auto* boxes = std::get_if<dp::Boxes>(&measured.queries);
    if (wanted == nullptr || boxes == nullptr) return std::nullopt;
    const size_t sides = group.attributes.size();
    const auto key_at = [&](const dp::Boxes& of, size_t box) {
      std::vector<uint32_t> key;
      for (size_t side = 0; side < sides; ++side) {
        key.push_back(of.sides[box * sides + side].first);
        key.push_back(of.sides[box * sides + side].last);
      }
      return key;
    };
    std::map<std::vector<uint32_t>, int64_t> known;
    for (size_t box = 0; box < values.size(); ++box) known.emplace(key_at(*boxes, box), values[box]);
    std::vector<int64_t> gathered;
    for (size_t box = 0; box < wanted->sides.size() / sides; ++box) {
      const auto found = known.find(key_at(*wanted, box));
      if (found == known.end()) return std::nullopt;
      gathered.push_back(found->second);
    }
    return gathered;
  }

  // The smallest measured marginal around each group.
  std::optional<dp::SetPlan> FromMarginals(const dp::QuerySet& set) const {
    dp::SetPlan plan{.strategy = dp::Strategy::kBaseHistogram, .branching = 0, .sources = {}};
    for (const dp::QueryGroup& group : set.groups) {
      std::optional<size_t> smallest;
      for (size_t i = 0; i < release_.measured.size(); ++i) {
        const dp::QueryGroup& measured = release_.measured[i];
        if (!std::holds_alternative<dp::EveryCell>(measured.queries)) continue;
        if (!dp::IsSubset(group.attributes, measured.attributes)) continue;
        if (!smallest || release_.values[i].size() < release_.values[*smallest].size()) smallest = i;
      }
      if (!smallest) return std::nullopt;
      plan.sources.push_back(*smallest);
    }
    return plan;
  }

  std::optional<dp::SetPlan> FromTree(const dp::QuerySet& set) const {
    for (const auto& [source, branching] : trees_) {
      const dp::AttributeSet& attributes = release_.measured[source].attributes;
      const bool holds_all = std::ranges::all_of(set.groups, [&](const dp::QueryGroup& group) {
        return group.attributes == attributes && std::holds_alternative<dp::Boxes>(group.queries);
      });
      if (holds_all) {
        return dp::SetPlan{.strategy = dp::Strategy::kTree,
                           .branching = branching,
                           .sources = std::vector<size_t>(set.groups.size(), source)};
      }
    }
    return std::nullopt;
  }

  const dp::Domain& domain_;
  const dp::WorkloadRelease& release_;
  std::vector<dp::QueryGroup> measured_;  // then those gathered from several of them
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
  if (largest == nullptr) return measures;
  measures.push_back(MeasureOf(parts, *largest));
  if (largest->size() > 1) measures.push_back(MeasureOf(parts, {largest->front()}));
  return measures;
}

double DeviationOf(const dp::Domain& domain, const dp::WorkloadRelease& answer) {
  double worst = 0;
  const double own = dp::ForecastError(answer.noise).standard_deviation;
  for (size_t i = 0; i < answer.asked.size(); ++i) {
    const double variance = MeanVariance(domain, answer.asked[i].queries, answer.plans[i], answer.measured);
    worst = std::max(worst, own * own * variance);
  }
  return worst;
}

}  // namespace

std::optional<dp::WorkloadRelease> AnsweredBy(const dp::Domain& domain, const dp::WorkloadRelease& stored,
                                              const std::vector<dp::AskedSet>& asked) {
  StoredMeasurements numbers(domain, stored);
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
    if (sets.size() == kMostSets) break;
    sets.insert(group.attributes);
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

// A release, while the best so far is kept.
int64_t BytesToRead(int64_t stored_bytes) {
  return dp::StoredAnswerBytes(stored_bytes) + stored_bytes;
}

}  // namespace

absl::StatusOr<std::optional<FreeAnswer>> FindFreeAnswer(Services& services, const DatasetView& dataset,
                                                         const RequestScope& scope,
                                                         const Principal& principal,
                                                         const std::vector<dp::AskedSet>& asked) {
  const bool sees_all = dataset.record.owner == principal.name();
  ASSIGN_OR_RETURN(
      const std::vector<ledger::Release> releases,
      services.ledger.FindReleases(dataset.record.id, sees_all ? std::string_view() : principal.name(),
                                   MeasuresFor(scope.PartNumbers(), asked), kMostReleasesPerMeasure));
  std::vector<std::string> to_read;
  int64_t bytes = 0;
  int64_t largest = 0;
  for (const ledger::Release& listed : releases) {
    if (listed.kind != "workload" || !MayReadRelease(listed, dataset.record, principal)) continue;
    ASSIGN_OR_RETURN(const ledger::Charge charge, services.ledger.GetCharge(listed.charge_id));
    if (!IsOfScope(charge, dataset.record, scope) || bytes + listed.payload_size > kMostReadBytes) continue;
    if (BytesToRead(listed.payload_size) > kMostFreeBytes) continue;
    bytes += listed.payload_size;
    largest = std::max(largest, listed.payload_size);
    to_read.push_back(listed.id);
  }
  if (to_read.empty()) return std::optional<FreeAnswer>();
  ASSIGN_OR_RETURN(MemoryBudget::Lease memory, services.memory.Take(principal, BytesToRead(largest)));
  std::optional<FreeAnswer> best;
  double least = 0;
  for (const std::string& id : to_read) {
    ASSIGN_OR_RETURN(const ledger::Release release, services.ledger.GetRelease(id));
    ASSIGN_OR_RETURN(const dp::WorkloadRelease stored, codec::DecodeWorkloadRelease(release.payload));
    std::optional<dp::WorkloadRelease> answer = AnsweredBy(dataset.schema.domain, stored, asked);
    if (!answer) continue;
    const double deviation = DeviationOf(dataset.schema.domain, *answer);
    if (best && deviation >= least) continue;
    least = deviation;
    best = FreeAnswer{id, *std::move(answer)};
  }
  if (best) best->memory = std::move(memory);
  return best;
}

}  // namespace curator::service
