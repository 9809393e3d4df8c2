// Encodes the rows of a CSV file as codes, according to a schema.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/status/status.h"
#include "dp/domain/domain.h"
#include "records/csv_reader.h"
#include "records/import.h"
#include "records/rejections.h"

namespace curator::records {

// Receives each accepted row: a code for each attribute, then for each measure, and the text of the id column
// (dp::IdColumnOf(schema); empty where the schema has none).
using RowSink = std::function<absl::Status(std::span<const uint32_t> codes, std::string_view id)>;

// Finds the schema's columns in the header, ignores the others, and accepts or rejects each row. Not
// thread-safe.
class RecordEncoder final : public CsvSink {
 public:
  RecordEncoder(const dp::Schema& schema, const ImportOptions& options, RowSink sink);

  // INVALID_ARGUMENT (field "csv") when columns are missing or a name appears twice, naming them.
  absl::Status TakeHeader(const std::vector<std::string>& columns) override;
  void TakeField(size_t column, std::string_view text) override;
  absl::Status TakeRow(int64_t line) override;
  // What to write into the schema where another separator divides the header into columns that have all that
  // the schema reads; else nothing.
  std::string AdviceOn(std::string_view header) const override;

  int64_t rows_accepted() const { return report_.rows_accepted; }
  // Of the rows so far.
  ImportReport report() const;

 private:
  // What a column of the file is read for: an attribute, a measure, both, the ids, or nothing.
  struct Roles {
    std::optional<uint32_t> attribute;
    std::optional<uint32_t> measure;
    bool is_id = false;
  };
  // A cell or a constraint for which the row is rejected. Columns are numbered as those of tables, then
  // follow the id column and the constraints.
  struct Fault {
    size_t column = 0;
    std::string reason;
  };

  void TakeAttribute(uint32_t attribute, std::string_view text);
  // The first `before` faults of the row are of other cells.
  void TakeMeasure(uint32_t measure, std::string_view text, size_t before);
  std::optional<uint32_t> CodeOf(uint32_t attribute, std::string_view text);
  // Of a row all of whose cells have codes.
  void CheckConstraints();
  const std::string& NameOf(size_t column) const;
  absl::Status RefuseRow(int64_t line);

  const dp::Schema schema_;
  const OutsideDomain outside_domain_;
  const std::optional<PartRows> only_;
  const RowSink sink_;
  const std::vector<std::string> names_;    // of what rejects rows, in the order of reports
  std::vector<std::string> why_forbidden_;  // by each constraint

  std::vector<Roles> roles_;  // of each column of the file

  // The current row.
  std::vector<uint32_t> codes_;
  std::string id_;
  std::vector<Fault> faults_;      // in it, from left to right
  int64_t responses_clamped_ = 0;  // in it
  std::vector<uint32_t> clipped_;  // in it: measures

  ImportReport report_;                 // without what the next two say
  std::vector<int64_t> cells_clipped_;  // of each measure
  RejectionCounts rejections_;
};

}  // namespace curator::records
