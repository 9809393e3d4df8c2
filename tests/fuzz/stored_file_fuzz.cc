// The files of datasets: manifests, segments and snapshots. The first byte says which; the digest that ends
// the file is put right, so that what lies before it is looked at.
#include <sys/mman.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <sstream>

#include "base/canonical_bytes.h"
#include "dp/data/sealed_table.h"
#include "records/files.h"
#include "records/manifest.h"
#include "records/segment.h"
#include "records/snapshot.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/testing/scratch_folder.h"

namespace curator::fuzz {
namespace {

enum Kind : char { kManifest, kSegment, kSnapshot };

// A file in memory that is written over and over.
class MemoryFile {
 public:
  std::string Holding(std::string_view bytes) const {
    if (ftruncate(descriptor_, 0) != 0 ||
        pwrite(descriptor_, bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size()))
      std::abort();
    return path_;
  }

 private:
  const int descriptor_ = memfd_create("fuzz", MFD_CLOEXEC);
  const std::string path_ = "/proc/self/fd/" + std::to_string(descriptor_);
};

std::string WithDigest(std::string_view bytes) {
  records::Digest digest;
  digest.Add(bytes);
  return std::string(bytes) + digest.Finish();
}

std::string ContentOf(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

records::TableShape Shape() {
  return {.sizes = {3, 300, 70000}, .owner = dp::RowOwner::kUnit};
}

bool TryManifest(const std::string& path, std::string_view input) {
  const auto manifest = records::ReadManifest(path);
  if (!manifest.ok() && !absl::IsDataLoss(manifest.status())) Broken("what is refused is damaged", input);
  return manifest.ok();
}

bool TrySegment(const std::string& path, std::string_view input) {
  const auto reader = records::SegmentReader::Open(path, Shape());
  if (!reader.ok()) return false;
  while (true) {
    const absl::StatusOr<const records::RowBlock*> block = (*reader)->Next();
    if (!block.ok()) return false;
    if (*block == nullptr) break;
    if ((*block)->groups.size() != (*block)->rows) Broken("each row of a segment has its unit", input);
  }
  if ((*reader)->Finish(std::string(records::kDigestBytes, 'x')).ok())
    Broken("a segment is what its digest says", input);
  return true;
}

bool TrySnapshot(const std::string& path, std::string_view input) {
  const auto facts = records::ReadSnapshotFacts(path);
  const auto snapshot = records::ReadSnapshot(path);
  const auto table = records::ReadPublicSnapshot(path);
  if (!snapshot.ok()) {
    if (!absl::IsDataLoss(snapshot.status())) Broken("what is refused is damaged", input);
    return false;
  }
  if (!facts.ok() || facts->digest != snapshot->facts.digest || facts->records != snapshot->table->rows())
    Broken("the facts of a snapshot are those of its table", input);
  if (!table.ok() || table->table->rows() != facts->records)
    Broken("a sealed table is a public one as well", input);
  return true;
}

records::CombinedRecords SomeRecords(dp::RowOwner owner) {
  records::CombinedRecords records{
      .columns = dp::CodedColumns({3, 300}), .owner = owner, .group_of_row = {}, .records_dropped = 4};
  for (const std::vector<uint32_t>& row : {std::vector<uint32_t>{0, 299}, {2, 1}, {1, 0}}) {
    if (!records.columns.AppendRow(row).ok()) std::abort();
  }
  if (owner != dp::RowOwner::kItself) records.group_of_row = {0, 1, 0};
  return records;
}

std::string WithoutDigest(const std::filesystem::path& path) {
  const std::string content = ContentOf(path);
  return content.substr(0, content.size() - records::kDigestBytes);
}

}  // namespace

std::vector<std::string> Seeds() {
  const testing::ScratchFolder scratch;
  const std::filesystem::path path = scratch.path() + "/file";
  std::vector<std::string> seeds;
  const records::ImportReport report{.rows_read = 5,
                                     .rows_accepted = 3,
                                     .rows_rejected = 2,
                                     .examples = {{4, "age", "is empty"}},
                                     .ignored_columns = {"note"},
                                     .responses_clamped = 1};
  records::ImportReport clipped = report;
  clipped.cells_clipped = {{"income", 2}};
  for (const records::ImportReport& each : {report, clipped}) {
    if (!records::WriteManifest(path, {{{"second", "c1", "s1", each}, {"first", "c2", "s2", {}}}}).ok())
      std::abort();
    seeds.push_back(std::string(1, kManifest) + WithoutDigest(path));
  }
  const auto segment = records::SegmentWriter::Create(path, Shape()).value();
  for (uint32_t row = 0; row < 3; ++row) {
    const records::UnitKey unit = {static_cast<char>(row)};
    if (!segment->Append(std::vector<uint32_t>{row, 100 * row, 30000 * row}, &unit).ok()) std::abort();
  }
  if (!segment->Finish().ok() || !segment->Commit().ok()) std::abort();
  seeds.push_back(std::string(1, kSegment) + ContentOf(path));
  for (const dp::RowOwner owner :
       {dp::RowOwner::kItself, dp::RowOwner::kUnit, dp::RowOwner::kItselfInGroup}) {
    if (!records::WriteSnapshot(path, SomeRecords(owner)).ok()) std::abort();
    seeds.push_back(std::string(1, kSnapshot) + WithoutDigest(path));
  }
  return seeds;
}

bool Try(std::string_view input) {
  static const MemoryFile file;
  if (input.empty()) return false;
  const std::string_view bytes = input.substr(1);
  switch (input[0]) {
    case kManifest:
      return TryManifest(file.Holding(WithDigest(bytes)), input);
    case kSegment:
      return TrySegment(file.Holding(bytes), input);
    case kSnapshot:
      return TrySnapshot(file.Holding(WithDigest(bytes)), input);
    default:
      return false;
  }
}

}  // namespace curator::fuzz
