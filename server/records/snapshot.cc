#include "records/snapshot.h"

#include <algorithm>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"
#include "base/status_macros.h"
#include "dp/data/sealed_table.h"
#include "records/files.h"

namespace curator::records {
namespace {

constexpr char kSnapshotTag[] = "curator.snapshot";
constexpr int64_t kSnapshotVersion = 1;
constexpr size_t kSnapshotPieceBytes = size_t{1} << 20;

// Stored after its length, 8 bytes.
struct Header {
  std::vector<int64_t> sizes;
  int64_t records = 0;
  int64_t records_dropped = 0;
  dp::RowOwner owner = dp::RowOwner::kItself;
};

constexpr uint64_t kMaxHeaderBytes = (dp::kMaxAttributes + 16) * 8;

absl::Status DamagedSnapshot() {
  return absl::DataLossError("a sealed dataset is damaged");
}

// Permanent: they are in stored files.
constexpr dp::RowOwner kOwners[] = {dp::RowOwner::kItself, dp::RowOwner::kUnit, dp::RowOwner::kItselfInGroup};

std::string BytesOf(const Header& header) {
  CanonicalWriter writer(kSnapshotTag, kSnapshotVersion);
  writer.Integer(static_cast<int64_t>(header.sizes.size()));
  for (const int64_t size : header.sizes) writer.Integer(size);
  writer.Integer(header.records);
  writer.Integer(header.records_dropped);
  writer.Integer(std::ranges::find(kOwners, header.owner) - std::begin(kOwners));
  return std::move(writer).Take();
}

absl::StatusOr<Header> HeaderFrom(std::string_view bytes) {
  CanonicalReader reader(bytes, kSnapshotTag, kSnapshotVersion);
  Header header;
  for (int64_t left = reader.Count(); left > 0; --left) {
    header.sizes.push_back(reader.Integer());
    if (header.sizes.back() < 1 || header.sizes.back() > dp::kMaxAttributeSize) reader.Refuse();
  }
  header.records = reader.Integer();
  header.records_dropped = reader.Integer();
  const auto owner = static_cast<uint64_t>(reader.Integer());
  if (owner < std::size(kOwners)) {
    header.owner = kOwners[owner];
  } else {
    reader.Refuse();
  }
  if (header.records < 0 || header.records > dp::kMaxRows || header.records_dropped < 0) reader.Refuse();
  if (!reader.Finish().ok() || BytesOf(header) != bytes) return DamagedSnapshot();
  return header;
}

// The lengths of the columns and of the numbers of units or groups in the file.
int64_t ContentBytes(const Header& header) {
  int64_t row_bytes = header.owner == dp::RowOwner::kItself ? 0 : sizeof(uint32_t);
  for (const int64_t size : header.sizes) row_bytes += static_cast<int64_t>(dp::BytesOf(dp::WidthFor(size)));
  return row_bytes * header.records;
}

class DigestingWriter {
 public:
  explicit DigestingWriter(PendingFile& file) : file_(file) {}
  absl::Status Write(std::span<const std::byte> bytes) {
    digest_.Add(bytes);
    return file_.Write(bytes);
  }
  std::string Finish() { return digest_.Finish(); }

 private:
  PendingFile& file_;
  Digest digest_;
};

class DigestingReader {
 public:
  explicit DigestingReader(File& file) : file_(file) {}
  absl::Status Read(std::span<std::byte> bytes) {
    RETURN_IF_ERROR(file_.Read(bytes));
    digest_.Add(bytes);
    return absl::OkStatus();
  }
  std::string Finish() { return digest_.Finish(); }

