#include "service/workloads/workloads.h"

#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "codec/fingerprint.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

constexpr char kWorkloadKind[] = "workload";

// What is going to be stored, without what is drawn.
codec::WorkloadRelease ReleaseOf(const WorkloadEstimate& estimate) {
  return {.asked = estimate.asked,
          .plans = estimate.plan.shape.joint.plans,
          .measured = estimate.plan.shape.joint.measured,
          .noise = estimate.plan.bought.noise,
          .values = std::vector<std::vector<int64_t>>(estimate.plan.shape.joint.measured.size()),
          .event = {}};
}

// Whole marginals are counted as such: their price is that of marginals (MeasuredSensitivity()).
absl::StatusOr<std::vector<std::vector<int64_t>>> Measure(dp::Kernel& kernel,
                                                          const std::vector<dp::QueryGroup>& groups,
                                                          const dp::NoiseSpec& noise) {
  std::vector<dp::AttributeSet> marginals;
  for (const dp::QueryGroup& group : groups) {
    if (std::holds_alternative<dp::EveryCell>(group.queries)) marginals.push_back(group.attributes);
  }
  return marginals.size() == groups.size() ? kernel.NoisyCounts(marginals, noise)
                                           : kernel.NoisyCounts(groups, noise);
}

absl::StatusOr<std::string> DrawAnswer(Curator& curator, const WorkloadEstimate& estimate,
                                       const dp::DrawKey& key) {
  const DatasetView& dataset = estimate.dataset;
  ASSIGN_OR_RETURN(const dp::SealedTableHandle table, LoadTable(curator.store, dataset, estimate.scope));
  dp::Drbg bits(key);
  dp::Kernel kernel(table, dataset.schema.domain, dataset.unit_bound, dp::Meter(estimate.plan.bought.draws),
                    bits);
  kernel.CountOn(curator.cores);
  codec::WorkloadRelease release = ReleaseOf(estimate);
  ASSIGN_OR_RETURN(release.values, Measure(kernel, release.measured, release.noise));
  release.event = dp::Describe(estimate.plan.bought.event);
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
                                         ReleaseOf(estimate), estimate.plan.bought.event),
          .kind = kWorkloadKind,
          .event = codec::EncodeEvent(estimate.plan.bought.event),
          .label = WordsOf(estimate.dataset.schema.domain, estimate.asked) + estimate.scope.Words(),
          .postings = estimate.price.Postings()};
}

// What a request asks, and of which records.
struct Question {
  DatasetView dataset;
  RequestScope scope;
  std::vector<dp::AskedSet> asked;
};

// `request_id` is empty where nothing is going to be charged.
absl::StatusOr<Question> QuestionOf(Curator& curator, const WorkloadRequest& request,
                                    std::string_view request_id) {
  ASSIGN_OR_RETURN(DatasetView dataset, FindVisible(curator.ledger, request.principal, request.dataset));
  ASSIGN_OR_RETURN(RequestScope scope,
                   ScopeOf(curator.ledger, dataset, request.principal, request_id, request.parts));
  ASSIGN_OR_RETURN(std::vector<dp::AskedSet> asked, ResolveWorkload(dataset.schema.domain, request.queries));
  return Question{std::move(dataset), std::move(scope), std::move(asked)};
}

// A release that the ledger's store refused would be charged and never had.
absl::Status CheckReleaseFits(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                              const dp::JointMeasurement& joint) {
  const int64_t bytes = codec::MostEncodedBytes(domain, asked, joint.plans, joint.measured);
  if (bytes <= codec::kMostReleaseBytes) return absl::OkStatus();
  return InvalidField("workload",
                      absl::StrCat("makes a release of up to ", bytes, " bytes; at most ",
                                   codec::kMostReleaseBytes, " are stored; ask for less at once"));
}

absl::StatusOr<WorkloadEstimate> PlanAndPrice(const WorkloadRequest& request, Question question) {
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, GoverningRule(question.scope.accounts));
  const dp::Domain& domain = question.dataset.schema.domain;
  const dp::UnitBound& unit = question.dataset.unit_bound;
  std::vector<dp::QuerySet> sets;
  for (const dp::AskedSet& set : question.asked) sets.push_back(set.queries);
  ASSIGN_OR_RETURN(
      dp::WorkloadPlan plan,
      request.target
          ? dp::PlanForTarget(domain, unit, rule, std::move(sets), *request.target, request.mechanism)
          : dp::PlanWorkload(domain, unit, rule, std::move(sets), request.spend, request.mechanism));
  RETURN_IF_ERROR(CheckReleaseFits(domain, question.asked, plan.shape.joint));
  ASSIGN_OR_RETURN(Price price,
                   PriceOf(question.dataset, question.scope.accounts, plan.bought.event, plan.bought.linear));
  return WorkloadEstimate{std::move(question.dataset),
                          std::move(question.scope),
                          std::move(question.asked),
                          std::move(plan),
                          std::move(price),
                          std::nullopt};
}

// A request that was charged before is answered by what it paid for.
absl::StatusOr<bool> WasChargedBefore(Curator& curator, const WorkloadRequest& request,
                                      const std::string& request_id) {
  const absl::StatusOr<ledger::Charge> charge = curator.ledger.FindCharge(request.principal, request_id);
  if (absl::IsNotFound(charge.status())) return false;
  RETURN_IF_ERROR(charge.status());
  return true;
}

