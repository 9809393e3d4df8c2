#include "records/segment.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"

namespace curator::records {
namespace {

static_assert(std::endian::native == std::endian::little, "codes are stored in little-endian order");

constexpr char kSegmentTag[] = "curator.segment";
constexpr int64_t kSegmentVersion = 1;
constexpr size_t kBlockBytes = size_t{1} << 22;
constexpr size_t kMaxBlockRows = size_t{1} << 16;

// Permanent: they are in stored files.
int64_t TagOf(dp::RowOwner owner) {
  switch (owner) {
    case dp::RowOwner::kItself:
      return 0;
    case dp::RowOwner::kUnit:
      return 1;
    case dp::RowOwner::kItselfInGroup:
      return 2;
  }
  return -1;
}

bool HasGroups(const TableShape& shape) {
  return shape.owner != dp::RowOwner::kItself;
}

std::string HeaderOf(const TableShape& shape) {
  CanonicalWriter writer(kSegmentTag, kSegmentVersion);
  writer.Integer(static_cast<int64_t>(shape.sizes.size()));
  for (const int64_t size : shape.sizes) writer.Integer(size);
  writer.Integer(TagOf(shape.owner));
  return std::move(writer).Take();
}

size_t RowBytes(const TableShape& shape) {
  size_t bytes = HasGroups(shape) ? sizeof(UnitKey) : 0;
  for (const int64_t size : shape.sizes) bytes += dp::BytesOf(dp::WidthFor(size));
  return bytes;
}

size_t BlockRows(const TableShape& shape) {
  return std::clamp(kBlockBytes / RowBytes(shape), size_t{1}, kMaxBlockRows);
}

absl::Status DamagedSegment() {
  return absl::DataLossError("a segment of imported records is damaged");
}

}  // namespace

TableShape ShapeOf(const dp::Schema& schema) {
  dp::RowOwner owner = schema.nesting ? dp::RowOwner::kItselfInGroup : dp::RowOwner::kItself;
  if (dp::IdColumnOf(schema.unit)) owner = dp::RowOwner::kUnit;
  return {.sizes = dp::SizesOf(schema.domain), .owner = owner};
}

SegmentWriter::SegmentWriter(std::unique_ptr<PendingFile> file, TableShape shape)
    : file_(std::move(file)), shape_(std::move(shape)), block_rows_(BlockRows(shape_)) {
  block_.codes.resize(shape_.sizes.size());
  for (const int64_t size : shape_.sizes) widths_.push_back(dp::WidthFor(size));
}

absl::StatusOr<std::unique_ptr<SegmentWriter>> SegmentWriter::Create(const std::filesystem::path& path,
                                                                     TableShape shape) {
  ASSIGN_OR_RETURN(std::unique_ptr<PendingFile> file, PendingFile::Create(path));
  auto writer = std::unique_ptr<SegmentWriter>(new SegmentWriter(std::move(file), std::move(shape)));
  const std::string header = HeaderOf(writer->shape_);
  RETURN_IF_ERROR(writer->Write(std::as_bytes(std::span(header))));
  return writer;
}

absl::Status SegmentWriter::Append(std::span<const uint32_t> codes, const UnitKey* group) {
  if (codes.size() != widths_.size() || (group != nullptr) != HasGroups(shape_)) {
    return absl::InternalError("a row of another shape than its segment");
  }
  for (size_t i = 0; i < codes.size(); ++i) {
    const auto* const bytes = reinterpret_cast<const std::byte*>(&codes[i]);  // the low bytes come first
    block_.codes[i].insert(block_.codes[i].end(), bytes, bytes + dp::BytesOf(widths_[i]));
  }
  if (group != nullptr) block_.groups.push_back(*group);
  return ++block_.rows == block_rows_ ? WriteBlock() : absl::OkStatus();
}

absl::StatusOr<std::string> SegmentWriter::Finish() {
  if (block_.rows > 0) RETURN_IF_ERROR(WriteBlock());
  return digest_.Finish();
}

absl::Status SegmentWriter::WriteBlock() {
  const uint64_t rows = block_.rows;
  RETURN_IF_ERROR(Write(std::as_bytes(std::span(&rows, 1))));
  for (std::vector<std::byte>& codes : block_.codes) {
    RETURN_IF_ERROR(Write(codes));
    codes.clear();
  }
  RETURN_IF_ERROR(Write(std::as_bytes(std::span(block_.groups))));
  block_.groups.clear();
  block_.rows = 0;
  return absl::OkStatus();
}

absl::Status SegmentWriter::Write(std::span<const std::byte> bytes) {
  digest_.Add(bytes);
  return file_->Write(bytes);
}

SegmentReader::SegmentReader(File file, int64_t left, TableShape shape)
    : file_(std::move(file)), left_(left), shape_(std::move(shape)) {
  block_.codes.resize(shape_.sizes.size());
}

absl::StatusOr<std::unique_ptr<SegmentReader>> SegmentReader::Open(const std::filesystem::path& path,
                                                                   TableShape shape) {
  absl::StatusOr<File> file = File::OpenForReading(path);
  if (absl::IsNotFound(file.status())) return absl::DataLossError("a segment of imported records is missing");
  if (!file.ok()) return file.status();
  ASSIGN_OR_RETURN(const int64_t size, file->Size());
  auto reader = std::unique_ptr<SegmentReader>(new SegmentReader(*std::move(file), size, std::move(shape)));

  const std::string expected = HeaderOf(reader->shape_);
  std::string header(expected.size(), '\0');
  RETURN_IF_ERROR(reader->Read(std::as_writable_bytes(std::span(header))));
  if (header != expected) return absl::FailedPreconditionError("records were imported under another schema");
  return reader;
}

absl::StatusOr<const RowBlock*> SegmentReader::Next() {
  if (left_ == 0) return nullptr;
  uint64_t rows = 0;
  RETURN_IF_ERROR(Read(std::as_writable_bytes(std::span(&rows, 1))));
  if (rows == 0 || rows > BlockRows(shape_)) return DamagedSegment();
  block_.rows = rows;
  for (size_t i = 0; i < block_.codes.size(); ++i) {
    block_.codes[i].resize(rows * dp::BytesOf(dp::WidthFor(shape_.sizes[i])));
    RETURN_IF_ERROR(Read(block_.codes[i]));
  }
  block_.groups.resize(HasGroups(shape_) ? rows : 0);
  RETURN_IF_ERROR(Read(std::as_writable_bytes(std::span(block_.groups))));
  return &block_;
}

absl::Status SegmentReader::Finish(std::string_view digest) {
  return left_ == 0 && digest_.Finish() == digest ? absl::OkStatus() : DamagedSegment();
}

absl::Status SegmentReader::Read(std::span<std::byte> bytes) {
  if (static_cast<int64_t>(bytes.size()) > left_) return DamagedSegment();
  RETURN_IF_ERROR(file_.Read(bytes));
  left_ -= static_cast<int64_t>(bytes.size());
  digest_.Add(bytes);
  return absl::OkStatus();
}

}  // namespace curator::records
