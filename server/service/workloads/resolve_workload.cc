#include "service/workloads/resolve_workload.h"

#include <algorithm>
#include <numeric>
#include <set>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/text.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"
#include "service/workloads/resolve_conditions.h"
#include "service/workloads/resolve_expression.h"
#include "service/workloads/resolve_statistics.h"

namespace curator::service {
namespace {

constexpr dp::PlanLimits kLimits;
constexpr int64_t kMostGroups = 100'000;          // predicates, parities, and thresholds
constexpr int64_t kMostTerms = int64_t{1} << 22;  // each is held, and stored, twice
constexpr int64_t kMostAttributes = dp::WorkloadLimits().max_attributes;
constexpr int64_t kMostTextBytes = int64_t{1} << 24;  // of the answers' labels

absl::Status TooMany(const std::string& path, std::string_view what, int64_t most) {
  return InvalidField(path, absl::StrCat("asks, with the sets before it, for more than ", most, " ",
                                         std::string(what), ", which is the limit of one request"));
}

// Checks the size of one request's sets against the limits before they are built.
class Allowance {
 public:
  absl::Status Take(const QueryGroupSize& size, const std::string& path) {
    if (size.queries > answers_) return TooMany(path, "answers", kLimits.most_answers);
    if (size.terms > terms_) return TooMany(path, "terms of answers", kMostTerms);
    if (groups_ == 0) return TooMany(path, "questions", kMostGroups);
    answers_ -= size.queries;
    terms_ -= size.terms;
    --groups_;
    return absl::OkStatus();
  }

  absl::Status TakeText(int64_t bytes, const std::string& path) {
    if (bytes > text_) return TooMany(path, "bytes of labels of its answers", kMostTextBytes);
    text_ -= bytes;
    return absl::OkStatus();
  }

  absl::Status TakeAttributes(size_t count, const std::string& path) {
    if (static_cast<int64_t>(count) > attributes_)
      return TooMany(path, "attributes of sets", kMostAttributes);
    attributes_ -= static_cast<int64_t>(count);
    return absl::OkStatus();
  }

  PredicateAllowance& predicates() { return predicates_; }

  absl::Status TakeMarginals(const std::vector<dp::AttributeSet>& sets, const std::string& path) {
    marginals_ -= static_cast<int64_t>(sets.size());
    return marginals_ < 0 ? TooMany(path, "marginals", kLimits.most_marginals) : absl::OkStatus();
  }

