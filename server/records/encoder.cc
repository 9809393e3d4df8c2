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

// What rejects rows, in the order in which a report lists it.
std::vector<std::string> ReportedNames(const dp::Schema& schema) {
  std::vector<std::string> names;
  for (const dp::Attribute& attribute : schema.domain.attributes()) names.push_back(attribute.name());
  for (const dp::Measure& measure : schema.domain.measures()) names.push_back(measure.name());
  names.push_back(dp::IdColumnOf(schema).value_or(""));
  for (size_t i = 0; i < schema.domain.constraints().size(); ++i)
    names.push_back(absl::StrCat("constraints[", i, "]"));
  return names;
}

// The columns that a file must have, in the order in which an error lists them.
std::vector<std::string> NeededColumns(const dp::Schema& schema) {
  std::vector<std::string> needed;
  std::unordered_set<std::string_view> seen;
  const auto need = [&](const std::string& column) {
    if (seen.insert(column).second) needed.push_back(column);
  };
  for (const dp::Attribute& attribute : schema.domain.attributes()) need(attribute.column());
  for (const dp::Measure& measure : schema.domain.measures()) need(measure.column());
  if (const std::optional<std::string> id = dp::IdColumnOf(schema)) need(*id);
  return needed;
}

}  // namespace

RecordEncoder::RecordEncoder(const dp::Schema& schema, const ImportOptions& options, RowSink sink)
    : schema_(schema),
      outside_domain_(options.outside_domain),
      only_(options.only),
      sink_(std::move(sink)),
      names_(ReportedNames(schema)),
      codes_(schema.domain.size() + schema.domain.measures().size()),
      cells_clipped_(schema.domain.measures().size()),
      rejections_(names_) {
  for (const dp::Constraint& constraint : schema_.domain.constraints())
    why_forbidden_.push_back(dp::WhyForbidden(constraint, schema_.domain.attributes()));
}

absl::Status RecordEncoder::TakeHeader(const std::vector<std::string>& columns) {
  std::unordered_map<std::string, Roles> wanted;
  for (size_t i = 0; i < schema_.domain.size(); ++i)
    wanted[schema_.domain.attributes()[i].column()].attribute = static_cast<uint32_t>(i);
  for (size_t i = 0; i < schema_.domain.measures().size(); ++i)
    wanted[schema_.domain.measures()[i].column()].measure = static_cast<uint32_t>(i);
  if (const std::optional<std::string> id = dp::IdColumnOf(schema_)) wanted[*id].is_id = true;

  std::unordered_map<std::string, size_t> seen;
  for (size_t i = 0; i < columns.size(); ++i) {
    const std::string name(dp::TrimBlanks(columns[i]));
    const auto [first, is_new] = seen.emplace(name, i);
    if (!is_new && !name.empty()) {
      return CsvError(1, absl::StrCat("the header names \"", name, "\" twice, as columns ", first->second + 1,
                                      " and ", i + 1));
    }
    const auto roles = wanted.find(name);
    roles_.push_back(roles == wanted.end() ? Roles() : roles->second);
    if (roles == wanted.end()) report_.ignored_columns.push_back(name);
  }

  std::vector<std::string> missing;
  for (const std::string& column : NeededColumns(schema_)) {
    if (!seen.contains(column)) missing.push_back(column);
  }
  if (missing.empty()) return absl::OkStatus();
  return InvalidField("csv",
                      absl::StrCat("the header lacks ", missing.size() == 1 ? "the column " : "the columns ",
                                   Quoted(missing)));
}

std::string RecordEncoder::AdviceOn(std::string_view header) const {
  const std::vector<std::string> needed = NeededColumns(schema_);
  for (const char other : {';', '\t', '|', ','}) {
    if (other == schema_.separator) continue;
    const TakesNames names = NamesIn(header, other);
    if (!std::ranges::all_of(needed, [&names](const std::string& column) { return names.Has(column); }))
      continue;
    const std::string text = other == '\t' ? "\\t" : std::string(1, other);
    return absl::StrCat("; the header has the columns when it is split at ",
                        other == '\t' ? "tabs" : absl::StrCat("\"", text, "\""),
                        ": write \"format\": {\"separator\": \"", text, "\"} in the schema");
  }
  return "";
}

