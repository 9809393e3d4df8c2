// The import of one CSV file into a dataset, and its report. Bytes are pushed as they arrive; either all of
// the file's records are imported or none.
//
// Memory is bounded, independent of the bytes that are pushed. CSV is as in RFC 4180, with a header line:
// quoted fields, LF or CRLF, blanks around unquoted fields do not count, blank lines are skipped, a byte
// order mark is skipped; UTF-8 passes through.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"

namespace curator::records {

// The report of an import goes to the owner only, because every number in it depends on the records. It is
// never logged.
struct RejectedRow {
  int64_t line = 0;       // where the row begins; 1 is the header's line
  std::string attribute;  // or measure, or the id column, or a constraint: "constraints[0]"
  std::string reason;     // does not repeat the cell
  bool operator==(const RejectedRow&) const = default;
};

// How many rows one column rejects for one reason. A row counts in each column that rejects it, or, where
// none does, in each constraint that it breaks.
struct Rejection {
  std::string attribute;  // or measure, or the id column, or a constraint: "constraints[0]"
  std::string reason;     // does not repeat a cell
  int64_t rows = 0;
  std::vector<int64_t> lines;  // of the first of these rows, at most kMaxRejectionLines
  bool operator==(const Rejection&) const = default;
};

struct ImportReport {
  int64_t rows_read = 0;
  int64_t rows_accepted = 0;
  int64_t rows_rejected = 0;
  // The first rejected rows, at most kMaxExamples, each with the first reason against it.
  std::vector<RejectedRow> examples;
  std::vector<std::string> ignored_columns;  // of the file, in its order
  int64_t responses_clamped = 0;  // accepted, with the response of nested records beyond its bounds
  // The request id of the first earlier import of the same bytes into the same dataset or part, whose records
  // now count twice; empty if there is none. Only the owner imports, so that import was the caller's too.
  std::string same_file_as = {};
  // By column in the order of the schema: attributes, measures, the id column, constraints; then by reason.
  // At most kMaxRejections: those of the most rows.
  std::vector<Rejection> rejections = {};
  // By measure: cells of accepted rows whose number lay outside of its bounds. Without those that have none.
  std::map<std::string, int64_t> cells_clipped = {};
  bool operator==(const ImportReport&) const = default;
};

inline constexpr size_t kMaxExamples = 10;
inline constexpr size_t kMaxRejections = 1000;
inline constexpr size_t kMaxRejectionLines = 5;

// Where the rows of an import come from.
enum class RecordSource {
  kFile,   // rows have an order: of a unit with too many, the first are kept
  kTable,  // rows have none: a keyed hash of each row's own content chooses
  kQuery,  // as a table, but one row may depend on others
};

enum class Compression { kNone, kGzip };

// How to treat a row with a value outside the domain (and no catch-all), without the id that the unit needs,
// or without the group that nested records need. A numeric response of nested records never counts as
// outside: it is clamped to the nearest bin, record by record, and the report counts the clamped responses.
enum class OutsideDomain {
  kRejectRow,   // the row is dropped, counted and reported
  kFailImport,  // the import fails: for datasets whose number of records is public
};

// The rows of one part of a partitioned dataset: those whose attribute falls into one of these bins. Any
// other row lies outside the domain.
struct PartRows {
  std::string part;     // its name, for messages
  std::string dataset;  // id of the whole dataset, in whose parts equal ids are the same person or group
  uint32_t attribute = 0;
  std::vector<int64_t> bins;  // ascending
};

struct ImportOptions {
  Compression compression = Compression::kNone;
  OutsideDomain outside_domain = OutsideDomain::kRejectRow;
  std::optional<PartRows> only = std::nullopt;
  RecordSource source = RecordSource::kFile;
  // Import bytes that an earlier import has brought: their records count twice.
  bool accept_same_file = false;
  int64_t time_us = 0;  // of the import, since the epoch; 0: unknown
};

// Not thread-safe. Destroying it before a successful Finish() leaves nothing behind.
class RecordImport {
 public:
  virtual ~RecordImport() = default;

  // The next bytes of the file. After an error the import is lost, and every further call returns that error.
  // Errors: INVALID_ARGUMENT (field "csv") for malformed CSV or gzip, with the line; UNAVAILABLE when the
  // disk fails.
  virtual absl::Status Append(std::string_view bytes) = 0;

  // The file is complete. On return its records are durable. To be called once. Errors: as Append();
  // ALREADY_EXISTS when the request id is taken by other bytes or another source; FAILED_PRECONDITION when
  // the dataset has been sealed meanwhile, or its list of imports is too long; NeedsAcceptance("SAME_FILE")
  // when an earlier import has brought the same bytes and the options do not accept that.
  virtual absl::StatusOr<ImportReport> Finish() = 0;
};

// Reads a file as an import would, and stores nothing. Sizes of groups and equal files are not checked,
// because they depend on earlier imports.
std::unique_ptr<RecordImport> CheckRecords(const dp::Schema& schema, const ImportOptions& options);

}  // namespace curator::records
