#include "records/segment_import.h"

#include <algorithm>
#include <system_error>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "records/byte_stream.h"
#include "records/combine.h"
#include "records/csv_reader.h"
#include "records/encoder.h"
#include "records/files.h"

namespace curator::records {
namespace {

// One key serves several purposes: the first bytes of a hashed text say which.
std::string ContentDigest(const ImportPlace& place, Digest& received) {
  return place.keyed_hash(absl::StrCat("curator import content:", received.Finish()));
}

UnitKey KeyOfId(const ImportPlace& place, std::string_view id) {
  const std::string hash =
      place.keyed_hash(absl::StrCat("curator unit id:", place.unit_space, ":", std::string(id)));
  UnitKey key = {};
  std::copy_n(hash.begin(), std::min(hash.size(), key.size()), key.begin());
  return key;
}

absl::StatusOr<ImportReport> ReportOfRepeat(const Manifest& manifest, const ImportEntry& entry,
                                            const std::string& content_digest) {
  if (entry.content_digest == content_digest) return manifest.ReportOf(entry);
  return absl::AlreadyExistsError(
      absl::StrCat("request ", entry.request_id, " has imported another file already"));
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
  const ImportReport& report() const { return encoder_.report(); }

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
  Repeated(ImportPlace place, Manifest manifest) : place_(std::move(place)), manifest_(std::move(manifest)) {}

  absl::Status Append(std::string_view bytes) override {
    received_.Add(bytes);
    return absl::OkStatus();
  }
  absl::StatusOr<ImportReport> Finish() override {
    return ReportOfRepeat(manifest_, *manifest_.Find(place_.request_id), ContentDigest(place_, received_));
  }

 private:
  ImportPlace place_;
  Manifest manifest_;
  Digest received_;
};

class IntoSegment final : public RecordImport {
 public:
  IntoSegment(ImportPlace place, const dp::Schema& schema, const ImportOptions& options,
              std::unique_ptr<SegmentWriter> segment)
      : place_(std::move(place)),
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
      return ReportOfRepeat(manifest, *twin, content_digest);
    ASSIGN_OR_RETURN(const bool is_sealed, IsSealed(place_.folder));
    if (is_sealed) return absl::FailedPreconditionError("the dataset is sealed and accepts no more records");
    if (manifest.RowsAccepted() + records_.report().rows_accepted > dp::kMaxRows) {
      return absl::FailedPreconditionError(
          absl::StrCat("a dataset holds at most ", dp::kMaxRows, " records"));
    }
    RETURN_IF_ERROR(segment_->Commit());
    manifest.imports.push_back({.request_id = place_.request_id,
                                .content_digest = content_digest,
                                .segment_digest = std::move(segment_digest),
                                .report = records_.report()});
    RETURN_IF_ERROR(CheckBoundOfGroups(manifest));
    RETURN_IF_ERROR(WriteManifest(ManifestPath(place_.folder), manifest));
    return manifest.ReportOf(manifest.imports.back());
  }

  // `manifest` includes this import already.
  absl::Status CheckBoundOfGroups(const Manifest& manifest) const {
    if (max_group_size_ == dp::kNoRecordBound) return absl::OkStatus();
    const std::filesystem::path segments = SegmentsPath(place_.folder);
    const absl::Status status = CheckGroupSizes(segments, manifest, shape_, max_group_size_);
    std::error_code ignored;  // it counts for nothing, and is removed on the next occasion at the latest
    if (!status.ok()) std::filesystem::remove(segments / place_.request_id, ignored);
    return status;
  }

  absl::Status GiveUpUnless(const absl::Status& status) {
    if (!status.ok()) segment_.reset();
    return records_.Note(status);
  }

  ImportPlace place_;
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
  return is_private || is_public;
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

std::unique_ptr<RecordImport> RepeatedImport(ImportPlace place, Manifest manifest) {
  return std::make_unique<Repeated>(std::move(place), std::move(manifest));
}

}  // namespace curator::records