 private:
  int64_t answers_ = kLimits.most_answers;
  int64_t terms_ = kMostTerms;
  int64_t text_ = kMostTextBytes;
  int64_t marginals_ = kLimits.most_marginals;
  int64_t groups_ = kMostGroups;
  int64_t attributes_ = kMostAttributes;
  PredicateAllowance predicates_;
};

// Of whole marginals, which an answer holds all at once.
constexpr dp::WorkloadLimits kAnswered = {.max_marginals = kLimits.most_marginals,
                                          .max_cells = kLimits.most_cells};

// Of a synthesis: no more sets, which are resolved before what they take is known.
constexpr dp::WorkloadLimits kSynthesised = {.max_marginals = kLimits.most_marginals,
                                             .max_cells = dp::kSynthesisLimits.max_cells,
                                             .max_cells_of_one = dp::kSynthesisLimits.max_cells_of_one};

// One query set; `path` is its field.
struct Place {
  const dp::Domain& domain;
  Allowance& allowance;
  std::string path;
  const dp::Schema* schema = nullptr;  // none where statistics are not answered
  const dp::WorkloadLimits& limits = kAnswered;
};

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveAllKWay(const Place& place, int k,
                                                             const std::vector<std::string>& attributes,
                                                             const std::string& path) {
  ASSIGN_OR_RETURN(const dp::AttributeSet over, ResolveNames(place.domain, attributes, path + ".attributes"));
  absl::StatusOr<std::vector<dp::AttributeSet>> sets =
      dp::AllKWayMarginals(place.domain, k, over, place.limits);
  if (!sets.ok()) return AtPath(path, "workload", sets.status());
  RETURN_IF_ERROR(place.allowance.TakeAttributes(sets->size() * static_cast<size_t>(k), path));
  return sets;
}

absl::StatusOr<dp::KWayMarginals> KWayUpTo(const dp::Domain& domain, const dp::WorkloadLimits& limits,
                                           const MarginalsQuery& query, const std::string& path) {
  ASSIGN_OR_RETURN(const dp::AttributeSet over, ResolveNames(domain, query.attributes, path + ".attributes"));
  absl::StatusOr<dp::KWayMarginals> kept =
      dp::KWayMarginalsUpTo(domain, query.k.value_or(0), over, query.max_cells.value_or(0), limits);
  if (!kept.ok()) return AtPath(path, "workload", kept.status());
  return kept;
}

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveAllMarginals(const Place& place,
                                                                  const MarginalsQuery& query) {
  const std::string path = place.path + ".all_k_way";
  if (!query.max_cells) return ResolveAllKWay(place, *query.k, query.attributes, path);
  ASSIGN_OR_RETURN(dp::KWayMarginals kept, KWayUpTo(place.domain, place.limits, query, path));
  // Those that are left out are enumerated too.
  const size_t enumerated = kept.sets.size() + static_cast<size_t>(kept.left_out);
  RETURN_IF_ERROR(place.allowance.TakeAttributes(enumerated * static_cast<size_t>(*query.k), path));
  return std::move(kept.sets);
}

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveSets(const Place& place,
                                                          const std::vector<std::vector<std::string>>& names,
                                                          const std::string& path) {
  if (static_cast<int64_t>(names.size()) > kLimits.most_marginals)
    return TooMany(path, "sets of attributes", kLimits.most_marginals);
  std::vector<dp::AttributeSet> sets;
  for (size_t i = 0; i < names.size(); ++i) {
    ASSIGN_OR_RETURN(dp::AttributeSet set,
                     ResolveNames(place.domain, names[i], absl::StrCat(path, "[", i, "].names")));
    RETURN_IF_ERROR(place.allowance.TakeAttributes(set.size(), absl::StrCat(path, "[", i, "]")));
    sets.push_back(std::move(set));
  }
  const absl::Status valid = dp::ValidateMarginals(place.domain, sets, place.limits);
  if (!valid.ok()) return AtPath(path, "workload.marginals", valid);
  return sets;
}

absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const MarginalsQuery& query) {
  if (query.k.has_value() == !query.sets.empty())
    return InvalidField(place.path, "needs either explicit sets of attributes or all_k_way, and not both");
  ASSIGN_OR_RETURN(
      const std::vector<dp::AttributeSet> sets,
      query.k ? ResolveAllMarginals(place, query) : ResolveSets(place, query.sets, place.path + ".sets"));
  RETURN_IF_ERROR(place.allowance.TakeMarginals(sets, place.path));
  dp::AskedSet asked{.query_class = dp::QueryClass::kMarginals};
  for (const dp::AttributeSet& set : sets)
    asked.queries.groups.push_back({.attributes = set, .queries = dp::EveryCell()});
  return asked;
}

absl::StatusOr<dp::QueryGroup> ResolveAllBoxes(const Place& place, const dp::AttributeSet& attributes) {
  QueryGroupSize size{.queries = 1, .terms = static_cast<int64_t>(attributes.size())};
  for (const uint32_t attribute : attributes) {
    const int64_t bins = place.domain.attributes()[attribute].run_size();
    const int64_t intervals = bins * (bins + 1) / 2;
    if (intervals > kMostTerms / size.queries) return TooMany(place.path, "answers", kLimits.most_answers);
    size = {.queries = size.queries * intervals, .terms = size.terms * intervals};
  }
  RETURN_IF_ERROR(place.allowance.Take(size, place.path));
  dp::Boxes boxes;
  boxes.sides.reserve(static_cast<size_t>(size.terms));
  std::vector<dp::CodeInterval> box(attributes.size());
  for (bool is_last = false; !is_last;) {
    boxes.sides.insert(boxes.sides.end(), box.begin(), box.end());
    size_t i = attributes.size();
    for (; i > 0; --i) {
      const auto end = static_cast<uint32_t>(place.domain.attributes()[attributes[i - 1]].run_size() - 1);
      dp::CodeInterval& side = box[i - 1];
      if (side.last < end) {
        ++side.last;
        break;
      }
      if (side.first < end) {
        side = {side.first + 1, side.first + 1};
        break;
      }
      side = {0, 0};
    }
    is_last = i == 0;
  }
  return dp::QueryGroup{.attributes = attributes, .queries = std::move(boxes)};
}

absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const RangesQuery& query) {
  if (query.attributes.empty()) return InvalidField(place.path + ".attributes", "names no attribute");
  dp::AskedSet asked{.query_class = dp::QueryClass::kRanges};
  ASSIGN_OR_RETURN(const dp::AttributeSet attributes,
                   ResolveNames(place.domain, query.attributes, place.path + ".attributes"));
  if (query.boxes.empty()) {
    ASSIGN_OR_RETURN(dp::QueryGroup all, ResolveAllBoxes(place, attributes));
    asked.queries.groups.push_back(std::move(all));
    return asked;
  }
  const auto boxes = static_cast<int64_t>(query.boxes.size());
  const auto sides = static_cast<int64_t>(attributes.size());
  RETURN_IF_ERROR(place.allowance.Take({.queries = boxes, .terms = boxes * sides}, place.path));
  dp::Boxes resolved;
  for (size_t i = 0; i < query.boxes.size(); ++i) {
    const std::string path = absl::StrCat(place.path, ".boxes[", i, "].sides");
    if (query.boxes[i].size() != attributes.size())
      return InvalidField(path, absl::StrCat("has ", query.boxes[i].size(), " intervals for ",
                                             attributes.size(), " attributes"));
    std::vector<dp::CodeInterval> box(attributes.size());
    for (size_t side = 0; side < query.boxes[i].size(); ++side) {
      const uint32_t attribute = place.domain.IndexOf(query.attributes[side]).value_or(0);
      const auto at = std::ranges::lower_bound(attributes, attribute) - attributes.begin();
      ASSIGN_OR_RETURN(
          box[static_cast<size_t>(at)],
          ResolveInterval(place.domain, attribute, query.boxes[i][side], absl::StrCat(path, "[", side, "]")));
    }
    resolved.sides.insert(resolved.sides.end(), box.begin(), box.end());
  }
  asked.queries.groups.push_back({.attributes = attributes, .queries = std::move(resolved)});
  return asked;
}

absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const PrefixesQuery& query) {
  ASSIGN_OR_RETURN(const uint32_t attribute,
                   ResolveName(place.domain, query.attribute, place.path + ".attribute"));
  const int64_t bins = place.domain.attributes()[attribute].run_size();
  RETURN_IF_ERROR(place.allowance.Take({.queries = bins, .terms = bins}, place.path));
  dp::Boxes boxes;
  for (uint32_t last = 0; last < bins; ++last) boxes.sides.push_back({0, last});
  return dp::AskedSet{.query_class = dp::QueryClass::kPrefixes,
                      .queries = {.groups = {{{attribute}, std::move(boxes)}}}};
}

absl::StatusOr<std::vector<ResolvedCondition>> ResolveConditions(const Place& place,
                                                                 const std::vector<Condition>& conditions,
                                                                 const dp::AttributeSet& by,
                                                                 const std::string& path) {
  constexpr size_t kMostConditions = 4096;
  if (conditions.size() > kMostConditions)
    return InvalidField(path, absl::StrCat("has ", conditions.size(), " conditions; at most ",
                                           kMostConditions, " are answered"));
  std::vector<ResolvedCondition> resolved;
  for (size_t i = 0; i < conditions.size(); ++i) {
    const std::string own_path = absl::StrCat(path, "[", i, "]");
    ASSIGN_OR_RETURN(ResolvedCondition condition, ResolveCondition(place.domain, conditions[i], own_path));
    if (std::ranges::binary_search(by, condition.attribute))
      return InvalidField(own_path + ".attribute",
                          absl::StrCat("\"", conditions[i].attribute, "\" is also one of \"by\""));
    resolved.push_back(std::move(condition));
  }
  return resolved;
}

