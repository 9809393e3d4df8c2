#include "records/csv_reader.h"

#include <csv.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/errors.h"
#include "base/status_macros.h"
#include "dp/domain/numbers.h"

namespace curator::records {
namespace {

constexpr std::string_view kUtf8Mark = "\xEF\xBB\xBF";
constexpr size_t kPieceBytes = size_t{1} << 16;  // how far a field may grow before its length is looked at

// What the first bytes say about a file that is not UTF-8 text; empty if nothing.
std::string_view WrongKind(std::string_view start) {
  if (start.starts_with("\x1F\x8B")) return "is compressed with gzip, but was not announced as such";
  if (start.starts_with("\xFF\xFE") || start.starts_with("\xFE\xFF")) return "is UTF-16; UTF-8 is expected";
  return {};
}

}  // namespace

absl::Status CsvError(int64_t line, std::string_view what) {
  return InvalidField("csv", absl::StrCat("line ", line, ": ", std::string(what)));
}

class CsvReader::Parser {
 public:
  Parser(CsvSink& sink, char separator) : sink_(sink), separator_(separator) {
    csv_init(&state_, CSV_STRICT | CSV_STRICT_FINI | CSV_REPALL_NL);
    csv_set_delim(&state_, static_cast<unsigned char>(separator));
    csv_set_blk_size(&state_, 4096);
  }
  ~Parser() { csv_free(&state_); }
  Parser(const Parser&) = delete;
  Parser& operator=(const Parser&) = delete;

  absl::Status Append(std::string_view bytes) {
    if (!start_is_known_) {
      const size_t taken = std::min(bytes.size(), kUtf8Mark.size() - start_.size());
      start_.append(bytes.substr(0, taken));
      bytes.remove_prefix(taken);
      if (start_.size() < kUtf8Mark.size()) return status_;
      ParseStart();
    }
    while (!bytes.empty() && status_.ok()) {
      const size_t piece = std::min(bytes.size(), kPieceBytes);
      Parse(bytes.substr(0, piece));
      bytes.remove_prefix(piece);
    }
    return status_;
  }

  absl::Status Finish() {
    if (!start_is_known_) ParseStart();
    if (status_.ok() && csv_fini(&state_, &OnField, &OnRowEnd, this) != 0) {
      Fail(LineOfRow(), "a quote is not closed");
    }
    if (status_.ok() && !has_header_) status_ = InvalidField("csv", "is empty: there is no header line");
    return status_;
  }

 private:
  void ParseStart() {
    start_is_known_ = true;
    std::string_view start = start_;
    if (const std::string_view wrong = WrongKind(start); !wrong.empty()) {
      status_ = InvalidField("csv", wrong);
      return;
    }
    if (start == kUtf8Mark) start = {};
    Parse(start);
  }

  void Parse(std::string_view bytes) {
    const size_t nul = bytes.find('\0');
    for (std::string_view text = bytes.substr(0, nul); !text.empty() && status_.ok();) {
      const std::string_view line = text.substr(0, std::min(text.find('\n'), text.size() - 1) + 1);
      text.remove_prefix(line.size());
      if (!has_header_) header_text_ += line.substr(0, kMaxHeaderBytes - header_text_.size());
      if (at_line_start_ && IsPlain(line)) {
        ParsePlainLine(line);
      } else {
        ParseAnything(line);
      }
    }
    if (nul != std::string_view::npos) Fail(line_, "contains a NUL byte; is the file text?");
    if (state_.entry_pos > kMaxFieldBytes) FailLongField();
  }

  // A quoted name in a header that is divided otherwise ends before the end of the field.
  std::string WordsOfAQuote() const {
    constexpr char kWords[] = "a quote stands inside a field; quoted fields begin and end with one";
    if (has_header_) return kWords;
    return absl::StrCat(kWords, ", and fields are divided at ",
                        separator_ == '\t' ? "tabs" : absl::StrCat("\"", std::string(1, separator_), "\""),
                        sink_.AdviceOn(header_text_));
  }
  absl::Status WithAdvice(const absl::Status& status) const {
    const std::optional<FieldViolation> violation = FieldViolationOf(status);
    if (!violation) return status;
    return InvalidField(violation->field, absl::StrCat(violation->description, sink_.AdviceOn(header_text_)));
  }

  // `text` has at most one line feed, its last byte.
  void ParseAnything(std::string_view text) {
    at_line_start_ = false;
    if (csv_parse(&state_, text.data(), text.size(), &OnField, &OnRowEnd, this) != text.size()) {
      Fail(line_, csv_error(&state_) == CSV_EPARSE ? WordsOfAQuote() : "there is no memory for a field");
    }
  }

