#include "client/cli/schema/template.h"

#include "absl/strings/str_cat.h"
#include "base/status_macros.h"
#include "dp/domain/attribute.h"

namespace curator::cli {
namespace {

constexpr char kGuide[] =
    R"(//
// Everything in this file is public: all who may ask about the dataset see it. Fill it in from what is known
// without the records: a questionnaire, a code book, a law. A range or a list of values that was found in the
// records says something about the people in them, which the guarantee does not cover.
//
// For each attribute delete the // before the line of its kind, and what you do not need. A question mark
// stands for what you write. Delete the attributes that nobody asks about: their columns are then ignored.
// The same in questions and answers: curator schema edit THIS-FILE
//
// The kinds, by example:
//   "categorical": {"values": ["none", "low", "high"], "catchAll": "other", "ordered": true}
//       Texts, a bin each. Other texts, and empty cells, are counted in the bin of "catchAll"; without it
//       their rows are rejected. "ordered" is for values that are listed in their order.
//   "integer": {"min": 0, "max": 119, "binWidth": 10}        the bins [0, 10), [10, 20), ... [110, 119]
//   "numeric": {"min": 0, "max": 5000, "step": 250}          bins of even width
//   "numeric": {"edges": [0, 0.5, 10, 100]}                  or the bins [0, 0.5), [0.5, 10), [10, 100]
//   "date": {"from": "2019-01-01", "to": "2024-12-31", "bins": "MONTH", "timeZone": "Europe/Berlin"}
//       "bins" are DAY, WEEK, MONTH, QUARTER or YEAR; or, instead of all three, "edges": ["2019-01-01", ...]
//   "coded": {"size": 7}                                     the codes 0 to 6
// Rows with values outside of the range are rejected. Fewer bins have smaller errors.
//
// Beside the kind:
//   "missing": {"bin": "missing"}
//       Cells such as "", "?", "NA" and "NULL" are counted in one more bin; with "missing": {} their rows are
//       rejected as missing. Other cells for missing values: {"tokens": ["", "-9"], "bin": "missing"}
//   "reading": {"column": "Age", "foldCase": true, "synonyms": [{"value": "Male", "texts": ["m", "M."]}]}
//       The name in the file's header where it is another one, upper and lower case alike, other spellings.
//   "reading": {"decimalSign": ",", "thousandsSeparator": "."}
//   "reading": {"dateFormats": ["DD.MM.YYYY"]}               beside 2019-03-31 and 2019-03-31T12:30:00
//
// Beside the attributes, measures: numbers that sums, means and variances are taken of. A column may be both.
//   {"name": "income", "low": 0, "high": 200000, "resolution": 100}
//       A number below or above the bounds is set to the nearest bound, and each is rounded to the nearest
//       multiple of the resolution, so both are multiples of it. Narrow bounds have smaller errors, and clip
//       more numbers. "missing": {} says that cells may be missing: they are then in no sum; "reading" as above.
//
// And constraints between two attributes: combinations of bins that no record has, from what is known without
// the records. Rows that break one are rejected.
//   {"order": {"lower": "start", "upper": "end"}}            start <= end; with "strict": true, start < end
//   {"allowedPairs": {"attributes": ["city", "state"], "pairs": [{"values": ["Bonn", "NW"]}, ...]}}
)";

constexpr char kNoRecordWasRead[] = "its header alone: no record was read.\n";
constexpr char kKindsFromRecords[] =
    "its header and a look at its records, which are private. From the\n"
    "// records come the kinds and the ways of writing (\"reading\"); no range, category or bin does. The "
    "file's\n"
    "// SHA-256 and the time of the look are written into the dataset's history when it is created with this "
    "file.\n";
constexpr char kDomainFromRecords[] =
    "its records, which are private: ranges, categories and bins were found\n"
    "// in them. Everybody who sees this schema learns these values, and no guarantee covers what they say "
    "about\n"
    "// people. The dataset carries \"domainFromRecords\" for ever: each estimate, answer and receipt shows "
    "it.\n";

// What follows the name of an attribute without a kind.
constexpr char kEveryKind[] = R"(
     // , "categorical": {"values": [?], "catchAll": ?}
     // , "integer": {"min": ?, "max": ?, "binWidth": ?}
     // , "numeric": {"min": ?, "max": ?, "step": ?}
     // , "date": {"from": ?, "to": ?, "bins": ?}
     // , "missing": {"bin": "missing"}
    )";