// Consecutive queries over the same attributes form one group.
std::vector<dp::QueryGroup> WithGroup(std::vector<dp::QueryGroup> groups, dp::QueryGroup group) {
  if (groups.empty() || groups.back().attributes != group.attributes ||
      groups.back().queries.index() != group.queries.index()) {
    groups.push_back(std::move(group));
    return groups;
  }
  if (auto* boxes = std::get_if<dp::Boxes>(&groups.back().queries)) {
    const auto& more = std::get<dp::Boxes>(group.queries).sides;
    boxes->sides.insert(boxes->sides.end(), more.begin(), more.end());
  } else if (auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&groups.back().queries)) {
    auto& more = std::get<std::vector<dp::LinearQuery>>(group.queries);
    std::ranges::move(more, std::back_inserter(*queries));
  }
  return groups;
}

std::string Joined(const std::vector<std::string_view>& texts, std::string_view separator) {
  std::string joined;
  for (const std::string_view text : texts) {
    if (!joined.empty()) joined += separator;
    joined += text;
  }
  return joined;
}

// Visits each subset of k of the positions below n, in lexicographic order; an error of `visit` stops.
template <typename Visit>
absl::Status ForEachSubset(size_t n, size_t k, const Visit& visit) {
  std::vector<size_t> subset(k);
  std::iota(subset.begin(), subset.end(), size_t{0});
  while (true) {
    RETURN_IF_ERROR(visit(subset));
    size_t i = k;
    while (i > 0 && subset[i - 1] == n - k + i - 1) --i;
    if (i == 0) return absl::OkStatus();
    ++subset[i - 1];
    for (size_t j = i; j < k; ++j) subset[j] = subset[j - 1] + 1;
  }
}

absl::Status CheckThresholds(const Place& place, const ThresholdsQuery& query) {
  if (query.conditions.empty()) return InvalidField(place.path + ".conditions", "has no condition");
  const auto conditions = static_cast<int>(query.conditions.size());
  if (query.k < 0 || query.k > conditions)
    return InvalidField(place.path + ".k",
                        absl::StrCat("is ", query.k, "; there are ", conditions, " conditions"));
  if (query.at_least.empty()) return InvalidField(place.path + ".at_least", "says not how many");
  const int k = query.k == 0 ? conditions : query.k;
  std::set<int> seen;
  for (size_t i = 0; i < query.at_least.size(); ++i) {
    if (query.at_least[i] < 1 || query.at_least[i] > k)
      return InvalidField(absl::StrCat(place.path, ".at_least[", i, "]"),
                          absl::StrCat("is ", query.at_least[i], "; it must lie between 1 and ", k));
    if (!seen.insert(query.at_least[i]).second)
      return InvalidField(absl::StrCat(place.path, ".at_least[", i, "]"),
                          absl::StrCat("repeats ", query.at_least[i]));
  }
  return absl::OkStatus();
}

absl::StatusOr<std::vector<std::string>> DescribeEach(const Place& place,
                                                      const std::vector<ResolvedCondition>& conditions) {
  std::vector<std::string> words;
  for (const ResolvedCondition& condition : conditions) {
    words.push_back(DescribeConditions(place.domain, {condition}));
    RETURN_IF_ERROR(place.allowance.TakeText(static_cast<int64_t>(words.back().size()), place.path));
  }
  return words;
}

// The labels' size is checked before they are made: k of many conditions are many long labels.
absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const ThresholdsQuery& query) {
  constexpr std::string_view kSeparator = ", ";
  constexpr size_t kMostBytesAround = 16;  // "4096 of (...)"
  RETURN_IF_ERROR(CheckThresholds(place, query));
  dp::AskedSet asked{.query_class = dp::QueryClass::kThresholds};
  ASSIGN_OR_RETURN(asked.by, ResolveNames(place.domain, query.by, place.path + ".by"));
  ASSIGN_OR_RETURN(const std::vector<ResolvedCondition> conditions,
                   ResolveConditions(place, query.conditions, asked.by, place.path + ".conditions"));
  const size_t k = query.k == 0 ? conditions.size() : static_cast<size_t>(query.k);
  ASSIGN_OR_RETURN(const std::vector<std::string> words_of, DescribeEach(place, conditions));
  RETURN_IF_ERROR(ForEachSubset(conditions.size(), k, [&](const std::vector<size_t>& subset) -> absl::Status {
    std::vector<std::string_view> words;
    size_t bytes = kMostBytesAround;
    for (const size_t i : subset) {
      words.push_back(words_of[i]);
      bytes += words_of[i].size() + kSeparator.size();
    }
    RETURN_IF_ERROR(
        place.allowance.TakeText(static_cast<int64_t>(bytes * query.at_least.size()), place.path));
    RETURN_IF_ERROR(place.allowance.TakeAttributes(subset.size() + asked.by.size(), place.path));
    std::vector<ResolvedCondition> chosen;
    for (const size_t i : subset) chosen.push_back(conditions[i]);
    RETURN_IF_ERROR(
        place.allowance.Take(SizeOfThresholds(place.domain, chosen, query.at_least, asked.by), place.path));
    const int most = MostSatisfied(place.domain, chosen);
    for (const int t : query.at_least) {
      if (t > most)
        return InvalidField(place.path + ".at_least",
                            absl::StrCat("no record can fulfil ", t, " of these conditions, only ", most));
      asked.words.push_back(absl::StrCat(t, " of (", Joined(words, kSeparator), ")"));
    }
    asked.queries.groups.push_back(Thresholds(place.domain, chosen, query.at_least, asked.by));
    return absl::OkStatus();
  }));
  return asked;
}

