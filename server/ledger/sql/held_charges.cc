#include "ledger/sql/held_charges.h"

#include <numeric>
#include <utility>

#include "base/status_macros.h"
#include "ledger/sql/admission.h"

namespace curator::ledger::sql {
namespace {

size_t BytesOfAll(const std::vector<ChargeRequest>& requests) {
  size_t bytes = 0;
  for (const ChargeRequest& request : requests) bytes += BytesOf(request);
  return bytes;
}

void Hold(WriteSet& change, const ChargeRequest& request, int64_t sign) {
  for (const Posting& posting : request.postings) {
    change.AddHeld({posting.account_id, posting.counter}, sign * posting.cost);
  }
}

}  // namespace

HeldCharges::HeldCharges(const std::vector<ChargeRequest>& requests, std::vector<std::string> charge_ids,
                         int64_t lifetime_us, Check check_known)
    : requests_(requests),
      charge_ids_(std::move(charge_ids)),
      lifetime_us_(lifetime_us),
      check_known_(std::move(check_known)),
      bytes_(BytesOfAll(requests)) {}

std::vector<ChargeKey> HeldCharges::keys() const {
  std::vector<ChargeKey> keys;
  keys.reserve(requests_.size());
  for (const ChargeRequest& request : requests_) keys.push_back(ChargeKeyOf(request));
  return keys;
}

void HeldCharges::AddNeeds(Needs& needs) const {
  for (const ChargeRequest& request : requests_) {
    needs.dataset_ids.insert(request.dataset_id);
    for (const Posting& posting : request.postings) needs.account_ids.insert(posting.account_id);
    needs.keys.insert(ChargeKeyOf(request));
  }
}

absl::Status HeldCharges::Decide(WriteSet& change, const FoundCharges& found) {
  charges_.assign(requests_.size(), {});
  std::vector<size_t> new_requests;
  for (size_t i = 0; i < requests_.size(); ++i) {
    const ChargeRequest& request = requests_[i];
    const StoredCharge* const stored = found.ByKey(ChargeKeyOf(request));
    if (stored == nullptr) {
      new_requests.push_back(i);
      continue;
    }
    RETURN_IF_ERROR(check_known_(stored->charge, request));
    charges_[i] = stored->charge;
  }
  return HoldNew(change, new_requests);
}

absl::Status HeldCharges::DecideOptimistically(WriteSet& change) {
  charges_.assign(requests_.size(), {});
  std::vector<size_t> all(requests_.size());
  std::iota(all.begin(), all.end(), size_t{0});
  return HoldNew(change, all);
}

absl::Status HeldCharges::HoldNew(WriteSet& change, const std::vector<size_t>& new_requests) {
  for (size_t done = 0; done < new_requests.size(); ++done) {
    const ChargeRequest& request = requests_[new_requests[done]];
    const absl::Status fits = CheckAdmission(change, request);
    if (!fits.ok()) {
      for (size_t undone = 0; undone < done; ++undone) Hold(change, requests_[new_requests[undone]], -1);
      return fits;
    }
    Hold(change, request, 1);
  }
  std::vector<EncodedCharge> admitted;
  admitted.reserve(new_requests.size());
  for (const size_t i : new_requests) {
    const ChargeIdentity identity{.id = charge_ids_[i], .deadline_us = change.now_us() + lifetime_us_};
    admitted.push_back(Encode(requests_[i], identity));
    charges_[i] = ChargeOf(requests_[i], identity, change.now_us());
  }
  if (!admitted.empty()) InsertCharges(change, std::move(admitted));
  return absl::OkStatus();
}

}  // namespace curator::ledger::sql
