#include "client/cli/output/answer_rows.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/output/statistics_table.h"
#include "rpc/convert_attribute.h"

namespace curator::cli {
namespace {

std::string Joined(const google::protobuf::RepeatedPtrField<std::string>& names) {
  std::string text;
  for (const std::string& name : names) text += (text.empty() ? "" : ",") + name;
  return text;
}

bool AllEqual(const std::vector<double>& numbers) {
  return std::adjacent_find(numbers.begin(), numbers.end(), std::not_equal_to<>()) == numbers.end();
}

// Whether the first column of a set's labels has words in the place of an attribute's values.
bool HasWords(const v1::QuerySetHeader& header) {
  const std::string& query_class = header.query_class();
  return header.columns_size() > 0 &&
         (query_class == "predicates" || query_class == "thresholds" || query_class == "parities");
}

}  // namespace

absl::StatusOr<CellLabels> CellLabels::Create(const v1::Schema& schema, const v1::MarginalHeader& marginal) {
  CellLabels result;
  for (int i = 0; i < marginal.attributes_size(); ++i) {
    const std::string& name = marginal.attributes(i);
    const auto attribute =
        std::find_if(schema.attributes().begin(), schema.attributes().end(),
                     [&name](const v1::Attribute& candidate) { return candidate.name() == name; });
    const absl::StatusOr<dp::Attribute> bins =
        attribute == schema.attributes().end() ? absl::NotFoundError(name) : rpc::FromProto(*attribute);
    if (!bins.ok() || bins->size() != marginal.sizes(i)) {
      return absl::DataLossError(absl::StrCat("the answer's attribute ", name, " with ", marginal.sizes(i),
                                              " bins is not the schema's"));
    }
    std::vector<std::string>& labels = result.labels_.emplace_back();
    labels.reserve(static_cast<size_t>(bins->size()));
    for (int64_t code = 0; code < bins->size(); ++code)
      labels.push_back(bins->Label(static_cast<uint32_t>(code)));
  }
  result.strides_.assign(result.labels_.size(), 1);
  for (size_t i = result.labels_.size(); i-- > 1;) {
    result.strides_[i - 1] = result.strides_[i] * result.labels_[i].size();
  }
  return result;
}

bool HasErrorsOfAModel(const Marginal& marginal, const v1::AnswerHeader& header) {
  return header.post_processing().empty() && !marginal.header.has_noise() &&
         !marginal.standard_deviations.empty() && marginal.confidence_half_widths.empty();
}

AnswerRows::AnswerRows(const AnswerValues& values, const v1::AnswerHeader& header, const v1::Noise* noise)
    : values_(&values), noise_(noise) {
  has_errors_ = header.post_processing().empty();
  const bool known =
      noise != nullptr || !values.confidence_half_widths.empty() || !values.interval_lows.empty();
  if (has_errors_ && known) level_ = noise != nullptr ? noise->confidence_level() : header.confidence_level();
  if (!has_errors_ && !values.interval_lows.empty()) level_ = header.confidence_level();
  errors_are_equal_ =
      !has_errors_ || (AllEqual(values.confidence_half_widths) && AllEqual(values.standard_deviations));
}

absl::StatusOr<AnswerRows> AnswerRows::Of(const Marginal& marginal, const v1::AnswerHeader& header,
                                          const v1::Schema& schema) {
  ASSIGN_OR_RETURN(CellLabels labels, CellLabels::Create(schema, marginal.header));
  AnswerRows rows(marginal, header, marginal.header.has_noise() ? &marginal.header.noise() : nullptr);
  rows.marginal_ = &marginal;
  rows.errors_are_of_a_model_ = HasErrorsOfAModel(marginal, header);
  rows.cell_labels_ = std::move(labels);
  rows.name_ = Joined(marginal.header.attributes());
  rows.query_set_ = marginal.header.query_set();
  rows.columns_.assign(marginal.header.attributes().begin(), marginal.header.attributes().end());
  return rows;
}

AnswerRows AnswerRows::Of(const QuerySetAnswer& set, const v1::AnswerHeader& header) {
  AnswerRows rows(set, header, set.header.has_noise() ? &set.header.noise() : nullptr);
  // The noise is that of a measurement, which is not that of an answer.
  if (set.confidence_half_widths.empty() && set.interval_lows.empty()) rows.level_ = 0;
  rows.set_ = &set;
  rows.name_ = set.header.query_class();
  rows.query_set_ = set.header.query_set();
  rows.columns_.assign(set.header.columns().begin(), set.header.columns().end());
  rows.first_attribute_ = HasWords(set.header) ? 1 : 0;
  rows.is_statistics_ = IsStatistics(set) && !rows.columns_.empty();
  if (rows.is_statistics_ && !rows.has_errors_) rows.level_ = 0;
  return rows;
}

std::string AnswerRows::Words(size_t row) const {
  if (first_attribute_ > 0) return Label(0, row);
  if (is_statistics_) return Label(columns_.size() - 1, row);
  return absl::StrJoin(columns_, ",");
}

std::string AnswerRows::method() const {
  if (!has_errors_) return "post-processed";
  if (is_statistics_) return "derived";
  if (noise_ == nullptr) return values_->confidence_half_widths.empty() ? "model" : "derived";
  return set_ == nullptr || set_->header.strategy() == v1::STRATEGY_DIRECT ? "measured" : "derived";
}

const std::string& AnswerRows::Label(size_t column, size_t row) const {
  return cell_labels_ ? cell_labels_->Of(column, row) : set_->labels[row * columns_.size() + column];
}

Value AnswerRows::Count(size_t row) const {
  if (!values_->counts.empty()) return values_->counts[row];
  if (std::isnan(values_->estimates[row])) return std::monostate();
  return values_->estimates[row];
}

double AnswerRows::CountAsDouble(size_t row) const {
  return values_->counts.empty() ? values_->estimates[row] : static_cast<double>(values_->counts[row]);
}

std::optional<double> AnswerRows::HalfWidth(size_t row) const {
  if (level_ == 0 || !values_->interval_lows.empty()) return std::nullopt;
  if (!values_->confidence_half_widths.empty()) return values_->confidence_half_widths[row];
  return noise_->confidence_half_width();
}

std::optional<double> AnswerRows::StandardDeviation(size_t row) const {
  if (!has_errors_) return std::nullopt;
  if (!values_->standard_deviations.empty()) {
    const double deviation = values_->standard_deviations[row];
    return std::isnan(deviation) ? std::nullopt : std::optional(deviation);
  }
  if (level_ == 0 || marginal_ == nullptr) return std::nullopt;
  return noise_->standard_deviation();
}

std::optional<AnswerInterval> AnswerRows::Interval(size_t row) const {
  if (level_ > 0 && !values_->interval_lows.empty())
    return AnswerInterval{values_->interval_lows[row], values_->interval_highs[row]};
  const std::optional<double> half = HalfWidth(row);
  if (!half) return std::nullopt;
  return AnswerInterval{CountAsDouble(row) - *half, CountAsDouble(row) + *half};
}

absl::Status ForEachTable(const Answer& answer, const v1::Schema& schema,
                          const std::function<absl::Status(const AnswerRows&)>& visit) {
  size_t next_set = 0;
  const auto visit_sets_before = [&](int query_set) -> absl::Status {
    for (; next_set < answer.query_sets.size(); ++next_set) {
      const QuerySetAnswer& set = answer.query_sets[next_set];
      if (set.header.query_set() >= query_set) break;
      RETURN_IF_ERROR(visit(AnswerRows::Of(set, answer.header)));
    }
    return absl::OkStatus();
  };
  for (const Marginal& marginal : answer.marginals) {
    RETURN_IF_ERROR(visit_sets_before(marginal.header.query_set()));
    ASSIGN_OR_RETURN(const AnswerRows rows, AnswerRows::Of(marginal, answer.header, schema));
    RETURN_IF_ERROR(visit(rows));
  }
  return visit_sets_before(std::numeric_limits<int>::max());
}

std::vector<std::string> AttributeColumnsOf(const Answer& answer, const v1::Schema& schema) {
  std::vector<std::string> occurring;
  const auto add = [&occurring](const std::string& name) {
    if (std::find(occurring.begin(), occurring.end(), name) == occurring.end()) occurring.push_back(name);
  };
  for (const Marginal& marginal : answer.marginals)
    for (const std::string& name : marginal.header.attributes()) add(name);
  for (const QuerySetAnswer& set : answer.query_sets) {
    const int end = set.header.columns_size() - (IsStatistics(set) ? 1 : 0);
    for (int i = HasWords(set.header) ? 1 : 0; i < end; ++i) add(set.header.columns(i));
  }
  std::vector<std::string> ordered;
  for (const v1::Attribute& attribute : schema.attributes()) {
    const auto found = std::find(occurring.begin(), occurring.end(), attribute.name());
    if (found == occurring.end()) continue;
    ordered.push_back(attribute.name());
    occurring.erase(found);
  }
  ordered.insert(ordered.end(), occurring.begin(), occurring.end());
  return ordered;
}

}  // namespace curator::cli