absl::StatusOr<std::vector<dp::AttributeSet>> ParitySets(const Place& place, const ParitiesQuery& query) {
  if (query.k.has_value() == !query.sets.empty())
    return InvalidField(place.path, "needs either explicit sets of attributes or up_to_k_way, and not both");
  if (!query.k) return ResolveSets(place, query.sets, place.path + ".sets");
  const std::string path = place.path + ".up_to_k_way";
  std::vector<dp::AttributeSet> sets;
  const size_t attributes = query.attributes.empty() ? place.domain.size() : query.attributes.size();
  if (*query.k < 1 || *query.k > static_cast<int>(attributes))
    return InvalidField(path + ".k",
                        absl::StrCat("is ", *query.k, "; it must lie between 1 and ", attributes));
  for (int k = 1; k <= *query.k; ++k) {
    ASSIGN_OR_RETURN(const std::vector<dp::AttributeSet> of_k,
                     ResolveAllKWay(place, k, query.attributes, path));
    sets.insert(sets.end(), of_k.begin(), of_k.end());
    if (static_cast<int64_t>(sets.size()) > kLimits.most_marginals)
      return TooMany(path, "sets of attributes", kLimits.most_marginals);
  }
  return sets;
}

absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const ParitiesQuery& query) {
  ASSIGN_OR_RETURN(const std::vector<dp::AttributeSet> sets, ParitySets(place, query));
  dp::AskedSet asked{.query_class = dp::QueryClass::kParities};
  for (const dp::AttributeSet& set : sets) {
    for (const uint32_t index : set) {
      const dp::Attribute& attribute = place.domain.attributes()[index];
      if (attribute.size() != 2)
        return InvalidField(place.path, absl::StrCat("\"", attribute.name(), "\" has ", attribute.size(),
                                                     " values; parities are of attributes with two"));
    }
    const int64_t cells = int64_t{1} << set.size();  // within the limits of marginals
    RETURN_IF_ERROR(place.allowance.Take({.queries = 1, .terms = cells}, place.path));
    dp::LinearQuery parity;
    for (uint32_t cell = 0; cell < cells; ++cell)
      parity.push_back({cell, __builtin_popcount(cell) % 2 == 0 ? 1 : -1});
    asked.queries.groups.push_back(
        {.attributes = set, .queries = std::vector<dp::LinearQuery>{std::move(parity)}});
  }
  return asked;
}

absl::StatusOr<dp::QueryGroup> GroupOfPredicate(const Place& place, const PredicateForm& form,
                                                const dp::AttributeSet& by, const std::string& path) {
  const size_t attributes = form.conditions ? form.conditions->size() : form.predicate.attributes.size();
  RETURN_IF_ERROR(place.allowance.Take(form.conditions ? SizeOfConjunction(place.domain, *form.conditions, by)
                                                       : SizeOfPredicate(place.domain, form.predicate, by),
                                       path));
  RETURN_IF_ERROR(place.allowance.TakeAttributes(attributes + by.size(), path));
  return form.conditions ? Conjunction(place.domain, *form.conditions, by)
                         : PredicateQueries(place.domain, form.predicate, by);
}

absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const PredicatesQuery& query) {
  if (query.predicates.empty()) return InvalidField(place.path + ".predicates", "has no predicate");
  dp::AskedSet asked{.query_class = dp::QueryClass::kPredicates};
  ASSIGN_OR_RETURN(asked.by, ResolveNames(place.domain, query.by, place.path + ".by"));
  for (size_t i = 0; i < query.predicates.size(); ++i) {
    const PredicateRequest& predicate = query.predicates[i];
    const std::string own_path = absl::StrCat(place.path, ".predicates[", i, "]");
    const std::string path = own_path + (predicate.expression ? ".expression" : ".all_of");
    const absl::StatusOr<PredicateForm> form =
        ResolvePredicateForm(place.domain, predicate, asked.by, place.allowance.predicates());
    if (!form.ok()) return WithinField(own_path, form.status());
    if (form->conditions && form->conditions->empty() && asked.by.empty()) {
      return InvalidField(path, predicate.expression
                                    ? "holds for every record, and there is nothing to count by"
                                    : "has no condition, and there is nothing to count by");
    }
    ASSIGN_OR_RETURN(dp::QueryGroup group, GroupOfPredicate(place, *form, asked.by, path));
    asked.queries.groups = WithGroup(std::move(asked.queries.groups), std::move(group));
    asked.words.push_back(form->predicate.words);
    RETURN_IF_ERROR(place.allowance.TakeText(static_cast<int64_t>(asked.words.back().size()), path));
  }
  return asked;
}

absl::StatusOr<dp::AskedSet> Resolve(const Place& place, const StatisticsQuery& query) {
  if (place.schema == nullptr) {
    return InvalidField(
        place.path,
        "are answered from records, with noise: neither a synthesis nor a model takes them; ask "
        "marginals, ranges or predicates");
  }
  ASSIGN_OR_RETURN(dp::AskedStatistics statistics,
                   ResolveStatistics(*place.schema, query, place.allowance.predicates(), place.path));
  RETURN_IF_ERROR(place.allowance.Take({.queries = dp::NumberOfAnswers(place.domain, statistics), .terms = 0},
                                       place.path));
  RETURN_IF_ERROR(
      place.allowance.TakeText(static_cast<int64_t>(statistics.condition.size()), place.path + ".where"));
  dp::AskedSet asked{.query_class = dp::QueryClass::kStatistics};
  asked.by = statistics.by;
  asked.statistics = std::move(statistics);
  return asked;
}

std::string_view FieldOf(const QuerySetRequest& set) {
  constexpr std::string_view kFields[] = {".marginals", ".ranges",     ".prefixes",  ".thresholds",
                                          ".parities",  ".predicates", ".statistics"};
  return kFields[set.queries.index()];
}

// Where nothing is planned for the set, or each statistic gets the same share, a weight would have no effect.
absl::Status CheckWeight(const QuerySetRequest& set, bool is_unplanned, const std::string& path) {
  if (!(set.weight >= dp::kLeastWeight && set.weight <= dp::kMostWeight)) {
    return InvalidField(path + ".weight", "must be a number from 0.000001 to 1000000; 1 when it is left out");
  }
  if (set.weight == 1) return absl::OkStatus();
  if (is_unplanned)
    return InvalidField(path + ".weight", "is of workloads that are answered from records: leave it out");
  if (std::holds_alternative<StatisticsQuery>(set.queries))
    return InvalidField(path + ".weight", "is of counts; statistics share a spend evenly: leave it out");
  return absl::OkStatus();
}

absl::Status ValidateCounts(const dp::Domain& domain, const std::vector<dp::AskedSet>& resolved,
                            const dp::PlanLimits& limits = kLimits) {
  std::vector<dp::QuerySet> queries;
  for (const dp::AskedSet& asked : resolved) queries.push_back(asked.queries);
  return dp::ValidateSets(domain, queries, limits);
}

