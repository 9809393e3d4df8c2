#include "service/workloads/workloads.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "codec/draw_identity.h"
#include "codec/fingerprint.h"
#include "codec/release_codec.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/workload/memory_forecast.h"
#include "service/charges/refusals_by_rule.h"
#include "service/release_once.h"
#include "service/tables.h"
#include "service/workloads/answer_limits.h"
#include "service/workloads/answers.h"
#include "service/workloads/free_answers.h"
#include "service/workloads/resolve_workload.h"
#include "service/workloads/spend_choices.h"

namespace curator::service {
namespace {

// As Synthesizer::version().
constexpr int64_t kWorkloadDrawVersion = 1;

// The planned release: what will be stored, without the values that are drawn.
dp::WorkloadRelease ReleaseOf(const WorkloadEstimate& estimate) {
  const dp::WorkloadPlan& plan = estimate.plan;
  return {.asked = estimate.asked,
          .plans = plan.shape.joint.plans,
          .measured = plan.shape.joint.measured,
          .noise = plan.bought.noise,
          .values = std::vector<std::vector<int64_t>>(plan.residual ? plan.residual->queries.groups.size()
                                                                    : plan.shape.joint.measured.size()),
          .residual = plan.residual,
          .statistics = {.draws = plan.statistics,
                         .bought = plan.bought_draws,
                         .values = std::vector<std::vector<int64_t>>(plan.statistics.size())}};
}

absl::StatusOr<std::vector<int64_t>> MeasureOne(dp::Kernel& kernel, const dp::RecordGroups& groups,
                                                const dp::StatisticsDraw& draw,
                                                const dp::BoughtDraw& bought) {
  if (const auto* sum = std::get_if<dp::SumDraw>(&draw.what))
    return kernel.NoisySums({.groups = groups, .blocks = sum->blocks, .value = sum->value}, bought.noise);
  if (const auto* quantile = std::get_if<dp::QuantileDraw>(&draw.what)) {
    constexpr int64_t kThousand = 1000;
    return kernel.SelectQuantiles({.groups = groups,
                                   .column = quantile->column,
                                   .numerator = quantile->thousandths,
                                   .denominator = kThousand},
                                  bought.epsilon);
  }
  return kernel.NoisyUnitCounts(groups, bought.noise);
}

// The groups of one set are held at a time.
absl::Status MeasureStatistics(dp::Kernel& kernel, dp::WorkloadRelease& release) {
  dp::StatisticsRelease& statistics = release.statistics;
  for (size_t set = 0; set < release.asked.size(); ++set) {
    const dp::AskedStatistics& asked = *release.asked[set].statistics;
    ASSIGN_OR_RETURN(const dp::RecordGroups groups,
                     dp::GroupsBy(kernel.domain(), asked.by, asked.where, asked.cells));
    for (size_t i = 0; i < statistics.draws.size(); ++i) {
      if (statistics.draws[i].set != set) continue;
      ASSIGN_OR_RETURN(statistics.values[i],
                       MeasureOne(kernel, groups, statistics.draws[i], statistics.bought[i]));
    }
  }
  return absl::OkStatus();
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

codec::DrawIdentity IdentityOf(const WorkloadEstimate& estimate) {
  return {.dataset_id = estimate.dataset().record.id,
          .dataset_version = estimate.scope.version,
          .parts = estimate.scope.PartNumbers(),
          .method = kWorkloadKind,
          .method_version = kWorkloadDrawVersion,
          .draws = estimate.plan.bought.draws,
          .drawn_from = {estimate.plan.shape.joint.measured},
          .statistics = dp::StatisticsOf(estimate.asked),
          .statistics_draws = estimate.plan.statistics,
          .residual = estimate.plan.residual};
}

absl::StatusOr<Drawn> DrawAnswer(Services& services, const WorkloadEstimate& estimate,
                                 const records::ReadyTable& ready, const dp::DrawKey& key) {
  const DatasetView& dataset = estimate.dataset();
  ASSIGN_OR_RETURN(const dp::SealedTableHandle table, ready.Open());
  dp::Drbg bits(key);
  dp::Kernel kernel(table, dataset.schema.domain, dataset.unit_bound, dp::Meter(IdentityOf(estimate).draws),
                    bits);
  kernel.UseExecutor(services.cores);
  dp::WorkloadRelease release = ReleaseOf(estimate);
  if (dp::AreStatistics(release.asked)) {
    RETURN_IF_ERROR(MeasureStatistics(kernel, release));
  } else if (release.residual) {
    ASSIGN_OR_RETURN(release.values,
                     kernel.NoisyProducts(release.residual->queries, release.residual->sigma_squared));
  } else {
    ASSIGN_OR_RETURN(release.values, Measure(kernel, release.measured, release.noise));
  }
  release.event = dp::Describe(estimate.plan.bought.event);
  return Drawn{codec::EncodeRelease(release), MeasuresOf(estimate.scope.PartNumbers(), release)};
}

dp::ErrorMeasure ObjectiveOf(const WorkloadRequest& request) {
  return request.objective.value_or(dp::ErrorMeasure::kMean);
}

// What the client asked, with nothing that a plan adds.
std::string FingerprintOf(const DatasetView& dataset, const RequestScope& scope,
                          const std::vector<dp::AskedSet>& asked, const WorkloadRequest& request) {
  return codec::FingerprintOf(
      codec::AskedWorkload{.dataset_id = dataset.record.id,
                           .parts = request.parts.empty() ? std::vector<int64_t>() : scope.PartNumbers(),
                           .queries = asked,
                           .spend = request.spend,
                           .target = request.target,
                           .mechanism = request.mechanism,
                           .objective = ObjectiveOf(request)});
}

ChargeOrder OrderFor(const WorkloadEstimate& estimate, const WorkloadRequest& request,
                     const std::string& request_id) {
  const ledger::Dataset& dataset = estimate.dataset().record;
  return {.dataset_id = dataset.id,
          .dataset_version = estimate.scope.version,
          .dataset_revision = dataset.revision,
          .refusal_rules_hash = dataset.refusal_rules_hash,
          .principal = request.principal,
          .request_id = request_id,
          .fingerprint = FingerprintOf(estimate.dataset(), estimate.scope, estimate.asked, request),
          .earlier_fingerprint = codec::EarlierWorkloadFingerprint(
              dataset.id, estimate.scope.version, estimate.scope.PartNumbers(), ReleaseOf(estimate),
              estimate.plan.bought.event),
          .draw_identity = codec::HashOf(IdentityOf(estimate)),
          .draws_as_before = kWorkloadDrawVersion == 1,
          .kind = kWorkloadKind,
          .event = codec::EncodeEvent(estimate.plan.bought.event),
          .label = DescribeWorkload(estimate.dataset().schema.domain, estimate.asked) +
                   estimate.scope.Description(),
          .postings = estimate.price.Postings(),
          .client_left = request.client_left};
}

// What a request asks, and about which records.
struct Question {
  std::shared_ptr<const KnownDataset> known;
  RequestScope scope;
  std::vector<dp::AskedSet> asked;

  const DatasetView& dataset() const { return known->view; }
};

absl::Status CheckObjective(const WorkloadRequest& request, const std::vector<dp::AskedSet>& asked) {
  if (!request.objective) return absl::OkStatus();
  if (request.target)
    return InvalidField("objective", "is given beside a target, which says what the plan makes least");
  if (dp::AreStatistics(asked))
    return InvalidField("objective", "is of counts; statistics share a spend evenly: leave it out");
  return absl::OkStatus();
}

// `earlier` is what the request was charged before.
absl::StatusOr<Question> QuestionOf(std::shared_ptr<const KnownDataset> dataset,
                                    const WorkloadRequest& request,
                                    const std::optional<ledger::Charge>& earlier) {
  ASSIGN_OR_RETURN(RequestScope scope, ScopeIn(*dataset, request.principal, earlier, request.parts));
  ASSIGN_OR_RETURN(std::vector<dp::AskedSet> asked, ResolveWorkload(dataset->view.schema, request.queries));
  RETURN_IF_ERROR(CheckObjective(request, asked));
  if (request.selection) {
    RETURN_IF_ERROR(CheckSelection(dataset->view.schema.domain, asked, *request.selection));
  }
  return Question{std::move(dataset), std::move(scope), std::move(asked)};
}

std::vector<dp::QuerySet> QuerySetsOf(const std::vector<dp::AskedSet>& asked) {
  std::vector<dp::QuerySet> sets;
  for (const dp::AskedSet& set : asked) sets.push_back(set.queries);
  return sets;
}

constexpr char kAskForLess[] = "ask for fewer answers, or over fewer cells, at once";

RequestMemory MemoryOf(Services& services, const WorkloadRequest& request) {
  return {services.memory, request.principal, request.client_left};
}

// What a plan may take, taken before it is made.
absl::StatusOr<RequestMemory> MemoryForPlanning(Services& services, const WorkloadRequest& request,
                                                const Question& question) {
  const dp::Domain& domain = question.dataset().schema.domain;
  int64_t bytes = 0;
  if (dp::AreStatistics(question.asked)) {
    bytes = dp::StatisticsPlanningBytes(domain, dp::StatisticsOf(question.asked));
  } else {
    const std::vector<dp::QuerySet> sets = QuerySetsOf(question.asked);
    RETURN_IF_ERROR(dp::ValidateSets(domain, sets));
    bytes = dp::PlanningBytes(domain, sets);
  }
  if (bytes > kMostFreeBytes) return TakesTooMuch("workload", "to plan", bytes, kMostFreeBytes, kAskForLess);
  RequestMemory memory = MemoryOf(services, request);
  RETURN_IF_ERROR(memory.Add(bytes));
  return memory;
}

// Adds what the answer takes to what its plan does; before the charge.
absl::Status AddForAnswering(RequestMemory& memory, const WorkloadEstimate& estimate) {
  const dp::Domain& domain = estimate.dataset().schema.domain;
  RETURN_IF_ERROR(CheckAnswerMemory(domain, estimate.asked, estimate.plan, memory.bytes()));
  return memory.Add(AnsweringBytes(domain, estimate.asked, estimate.plan));
}

// Whether a plan may choose residuals or parities where the request does not name them. A charge that was
// made before it could is planned as it was then.
enum class JointStrategies { kAllowed, kNotYet };

absl::StatusOr<dp::WorkloadPlan> PlanOf(const WorkloadRequest& request, const dp::Spend& spend,
                                        const dp::RuleSpec& rule, const Question& question,
                                        JointStrategies joint) {
  const dp::Domain& domain = question.dataset().schema.domain;
  const dp::UnitBound& unit = question.dataset().unit_bound;
  const std::vector<dp::AskedSet>& asked = question.asked;
  if (dp::AreStatistics(asked)) {
    if (request.target) {
      return InvalidField(
          "target",
          "is an error in records, and statistics have errors in other units: give a spend (an estimate "
          "without one shows what some would buy), or ask counts alone, as a marginal or as predicates");
    }
    return dp::PlanStatistics(domain, unit, rule, dp::StatisticsOf(asked), spend, request.mechanism);
  }
  const dp::PlanOptions options{.objective = ObjectiveOf(request),
                                .may_choose_joint_strategies = joint == JointStrategies::kAllowed,
                                .stop = request.client_left};
  const std::vector<dp::QuerySet> sets = QuerySetsOf(asked);
  return request.target
             ? dp::PlanForTarget(domain, unit, rule, sets, *request.target, request.mechanism, options)
             : dp::PlanWorkload(domain, unit, rule, sets, spend, request.mechanism, options);
}

absl::StatusOr<WorkloadEstimate> PlanAndPrice(const WorkloadRequest& request, const dp::Spend& spend,
                                              Question question,
                                              JointStrategies joint = JointStrategies::kAllowed) {
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, GoverningRule(question.scope.accounts));
  ASSIGN_OR_RETURN(dp::WorkloadPlan plan, PlanOf(request, spend, rule, question, joint));
  RETURN_IF_ERROR(CheckReleaseFits(question.dataset().schema.domain, question.asked, plan));
  ASSIGN_OR_RETURN(Price price, PriceOf(question.dataset(), question.scope.accounts, plan.bought.event,
                                        plan.bought.linear));
  return WorkloadEstimate{std::move(question.known), std::move(question.scope), std::move(question.asked),
                          std::move(plan), std::move(price)};
}

// The plan of what `earlier` was charged for, if it was made for this request by this program or one from
// before plans could choose residuals or parities; otherwise the plan of a new request.
absl::StatusOr<WorkloadEstimate> PlanAgain(const WorkloadRequest& request, const Question& question,
                                           const ledger::Charge& earlier) {
  if (!earlier.draw_identity.empty()) {
    absl::StatusOr<WorkloadEstimate> estimate = PlanAndPrice(request, request.spend, question);
    const bool is_refused =
        absl::IsInvalidArgument(estimate.status()) || absl::IsOutOfRange(estimate.status());
    if (!estimate.ok() && !is_refused) return estimate.status();
    if (estimate.ok() && codec::HashOf(IdentityOf(*estimate)) == earlier.draw_identity) return estimate;
  }
  return PlanAndPrice(request, request.spend, question, JointStrategies::kNotYet);
}

// What the owner's rules see of the request.
RuledRequest RuledBy(const WorkloadEstimate& estimate, const WorkloadRequest& request) {
  std::set<uint32_t> attributes;
  for (const dp::AskedSet& set : estimate.asked) {
    AddAttributesOf(set.queries.groups, attributes);
    if (set.statistics) AddAttributesOf(estimate.dataset().schema.domain, *set.statistics, attributes);
  }
  AddAttributesOf(estimate.plan.shape.joint.measured, attributes);
  if (!request.parts.empty()) AddPartitionAttribute(estimate.dataset(), attributes);
  return {.principal = request.principal,
          .kind = codec::kRuledWorkload,
          .attributes = std::move(attributes),
          .price = estimate.price,
          .accounts = estimate.scope.accounts};
}

// Unless a free answer is preferred it is only a hint: a failed lookup is ignored. `numbers` as in
// FindFreeAnswer().
absl::StatusOr<std::optional<FreeAnswer>> FreeAnswerFor(Services& services, const WorkloadRequest& request,
                                                        const Question& question,
                                                        const std::vector<int64_t>* numbers = nullptr) {
  absl::StatusOr<std::optional<FreeAnswer>> found =
      FindFreeAnswer(services, question.dataset(), question.scope, request.principal, question.asked,
                     request.client_left, numbers);
  if (!found.ok() && !absl::IsCancelled(found.status()) && !request.prefer_free) return std::nullopt;
  return found;
}

// The id of a recent release that determines all answers. Reads the ledger once for each principal, dataset
// and revision.
absl::StatusOr<std::optional<std::string>> RecentReleaseFor(Services& services,
                                                            const WorkloadRequest& request,
                                                            const Question& question) {
  const ledger::Dataset& dataset = question.dataset().record;
  const std::vector<int64_t> parts = question.scope.PartNumbers();
  if (const auto known = services.recent.Find(request.principal, dataset)) {
    return FindAmong(*known, question.dataset().schema.domain, parts, question.asked, request.client_left);
  }
  ASSIGN_OR_RETURN(std::optional<FreeAnswer> found, FreeAnswerFor(services, request, question));
  std::optional<std::string> release_id;
  std::optional<RecentReleases::Recent> recent;
  if (found) {
    release_id = found->release_id;
    recent = {std::move(found->release_id), parts, std::move(found->answer)};
  }
  services.recent.Begin(request.principal, dataset, std::move(recent));
  return release_id;
}

// Plain marginals are stored as one query set: `asked` says to which of its sets each belongs.
void DivideIntoSets(const std::vector<dp::AskedSet>& asked, dp::WorkloadRelease& release) {
  if (!codec::IsPlainMarginals(release)) return;
  std::map<dp::AttributeSet, size_t> measured;
  for (size_t i = 0; i < release.measured.size(); ++i) measured.emplace(release.measured[i].attributes, i);
  std::vector<dp::SetPlan> plans;
  for (const dp::AskedSet& set : asked) {
    dp::SetPlan& plan = plans.emplace_back();
    for (const dp::QueryGroup& group : set.queries.groups) {
      const auto source = measured.find(group.attributes);
      if (source == measured.end()) return;
      plan.sources.push_back(source->second);
    }
  }
  release.asked = asked;
  release.plans = std::move(plans);
}

// Fills `answer` from what is stored, and `decoded` from it, but for its price.
void Fill(ReleasedOnce released, dp::WorkloadRelease decoded, const std::vector<dp::AskedSet>& asked,
          WorkloadAnswer& answer) {
  answer.answer = std::move(decoded);
  DivideIntoSets(asked, answer.answer);
  released.release.payload = std::string();  // which gives its memory back
  answer.release = std::move(released.release);
  answer.replayed = released.replayed;
}

// A larger payload is read on its own, once the request has the memory that it takes.
constexpr int64_t kMostBytesAtOnce = int64_t{64} << 10;

// Finds what the request was charged before, on any dataset and of any kind, because another request may have
// used the id; the balances of `accounts`, and the revision of the dataset.
ledger::EarlierQuery QueryFor(const Principal& principal, const std::string& request_id,
                              const DatasetView& dataset, const std::vector<ledger::Account>& accounts) {
  ledger::EarlierQuery query{
      .principal = principal, .request_id = request_id, .dataset_id = dataset.record.id, .account_ids = {}};
  for (const ledger::Account& account : accounts) query.account_ids.push_back(account.id);
  return query;
}

// What a charge that was made before has cost, and its receipt. `accounts` are those that may have paid.
absl::Status PriceAgain(Services& services, const ledger::EarlierRequest& earlier,
                        const std::vector<ledger::Account>& accounts, WorkloadAnswer& answer) {
  if (!earlier.charge || !earlier.entry) return absl::DataLossError("a stored release without its charge");
  ASSIGN_OR_RETURN(Price paid, PricePaid(answer.dataset(), accounts, *earlier.charge));
  answer.price = PriceAfter(std::move(paid), earlier.balances);
  ASSIGN_OR_RETURN(answer.receipt,
                   ReceiptOf(services.access(), services.signer, answer.dataset().record, *earlier.entry));
  return absl::OkStatus();
}

// After a charge, whose accounts have changed since the price was computed.
absl::StatusOr<WorkloadAnswer> FilledAndPriced(Services& services, ReleasedOnce released,
                                               const WorkloadEstimate& estimate, const Principal& principal,
                                               WorkloadAnswer answer) {
  const std::optional<ledger::Attempt> charged = std::move(released.charged);
  ASSIGN_OR_RETURN(dp::WorkloadRelease decoded, codec::DecodeWorkloadRelease(released.release.payload));
  Fill(std::move(released), std::move(decoded), estimate.asked, answer);
  if (charged) {
    answer.price = PriceAfter(estimate.price, charged->moved);
    ASSIGN_OR_RETURN(answer.receipt,
                     ReceiptOf(services.access(), services.signer, answer.dataset().record, charged->charge,
                               charged->entry.value(), estimate.price.Postings()));
    return answer;
  }
  ASSIGN_OR_RETURN(const ledger::EarlierRequest earlier,
                   services.ledger.FindEarlier(
                       QueryFor(principal, answer.request_id, answer.dataset(), estimate.scope.accounts)));
  RETURN_IF_ERROR(PriceAgain(services, earlier, estimate.scope.accounts, answer));
  return answer;
}

// The answer of a request that `earlier` was charged for and that was stored; none when there is none, or
// when only a plan can show whether it is the same request.
absl::StatusOr<std::optional<WorkloadAnswer>> Replayed(Services& services, const WorkloadRequest& request,
                                                       const dp::PostProcessing& steps,
                                                       const Question& question,
                                                       const ledger::EarlierRequest& earlier) {
  if (!earlier.release || earlier.charge->dataset_id != question.dataset().record.id) return std::nullopt;
  const std::string fingerprint = FingerprintOf(question.dataset(), question.scope, question.asked, request);
  if (!IsReleased(*earlier.charge, fingerprint)) return std::nullopt;
  ledger::Release release = *earlier.release;
  services.repetitions.CountBytes(request.principal, release.payload_size);
  WorkloadAnswer answer{.known = question.known, .price = {}, .request_id = earlier.charge->request_id};
  answer.memory = MemoryOf(services, request);
  RETURN_IF_ERROR(answer.memory.AddUpToAll(dp::StoredAnswerBytes(release.payload_size)));
  if (!earlier.has_payload) {
    ASSIGN_OR_RETURN(release, services.ledger.GetRelease(release.id));
  }
  ASSIGN_OR_RETURN(dp::WorkloadRelease decoded,
                   DecodeAnswer(answer.dataset().schema.domain, release.payload, answer.memory));
  Fill({std::move(release), true}, std::move(decoded), question.asked, answer);
  RETURN_IF_ERROR(PriceAgain(services, earlier, question.scope.accounts, answer));
  const dp::Domain& domain = question.dataset().schema.domain;
  RETURN_IF_ERROR(CheckPostProcessing(domain, answer.answer, steps));
  RETURN_IF_ERROR(answer.memory.AddUpToAll(PostProcessingBytes(domain, answer.answer, steps)));
  return answer;
}

// Whether `earlier` was made by the same request, whose answer is then read however many steps that takes. Of
// a charge from before draw identities only the ledger compares more than the plan shows.
bool MayBeRepeated(const std::optional<ledger::Charge>& earlier, const WorkloadEstimate& estimate,
                   const WorkloadRequest& request) {
  if (!earlier) return false;
  return earlier->draw_identity.empty() ||
         earlier->fingerprint == FingerprintOf(estimate.dataset(), estimate.scope, estimate.asked, request);
}

// The id of what answers for nothing, whose memory is given back.
std::optional<std::string> IdOf(std::optional<FreeAnswer> free) {
  return free ? std::optional(std::move(free->release_id)) : std::nullopt;
}

// What was read of the dataset of a request, in one message with what the request was charged before.
struct LookedUp {
  std::shared_ptr<const KnownDataset> known;  // null: it is not cached, or has changed since
  ledger::EarlierRequest earlier;
};

const std::vector<int64_t>* NumbersIn(const ledger::EarlierRequest& earlier) {
  return earlier.release_numbers ? &*earlier.release_numbers : nullptr;
}

absl::StatusOr<LookedUp> LookUp(Services& services, Method method, const WorkloadRequest& request,
                                const std::string& request_id, bool seeks_free) {
  LookedUp found{services.datasets.Find(method, request.principal, request.dataset), {}};
  if (found.known == nullptr) {
    ASSIGN_OR_RETURN(found.earlier, services.ledger.FindEarlier({.principal = request.principal,
                                                                 .request_id = request_id,
                                                                 .dataset_id = {},
                                                                 .account_ids = {},
                                                                 .most_payload_bytes = kMostBytesAtOnce}));
    return found;
  }
  const KnownDataset& known = *found.known;
  ledger::EarlierQuery query = QueryFor(request.principal, request_id, known.view, known.accounts);
  query.most_payload_bytes = kMostBytesAtOnce;
  if (seeks_free) {
    const absl::StatusOr<Question> question = QuestionOf(found.known, request, std::nullopt);
    if (question.ok())
      LookForReleases(known.view, question->scope, request.principal, question->asked, query);
  }
  ASSIGN_OR_RETURN(found.earlier, services.ledger.FindEarlier(query));
  if (found.earlier.revision != known.revision()) found.known = nullptr;
  return found;
}

// Reads the dataset of the request, in place of what was cached.
absl::Status ReadDataset(Services& services, Method method, const WorkloadRequest& request, LookedUp& found) {
  ASSIGN_OR_RETURN(found.known,
                   services.datasets.Read(services.access(), method, request.principal, request.dataset));
  found.earlier.balances.clear();
  found.earlier.release_numbers.reset();
  return absl::OkStatus();
}

// One call of AnswerWorkload().
class AnsweredCall {
 public:
  AnsweredCall(Services& services, const WorkloadRequest& request, const dp::PostProcessing& steps,
               const RequestId& request_id, Intent intent)
      : services_(services),
        request_(request),
        steps_(steps),
        request_id_(request_id.text()),
        intent_(intent) {}

