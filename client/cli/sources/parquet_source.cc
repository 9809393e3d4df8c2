#include "client/cli/sources/parquet_source.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <fstream>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status_macros.h"
#include "client/cli/sources/confined_duckdb.h"
#include "client/cli/sources/duckdb_library.h"
#include "client/cli/sources/row_condition.h"

namespace curator::cli {
namespace {

constexpr std::string_view kMagic = "PAR1";

// Of DuckDB's types, those that are a text, a number, a time or a truth: the others are not cells of a table.
struct ParquetType {
  int type;
  CellType cell;
};
constexpr ParquetType kTypes[] = {
    {1, CellType::kBoolean}, {2, CellType::kText},    {3, CellType::kText},     {4, CellType::kText},
    {5, CellType::kText},    {6, CellType::kText},    {7, CellType::kText},     {8, CellType::kText},
    {9, CellType::kText},    {10, CellType::kNumber}, {11, CellType::kNumber},  {12, CellType::kText},
    {13, CellType::kText},   {14, CellType::kText},   {16, CellType::kText},    {17, CellType::kText},
    {19, CellType::kNumber}, {20, CellType::kText},   {21, CellType::kText},    {22, CellType::kText},
    {23, CellType::kText},   {27, CellType::kText},   {31, CellType::kInstant}, {32, CellType::kText},
};

std::optional<CellType> CellTypeOfParquet(int type) {
  const auto* const found = std::find_if(std::begin(kTypes), std::end(kTypes),
                                         [type](const ParquetType& known) { return known.type == type; });
  if (found == std::end(kTypes)) return std::nullopt;
  return found->cell;
}

// The library's messages contain values of the file, so they are not repeated.
absl::Status NotReadable(const std::string& path) {
  return absl::InvalidArgumentError(
      absl::StrCat(path, " cannot be read as Parquet: it is damaged, encrypted, or of another kind"));
}

// An open file, under a name without characters that mean something in a pattern of names.
class OpenFile {
 public:
  explicit OpenFile(const std::string& path) : descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~OpenFile() {
    if (descriptor_ >= 0) close(descriptor_);
  }
  OpenFile(const OpenFile&) = delete;
  OpenFile& operator=(const OpenFile&) = delete;

  bool is_open() const { return descriptor_ >= 0; }
  bool IsRegular() const {
    struct stat facts;
    return fstat(descriptor_, &facts) == 0 && S_ISREG(facts.st_mode);
  }
  std::string name() const { return absl::StrCat("/proc/self/fd/", descriptor_); }

 private:
  const int descriptor_;
};

class ParquetSource final : public CsvSource {
 public:
  ParquetSource(std::string path, std::shared_ptr<const duckdb::Library> library)
      : path_(std::move(path)), library_(std::move(library)), file_(path_) {}
  ~ParquetSource() override {
    if (has_rows_) library_->destroy_result(&rows_);
  }
  ParquetSource(const ParquetSource&) = delete;
  ParquetSource& operator=(const ParquetSource&) = delete;

  absl::Status Open(const CsvForm& form) {
    if (!file_.is_open()) return absl::ErrnoToStatus(errno, path_);
    if (!file_.IsRegular()) return absl::FailedPreconditionError(absl::StrCat(path_, " is no regular file"));
    ASSIGN_OR_RETURN(connection_, duckdb::ConfinedConnection::Open(library_, file_.name()));
    return Begin(form);
  }

  absl::StatusOr<std::string> NextLines() override {
    while (lines_->size() == 0 && !is_at_end_) {
      duckdb::Chunk chunk = library_->fetch_chunk(rows_);
      if (chunk == nullptr) {
        const char* const error = library_->result_error(&rows_);
        if (error != nullptr && *error != '\0') return NotReadable(path_);
        is_at_end_ = true;
        continue;
      }
      Append(chunk);
      library_->destroy_data_chunk(&chunk);
    }
    return lines_->Take();
  }

 private:
  std::string From() const {
    return absl::StrCat(" FROM read_parquet('", file_.name(), "', hive_partitioning = false)");
  }

