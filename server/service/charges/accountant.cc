#include "service/charges/accountant.h"

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
#include "service/charges/request_scope.h"

namespace curator::service {
namespace {

constexpr size_t kMaxSummaryLength = 200;
constexpr std::string_view kChargeNoun = "charge";

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

// The datasets of one call and the accounts that pay there, each read once: a batch may name one dataset a
// thousand times.
class DatasetsOfCall {
 public:
  DatasetsOfCall(ledger::Ledger& ledger, const Principal& principal)
      : ledger_(ledger), principal_(principal) {}

  absl::StatusOr<const DatasetView*> Find(const DatasetName& name) {
    auto found = views_.find(name.text());
    if (found == views_.end()) {
      ASSIGN_OR_RETURN(DatasetView view, FindVisible(ledger_, principal_, name));
      found = views_.emplace(name.text(), std::move(view)).first;
    }
    return &found->second;
  }

  absl::StatusOr<const std::vector<ledger::Account>*> AccountsOf(const DatasetView& dataset) {
    auto found = accounts_.find(dataset.record.id);
    if (found == accounts_.end()) {
      ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts,
                       PayingAccounts(ledger_, dataset, principal_.name()));
      found = accounts_.emplace(dataset.record.id, std::move(accounts)).first;
    }
    return &found->second;
  }

  // After a charge, which changes balances.
  void ForgetAccounts() { accounts_.clear(); }

