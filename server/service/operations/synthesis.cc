#include "service/operations/synthesis.h"

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <new>
#include <set>
#include <thread>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "codec/accounting_codec.h"
#include "codec/fingerprint.h"
#include "codec/release_codec.h"
#include "dp/domain/response.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/memory_forecast.h"
#include "host/logging.h"
#include "service/charges/refusals_by_rule.h"
#include "service/releases/priors.h"
#include "service/tables.h"
#include "service/workloads/resolve_workload.h"

namespace curator::service {
namespace {

constexpr char kSynthesisKind[] = "synthesis";

absl::StatusOr<const dp::Synthesizer*> FindMethod(const std::string& method) {
  if (const dp::Synthesizer* synthesizer = dp::FindSynthesizer(method)) return synthesizer;
  const std::string known = absl::StrJoin(
      dp::Synthesizers(), ", ",
      [](std::string* out, const dp::Synthesizer* each) { absl::StrAppend(out, std::string(each->name())); });
  return InvalidField("method", absl::StrCat("there is no method \"", method, "\"; there are: ", known));
}

absl::StatusOr<std::vector<dp::QueryGroup>> WorkloadOf(const dp::Domain& domain,
                                                       const SynthesisRequest& request) {
  if (!request.workload.empty()) {
    ASSIGN_OR_RETURN(const std::vector<dp::AskedSet> asked, ResolveForSynthesis(domain, request.workload));
    return GroupsOf(asked);
  }
  ASSIGN_OR_RETURN(const std::vector<dp::AttributeSet> sets,
                   dp::AllKWayMarginals(domain, domain.size() == 1 ? 1 : 2, {}, dp::kSynthesisLimits));
  return dp::WholeMarginals(sets);
}

std::string_view WorkloadNoun(const std::vector<dp::QueryGroup>& workload) {
  if (!dp::AreWholeMarginals(workload))
    return workload.size() == 1 ? " group of queries" : " groups of queries";
  return workload.size() == 1 ? " marginal" : " marginals";
}

absl::StatusOr<Drawn> DrawModel(Services& services, const SynthesisEstimate& estimate,
                                const records::ReadyTable& ready, const dp::DrawKey& key,
                                std::stop_token stop, const Progress& progress) {
  const codec::DrawIdentity& identity = estimate.identity;
  ASSIGN_OR_RETURN(const dp::SealedTableHandle table, ready.Open());
  dp::Drbg bits(key);
  dp::Kernel kernel(table, estimate.input.domain, estimate.input.unit_bound, dp::Meter(identity.draws), bits);
  kernel.UseExecutor(services.cores);
  dp::Pacer pacer(std::move(stop));
  ASSIGN_OR_RETURN(const std::unique_ptr<dp::SynthesisModel> model,
                   estimate.synthesizer->Fit(estimate.input, kernel, pacer, progress));
  return Drawn{codec::EncodeRelease(dp::SynthesisRelease{.method = std::string(estimate.synthesizer->name()),
                                                         .settings = estimate.plan.settings,
                                                         .attributes = model->attributes(),
                                                         .records = model->records(),
                                                         .transcript = model->Transcript(),
                                                         .event = dp::Describe(estimate.plan.event),
                                                         .model = model->Serialize()})};
}

// The name of the public data that the method starts from; empty when the method or the request has no prior.
std::string PriorNamedIn(const SynthesisRequest& request, const dp::Synthesizer& synthesizer) {
  const auto named = request.settings.find("prior");
  const bool takes_one = std::ranges::any_of(synthesizer.settings(),
                                             [](const dp::Setting& each) { return each.key == "prior"; });
  return takes_one && named != request.settings.end() ? named->second : std::string();
}

absl::StatusOr<Prior> PriorFor(Services& services, const SynthesisRequest& request,
                               const dp::Synthesizer& synthesizer, const dp::Domain& domain,
                               RequestMemory memory) {
  const std::string name = PriorNamedIn(request, synthesizer);
  if (name.empty()) return Prior{.memory = std::move(memory)};
  return ResolvePrior(services, request.principal, domain, name, std::move(memory), request.client_left);
}

absl::StatusOr<std::string> PriorIdentityFor(Services& services, const SynthesisRequest& request,
                                             const dp::Synthesizer& synthesizer) {
  const std::string name = PriorNamedIn(request, synthesizer);
  if (name.empty()) return std::string();
  return PriorIdentity(services, request.principal, name);
}

// What the schema states about records that are nested in groups.
std::optional<dp::NestedFacts> NestedFactsOf(const dp::Schema& schema) {
  if (!schema.nesting) return std::nullopt;
  dp::ResponseNumbers response = dp::ResponseValues(schema);
  const auto* group = std::get_if<dp::GroupUnit>(&schema.unit);
  const int64_t bound = group == nullptr ? schema.nesting->max_group_size : group->max_records;
  return dp::NestedFacts{
      .group_column = schema.nesting->group_column,
      .response = schema.nesting->response,
      .numbers = std::move(response.values),
      .lower = response.low,
      .upper = response.high,
      .resolution = response.resolution,
      .group_size_bound = bound == dp::kNoRecordBound ? std::nullopt : std::optional<int64_t>(bound),
      .unit = group == nullptr ? dp::NestedUnit::kRecord : dp::NestedUnit::kGroup,
      .group_attributes = schema.nesting->group_attributes};
}

// A prior by its identity instead of its name. Without one the key is absent: a method that takes a prior,
// and needs none, asks and draws without it what it did before it took one.
std::map<std::string, std::string> WithPriorIdentity(std::map<std::string, std::string> settings,
                                                     const std::string& identity) {
  if (identity.empty()) {
    settings.erase("prior");
  } else {
    settings["prior"] = identity;
  }
  return settings;
}

// Counts of groups by what describes them, of which there are none, are left out: a nested synthesis then
// draws what it drew before there were such counts.
std::map<std::string, std::string> WithoutNoGroups(std::map<std::string, std::string> settings) {
  const auto share = settings.find("group_percent");
  if (share != settings.end() && share->second == "0") settings.erase(share);
  return settings;
}

// What the client asked, with nothing that a plan adds. `prior` is its identity.
absl::StatusOr<std::string> FingerprintOf(const DatasetView& dataset, const RequestScope& scope,
                                          const SynthesisRequest& request, const std::string& prior) {
  std::vector<dp::AskedSet> asked;
  if (!request.workload.empty()) {
    ASSIGN_OR_RETURN(asked, ResolveForSynthesis(dataset.schema.domain, request.workload));
  }
  return codec::FingerprintOf(
      codec::AskedSynthesis{.dataset_id = dataset.record.id,
                            .parts = request.parts.empty() ? std::vector<int64_t>() : scope.PartNumbers(),
                            .method = request.method,
                            .spend = request.spend,
                            .settings = WithPriorIdentity(request.settings, prior),
                            .workload = asked,
                            .assume_records = request.assume_records});
}

std::string EarlierFingerprintOf(const SynthesisEstimate& estimate, const SynthesisRequest& request) {
  std::map<std::string, std::string> settings = WithoutNoGroups(estimate.plan.settings);
  if (estimate.identity.prior.empty()) {
    settings.erase("prior");
  } else {
    settings["prior.identity"] = estimate.identity.prior;
  }
  // Its default was the same for all domains.
  if (request.method == "dpsyn" && !request.settings.contains("max_records"))
    settings["max_records"] = "4000000";
  return codec::EarlierSynthesisFingerprint(estimate.dataset.record.id, estimate.scope.version,
                                            estimate.scope.PartNumbers(), request.method, settings,
                                            estimate.input.workload, estimate.plan.event);
}

absl::StatusOr<ChargeOrder> OrderFor(const SynthesisEstimate& estimate, const SynthesisRequest& request,
                                     const std::string& request_id) {
  ASSIGN_OR_RETURN(std::string fingerprint,
                   FingerprintOf(estimate.dataset, estimate.scope, request, estimate.identity.prior));
  return ChargeOrder{
      .dataset_id = estimate.dataset.record.id,
      .dataset_version = estimate.scope.version,
      .refusal_rules_hash = estimate.dataset.record.refusal_rules_hash,
      .principal = request.principal,
      .request_id = request_id,
      .fingerprint = std::move(fingerprint),
      .earlier_fingerprint = EarlierFingerprintOf(estimate, request),
      .draw_identity = codec::HashOf(estimate.identity),
      .draws_as_before = estimate.synthesizer->redraws_version_1(),
      .kind = kSynthesisKind,
      .event = codec::EncodeEvent(estimate.plan.event),
      .label = absl::StrCat(request.method, " over ", estimate.input.workload.size(),
                            std::string(WorkloadNoun(estimate.input.workload)), estimate.scope.Description()),
      .postings = estimate.price.Postings(),
      .client_left = request.client_left};
}

// The charge of the same request, when it is a repetition. Of a charge from before draw identities only the
// plan shows whether it is the same request: it is taken for that.
absl::StatusOr<std::optional<ledger::Charge>> ChargedBefore(
    ledger::Ledger& ledger, const DatasetView& dataset, const RequestScope& scope,
    const SynthesisRequest& request, std::string_view request_id, const std::string& prior) {
  ASSIGN_OR_RETURN(std::optional<ledger::Charge> charge,
                   FindEarlier(ledger, dataset, request.principal, request_id, kSynthesisKind));
  if (!charge || charge->draw_identity.empty()) return charge;
  ASSIGN_OR_RETURN(const std::string fingerprint, FingerprintOf(dataset, scope, request, prior));
  if (charge->fingerprint != fingerprint) charge.reset();
  return charge;
}

// What was started is planned however much that takes: it was within the bounds when it was priced.
bool IsStarted(const std::optional<ledger::Charge>& charge) {
  return charge && charge->state == ledger::ChargeState::kStarted && !charge->draw_identity.empty();
}

// The charge of a request whose release is stored. It is found without a plan, because a later program may
// refuse to plan what an earlier one drew.
absl::StatusOr<std::optional<ledger::Charge>> FindDone(Services& services, const SynthesisRequest& request,
                                                       std::string_view request_id) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindDataset(services.access(), Method::kCreateSynthesis,
                                                          request.principal, request.dataset));
  ASSIGN_OR_RETURN(const std::optional<ledger::Charge> earlier,
                   FindEarlier(services.ledger, dataset, request.principal, request_id, kSynthesisKind));
  if (!earlier || earlier->release_id.empty()) return std::nullopt;
  ASSIGN_OR_RETURN(const RequestScope scope,
                   ScopeOf(services.ledger, dataset, request.principal, request_id, request.parts));
  ASSIGN_OR_RETURN(const dp::Synthesizer* synthesizer, FindMethod(request.method));
  ASSIGN_OR_RETURN(const std::string prior, PriorIdentityFor(services, request, *synthesizer));
  ASSIGN_OR_RETURN(const std::string fingerprint, FingerprintOf(dataset, scope, request, prior));
  return IsReleased(*earlier, fingerprint) ? earlier : std::nullopt;
}