  // The fast path for complete lines without quotes that end in LF or CRLF. libcsv would find the same
  // fields, one byte at a time.
  static bool IsPlain(std::string_view line) {
    return line.ends_with('\n') && line.find('"') == std::string_view::npos &&
           line.find('\r') >= line.size() - std::min<size_t>(line.size(), 2);
  }

  void ParsePlainLine(std::string_view line) {
    line.remove_suffix(1);
    const bool has_carriage_return = line.ends_with('\r');
    if (has_carriage_return) line.remove_suffix(1);
    if (!dp::TrimBlanks(line).empty() || line.find(separator_) != std::string_view::npos) {
      size_t begin = 0;
      for (size_t end = 0; (end = line.find(separator_, begin)) != std::string_view::npos; begin = end + 1)
        TakeField(dp::TrimBlanks(line.substr(begin, end - begin)));
      TakeField(dp::TrimBlanks(line.substr(begin)));
    }
    if (has_carriage_return) EndLine(CSV_CR);
    EndLine(CSV_LF);
  }

  static void OnField(void* text, size_t length, void* self) {
    static_cast<Parser*>(self)->TakeField({static_cast<const char*>(text), length});
  }
  static void OnRowEnd(int terminator, void* self) { static_cast<Parser*>(self)->EndLine(terminator); }

  void TakeField(std::string_view text) {
    if (!status_.ok()) return;
    if (fields_ == 0) row_line_ = line_;
    after_carriage_return_ = false;
    if (text.find('\n') != std::string_view::npos) line_ += std::count(text.begin(), text.end(), '\n');
    if (text.size() > kMaxFieldBytes) return FailLongField();
    if (!has_header_) return TakeHeaderField(text);
    if (fields_ < columns_) sink_.TakeField(fields_, text);
    ++fields_;
  }

  void TakeHeaderField(std::string_view text) {
    header_bytes_ += text.size();
    if (fields_ == kMaxColumns)
      return Fail(row_line_, absl::StrCat("there are more than ", kMaxColumns, " columns"));
    if (header_bytes_ > kMaxHeaderBytes) {
      return Fail(row_line_, absl::StrCat("the header is longer than ", kMaxHeaderBytes, " bytes"));
    }
    header_.emplace_back(text);
    ++fields_;
  }

  void EndLine(int terminator) {
    if (!status_.ok()) return;
    if (fields_ > 0) EndRow();
    fields_ = 0;
    // CR LF is one line's end.
    if (!(terminator == CSV_LF && after_carriage_return_)) ++line_;
    after_carriage_return_ = terminator == CSV_CR;
    at_line_start_ = terminator == CSV_LF;
    if (line_ > kMaxLines) Fail(line_, "there are too many lines");
  }

  void EndRow() {
    if (!has_header_) {
      has_header_ = true;
      columns_ = fields_;
      Note(WithAdvice(sink_.TakeHeader(header_)));
      header_ = {};
      header_text_ = {};
    } else if (fields_ != columns_) {
      Fail(row_line_, absl::StrCat("has ", fields_, fields_ == 1 ? " field" : " fields",
                                   " where the header has ", columns_));
    } else {
      Note(sink_.TakeRow(row_line_));
    }
  }

  // The line where the current row begins, also before its first field is complete.
  int64_t LineOfRow() const { return fields_ == 0 ? line_ : row_line_; }

  void FailLongField() {
    Fail(LineOfRow(),
         absl::StrCat("a field is longer than ", kMaxFieldBytes, " bytes; is a quote not closed?"));
  }
  void Fail(int64_t line, std::string_view what) { Note(CsvError(line, what)); }
  void Note(const absl::Status& status) {
    if (status_.ok()) status_ = status;
  }

  CsvSink& sink_;
  const char separator_;
  csv_parser state_;
  absl::Status status_;

  std::string start_;  // the first bytes, until they identify the kind of file
  bool start_is_known_ = false;

  bool has_header_ = false;
  std::vector<std::string> header_;
  std::string header_text_;  // the first kMaxHeaderBytes at most, until the header is known
  size_t header_bytes_ = 0;
  size_t columns_ = 0;

  size_t fields_ = 0;  // of the row at hand, so far
  int64_t line_ = 1;
  int64_t row_line_ = 1;
  bool after_carriage_return_ = false;
  bool at_line_start_ = true;  // and libcsv has seen no byte of the line
};

CsvReader::CsvReader(CsvSink& sink, char separator) : parser_(std::make_unique<Parser>(sink, separator)) {}
CsvReader::~CsvReader() = default;
absl::Status CsvReader::Append(std::string_view bytes) {
  return parser_->Append(bytes);
}
absl::Status CsvReader::Finish() {
  return parser_->Finish();
}

}  // namespace curator::records
