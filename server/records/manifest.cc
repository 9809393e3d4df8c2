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
// The second version also says how many responses were clamped.
constexpr int64_t kFirstVersion = 1;
constexpr int64_t kSecondVersion = 2;
constexpr int64_t kMaxManifestBytes = int64_t{1} << 30;

void WriteReport(CanonicalWriter& writer, const ImportReport& report) {
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
  if (version == kSecondVersion) report.responses_clamped = reader.Integer();
  return report;
}

}  // namespace

const ImportEntry* Manifest::Find(std::string_view request_id) const {
  for (const ImportEntry& entry : imports) {
    if (entry.request_id == request_id) return &entry;
  }
  return nullptr;
}

ImportReport Manifest::ReportOf(const ImportEntry& entry) const {
  ImportReport report = entry.report;
  const ImportEntry& first = *std::ranges::find(imports, entry.content_digest, &ImportEntry::content_digest);
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

  const int64_t version =
      CanonicalReader(document, kTag, kSecondVersion).ok() ? kSecondVersion : kFirstVersion;
  CanonicalReader reader(document, kTag, version);
  Manifest manifest;
  for (int64_t left = reader.Count(); left > 0; --left) {
    ImportEntry entry;
    entry.request_id = reader.Text();
    entry.content_digest = reader.Text();
    entry.segment_digest = reader.Text();
    entry.report = ReadReport(reader, version);
    manifest.imports.push_back(std::move(entry));
  }
  if (!reader.Finish().ok()) return damaged;
  return manifest;
}

absl::Status WriteManifest(const std::filesystem::path& path, const Manifest& manifest) {
  CanonicalWriter writer(kTag, kSecondVersion);
  writer.Integer(static_cast<int64_t>(manifest.imports.size()));
  for (const ImportEntry& entry : manifest.imports) {
    writer.Text(entry.request_id);
    writer.Text(entry.content_digest);
    writer.Text(entry.segment_digest);
    WriteReport(writer, entry.report);
  }
  const std::string document = std::move(writer).Take();
  ASSIGN_OR_RETURN(const std::unique_ptr<PendingFile> file, PendingFile::Create(path));
  RETURN_IF_ERROR(file->Write(document));
  RETURN_IF_ERROR(file->Write(Sha256(document)));
  return file->Commit();
}

}  // namespace curator::records