constexpr char kAskForASmallerOne[] =
    "ask for fewer or smaller marginals, or set lower limits of what the method holds (max_cells, "
    "max_records, rows, max_view_cells), where it has such";

// Of the workload that a request without one has.
absl::Status CheckDefaultWorkload(const dp::Domain& domain, const SynthesisRequest& request) {
  const auto attributes = static_cast<int64_t>(domain.size());
  const int64_t pairs = std::max<int64_t>(1, attributes * (attributes - 1) / 2);
  if (!request.workload.empty() || pairs > dp::kSynthesisLimits.max_marginals) return absl::OkStatus();
  const int64_t bytes = dp::SynthesisPlanningBytes(domain, pairs, 0);
  if (bytes <= kMostFreeBytes) return absl::OkStatus();
  return TakesTooMuch("workload", "to plan all pairs of attributes", bytes, kMostFreeBytes,
                      "name the marginals that matter");
}

absl::Status AddForPlanning(RequestMemory& memory, const dp::Synthesizer& synthesizer,
                            const dp::SynthesisInput& input) {
  const int64_t bytes = synthesizer.PlanningBytes(input);
  if (bytes > kMostFreeBytes && !input.is_started)
    return TakesTooMuch("workload", "to plan", bytes, kMostFreeBytes, kAskForASmallerOne);
  return memory.Add(bytes);
}

