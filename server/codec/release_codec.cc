#include "codec/release_codec.h"

#include <algorithm>
#include <optional>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "codec/query_bytes.h"
#include "codec/residual_codec.h"
#include "codec/statistics_codec.h"
#include "dp/domain/attribute_set.h"
#include "dp/workload/residual/parity_reader.h"

namespace curator::codec {
namespace {

constexpr char kWorkloadTag[] = "curator.release.workload";
constexpr char kSynthesisTag[] = "curator.release.synthesis";
constexpr int64_t kVersion = 1;
constexpr size_t kMostEventBytes = 4096;
constexpr int64_t kMixedVersion = 2;       // for workloads with other sets than plain marginals
constexpr int64_t kStatisticsVersion = 3;  // for workloads of statistics
constexpr int64_t kResidualVersion = 4;    // for workloads that are measured by residuals

// Of a set as WriteAsked() writes it: the class, the strategy, the numbers of groups, words and attributes.
constexpr int64_t kLeastBytesOfASet = 8 * 5;

// The size of a group as WriteGroups() writes it.
size_t BytesOf(const dp::QueryGroup& group) {
  size_t bytes = 8 * (2 + group.attributes.size());
  if (const auto* boxes = std::get_if<dp::Boxes>(&group.queries)) {
    bytes += 8 * (1 + boxes->sides.size());
  } else if (const auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&group.queries)) {
    bytes += 8;
    for (const dp::LinearQuery& query : *queries) bytes += 8 + 16 * query.size();
  } else if (std::holds_alternative<dp::Parity>(group.queries)) {
    bytes += 8;
  }
  return bytes;
}

// The size of a set as WriteAsked() writes it.
size_t BytesOf(const dp::AskedSet& asked) {
  size_t bytes = static_cast<size_t>(kLeastBytesOfASet) + 8 * asked.by.size();
  for (const dp::QueryGroup& group : asked.queries.groups) bytes += BytesOf(group);
  for (const std::string& words : asked.words) bytes += 8 + words.size();
  return bytes;
}

std::vector<dp::LinearQuery> ReadQueries(CanonicalReader& reader) {
  std::vector<dp::LinearQuery> queries(static_cast<size_t>(reader.Count()));
  for (dp::LinearQuery& query : queries) {
    query.resize(static_cast<size_t>(reader.Count(16)));
    for (dp::WeightedCell& term : query) {
      const int64_t cell = reader.Integer();
      const int64_t weight = reader.Integer();
      if (cell < 0 || cell > UINT32_MAX || weight < INT32_MIN || weight > INT32_MAX) reader.Refuse();
      term = {static_cast<uint32_t>(cell), static_cast<int32_t>(weight)};
    }
  }
  return queries;
}

dp::QueryGroup ReadGroup(CanonicalReader& reader) {
  dp::QueryGroup group{.attributes = ReadSet(reader), .queries = dp::EveryCell()};
  const int64_t kind = reader.Integer();
  if (kind == 1) {
    group.queries = ReadQueries(reader);
  } else if (kind == 2) {
    dp::Boxes boxes;
    boxes.sides.resize(static_cast<size_t>(reader.Count()));
    for (dp::CodeInterval& side : boxes.sides) {
      const auto both = static_cast<uint64_t>(reader.Integer());
      side = {static_cast<uint32_t>(both >> 32), static_cast<uint32_t>(both)};
    }
    group.queries = std::move(boxes);
  } else if (kind == 3) {
    const int64_t weight = reader.Integer();
    if (weight < 1 || weight > dp::kLargestWeight) reader.Refuse();
    group.queries = dp::Parity{static_cast<int32_t>(weight)};
  } else if (kind != 0) {
    reader.Refuse();
  }
  return group;
}

std::vector<dp::QueryGroup> ReadGroups(CanonicalReader& reader) {
  std::vector<dp::QueryGroup> groups(static_cast<size_t>(reader.Count(16)));
  for (dp::QueryGroup& group : groups) group = ReadGroup(reader);
  return groups;
}

void WriteAsked(CanonicalWriter& writer, const dp::AskedSet& asked) {
  writer.Integer(static_cast<int64_t>(asked.query_class));
  writer.Integer(static_cast<int64_t>(asked.queries.strategy));
  WriteGroups(writer, asked.queries.groups);
  writer.Integer(static_cast<int64_t>(asked.words.size()));
  for (const std::string& words : asked.words) writer.Text(words);
  WriteSet(writer, asked.by);
}

void WritePlan(CanonicalWriter& writer, const dp::SetPlan& plan) {
  writer.Integer(static_cast<int64_t>(plan.strategy));
  writer.Integer(plan.branching);
  writer.Integer(static_cast<int64_t>(plan.sources.size()));
  for (const size_t source : plan.sources) writer.Integer(static_cast<int64_t>(source));
}

// `last`: the last strategy that a set of the document's version may name.
dp::AskedSet ReadAsked(CanonicalReader& reader, dp::Strategy last) {
  dp::AskedSet asked;
  asked.query_class = ReadEnum(reader, dp::QueryClass::kPredicates);
  asked.queries.strategy = ReadEnum(reader, last);
  asked.queries.groups = ReadGroups(reader);
  asked.words.resize(static_cast<size_t>(reader.Count()));
  for (std::string& words : asked.words) words = reader.Text();
  asked.by = ReadSet(reader);
  return asked;
}

dp::SetPlan ReadPlan(CanonicalReader& reader) {
  dp::SetPlan plan;
  plan.strategy = ReadEnum(reader, dp::Strategy::kParity);
  plan.branching = reader.Integer();
  plan.sources.resize(static_cast<size_t>(reader.Count()));
  for (size_t& source : plan.sources) source = static_cast<size_t>(reader.Integer());
  return plan;
}

std::string EncodeMixed(const dp::WorkloadRelease& release) {
  CanonicalWriter writer(kWorkloadTag, kMixedVersion);
  WriteNoise(writer, release.noise);
  writer.Text(release.event);
  writer.Integer(static_cast<int64_t>(release.asked.size()));
  for (size_t i = 0; i < release.asked.size(); ++i) {
    WriteAsked(writer, release.asked[i]);
    WritePlan(writer, release.plans[i]);
  }
  WriteGroups(writer, release.measured);
  WriteLists(writer, release.values);
  return std::move(writer).Take();
}

std::string EncodeResidual(const dp::WorkloadRelease& release) {
  CanonicalWriter writer(kWorkloadTag, kResidualVersion);
  writer.Text(release.event);
  writer.Integer(static_cast<int64_t>(release.asked.size()));
  for (const dp::AskedSet& asked : release.asked) WriteAsked(writer, asked);
  WriteResidual(writer, *release.residual);
  WriteLists(writer, release.values);
  return std::move(writer).Take();
}

std::string EncodeStatistics(const dp::WorkloadRelease& release) {
  CanonicalWriter writer(kWorkloadTag, kStatisticsVersion);
  writer.Text(release.event);
  writer.Integer(static_cast<int64_t>(release.asked.size()));
  for (const dp::AskedSet& asked : release.asked) {
    WriteStatistics(writer, *asked.statistics);
    writer.Text(asked.statistics->condition);
  }
  WriteDraws(writer, release.statistics.draws);
  WriteBought(writer, release.statistics.bought);
  WriteLists(writer, release.statistics.values);
  return std::move(writer).Take();
}

int64_t ReadNumberOfSets(CanonicalReader& reader) {
  const int64_t sets = reader.Count();
  if (sets > static_cast<int64_t>(dp::kMostStatistics)) reader.Refuse();  // each has at least one
  return sets;
}

absl::StatusOr<dp::WorkloadRelease> DecodeStatistics(CanonicalReader& reader) {
  dp::WorkloadRelease release;
  release.event = reader.Text();
  for (int64_t left = ReadNumberOfSets(reader); left > 0 && reader.ok(); --left) {
    dp::AskedSet& asked = release.asked.emplace_back();
    asked.query_class = dp::QueryClass::kStatistics;
    asked.statistics = ReadStatistics(reader);
    asked.statistics->condition = reader.Text();
    asked.by = asked.statistics->by;
  }
  dp::StatisticsRelease& drawn = release.statistics;
  drawn.draws = ReadDraws(reader);
  drawn.bought = ReadBought(reader);
  drawn.values.resize(static_cast<size_t>(reader.Count()));
  for (std::vector<int64_t>& values : drawn.values) values = ReadValues(reader);
  const auto is_of_a_set = [&](const dp::StatisticsDraw& draw) { return draw.set < release.asked.size(); };
  if (release.asked.empty() || drawn.bought.size() != drawn.draws.size() ||
      drawn.values.size() != drawn.draws.size() || !std::ranges::all_of(drawn.draws, is_of_a_set))
    reader.Refuse();
  RETURN_IF_ERROR(reader.Finish());
  return release;
}

// Checks what does not need the domain.
bool IsMeasured(const dp::QueryGroup& group, const std::vector<int64_t>& values) {
  if (const auto* queries = std::get_if<std::vector<dp::LinearQuery>>(&group.queries))
    return values.size() == queries->size();
  if (std::holds_alternative<dp::Parity>(group.queries)) return values.size() == 1;
  const auto* boxes = std::get_if<dp::Boxes>(&group.queries);
  return boxes == nullptr || values.size() * group.attributes.size() == boxes->sides.size();
}

bool AreWholeBoxes(const dp::QueryGroup& group) {
  const auto* boxes = std::get_if<dp::Boxes>(&group.queries);
  return boxes == nullptr ||
         (!group.attributes.empty() && boxes->sides.size() % group.attributes.size() == 0);
}

// Of a strategy that answers from one measured group.
bool CanAnswer(const dp::SetPlan& plan, const dp::QueryGroup& group, const dp::QueryGroup& source) {
  switch (plan.strategy) {
    case dp::Strategy::kDirect:
      return group == source;
    case dp::Strategy::kBaseHistogram:
      return std::holds_alternative<dp::EveryCell>(source.queries) &&
             dp::IsSubset(group.attributes, source.attributes);
    case dp::Strategy::kTree:
      return plan.branching >= 2 && group.attributes.size() == 1 && group.attributes == source.attributes &&
             std::holds_alternative<dp::Boxes>(group.queries) &&
             std::holds_alternative<dp::Boxes>(source.queries);
    case dp::Strategy::kResidual:  // of a version of its own
    case dp::Strategy::kParity:
    case dp::Strategy::kAuto:
      break;
  }
  return false;
}

// Whether each group of each set is answered: by one measured group, or by all of them.
template <typename IsAnswered>
bool AreAnswered(const dp::WorkloadRelease& release, const IsAnswered& is_answered) {
  for (size_t i = 0; i < release.plans.size(); ++i) {
    const dp::SetPlan& plan = release.plans[i];
    const std::vector<dp::QueryGroup>& groups = release.asked[i].queries.groups;
    if (plan.sources.size() != groups.size() || release.asked[i].queries.strategy == dp::Strategy::kResidual)
      return false;
    for (size_t at = 0; at < groups.size(); ++at) {
      if (!is_answered(plan, groups[at], plan.sources[at])) return false;
    }
  }
  return true;
}

bool AreAnsweredByParities(const dp::WorkloadRelease& release) {
  const std::optional<dp::ParityReader> parities = dp::ParityReader::Create(release.measured);
  if (!parities) return false;
  return AreAnswered(release, [&](const dp::SetPlan& plan, const dp::QueryGroup& group, size_t source) {
    return plan.strategy == dp::Strategy::kParity && std::holds_alternative<dp::EveryCell>(group.queries) &&
           parities->CanRead(group) && parities->PositionOf(group.attributes) == source;
  });
}

bool IsConsistent(const dp::WorkloadRelease& release) {
  if (release.values.size() != release.measured.size()) return false;
  for (size_t i = 0; i < release.measured.size(); ++i) {
    if (!AreWholeBoxes(release.measured[i]) || !IsMeasured(release.measured[i], release.values[i]))
      return false;
  }
  if (dp::AreByParity(release.plans)) return AreAnsweredByParities(release);
  return AreAnswered(release, [&](const dp::SetPlan& plan, const dp::QueryGroup& group, size_t source) {
    return source < release.measured.size() && AreWholeBoxes(group) &&
           CanAnswer(plan, group, release.measured[source]);
  });
}

absl::StatusOr<dp::WorkloadRelease> DecodeMixed(CanonicalReader& reader) {
  dp::WorkloadRelease release;
  release.noise = ReadNoise(reader);
  release.event = reader.Text();
  const int64_t sets = reader.Count(16);
  for (int64_t i = 0; i < sets; ++i) {
    release.asked.push_back(ReadAsked(reader, dp::Strategy::kParity));
    release.plans.push_back(ReadPlan(reader));
  }
  release.measured = ReadGroups(reader);
  release.values.resize(static_cast<size_t>(reader.Count()));
  for (std::vector<int64_t>& values : release.values) values = ReadValues(reader);
  // Plain marginals are encoded as the first version: each value has one encoding.
  if (!reader.ok() || !IsConsistent(release) || IsPlainMarginals(release)) reader.Refuse();
  RETURN_IF_ERROR(reader.Finish());
  return release;
}

// Whether a set that asks so may be measured by residuals.
bool FitsResiduals(const dp::AskedSet& asked) {
  const dp::Strategy strategy = asked.queries.strategy;
  return (strategy == dp::Strategy::kAuto || strategy == dp::Strategy::kResidual) &&
         std::ranges::all_of(asked.queries.groups, AreWholeBoxes);
}

// Checks what does not need the domain.
bool IsMeasured(const dp::ProductQueries& queries, const std::vector<std::vector<int64_t>>& values) {
  if (values.size() != queries.groups.size()) return false;
  for (size_t i = 0; i < values.size(); ++i) {
    if (values[i].empty() || (queries.groups[i].attributes.empty() && values[i].size() != 1)) return false;
  }
  return true;
}

absl::StatusOr<dp::WorkloadRelease> DecodeResidual(CanonicalReader& reader) {
  dp::WorkloadRelease release;
  release.event = reader.Text();
  for (int64_t left = reader.Count(kLeastBytesOfASet); left > 0 && reader.ok(); --left)
    release.asked.push_back(ReadAsked(reader, dp::Strategy::kResidual));
  release.plans.resize(release.asked.size(), {.strategy = dp::Strategy::kResidual});
  release.residual = ReadResidual(reader);
  release.values.resize(static_cast<size_t>(reader.Count()));
  for (std::vector<int64_t>& values : release.values) values = ReadValues(reader);
  if (release.asked.empty() || !std::ranges::all_of(release.asked, FitsResiduals) ||
      !IsMeasured(release.residual->queries, release.values))
    reader.Refuse();
  RETURN_IF_ERROR(reader.Finish());
  return release;
}

}  // namespace

