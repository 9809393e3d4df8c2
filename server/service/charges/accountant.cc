#include "service/charges/accountant.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/time/clock.h"
#include "base/canonical_bytes.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "base/stop.h"
#include "base/text.h"
#include "codec/accounting_codec.h"
#include "service/charges/certificates.h"
#include "service/charges/refusals_by_rule.h"
#include "service/charges/request_scope.h"

namespace curator::service {
namespace {

constexpr size_t kMaxSummaryLength = 200;

// Two calls under one request id are the same reservation when dataset and event are the same.
std::string ReservationFingerprint(const DatasetView& dataset, const dp::AskedEvent& event) {
  CanonicalWriter writer("curator.fingerprint.reservation", 1);
  writer.Text(dataset.record.id);
  writer.Text(codec::EncodeEvent(event.as_asked()));
  return Sha256(std::move(writer).Take());
}

absl::Status CheckLifetime(absl::Duration lifetime) {
  if (lifetime > absl::ZeroDuration() && lifetime <= kMaxReservationLifetime) return absl::OkStatus();
  return InvalidField("lifetime", "must be positive and at most 366 days");
}

// The datasets of one call, each read once: a batch may name one dataset a thousand times.
class DatasetsOfCall {
 public:
  DatasetsOfCall(Services& services, Method method, const Principal& principal)
      : services_(services), method_(method), principal_(principal) {}

  absl::StatusOr<std::shared_ptr<const KnownDataset>> Find(const DatasetName& name) {
    auto found = known_.find(name.text());
    if (found == known_.end()) {
      ASSIGN_OR_RETURN(std::shared_ptr<const KnownDataset> known,
                       services_.datasets.Read(services_.access(), method_, principal_, name));
      found = known_.emplace(name.text(), std::move(known)).first;
    }
    return found->second;
  }

