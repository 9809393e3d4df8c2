#include "records/encoder.h"

#include <algorithm>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::records {
namespace {

constexpr int32_t kIgnored = -1;
constexpr int32_t kId = -2;

constexpr size_t kMaxNamed = 10;  // columns named in one message

std::string Quoted(const std::vector<std::string>& names) {
  std::vector<std::string> quoted;
  for (size_t i = 0; i < std::min(names.size(), kMaxNamed); ++i)
    quoted.push_back(absl::StrCat("\"", names[i], "\""));
  std::string list = absl::StrJoin(quoted, ", ");
  if (names.size() > kMaxNamed) absl::StrAppend(&list, " and ", names.size() - kMaxNamed, " more");
  return list;
}

// The names in a header, and nothing of the rows.
class TakesNames final : public CsvSink {
 public:
  absl::Status TakeHeader(const std::vector<std::string>& columns) override {
    for (const std::string& column : columns) names_.emplace(dp::TrimBlanks(column));
    return absl::CancelledError();
  }
  void TakeField(size_t /*column*/, std::string_view /*text*/) override {}
  absl::Status TakeRow(int64_t /*line*/) override { return absl::OkStatus(); }

  bool Has(const std::string& name) const { return names_.contains(name); }

 private:
  std::unordered_set<std::string> names_;
};

TakesNames NamesIn(std::string_view header, char separator) {
  TakesNames names;
  CsvReader reader(names, separator);
  // It ends with an error: of the names, or because the header is not of this form and has none.
  reader.Append(header).IgnoreError();
  reader.Finish().IgnoreError();
  return names;
}

// In the order in which a report lists them.
std::vector<std::string> ReportedColumns(const dp::Schema& schema) {
  std::vector<std::string> names;
  for (const dp::Attribute& attribute : schema.domain.attributes()) names.push_back(attribute.name());
  names.push_back(dp::IdColumnOf(schema).value_or(""));
  return names;
}

}  // namespace

RecordEncoder::RecordEncoder(const dp::Schema& schema, const ImportOptions& options, RowSink sink)
    : schema_(schema),
      outside_domain_(options.outside_domain),
      only_(options.only),
      sink_(std::move(sink)),
      id_column_(dp::IdColumnOf(schema)),
      codes_(schema.domain.size()),
      rejections_(ReportedColumns(schema)) {}

absl::Status RecordEncoder::TakeHeader(const std::vector<std::string>& columns) {
  std::unordered_map<std::string, int32_t> wanted;
  for (size_t i = 0; i < schema_.domain.size(); ++i) {
    wanted.emplace(schema_.domain.attributes()[i].column(), static_cast<int32_t>(i));
  }
  if (id_column_) wanted.emplace(*id_column_, kId);

  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name(dp::TrimBlanks(columns[i]));
    const auto [first, is_new] = seen.emplace(name, i);
    if (!is_new && !name.empty()) {
      return CsvError(1, absl::StrCat("the header names \"", name, "\" twice, as columns ", first->second + 1,
                                      " and ", i + 1));
    }
    const auto role = wanted.find(name);
    role_of_column_.push_back(role == wanted.end() ? kIgnored : role->second);
    if (role == wanted.end()) report_.ignored_columns.push_back(name);
  }

  std::vector<std::string> missing;
  for (const dp::Attribute& attribute : schema_.domain.attributes()) {
    if (!seen.contains(attribute.column())) missing.push_back(attribute.column());
  }
  if (id_column_ && !seen.contains(*id_column_)) missing.push_back(*id_column_);
  if (missing.empty()) return absl::OkStatus();
  return InvalidField("csv",
                      absl::StrCat("the header lacks ", missing.size() == 1 ? "the column " : "the columns ",
                                   Quoted(missing)));
}

std::string RecordEncoder::AdviceOn(std::string_view header) const {
  for (const char other : {';', '\t', '|', ','}) {
    if (other == schema_.separator) continue;
    const TakesNames names = NamesIn(header, other);
    const bool has_all =
        std::ranges::all_of(schema_.domain.attributes(),
                            [&names](const dp::Attribute& each) { return names.Has(each.column()); }) &&
        (!id_column_ || names.Has(*id_column_));
    if (!has_all) continue;
    const std::string text = other == '\t' ? "\\t" : std::string(1, other);
    return absl::StrCat("; the header has the columns when it is split at ",
                        other == '\t' ? "tabs" : absl::StrCat("\"", text, "\""),
                        ": write \"format\": {\"separator\": \"", text, "\"} in the schema");
  }
  return "";
}

void RecordEncoder::TakeField(size_t column, std::string_view text) {
  const int32_t role = role_of_column_[column];
  if (role == kIgnored) return;
  if (role == kId) {
    id_ = dp::TrimBlanks(text);
    if (id_.empty()) faults_.push_back({codes_.size(), "is empty"});
    return;
  }
  const auto index = static_cast<size_t>(role);
  const std::optional<uint32_t> code = CodeOf(static_cast<uint32_t>(role), text);
  if (!code) {
    faults_.push_back({index, schema_.domain.attributes()[index].WhyOutside(text)});
    return;
  }
  codes_[index] = *code;
  const bool is_elsewhere = only_ && only_->attribute == static_cast<uint32_t>(role) &&
                            !std::binary_search(only_->bins.begin(), only_->bins.end(), int64_t{*code});
  if (is_elsewhere)
    faults_.push_back({index, absl::StrCat("does not lie in the part \"", only_->part, "\"")});
}

std::optional<uint32_t> RecordEncoder::CodeOf(uint32_t attribute, std::string_view text) {
  const dp::Attribute& declared = schema_.domain.attributes()[attribute];
  std::optional<uint32_t> code = declared.Encode(text);
  if (code || !schema_.nesting || schema_.nesting->response != attribute) return code;
  code = declared.EncodeClamped(text);
  if (code) ++responses_clamped_;
  return code;
}

absl::Status RecordEncoder::TakeRow(int64_t line) {
  ++report_.rows_read;
  const int64_t clamped = std::exchange(responses_clamped_, 0);
  if (!faults_.empty()) return RefuseRow(line);
  ++report_.rows_accepted;
  report_.responses_clamped += clamped;
  return sink_(codes_, id_);
}

ImportReport RecordEncoder::report() const {
  ImportReport report = report_;
  report.rejections = rejections_.List();
  return report;
}

const std::string& RecordEncoder::NameOf(size_t column) const {
  return column < schema_.domain.size() ? schema_.domain.attributes()[column].name() : *id_column_;
}

absl::Status RecordEncoder::RefuseRow(int64_t line) {
  const Fault& first = faults_.front();
  if (outside_domain_ == OutsideDomain::kFailImport) {
    return CsvError(line, absl::StrCat("\"", NameOf(first.column), "\" ", first.reason,
                                       "; this dataset drops no row, so the whole file is refused"));
  }
  ++report_.rows_rejected;
  if (report_.examples.size() < kMaxExamples) {
    report_.examples.push_back({.line = line, .attribute = NameOf(first.column), .reason = first.reason});
  }
  for (const Fault& fault : faults_) rejections_.Add(fault.column, fault.reason, line);
  faults_.clear();
  return absl::OkStatus();
}

}  // namespace curator::records