bool IsPlainMarginals(const dp::WorkloadRelease& release) {
  for (size_t i = 0; i < release.asked.size(); ++i) {
    if (release.asked[i].query_class != dp::QueryClass::kMarginals) return false;
    if (release.plans[i].strategy != dp::Strategy::kDirect) return false;
  }
  return true;
}

std::string EncodeRelease(const dp::WorkloadRelease& release) {
  if (release.residual) return EncodeResidual(release);
  if (dp::AreStatistics(release.asked)) return EncodeStatistics(release);
  if (!IsPlainMarginals(release)) return EncodeMixed(release);
  CanonicalWriter writer(kWorkloadTag, kVersion);
  size_t numbers = 0;
  for (const std::vector<int64_t>& values : release.values) numbers += values.size();
  writer.Expect(8 * numbers);
  WriteNoise(writer, release.noise);
  writer.Text(release.event);
  writer.Integer(static_cast<int64_t>(release.measured.size()));
  for (size_t i = 0; i < release.measured.size(); ++i) {
    WriteSet(writer, release.measured[i].attributes);
    WriteValues(writer, release.values[i]);
  }
  return std::move(writer).Take();
}

int64_t MostEncodedBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                         const std::vector<dp::SetPlan>& plans, const std::vector<dp::QueryGroup>& measured) {
  constexpr size_t kNumbers = 8;  // version, noise, and the numbers of bytes, sets, groups and values
  size_t bytes = 8 + sizeof(kWorkloadTag) - 1 + kMostEventBytes + 8 * kNumbers;
  for (const dp::AskedSet& set : asked) bytes += BytesOf(set);
  for (const dp::SetPlan& plan : plans) bytes += 8 * (3 + plan.sources.size());
  for (const dp::QueryGroup& group : measured)
    bytes += BytesOf(group) + 8 + 8 * static_cast<size_t>(dp::NumberOfQueries(domain, group));
  return static_cast<int64_t>(bytes);
}