  // As for a new request on a dataset that may be outdated. Where this refuses the request and is_charged()
  // is false, the refusal stands only if the dataset is as it was taken to be and the request was not charged
  // before.
  absl::StatusOr<WorkloadAnswer> AnswerNew(std::shared_ptr<const KnownDataset> known) {
    ASSIGN_OR_RETURN(Question question, QuestionOf(std::move(known), request_, std::nullopt));
    ASSIGN_OR_RETURN(std::optional<std::string> hint, RecentReleaseFor(services_, request_, question));
    ASSIGN_OR_RETURN(WorkloadAnswer answer, Paid(std::move(question), std::nullopt));
    if (!answer.replayed) answer.could_be_free_from = std::move(hint);
    return answer;
  }

  // After what the request was charged before was looked up.
  absl::StatusOr<WorkloadAnswer> Answer(std::shared_ptr<const KnownDataset> known,
                                        const ledger::EarlierRequest& looked_up) {
    has_looked_up_ = true;
    const std::optional<ledger::Charge>& earlier = looked_up.charge;
    ASSIGN_OR_RETURN(Question question, QuestionOf(std::move(known), request_, earlier));
    SetBalances(question.scope.accounts, looked_up.balances);
    if (intent_ == Intent::kDo) {
      ASSIGN_OR_RETURN(std::optional<WorkloadAnswer> replayed,
                       Replayed(services_, request_, steps_, question, looked_up));
      if (replayed) return *std::move(replayed);
    }
    std::optional<std::string> could_be_free_from;
    // A request that was charged before is answered by what it paid for.
    if (!earlier && request_.prefer_free) {
      ASSIGN_OR_RETURN(std::optional<FreeAnswer> free,
                       FreeAnswerFor(services_, request_, question, NumbersIn(looked_up)));
      if (free) return Free(std::move(question), *std::move(free));
    } else if (!earlier) {
      ASSIGN_OR_RETURN(could_be_free_from, RecentReleaseFor(services_, request_, question));
    }
    ASSIGN_OR_RETURN(WorkloadAnswer answer, Paid(std::move(question), earlier));
    answer.could_be_free_from = std::move(could_be_free_from);
    return answer;
  }

