// Aggregates as statistics.
//
// Not thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/statusor.h"
#include "client/sql/columns.h"
#include "client/sql/parse_tree.pb.h"
#include "curator/v1/workload.pb.h"

namespace curator::sql {

// A statistic that a statement asks for, and what its column is called where the statement gives no name.
struct Aggregate {
  int position = 0;  // in the set of statistics
  std::string name;  // "avg(income)"
  std::string part;  // of several that one call asks for: "0.25"; empty for a single one
};

// Collects the statistics of one statement: the same one is asked once, however often it is named.
class Aggregates {
 public:
  static constexpr int kMost = 64;  // statistics

  Aggregates(std::string_view sql, const Columns& columns) : sql_(sql), columns_(columns) {}

  // One, or of percentile_cont(ARRAY[...]) one for each element. Errors: Refusal() for functions that are no
  // statistics, with the nearest that is, and for columns that they cannot be of.
  absl::StatusOr<std::vector<Aggregate>> Add(const tree::FunctionCall& call);

  // The same where one number is needed: `clause` says where ("HAVING").
  absl::StatusOr<Aggregate> AddOne(const tree::FunctionCall& call, std::string_view clause);

  const std::vector<v1::Statistic>& statistics() const { return statistics_; }
  // Where the first call is that asks for each of them.
  const std::vector<int64_t>& places() const { return places_; }

 private:
  absl::StatusOr<std::string> FunctionOf(const tree::FunctionCall& call) const;
  absl::Status CheckPlain(const tree::FunctionCall& call, const std::string& function) const;
  absl::StatusOr<Column> ArgumentOf(const tree::FunctionCall& call, const std::string& function) const;
  absl::StatusOr<Aggregate> Count(const tree::FunctionCall& call);
  absl::StatusOr<Aggregate> OfNumbers(const tree::FunctionCall& call, const std::string& function);
  absl::StatusOr<std::vector<Aggregate>> Percentiles(const tree::FunctionCall& call);
  absl::StatusOr<Column> OrderOf(const tree::FunctionCall& call) const;
  absl::StatusOr<Aggregate> Keep(v1::Statistic statistic, std::string name, int64_t place);

  std::string_view sql_;
  const Columns& columns_;
  std::vector<v1::Statistic> statistics_;
  std::vector<int64_t> places_;
};

}  // namespace curator::sql