  // Runs a statement, whose rows come as they are fetched.
  absl::StatusOr<duckdb::Result> Stream(const std::string& statement) {
    duckdb::Statement prepared = nullptr;
    duckdb::Pending pending = nullptr;
    duckdb::Result result = {};
    bool has_result = false;
    const bool is_done =
        library_->prepare(connection_->handle(), statement.c_str(), &prepared) == duckdb::kSuccess &&
        library_->pending_prepared_streaming(prepared, &pending) == duckdb::kSuccess &&
        (has_result = true, library_->execute_pending(pending, &result) == duckdb::kSuccess);
    library_->destroy_pending(&pending);
    library_->destroy_prepare(&prepared);
    if (is_done) return result;
    if (has_result) library_->destroy_result(&result);
    return NotReadable(path_);
  }

  absl::Status Begin(const CsvForm& form) {
    ASSIGN_OR_RETURN(duckdb::Result facts, Stream(absl::StrCat("SELECT *", From(), " LIMIT 0")));
    std::vector<std::string> names;
    std::vector<CellType> types;
    std::vector<std::string> cells;
    std::string other;  // a column that is wanted and has no cells
    for (uint64_t column = 0; column < library_->column_count(&facts); ++column) {
      const std::string name = library_->column_name(&facts, column);
      const std::optional<CellType> type = CellTypeOfParquet(library_->column_type(&facts, column));
      if (type.has_value()) {
        names.push_back(name);
        types.push_back(*type);
        cells.push_back(absl::StrCat("CAST(", QuotedName(name), " AS VARCHAR)"));
      } else if (std::find(form.columns.begin(), form.columns.end(), name) != form.columns.end()) {
        other = name;
      }
    }
    library_->destroy_result(&facts);
    if (!other.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path_, ": the column ", other, " has lists, records or bytes, not single values"));
    }
    if (names.empty()) return absl::InvalidArgumentError(absl::StrCat(path_, ": the file has no columns"));
    ASSIGN_OR_RETURN(rows_, Stream(absl::StrCat("SELECT ", absl::StrJoin(cells, ", "), From())));
    has_rows_ = true;
    lines_.emplace(form, names, types);
    return absl::OkStatus();
  }

  void Append(duckdb::Chunk chunk) {
    struct Column {
      const duckdb::Text* texts;
      const uint64_t* validity;  // a bit for each row; none: no value is missing
    };
    std::vector<Column> columns;
    for (uint64_t column = 0; column < library_->column_count(&rows_); ++column) {
      const duckdb::Vector vector = library_->data_chunk_get_vector(chunk, column);
      columns.push_back({static_cast<const duckdb::Text*>(library_->vector_get_data(vector)),
                         library_->vector_get_validity(vector)});
    }
    const uint64_t rows = library_->data_chunk_get_size(chunk);
    constexpr size_t kInlined = sizeof(duckdb::Text{}.inlined.text);
    for (uint64_t row = 0; row < rows; ++row) {
      for (const Column& column : columns) {
        const bool is_missing =
            column.validity != nullptr && ((column.validity[row / 64] >> (row % 64)) & 1) == 0;
        if (is_missing) {
          lines_->AppendNull();
          continue;
        }
        const duckdb::Text& text = column.texts[row];
        const uint32_t length = text.inlined.length;
        lines_->AppendCell({length <= kInlined ? text.inlined.text : text.elsewhere.pointer, length});
      }
    }
  }

  const std::string path_;
  const std::shared_ptr<const duckdb::Library> library_;
  const OpenFile file_;
  std::unique_ptr<duckdb::ConfinedConnection> connection_;
  duckdb::Result rows_ = {};
  bool has_rows_ = false;
  std::optional<CsvLines> lines_;
  bool is_at_end_ = false;
};

}  // namespace

bool IsParquet(const std::string& path) {
  if (path.ends_with(".parquet")) return true;
  // What is read of a pipe here is not there when the import reads it.
  struct stat facts = {};
  if (stat(path.c_str(), &facts) != 0 || !S_ISREG(facts.st_mode)) return false;
  std::ifstream file(path, std::ios::binary);
  std::array<char, kMagic.size()> begin = {};
  file.read(begin.data(), begin.size());
  return file && std::string_view(begin.data(), begin.size()) == kMagic;
}

absl::StatusOr<std::unique_ptr<CsvSource>> OpenParquet(const std::string& path, const CsvForm& form) {
  ASSIGN_OR_RETURN(std::shared_ptr<const duckdb::Library> library, duckdb::Library::Load());
  auto source = std::make_unique<ParquetSource>(path, std::move(library));
  RETURN_IF_ERROR(source->Open(form));
  return source;
}

}  // namespace curator::cli
