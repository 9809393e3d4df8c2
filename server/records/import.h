// One CSV file on its way into a dataset: bytes are pushed as they arrive, all of its records are taken or
// none.
//
// Memory is bounded whatever is pushed. CSV is as in RFC 4180, with a header line: quoted fields, LF or CRLF,
// blanks around unquoted fields do not count, blank lines are skipped, a byte order mark is skipped; UTF-8
// passes through.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "dp/domain/domain.h"
#include "records/import_report.h"

namespace curator::records {

enum class Compression { kNone, kGzip };

// What becomes of a row with a value outside the domain where there is no catch-all, or without an id where
// the unit needs one, or without a group where records are nested. The response of nested records is no such
// value as long as it is a number: it counts as the nearest bin, a map of each record by itself, and the
// report says how many there were.
enum class OutsideDomain {
  kRejectRow,   // it is left out, counted and reported
  kFailImport,  // the import fails: where the number of records is public, no row may be dropped
};

// The rows of one part of a partitioned dataset: those whose attribute falls into one of these bins. Any
// other row lies outside the domain.
struct PartRows {
  std::string part;  // its name, for messages
  std::string
      dataset;  // the id of the whole dataset: a person's or group's id means the same in all parts of it
  uint32_t attribute = 0;
  std::vector<int64_t> bins;  // ascending
};

struct ImportOptions {
  Compression compression = Compression::kNone;
  OutsideDomain outside_domain = OutsideDomain::kRejectRow;
  std::optional<PartRows> only = std::nullopt;
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
  // ALREADY_EXISTS when the request id is taken by other bytes; FAILED_PRECONDITION when the dataset has been
  // sealed meanwhile.
  virtual absl::StatusOr<ImportReport> Finish() = 0;
};

// Reads a file as an import would, and keeps nothing. That no group is too large is not checked: it rests on
// the imports before.
std::unique_ptr<RecordImport> CheckRecords(const dp::Schema& schema, const ImportOptions& options);

}  // namespace curator::records
