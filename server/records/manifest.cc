#include "records/manifest.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "records/files.h"

namespace curator::records {
namespace {

constexpr char kTag[] = "curator.imports";
// The second version also says how many responses were clamped. The third has rejections, sources, times and
// sequence numbers, and the imports that were undone. The fourth also says how many cells were clipped, and
// is written where some were.
constexpr int64_t kFirstVersion = 1;
constexpr int64_t kSecondVersion = 2;
constexpr int64_t kThirdVersion = 3;
constexpr int64_t kFourthVersion = 4;

// Permanent: they are in stored files.
constexpr int64_t TagOf(RecordSource source) {
  switch (source) {
    case RecordSource::kFile:
      return 0;
    case RecordSource::kTable:
      return 1;
    case RecordSource::kQuery:
      return 2;
  }
  return -1;
}

RecordSource ReadSource(CanonicalReader& reader) {
  const int64_t tag = reader.Integer();
  for (const RecordSource source : {RecordSource::kFile, RecordSource::kTable, RecordSource::kQuery}) {
    if (TagOf(source) == tag) return source;
  }
  reader.Refuse();
  return RecordSource::kFile;
}

void WriteRejections(CanonicalWriter& writer, const std::vector<Rejection>& rejections) {
  writer.Integer(static_cast<int64_t>(rejections.size()));
  for (const Rejection& rejection : rejections) {
    writer.Text(rejection.attribute);
    writer.Text(rejection.reason);
    writer.Integer(rejection.rows);
    writer.Integer(static_cast<int64_t>(rejection.lines.size()));
    for (const int64_t line : rejection.lines) writer.Integer(line);
  }
}

std::vector<Rejection> ReadRejections(CanonicalReader& reader) {
  std::vector<Rejection> rejections;
  for (int64_t left = reader.Count(); left > 0; --left) {
    Rejection rejection;
    rejection.attribute = reader.Text();
    rejection.reason = reader.Text();
    rejection.rows = reader.Integer();
    for (int64_t lines = reader.Count(); lines > 0; --lines) rejection.lines.push_back(reader.Integer());
    rejections.push_back(std::move(rejection));
  }
  return rejections;
}

void WriteReport(CanonicalWriter& writer, const ImportReport& report, int64_t version) {
  writer.Integer(report.rows_read);
  writer.Integer(report.rows_accepted);
  writer.Integer(report.rows_rejected);
  writer.Integer(static_cast<int64_t>(report.examples.size()));
  for (const RejectedRow& row : report.examples) {
    writer.Integer(row.line);
    writer.Text(row.attribute);
    writer.Text(row.reason);
  }
  writer.Integer(static_cast<int64_t>(report.ignored_columns.size()));
  for (const std::string& column : report.ignored_columns) writer.Text(column);
  writer.Integer(report.responses_clamped);
  WriteRejections(writer, report.rejections);
  if (version < kFourthVersion) return;
  writer.Integer(static_cast<int64_t>(report.cells_clipped.size()));
  for (const auto& [measure, cells] : report.cells_clipped) {
    writer.Text(measure);
    writer.Integer(cells);
  }
}

ImportReport ReadReport(CanonicalReader& reader, int64_t version) {
  ImportReport report;
  report.rows_read = reader.Integer();
  report.rows_accepted = reader.Integer();
  report.rows_rejected = reader.Integer();
  for (int64_t left = reader.Count(); left > 0; --left) {
    RejectedRow row;
    row.line = reader.Integer();
    row.attribute = reader.Text();
    row.reason = reader.Text();
    report.examples.push_back(std::move(row));
  }
  for (int64_t left = reader.Count(); left > 0; --left) report.ignored_columns.push_back(reader.Text());
  if (version >= kSecondVersion) report.responses_clamped = reader.Integer();
  if (version >= kThirdVersion) report.rejections = ReadRejections(reader);
  if (version < kFourthVersion) return report;
  for (int64_t left = reader.Count(); left > 0; --left) {
    std::string measure = reader.Text();
    report.cells_clipped.insert_or_assign(std::move(measure), reader.Integer());
  }
  return report;
}

// `before` are the entries that precede it.
ImportEntry ReadEntry(CanonicalReader& reader, int64_t version, size_t before) {
  ImportEntry entry;
  entry.request_id = reader.Text();
  entry.content_digest = reader.Text();
  entry.segment_digest = reader.Text();
  entry.report = ReadReport(reader, version);
  entry.sequence = static_cast<int64_t>(before) + 1;
  if (version < kThirdVersion) return entry;
  entry.source = ReadSource(reader);
  entry.time_us = reader.Integer();
  entry.sequence = reader.Integer();
  return entry;
}

std::vector<UndoneImport> ReadUndone(CanonicalReader& reader) {
  std::vector<UndoneImport> undone;
  for (int64_t left = reader.Count(); left > 0; --left) {
    UndoneImport undo;
    undo.request_id = reader.Text();
    undo.content_digest = reader.Text();
    undo.sequence = reader.Integer();
    undone.push_back(std::move(undo));
  }
  return undone;
}

int64_t VersionOf(const Manifest& manifest) {
  const bool has_clipped = std::ranges::any_of(
      manifest.imports, [](const ImportEntry& entry) { return !entry.report.cells_clipped.empty(); });
  return has_clipped ? kFourthVersion : kThirdVersion;
}

// The version that it was written in; the first where it is in none.
int64_t VersionOf(std::string_view document) {
  for (const int64_t version : {kFourthVersion, kThirdVersion, kSecondVersion}) {
    if (CanonicalReader(document, kTag, version).ok()) return version;
  }
  return kFirstVersion;
}

}  // namespace

const ImportEntry* Manifest::Find(std::string_view request_id) const {
  for (const ImportEntry& entry : imports) {
    if (entry.request_id == request_id) return &entry;
  }
  return nullptr;
}

const ImportEntry* Manifest::FindContent(std::string_view content_digest) const {
  const auto found = std::ranges::find(imports, content_digest, &ImportEntry::content_digest);
  return found == imports.end() ? nullptr : &*found;
}

const UndoneImport* Manifest::FindUndone(std::string_view request_id) const {
  const auto found = std::ranges::find(undone, request_id, &UndoneImport::request_id);
  return found == undone.end() ? nullptr : &*found;
}

void Manifest::Undo(std::string_view request_id) {
  const auto found = std::ranges::find(imports, request_id, &ImportEntry::request_id);
  if (found == imports.end()) return;
  undone.push_back({.request_id = found->request_id,
                    .content_digest = found->content_digest,
                    .sequence = found->sequence});
  imports.erase(found);
}

int64_t Manifest::NextSequence() const {
  int64_t last = imports.empty() ? 0 : imports.back().sequence;
  for (const UndoneImport& undo : undone) last = std::max(last, undo.sequence);
  return last + 1;
}

bool Manifest::RowsHaveOrder() const {
  return std::ranges::all_of(imports,
                             [](const ImportEntry& entry) { return entry.source == RecordSource::kFile; });
}

bool Manifest::HasRowsFromQuery() const {
  return std::ranges::any_of(imports,
                             [](const ImportEntry& entry) { return entry.source == RecordSource::kQuery; });
}

ImportReport Manifest::ReportOf(const ImportEntry& entry) const {
  ImportReport report = entry.report;
  const ImportEntry& first = *FindContent(entry.content_digest);
  if (first.request_id != entry.request_id) report.same_file_as = first.request_id;
  return report;
}

int64_t Manifest::RowsAccepted() const {
  int64_t rows = 0;
  for (const ImportEntry& entry : imports) rows += entry.report.rows_accepted;
  return rows;
}

absl::StatusOr<Manifest> ReadManifest(const std::filesystem::path& path) {
  const absl::StatusOr<std::string> bytes = ReadFile(path, kMaxManifestBytes);
  if (absl::IsNotFound(bytes.status())) return Manifest();
  if (!bytes.ok()) return bytes.status();

  const absl::Status damaged = absl::DataLossError("the list of imports is damaged");
  if (bytes->size() < kDigestBytes) return damaged;
  const std::string_view document = std::string_view(*bytes).substr(0, bytes->size() - kDigestBytes);
  if (Sha256(document) != std::string_view(*bytes).substr(document.size())) return damaged;

  const int64_t version = VersionOf(document);
  CanonicalReader reader(document, kTag, version);
  Manifest manifest;
  for (int64_t left = reader.Count(); left > 0; --left) {
    manifest.imports.push_back(ReadEntry(reader, version, manifest.imports.size()));
  }
  if (version >= kThirdVersion) manifest.undone = ReadUndone(reader);
  if (!reader.Finish().ok()) return damaged;
  return manifest;
}

absl::Status WriteManifest(const std::filesystem::path& path, const Manifest& manifest, int64_t most_bytes) {
  const int64_t version = VersionOf(manifest);
  CanonicalWriter writer(kTag, version);
  writer.Integer(static_cast<int64_t>(manifest.imports.size()));
  for (const ImportEntry& entry : manifest.imports) {
    writer.Text(entry.request_id);
    writer.Text(entry.content_digest);
    writer.Text(entry.segment_digest);
    WriteReport(writer, entry.report, version);
    writer.Integer(TagOf(entry.source));
    writer.Integer(entry.time_us);
    writer.Integer(entry.sequence);
  }
  writer.Integer(static_cast<int64_t>(manifest.undone.size()));
  for (const UndoneImport& undo : manifest.undone) {
    writer.Text(undo.request_id);
    writer.Text(undo.content_digest);
    writer.Integer(undo.sequence);
  }
  const std::string document = std::move(writer).Take();
  if (static_cast<int64_t>(document.size() + kDigestBytes) > most_bytes) {
    return absl::FailedPreconditionError(
        "the list of imports of this dataset is full: import fewer and larger files");
  }
  ASSIGN_OR_RETURN(const std::unique_ptr<PendingFile> file, PendingFile::Create(path));
  RETURN_IF_ERROR(file->Write(document));
  RETURN_IF_ERROR(file->Write(Sha256(document)));
  return file->Commit();
}

}  // namespace curator::records
