#include "rpc/answer_stream.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/workload/noise_sum.h"
#include "rpc/convert_workload.h"

namespace curator::rpc {

absl::Status ClientLeft() {
  return absl::CancelledError("the client left before the end of the answer");
}

namespace {

constexpr size_t kAnswersPerSlice = 16 * 1024;  // at most 36 bytes each on the wire, without labels
constexpr size_t kLabelBytesPerSlice = 256 * 1024;

// Half widths of intervals at one level, each computed once. Of sums of very many different numbers of values
// some get the width of a slightly longer sum, which is no narrower.
class HalfWidths {
 public:
  HalfWidths(const dp::NoiseSpec& noise, double level) : noise_(noise), level_(level) {}

  absl::StatusOr<double> Of(dp::AnswerError error) {
    if (error.terms == 0) {  // in proportion to the standard deviation
      if (!unit_) {
        ASSIGN_OR_RETURN(unit_, dp::HalfWidthOf(noise_, {.variance_factor = 1, .terms = 0}, level_));
      }
      return *unit_ * std::sqrt(error.variance_factor);
    }
    if (widths_.size() >= kMostExact) error.terms = OnGrid(error.terms);
    const auto found = widths_.find(error.terms);
    if (found != widths_.end()) return found->second;
    ASSIGN_OR_RETURN(const double width, dp::HalfWidthOf(noise_, error, level_));
    widths_[error.terms] = width;
    return width;
  }

 private:
  static constexpr size_t kMostExact = 512;
  static int64_t OnGrid(int64_t terms) {
    const double steps = std::ceil(std::log(static_cast<double>(terms)) / std::log(1.05));
    const auto up = static_cast<int64_t>(std::ceil(std::pow(1.05, steps)));
    return std::clamp<int64_t>(up, terms, dp::kMostSummedValues);
  }

  const dp::NoiseSpec noise_;
  const double level_;
  std::optional<double> unit_;
  std::map<int64_t, double> widths_;
};

// The answers of one group, with the errors of the noise where there are such.
struct Answered {
  std::vector<int64_t> counts;
  std::vector<double> estimates;
  std::vector<dp::AnswerError> errors;  // one for all, one for each, or none
  std::optional<double> deviation;      // of all of them, where it is not that of one noise

  size_t size() const { return std::max(counts.size(), estimates.size()); }
};

class Writer {
 public:
  Writer(const dp::Domain& domain, const ChunkWriter& write, const dp::NoiseSpec& noise, double level)
      : domain_(domain),
        write_(write),
        noise_(noise),
        level_(level),
        deviation_(dp::ForecastError(noise).standard_deviation),
        widths_(noise, level) {}
  Writer(const dp::Domain& domain, const ChunkWriter& write) : Writer(domain, write, dp::NoiseSpec(), 0.5) {}

  // Errors go into the marginal's Noise where each cell is one measured value.
  absl::Status WriteMarginal(const dp::AttributeSet& marginal, int position, const Answered& answered) {
    v1::AnswerChunk chunk;
    v1::MarginalHeader& header = *chunk.mutable_marginal();
    for (const uint32_t attribute : marginal) {
      header.add_attributes(domain_.attributes()[attribute].name());
      header.add_sizes(domain_.attributes()[attribute].size());
    }
    header.set_query_set(position);
    const bool is_measured = answered.errors.size() == 1 && answered.errors.front().terms == 1;
    if (is_measured) {
      // Once for all marginals: a mean absolute error of Gaussian noise is a long sum.
      if (!described_) {
        ASSIGN_OR_RETURN(described_, ToProto(noise_, level_));
      }
      *header.mutable_noise() = *described_;
    }
    if (!write_(chunk)) return ClientLeft();
    const std::vector<dp::AnswerError> errors =
        is_measured ? std::vector<dp::AnswerError>() : answered.errors;
    for (size_t first = 0; first < answered.size(); first += kAnswersPerSlice) {
      const size_t last = std::min(answered.size(), first + kAnswersPerSlice);
      v1::AnswerChunk slice;
      slice.mutable_cells()->set_offset(static_cast<int64_t>(first));
      RETURN_IF_ERROR(Fill(answered, errors, first, last, *slice.mutable_cells()));
      if (!write_(slice)) return ClientLeft();
    }
    return absl::OkStatus();
  }

