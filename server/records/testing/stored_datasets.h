// Fixtures for tests of stored datasets: a scratch folder, a keyed hash, small schemas, gzip.
#pragma once

#include <gtest/gtest.h>
#include <zlib.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/canonical_bytes.h"
#include "dp/data/sealed_table.h"
#include "dp/domain/domain.h"
#include "records/dataset_store.h"
#include "tests/testing/scratch_folder.h"

namespace curator::records::testing {

using curator::testing::ScratchFolder;

inline std::string HashUnderTestKey(std::string_view bytes) {
  return Sha256("test key" + std::string(bytes));
}

inline std::unique_ptr<DatasetStore> OpenStore(const ScratchFolder& folder) {
  return DatasetStore::Open(folder.path(), HashUnderTestKey).value();
}

inline dp::Domain SexAgeDomain() {
  return dp::Domain::Create({dp::Attribute::Create("sex", dp::CategoricalKind{{"F", "M"}, "?"}).value(),
                             dp::Attribute::Create("age", dp::IntegerKind{0, 99, 10}).value()})
      .value();
}

inline dp::Schema SexAge(dp::PrivacyUnit unit = dp::RecordUnit{}) {
  return dp::CreateSchema(SexAgeDomain(), std::move(unit)).value();
}

inline std::string Gzipped(std::string_view text) {
  z_stream state = {};
  deflateInit2(&state, Z_BEST_COMPRESSION, Z_DEFLATED, MAX_WBITS + 16, 8, Z_DEFAULT_STRATEGY);
  std::string compressed(deflateBound(&state, static_cast<uLong>(text.size())) + 64, '\0');
  state.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  state.avail_in = static_cast<uInt>(text.size());
  state.next_out = reinterpret_cast<Bytef*>(compressed.data());
  state.avail_out = static_cast<uInt>(compressed.size());
  deflate(&state, Z_FINISH);
  compressed.erase(state.total_out);
  deflateEnd(&state);
  return compressed;
}

// Pushes a whole file in one piece.
inline absl::StatusOr<ImportReport> Push(RecordImport& import, std::string_view bytes) {
  if (absl::Status status = import.Append(bytes); !status.ok()) return status;
  return import.Finish();
}

inline absl::StatusOr<ImportReport> Import(DatasetStore& store, const dp::Schema& schema,
                                           const std::string& request_id, std::string_view csv,
                                           const ImportOptions& options = {}) {
  absl::StatusOr<std::unique_ptr<RecordImport>> import =
      store.BeginImport("people", schema, request_id, options);
  if (!import.ok()) return import.status();
  return Push(**import, csv);
}

// Publishes the tables that are not ready yet, and opens them as one.
inline absl::StatusOr<dp::SealedTableHandle> Open(DatasetStore& store, const std::vector<SealedId>& ids) {
  for (const SealedId& id : ids) {
    if (store.ready().IsReady(id)) continue;
    absl::StatusOr<LoadedTable> loaded = store.Load(id);
    if (!loaded.ok()) return loaded.status();
    store.ready().Publish(id, *std::move(loaded));
  }
  const absl::StatusOr<ReadyTable> ready = store.ready().Find(ids);
  if (!ready.ok()) return ready.status();
  return ready->Open();
}

using CodeRows = std::vector<std::vector<uint32_t>>;

inline CodeRows RowsOf(const dp::SealedTable& table) {
  const dp::ReadableScope readable(table);
  CodeRows rows;
  for (int64_t row = 0; row < table.rows(); ++row) {
    rows.emplace_back();
    for (const dp::ColumnView& column : readable.columns().columns) rows.back().push_back(column[row]);
  }
  return rows;
}

// Names of all files below a folder, but for locks, relative to it and sorted.
inline std::vector<std::string> FilesBelow(const std::filesystem::path& folder) {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && entry.path().filename() != "lock") {
      names.push_back(std::filesystem::relative(entry.path(), folder).string());
    }
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline std::string ContentOf(const std::filesystem::path& path) {
  std::ostringstream content;
  content << std::ifstream(path, std::ios::binary).rdbuf();
  return content.str();
}

inline void Overwrite(const std::filesystem::path& path, std::string_view content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace curator::records::testing
