// The accountant for services that run a mechanism of their own on data that Curator need not hold.
//
// The dataset must be sealed; one whose records live elsewhere is sealed without records.
// The owner and the grantees of a dataset may reserve from its budget. A charge belongs to the principal who
// reserved it; NOT_FOUND to all others. Concurrent use of several reservations is covered: concurrent
// composition holds for pure, approximate and Renyi (order by order, hence zCDP) guarantees (Vadhan, Wang
// 2021; Lyu 2022; Haney, Shoemate, Tian, Vadhan, Vyrros, Xu, Zhang 2023). Thread-safe. Errors:
// INVALID_ARGUMENT with the field, NOT_FOUND, FAILED_PRECONDITION, RESOURCE_EXHAUSTED, ALREADY_EXISTS.
#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/time/time.h"
#include "base/principal.h"
#include "base/request_names.h"
#include "dp/accounting/certification.h"
#include "ledger/ledger.h"
#include "service/access.h"
#include "service/charges/pricing.h"
#include "service/charges/receipts.h"
#include "service/services.h"

namespace curator::service {

inline constexpr char kReservationKind[] = "reservation";  // of the charges made here
inline constexpr size_t kMaxReservations = 1000;           // in one call
// What the reservations of one call together post to. A dataset may have a thousand parts with accounts.
inline constexpr size_t kMaxBatchPostings = 100'000;
inline constexpr absl::Duration kMaxReservationLifetime = absl::Hours(24 * 366);

// INVALID_ARGUMENT ("requests") unless one call may make this many reservations.
absl::Status CheckNumber(size_t reservations);

struct ReservationRequest {
  RequestId request_id;
  DatasetName dataset;
  dp::AskedEvent event;
  std::string summary;
  absl::Duration lifetime;
};

struct ChargeView {
  ledger::Charge charge;
  std::string dataset;
  std::string event;  // described for display
  Price price;
  std::optional<Receipt> receipt = {};  // none when it was only validated
};

struct CostEstimate {
  Price price;
  std::string event;                 // described for display
  std::string protects;              // WhatItProtects()
  ledger::DatasetFacts facts;        // of the dataset
  std::string refused_by_rule = {};  // the name of a rule of the owner that would refuse it; or empty
};

// The events of one call are priced within the bounds of service/charges/certificates.h, and certified only
// once the caller was found to have access: INVALID_ARGUMENT, with the number and what would fit, beyond
// them; CANCELLED soon after `client_left` is requested.
absl::StatusOr<CostEstimate> EstimateCost(Services& services, const Principal& principal,
                                          const DatasetName& dataset, const dp::AskedEvent& event,
                                          const std::stop_token& client_left = {});

// Reserves all of `requests`, or none. With Intent::kValidateOnly the views hold prices and no charges. What
// was reserved before is found, at its price: nothing is certified for it.
// RESOURCE_EXHAUSTED when they are more new charges than the principal may still make today;
// INVALID_ARGUMENT ("requests") beyond kMaxBatchPostings; CANCELLED soon after `client_left` is requested.
absl::StatusOr<std::vector<ChargeView>> ReserveBudget(Services& services, const Principal& principal,
                                                      const std::vector<ReservationRequest>& requests,
                                                      Intent intent, const std::stop_token& client_left = {});

// Spends the reservation, at the lower cost of `final_event` when given. The caller may access data only
// after it returns.
absl::StatusOr<ChargeView> StartCharge(Services& services, const Principal& principal,
                                       std::string_view charge_id,
                                       const std::optional<dp::AskedEvent>& final_event,
                                       const std::stop_token& client_left = {});
absl::StatusOr<ChargeView> CommitBudget(Services& services, const Principal& principal,
                                        std::string_view charge_id);
absl::StatusOr<ChargeView> CancelReservation(Services& services, const Principal& principal,
                                             std::string_view charge_id, std::string_view reason);
// RESOURCE_EXHAUSTED when it would add an entry to the history and the principal may add no more today.
absl::StatusOr<ChargeView> ExtendReservation(Services& services, const Principal& principal,
                                             std::string_view charge_id, absl::Duration lifetime);

absl::StatusOr<ChargeView> GetCharge(Services& services, const Principal& principal,
                                     std::string_view charge_id);
absl::StatusOr<ChargeView> FindCharge(Services& services, const Principal& principal,
                                      std::string_view request_id);

}  // namespace curator::service
