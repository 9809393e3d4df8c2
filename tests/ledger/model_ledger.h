// A minimal model of a ledger: one account with one counter, maps and sums. The real ledger must give the
// same answers and reach the same state.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "ledger/ledger.h"

namespace curator::ledger {

struct ModelCharge {
  ChargeState state = ChargeState::kStarted;
  int64_t cost = 0;
  std::string payload;  // of its release
  std::string token;    // of the newest attempt
  std::string fingerprint;
  bool is_reservation = false;
  bool is_queued_draw = false;  // or was one before it was started
  bool is_overdue = false;
};

struct ModelRequest {
  std::string request_id;
  int64_t cost = 0;
  std::string fingerprint;
};

class ModelLedger {
 public:
  explicit ModelLedger(int64_t limit) : limit_(limit) {}

  // Each call answers as the contract of Ledger states. `token` is the attempt's token.
  absl::StatusCode Begin(const ModelRequest& request, const std::string& token);
  absl::StatusCode Store(const std::string& request_id, const std::string& token, const std::string& payload);
  absl::StatusCode Forfeit(const std::string& request_id, const std::string& token);
  absl::StatusCode TakeOver(const std::string& request_id, const std::string& token);
  absl::StatusCode Queue(const ModelRequest& request);
  absl::StatusCode StartQueued(const std::string& request_id, const std::string& token);
  absl::StatusCode Reserve(const std::vector<ModelRequest>& requests);
  absl::StatusCode Start(const std::string& request_id, int64_t final_cost);
  absl::StatusCode Commit(const std::string& request_id);
  absl::StatusCode Cancel(const std::string& request_id);
  absl::StatusCode Extend(const std::string& request_id);
  absl::StatusCode Expire();
  absl::StatusCode ChangeLimit(int64_t limit);

  // Its deadline has passed.
  void MakeOverdue(const std::string& request_id) { charges_.at(request_id).is_overdue = true; }
  bool HasOverdue() const;
  // An attempt was made whose token no caller has received.
  void SetToken(const std::string& request_id, const std::string& token) {
    charges_.at(request_id).token = token;
  }

  const std::map<std::string, ModelCharge>& charges() const { return charges_; }
  // Limit, spent and held, and every charge with its state, cost and release: the state visible in the
  // tables.
  std::string Describe() const;

 private:
  int64_t remaining() const { return limit_ - held_ - spent_; }
  // The reservation, which may be a queued draw, expired if it is overdue; null when the charge never was
  // one.
  ModelCharge* Held(const std::string& request_id);
  // Of these, one for a mechanism outside.
  ModelCharge* Reservation(const std::string& request_id);

  int64_t limit_;
  int64_t spent_ = 0;
  int64_t held_ = 0;
  std::map<std::string, ModelCharge> charges_;
};

// One line of Describe().
std::string DescribeCharge(const std::string& request_id, ChargeState state, int64_t cost,
                           const std::string& payload);
std::string DescribeCounter(int64_t limit, int64_t spent, int64_t held);

}  // namespace curator::ledger