  // From now on the request is charged although its dataset has changed since it was read. The ledger still
  // compares what the charge rests on: the version, the state, the owner's rules and the accounts that have
  // to pay.
  void AcceptChanges() { compares_revision_ = false; }

  // Whether a new charge was made.
  bool is_charged() const { return is_charged_; }

 private:
  absl::StatusOr<WorkloadAnswer> Free(Question question, FreeAnswer free) {
    RETURN_IF_ERROR(
        CheckAcceptsRequest(services_.ledger, question.dataset().record, request_.principal, request_id_));
    const dp::Domain& domain = question.dataset().schema.domain;
    RETURN_IF_ERROR(CheckPostProcessing(domain, free.answer, steps_));
    RETURN_IF_ERROR(AddForReading(domain, free.answer, free.memory));
    RETURN_IF_ERROR(free.memory.AddUpToAll(PostProcessingBytes(domain, free.answer, steps_)));
    return WorkloadAnswer{.known = std::move(question.known),
                          .answer = std::move(free.answer),
                          .request_id = request_id_,
                          .free_from = std::move(free.release_id),
                          .memory = std::move(free.memory)};
  }

  absl::Status AddForPostProcessing(WorkloadEstimate& estimate) const {
    if (!steps_.any()) return absl::OkStatus();
    const dp::Domain& domain = estimate.dataset().schema.domain;
    const dp::WorkloadRelease planned = ReleaseOf(estimate);
    RETURN_IF_ERROR(CheckPostProcessing(domain, planned, steps_));
    return estimate.memory.Add(PostProcessingBytes(domain, planned, steps_));
  }

