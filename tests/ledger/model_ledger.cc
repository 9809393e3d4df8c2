#include "tests/ledger/model_ledger.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "ledger/history/entry_payload.h"

namespace curator::ledger {

using absl::StatusCode::kAborted;
using absl::StatusCode::kAlreadyExists;
using absl::StatusCode::kFailedPrecondition;
using absl::StatusCode::kInvalidArgument;
using absl::StatusCode::kOk;
using absl::StatusCode::kResourceExhausted;

absl::StatusCode ModelLedger::Begin(const ModelRequest& request, const std::string& token) {
  const auto known = charges_.find(request.request_id);
  if (known == charges_.end()) {
    if (request.cost > remaining()) return kResourceExhausted;
    spent_ += request.cost;
    charges_[request.request_id] = {.state = ChargeState::kStarted,
                                    .cost = request.cost,
                                    .payload = {},
                                    .token = token,
                                    .fingerprint = request.fingerprint};
    return kOk;
  }
  ModelCharge& charge = known->second;
  if (charge.fingerprint != request.fingerprint) return kAlreadyExists;
  if (charge.is_reservation || charge.state == ChargeState::kForfeited) return kFailedPrecondition;
  if (charge.state == ChargeState::kStarted) charge.token = token;
  return kOk;
}

absl::StatusCode ModelLedger::TakeOver(const std::string& request_id, const std::string& token) {
  ModelCharge& charge = charges_.at(request_id);
  if (charge.is_reservation) return kFailedPrecondition;
  if (charge.state == ChargeState::kCommitted) return kOk;
  if (charge.state != ChargeState::kStarted) return kFailedPrecondition;
  charge.token = token;
  return kOk;
}

absl::StatusCode ModelLedger::Queue(const ModelRequest& request) {
  const auto known = charges_.find(request.request_id);
  if (known == charges_.end()) {
    if (request.cost > remaining()) return kResourceExhausted;
    held_ += request.cost;
    charges_[request.request_id] = {.state = ChargeState::kReserved,
                                    .cost = request.cost,
                                    .payload = {},
                                    .token = {},
                                    .fingerprint = request.fingerprint,
                                    .is_queued_draw = true};
    return kOk;
  }
  Held(request.request_id);  // what is found is up to date
  const ModelCharge& charge = known->second;
  if (charge.fingerprint != request.fingerprint) return kAlreadyExists;
  const bool has_ended = charge.state == ChargeState::kForfeited || charge.state == ChargeState::kCancelled;
  return has_ended ? kFailedPrecondition : kOk;
}

absl::StatusCode ModelLedger::StartQueued(const std::string& request_id, const std::string& token) {
  ModelCharge* const charge = Held(request_id);
  if (charge == nullptr) return kFailedPrecondition;
  if (charge->state == ChargeState::kStarted) return kAborted;
  if (!charge->is_queued_draw || charge->state != ChargeState::kReserved) return kFailedPrecondition;
  held_ -= charge->cost;
  spent_ += charge->cost;
  charge->state = ChargeState::kStarted;
  charge->token = token;
  return kOk;
}

absl::StatusCode ModelLedger::Store(const std::string& request_id, const std::string& token,
                                    const std::string& payload) {
  ModelCharge& charge = charges_.at(request_id);
  if (charge.state == ChargeState::kCommitted) return kOk;
  if (charge.state != ChargeState::kStarted) return kFailedPrecondition;
  if (charge.token != token) return kAborted;
  charge.state = ChargeState::kCommitted;
  charge.payload = payload;
  return kOk;
}

absl::StatusCode ModelLedger::Forfeit(const std::string& request_id, const std::string& token) {
  ModelCharge& charge = charges_.at(request_id);
  if (charge.state == ChargeState::kForfeited) return kOk;
  if (charge.state == ChargeState::kCommitted) return kAborted;
  if (charge.state != ChargeState::kStarted) return kFailedPrecondition;
  if (charge.token != token) return kAborted;
  charge.state = ChargeState::kForfeited;
  return kOk;
}

absl::StatusCode ModelLedger::Reserve(const std::vector<ModelRequest>& requests) {
  int64_t wanted = 0;
  for (const ModelRequest& request : requests) {
    const auto known = charges_.find(request.request_id);
    if (known == charges_.end()) {
      wanted += request.cost;
    } else if (known->second.fingerprint != request.fingerprint || !known->second.is_reservation) {
      return kAlreadyExists;
    }
  }
  if (wanted > remaining()) return kResourceExhausted;
  held_ += wanted;
  for (const ModelRequest& request : requests) {
    charges_.try_emplace(request.request_id, ModelCharge{.state = ChargeState::kReserved,
                                                         .cost = request.cost,
                                                         .payload = {},
                                                         .token = {},
                                                         .fingerprint = request.fingerprint,
                                                         .is_reservation = true});
    Held(request.request_id);  // what is answered is up to date
  }
  return kOk;
}

ModelCharge* ModelLedger::Held(const std::string& request_id) {
  ModelCharge& charge = charges_.at(request_id);
  if (!charge.is_reservation && !charge.is_queued_draw) return nullptr;
  if (charge.state == ChargeState::kReserved && charge.is_overdue) {
    held_ -= charge.cost;
    // Nothing was read for a queued draw; what an outside mechanism did is not known.
    spent_ += charge.is_queued_draw ? 0 : charge.cost;
    charge.state = charge.is_queued_draw ? ChargeState::kCancelled : ChargeState::kCommitted;
  }
  return &charge;
}

ModelCharge* ModelLedger::Reservation(const std::string& request_id) {
  ModelCharge* const charge = Held(request_id);
  return charge == nullptr || charge->is_queued_draw ? nullptr : charge;
}

absl::StatusCode ModelLedger::Start(const std::string& request_id, int64_t final_cost) {
  ModelCharge* const charge = Reservation(request_id);
  if (charge == nullptr) return kFailedPrecondition;
  if (charge->state != ChargeState::kReserved && charge->state != ChargeState::kStarted) {
    return kFailedPrecondition;
  }
  if (final_cost > charge->cost) return kInvalidArgument;
  if (charge->state == ChargeState::kStarted) return final_cost == charge->cost ? kOk : kFailedPrecondition;
  held_ -= charge->cost;
  spent_ += final_cost;
  charge->cost = final_cost;
  charge->state = ChargeState::kStarted;
  return kOk;
}

absl::StatusCode ModelLedger::Commit(const std::string& request_id) {
  ModelCharge* const charge = Reservation(request_id);
  if (charge == nullptr || charge->state == ChargeState::kCancelled) return kFailedPrecondition;
  if (charge->state == ChargeState::kReserved) return kFailedPrecondition;
  charge->state = ChargeState::kCommitted;
  return kOk;
}

absl::StatusCode ModelLedger::Cancel(const std::string& request_id) {
  ModelCharge* const charge = Held(request_id);
  if (charge == nullptr) return kFailedPrecondition;
  if (charge->state == ChargeState::kCancelled) return kOk;
  if (charge->state != ChargeState::kReserved) return kFailedPrecondition;
  held_ -= charge->cost;
  charge->state = ChargeState::kCancelled;
  return kOk;
}

absl::StatusCode ModelLedger::Extend(const std::string& request_id) {
  ModelCharge* const charge = Reservation(request_id);
  return charge != nullptr && charge->state == ChargeState::kReserved ? kOk : kFailedPrecondition;
}

absl::StatusCode ModelLedger::Expire() {
  for (const auto& [request_id, charge] : charges_) Held(request_id);
  return kOk;
}

absl::StatusCode ModelLedger::ChangeLimit(int64_t limit) {
  if (spent_ > limit - held_) return kFailedPrecondition;
  limit_ = limit;
  return kOk;
}

bool ModelLedger::HasOverdue() const {
  return std::any_of(charges_.begin(), charges_.end(), [](const auto& named) {
    return named.second.is_overdue && named.second.state == ChargeState::kReserved;
  });
}

std::string ModelLedger::Describe() const {
  std::string text = DescribeCounter(limit_, spent_, held_);
  for (const auto& [request_id, charge] : charges_) {
    absl::StrAppend(&text, DescribeCharge(request_id, charge.state, charge.cost, charge.payload));
  }
  return text;
}

std::string DescribeCharge(const std::string& request_id, ChargeState state, int64_t cost,
                           const std::string& payload) {
  return absl::StrCat(request_id, " ", std::string(StateName(state)), " costs ", cost, ": ", payload, "\n");
}

std::string DescribeCounter(int64_t limit, int64_t spent, int64_t held) {
  return absl::StrCat("limit ", limit, ", spent ", spent, ", held ", held, "\n");
}

}  // namespace curator::ledger