// What an attribute lacks that has a kind and nothing else.
const char* WhatToWrite(const v1::Attribute& attribute) {
  switch (attribute.kind_case()) {
    case v1::Attribute::kCategorical:
      return R"(write {"values": [?], "catchAll": ?})";
    case v1::Attribute::kInteger:
      return R"(write {"min": ?, "max": ?, "binWidth": ?})";
    case v1::Attribute::kNumeric:
      return R"(write {"min": ?, "max": ?, "step": ?}, or {"edges": [?]})";
    case v1::Attribute::kDate:
      return R"(write {"from": ?, "to": ?, "bins": ?})";
    case v1::Attribute::kCoded:
      return R"(write {"size": ?})";
    case v1::Attribute::KIND_NOT_SET:
      break;
  }
  return "";
}

std::string AttributeText(const v1::Attribute& attribute, bool is_last) {
  const char* const comma = is_last ? "" : ",";
  std::string json = JsonOf(attribute);
  if (attribute.kind_case() == v1::Attribute::KIND_NOT_SET) {
    json.pop_back();
    return absl::StrCat("    ", json, kEveryKind, "}", comma, "\n");
  }
  if (WhatIsUnfilled(attribute).empty()) return absl::StrCat("    ", json, comma, "\n");
  return absl::StrCat("    // ", WhatToWrite(attribute),
                      "; beside it , \"missing\": {\"bin\": \"missing\"}\n    ", json, comma, "\n");
}

const char* OriginOf(const SchemaFile& file) {
  if (file.looks.empty()) return kNoRecordWasRead;
  return file.schema.domain_from_records() ? kDomainFromRecords : kKindsFromRecords;
}

// A name may have any character but those that end a line.
std::string InComment(std::string text) {
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return text;
}

}  // namespace

absl::StatusOr<SchemaFile> UnfilledSchema(const CsvHeader& header, const std::string& path) {
  SchemaFile file;
  for (size_t i = 0; i < header.columns.size(); ++i) {
    const std::string& column = header.columns[i];
    if (column.empty()) continue;
    const absl::Status named = dp::Attribute::Create(column, dp::CodedKind{1}).status();
    if (!named.ok()) {
      return absl::InvalidArgumentError(
          absl::StrCat(path, ": the name of column ", i + 1, " cannot be an attribute's: ", named.message()));
    }
    file.schema.add_attributes()->set_name(column);
  }
  if (file.schema.attributes().empty())
    return absl::InvalidArgumentError(absl::StrCat(path, ": no column has a name"));
  if (header.separator != ',') file.schema.mutable_format()->set_separator(std::string(1, header.separator));
  return file;
}

std::string TemplateText(const SchemaFile& file, const std::string& path) {
  const v1::Schema& schema = file.schema;
  std::string text = absl::StrCat("// A template of a schema for ", InComment(path), ", made from ",
                                  OriginOf(file), kGuide, "{\n  \"attributes\": [\n");
  for (int i = 0; i < schema.attributes_size(); ++i)
    absl::StrAppend(&text, AttributeText(schema.attributes(i), i + 1 == schema.attributes_size()));
  absl::StrAppend(&text, R"(  ],

  // "measures": [{"name": ?, "low": ?, "high": ?, "resolution": ?}],
  // "constraints": [{"order": {"lower": ?, "upper": ?}}],

  // Whom the guarantee protects: one record. Where a person may have several, it is not enough; write
  //   "unit": {"person": {"idColumn": "pid", "maxRecords": 3}}
  // with the column that identifies persons and the most records that are kept of each. That column is no
  // attribute: delete it above.
  "unit": {"record": {}})");
  if (schema.has_format()) {
    absl::StrAppend(&text, ",\n  \"format\": {\"separator\": ", JsonOf(schema.format().separator()), "}");
  }
  if (schema.domain_from_records()) absl::StrAppend(&text, ",\n  \"domainFromRecords\": true");
  for (size_t i = 0; i < file.looks.size(); ++i)
    absl::StrAppend(&text, i == 0 ? ",\n  \"looks\": [" : ", ", JsonOf(file.looks[i]));
  absl::StrAppend(&text, file.looks.empty() ? "" : "]", "\n}\n");
  return text;
}

}  // namespace curator::cli