int64_t MostEncodedBytes(const dp::Domain& domain, const std::vector<dp::AskedSet>& asked,
                         const dp::ResidualMeasurement& residual) {
  constexpr size_t kNumbers =
      5;  // the tag's bytes, version, sets, lists of values, and the bytes of the event
  size_t bytes = sizeof(kWorkloadTag) - 1 + BytesOf(residual) + kMostEventBytes + 8 * kNumbers;
  for (const dp::AskedSet& set : asked) bytes += BytesOf(set);
  for (const dp::ProductGroup& group : residual.queries.groups)
    bytes += 8 + 8 * static_cast<size_t>(dp::NumberOfQueries(domain, residual.queries, group));
  return static_cast<int64_t>(bytes);
}

int64_t MostEncodedBytes(const dp::Domain& domain, std::span<const dp::AskedStatistics> asked,
                         std::span<const dp::StatisticsDraw> draws) {
  CanonicalWriter writer(kWorkloadTag, kStatisticsVersion);
  for (const dp::AskedStatistics& set : asked) {
    WriteStatistics(writer, set);
    writer.Text(set.condition);
  }
  WriteDraws(writer, {draws.begin(), draws.end()});
  WriteBought(writer, std::vector<dp::BoughtDraw>(draws.size()));
  constexpr size_t kNumbers = 3;  // of sets, of lists of values, and the bytes of the event
  size_t bytes = std::move(writer).Take().size() + kMostEventBytes + 8 * kNumbers;
  for (const dp::StatisticsDraw& draw : draws)
    bytes += 8 + 8 * static_cast<size_t>(dp::NumberOfValues(domain, asked, draw));
  return static_cast<int64_t>(bytes);
}