void RecordEncoder::TakeField(size_t column, std::string_view text) {
  const Roles& roles = roles_[column];
  const size_t before = faults_.size();
  if (roles.is_id) {
    id_ = dp::TrimBlanks(text);
    if (id_.empty()) faults_.push_back({codes_.size(), "is empty"});
  }
  if (roles.attribute) TakeAttribute(*roles.attribute, text);
  if (roles.measure) TakeMeasure(*roles.measure, text, before);
}

void RecordEncoder::TakeAttribute(uint32_t attribute, std::string_view text) {
  const std::optional<uint32_t> code = CodeOf(attribute, text);
  if (!code) {
    faults_.push_back({attribute, schema_.domain.attributes()[attribute].WhyOutside(text)});
    return;
  }
  codes_[attribute] = *code;
  const bool is_elsewhere = only_ && only_->attribute == attribute &&
                            !std::binary_search(only_->bins.begin(), only_->bins.end(), int64_t{*code});
  if (is_elsewhere)
    faults_.push_back({attribute, absl::StrCat("does not lie in the part \"", only_->part, "\"")});
}

void RecordEncoder::TakeMeasure(uint32_t measure, std::string_view text, size_t before) {
  const dp::Measure& declared = schema_.domain.measures()[measure];
  const size_t column = schema_.domain.size() + measure;
  const std::optional<dp::Measure::Encoded> encoded = declared.Encode(text);
  if (encoded) {
    codes_[column] = encoded->code;
    if (encoded->is_clipped) clipped_.push_back(measure);
    return;
  }
  // The attribute of this name may have rejected the same cell: a row counts once in a column.
  const bool is_counted = std::ranges::any_of(std::span(faults_).subspan(before), [&](const Fault& other) {
    return NameOf(other.column) == declared.name();
  });
  if (!is_counted) faults_.push_back({column, declared.WhyOutside(text)});
}

std::optional<uint32_t> RecordEncoder::CodeOf(uint32_t attribute, std::string_view text) {
  const dp::Attribute& declared = schema_.domain.attributes()[attribute];
  std::optional<uint32_t> code = declared.Encode(text);
  if (code || !schema_.nesting || schema_.nesting->response != attribute) return code;
  code = declared.EncodeClamped(text);
  if (code) ++responses_clamped_;
  return code;
}

// Neighbours: tables that differ in one row. Sensitivity: a row is accepted or rejected by its own codes and
// public facts, so one row changes the presence of itself alone. Claim: docs/PRIVACY.md#constraints.
void RecordEncoder::CheckConstraints() {
  const std::vector<dp::Constraint>& constraints = schema_.domain.constraints();
  for (size_t i = 0; i < constraints.size(); ++i) {
    const auto [first, second] = constraints[i].attributes();
    if (!constraints[i].Forbids(codes_[first], codes_[second])) continue;
    faults_.push_back({codes_.size() + 1 + i, why_forbidden_[i]});
  }
}

absl::Status RecordEncoder::TakeRow(int64_t line) {
  ++report_.rows_read;
  const int64_t clamped = std::exchange(responses_clamped_, 0);
  const std::vector<uint32_t> clipped = std::exchange(clipped_, {});
  if (faults_.empty()) CheckConstraints();
  if (!faults_.empty()) return RefuseRow(line);
  for (const uint32_t measure : clipped) ++cells_clipped_[measure];
  ++report_.rows_accepted;
  report_.responses_clamped += clamped;
  return sink_(codes_, id_);
}

ImportReport RecordEncoder::report() const {
  ImportReport report = report_;
  report.rejections = rejections_.List();
  for (size_t i = 0; i < cells_clipped_.size(); ++i) {
    if (cells_clipped_[i] > 0)
      report.cells_clipped.emplace(schema_.domain.measures()[i].name(), cells_clipped_[i]);
  }
  return report;
}

const std::string& RecordEncoder::NameOf(size_t column) const {
  return names_[column];
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