 private:
  Services& services_;
  const Method method_;
  const Principal& principal_;
  std::map<std::string, std::shared_ptr<const KnownDataset>> known_;  // by name
};

absl::StatusOr<ChargeView> ViewOfCharge(const DatasetView& dataset,
                                        const std::vector<ledger::Account>& accounts, ledger::Charge charge) {
  ASSIGN_OR_RETURN(const dp::Event event, codec::DecodeEvent(charge.event));
  ASSIGN_OR_RETURN(Price price, PricePaid(dataset, accounts, charge));
  return ChargeView{std::move(charge), dataset.record.name, dp::Describe(event), std::move(price)};
}

absl::Status NoSuchCharge() {
  return absl::NotFoundError("there is no charge of yours with this id");
}

// Which charges of its dataset the principal may call the method for. What is cached may be outdated, so it
// decides only what changes and shows nothing that the principal had not paid for: the end of a charge of its
// own, and a look at it.
absl::StatusOr<Extent> ExtentFor(Services& services, Method method, const Principal& principal,
                                 const ledger::Charge& charge) {
  const bool is_end_or_look = method != Method::kStartCharge && method != Method::kExtendReservation;
  if (charge.principal == principal.name() && is_end_or_look) {
    const auto known = services.datasets.FindById(method, principal, charge.dataset_id);
    if (known != nullptr) return known->view.ExtentOf(method);
  }
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDatasetById(services.access(), method, principal, charge.dataset_id));
  return view.ExtentOf(method);
}

// Whether the principal may call the method for this charge. NOT_FOUND where it is neither its own nor one of
// a dataset on which it may call the method for all charges: it does not learn that the charge exists.
absl::Status CheckMayFor(Services& services, Method method, const Principal& principal,
                         const ledger::Charge& charge) {
  const absl::StatusOr<Extent> extent = ExtentFor(services, method, principal, charge);
  if (charge.principal == principal.name()) return extent.status();
  if (absl::IsPermissionDenied(extent.status())) return NoSuchCharge();
  RETURN_IF_ERROR(extent.status());
  return *extent == Extent::kAll ? absl::OkStatus() : NoSuchCharge();
}

absl::StatusOr<ledger::Charge> FindChargeFor(Services& services, Method method, const Principal& principal,
                                             std::string_view charge_id) {
  absl::StatusOr<ledger::Charge> charge = services.ledger.GetCharge(charge_id);
  if (absl::IsNotFound(charge.status())) return NoSuchCharge();
  RETURN_IF_ERROR(charge.status());
  const absl::Status may = CheckMayFor(services, method, principal, *charge);
  if (absl::IsNotFound(may)) return NoSuchCharge();
  RETURN_IF_ERROR(may);
  return charge;
}

// The charge as `read` found it, and its dataset as the principal sees it, of which `known` may be outdated
// or null.
absl::StatusOr<ChargeView> ViewOfRead(Services& services, Method method, const Principal& principal,
                                      std::shared_ptr<const KnownDataset> known, ledger::Charge charge,
                                      const ledger::EarlierRequest& read) {
  if (known == nullptr || read.revision != known->revision()) {
    ASSIGN_OR_RETURN(known,
                     services.datasets.ReadById(services.access(), method, principal, charge.dataset_id));
  }
  if (!read.entry) return absl::DataLossError("a charge has no entry");
  ASSIGN_OR_RETURN(ChargeView view, ViewOfCharge(known->view, known->accounts, std::move(charge)));
  view.price = PriceAfter(std::move(view.price), read.balances);
  ASSIGN_OR_RETURN(view.receipt,
                   ReceiptOf(services.access(), services.signer, known->view.record, *read.entry));
  return view;
}

std::vector<int64_t> AccountsOf(const ledger::Charge& charge) {
  std::set<int64_t> accounts;
  for (const ledger::Posting& posting : charge.postings) accounts.insert(posting.account_id);
  return {accounts.begin(), accounts.end()};
}

// Of another principal's charge, for viewers of all charges of the dataset.
absl::StatusOr<ChargeView> ViewOfAnothers(Services& services, Method method, const Principal& principal,
                                          ledger::Charge charge) {
  ASSIGN_OR_RETURN(const DatasetView dataset,
                   FindDatasetById(services.access(), method, principal, charge.dataset_id));
  if (!dataset.MayAll(method)) return NoSuchCharge();
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   services.ledger.GetAccounts(AccountsOf(charge)));
  ASSIGN_OR_RETURN(Receipt receipt, ReceiptOf(services.access(), services.signer, charge.id));
  ASSIGN_OR_RETURN(ChargeView view, ViewOfCharge(dataset, accounts, std::move(charge)));
  view.receipt = std::move(receipt);
  return view;
}

// The charge as it is shown now: the principal's own after one read if its dataset is cached.
absl::StatusOr<ChargeView> ViewOfCurrent(Services& services, Method method, const Principal& principal,
                                         ledger::Charge charge) {
  if (charge.principal != principal.name())
    return ViewOfAnothers(services, method, principal, std::move(charge));
  std::shared_ptr<const KnownDataset> known =
      services.datasets.FindById(method, principal, charge.dataset_id);
  const ledger::EarlierQuery query{.principal = principal,
                                   .request_id = charge.request_id,
                                   .dataset_id = charge.dataset_id,
                                   .account_ids = AccountsOf(charge)};
  ASSIGN_OR_RETURN(const ledger::EarlierRequest read, services.ledger.FindEarlier(query));
  return ViewOfRead(services, method, principal, std::move(known), std::move(charge), read);
}

// Only reservations may be changed here: the charge of a request to Curator belongs to the draw that it pays
// for.
absl::StatusOr<ledger::Charge> FindReservationFor(Services& services, Method method,
                                                  const Principal& principal, std::string_view charge_id) {
  ASSIGN_OR_RETURN(ledger::Charge charge, FindChargeFor(services, method, principal, charge_id));
  if (charge.kind == kReservationKind) return charge;
  return absl::FailedPreconditionError("this charge is not a reservation: Curator itself starts and ends it");
}