  // The next answers of a set whose labels `labels` gives; `offset` is the number of those before.
  absl::Status WriteTable(const Answered& answered, int64_t offset, dp::Labels& labels) {
    for (size_t first = 0; first < answered.size();) {
      v1::AnswerChunk chunk;
      v1::AnswerSlice& slice = *chunk.mutable_answers();
      slice.set_offset(offset + static_cast<int64_t>(first));
      size_t last = first;
      size_t bytes = 0;
      while (last < answered.size() && last - first < kAnswersPerSlice && bytes < kLabelBytesPerSlice) {
        for (std::string& label : labels.Next()) {
          bytes += label.size() + 3;
          slice.add_labels(std::move(label));
        }
        ++last;
      }
      RETURN_IF_ERROR(Fill(answered, answered.errors, first, last, slice));
      if (!write_(chunk)) return ClientLeft();
      first = last;
    }
    return absl::OkStatus();
  }

  absl::Status Write(const v1::AnswerChunk& chunk) { return write_(chunk) ? absl::OkStatus() : ClientLeft(); }

 private:
  // Answers first..last - 1 and their errors.
  template <typename Slice>
  absl::Status Fill(const Answered& answered, const std::vector<dp::AnswerError>& errors, size_t first,
                    size_t last, Slice& slice) {
    for (size_t i = first; i < last; ++i) {
      if (!answered.counts.empty()) slice.add_counts(answered.counts[i]);
      if (!answered.estimates.empty()) slice.add_estimates(answered.estimates[i]);
    }
    if (answered.deviation) slice.add_standard_deviations(*answered.deviation);
    const bool is_one = errors.size() == 1;
    const size_t end = errors.empty() ? first : is_one ? first + 1 : last;
    for (size_t i = first; i < end; ++i) {
      const dp::AnswerError& error = errors[is_one ? 0 : i];
      slice.add_standard_deviations(deviation_ * std::sqrt(error.variance_factor));
      ASSIGN_OR_RETURN(const double width, widths_.Of(error));
      slice.add_confidence_half_widths(width);
    }
    return absl::OkStatus();
  }