absl::StatusOr<dp::WorkloadRelease> DecodeWorkloadRelease(std::string_view bytes) {
  CanonicalReader statistics(bytes, kWorkloadTag, kStatisticsVersion);
  if (statistics.ok()) return DecodeStatistics(statistics);
  CanonicalReader residual(bytes, kWorkloadTag, kResidualVersion);
  if (residual.ok()) return DecodeResidual(residual);
  CanonicalReader mixed(bytes, kWorkloadTag, kMixedVersion);
  if (mixed.ok()) return DecodeMixed(mixed);
  CanonicalReader reader(bytes, kWorkloadTag, kVersion);
  dp::WorkloadRelease release;
  release.noise = ReadNoise(reader);
  release.event = reader.Text();
  release.asked.emplace_back();
  release.plans.emplace_back();
  const int64_t marginals = reader.Count(16);
  for (int64_t i = 0; i < marginals; ++i) {
    release.plans[0].sources.push_back(release.measured.size());
    release.measured.push_back({.attributes = ReadSet(reader), .queries = dp::EveryCell()});
    release.values.push_back(ReadValues(reader));
  }
  release.asked[0].queries.groups = release.measured;
  RETURN_IF_ERROR(reader.Finish());
  return release;
}

int64_t ConditionCells(std::string_view bytes) {
  CanonicalReader reader(bytes, kWorkloadTag, kStatisticsVersion);
  reader.Text();
  int64_t cells = 0;
  for (int64_t left = ReadNumberOfSets(reader); left > 0 && reader.ok(); --left) {
    cells += SkipStatistics(reader);
    reader.Text();
  }
  return reader.ok() ? cells : 0;
}

