#include "records/unit_counts.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/domain/domain.h"
#include "records/files.h"

namespace curator::records {
namespace {

constexpr char kUnitCountsTag[] = "curator.unit_counts";
constexpr int64_t kUnitCountsVersion = 1;
constexpr int64_t kMaxBytes = int64_t{1} << 36;

absl::Status DamagedUnitCounts() {
  return absl::DataLossError("the list of the units of a sealed part is damaged");
}

}  // namespace

size_t UnitKeyHash::operator()(const UnitKey& key) const {
  size_t hash = 0;
  std::memcpy(&hash, key.data(), sizeof(hash));
  return hash;
}

absl::Status WriteUnitCounts(const std::filesystem::path& path, const UnitCounts& counts) {
  CanonicalWriter writer(kUnitCountsTag, kUnitCountsVersion);
  writer.Integer(static_cast<int64_t>(counts.keys.size()));
  for (size_t i = 0; i < counts.keys.size(); ++i) {
    writer.Text(std::string_view(counts.keys[i].data(), counts.keys[i].size()));
    writer.Integer(counts.records[i]);
  }
  const std::string document = std::move(writer).Take();
  ASSIGN_OR_RETURN(const std::unique_ptr<PendingFile> file, PendingFile::Create(path));
  RETURN_IF_ERROR(file->Write(document));
  RETURN_IF_ERROR(file->Write(Sha256(document)));
  return file->Commit();
}

absl::StatusOr<UnitCounts> ReadUnitCounts(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(const std::string bytes, ReadFile(path, kMaxBytes));
  if (bytes.size() < kDigestBytes) return DamagedUnitCounts();
  const std::string_view document = std::string_view(bytes).substr(0, bytes.size() - kDigestBytes);
  if (Sha256(document) != std::string_view(bytes).substr(document.size())) return DamagedUnitCounts();
  CanonicalReader reader(document, kUnitCountsTag, kUnitCountsVersion);
  UnitCounts counts;
  constexpr int64_t kLeastBytes = 8 + 16 + 8;
  for (int64_t left = reader.Count(kLeastBytes); left > 0; --left) {
    const std::string key = reader.Text();
    const int64_t records = reader.Integer();
    if (key.size() != sizeof(UnitKey) || records < 1 || records > dp::kMaxRecordsPerUnit) reader.Refuse();
    counts.keys.emplace_back();
    std::memcpy(counts.keys.back().data(), key.data(), std::min(key.size(), sizeof(UnitKey)));
    counts.records.push_back(static_cast<uint32_t>(records));
  }
  if (!reader.Finish().ok()) return DamagedUnitCounts();
  return counts;
}

}  // namespace curator::records
