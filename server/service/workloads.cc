#include "service/workloads.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/event_codec.h"
#include "codec/fingerprint.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/workload/marginals.h"

namespace curator::service {
namespace {

constexpr char kKind[] = "workload";

// A release is stored whole, 8 bytes a cell: this is 128 MiB.
constexpr dp::WorkloadLimits kReleaseLimits{.max_cells = int64_t{1} << 24};

// The same error, told of the field that the caller wrote: `path`, and below it what followed `inner`.
absl::Status AtPath(const std::string& path, std::string_view inner, const absl::Status& status) {
  const std::optional<FieldViolation> violation = FieldViolationOf(status);
  if (!violation)
    return absl::IsInvalidArgument(status) ? InvalidField(path, std::string(status.message())) : status;
  const bool is_inside = violation->field.starts_with(inner);
  return InvalidField(is_inside ? path + violation->field.substr(inner.size()) : path,
                      violation->description);
}

absl::StatusOr<dp::AttributeSet> ResolveNames(const dp::Domain& domain, const std::vector<std::string>& names,
                                              const std::string& path) {
  dp::AttributeSet set;
  for (size_t i = 0; i < names.size(); ++i) {
    const absl::StatusOr<uint32_t> index = domain.IndexOf(names[i]);
    if (!index.ok()) return AtPath(absl::StrCat(path, "[", i, "]"), "", index.status());
    set.push_back(*index);
  }
  std::sort(set.begin(), set.end());
  return set;
}

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveAllKWay(const dp::Domain& domain,
                                                             const MarginalsQuery& query,
                                                             const std::string& path) {
  ASSIGN_OR_RETURN(const dp::AttributeSet over, ResolveNames(domain, query.attributes, path + ".attributes"));
  absl::StatusOr<std::vector<dp::AttributeSet>> sets =
      dp::AllKWayMarginals(domain, *query.k, over, kReleaseLimits);
  if (!sets.ok()) return AtPath(path, "workload", sets.status());
  return sets;
}

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveSets(const dp::Domain& domain,
                                                          const MarginalsQuery& query,
                                                          const std::string& path) {
  std::vector<dp::AttributeSet> sets;
  for (size_t i = 0; i < query.sets.size(); ++i) {
    ASSIGN_OR_RETURN(dp::AttributeSet set,
                     ResolveNames(domain, query.sets[i], absl::StrCat(path, "[", i, "].names")));
    sets.push_back(std::move(set));
  }
  const absl::Status valid = dp::ValidateMarginals(domain, sets, kReleaseLimits);
  if (!valid.ok()) return AtPath(path, "workload.marginals", valid);
  return sets;
}

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveQuery(const dp::Domain& domain,
                                                           const MarginalsQuery& query,
                                                           const std::string& path) {
  if (query.k.has_value() == !query.sets.empty()) {
    return InvalidField(path, "needs either explicit sets of attributes or all_k_way, and not both");
  }
  return query.k ? ResolveAllKWay(domain, query, path + ".all_k_way")
                 : ResolveSets(domain, query, path + ".sets");
}

// "3 marginals, 1204 cells": public words for listings.
std::string LabelOf(const dp::MarginalPlan& plan) {
  return absl::StrCat(plan.marginals.size(), plan.marginals.size() == 1 ? " marginal, " : " marginals, ",
                      plan.total_cells, plan.total_cells == 1 ? " cell" : " cells");
}

absl::StatusOr<std::string> DrawAnswer(Curator& curator, const WorkloadEstimate& estimate,
                                       const dp::DrawKey& key) {
  const DatasetView& dataset = estimate.dataset;
  ASSIGN_OR_RETURN(const dp::SealedTableHandle table, LoadTable(curator.store, dataset, estimate.scope));
  dp::Drbg bits(key);
  dp::Kernel kernel(table, dataset.schema.domain, dataset.unit_bound, dp::Meter(estimate.plan.draws), bits);
  kernel.CountOn(curator.cores);
  codec::WorkloadRelease release{.marginals = estimate.plan.marginals,
                                 .noise = estimate.plan.noise,
                                 .counts = {},
                                 .event = dp::Describe(estimate.plan.event)};
  ASSIGN_OR_RETURN(release.counts, kernel.NoisyCounts(estimate.plan.marginals, estimate.plan.noise));
  return codec::EncodeRelease(release);
}

ChargeOrder OrderFor(const WorkloadEstimate& estimate, const WorkloadRequest& request,
                     const std::string& request_id) {
  const ledger::Dataset& dataset = estimate.dataset.record;
  return {.dataset_id = dataset.id,
          .dataset_version = estimate.scope.version,
          .principal = request.principal,
          .request_id = request_id,
          .fingerprint =
              codec::WorkloadFingerprint(dataset.id, estimate.scope.version, estimate.scope.PartNumbers(),
                                         estimate.plan.marginals, estimate.plan.noise, estimate.plan.event),
          .kind = kKind,
          .event = codec::EncodeEvent(estimate.plan.event),
          .label = LabelOf(estimate.plan) + estimate.scope.Words(),
          .postings = estimate.price.Postings()};
}

// `request_id` is empty where nothing is going to be charged.
absl::StatusOr<WorkloadEstimate> PlanAndPrice(Curator& curator, const WorkloadRequest& request,
                                              std::string_view request_id) {
  ASSIGN_OR_RETURN(DatasetView dataset, FindVisible(curator.ledger, request.principal, request.dataset));
  ASSIGN_OR_RETURN(RequestScope scope,
                   ScopeOf(curator.ledger, dataset, request.principal, request_id, request.parts));
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, GoverningRule(scope.accounts));
  ASSIGN_OR_RETURN(std::vector<dp::AttributeSet> marginals,
                   ResolveMarginals(dataset.schema.domain, request.queries));
  ASSIGN_OR_RETURN(dp::MarginalPlan plan,
                   dp::PlanMarginals(dataset.schema.domain, dataset.unit_bound, rule, std::move(marginals),
                                     request.spend, request.mechanism));
  ASSIGN_OR_RETURN(Price price, PriceOf(dataset, scope.accounts, plan.event, plan.linear));
  return WorkloadEstimate{std::move(dataset), std::move(scope), std::move(plan), std::move(price)};
}

}  // namespace

