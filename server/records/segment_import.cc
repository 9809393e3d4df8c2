#include "records/segment_import.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "records/byte_stream.h"
#include "records/combine.h"
#include "records/csv_reader.h"
#include "records/encoder.h"
#include "records/files.h"

namespace curator::records {
namespace {

std::string ContentDigest(const ImportPlace& place, Digest& received) {
  return KeyedFileHash(place.keyed_hash, received.Finish());
}

// One key serves several purposes: the first bytes of a hashed text say which.
UnitKey KeyOfId(const ImportPlace& place, std::string_view id) {
  const std::string hash =
      place.keyed_hash(absl::StrCat("curator unit id:", place.unit_space, ":", std::string(id)));
  UnitKey key = {};
  std::copy_n(hash.begin(), std::min(hash.size(), key.size()), key.begin());
  return key;
}

absl::StatusOr<ImportReport> ReportOfRepeat(const Manifest& manifest, const ImportEntry& entry,
                                            const std::string& content_digest, RecordSource source) {
  if (entry.content_digest == content_digest && entry.source == source) return manifest.ReportOf(entry);
  return absl::AlreadyExistsError(absl::StrCat(
      "request ", entry.request_id, " has imported another file, or one from another source, already"));
}

// The pipeline from bytes to CSV to codes; the caller supplies the last stage.
class EncodedRecords {
 public:
  EncodedRecords(const dp::Schema& schema, const ImportOptions& options, RowSink sink)
      : encoder_(schema, options, std::move(sink)),
        reader_(encoder_, schema.separator),
        stream_(options.compression == Compression::kGzip ? GzipStream(ToReader())
                                                          : PlainStream(ToReader())) {}

  // After an error, both return that error.
  absl::Status Append(std::string_view bytes) {
    return failure_.ok() ? Note(stream_->Append(bytes)) : failure_;
  }

  absl::Status Finish() {
    RETURN_IF_ERROR(failure_);
    RETURN_IF_ERROR(Note(stream_->Finish()));
    return Note(reader_.Finish());
  }

  // The first error is kept.
  absl::Status Note(absl::Status status) {
    if (failure_.ok()) failure_ = std::move(status);
    return failure_;
  }
  int64_t rows_accepted() const { return encoder_.rows_accepted(); }
  ImportReport report() const { return encoder_.report(); }

 private:
  ByteSink ToReader() {
    return [this](std::string_view bytes) { return reader_.Append(bytes); };
  }

  RecordEncoder encoder_;
  CsvReader reader_;
  std::unique_ptr<ByteStream> stream_;
  absl::Status failure_;
};

class CheckOnly final : public RecordImport {
 public:
  CheckOnly(const dp::Schema& schema, const ImportOptions& options)
      : records_(schema, options,
                 [](std::span<const uint32_t>, std::string_view) { return absl::OkStatus(); }) {}

  absl::Status Append(std::string_view bytes) override { return records_.Append(bytes); }
  absl::StatusOr<ImportReport> Finish() override {
    RETURN_IF_ERROR(records_.Finish());
    return records_.report();
  }

 private:
  EncodedRecords records_;
};

class Repeated final : public RecordImport {
 public:
  // One of the imports of `manifest` has this request id.
  Repeated(ImportPlace place, Manifest manifest, RecordSource source)
      : place_(std::move(place)), manifest_(std::move(manifest)), source_(source) {}

