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
                            .responses_clamped = 1};
  return {.imports = {{"second", "c1", "s1", report}, {"first", "c2", "s2", {1, 1, 0, {}, {}}}}};
}

TEST(Manifest, ComesBackAsItWasInItsOrder) {
  const ScratchFolder folder;
  ASSERT_TRUE(WriteManifest(folder / "manifest", TwoImports()).ok());
  const Manifest manifest = ReadManifest(folder / "manifest").value();
  EXPECT_EQ(manifest.imports, TwoImports().imports);
  EXPECT_EQ(manifest.RowsAccepted(), 4);
  EXPECT_EQ(manifest.Find("first")->content_digest, "c2");
  EXPECT_EQ(manifest.Find("third"), nullptr);
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
  EXPECT_EQ(manifest->imports, (std::vector<ImportEntry>{{"first", "c2", "s2", {2, 1, 1, {}, {}}}}));
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
