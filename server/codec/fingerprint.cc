#include "codec/fingerprint.h"

#include <variant>

#include "base/canonical_bytes.h"
#include "codec/accounting_codec.h"
#include "codec/query_bytes.h"
#include "codec/release_codec.h"
#include "codec/request_bytes.h"
#include "codec/statistics_codec.h"
#include "dp/accounting/certification.h"

namespace curator::codec {
namespace {

void WriteSets(CanonicalWriter& writer, const std::vector<dp::AttributeSet>& sets) {
  writer.Integer(static_cast<int64_t>(sets.size()));
  for (const dp::AttributeSet& set : sets) {
    writer.Integer(static_cast<int64_t>(set.size()));
    for (const uint32_t attribute : set) writer.Integer(attribute);
  }
}

void WriteQueries(CanonicalWriter& writer, const std::vector<dp::LinearQuery>& queries) {
  writer.Integer(static_cast<int64_t>(queries.size()));
  for (const dp::LinearQuery& query : queries) {
    writer.Integer(static_cast<int64_t>(query.size()));
    for (const dp::WeightedCell& term : query) {
      writer.Integer(term.cell);
      writer.Integer(term.weight);
    }
  }
}

void WriteBoxes(CanonicalWriter& writer, const dp::Boxes& boxes) {
  writer.Integer(static_cast<int64_t>(boxes.sides.size()));
  for (const dp::CodeInterval& side : boxes.sides) {
    writer.Integer(side.first);
    writer.Integer(side.last);
  }
}

// The attribute sets of all groups; then the queries or boxes of each group that lists some. So a workload of
// whole marginals has the bytes that it had before other query classes existed.
void WriteWorkload(CanonicalWriter& writer, const std::vector<dp::QueryGroup>& workload) {
  std::vector<dp::AttributeSet> sets;
  for (const dp::QueryGroup& group : workload) sets.push_back(group.attributes);
  WriteSets(writer, sets);
  for (size_t i = 0; i < workload.size(); ++i) {
    if (const auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&workload[i].queries)) {
      writer.Text("queries");
      writer.Integer(static_cast<int64_t>(i));
      WriteQueries(writer, *queries);
    } else if (const auto* boxes = std::get_if<dp::Boxes>(&workload[i].queries)) {
      writer.Text("boxes");
      writer.Integer(static_cast<int64_t>(i));
      WriteBoxes(writer, *boxes);
    }
  }
}

// Version 1 has no parts; version 2 lists those that are read.
CanonicalWriter Begin(std::string_view tag, std::string_view dataset_id, int64_t dataset_version,
                      const std::vector<int64_t>& parts) {
  CanonicalWriter writer(tag, parts.empty() ? 1 : 2);
  writer.Text(dataset_id);
  writer.Integer(dataset_version);
  if (parts.empty()) return writer;
  writer.Integer(static_cast<int64_t>(parts.size()));
  for (const int64_t part : parts) writer.Integer(part);
  return writer;
}

constexpr int64_t kFingerprintVersion = 3;

void WriteAsked(CanonicalWriter& writer, std::span<const dp::AskedSet> asked) {
  writer.Integer(static_cast<int64_t>(asked.size()));
  for (const dp::AskedSet& set : asked) {
    writer.Integer(static_cast<int64_t>(set.query_class));
    writer.Integer(static_cast<int64_t>(set.queries.strategy));
    WriteGroups(writer, set.queries.groups);
    WriteSet(writer, set.by);
    if (set.statistics) WriteStatistics(writer, *set.statistics);
  }
}

// Nothing where all answers count alike by their mean error: such requests have the bytes that they had
// before there was another objective.
void WriteObjective(CanonicalWriter& writer, const AskedWorkload& request) {
  const bool has_weights =
      std::ranges::any_of(request.queries, [](const dp::AskedSet& set) { return set.queries.weight != 1; });
  const bool has_rmse = request.target && request.target->rmse;
  if (!has_weights && !has_rmse && request.objective == dp::ErrorMeasure::kMean) return;
  writer.Text("objective");
  writer.Integer(request.objective == dp::ErrorMeasure::kMean ? 1 : 2);
  writer.Integer(has_rmse ? 1 : 0);
  if (has_rmse) writer.Real(*request.target->rmse);
  for (const dp::AskedSet& set : request.queries) writer.Real(set.queries.weight);
}

}  // namespace

std::string FingerprintOf(const AskedWorkload& request) {
  CanonicalWriter writer("curator.fingerprint.workload", kFingerprintVersion);
  writer.Text(request.dataset_id);
  WriteNumbers(writer, request.parts);
  WriteAsked(writer, request.queries);
  WriteSpend(writer, request.spend);
  writer.Integer(request.target ? 1 : 0);
  if (request.target) {
    writer.Real(request.target->max_error);
    writer.Real(request.target->confidence);
  }
  WriteOptional(writer, request.mechanism ? std::optional<int64_t>(
                                                *request.mechanism == dp::Mechanism::kDiscreteLaplace ? 1 : 2)
                                          : std::nullopt);
  WriteObjective(writer, request);
  return Sha256(std::move(writer).Take());
}

std::string FingerprintOf(const AskedSynthesis& request) {
  CanonicalWriter writer("curator.fingerprint.synthesis", kFingerprintVersion);
  writer.Text(request.dataset_id);
  WriteNumbers(writer, request.parts);
  writer.Text(request.method);
  WriteSpend(writer, request.spend);
  WriteSettings(writer, request.settings);
  WriteAsked(writer, request.workload);
  WriteOptional(writer, request.assume_records);
  return Sha256(std::move(writer).Take());
}

std::string EarlierWorkloadFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                       const std::vector<int64_t>& parts, const dp::WorkloadRelease& release,
                                       const dp::Event& event) {
  if (!IsPlainMarginals(release)) {
    CanonicalWriter writer = Begin("curator.fingerprint.answers", dataset_id, dataset_version, parts);
    writer.Text(EncodeRelease(release));
    writer.Text(EncodeEvent(dp::AsAsked(event)));
    return Sha256(std::move(writer).Take());
  }
  CanonicalWriter writer = Begin("curator.fingerprint.workload", dataset_id, dataset_version, parts);
  std::vector<dp::AttributeSet> marginals;
  for (const dp::QueryGroup& group : release.measured) marginals.push_back(group.attributes);
  WriteSets(writer, marginals);
  writer.Integer(release.noise.mechanism == dp::Mechanism::kDiscreteLaplace ? 1 : 2);
  writer.Integer(release.noise.parameter.numerator);
  writer.Integer(release.noise.parameter.denominator);
  writer.Text(EncodeEvent(dp::AsAsked(event)));
  return Sha256(std::move(writer).Take());
}

std::string EarlierSynthesisFingerprint(std::string_view dataset_id, int64_t dataset_version,
                                        const std::vector<int64_t>& parts, std::string_view method,
                                        const std::map<std::string, std::string>& settings,
                                        const std::vector<dp::QueryGroup>& workload, const dp::Event& event) {
  CanonicalWriter writer = Begin("curator.fingerprint.synthesis", dataset_id, dataset_version, parts);
  writer.Text(method);
  WriteSettings(writer, settings);
  WriteWorkload(writer, workload);
  writer.Text(EncodeEvent(dp::AsAsked(event)));
  return Sha256(std::move(writer).Take());
}

}  // namespace curator::codec