  const dp::Domain& domain_;
  const ChunkWriter& write_;
  const dp::NoiseSpec noise_;
  const double level_;
  std::optional<v1::Noise> described_;  // noise_, once it has been
  const double deviation_;
  HalfWidths widths_;
};

v1::AnswerChunk HeaderOf(const dp::Domain& domain, const dp::AskedSet& asked, int position) {
  v1::AnswerChunk chunk;
  v1::QuerySetHeader& header = *chunk.mutable_query_set();
  header.set_query_set(position);
  header.set_query_class(std::string(dp::QueryClassName(asked.query_class)));
  for (std::string& column : dp::ColumnsOf(domain, asked)) header.add_columns(std::move(column));
  int64_t answers = 0;
  for (const dp::QueryGroup& group : asked.queries.groups) answers += dp::NumberOfQueries(domain, group);
  header.set_answer_count(answers);
  return chunk;
}

// How one set was measured, alone.
dp::Measurement MeasurementOf(const codec::WorkloadRelease& release, size_t set) {
  dp::Measurement measurement{.plan = release.plans[set], .measured = {}};
  std::map<size_t, size_t> places;
  for (size_t& source : measurement.plan.sources) {
    const auto [it, is_new] = places.try_emplace(source, measurement.measured.size());
    if (is_new) measurement.measured.push_back(release.measured[source]);
    source = it->second;
  }
  return measurement;
}

Answered AnsweredGroup(const dp::Domain& domain, const codec::WorkloadRelease& release, size_t set,
                       size_t group) {
  const dp::SetPlan& plan = release.plans[set];
  const dp::QueryGroup& asked = release.asked[set].queries.groups[group];
  const dp::QueryGroup& source = release.measured[plan.sources[group]];
  dp::GroupAnswers answers = dp::AnswersOf(domain, asked, plan, source, release.values[plan.sources[group]]);
  return {.counts = std::move(answers.counts),
          .estimates = std::move(answers.estimates),
          .errors = dp::ErrorsOf(domain, asked, plan, source),
          .deviation = std::nullopt};
}

std::vector<double> AsReals(const Answered& answered) {
  if (answered.counts.empty()) return answered.estimates;
  return {answered.counts.begin(), answered.counts.end()};
}

// `values`, as whole numbers where they are such by promise.
Answered Processed(std::vector<double> values, const dp::PostProcessing& steps, Answered before) {
  before.counts.clear();
  before.estimates.clear();
  if (steps.integer) {
    for (const double value : values) before.counts.push_back(std::llround(value));
  } else {
    before.estimates = std::move(values);
  }
  return before;
}

std::vector<dp::MeasuredShape> ShapesOf(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                                        std::span<const dp::SetPlan> plans,
                                        const std::vector<dp::QueryGroup>& measured,
                                        const dp::NoiseSpec& noise) {
  const double deviation = dp::ForecastError(noise).standard_deviation;
  std::vector<dp::MeasuredShape> shapes;
  for (size_t i = 0; i < asked.size(); ++i) {
    if (asked[i].query_class != dp::QueryClass::kMarginals) continue;
    for (size_t j = 0; j < asked[i].queries.groups.size(); ++j) {
      const dp::QueryGroup& group = asked[i].queries.groups[j];
      const double factor =
          dp::ErrorsOf(domain, group, plans[i], measured[plans[i].sources[j]]).front().variance_factor;
      // Noise too small to be held is none that could disagree.
      shapes.push_back({group.attributes, std::max(1e-300, factor * deviation * deviation)});
    }
  }
  return shapes;
}

// The marginals of all sets after `steps`, which make them agree with each other.
absl::StatusOr<std::vector<Answered>> ProcessedMarginals(const dp::Domain& domain,
                                                         const codec::WorkloadRelease& release,
                                                         const dp::PostProcessing& steps) {
  const std::vector<dp::MeasuredShape> shapes =
      ShapesOf(domain, release.asked, release.plans, release.measured, release.noise);
  std::vector<dp::MeasuredMarginal> marginals;
  std::vector<Answered> answered;
  for (size_t i = 0; i < release.asked.size(); ++i) {
    if (release.asked[i].query_class != dp::QueryClass::kMarginals) continue;
    for (size_t j = 0; j < release.asked[i].queries.groups.size(); ++j) {
      answered.push_back(AnsweredGroup(domain, release, i, j));
      marginals.push_back({shapes[marginals.size()], AsReals(answered.back())});
    }
  }
  if (marginals.empty()) return answered;
  ASSIGN_OR_RETURN(dp::PostProcessed processed, dp::PostProcess(domain, std::move(marginals), steps));
  for (size_t i = 0; i < answered.size(); ++i)
    answered[i] = Processed(std::move(processed.marginals[i]), steps, std::move(answered[i]));
  return answered;
}

absl::Status WriteTableSet(const dp::Domain& domain, const codec::WorkloadRelease& release, size_t set,
                           double level, const dp::PostProcessing& steps, Writer& writer) {
  const dp::AskedSet& asked = release.asked[set];
  const dp::Measurement measurement = MeasurementOf(release, set);
  v1::AnswerChunk chunk = HeaderOf(domain, asked, static_cast<int>(set));
  v1::QuerySetHeader& header = *chunk.mutable_query_set();
  header.set_strategy(ToProto(measurement.plan.strategy));
  header.set_strategy_words(dp::Describe(domain, measurement));
  int64_t values = 0;
  for (const dp::QueryGroup& group : measurement.measured) values += dp::NumberOfQueries(domain, group);
  header.set_measurement_count(values);
  ASSIGN_OR_RETURN(*header.mutable_noise(), ToProto(release.noise, level));
  RETURN_IF_ERROR(writer.Write(chunk));
  const dp::AnswerKind kind =
      asked.query_class == dp::QueryClass::kParities ? dp::AnswerKind::kDifferences : dp::AnswerKind::kCounts;
  dp::Labels labels(domain, asked);
  int64_t offset = 0;
  for (size_t j = 0; j < asked.queries.groups.size(); ++j) {
    Answered answered = AnsweredGroup(domain, release, set, j);
    if (steps.any()) {
      std::vector<double> processed = dp::PostProcess(kind, AsReals(answered), steps);
      answered = Processed(std::move(processed), steps, std::move(answered));
    }
    RETURN_IF_ERROR(writer.WriteTable(answered, offset, labels));
    offset += static_cast<int64_t>(answered.size());
  }
  return absl::OkStatus();
}

}  // namespace

void CountParts(std::span<const dp::AskedSet> asked, v1::AnswerHeader& header) {
  for (const dp::AskedSet& set : asked) {
    if (set.query_class == dp::QueryClass::kMarginals) {
      header.set_marginal_count(header.marginal_count() + static_cast<int32_t>(set.queries.groups.size()));
    } else {
      header.set_query_set_count(header.query_set_count() + 1);
    }
  }
}

absl::Status CheckProcessable(const dp::Domain& domain, std::span<const dp::AskedSet> asked,
                              std::span<const dp::SetPlan> plans, const std::vector<dp::QueryGroup>& measured,
                              const dp::NoiseSpec& noise, const dp::PostProcessing& steps) {
  if (!steps.any()) return absl::OkStatus();
  const std::vector<dp::MeasuredShape> shapes = ShapesOf(domain, asked, plans, measured, noise);
  return shapes.empty() ? absl::OkStatus() : dp::CheckPostProcessing(domain, shapes, steps);
}

absl::Status WriteAnswers(const dp::Domain& domain, const codec::WorkloadRelease& release, double level,
                          const dp::PostProcessing& steps, const ChunkWriter& write) {
  Writer writer(domain, write, release.noise, level);
  std::vector<Answered> processed;
  if (steps.any()) {
    ASSIGN_OR_RETURN(processed, ProcessedMarginals(domain, release, steps));
  }
  size_t next_processed = 0;
  for (size_t i = 0; i < release.asked.size(); ++i) {
    if (release.asked[i].query_class != dp::QueryClass::kMarginals) {
      RETURN_IF_ERROR(WriteTableSet(domain, release, i, level, steps, writer));
      continue;
    }
    for (size_t j = 0; j < release.asked[i].queries.groups.size(); ++j) {
      const Answered answered =
          steps.any() ? std::move(processed[next_processed++]) : AnsweredGroup(domain, release, i, j);
      RETURN_IF_ERROR(
          writer.WriteMarginal(release.asked[i].queries.groups[j].attributes, static_cast<int>(i), answered));
    }
  }
  return absl::OkStatus();
}

absl::Status WriteEstimates(const dp::Domain& domain, const dp::AskedSet& asked, int position,
                            std::span<const std::vector<double>> estimates,
                            std::span<const std::optional<double>> deviations, const ChunkWriter& write) {
  Writer writer(domain, write);
  const bool are_marginals = asked.query_class == dp::QueryClass::kMarginals;
  if (!are_marginals) RETURN_IF_ERROR(writer.Write(HeaderOf(domain, asked, position)));
  dp::Labels labels(domain, asked);
  int64_t offset = 0;
  for (size_t i = 0; i < estimates.size(); ++i) {
    const Answered answered{
        .counts = {}, .estimates = estimates[i], .errors = {}, .deviation = deviations[i]};
    RETURN_IF_ERROR(are_marginals
                        ? writer.WriteMarginal(asked.queries.groups[i].attributes, position, answered)
                        : writer.WriteTable(answered, offset, labels));
    offset += static_cast<int64_t>(answered.size());
  }
  return absl::OkStatus();
}

}  // namespace curator::rpc