// Refuses before the charge what would fail after it, and what would hold most of the memory for hours.
absl::Status CheckMemoryOf(const dp::SynthesisMemory& memory, int64_t bytes, const Services& services) {
  const int64_t most_to_fit = std::min(kMostPaidBytes, services.memory.total() / 2);
  if (bytes > most_to_fit) return TakesTooMuch("workload", "to fit", bytes, most_to_fit, kAskForASmallerOne);
  const int64_t most = std::min(kMostPaidBytes, services.memory.total());
  // As GetRelease() and RestoreModel() take it.
  const int64_t reading = dp::StoredModelBytes(memory.stored) + memory.reading;
  if (reading > most)
    return TakesTooMuch("workload", "to sample from the model", reading, most, kAskForASmallerOne);
  constexpr int64_t kAroundTheModel = 1'000'000;
  if (memory.stored <= codec::kMostReleaseBytes - kAroundTheModel) return absl::OkStatus();
  return InvalidField("workload", absl::StrCat("makes a model of up to ", memory.stored, " bytes; at most ",
                                               codec::kMostReleaseBytes - kAroundTheModel,
                                               " are stored: ", kAskForASmallerOne));
}

// No synthesis runs for longer than the server allows, on no more cores than there are.
int64_t MostCpuSeconds(const Services& services) {
  const auto cores = static_cast<int64_t>(std::max(1U, std::thread::hardware_concurrency()));
  return cores * std::max<int64_t>(1, absl::ToInt64Seconds(services.synthesis_timeout));
}