// `schema` is null where statistics are not answered.
absl::StatusOr<std::vector<dp::AskedSet>> ResolveSets(const dp::Domain& domain, const dp::Schema* schema,
                                                      const std::vector<QuerySetRequest>& sets,
                                                      const dp::WorkloadLimits& limits = kAnswered) {
  if (sets.empty()) return InvalidField("workload", "asks for nothing");
  if (static_cast<int64_t>(sets.size()) > kLimits.most_sets)
    return InvalidField("workload.query_sets",
                        absl::StrCat("has ", sets.size(), " query sets; at most ", kLimits.most_sets,
                                     " are answered in one request"));
  Allowance allowance;
  std::vector<dp::AskedSet> resolved;
  for (size_t i = 0; i < sets.size(); ++i) {
    const std::string path = absl::StrCat("workload.query_sets[", i, "]");
    const Place place{domain, allowance, path + std::string(FieldOf(sets[i])), schema, limits};
    ASSIGN_OR_RETURN(dp::AskedSet asked,
                     std::visit([&](const auto& query) { return Resolve(place, query); }, sets[i].queries));
    asked.queries.strategy = sets[i].strategy;
    RETURN_IF_ERROR(CheckWeight(sets[i], schema == nullptr, path));
    asked.queries.weight = sets[i].weight;
    resolved.push_back(std::move(asked));
    if (resolved[i].statistics.has_value() != resolved[0].statistics.has_value()) {
      return InvalidField(path,
                          "mixes statistics with other queries: ask them in two requests, or ask counts "
                          "by groups as a statistic, too");
    }
  }
  return resolved;
}

}  // namespace

absl::StatusOr<std::vector<dp::AskedSet>> ResolveWorkload(const dp::Schema& schema,
                                                          const std::vector<QuerySetRequest>& sets) {
  ASSIGN_OR_RETURN(std::vector<dp::AskedSet> resolved, ResolveSets(schema.domain, &schema, sets));
  if (dp::AreStatistics(resolved)) {
    RETURN_IF_ERROR(CheckStatisticsTogether(schema.domain, resolved));
    return resolved;
  }
  RETURN_IF_ERROR(ValidateCounts(schema.domain, resolved));
  return resolved;
}

absl::StatusOr<std::vector<dp::AskedSet>> ResolveCounts(const dp::Domain& domain,
                                                        const std::vector<QuerySetRequest>& sets) {
  ASSIGN_OR_RETURN(std::vector<dp::AskedSet> resolved, ResolveSets(domain, nullptr, sets));
  RETURN_IF_ERROR(ValidateCounts(domain, resolved));
  return resolved;
}

absl::StatusOr<std::vector<dp::AskedSet>> ResolveForSynthesis(const dp::Domain& domain,
                                                              const std::vector<QuerySetRequest>& sets) {
  ASSIGN_OR_RETURN(std::vector<dp::AskedSet> resolved, ResolveSets(domain, nullptr, sets, kSynthesised));
  dp::PlanLimits limits = kLimits;
  limits.most_cells = kSynthesised.max_cells;
  RETURN_IF_ERROR(ValidateCounts(domain, resolved, limits));
  return resolved;
}

int64_t MarginalsLeftOut(const dp::Domain& domain, const std::vector<QuerySetRequest>& sets) {
  int64_t left_out = 0;
  for (const QuerySetRequest& set : sets) {
    const auto* marginals = std::get_if<MarginalsQuery>(&set.queries);
    if (marginals == nullptr || !marginals->max_cells) continue;
    const absl::StatusOr<dp::KWayMarginals> kept = KWayUpTo(domain, kAnswered, *marginals, "");
    if (kept.ok()) left_out += kept->left_out;
  }
  return left_out;
}

std::vector<dp::QueryGroup> GroupsOf(const std::vector<dp::AskedSet>& sets) {
  std::vector<dp::QueryGroup> groups;
  for (const dp::AskedSet& asked : sets)
    groups.insert(groups.end(), asked.queries.groups.begin(), asked.queries.groups.end());
  return groups;
}

std::string DescribeWorkload(const dp::Domain& domain, const std::vector<dp::AskedSet>& sets) {
  constexpr size_t kMostNamed = 6;
  std::string words;
  for (size_t i = 0; i < std::min(sets.size(), kMostNamed); ++i)
    absl::StrAppend(&words, i > 0 ? "; " : "", dp::Describe(domain, sets[i]));
  if (sets.size() > kMostNamed) absl::StrAppend(&words, "; and ", sets.size() - kMostNamed, " more");
  return Shortened(words, kMostSummaryBytes);
}

}  // namespace curator::service