struct Priced {
  std::shared_ptr<const KnownDataset> known;
  ledger::ChargeRequest request;
  ChargeView view;
  bool is_new = false;  // as far as is known, it was not reserved before
};

absl::Status CheckPostings(size_t postings) {
  if (postings <= kMaxBatchPostings) return absl::OkStatus();
  return InvalidField("requests", absl::StrCat("post to more than ", kMaxBatchPostings,
                                               " counters of accounts: reserve fewer in one call"));
}

absl::Status CheckReservation(const ReservationRequest& reservation) {
  if (reservation.summary.size() > kMaxSummaryLength) {
    return InvalidField("summary", absl::StrCat("is longer than ", kMaxSummaryLength, " bytes"));
  }
  RETURN_IF_ERROR(CheckLine("summary", reservation.summary));
  RETURN_IF_ERROR(CheckLifetime(reservation.lifetime));
  RETURN_IF_ERROR(WithinField("event", dp::ValidateEvent(reservation.event.as_asked())));
  return absl::OkStatus();
}

struct PricedEvent {
  dp::Event event;
  Price price;
  std::vector<ledger::Posting> postings;
};

// What was charged for the same request before. Nothing is computed for it: a certificate that another
// version or machine computes may differ in its last digits, and bounds may have been wider.
absl::StatusOr<std::optional<PricedEvent>> PricedBefore(ledger::Ledger& ledger, const DatasetView& dataset,
                                                        const RequestScope& scope, const Principal& principal,
                                                        const ReservationRequest& reservation) {
  ASSIGN_OR_RETURN(const std::optional<ledger::Charge> earlier,
                   FindEarlier(ledger, dataset, principal, reservation.request_id.text(), kReservationKind));
  if (!earlier) return std::optional<PricedEvent>();
  ASSIGN_OR_RETURN(dp::Event event, codec::DecodeEvent(earlier->event));
  if (!(dp::AsAsked(event) == reservation.event.as_asked())) return std::optional<PricedEvent>();
  ASSIGN_OR_RETURN(Price price, PricePaid(dataset, scope.accounts, *earlier));
  return PricedEvent{std::move(event), std::move(price), earlier->postings};
}

absl::StatusOr<PricedEvent> PriceNow(const DatasetView& dataset, const RequestScope& scope,
                                     const dp::AskedEvent& asked, Certificates& certificates) {
  RETURN_IF_ERROR(WithinField("event", certificates.TakeParts(asked)));
  absl::StatusOr<dp::Event> event = certificates.Of(asked);
  if (!event.ok()) return WithinField("event", event.status());
  ASSIGN_OR_RETURN(Price price, PriceOf(dataset, scope.accounts, *event));
  std::vector<ledger::Posting> postings = price.Postings();
  return PricedEvent{*std::move(event), std::move(price), std::move(postings)};
}

// What the owner's rules see of a reservation.
RuledRequest RuledBy(const Price& price, const RequestScope& scope, const Principal& principal) {
  return {.principal = principal,
          .kind = codec::kRuledReservation,
          .attributes = std::nullopt,
          .price = price,
          .accounts = scope.accounts};
}

// Whether a request was reserved before is read, or left to the ledger: then the dataset, too, may be
// outdated.
enum class Knowledge { kRead, kCached };