int64_t CpuSecondsOf(const dp::SynthesisPlan& plan, const Services& services) {
  return std::min(MostCpuSeconds(services), dp::WholeCpuSeconds(plan.cpu_seconds));
}

// Predictions are rather too high: up to so many times what a fit takes (docs/results/bounds.md).
constexpr int64_t kMostOfAPrediction = 10;

// Refuses before the charge what would certainly be stopped after it, because the workload alone takes far
// longer than the server allows: a guess of more records than usual, which the table need not have, refuses
// nothing.
absl::Status CheckTimeOf(const dp::SynthesisPlan& plan, const dp::Synthesizer& synthesizer,
                         const dp::SynthesisInput& input, const Services& services,
                         const std::stop_token& client_left) {
  const int64_t most = MostCpuSeconds(services);
  int64_t seconds = dp::WholeCpuSeconds(plan.cpu_seconds);
  if (seconds / kMostOfAPrediction <= most) return absl::OkStatus();
  if (input.assume_records.value_or(0) > dp::kUsualRecords) {
    dp::SynthesisInput usual = input;
    usual.assume_records = dp::kUsualRecords;
    ASSIGN_OR_RETURN(const dp::SynthesisPlan again, synthesizer.Plan(usual, client_left));
    seconds = dp::WholeCpuSeconds(again.cpu_seconds);
    if (seconds / kMostOfAPrediction <= most) return absl::OkStatus();
  }
  return InvalidField(
      "workload", absl::StrCat("would take about ", seconds, " seconds of processor to fit; at most ", most,
                               " are given to a synthesis: ", kAskForASmallerOne));
}