  // Plans, and then does ChargeAndRelease().
  absl::StatusOr<WorkloadAnswer> Paid(Question question, const std::optional<ledger::Charge>& earlier) {
    ASSIGN_OR_RETURN(RequestMemory memory, MemoryForPlanning(services_, request_, question));
    ASSIGN_OR_RETURN(WorkloadEstimate estimate,
                     earlier ? PlanAgain(request_, question, *earlier)
                             : PlanAndPrice(request_, request_.spend, std::move(question)));
    if (!MayBeRepeated(earlier, estimate, request_)) {
      RETURN_IF_ERROR(CheckCanBeAnswered(estimate.dataset().schema.domain, estimate.asked, estimate.plan,
                                         memory.bytes()));
    }
    // Under the id of an earlier charge nothing new is charged.
    if (!earlier) {
      RETURN_IF_ERROR(CheckNoRuleRefuses(services_.ledger, estimate.dataset(),
                                         [&] { return RuledBy(estimate, request_); }));
    }
    estimate.memory = std::move(memory);
    RETURN_IF_ERROR(AddForPostProcessing(estimate));
    WorkloadAnswer answer{.known = estimate.known, .price = estimate.price, .request_id = request_id_};
    if (intent_ == Intent::kValidateOnly) return answer;
    return ChargeAndRelease(estimate, std::move(answer));
  }

