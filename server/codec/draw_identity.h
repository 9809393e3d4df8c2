// The identity of a draw: everything that determines what is drawn for a charge, apart from the records and
// the key. Two draws with the same key and the same identity are the same draw; a key is never used for two
// identities (service/release_once.h).
//
// Unlike a request's fingerprint it changes when the program draws something else for the same request.
// Thread-safe: plain values and pure functions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dp/accounting/event.h"
#include "dp/queries/linear_queries.h"
#include "dp/sensitivity/spend.h"
#include "dp/workload/residual/residual_measurement.h"
#include "dp/workload/statistics/statistics_plan.h"

namespace curator::codec {

struct DrawIdentity {
  std::string dataset_id;
  int64_t dataset_version = 0;
  std::vector<int64_t> parts;  // the numbers of those that are read; empty when it is not partitioned
  std::string method;          // "workload", or a synthesizer's name
  int64_t method_version = 1;
  std::vector<dp::CountedEvent> draws;  // those that were priced: what the kernel's meter admits
  // One list for each step of the schedule: the sets that are measured, or the candidates of selections.
  std::vector<std::vector<dp::QueryGroup>> drawn_from;

  // What steers a method that chooses its later draws by the answers of earlier ones; empty for a workload.
  std::map<std::string, std::string> settings = {};  // every key, defaults filled in
  std::vector<dp::QueryGroup> workload = {};
  dp::Spend spend = {};
  std::optional<int64_t> assume_records = std::nullopt;
  std::string prior = {};  // Prior::identity

  // Of a workload of statistics, which has nothing in `drawn_from`: its sets, and what is drawn for them.
  std::vector<dp::AskedStatistics> statistics = {};
  std::vector<dp::StatisticsDraw> statistics_draws = {};

  // Of a workload that is measured by residuals, which has nothing in `drawn_from` either.
  std::optional<dp::ResidualMeasurement> residual = std::nullopt;
};

// SHA-256 over all of it, in canonical bytes.
std::string HashOf(const DrawIdentity& identity);

}  // namespace curator::codec