absl::StatusOr<std::vector<dp::AttributeSet>> ResolveMarginals(const dp::Domain& domain,
                                                               const std::vector<MarginalsQuery>& queries) {
  std::vector<dp::AttributeSet> marginals;
  for (size_t i = 0; i < queries.size(); ++i) {
    ASSIGN_OR_RETURN(
        const std::vector<dp::AttributeSet> sets,
        ResolveQuery(domain, queries[i], absl::StrCat("workload.query_sets[", i, "].marginals")));
    marginals.insert(marginals.end(), sets.begin(), sets.end());
  }
  const absl::Status valid = dp::ValidateMarginals(domain, marginals, kReleaseLimits);
  if (!valid.ok()) return AtPath("workload", "workload.marginals", valid);
  return marginals;
}

absl::StatusOr<WorkloadEstimate> EstimateWorkload(Curator& curator, const WorkloadRequest& request) {
  return PlanAndPrice(curator, request, "");
}

absl::StatusOr<WorkloadAnswer> AnswerWorkload(Curator& curator, const WorkloadRequest& request,
                                              const std::string& request_id, Intent intent) {
  RETURN_IF_ERROR(CheckRequestId(request_id));
  ASSIGN_OR_RETURN(const WorkloadEstimate estimate, PlanAndPrice(curator, request, request_id));
  WorkloadAnswer answer{.dataset = estimate.dataset,
                        .release = {},
                        .answer = {},
                        .price = estimate.price,
                        .request_id = request_id};
  if (intent == Intent::kValidateOnly) return answer;
  RETURN_IF_ERROR(
      CheckAnswersOrReplays(curator.ledger, estimate.dataset.record, request.principal, request_id));

  const KeyedLock::Holder one_at_a_time(curator.requests, absl::StrCat(request.principal, "/", request_id));
  ASSIGN_OR_RETURN(ReleasedOnce released,
                   ReleaseOnce(curator.ledger, curator.sealer, OrderFor(estimate, request, request_id),
                               [&](const dp::DrawKey& key) { return DrawAnswer(curator, estimate, key); }));
  ASSIGN_OR_RETURN(answer.answer, codec::DecodeWorkloadRelease(released.release.payload));
  released.release.payload.clear();
  answer.release = std::move(released.release);
  answer.replayed = released.replayed;
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts, AccountsOf(curator.ledger, answer.dataset));
  ASSIGN_OR_RETURN(const ledger::Charge charge, curator.ledger.GetCharge(answer.release.charge_id));
  ASSIGN_OR_RETURN(answer.price, PricePaid(answer.dataset, accounts, charge));
  return answer;
}

}  // namespace curator::service