  // Charges, draws and stores, or finds what is stored, and fills `answer` from it.
  absl::StatusOr<WorkloadAnswer> ChargeAndRelease(WorkloadEstimate& estimate, WorkloadAnswer answer) {
    ledger::Ledger& ledger = services_.ledger;
    const Principal& principal = request_.principal;
    RETURN_IF_ERROR(CheckAcceptsRequest(ledger, estimate.dataset().record, principal, request_id_));
    RETURN_IF_ERROR(
        CheckLeastCost(ledger, estimate.price, principal, request_id_, request_.target ? "target" : "spend"));
    RETURN_IF_ERROR(services_.daily.CheckRoomForNew(ledger, principal, request_id_));
    RETURN_IF_ERROR(AddForAnswering(estimate.memory, estimate));
    answer.memory = std::move(estimate.memory);
    ASSIGN_OR_RETURN(
        const std::optional<records::ReadyTable> table,
        TableFor(ledger, services_.store, estimate.dataset(), estimate.scope, principal, request_id_));
    ChargeOrder order = OrderFor(estimate, request_, request_id_);
    order.is_expected_new = !has_looked_up_;
    if (!compares_revision_) order.dataset_revision = 0;
    order.on_new_charge = [&] {
      is_charged_ = true;
      services_.daily.Add(principal, 1);
    };
    ASSIGN_OR_RETURN(ReleasedOnce released,
                     ReleaseOnce(services_.requests, ledger, services_.sealer, services_.late,
                                 std::move(order), [&](const dp::DrawKey& key) {
                                   return DrawAnswer(services_, estimate, table.value(), key);
                                 }));
    if (released.replayed) {
      if (!has_looked_up_) {
        ASSIGN_OR_RETURN(answer.repetition, services_.repetitions.Take(principal));
      }
      services_.repetitions.CountBytes(principal, released.release.payload_size);
    }
    ASSIGN_OR_RETURN(answer,
                     FilledAndPriced(services_, std::move(released), estimate, principal, std::move(answer)));
    if (!answer.replayed && RecentReleases::MayKeep(answer.answer)) {
      services_.recent.Add(principal, estimate.dataset().record,
                           {answer.release.id, estimate.scope.PartNumbers(), answer.answer});
    }
    return answer;
  }

