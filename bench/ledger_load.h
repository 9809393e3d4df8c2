// Clients that charge one hot dataset as fast as they are answered, and what they saw.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "ledger/ledger.h"

namespace curator::bench {

struct Load {
  int clients = 1;
  double seconds = 1;
};

struct Observed {
  double per_second = 0;
  double median_us = 0;
  double p99_us = 0;
  double p999_us = 0;
  int64_t charges = 0;
};

// What `latencies_us` of operations that took `seconds` together amount to.
Observed Summarize(std::vector<double> latencies_us, double seconds);

// `load.clients` threads that do `charge`, each with its own number, one after the other for `load.seconds`.
Observed ChargeByClients(const Load& load, const std::function<void(int client)>& charge);

// One sealed private dataset with one account, whose limit is never reached.
class HotDataset {
 public:
  // Ends the program with a message when the ledger refuses.
  explicit HotDataset(ledger::Ledger& ledger);

  // `load.clients` threads call Begin() for `load.seconds`, each with a fresh request id, one after the
  // other.
  Observed Charge(const Load& load);
  // Charges until the dataset has had `charges` of them.
  void FillTo(int64_t charges);
  const std::string& id() const { return dataset_.id; }

 private:
  ledger::ChargeRequest Request(const std::string& request_id) const;
  void ChargeOnce() const;

  ledger::Ledger& ledger_;
  ledger::Dataset dataset_;
  int64_t account_id_ = 0;
  int64_t charges_ = 0;
};

}  // namespace curator::bench
