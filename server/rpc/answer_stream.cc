#include "rpc/answer_stream.h"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "base/status_macros.h"
#include "rpc/convert_workload.h"
#include "rpc/handle.h"

namespace curator::rpc {
namespace {

constexpr size_t kAnswersPerSlice = 16 * 1024;  // at most 36 bytes each on the wire, without labels
constexpr size_t kLabelBytesPerSlice = 256 * 1024;

// `errors` of answers first..last - 1: one entry stands for all answers and is repeated in each slice.
template <typename Repeated>
void AddErrors(const std::vector<double>& errors, size_t first, size_t last, Repeated& out) {
  if (errors.size() == 1) out.Add(errors.front());
  if (errors.size() > 1) out.Add(errors.begin() + first, errors.begin() + last);
}

// Answers first..last - 1 and their errors.
template <typename Slice>
void Fill(const service::AnsweredGroup& group, size_t first, size_t last, Slice& slice) {
  for (size_t i = first; i < last; ++i) {
    if (!group.counts.empty()) slice.add_counts(group.counts[i]);
    if (!group.estimates.empty()) slice.add_estimates(group.estimates[i]);
  }
  AddErrors(group.standard_deviations, first, last, *slice.mutable_standard_deviations());
  AddErrors(group.half_widths, first, last, *slice.mutable_confidence_half_widths());
  if (group.lows.empty()) return;
  slice.mutable_interval_lows()->Add(group.lows.begin() + first, group.lows.begin() + last);
  slice.mutable_interval_highs()->Add(group.highs.begin() + first, group.highs.begin() + last);
}

class Writer {
 public:
  Writer(const dp::Domain& domain, const ChunkWriter& write) : domain_(domain), write_(write) {}

  absl::Status Write(const v1::AnswerChunk& chunk) {
    return write_(chunk) ? absl::OkStatus() : ClientDisconnected();
  }

  // `noise` describes the errors of marginals whose cells were each measured; else null.
  absl::Status WriteMarginal(const dp::AttributeSet& marginal, int position,
                             const service::AnsweredGroup& group, const v1::Noise* noise) {
    v1::AnswerChunk chunk;
    v1::MarginalHeader& header = *chunk.mutable_marginal();
    for (const uint32_t attribute : marginal) {
      header.add_attributes(domain_.attributes()[attribute].name());
      header.add_sizes(domain_.attributes()[attribute].size());
    }
    header.set_query_set(position);
    if (noise != nullptr) *header.mutable_noise() = *noise;
    RETURN_IF_ERROR(Write(chunk));
    for (size_t first = 0; first < group.size(); first += kAnswersPerSlice) {
      v1::AnswerChunk slice;
      slice.mutable_cells()->set_offset(static_cast<int64_t>(first));
      Fill(group, first, std::min(group.size(), first + kAnswersPerSlice), *slice.mutable_cells());
      RETURN_IF_ERROR(Write(slice));
    }
    return absl::OkStatus();
  }

  // The next answers of a set whose labels `labels` gives, after `offset` others.
  absl::Status WriteTable(const service::AnsweredGroup& group, int64_t offset, dp::Labels& labels) {
    for (size_t first = 0; first < group.size();) {
      v1::AnswerChunk chunk;
      v1::AnswerSlice& slice = *chunk.mutable_answers();
      slice.set_offset(offset + static_cast<int64_t>(first));
      size_t last = first;
      size_t bytes = 0;
      while (last < group.size() && last - first < kAnswersPerSlice && bytes < kLabelBytesPerSlice) {
        for (std::string& label : labels.Next()) {
          bytes += label.size() + 3;
          slice.add_labels(std::move(label));
        }
        ++last;
      }
      Fill(group, first, last, slice);
      RETURN_IF_ERROR(Write(chunk));
      first = last;
    }
    return absl::OkStatus();
  }