  Services& services_;
  const WorkloadRequest& request_;
  const dp::PostProcessing& steps_;
  const std::string& request_id_;
  const Intent intent_;
  bool has_looked_up_ = false;
  bool compares_revision_ = true;
  bool is_charged_ = false;
};

}  // namespace

absl::StatusOr<WorkloadEstimate> EstimateWorkload(Services& services, const WorkloadRequest& request) {
  ASSIGN_OR_RETURN(LookedUp found,
                   LookUp(services, Method::kEstimateWorkload, request, "", /*seeks_free=*/true));
  if (found.known == nullptr)
    RETURN_IF_ERROR(ReadDataset(services, Method::kEstimateWorkload, request, found));
  ASSIGN_OR_RETURN(Question question, QuestionOf(std::move(found.known), request, std::nullopt));
  SetBalances(question.scope.accounts, found.earlier.balances);
  ASSIGN_OR_RETURN(std::optional<FreeAnswer> free,
                   FreeAnswerFor(services, request, question, NumbersIn(found.earlier)));
  std::optional<std::string> free_from = IdOf(std::move(free));
  ASSIGN_OR_RETURN(RequestMemory memory, MemoryForPlanning(services, request, question));
  const bool has_price = request.target || request.spend != dp::Spend();
  const dp::Spend spend = has_price ? request.spend : LadderKind(question.scope.accounts, request.mechanism);
  ASSIGN_OR_RETURN(WorkloadEstimate estimate, PlanAndPrice(request, spend, std::move(question)));
  if (estimate.plan.classes.empty())
    estimate.plan.classes = dp::ErrorClassesOf(estimate.dataset().schema.domain, estimate.plan.shape);
  RETURN_IF_ERROR(
      CheckCanBeAnswered(estimate.dataset().schema.domain, estimate.asked, estimate.plan, memory.bytes()));
  if (!has_price) RETURN_IF_ERROR(SetLadder(estimate));
  estimate.memory = std::move(memory);
  estimate.free_from = std::move(free_from);
  estimate.marginals_left_out = MarginalsLeftOut(estimate.dataset().schema.domain, request.queries);
  ASSIGN_OR_RETURN(estimate.refused_by_rule, RuleThatRefuses(services.ledger, estimate.dataset(),
                                                             [&] { return RuledBy(estimate, request); }));
  return estimate;
}

namespace {

// Why a request was refused, and what was known about its dataset then.
struct Refusal {
  std::shared_ptr<const KnownDataset> known;
  absl::Status status;
};

// The answer of a request that is new, as far as is known without reading: from what is cached about the
// dataset, and without a look-up of an earlier charge. None where only a look-up can decide; `refusal` then
// says why it would be refused, if it would.
std::optional<absl::StatusOr<WorkloadAnswer>> AnsweredAsNew(Services& services,
                                                            const WorkloadRequest& request,
                                                            AnsweredCall& call,
                                                            std::optional<Refusal>& refusal) {
  std::shared_ptr<const KnownDataset> known =
      services.datasets.Find(Method::kAnswerWorkload, request.principal, request.dataset);
  if (known == nullptr || request.prefer_free || services.repetitions.HasRepeatedLately(request.principal))
    return std::nullopt;
  absl::StatusOr<WorkloadAnswer> answer = call.AnswerNew(known);
  const bool is_final = answer.ok() || call.is_charged() || absl::IsCancelled(answer.status());
  if (is_final) return answer;
  refusal = {std::move(known), answer.status()};
  return std::nullopt;
}

absl::StatusOr<WorkloadAnswer> AnsweredAfterLookUp(Services& services, const WorkloadRequest& request,
                                                   const RequestId& request_id, AnsweredCall& call,
                                                   const std::optional<Refusal>& refusal) {
  ASSIGN_OR_RETURN(LookedUp found, LookUp(services, Method::kAnswerWorkload, request, request_id.text(),
                                          request.prefer_free));
  // Before anything else is done for the request: this look-up is all that a refusal costs.
  RepetitionPace::Place repetition;
  if (found.earlier.release) {
    ASSIGN_OR_RETURN(repetition, services.repetitions.Take(request.principal));
  }
  constexpr int kMostReadings = 3;  // of a dataset that is changed while the request is priced
  for (int readings = 1;; ++readings) {
    if (readings > 1 || found.known == nullptr)
      RETURN_IF_ERROR(ReadDataset(services, Method::kAnswerWorkload, request, found));
    const bool stands =
        refusal && !found.earlier.charge && refusal->known->revision() == found.known->revision();
    if (stands) return refusal->status;
    if (readings == kMostReadings) call.AcceptChanges();
    absl::StatusOr<WorkloadAnswer> answer = call.Answer(found.known, found.earlier);
    if (answer.ok() && answer->replayed) answer->repetition = std::move(repetition);
    if (!IsDatasetChanged(answer.status()) || readings == kMostReadings) return answer;
  }
}

}  // namespace

absl::StatusOr<WorkloadAnswer> AnswerWorkload(Services& services, const WorkloadRequest& request,
                                              const dp::PostProcessing& steps, const RequestId& request_id,
                                              Intent intent) {
  AnsweredCall call(services, request, steps, request_id, intent);
  std::optional<Refusal> refusal;
  if (intent == Intent::kDo) {
    auto answered = AnsweredAsNew(services, request, call, refusal);
    if (answered) return *std::move(answered);
  }
  return AnsweredAfterLookUp(services, request, request_id, call, refusal);
}

}  // namespace curator::service