RequestMemory MemoryOf(Services& services, const SynthesisRequest& request) {
  return {services.memory, request.principal, request.client_left};
}

// `request_id` is empty when nothing will be charged. What the plan takes is added to `memory`.
absl::StatusOr<SynthesisEstimate> PlanAndPrice(Services& services, const SynthesisRequest& request,
                                               std::string_view request_id, RequestMemory memory) {
  const Method method = request_id.empty() ? Method::kEstimateSynthesis : Method::kCreateSynthesis;
  ASSIGN_OR_RETURN(DatasetView dataset,
                   FindDataset(services.access(), method, request.principal, request.dataset));
  ASSIGN_OR_RETURN(RequestScope scope,
                   ScopeOf(services.ledger, dataset, request.principal, request_id, request.parts));
  ASSIGN_OR_RETURN(const dp::RuleSpec rule, GoverningRule(scope.accounts));
  ASSIGN_OR_RETURN(const dp::Synthesizer* synthesizer, FindMethod(request.method));
  RETURN_IF_ERROR(CheckDefaultWorkload(dataset.schema.domain, request));
  ASSIGN_OR_RETURN(std::vector<dp::QueryGroup> workload, WorkloadOf(dataset.schema.domain, request));
  ASSIGN_OR_RETURN(Prior prior,
                   PriorFor(services, request, *synthesizer, dataset.schema.domain, std::move(memory)));
  ASSIGN_OR_RETURN(const std::optional<ledger::Charge> charge,
                   ChargedBefore(services.ledger, dataset, scope, request, request_id, prior.identity));
  std::optional<dp::Event> charged;
  if (charge) {
    ASSIGN_OR_RETURN(charged, codec::DecodeEvent(charge->event));
  }
  dp::SynthesisInput input{.domain = dataset.schema.domain,
                           .unit_bound = dataset.unit_bound,
                           .rule = rule,
                           .spend = request.spend,
                           .workload = std::move(workload),
                           .settings = request.settings,
                           .assume_records = request.assume_records,
                           .prior = std::move(prior.table),
                           .nested = NestedFactsOf(dataset.schema),
                           .charged = std::move(charged),
                           .is_started = IsStarted(charge),
                           .is_of_version_1 = charge && charge->draw_identity.empty()};
  RETURN_IF_ERROR(AddForPlanning(prior.memory, *synthesizer, input));
  ASSIGN_OR_RETURN(dp::SynthesisPlan plan, synthesizer->Plan(input, request.client_left));
  const int64_t bytes = std::max(prior.memory.most_bytes(), prior.memory.bytes() + plan.memory.fitting);
  if (!input.is_started) {
    RETURN_IF_ERROR(CheckMemoryOf(plan.memory, bytes, services));
    RETURN_IF_ERROR(CheckTimeOf(plan, *synthesizer, input, services, request.client_left));
  }
  const int64_t cpu_seconds = CpuSecondsOf(plan, services);
  ASSIGN_OR_RETURN(Price price, PriceOf(dataset, scope.accounts, plan.event, plan.linear));
  codec::DrawIdentity identity{.dataset_id = dataset.record.id,
                               .dataset_version = scope.version,
                               .parts = scope.PartNumbers(),
                               .method = request.method,
                               .method_version = synthesizer->version(),
                               .draws = plan.draws,
                               .drawn_from = std::move(plan.drawn_from),
                               .settings = WithPriorIdentity(WithoutNoGroups(plan.settings), prior.identity),
                               .workload = input.workload,
                               .spend = request.spend,
                               .assume_records = request.assume_records,
                               .prior = std::move(prior.identity)};
  return SynthesisEstimate{.dataset = std::move(dataset),
                           .scope = std::move(scope),
                           .synthesizer = synthesizer,
                           .input = std::move(input),
                           .plan = std::move(plan),
                           .price = std::move(price),
                           .identity = std::move(identity),
                           .memory = std::move(prior.memory),
                           .bytes = bytes,
                           .cpu_seconds = cpu_seconds};
}

