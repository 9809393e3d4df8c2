// The options for queries and their price, and their conversion to messages.
//
// Thread-safe but for the file that is read.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "client/cli/commands/field_options.h"
#include "client/cli/commands/statistics_choice.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"
#include "curator/v1/workload.pb.h"

namespace CLI {
class App;
}  // namespace CLI

namespace curator::cli {

struct Session;

// --weight ranges=2: of the query sets that --ranges asks for.
struct OptionWeight {
  std::string option;  // "ranges"
  double weight = 1;
};

// --file, and the short options: any mixture of them.
struct WorkloadChoice {
  std::string file;                              // of a workload in JSON; empty for none
  int marginals = 0;                             // all K-way ones
  std::optional<int64_t> max_cells;              // of each of those; larger ones are left out
  int parities = 0;                              // all of up to K attributes
  std::vector<std::string> attributes;           // of marginals and parities; all of the dataset when empty
  std::vector<std::vector<std::string>> ranges;  // each of one or several attributes
  std::vector<std::string> prefixes;             // attributes
  std::vector<std::string> thresholds;           // texts (where.h)
  std::vector<std::string> where;                // texts (where.h)
  std::vector<std::string> by;                   // of thresholds, where and statistics
  StatisticsChoice statistics = {};              // whose condition is `where`, if there are any
  v1::Strategy strategy = v1::STRATEGY_UNSPECIFIED;
  std::vector<OptionWeight> weights = {};  // of options that ask for counts

  bool asks() const {
    return !file.empty() || marginals > 0 || parities > 0 || !ranges.empty() || !prefixes.empty() ||
           !thresholds.empty() || !where.empty() || statistics.asks();
  }
};

// Adds the options for queries. With kRequired the command line must have at least one query. Models answer
// counts, and no noise is planned for their answers: statistics and weights are of the records alone.
enum class WorkloadNeed { kRequired, kOptional };
enum class AskedOf { kRecords, kModel };
void AddWorkload(CLI::App* command, WorkloadChoice& workload, WorkloadNeed need,
                 AskedOf asked_of = AskedOf::kModel);
// Throws a CLI11 error for options that contradict each other; to be called when the command line is parsed.
void CheckWorkload(const WorkloadChoice& workload);

// The query sets of the file, then those of the short options in the order marginals, ranges, prefixes,
// thresholds, parities, where or statistics. The strategy is set for those that have none, of marginals only
// when it is direct, residual or parity, which they can have; of statistics it is that of --quantiles-by.
// Weights are those of the options; sets of the file have their own. Intervals are checked against `schema`.
// Errors: INVALID_ARGUMENT (conditions), those of ReadWorkload().
absl::StatusOr<v1::Workload> WorkloadOf(const WorkloadChoice& choice, const v1::Schema& schema);

// Adds the options that the query sets of `workload`, which WorkloadOf() returned, come from.
void NameQuerySets(const WorkloadChoice& choice, const v1::Workload& workload, FieldOptions& fields);

// A workload file with a query set of each class, as the help of commands with --file shows it; its
// attributes are integers (age), categories (sex: Female, Male) and codes (region).
extern const char kWorkloadFileExample[];
// A set of statistics in such a file; income is a measure.
extern const char kStatisticsFileExample[];

// --epsilon E [--delta D] | --rho R
struct SpendChoice {
  std::string epsilon;
  std::string delta;
  std::string rho;

  bool is_given() const { return !epsilon.empty() || !rho.empty(); }
};
enum class SpendNeed { kRequired, kOptional };
void AddSpend(CLI::App* command, SpendChoice& spend, SpendNeed need = SpendNeed::kRequired);
v1::Spend SpendOf(const SpendChoice& choice);

// A spend, or --max-error A|P% or --rmse A|P%: the least spend that reaches this error. A percentage is of
// --assume-rows, or of the number of records that the release --of-release measured.
struct PriceChoice {
  SpendChoice spend;
  std::optional<double> max_error;
  std::optional<double> max_error_percent = {};
  std::string of_release = {};
  std::optional<double> rmse = {};  // the root of the mean squared error
  std::optional<double> rmse_percent = {};

  bool has_max_error() const { return max_error || max_error_percent; }
  bool has_rmse() const { return rmse || rmse_percent; }
  bool is_given() const { return spend.is_given() || has_max_error() || has_rmse(); }
};
void AddPrice(CLI::App* command, PriceChoice& price);
// Throws a CLI11 error for a percentage of nothing, and for a release that no percentage is of; to be called
// when the command line is parsed.
void CheckPrice(const PriceChoice& price, const std::optional<int64_t>& assumed_rows);
// The price with its percentage as a number of records; says on the error stream which number it is of.
// Errors: those of the client, and of client::TotalOf().
absl::StatusOr<PriceChoice> InRecords(Session& session, PriceChoice price,
                                      const std::optional<int64_t>& assumed_rows);

// Sets the spend, or the target, in an estimate or a request for answers; of a largest error with this
// confidence.
template <typename Request>
void SetPrice(const PriceChoice& price, const std::optional<double>& confidence, Request& request) {
  if (price.max_error) {
    request.mutable_target()->set_max_error(*price.max_error);
    if (confidence) request.mutable_target()->set_confidence(*confidence);
  } else if (price.rmse) {
    request.mutable_target()->set_rmse(*price.rmse);
  } else if (price.spend.is_given()) {
    *request.mutable_spend() = SpendOf(price.spend);
  }
}

void AddMechanism(CLI::App* command, v1::Mechanism& mechanism);
void AddConfidence(CLI::App* command, std::optional<double>& confidence);
// --assume-rows: a number of records, for forecasts that depend on it.
void AddAssumedRows(CLI::App* command, std::optional<int64_t>& rows, const std::string& summary);

}  // namespace curator::cli