absl::StatusOr<Priced> PriceReservation(ledger::Ledger& ledger, std::shared_ptr<const KnownDataset> known,
                                        const Principal& principal, const ReservationRequest& reservation,
                                        Certificates& certificates, Knowledge knowledge) {
  const bool is_read = knowledge == Knowledge::kRead;
  const std::string& request_id = reservation.request_id.text();
  const DatasetView& dataset = known->view;
  RETURN_IF_ERROR(CheckAcceptsRequest(ledger, dataset.record, principal, request_id));
  ASSIGN_OR_RETURN(const RequestScope scope,
                   OutsideScopeOf(ledger, dataset, principal, is_read ? request_id : "", known->accounts));
  std::optional<PricedEvent> found;
  if (is_read) {
    ASSIGN_OR_RETURN(found, PricedBefore(ledger, dataset, scope, principal, reservation));
  }
  const bool is_new = !found;
  if (is_new) {
    ASSIGN_OR_RETURN(found, PriceNow(dataset, scope, reservation.event, certificates));
    RETURN_IF_ERROR(CheckLeastCost(ledger, found->price, principal, request_id, "event"));
    RETURN_IF_ERROR(
        CheckNoRuleRefuses(ledger, dataset, [&] { return RuledBy(found->price, scope, principal); }));
  }
  Priced priced{.request = {.dataset_id = dataset.record.id,
                            .dataset_version = scope.version,
                            .dataset_revision = is_read ? 0 : known->revision(),
                            .refusal_rules_hash = dataset.record.refusal_rules_hash,
                            .principal = principal,
                            .request_id = request_id,
                            .fingerprint = ReservationFingerprint(dataset, reservation.event),
                            .kind = kReservationKind,
                            .event = codec::EncodeEvent(found->event),
                            .label = reservation.summary,
                            .postings = std::move(found->postings)}};
  priced.is_new = is_new;
  priced.view.dataset = dataset.record.name;
  priced.view.event = dp::Describe(found->event);
  priced.view.price = std::move(found->price);
  priced.known = std::move(known);
  return priced;
}

absl::StatusOr<Priced> ReadAndPrice(ledger::Ledger& ledger, DatasetsOfCall& datasets,
                                    const Principal& principal, const ReservationRequest& reservation,
                                    Certificates& certificates) {
  RETURN_IF_ERROR(CheckReservation(reservation));
  ASSIGN_OR_RETURN(std::shared_ptr<const KnownDataset> known, datasets.Find(reservation.dataset));
  return PriceReservation(ledger, std::move(known), principal, reservation, certificates, Knowledge::kRead);
}

// Of requests that are only validated.
std::vector<ChargeView> ViewsOf(std::vector<Priced> priced) {
  std::vector<ChargeView> views;
  for (Priced& each : priced) views.push_back(std::move(each.view));
  return views;
}

// The views of these requests, which were reserved. The balances are those after the call.
absl::StatusOr<std::vector<ChargeView>> Reserve(Services& services, const Principal& principal,
                                                std::vector<Priced> priced, absl::Duration lifetime) {
  std::vector<ledger::ChargeRequest> requests;
  for (Priced& each : priced) requests.push_back(std::move(each.request));
  ledger::ReserveEffect effect;
  ASSIGN_OR_RETURN(std::vector<ledger::Charge> charges,
                   services.ledger.Reserve(requests, absl::ToInt64Microseconds(lifetime), &effect));
  services.daily.Add(
      principal, std::ranges::count_if(effect.entries, [](const auto& entry) { return entry.has_value(); }));
  std::vector<ChargeView> views;
  for (size_t i = 0; i < charges.size(); ++i) {
    const std::optional<ledger::EntryPlace>& entry = effect.entries[i];
    if (!entry) {
      services.repetitions.Record(principal);
      ASSIGN_OR_RETURN(views.emplace_back(),
                       ViewOfCurrent(services, Method::kReserveBudget, principal, std::move(charges[i])));
      continue;
    }
    const KnownDataset& known = *priced[i].known;
    ASSIGN_OR_RETURN(ChargeView view, ViewOfCharge(known.view, known.accounts, std::move(charges[i])));
    view.price = PriceAfter(std::move(view.price), effect.moved);
    ASSIGN_OR_RETURN(view.receipt, ReceiptOf(services.access(), services.signer, known.view.record,
                                             view.charge, *entry, requests[i].postings));
    views.push_back(std::move(view));
  }
  return views;
}

