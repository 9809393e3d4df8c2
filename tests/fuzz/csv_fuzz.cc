// Records on their way in: the first byte says whether the rest is gzip, what becomes of rows outside the
// domain, whether records lie in groups or belong to people, or else with which separator a messy table is
// read. In whatever pieces a file comes, it is the same file.
#include <map>

#include "records/import.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messy_table.h"

namespace curator::fuzz {
namespace {

dp::Domain Pupils() {
  return dp::Domain::Create({dp::Attribute::Create("sex", dp::CategoricalKind{{"F", "M"}, "?"}).value(),
                             dp::Attribute::Create("age", dp::IntegerKind{0, 99, 10}).value(),
                             dp::Attribute::Create("score", dp::NumericKind{{-1, 0, 0.5, 1e9}}).value(),
                             dp::Attribute::Create("zone", dp::CodedKind{300}).value()})
      .value();
}

const dp::Schema& SchemaOf(unsigned char choice) {
  static const std::vector<dp::Schema> messy = {MessySchema(','), MessySchema(';'), MessySchema('\t'),
                                                MessySchema('|')};
  if ((choice & 8) != 0) return messy[choice >> 4 & 3];
  static const dp::Schema nested =
      dp::CreateSchema(Pupils(), dp::RecordUnit{}, dp::Nesting{"school", 2, 50}).value();
  static const dp::Schema people = dp::CreateSchema(Pupils(), dp::PersonUnit{"pid", 3}).value();
  return (choice & 4) != 0 ? nested : people;
}

absl::StatusOr<records::ImportReport> Read(const dp::Schema& schema, std::string_view file,
                                           const records::ImportOptions& options, size_t piece) {
  const std::unique_ptr<records::RecordImport> import = records::CheckRecords(schema, options);
  for (; !file.empty(); file.remove_prefix(std::min(piece, file.size()))) {
    if (const absl::Status status = import->Append(file.substr(0, piece)); !status.ok()) return status;
  }
  return import->Finish();
}

// A row counts once at most in each column, and each rejected row counts in one.
void CheckRejections(const records::ImportReport& report, std::string_view input) {
  std::map<std::string, int64_t> by_column;
  int64_t all = 0;
  for (const records::Rejection& rejection : report.rejections) {
    by_column[rejection.attribute] += rejection.rows;
    all += rejection.rows;
    if (rejection.reason.empty() || rejection.lines.empty() || std::ssize(rejection.lines) > rejection.rows)
      Broken("a rejection has a reason, and the lines of some of its rows", input);
  }
  for (const auto& [column, rows] : by_column) {
    if (rows > report.rows_rejected) Broken("a column rejects a row once", input);
  }
  if (all < report.rows_rejected) Broken("each rejected row is rejected by a column", input);
  for (const auto& [measure, cells] : report.cells_clipped) {
    if (cells < 1 || cells > report.rows_accepted) Broken("a measure clips a cell of accepted rows", input);
  }
}

std::string MessyFile(char choice, char separator) {
  std::string file =
      "pid;sex;size;Pay (EUR);years;zone;born;last seen\n"
      "1;WOMAN;S;1.234,5;1'234;12;31.3.2019;2019-03-31 12:00\n"
      "2; m ;none;-0,25;99'999;999;12/2020;2020-1-2 3:4:5\n"
      "3;?;XL;NA;;1 0;2019-03-31T23:30:00Z;2030-01-01\n"
      "\"4\";\"Male\";\"L\";\"5\";\"7\";\"299\";\"2015-01-01\";\"2024-12-31T23:59:59+02:00\"\n";
  for (char& c : file) {
    if (c == ',' && separator == ',') c = '0';  // a decimal comma would end the cell
    if (c == ';') c = separator;
  }
  return choice + file;
}

}  // namespace

std::vector<std::string> Seeds() {
  using std::string_literals::operator""s;
  const std::string table = "pid,school,sex,age,score,zone\n1,a,F,30,0.2,7\n2,a,M,99,-0.5,299\n";
  // "pid,school,sex,age,score,zone\n1,a,F,30,0.2,7\n" by gzip -9n.
  const std::string compressed =
      "\x1f\x8b\x08\x00\x00\x00\x00\x00\x02\x03\x2b\xc8\x4c\xd1\x29\x4e\xce\xc8\xcf\xcf\xd1\x29\x4e\xad\xd0"
      "\x49"
      "\x4c\x4f\xd5\x29\x4e\xce\x2f\x4a\xd5\xa9\xca\xcf\x4b\xe5\x32\xd4\x49\xd4\x71\xd3\x31\x36\xd0\x31\xd0"
      "\x33"
      "\xd2\x31\xe7\x02\x00"s;
  return {
      "\0"s + table,
      "\2"s + table + "3,b,X,?,nan,300\n",
      "\0"s + "zone;sex\n",
      "\0\xef\xbb\xbfpid, school ,sex,age,score,zone,note\r\n1,\"a \"\"b\"\"\nc\", F ,3, 1e3,0,\"\"\r\n\r\n"s,
      "\0pid,school,sex,age,score,zone\r\"1\",\"a\",\"F\",\"30\",\"0.2\",\"7\"\r"s,
      "\4"s + table,
      MessyFile('\x08', ','),
      MessyFile('\x18', ';'),
      MessyFile('\x28', '\t'),
      MessyFile('\x3a', '|'),
      "\1"s + compressed};
}

bool Try(std::string_view input) {
  if (input.empty()) return false;
  const auto choice = static_cast<unsigned char>(input[0]);
  records::ImportOptions options;
  if ((choice & 1) != 0) options.compression = records::Compression::kGzip;
  if ((choice & 2) != 0) options.outside_domain = records::OutsideDomain::kFailImport;
  const dp::Schema& schema = SchemaOf(choice);
  const std::string_view file = input.substr(1);
  const absl::StatusOr<records::ImportReport> whole = Read(schema, file, options, file.size());
  for (const size_t piece : {size_t{1}, size_t{7}}) {
    const absl::StatusOr<records::ImportReport> again = Read(schema, file, options, piece);
    if (again.status() != whole.status()) Broken("a file in pieces has the same error", input);
    if (whole.ok() && *again != *whole) Broken("a file in pieces has the same records", input);
  }
  if (!whole.ok()) return false;
  if (whole->rows_accepted + whole->rows_rejected != whole->rows_read)
    Broken("every row is accepted or rejected", input);
  CheckRejections(*whole, input);
  return whole->rows_read > 0;
}

}  // namespace curator::fuzz