std::string EncodeRelease(const dp::SynthesisRelease& release) {
  CanonicalWriter writer(kSynthesisTag, kVersion);
  writer.Text(release.method);
  writer.Integer(static_cast<int64_t>(release.settings.size()));
  for (const auto& [key, value] : release.settings) {
    writer.Text(key);
    writer.Text(value);
  }
  WriteSet(writer, release.attributes);
  writer.Integer(release.records);
  writer.Integer(static_cast<int64_t>(release.transcript.size()));
  for (const std::string& line : release.transcript) writer.Text(line);
  writer.Text(release.event);
  writer.Text(release.model);
  return std::move(writer).Take();
}

absl::StatusOr<dp::SynthesisRelease> DecodeSynthesisRelease(std::string_view bytes) {
  CanonicalReader reader(bytes, kSynthesisTag, kVersion);
  dp::SynthesisRelease release;
  release.method = reader.Text();
  const int64_t settings = reader.Count(16);
  for (int64_t i = 0; i < settings; ++i) {
    std::string key = reader.Text();
    if (!release.settings.empty() && key <= release.settings.rbegin()->first) reader.Refuse();
    release.settings[std::move(key)] = reader.Text();
  }
  release.attributes = ReadSet(reader);
  release.records = reader.Integer();
  const int64_t lines = reader.Count();
  for (int64_t i = 0; i < lines; ++i) release.transcript.push_back(reader.Text());
  release.event = reader.Text();
  release.model = reader.Text();
  RETURN_IF_ERROR(reader.Finish());
  return release;
}

}  // namespace curator::codec