 private:
  const dp::Domain& domain_;
  const ChunkWriter& write_;
};

v1::AnswerChunk TableHeader(const dp::Domain& domain, const dp::AskedSet& asked, int position) {
  v1::AnswerChunk chunk;
  v1::QuerySetHeader& header = *chunk.mutable_query_set();
  header.set_query_set(position);
  header.set_query_class(std::string(dp::QueryClassName(asked.query_class)));
  service::TableShape shape = service::TableShapeOf(domain, asked);
  for (std::string& column : shape.columns) header.add_columns(std::move(column));
  header.set_answer_count(shape.answers);
  return chunk;
}

absl::Status WriteTableSet(const dp::Domain& domain, const dp::AskedSet& asked, size_t set,
                           service::ReleaseAnswers& answers, Writer& writer) {
  v1::AnswerChunk chunk = TableHeader(domain, asked, static_cast<int>(set));
  v1::QuerySetHeader& header = *chunk.mutable_query_set();
  const service::MeasurementSummary measurement = answers.MeasurementOf(set);
  header.set_strategy(ToProto(measurement.strategy));
  header.set_strategy_words(measurement.description);
  header.set_measurement_count(measurement.measured_values);
  ASSIGN_OR_RETURN(const std::optional<service::NoiseSummary> noise, answers.Noise());
  if (noise) *header.mutable_noise() = ToProto(*noise);
  RETURN_IF_ERROR(writer.Write(chunk));
  dp::Labels labels(domain, asked);
  int64_t offset = 0;
  for (size_t i = 0; i < asked.queries.groups.size(); ++i) {
    ASSIGN_OR_RETURN(const service::AnsweredGroup group, answers.Next());
    RETURN_IF_ERROR(writer.WriteTable(group, offset, labels));
    offset += static_cast<int64_t>(group.size());
  }
  return absl::OkStatus();
}

absl::Status WriteMarginalSet(const dp::AskedSet& asked, size_t set, service::ReleaseAnswers& answers,
                              Writer& writer) {
  for (const dp::QueryGroup& marginal : asked.queries.groups) {
    ASSIGN_OR_RETURN(const service::AnsweredGroup group, answers.Next());
    v1::Noise proto;
    if (group.is_measured_itself) {
      ASSIGN_OR_RETURN(const std::optional<service::NoiseSummary> noise, answers.Noise());
      proto = ToProto(noise.value());
    }
    RETURN_IF_ERROR(writer.WriteMarginal(marginal.attributes, static_cast<int>(set), group,
                                         group.is_measured_itself ? &proto : nullptr));
  }
  return absl::OkStatus();
}

std::vector<double> ValuesOf(const std::vector<dp::StatisticAnswer>& answers) {
  std::vector<double> values;
  values.reserve(answers.size());
  for (const dp::StatisticAnswer& answer : answers) values.push_back(answer.value);
  return values;
}

// The answers of one set of statistics, one row for each statistic of each group that is shown.
class StatisticsRows {
 public:
  StatisticsRows(const dp::Domain& domain, const dp::AskedStatistics& asked,
                 const std::vector<service::ShownStatistic>& shown,
                 const std::vector<dp::StatisticAnswer>& answers)
      : domain_(domain), asked_(asked), shown_(shown), answers_(answers) {}

  void Add(int64_t group, v1::AnswerSlice& slice) {
    const std::vector<std::string> cell = dp::LabelsOfCell(domain_, asked_.by, group);
    const size_t first = static_cast<size_t>(group) * asked_.statistics.size();
    for (const service::ShownStatistic& statistic : shown_) {
      const dp::StatisticAnswer& answer = answers_[first + statistic.position];
      for (const std::string& label : cell) AddLabel(label, slice);
      AddLabel(statistic.name, slice);
      slice.add_estimates(answer.value);
      slice.add_standard_deviations(answer.standard_deviation);
      slice.add_interval_lows(answer.low);
      slice.add_interval_highs(answer.high);
    }
  }

  // Of the labels since Restart().
  size_t bytes() const { return bytes_; }
  void Restart() { bytes_ = 0; }

 private:
  void AddLabel(const std::string& label, v1::AnswerSlice& slice) {
    constexpr size_t kBytesAround = 3;
    bytes_ += label.size() + kBytesAround;
    slice.add_labels(label);
  }

