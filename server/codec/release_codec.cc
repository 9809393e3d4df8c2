#include "codec/release_codec.h"

#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::codec {
namespace {

constexpr char kWorkloadTag[] = "curator.release.workload";
constexpr char kSynthesisTag[] = "curator.release.synthesis";
constexpr int64_t kVersion = 1;

void WriteSet(CanonicalWriter& writer, const dp::AttributeSet& set) {
  writer.Integer(static_cast<int64_t>(set.size()));
  for (const uint32_t attribute : set) writer.Integer(attribute);
}

dp::AttributeSet ReadSet(CanonicalReader& reader) {
  dp::AttributeSet set(static_cast<size_t>(reader.Count()));
  for (uint32_t& attribute : set) {
    const int64_t value = reader.Integer();
    if (value < 0 || value > UINT32_MAX) reader.Refuse();
    attribute = static_cast<uint32_t>(value);
  }
  return set;
}

void WriteNoise(CanonicalWriter& writer, const dp::NoiseSpec& noise) {
  writer.Integer(noise.mechanism == dp::Mechanism::kDiscreteLaplace ? 1 : 2);
  writer.Integer(noise.parameter.numerator);
  writer.Integer(noise.parameter.denominator);
}

dp::NoiseSpec ReadNoise(CanonicalReader& reader) {
  const int64_t mechanism = reader.Integer();
  if (mechanism != 1 && mechanism != 2) reader.Refuse();
  dp::NoiseSpec noise;
  noise.mechanism = mechanism == 1 ? dp::Mechanism::kDiscreteLaplace : dp::Mechanism::kDiscreteGaussian;
  noise.parameter.numerator = reader.Integer();
  noise.parameter.denominator = reader.Integer();
  if (noise.parameter.numerator < 0 || noise.parameter.denominator <= 0) reader.Refuse();
  return noise;
}

}  // namespace

std::string EncodeRelease(const WorkloadRelease& release) {
  CanonicalWriter writer(kWorkloadTag, kVersion);
  WriteNoise(writer, release.noise);
  writer.Text(release.event);
  writer.Integer(static_cast<int64_t>(release.marginals.size()));
  for (size_t i = 0; i < release.marginals.size(); ++i) {
    WriteSet(writer, release.marginals[i]);
    writer.Integer(static_cast<int64_t>(release.counts[i].size()));
    for (const int64_t count : release.counts[i]) writer.Integer(count);
  }
  return std::move(writer).Take();
}

absl::StatusOr<WorkloadRelease> DecodeWorkloadRelease(std::string_view bytes) {
  CanonicalReader reader(bytes, kWorkloadTag, kVersion);
  WorkloadRelease release;
  release.noise = ReadNoise(reader);
  release.event = reader.Text();
  const int64_t marginals = reader.Count(16);
  for (int64_t i = 0; i < marginals; ++i) {
    release.marginals.push_back(ReadSet(reader));
    std::vector<int64_t> counts(static_cast<size_t>(reader.Count()));
    for (int64_t& count : counts) count = reader.Integer();
    release.counts.push_back(std::move(counts));
  }
  RETURN_IF_ERROR(reader.Finish());
  return release;
}

std::string EncodeRelease(const SynthesisRelease& release) {
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

absl::StatusOr<SynthesisRelease> DecodeSynthesisRelease(std::string_view bytes) {
  CanonicalReader reader(bytes, kSynthesisTag, kVersion);
  SynthesisRelease release;
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