// Charges, draws and stores, or finds what is stored, and fills `answer` from it.
absl::StatusOr<WorkloadAnswer> Paid(Curator& curator, const WorkloadRequest& request,
                                    const WorkloadEstimate& estimate, WorkloadAnswer answer) {
  const std::string& request_id = answer.request_id;
  RETURN_IF_ERROR(
      CheckAnswersOrReplays(curator.ledger, estimate.dataset.record, request.principal, request_id));
  const KeyedLock::Holder one_at_a_time(curator.requests, absl::StrCat(request.principal, "/", request_id));
  ASSIGN_OR_RETURN(ReleasedOnce released,
                   ReleaseOnce(curator.ledger, curator.sealer, OrderFor(estimate, request, request_id),
                               [&](const dp::DrawKey& key) { return DrawAnswer(curator, estimate, key); }));
  ASSIGN_OR_RETURN(answer.answer, codec::DecodeWorkloadRelease(released.release.payload));
  // Plain marginals are stored as one query set; the request knows to which of its sets each belongs.
  if (codec::IsPlainMarginals(answer.answer) &&
      answer.answer.measured == estimate.plan.shape.joint.measured) {
    answer.answer.asked = estimate.asked;
    answer.answer.plans = estimate.plan.shape.joint.plans;
  }
  released.release.payload.clear();
  answer.release = std::move(released.release);
  answer.replayed = released.replayed;
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts, AccountsOf(curator.ledger, answer.dataset));
  ASSIGN_OR_RETURN(const ledger::Charge charge, curator.ledger.GetCharge(answer.release.charge_id));
  ASSIGN_OR_RETURN(answer.price, PricePaid(answer.dataset, accounts, charge));
  return answer;
}

template <typename Units>
std::optional<Units> Scaled(const std::optional<Units>& amount, int64_t times, int64_t divisor) {
  if (!amount || amount->units() > std::numeric_limits<int64_t>::max() / times) return amount;
  return Units(amount->units() * times / divisor);
}

}  // namespace

absl::StatusOr<std::vector<SpendChoice>> SpendChoices(const WorkloadEstimate& estimate) {
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, GoverningRule(estimate.scope.accounts));
  const dp::WorkloadShape& shape = estimate.plan.shape;
  std::vector<SpendChoice> choices;
  for (const int64_t quarters : {1, 2, 4, 8, 16}) {
    dp::Spend spend = estimate.plan.spend;  // a delta is not a matter of choice
    spend.epsilon = Scaled(spend.epsilon, quarters, 4);
    spend.rho = Scaled(spend.rho, quarters, 4);
    const absl::StatusOr<dp::NoisePurchase> bought =
        dp::BuyNoise(rule, spend, shape.sensitivity, shape.removal, std::nullopt);
    if (!bought.ok()) continue;
    ASSIGN_OR_RETURN(Price price,
                     PriceOf(estimate.dataset, estimate.scope.accounts, bought->event, bought->linear));
    choices.push_back({spend, bought->noise, std::move(price)});
  }
  return choices;
}

absl::StatusOr<WorkloadEstimate> EstimateWorkload(Curator& curator, const WorkloadRequest& request) {
  ASSIGN_OR_RETURN(Question question, QuestionOf(curator, request, ""));
  ASSIGN_OR_RETURN(
      const std::optional<FreeAnswer> free,
      FindFreeAnswer(curator, question.dataset, question.scope, request.principal, question.asked));
  ASSIGN_OR_RETURN(WorkloadEstimate estimate, PlanAndPrice(request, std::move(question)));
  if (free) estimate.free_from = free->release_id;
  return estimate;
}

absl::StatusOr<WorkloadAnswer> AnswerWorkload(Curator& curator, const WorkloadRequest& request,
                                              const std::string& request_id, Intent intent,
                                              const AnswerCheck& check) {
  RETURN_IF_ERROR(CheckRequestId(request_id));
  ASSIGN_OR_RETURN(Question question, QuestionOf(curator, request, request_id));
  ASSIGN_OR_RETURN(const bool was_charged, WasChargedBefore(curator, request, request_id));
  std::optional<FreeAnswer> free;
  if (!was_charged) {
    absl::StatusOr<std::optional<FreeAnswer>> found =
        FindFreeAnswer(curator, question.dataset, question.scope, request.principal, question.asked);
    // To whom will pay anyway this is a hint, which may be missing.
    if (!found.ok() && request.prefer_free) return found.status();
    if (found.ok()) free = *std::move(found);
  }
  if (free && request.prefer_free) {
    RETURN_IF_ERROR(
        CheckAnswersOrReplays(curator.ledger, question.dataset.record, request.principal, request_id));
    RETURN_IF_ERROR(check(question.dataset, free->answer));
    return WorkloadAnswer{.dataset = std::move(question.dataset),
                          .release = {},
                          .answer = std::move(free->answer),
                          .price = {},
                          .request_id = request_id,
                          .replayed = false,
                          .free_from = free->release_id,
                          .could_be_free_from = {}};
  }
  ASSIGN_OR_RETURN(const WorkloadEstimate estimate, PlanAndPrice(request, std::move(question)));
  RETURN_IF_ERROR(check(estimate.dataset, ReleaseOf(estimate)));
  WorkloadAnswer answer{.dataset = estimate.dataset,
                        .release = {},
                        .answer = {},
                        .price = estimate.price,
                        .request_id = request_id,
                        .replayed = false,
                        .free_from = {},
                        .could_be_free_from = {}};
  if (free) answer.could_be_free_from = free->release_id;
  if (intent == Intent::kValidateOnly) return answer;
  return Paid(curator, request, estimate, std::move(answer));
}

}  // namespace curator::service
