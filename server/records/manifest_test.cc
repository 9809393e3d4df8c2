#include "records/manifest.h"

#include <gtest/gtest.h>

#include <string>

#include "records/testing/stored_datasets.h"

namespace curator::records {
namespace {

using testing::ContentOf;
using testing::Overwrite;
using testing::ScratchFolder;

Manifest TwoImports() {
  const ImportReport report{.rows_read = 5,
                            .rows_accepted = 3,
                            .rows_rejected = 2,
                            .examples = {{4, "age", "is empty"}},
                            .ignored_columns = {"note"},
                            .responses_clamped = 1,
                            .rejections = {{"age", "is empty", 2, {4, 5}}, {"sex", "is missing", 1, {5}}}};
  return {.imports = {{"second", "c1", "s1", report, RecordSource::kQuery, 17, 2},
                      {"first", "c2", "s2", {1, 1, 0, {}, {}}, RecordSource::kTable, 17, 5}},
          .undone = {{"third", "c3", 6}, {"zeroth", "c0", 1}}};
}

TEST(Manifest, ComesBackAsItWasInItsOrder) {
  const ScratchFolder folder;
  ASSERT_TRUE(WriteManifest(folder / "manifest", TwoImports()).ok());
  const Manifest manifest = ReadManifest(folder / "manifest").value();
  EXPECT_EQ(manifest.imports, TwoImports().imports);
  EXPECT_EQ(manifest.undone, TwoImports().undone);
  EXPECT_EQ(manifest.NextSequence(), 7) << "no number is used again";
  EXPECT_EQ(manifest.RowsAccepted(), 4);
  EXPECT_EQ(manifest.Find("first")->content_digest, "c2");
  EXPECT_EQ(manifest.Find("third"), nullptr);
}

TEST(Manifest, SaysHowManyCellsWereClippedInItsFourthVersion) {
  const ScratchFolder folder;
  Manifest manifest = TwoImports();
  const auto version = [&] {
    EXPECT_TRUE(WriteManifest(folder / "manifest", manifest).ok());
    const std::string written = ContentOf(folder / "manifest");
    int64_t tried = 1;
    while (!CanonicalReader(written, "curator.imports", tried).ok()) ++tried;
    return tried;
  };
  EXPECT_EQ(version(), 3)
      << "without clipped cells its bytes are those of servers before there were measures";
  manifest.imports[0].report.cells_clipped = {{"hours", 1}, {"income", 70}};
  EXPECT_EQ(version(), 4);
  EXPECT_EQ(ReadManifest(folder / "manifest").value().imports, manifest.imports);
}

TEST(Manifest, IsEmptyBeforeTheFirstImport) {
  const ScratchFolder folder;
  EXPECT_TRUE(ReadManifest(folder / "manifest").value().imports.empty());
}

// As servers wrote it before there were responses to clamp.
TEST(Manifest, IsReadInItsFirstVersionToo) {
  const ScratchFolder folder;
  CanonicalWriter writer("curator.imports", 1);
  writer.Integer(1);
  for (const char* text : {"first", "c2", "s2"}) writer.Text(text);
  for (const int64_t number : {2, 1, 1, 0, 0})
    writer.Integer(number);  // neither examples nor ignored columns
  const std::string document = std::move(writer).Take();
  Overwrite(folder / "manifest", document + Sha256(document));
  const absl::StatusOr<Manifest> manifest = ReadManifest(folder / "manifest");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  EXPECT_EQ(manifest->imports,
            (std::vector<ImportEntry>{{"first", "c2", "s2", {2, 1, 1, {}, {}}, RecordSource::kFile, 0, 1}}));
}

// As servers wrote it before imports could be undone.
TEST(Manifest, IsReadInItsSecondVersionToo) {
  const ScratchFolder folder;
  CanonicalWriter writer("curator.imports", 2);
  writer.Integer(2);
  for (const char* id : {"first", "second"}) {
    for (const char* text : {id, "c2", "s2"}) writer.Text(text);
    for (const int64_t number : {2, 1, 1, 0, 0, 3}) writer.Integer(number);
  }
  const std::string document = std::move(writer).Take();
  Overwrite(folder / "manifest", document + Sha256(document));
  const absl::StatusOr<Manifest> manifest = ReadManifest(folder / "manifest");
  ASSERT_TRUE(manifest.ok()) << manifest.status();
  const ImportReport report{.rows_read = 2, .rows_accepted = 1, .rows_rejected = 1, .responses_clamped = 3};
  EXPECT_EQ(manifest->imports,
            (std::vector<ImportEntry>{{"first", "c2", "s2", report, RecordSource::kFile, 0, 1},
                                      {"second", "c2", "s2", report, RecordSource::kFile, 0, 2}}));
  EXPECT_TRUE(manifest->undone.empty());
}

TEST(Manifest, ThatWouldBeTooLongIsNotWritten) {
  const ScratchFolder folder;
  const Manifest manifest = TwoImports();
  EXPECT_EQ(WriteManifest(folder / "manifest", manifest, 100).code(), absl::StatusCode::kFailedPrecondition);
  EXPECT_FALSE(std::filesystem::exists(folder / "manifest"));
  ASSERT_TRUE(WriteManifest(folder / "manifest", manifest).ok());
  const auto size = static_cast<int64_t>(std::filesystem::file_size(folder / "manifest"));
  EXPECT_TRUE(WriteManifest(folder / "manifest", manifest, size).ok());
  EXPECT_FALSE(WriteManifest(folder / "manifest", manifest, size - 1).ok());
}

TEST(Manifest, AnyChangedByteIsNoticed) {
  const ScratchFolder folder;
  const auto path = folder / "manifest";
  ASSERT_TRUE(WriteManifest(path, TwoImports()).ok());
  const std::string written = ContentOf(path);
  for (size_t i = 0; i < written.size(); ++i) {
    std::string changed = written;
    changed[i] = static_cast<char>(changed[i] ^ 1);
    Overwrite(path, changed);
    ASSERT_EQ(ReadManifest(path).status().code(), absl::StatusCode::kDataLoss) << i;
  }
  Overwrite(path, "");
  EXPECT_EQ(ReadManifest(path).status().code(), absl::StatusCode::kDataLoss);
}

}  // namespace
}  // namespace curator::records