// Whether nothing was reserved under the request's id, and the dataset is as it is known: then what was
// decided about a new request stands.
bool IsStillNew(Services& services, const KnownDataset& known, const Principal& principal,
                const ReservationRequest& reservation) {
  const auto earlier = services.ledger.FindEarlier({.principal = principal,
                                                    .request_id = reservation.request_id.text(),
                                                    .dataset_id = known.view.record.id,
                                                    .account_ids = {}});
  return earlier.ok() && !earlier->charge && earlier->revision == known.revision();
}

// What the same request reserved before; none where it has reserved nothing, or only the ledger can decide.
std::optional<absl::StatusOr<ChargeView>> FindReserved(Services& services, const Principal& principal,
                                                       const Priced& priced) {
  const ledger::ChargeRequest& request = priced.request;
  ledger::EarlierQuery query{.principal = principal,
                             .request_id = request.request_id,
                             .dataset_id = request.dataset_id,
                             .account_ids = {}};
  for (const ledger::Account& account : priced.known->accounts) query.account_ids.push_back(account.id);
  absl::StatusOr<ledger::EarlierRequest> read = services.ledger.FindEarlier(query);
  if (!read.ok() || !read->charge) return std::nullopt;
  ledger::Charge charge = *std::move(read->charge);
  const bool is_same = charge.dataset_id == request.dataset_id && charge.kind == kReservationKind &&
                       IsSameRequest(charge, request);
  if (!is_same) return std::nullopt;
  services.repetitions.Record(principal);
  return ViewOfRead(services, Method::kReserveBudget, principal, priced.known, std::move(charge), *read);
}

// A new reservation on a dataset that is cached: reads nothing before it is made, unless its principal has
// repeated requests lately. None where the dataset, or what was reserved before, has to be read.
std::optional<absl::StatusOr<std::vector<ChargeView>>> ReservedAsNew(Services& services,
                                                                     const Principal& principal,
                                                                     const ReservationRequest& reservation,
                                                                     const std::stop_token& client_left) {
  // A schedule takes long to certify, which a repeated request need not wait for.
  if (reservation.event.is_certified()) return std::nullopt;
  const std::shared_ptr<const KnownDataset> known =
      services.datasets.Find(Method::kReserveBudget, principal, reservation.dataset);
  if (known == nullptr) return std::nullopt;
  Certificates certificates(services.memory, principal, client_left);
  absl::StatusOr<Priced> priced =
      PriceReservation(services.ledger, known, principal, reservation, certificates, Knowledge::kCached);
  absl::Status refusal = priced.status();
  if (refusal.ok()) refusal = services.daily.CheckRoomFor(principal, 1);
  if (!refusal.ok()) {
    if (!IsStillNew(services, *known, principal, reservation)) return std::nullopt;
    return refusal;
  }
  if (services.repetitions.HasRepeatedLately(principal)) {
    std::optional<absl::StatusOr<ChargeView>> found = FindReserved(services, principal, *priced);
    if (found && !found->ok()) return found->status();
    if (found) return std::vector<ChargeView>{**std::move(found)};
  }
  std::vector<Priced> one;
  one.push_back(*std::move(priced));
  absl::StatusOr<std::vector<ChargeView>> views =
      Reserve(services, principal, std::move(one), reservation.lifetime);
  if (IsDatasetChanged(views.status())) return std::nullopt;
  return views;
}

// The cost of `event` in exactly the counters that the charge holds.
absl::StatusOr<std::vector<ledger::Posting>> FinalCost(ledger::Ledger& ledger, const ledger::Charge& charge,
                                                       const dp::Event& event) {
  std::set<int64_t> held;
  for (const ledger::Posting& posting : charge.postings) held.insert(posting.account_id);
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   ledger.GetAccounts({held.begin(), held.end()}));
  std::vector<ledger::Posting> postings;
  for (const ledger::Account& account : accounts) {
    ASSIGN_OR_RETURN(const dp::RuleSpec rule, codec::DecodeRule(account.rule));
    ASSIGN_OR_RETURN(const std::vector<dp::CounterAmount> costs, dp::CostOf(rule, event));
    for (const dp::CounterAmount& cost : costs) postings.push_back({account.id, cost.counter, cost.amount});
  }
  return postings;
}

}  // namespace

