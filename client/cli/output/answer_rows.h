// A common view of marginals and query sets: a table with a row for each number, and label columns that
// identify it.
//
// Thread-safe: immutable views. They point into the answer, which must outlive them.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "client/answer.h"
#include "client/cli/output/value.h"
#include "curator/v1/query.pb.h"
#include "curator/v1/schema.pb.h"

namespace curator::cli {

// The interval of one number at the stated level. It may extend below 0, although the true count does not.
// Those of statistics may be infinite; those of post-processed numbers need not be around them.
struct AnswerInterval {
  double lower = 0;
  double upper = 0;
};

// Whether a marginal's standard deviations are a model's: estimates of the error that is due to its
// measurements' noise. They do not include the error of the model itself, so there are no intervals.
bool HasErrorsOfAModel(const Marginal& marginal, const v1::AnswerHeader& header);

// The labels of one marginal's cells.
class CellLabels {
 public:
  // DATA_LOSS when the schema does not have these attributes in these sizes.
  static absl::StatusOr<CellLabels> Create(const v1::Schema& schema, const v1::MarginalHeader& marginal);

  size_t attributes() const { return labels_.size(); }

  // The value of attribute `position` (in the marginal) in cell `cell`; the last attribute varies fastest.
  const std::string& Of(size_t position, size_t cell) const {
    return labels_[position][(cell / strides_[position]) % labels_[position].size()];
  }

 private:
  std::vector<std::vector<std::string>> labels_;
  std::vector<size_t> strides_;
};

class AnswerRows {
 public:
  // DATA_LOSS when the schema does not have the attributes in these sizes.
  static absl::StatusOr<AnswerRows> Of(const Marginal& marginal, const v1::AnswerHeader& header,
                                       const v1::Schema& schema);
  static AnswerRows Of(const QuerySetAnswer& set, const v1::AnswerHeader& header);

  // "age,sex" of a marginal; the class of a query set: "ranges".
  const std::string& name() const { return name_; }
  // "marginals", "ranges", ...
  std::string query_class() const { return set_ == nullptr ? "marginals" : set_->header.query_class(); }
  // What the number counts, beside its values of the attribute columns: the conditions of a predicate, the
  // words of a threshold or of a parity, the name of a statistic; of other classes the attributes, "age,sex".
  std::string Words(size_t row) const;
  // How the number came about: "measured", with noise of its own; "derived" from measurements, as a sum or by
  // least squares; "post-processed"; or from a "model".
  std::string method() const;
  // Of columns(), the first one that is an attribute, and the end of those that are; the others are Words().
  size_t first_attribute() const { return first_attribute_; }
  size_t attributes_end() const { return is_statistics_ ? columns_.size() - 1 : columns_.size(); }
  bool is_statistics() const { return is_statistics_; }
  // Its index in the request's workload.
  int query_set() const { return query_set_; }
  // The names of the label columns: attributes, or "where", "at least", "parity", "statistic".
  const std::vector<std::string>& columns() const { return columns_; }
  size_t size() const { return values_->size(); }
  const std::string& Label(size_t column, size_t row) const;
  // None for a statistic that is no number, which is NaN as a double.
  Value Count(size_t row) const;
  double CountAsDouble(size_t row) const;

  // The noise of each measurement (of a marginal: of each number). Null where there is none, as for a model.
  const v1::Noise* noise() const { return noise_; }
  // The level of the intervals; 0 where there are none: for a model's estimates, and for post-processed
  // answers that come without ends of their own, as their errors are not those of the noise.
  double level() const { return level_; }
  std::optional<AnswerInterval> Interval(size_t row) const;
  std::optional<double> StandardDeviation(size_t row) const;
  bool errors_are_of_a_model() const { return errors_are_of_a_model_; }  // see HasErrorsOfAModel()
  // Whether all numbers have the same error, or none.
  bool errors_are_equal() const { return errors_are_equal_; }
  std::optional<double> HalfWidth(size_t row) const;

  // Null for a query set, and the other way round.
  const Marginal* marginal() const { return marginal_; }
  const QuerySetAnswer* set() const { return set_; }

 private:
  AnswerRows(const AnswerValues& values, const v1::AnswerHeader& header, const v1::Noise* noise);

  const AnswerValues* values_;
  const v1::Noise* noise_;
  const Marginal* marginal_ = nullptr;
  const QuerySetAnswer* set_ = nullptr;
  std::optional<CellLabels> cell_labels_;
  std::string name_;
  int query_set_ = 0;
  std::vector<std::string> columns_;
  size_t first_attribute_ = 0;
  bool is_statistics_ = false;
  bool has_errors_ = true;  // false for post-processed answers
  double level_ = 0;
  bool errors_are_of_a_model_ = false;
  bool errors_are_equal_ = true;
};

// Visits all tables in the order of the request. Only one table's labels are in memory at a time. Stops at
// the first error.
absl::Status ForEachTable(const Answer& answer, const v1::Schema& schema,
                          const std::function<absl::Status(const AnswerRows&)>& visit);

// The attributes by whose values the numbers of an answer are labelled, in the order of the schema.
std::vector<std::string> AttributeColumnsOf(const Answer& answer, const v1::Schema& schema);

}  // namespace curator::cli