// What the owner's rules see of the request.
RuledRequest RuledBy(const SynthesisEstimate& estimate, const SynthesisRequest& request) {
  std::set<uint32_t> attributes;
  AddAttributesOf(estimate.input.workload, attributes);
  for (const std::vector<dp::QueryGroup>& groups : estimate.identity.drawn_from)
    AddAttributesOf(groups, attributes);
  if (estimate.input.nested && estimate.synthesizer->measures_response())
    attributes.insert(estimate.input.nested->response);
  if (!request.parts.empty()) AddPartitionAttribute(estimate.dataset, attributes);
  return {.principal = request.principal,
          .kind = codec::kRuledSynthesis,
          .attributes = std::move(attributes),
          .price = estimate.price,
          .accounts = estimate.scope.accounts};
}

// Unless the request was charged before: under the id of an earlier charge nothing new is charged.
absl::Status CheckRulesForNew(ledger::Ledger& ledger, const SynthesisEstimate& estimate,
                              const SynthesisRequest& request, std::string_view request_id) {
  const absl::Status refusal =
      CheckNoRuleRefuses(ledger, estimate.dataset, [&] { return RuledBy(estimate, request); });
  if (refusal.ok()) return refusal;
  // Found, or an error that does not say whether it is there.
  const absl::Status earlier = ledger.FindCharge(request.principal, request_id).status();
  return absl::IsNotFound(earlier) ? refusal : earlier;
}

// A draw that is not planned for such a cause is queued again by the same request id.
bool MayPass(const absl::Status& why) {
  return absl::IsUnavailable(why) || absl::IsInternal(why) || absl::IsAborted(why);
}

// Everything that one background run needs, kept alive until it ends. It holds no plan while it is queued.
struct Run {
  Services& services;
  SynthesisRequest request;
  int64_t bytes = 0;  // that planning again and fitting take
  records::ReadyTable table;
  ledger::Charge charge;
  std::shared_ptr<RunningOperations::Ticket> ticket;

  bool wait(absl::Duration pause) const { return !services.operations.AwaitAbandoned(pause); }

  // The clock runs while the method fits, not while it waits for a thread, for memory or for the store.
  absl::StatusOr<Drawn> DrawInTime(const SynthesisEstimate& estimate, const dp::DrawKey& key) const {
    const auto progress = [this](double share) { ticket->SetShareDone(share); };
    const auto deadline =
        std::chrono::steady_clock::now() + absl::ToChronoNanoseconds(services.synthesis_timeout);
    // A separate timer, because methods may run for long without reporting progress.
    const std::jthread timer([&](const std::stop_token& ended) {
      std::mutex mutex;
      std::condition_variable_any never;
      std::unique_lock lock(mutex);
      never.wait_until(lock, ended, deadline, [] { return false; });
      if (!ended.stop_requested()) ticket->RequestStop();
    });
    return DrawModel(services, estimate, table, key, ticket->stop_token(), progress);
  }

  // The plan that was priced, made again while the store can be reached or as soon as it can, in the memory
  // that this thread holds.
  absl::StatusOr<SynthesisEstimate> PlanAgain() const {
    constexpr absl::Duration kPause = absl::Seconds(1);
    absl::StatusOr<SynthesisEstimate> estimate;
    do {
      estimate = PlanAndPrice(services, request, charge.request_id, RequestMemory());
    } while (absl::IsUnavailable(estimate.status()) && wait(kPause));
    if (estimate.ok() && !charge.draw_identity.empty() &&
        codec::HashOf(estimate->identity) != charge.draw_identity)
      return absl::FailedPreconditionError("what would be drawn is not what was priced");
    return estimate;
  }