 private:
  File& file_;
  Digest digest_;
};

// Reads the header and checks that the file has the length that the header implies.
absl::StatusOr<Header> ReadHeader(File& file, DigestingReader& reader) {
  ASSIGN_OR_RETURN(const int64_t file_bytes, file.Size());
  uint64_t header_bytes = 0;
  RETURN_IF_ERROR(reader.Read(std::as_writable_bytes(std::span(&header_bytes, 1))));
  if (header_bytes > kMaxHeaderBytes) return DamagedSnapshot();
  std::string bytes(header_bytes, '\0');
  RETURN_IF_ERROR(reader.Read(std::as_writable_bytes(std::span(bytes))));
  ASSIGN_OR_RETURN(Header header, HeaderFrom(bytes));
  const int64_t expected =
      static_cast<int64_t>(sizeof(header_bytes) + header_bytes + kDigestBytes) + ContentBytes(header);
  if (file_bytes != expected) return DamagedSnapshot();
  return header;
}

absl::StatusOr<std::string> ReadStoredDigest(File& file) {
  std::string digest(kDigestBytes, '\0');
  RETURN_IF_ERROR(file.Read(std::as_writable_bytes(std::span(digest))));
  return digest;
}

absl::StatusOr<dp::CodedColumns> ReadColumns(const Header& header, DigestingReader& reader,
                                             const std::stop_token& stop) {
  dp::CodedColumns columns(header.sizes);
  std::vector<std::byte> piece;
  for (size_t i = 0; i < header.sizes.size(); ++i) {
    size_t left = static_cast<size_t>(header.records) * dp::BytesOf(columns.width(i));
    columns.Reserve(i, left);
    while (left > 0) {
      if (stop.stop_requested()) return absl::CancelledError("a table was not read to its end");
      piece.resize(std::min(left, kSnapshotPieceBytes));
      RETURN_IF_ERROR(reader.Read(piece));
      columns.AppendCodes(i, piece);
      left -= piece.size();
    }
  }
  return columns;
}

// The content of a snapshot, verified by its digest.
struct Content {
  SnapshotFacts facts;
  dp::RowOwner owner = dp::RowOwner::kItself;
  dp::CodedColumns columns;
  std::vector<uint32_t> group_of_row;
};

absl::StatusOr<Content> ReadContent(const std::filesystem::path& path, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(File file, File::OpenForReading(path));
  DigestingReader reader(file);
  ASSIGN_OR_RETURN(const Header header, ReadHeader(file, reader));
  ASSIGN_OR_RETURN(dp::CodedColumns columns, ReadColumns(header, reader, stop));
  std::vector<uint32_t> group_of_row(
      header.owner == dp::RowOwner::kItself ? 0 : static_cast<size_t>(header.records));
  RETURN_IF_ERROR(reader.Read(std::as_writable_bytes(std::span(group_of_row))));
  ASSIGN_OR_RETURN(std::string stored_digest, ReadStoredDigest(file));
  if (reader.Finish() != stored_digest || columns.rows() != header.records) return DamagedSnapshot();
  return Content{.facts = {.records = header.records,
                           .records_dropped = header.records_dropped,
                           .digest = std::move(stored_digest)},
                 .owner = header.owner,
                 .columns = std::move(columns),
                 .group_of_row = std::move(group_of_row)};
}

}  // namespace

absl::StatusOr<SnapshotFacts> WriteSnapshot(const std::filesystem::path& path, const CombinedRecords& records,
                                            const SnapshotCheck& check) {
  const Header header{.sizes = records.columns.sizes(),
                      .records = records.columns.rows(),
                      .records_dropped = records.records_dropped,
                      .owner = records.owner};
  ASSIGN_OR_RETURN(const std::unique_ptr<PendingFile> file, PendingFile::Create(path));
  DigestingWriter writer(*file);
  const std::string header_text = BytesOf(header);
  const uint64_t header_bytes = header_text.size();
  RETURN_IF_ERROR(writer.Write(std::as_bytes(std::span(&header_bytes, 1))));
  RETURN_IF_ERROR(writer.Write(std::as_bytes(std::span(header_text))));
  for (size_t i = 0; i < records.columns.columns(); ++i)
    RETURN_IF_ERROR(writer.Write(records.columns.codes(i)));
  RETURN_IF_ERROR(writer.Write(std::as_bytes(std::span(records.group_of_row))));

  SnapshotFacts facts{
      .records = header.records, .records_dropped = header.records_dropped, .digest = writer.Finish()};
  RETURN_IF_ERROR(file->Write(facts.digest));
  if (check) RETURN_IF_ERROR(check(facts));
  RETURN_IF_ERROR(file->Commit());
  return facts;
}

absl::StatusOr<SnapshotFacts> ReadSnapshotFacts(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(File file, File::OpenForReading(path));
  DigestingReader reader(file);
  ASSIGN_OR_RETURN(const Header header, ReadHeader(file, reader));
  RETURN_IF_ERROR(file.Skip(ContentBytes(header)));
  ASSIGN_OR_RETURN(std::string digest, ReadStoredDigest(file));
  return SnapshotFacts{
      .records = header.records, .records_dropped = header.records_dropped, .digest = std::move(digest)};
}

absl::StatusOr<Snapshot> ReadSnapshot(const std::filesystem::path& path, const std::stop_token& stop) {
  ASSIGN_OR_RETURN(Content content, ReadContent(path, stop));
  dp::SealedTableBuilder builder(content.columns.sizes(), content.owner);
  builder.SetColumns(std::move(content.columns), std::move(content.group_of_row));
  absl::StatusOr<dp::SealedTableHandle> table = std::move(builder).Build();
  if (absl::IsInvalidArgument(table.status())) return DamagedSnapshot();
  if (!table.ok()) return table.status();
  return Snapshot{.facts = std::move(content.facts), .table = *std::move(table)};
}

absl::StatusOr<PublicSnapshot> ReadPublicSnapshot(const std::filesystem::path& path) {
  ASSIGN_OR_RETURN(Content content, ReadContent(path, {}));
  absl::StatusOr<dp::PublicTable> table = dp::PublicTable::Create(std::move(content.columns));
  if (!table.ok()) return DamagedSnapshot();
  return PublicSnapshot{.facts = std::move(content.facts),
                        .table = std::make_shared<const dp::PublicTable>(*std::move(table))};
}

}  // namespace curator::records