absl::Status CheckNumber(size_t reservations) {
  if (reservations >= 1 && reservations <= kMaxReservations) return absl::OkStatus();
  return InvalidField("requests", absl::StrCat("must be 1 to ", kMaxReservations, " reservations"));
}

absl::StatusOr<CostEstimate> EstimateCost(Services& services, const Principal& principal,
                                          const DatasetName& dataset, const dp::AskedEvent& event,
                                          const std::stop_token& client_left) {
  RETURN_IF_ERROR(WithinField("event", dp::ValidateEvent(event.as_asked())));
  ASSIGN_OR_RETURN(const DatasetView view,
                   FindDataset(services.access(), Method::kEstimateCost, principal, dataset));
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts,
                   PayingAccounts(services.ledger, view, principal.name()));
  ASSIGN_OR_RETURN(const RequestScope scope,
                   OutsideScopeOf(services.ledger, view, principal, "", std::move(accounts)));
  Certificates certificates(services.memory, principal, client_left);
  ASSIGN_OR_RETURN(PricedEvent priced, PriceNow(view, scope, event, certificates));
  ASSIGN_OR_RETURN(std::string refused_by_rule, RuleThatRefuses(services.ledger, view, [&] {
                     return RuledBy(priced.price, scope, principal);
                   }));
  return CostEstimate{std::move(priced.price), dp::Describe(priced.event), WhatItProtects(view),
                      view.record.facts, std::move(refused_by_rule)};
}

absl::StatusOr<std::vector<ChargeView>> ReserveBudget(Services& services, const Principal& principal,
                                                      const std::vector<ReservationRequest>& requests,
                                                      Intent intent, const std::stop_token& client_left) {
  RETURN_IF_ERROR(CheckNumber(requests.size()));
  const bool is_one = requests.size() == 1;
  if (is_one && intent == Intent::kDo) {
    RETURN_IF_ERROR(CheckReservation(requests.front()));
    auto views = ReservedAsNew(services, principal, requests.front(), client_left);
    if (views) return *std::move(views);
  }
  Certificates certificates(services.memory, principal, client_left);
  DatasetsOfCall datasets(services, Method::kReserveBudget, principal);
  std::vector<Priced> priced;
  size_t postings = 0;
  int64_t new_charges = 0;  // what was reserved before is found again, whatever was made today
  for (const ReservationRequest& request : requests) {
    if (request.lifetime != requests[0].lifetime) {
      return InvalidField("lifetime", "must be the same for all reservations of a batch");
    }
    RETURN_IF_ERROR(CheckGoesOn(client_left));
    absl::StatusOr<Priced> next = ReadAndPrice(services.ledger, datasets, principal, request, certificates);
    if (!next.ok()) {
      const std::string place = absl::StrCat("requests[", priced.size(), "]");
      if (is_one) return next.status();
      if (IsRefusedByRule(next.status()))
        return RefusedByRule(absl::StrCat(place, ": ", next.status().message()));
      return WithinField(place, next.status());
    }
    postings += next->request.postings.size();
    if (!is_one) RETURN_IF_ERROR(CheckPostings(postings));
    new_charges += next->is_new ? 1 : 0;
    priced.push_back(*std::move(next));
  }
  if (intent == Intent::kValidateOnly) return ViewsOf(std::move(priced));
  RETURN_IF_ERROR(services.daily.CheckRoomFor(principal, new_charges));
  return Reserve(services, principal, std::move(priced), requests[0].lifetime);
}