  absl::Status Append(std::string_view bytes) override {
    received_.Add(bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<ImportReport> Finish() override {
    return ReportOfRepeat(manifest_, *manifest_.Find(place_.request_id), ContentDigest(place_, received_),
                          source_);
  }

 private:
  ImportPlace place_;
  Manifest manifest_;
  RecordSource source_;
  Digest received_;
};

class IntoSegment final : public RecordImport {
 public:
  IntoSegment(ImportPlace place, const dp::Schema& schema, const ImportOptions& options,
              std::unique_ptr<SegmentWriter> segment)
      : place_(std::move(place)),
        source_(options.source),
        accept_same_file_(options.accept_same_file),
        time_us_(options.time_us),
        shape_(ShapeOf(schema)),
        max_group_size_(schema.nesting ? schema.nesting->max_group_size : dp::kNoRecordBound),
        segment_(std::move(segment)),
        records_(schema, options, [this](std::span<const uint32_t> codes, std::string_view id) {
          return TakeRow(codes, id);
        }) {}

  absl::Status Append(std::string_view bytes) override {
    received_.Add(bytes);
    return GiveUpUnless(records_.Append(bytes));
  }

  absl::StatusOr<ImportReport> Finish() override {
    RETURN_IF_ERROR(GiveUpUnless(records_.Finish()));
    absl::StatusOr<ImportReport> report = Enter();
    RETURN_IF_ERROR(GiveUpUnless(report.status()));
    segment_.reset();
    return report;
  }

 private:
  absl::Status TakeRow(std::span<const uint32_t> codes, std::string_view id) {
    if (shape_.owner == dp::RowOwner::kItself) return segment_->Append(codes, nullptr);
    if (id != last_id_ || !has_last_id_) {  // a unit's or group's records often follow one another
      last_key_ = KeyOfId(place_, id);
      last_id_ = id;
      has_last_id_ = true;
    }
    return segment_->Append(codes, &last_key_);
  }

  // The moment at which the import takes effect is the replacement of the manifest.
  absl::StatusOr<ImportReport> Enter() {
    if (segment_ == nullptr) return absl::FailedPreconditionError("this import is finished");
    ASSIGN_OR_RETURN(std::string segment_digest, segment_->Finish());
    const std::string content_digest = ContentDigest(place_, received_);
    ASSIGN_OR_RETURN(const FolderLock lock, FolderLock::Take(place_.folder));
    ASSIGN_OR_RETURN(Manifest manifest, ReadManifest(ManifestPath(place_.folder)));
    if (const ImportEntry* const twin = manifest.Find(place_.request_id))
      return ReportOfRepeat(manifest, *twin, content_digest, source_);
    RETURN_IF_ERROR(CheckMayEnter(manifest, content_digest));
    RETURN_IF_ERROR(segment_->Commit());
    const int64_t last_time_us = manifest.imports.empty() ? 0 : manifest.imports.back().time_us;
    const int64_t sequence = manifest.NextSequence();
    manifest.imports.push_back({.request_id = place_.request_id,
                                .content_digest = content_digest,
                                .segment_digest = std::move(segment_digest),
                                .report = records_.report(),
                                .source = source_,
                                .time_us = std::max(time_us_, last_time_us),
                                .sequence = sequence});
    if (absl::Status within = CheckBoundOfGroups(manifest); !within.ok()) return GivenUp(std::move(within));
    absl::Status written = WriteManifest(ManifestPath(place_.folder), manifest, kMaxManifestBytesOfImports);
    // Any other error may come after the manifest has got its name.
    if (absl::IsFailedPrecondition(written)) return GivenUp(std::move(written));
    RETURN_IF_ERROR(written);
    return manifest.ReportOf(manifest.imports.back());
  }

  // `status`, after the segment, which counts for nothing, was removed.
  absl::Status GivenUp(absl::Status status) const {
    std::error_code ignored;  // it is removed on the next occasion at the latest
    std::filesystem::remove(SegmentsPath(place_.folder) / place_.request_id, ignored);
    return status;
  }

  absl::Status CheckMayEnter(const Manifest& manifest, std::string_view content_digest) const {
    RETURN_IF_ERROR(CheckNotUndone(manifest, place_.request_id));
    ASSIGN_OR_RETURN(const bool is_sealed, IsSealed(place_.folder));
    if (is_sealed) return absl::FailedPreconditionError("the dataset is sealed and accepts no more records");
    const ImportEntry* const same = manifest.FindContent(content_digest);
    if (same != nullptr && !accept_same_file_) {
      return NeedsAcceptance(
          "SAME_FILE",
          absl::StrCat("the import ", same->request_id,
                       " has brought the same bytes: their records would count twice, and each person be "
                       "protected half as well. Nothing was imported"));
    }
    if (manifest.RowsAccepted() + records_.rows_accepted() > dp::kMaxRows) {
      return absl::FailedPreconditionError(
          absl::StrCat("a dataset holds at most ", dp::kMaxRows, " records"));
    }
    return absl::OkStatus();
  }

  // `manifest` includes this import already.
  absl::Status CheckBoundOfGroups(const Manifest& manifest) const {
    if (max_group_size_ == dp::kNoRecordBound) return absl::OkStatus();
    return CheckGroupSizes(SegmentsPath(place_.folder), manifest, shape_, max_group_size_);
  }

  absl::Status GiveUpUnless(const absl::Status& status) {
    if (!status.ok()) segment_.reset();
    return records_.Note(status);
  }

  ImportPlace place_;
  RecordSource source_;
  bool accept_same_file_;
  int64_t time_us_;
  TableShape shape_;
  int64_t max_group_size_;
  std::unique_ptr<SegmentWriter> segment_;
  EncodedRecords records_;
  Digest received_;
  std::string last_id_;
  UnitKey last_key_ = {};
  bool has_last_id_ = false;
};

}  // namespace

std::string KeyedFileHash(const std::function<std::string(std::string_view)>& keyed_hash,
                          std::string_view sha256) {
  return keyed_hash(absl::StrCat("curator import content:", std::string(sha256)));
}

std::filesystem::path ManifestPath(const std::filesystem::path& folder) {
  return folder / "manifest";
}
std::filesystem::path SegmentsPath(const std::filesystem::path& folder) {
  return folder / "segments";
}
std::filesystem::path SnapshotPath(const std::filesystem::path& folder) {
  return folder / "snapshot";
}

std::filesystem::path PublicSnapshotPath(const std::filesystem::path& folder) {
  return folder / "public_snapshot";
}

absl::StatusOr<bool> IsSealed(const std::filesystem::path& folder) {
  ASSIGN_OR_RETURN(const bool is_private, Exists(SnapshotPath(folder)));
  ASSIGN_OR_RETURN(const bool is_public, Exists(PublicSnapshotPath(folder)));
  ASSIGN_OR_RETURN(const bool is_deleted, Exists(DeletedPath(folder)));
  return is_private || is_public || is_deleted;
}

std::filesystem::path DeletedPath(const std::filesystem::path& folder) {
  return folder / "deleted";
}

std::filesystem::path UnitsPath(const std::filesystem::path& folder) {
  return folder / "units";
}

std::unique_ptr<RecordImport> CheckRecords(const dp::Schema& schema, const ImportOptions& options) {
  return std::make_unique<CheckOnly>(schema, options);
}

absl::StatusOr<std::unique_ptr<RecordImport>> NewImport(ImportPlace place, const dp::Schema& schema,
                                                        const ImportOptions& options) {
  ASSIGN_OR_RETURN(std::unique_ptr<SegmentWriter> segment,
                   SegmentWriter::Create(SegmentsPath(place.folder) / place.request_id, ShapeOf(schema)));
  return std::make_unique<IntoSegment>(std::move(place), schema, options, std::move(segment));
}

std::unique_ptr<RecordImport> RepeatedImport(ImportPlace place, Manifest manifest, RecordSource source) {
  return std::make_unique<Repeated>(std::move(place), std::move(manifest), source);
}

absl::Status CheckNotUndone(const Manifest& manifest, std::string_view request_id) {
  if (manifest.FindUndone(request_id) == nullptr) return absl::OkStatus();
  return absl::FailedPreconditionError(
      absl::StrCat("request ", std::string(request_id),
                   " belongs to an import that was undone: import under another one"));
}

}  // namespace curator::records
