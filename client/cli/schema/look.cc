#include "client/cli/schema/look.h"

#include <string_view>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "client/cli/schema/column_look.h"
#include "dp/domain/numbers.h"

namespace curator::cli {
namespace {

class LooksAtRows final : public records::CsvSink {
 public:
  LooksAtRows(size_t columns, LookFor what)
      : columns_(columns, ColumnLook(what == LookFor::kDomain ? ColumnLook::Texts::kKept
                                                              : ColumnLook::Texts::kNotKept)) {}

  absl::Status TakeHeader(const std::vector<std::string>& columns) override {
    if (columns.size() == columns_.size()) return absl::OkStatus();
    return absl::AbortedError("the file changed while it was read");
  }
  void TakeField(size_t column, std::string_view text) override {
    columns_[column].Add(dp::TrimBlanks(text));
  }
  absl::Status TakeRow(int64_t /*line*/) override { return absl::OkStatus(); }

  const ColumnLook& column(size_t i) const { return columns_[i]; }

 private:
  std::vector<ColumnLook> columns_;
};

}  // namespace

absl::StatusOr<Look> LookAt(const std::string& path, const CsvHeader& header, const SchemaFile& unfilled,
                            LookFor what, absl::Time now) {
  LooksAtRows rows(header.columns.size(), what);
  ASSIGN_OR_RETURN(const std::string hash, ReadCsvRows(path, header.separator, rows));
  Look look{.file = unfilled, .notes = {}};
  int next = 0;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    if (header.columns[i].empty()) continue;
    v1::Attribute& attribute = *look.file.schema.mutable_attributes(next++);
    std::string note = rows.column(i).ProposeKind(attribute);
    if (what == LookFor::kDomain) {
      const std::string more = rows.column(i).ProposeDomain(attribute);
      absl::StrAppend(&note, note.empty() || more.empty() ? "" : "; ", more);
    }
    if (!note.empty()) look.notes.push_back(absl::StrCat(attribute.name(), ": ", note));
  }
  v1::OwnerLook& own = look.file.looks.emplace_back();
  own.set_content_hash(hash);
  own.mutable_time()->set_seconds(absl::ToUnixSeconds(now));
  own.set_accepted_domain(what == LookFor::kDomain);
  look.file.schema.set_domain_from_records(what == LookFor::kDomain);
  return look;
}

}  // namespace curator::cli