absl::StatusOr<ChargeView> StartCharge(Services& services, const Principal& principal,
                                       std::string_view charge_id,
                                       const std::optional<dp::AskedEvent>& final_event,
                                       const std::stop_token& client_left) {
  ledger::Ledger& ledger = services.ledger;
  ASSIGN_OR_RETURN(const ledger::Charge charge,
                   FindReservationFor(services, Method::kStartCharge, principal, charge_id));
  std::vector<ledger::Posting> final_cost = charge.postings;
  if (final_event) {
    Certificates certificates(services.memory, principal, client_left);
    RETURN_IF_ERROR(WithinField("final_event", certificates.TakeParts(*final_event)));
    const absl::StatusOr<dp::Event> event = certificates.Of(*final_event);
    if (!event.ok()) return WithinField("final_event", event.status());
    ASSIGN_OR_RETURN(final_cost, FinalCost(ledger, charge, *event));
  }
  ASSIGN_OR_RETURN(ledger::Charge started, ledger.StartReserved(charge_id, final_cost, principal));
  return ViewOfCurrent(services, Method::kStartCharge, principal, std::move(started));
}

absl::StatusOr<ChargeView> CommitBudget(Services& services, const Principal& principal,
                                        std::string_view charge_id) {
  RETURN_IF_ERROR(FindReservationFor(services, Method::kCommitBudget, principal, charge_id).status());
  ASSIGN_OR_RETURN(ledger::Charge charge, services.ledger.CommitReserved(charge_id, principal));
  return ViewOfCurrent(services, Method::kCommitBudget, principal, std::move(charge));
}

absl::StatusOr<ChargeView> CancelReservation(Services& services, const Principal& principal,
                                             std::string_view charge_id, std::string_view reason) {
  RETURN_IF_ERROR(FindReservationFor(services, Method::kCancelReservation, principal, charge_id).status());
  if (reason.size() > kMaxSummaryLength) {
    return InvalidField("reason", absl::StrCat("is longer than ", kMaxSummaryLength, " bytes"));
  }
  RETURN_IF_ERROR(CheckLine("reason", reason));
  ASSIGN_OR_RETURN(ledger::Charge charge, services.ledger.CancelReserved(
                                              charge_id, reason.empty() ? "cancelled" : reason, principal));
  return ViewOfCurrent(services, Method::kCancelReservation, principal, std::move(charge));
}

absl::StatusOr<ChargeView> ExtendReservation(Services& services, const Principal& principal,
                                             std::string_view charge_id, absl::Duration lifetime) {
  ASSIGN_OR_RETURN(const ledger::Charge before,
                   FindReservationFor(services, Method::kExtendReservation, principal, charge_id));
  RETURN_IF_ERROR(CheckLifetime(lifetime));
  if (absl::ToUnixMicros(absl::Now() + lifetime) > before.deadline_us)
    RETURN_IF_ERROR(services.daily.CheckRoomFor(principal, 1));
  ASSIGN_OR_RETURN(ledger::Charge charge,
                   services.ledger.ExtendReserved(charge_id, absl::ToInt64Microseconds(lifetime), principal));
  if (charge.deadline_us > before.deadline_us) services.daily.Add(principal, 1);
  return ViewOfCurrent(services, Method::kExtendReservation, principal, std::move(charge));
}

absl::StatusOr<ChargeView> GetCharge(Services& services, const Principal& principal,
                                     std::string_view charge_id) {
  ASSIGN_OR_RETURN(ledger::Charge charge, FindChargeFor(services, Method::kGetCharge, principal, charge_id));
  return ViewOfCurrent(services, Method::kGetCharge, principal, std::move(charge));
}

absl::StatusOr<ChargeView> FindCharge(Services& services, const Principal& principal,
                                      std::string_view request_id) {
  absl::StatusOr<ledger::Charge> charge = services.ledger.FindCharge(principal, request_id);
  if (absl::IsNotFound(charge.status())) return NoSuchCharge();
  RETURN_IF_ERROR(charge.status());
  return ViewOfCurrent(services, Method::kGetCharge, principal, *std::move(charge));
}

}  // namespace curator::service