  const dp::Domain& domain_;
  const dp::AskedStatistics& asked_;
  const std::vector<service::ShownStatistic>& shown_;
  const std::vector<dp::StatisticAnswer>& answers_;
  size_t bytes_ = 0;
};

absl::Status WriteStatistics(const dp::Domain& domain, const dp::AskedSet& asked, size_t set,
                             service::ReleaseAnswers& answers, const service::Selection& selection,
                             Writer& writer) {
  ASSIGN_OR_RETURN(const std::vector<dp::StatisticAnswer> values, answers.Statistics(set));
  const dp::AskedStatistics& statistics = *asked.statistics;
  const std::vector<service::ShownStatistic> shown = service::StatisticsShown(domain, statistics, selection);
  ASSIGN_OR_RETURN(
      const std::vector<int64_t> groups,
      service::GroupsShown(domain, statistics, selection, ValuesOf(values), answers.client_left()));
  v1::AnswerChunk header = TableHeader(domain, asked, static_cast<int>(set));
  header.mutable_query_set()->set_answer_count(std::ssize(groups) * std::ssize(shown));
  const dp::StatisticsRelease& drawn = answers.release().statistics;
  int64_t measurements = 0;
  for (size_t i = 0; i < drawn.draws.size(); ++i)
    measurements += drawn.draws[i].set == set ? std::ssize(drawn.values[i]) : 0;
  header.mutable_query_set()->set_measurement_count(measurements);
  RETURN_IF_ERROR(writer.Write(header));
  StatisticsRows rows(domain, statistics, shown, values);
  for (size_t i = 0; i < groups.size();) {
    v1::AnswerChunk chunk;
    v1::AnswerSlice& slice = *chunk.mutable_answers();
    slice.set_offset(static_cast<int64_t>(i) * std::ssize(shown));
    rows.Restart();
    while (i < groups.size() && static_cast<size_t>(slice.estimates_size()) < kAnswersPerSlice &&
           rows.bytes() < kLabelBytesPerSlice)
      rows.Add(groups[i++], slice);
    RETURN_IF_ERROR(writer.Write(chunk));
  }
  return absl::OkStatus();
}

}  // namespace

void CountSets(std::span<const dp::AskedSet> asked, v1::AnswerHeader& header) {
  for (const dp::AskedSet& set : asked) {
    if (set.query_class == dp::QueryClass::kMarginals) {
      header.set_marginal_count(header.marginal_count() + static_cast<int32_t>(set.queries.groups.size()));
    } else {
      header.set_query_set_count(header.query_set_count() + 1);
    }
  }
}

absl::Status WriteAnswers(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                          service::ReleaseAnswers& answers,
                          const std::optional<service::Selection>& selection, const ChunkWriter& write) {
  Writer writer(domain, write);
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].statistics) {
      RETURN_IF_ERROR(
          WriteStatistics(domain, asked[i], i, answers, selection.value_or(service::Selection()), writer));
      continue;
    }
    RETURN_IF_ERROR(asked[i].query_class == dp::QueryClass::kMarginals
                        ? WriteMarginalSet(asked[i], i, answers, writer)
                        : WriteTableSet(domain, asked[i], i, answers, writer));
  }
  return absl::OkStatus();
}

absl::Status WriteModelAnswer(const dp::Domain& domain, const service::ModelAnswer& answer, int position,
                              const ChunkWriter& write) {
  Writer writer(domain, write);
  const bool are_marginals = answer.asked.query_class == dp::QueryClass::kMarginals;
  if (!are_marginals) RETURN_IF_ERROR(writer.Write(TableHeader(domain, answer.asked, position)));
  dp::Labels labels(domain, answer.asked);
  int64_t offset = 0;
  for (size_t i = 0; i < answer.estimates.size(); ++i) {
    service::AnsweredGroup group{.estimates = answer.estimates[i]};
    if (answer.deviations[i]) group.standard_deviations.push_back(*answer.deviations[i]);
    RETURN_IF_ERROR(are_marginals ? writer.WriteMarginal(answer.asked.queries.groups[i].attributes, position,
                                                         group, nullptr)
                                  : writer.WriteTable(group, offset, labels));
    offset += static_cast<int64_t>(group.size());
  }
  return absl::OkStatus();
}

}  // namespace curator::rpc
