#include "rpc/convert_workload.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "rpc/convert_schema.h"

namespace curator::rpc {
namespace {

constexpr double kDefaultConfidenceLevel = 0.95;
constexpr size_t kCellsPerSlice = 64 * 1024;  // at most 10 bytes each on the wire

service::MarginalsQuery QueryFromProto(const v1::Marginals& marginals) {
  service::MarginalsQuery query;
  for (const v1::AttributeNames& set : marginals.sets())
    query.sets.emplace_back(set.names().begin(), set.names().end());
  if (marginals.has_all_k_way()) {
    query.k = marginals.all_k_way().k();
    query.attributes.assign(marginals.all_k_way().attributes().begin(),
                            marginals.all_k_way().attributes().end());
  }
  return query;
}

v1::AnswerChunk HeaderOf(const dp::Domain& domain, const dp::AttributeSet& marginal) {
  v1::AnswerChunk chunk;
  for (const uint32_t attribute : marginal) {
    chunk.mutable_marginal()->add_attributes(domain.attributes()[attribute].name());
    chunk.mutable_marginal()->add_sizes(domain.attributes()[attribute].size());
  }
  return chunk;
}

// Writes `cell_count` cells slice by slice; `add` puts one cell into a slice.
template <typename Add>
bool WriteSlices(size_t cell_count, const ChunkWriter& write, const Add& add) {
  for (size_t offset = 0; offset < cell_count; offset += kCellsPerSlice) {
    v1::AnswerChunk chunk;
    chunk.mutable_cells()->set_offset(static_cast<int64_t>(offset));
    const size_t end = std::min(cell_count, offset + kCellsPerSlice);
    for (size_t i = offset; i < end; ++i) add(*chunk.mutable_cells(), i);
    if (!write(chunk)) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<std::vector<service::MarginalsQuery>> FromProto(const v1::Workload& workload) {
  std::vector<service::MarginalsQuery> queries;
  for (int i = 0; i < workload.query_sets_size(); ++i) {
    if (!workload.query_sets(i).has_marginals()) {
      return InvalidField(absl::StrCat("workload.query_sets[", i, "]"), "needs marginals");
    }
    queries.push_back(QueryFromProto(workload.query_sets(i).marginals()));
  }
  return queries;
}

absl::StatusOr<dp::Spend> FromProto(const v1::Spend& spend) {
  dp::Spend result;
  if (!spend.epsilon().empty()) {
    ASSIGN_OR_RETURN(result.epsilon, dp::Epsilon::Parse(spend.epsilon(), "spend.epsilon"));
  }
  if (!spend.delta().empty()) {
    ASSIGN_OR_RETURN(result.delta, dp::Delta::Parse(spend.delta(), "spend.delta"));
  }
  if (!spend.rho().empty()) {
    ASSIGN_OR_RETURN(result.rho, dp::Rho::Parse(spend.rho(), "spend.rho"));
  }
  return result;
}

absl::StatusOr<std::optional<dp::Mechanism>> FromProto(v1::Mechanism mechanism) {
  switch (mechanism) {
    case v1::MECHANISM_UNSPECIFIED:
      return std::nullopt;
    case v1::MECHANISM_DISCRETE_LAPLACE:
      return dp::Mechanism::kDiscreteLaplace;
    case v1::MECHANISM_DISCRETE_GAUSSIAN:
      return dp::Mechanism::kDiscreteGaussian;
    default:
      return InvalidField("mechanism",
                          "must be MECHANISM_DISCRETE_LAPLACE or MECHANISM_DISCRETE_GAUSSIAN, or unset");
  }
}

absl::StatusOr<double> ConfidenceLevel(std::optional<double> stated) {
  const double level = stated.value_or(kDefaultConfidenceLevel);
  if (level > 0 && level < 1) return level;
  return InvalidField("confidence_level", "must lie strictly between 0 and 1");
}

absl::StatusOr<v1::Noise> ToProto(const dp::NoiseSpec& noise, double confidence_level) {
  const dp::ErrorForecast forecast = dp::ForecastError(noise);
  ASSIGN_OR_RETURN(const int64_t half_width, dp::ConfidenceHalfWidth(noise, confidence_level));
  const std::string parameter =
      noise.parameter.denominator == 1
          ? absl::StrCat(noise.parameter.numerator)
          : absl::StrCat(noise.parameter.numerator, "/", noise.parameter.denominator);
  v1::Noise proto;
  if (noise.mechanism == dp::Mechanism::kDiscreteLaplace) {
    proto.set_mechanism(v1::MECHANISM_DISCRETE_LAPLACE);
    proto.set_scale(parameter);
  } else {
    proto.set_mechanism(v1::MECHANISM_DISCRETE_GAUSSIAN);
    proto.set_sigma_squared(parameter);
  }
  proto.set_standard_deviation(forecast.standard_deviation);
  proto.set_expected_absolute_error(forecast.expected_absolute_error);
  proto.set_confidence_half_width(static_cast<double>(half_width));
  proto.set_confidence_level(confidence_level);
  return proto;
}

std::vector<v1::Cost> ToProto(const service::Price& price, PriceTense tense) {
  std::vector<v1::Cost> costs;
  for (const service::PricedCounter& counter : price.counters) {
    v1::Cost cost;
    cost.set_account(counter.account);
    cost.set_rule(ToProto(counter.rule));
    cost.set_counter(counter.counter);
    cost.set_amount(dp::FormatCounter(counter.counter, counter.cost));
    if (counter.Fits() || tense == PriceTense::kHasCost) {
      cost.set_remaining(dp::FormatCounter(counter.counter, counter.remaining_before - counter.cost));
    }
    costs.push_back(std::move(cost));
  }
  return costs;
}

bool WriteMarginal(const dp::Domain& domain, const dp::AttributeSet& marginal, const v1::Noise& noise,
                   std::span<const int64_t> counts, const ChunkWriter& write) {
  v1::AnswerChunk header = HeaderOf(domain, marginal);
  *header.mutable_marginal()->mutable_noise() = noise;
  return write(header) && WriteSlices(counts.size(), write,
                                      [&](v1::CellSlice& slice, size_t i) { slice.add_counts(counts[i]); });
}

bool WriteMarginal(const dp::Domain& domain, const dp::AttributeSet& marginal,
                   std::span<const double> estimates, const ChunkWriter& write) {
  return write(HeaderOf(domain, marginal)) &&
         WriteSlices(estimates.size(), write,
                     [&](v1::CellSlice& slice, size_t i) { slice.add_estimates(estimates[i]); });
}

}  // namespace curator::rpc