 private:
  ledger::Ledger& ledger_;
  const Principal& principal_;
  std::map<std::string, DatasetView> views_;  // by name
  std::map<std::string, std::vector<ledger::Account>> accounts_;
};

absl::StatusOr<ChargeView> ViewOfCharge(const DatasetView& dataset,
                                        const std::vector<ledger::Account>& accounts, ledger::Charge charge) {
  ASSIGN_OR_RETURN(const dp::Event event, codec::DecodeEvent(charge.event));
  ASSIGN_OR_RETURN(Price price, PricePaid(dataset, accounts, charge));
  return ChargeView{std::move(charge), dataset.record.name, dp::Describe(event), std::move(price)};
}

absl::StatusOr<ChargeView> ViewOfCharge(ledger::Ledger& ledger, const Principal& principal,
                                        ledger::Charge charge) {
  ASSIGN_OR_RETURN(const DatasetView dataset, FindVisibleById(ledger, principal, charge.dataset_id));
  ASSIGN_OR_RETURN(const std::vector<ledger::Account> accounts,
                   PayingAccounts(ledger, dataset, charge.principal));
  return ViewOfCharge(dataset, accounts, std::move(charge));
}

// Only reservations may be changed here: the charge of a request to Curator belongs to the draw that it pays
// for.
absl::StatusOr<ledger::Charge> FindOwnReservation(ledger::Ledger& ledger, const Principal& principal,
                                                  std::string_view charge_id) {
  ASSIGN_OR_RETURN(ledger::Charge charge, FindOwnCharge(ledger, principal, charge_id, kChargeNoun));
  if (charge.kind == kReservationKind) return charge;
  return absl::FailedPreconditionError("this charge is not a reservation: Curator itself starts and ends it");
}

struct Priced {
  ledger::ChargeRequest request;
  ChargeView view;
  bool is_new = false;  // it was not reserved before
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

absl::StatusOr<Priced> PriceReservation(ledger::Ledger& ledger, DatasetsOfCall& datasets,
                                        const Principal& principal, const ReservationRequest& reservation,
                                        Certificates& certificates) {
  RETURN_IF_ERROR(CheckReservation(reservation));
  ASSIGN_OR_RETURN(const DatasetView* const found_dataset, datasets.Find(reservation.dataset));
  const DatasetView& dataset = *found_dataset;
  RETURN_IF_ERROR(CheckAcceptsRequest(ledger, dataset.record, principal, reservation.request_id.text()));
  ASSIGN_OR_RETURN(const std::vector<ledger::Account>* const accounts, datasets.AccountsOf(dataset));
  ASSIGN_OR_RETURN(const RequestScope scope,
                   OutsideScopeOf(ledger, dataset, principal, reservation.request_id.text(), *accounts));
  ASSIGN_OR_RETURN(std::optional<PricedEvent> found,
                   PricedBefore(ledger, dataset, scope, principal, reservation));
  const bool is_new = !found;
  if (is_new) {
    ASSIGN_OR_RETURN(found, PriceNow(dataset, scope, reservation.event, certificates));
    RETURN_IF_ERROR(CheckLeastCost(ledger, found->price, principal, reservation.request_id.text(), "event"));
  }
  Priced priced{.request = {.dataset_id = dataset.record.id,
                            .dataset_version = scope.version,
                            .principal = principal,
                            .request_id = reservation.request_id.text(),
                            .fingerprint = ReservationFingerprint(dataset, reservation.event),
                            .kind = kReservationKind,
                            .event = codec::EncodeEvent(found->event),
                            .label = reservation.summary,
                            .postings = std::move(found->postings)}};
  priced.is_new = is_new;
  priced.view.dataset = dataset.record.name;
  priced.view.event = dp::Describe(found->event);
  priced.view.price = std::move(found->price);
  return priced;
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
  ASSIGN_OR_RETURN(const DatasetView view, FindVisible(services.ledger, principal, dataset));
  ASSIGN_OR_RETURN(std::vector<ledger::Account> accounts,
                   PayingAccounts(services.ledger, view, principal.name()));
  ASSIGN_OR_RETURN(const RequestScope scope,
                   OutsideScopeOf(services.ledger, view, principal, "", std::move(accounts)));
  Certificates certificates(services.memory, principal, client_left);
  ASSIGN_OR_RETURN(PricedEvent priced, PriceNow(view, scope, event, certificates));
  return CostEstimate{std::move(priced.price), dp::Describe(priced.event), WhatItProtects(view)};
}

absl::StatusOr<std::vector<ChargeView>> ReserveBudget(Services& services, const Principal& principal,
                                                      const std::vector<ReservationRequest>& requests,
                                                      Intent intent, const std::stop_token& client_left) {
  RETURN_IF_ERROR(CheckNumber(requests.size()));
  ledger::Ledger& ledger = services.ledger;
  Certificates certificates(services.memory, principal, client_left);
  DatasetsOfCall datasets(ledger, principal);
  std::vector<ledger::ChargeRequest> charges;
  std::vector<ChargeView> views;
  size_t postings = 0;
  int64_t new_charges = 0;  // what was reserved before is found again, whatever was made today
  for (const ReservationRequest& request : requests) {
    if (request.lifetime != requests[0].lifetime) {
      return InvalidField("lifetime", "must be the same for all reservations of a batch");
    }
    RETURN_IF_ERROR(CheckGoesOn(client_left));
    absl::StatusOr<Priced> priced = PriceReservation(ledger, datasets, principal, request, certificates);
    if (!priced.ok()) {
      const std::string place = absl::StrCat("requests[", charges.size(), "]");
      return requests.size() == 1 ? priced.status() : WithinField(place, priced.status());
    }
    postings += priced->request.postings.size();
    if (requests.size() > 1) RETURN_IF_ERROR(CheckPostings(postings));
    new_charges += priced->is_new ? 1 : 0;
    charges.push_back(std::move(priced->request));
    views.push_back(std::move(priced->view));
  }
  if (intent == Intent::kValidateOnly) return views;
  RETURN_IF_ERROR(services.daily.CheckRoomFor(principal, new_charges));
  ASSIGN_OR_RETURN(const std::vector<ledger::Charge> reserved,
                   ledger.Reserve(charges, absl::ToInt64Microseconds(requests[0].lifetime)));
  services.daily.Add(principal, new_charges);
  datasets.ForgetAccounts();
  for (size_t i = 0; i < views.size(); ++i) {
    ASSIGN_OR_RETURN(const DatasetView* const dataset, datasets.Find(requests[i].dataset));
    ASSIGN_OR_RETURN(const std::vector<ledger::Account>* const accounts, datasets.AccountsOf(*dataset));
    ASSIGN_OR_RETURN(views[i], ViewOfCharge(*dataset, *accounts, reserved[i]));
  }
  return views;
}

absl::StatusOr<ChargeView> StartCharge(Services& services, const Principal& principal,
                                       std::string_view charge_id,
                                       const std::optional<dp::AskedEvent>& final_event,
                                       const std::stop_token& client_left) {
  ledger::Ledger& ledger = services.ledger;
  ASSIGN_OR_RETURN(const ledger::Charge charge, FindOwnReservation(ledger, principal, charge_id));
  std::vector<ledger::Posting> final_cost = charge.postings;
  if (final_event) {
    Certificates certificates(services.memory, principal, client_left);
    RETURN_IF_ERROR(WithinField("final_event", certificates.TakeParts(*final_event)));
    const absl::StatusOr<dp::Event> event = certificates.Of(*final_event);
    if (!event.ok()) return WithinField("final_event", event.status());
    ASSIGN_OR_RETURN(final_cost, FinalCost(ledger, charge, *event));
  }
  ASSIGN_OR_RETURN(ledger::Charge started, ledger.StartReserved(charge_id, final_cost, principal));
  return ViewOfCharge(ledger, principal, std::move(started));
}

absl::StatusOr<ChargeView> CommitBudget(ledger::Ledger& ledger, const Principal& principal,
                                        std::string_view charge_id) {
  RETURN_IF_ERROR(FindOwnReservation(ledger, principal, charge_id).status());
  ASSIGN_OR_RETURN(ledger::Charge charge, ledger.CommitReserved(charge_id, principal));
  return ViewOfCharge(ledger, principal, std::move(charge));
}

absl::StatusOr<ChargeView> CancelReservation(ledger::Ledger& ledger, const Principal& principal,
                                             std::string_view charge_id, std::string_view reason) {
  RETURN_IF_ERROR(FindOwnReservation(ledger, principal, charge_id).status());
  if (reason.size() > kMaxSummaryLength) {
    return InvalidField("reason", absl::StrCat("is longer than ", kMaxSummaryLength, " bytes"));
  }
  RETURN_IF_ERROR(CheckLine("reason", reason));
  ASSIGN_OR_RETURN(ledger::Charge charge,
                   ledger.CancelReserved(charge_id, reason.empty() ? "cancelled" : reason, principal));
  return ViewOfCharge(ledger, principal, std::move(charge));
}

absl::StatusOr<ChargeView> ExtendReservation(Services& services, const Principal& principal,
                                             std::string_view charge_id, absl::Duration lifetime) {
  ledger::Ledger& ledger = services.ledger;
  ASSIGN_OR_RETURN(const ledger::Charge before, FindOwnReservation(ledger, principal, charge_id));
  RETURN_IF_ERROR(CheckLifetime(lifetime));
  if (absl::ToUnixMicros(absl::Now() + lifetime) > before.deadline_us)
    RETURN_IF_ERROR(services.daily.CheckRoomFor(principal, 1));
  ASSIGN_OR_RETURN(ledger::Charge charge,
                   ledger.ExtendReserved(charge_id, absl::ToInt64Microseconds(lifetime), principal));
  if (charge.deadline_us > before.deadline_us) services.daily.Add(principal, 1);
  return ViewOfCharge(ledger, principal, std::move(charge));
}

absl::StatusOr<ChargeView> GetCharge(ledger::Ledger& ledger, const Principal& principal,
                                     std::string_view charge_id) {
  ASSIGN_OR_RETURN(ledger::Charge charge, FindOwnCharge(ledger, principal, charge_id, kChargeNoun));
  return ViewOfCharge(ledger, principal, std::move(charge));
}

absl::StatusOr<ChargeView> FindCharge(ledger::Ledger& ledger, const Principal& principal,
                                      std::string_view request_id) {
  absl::StatusOr<ledger::Charge> charge = ledger.FindCharge(principal, request_id);
  if (absl::IsNotFound(charge.status()))
    return absl::NotFoundError("there is no charge of yours with this id");
  RETURN_IF_ERROR(charge.status());
  return ViewOfCharge(ledger, principal, *std::move(charge));
}

}  // namespace curator::service