  // Ends what cannot be planned, or was stopped before it could be: a queued draw gives its cost back, and a
  // stop forfeits one that another process has started. What another process can go on with stays as it is.
  absl::Status EndWithoutPlan(const absl::Status& why) const {
    if (services.operations.abandoning() || MayPass(why)) return why;
    if (!ledger::IsQueuedDraw(charge)) return absl::IsCancelled(why) ? StartAndFinish(nullptr) : why;
    CancelQueuedCharge(services.ledger, charge, PublicMessageOf(why)).IgnoreError();
    return why;
  }

  absl::Status StartAndFinish(const SynthesisEstimate* estimate) const {
    const auto waits = [this](absl::Duration pause) { return wait(pause); };
    ASSIGN_OR_RETURN(const ledger::Attempt attempt,
                     StartOnce(services.ledger, services.sealer, charge, waits));
    if (attempt.release) return absl::OkStatus();
    ticket->NoteBegun();
    const Draw draw = [&](const dp::DrawKey& key) -> absl::StatusOr<Drawn> {
      if (estimate == nullptr) return absl::CancelledError("stopped");
      return DrawInTime(*estimate, key);
    };
    return FinishOnce(services.ledger, services.sealer, attempt, draw,
                      {.on_failure =
                           [this] {
                             return services.operations.abandoning() ? Failure::kAbandon : Failure::kForfeit;
                           },
                       .wait = waits})
        .status();
  }

  // The memory is taken before the charge, so that a lack of memory refuses nothing that was charged.
  absl::Status DrawAndStore() const {
    const absl::StatusOr<MemoryBudget::Lease> memory =
        services.memory.AwaitForWork(bytes, ticket->stop_token());
    if (!memory.ok()) return EndWithoutPlan(memory.status());
    if (IsLeftQueued()) return absl::OkStatus();
    const absl::StatusOr<SynthesisEstimate> estimate = PlanAgain();
    if (!estimate.ok()) return EndWithoutPlan(estimate.status());
    return StartAndFinish(&*estimate);
  }

  // Memory may run out anywhere. What was queued or started is then taken up by the same request id.
  absl::Status Guarded() const {
    try {
      return DrawAndStore();
    } catch (const std::bad_alloc&) {
      return absl::UnavailableError("out of memory");
    }
  }

  // The process is stopping: a draw that has not begun costs nothing where it is.
  bool IsLeftQueued() const { return ledger::IsQueuedDraw(charge) && services.work.is_closed(); }

  void operator()() const {
    if (IsLeftQueued()) return;
    const absl::Status ended = Guarded();
    host::Log(ended.ok() ? host::LogLevel::kInfo : host::LogLevel::kWarning, "synthesis_ended",
              {{"charge", charge.id}, {"status", absl::StatusCodeToString(ended.code())}});
  }
};

// The quotas of a principal, for one new synthesis. Not thread-safe.
class SynthesisQuota {
 public:
  // Both must outlive it.
  SynthesisQuota(Services& services, const Principal& principal)
      : services_(services), principal_(principal) {}

  absl::Status Check(const SynthesisEstimate& estimate) const {
    if (services_.quotas == nullptr) return absl::OkStatus();
    return services_.quotas->CheckSynthesis(principal_, estimate.cpu_seconds, estimate.bytes);
  }

  absl::Status Use(const SynthesisEstimate& estimate) {
    if (services_.quotas == nullptr) return absl::OkStatus();
    ASSIGN_OR_RETURN(used_,
                     services_.quotas->UseForSynthesis(services_.ledger, principal_, estimate.cpu_seconds));
    return absl::OkStatus();
  }

  // Gives back what was used, because nothing was charged. Where the ledger cannot be reached it stays used
  // for the day.
  void Return() {
    if (used_) services_.ledger.ReturnQuota(*used_).IgnoreError();
    used_.reset();
  }

 private:
  Services& services_;
  const Principal& principal_;
  std::optional<ledger::DailyUse> used_;
};

}  // namespace

absl::StatusOr<SynthesisEstimate> EstimateSynthesis(Services& services, const SynthesisRequest& request) {
  ASSIGN_OR_RETURN(SynthesisEstimate estimate,
                   PlanAndPrice(services, request, "", MemoryOf(services, request)));
  ASSIGN_OR_RETURN(estimate.refused_by_rule, RuleThatRefuses(services.ledger, estimate.dataset,
                                                             [&] { return RuledBy(estimate, request); }));
  return estimate;
}

absl::StatusOr<OperationView> CreateSynthesis(Services& services, const SynthesisRequest& request,
                                              const RequestId& request_id, Intent intent) {
  if (intent == Intent::kDo) {
    ASSIGN_OR_RETURN(const std::optional<ledger::Charge> done,
                     FindDone(services, request, request_id.text()));
    if (done) return GetOperation(services, request.principal, done->id);
  }
  ASSIGN_OR_RETURN(const SynthesisEstimate estimate,
                   PlanAndPrice(services, request, request_id.text(), MemoryOf(services, request)));
  RETURN_IF_ERROR(CheckRulesForNew(services.ledger, estimate, request, request_id.text()));
  if (intent == Intent::kValidateOnly)
    return OperationView{.dataset = request.dataset.text(), .kind = kSynthesisKind};
  RETURN_IF_ERROR(
      CheckAcceptsRequest(services.ledger, estimate.dataset.record, request.principal, request_id.text()));
  RETURN_IF_ERROR(
      CheckLeastCost(services.ledger, estimate.price, request.principal, request_id.text(), "spec.spend"));
  RETURN_IF_ERROR(services.daily.CheckRoomForNew(services.ledger, request.principal, request_id.text()));

  SynthesisQuota quota(services, request.principal);
  // A repetition was counted when it was charged.
  if (!estimate.input.charged) RETURN_IF_ERROR(quota.Check(estimate));

  ASSIGN_OR_RETURN(ChargeOrder order, OrderFor(estimate, request, request_id.text()));
  std::optional<WorkQueue::Place> place;
  std::optional<records::ReadyTable> table;
  const QueuedDraw draw{
      .reserve = [&]() -> absl::Status {
        ASSIGN_OR_RETURN(table, TableFor(services.ledger, services.store, estimate.dataset, estimate.scope,
                                         request.principal, request_id.text()));
        ASSIGN_OR_RETURN(place, services.work.Reserve(request.principal));
        return estimate.input.charged ? absl::OkStatus() : quota.Use(estimate);
      },
      .enqueue =
          [&](ledger::Charge charge) {
            auto ticket = services.operations.Start(charge.id);
            // A started charge is forfeited by a stop, which takes a thread.
            const std::stop_token stop =
                ledger::IsQueuedDraw(charge) ? ticket->stop_token() : std::stop_token();
            SynthesisRequest again = request;
            again.client_left = ticket->stop_token();
            services.work.Run(*std::move(place),
                              {.id = charge.id,
                               .run = Run{services, std::move(again), estimate.bytes, *std::move(table),
                                          std::move(charge), std::move(ticket)},
                               .stop = stop});
          }};
  const absl::StatusOr<std::string> charge_id =
      QueueOnce(services.requests, services.operations, services.ledger, std::move(order), draw);
  // Where the store's outcome is unknown the charge may stand, and then its repetition counts nothing.
  const auto charge_of_request = [&] {
    return services.ledger.FindCharge(request.principal, request_id.text()).status();
  };
  if (!charge_id.ok() && absl::IsNotFound(charge_of_request())) quota.Return();
  RETURN_IF_ERROR(charge_id.status());
  if (!estimate.input.charged) services.daily.Add(request.principal, 1);
  return GetOperation(services, request.principal, *charge_id);
}

}  // namespace curator::service
