#include "client/cli/sources/csv_source.h"

#include <algorithm>
#include <ios>
#include <streambuf>
#include <utility>

namespace curator::cli {

CsvForm CsvFormOf(const v1::Schema& schema) {
  CsvForm form;
  if (!schema.format().separator().empty()) form.separator = schema.format().separator().front();
  const auto add = [&form](const std::string& column) {
    if (column.empty()) return;
    if (std::find(form.columns.begin(), form.columns.end(), column) == form.columns.end()) {
      form.columns.push_back(column);
    }
  };
  add(schema.unit().person().id_column());
  add(schema.unit().group().id_column());
  add(schema.nesting().group_column());
  const auto add_read = [&](const std::string& name, const v1::Reading& reading) {
    const std::string& column = reading.column().empty() ? name : reading.column();
    add(column);
    if (reading.decimal_sign() == ",") form.decimal_commas.insert(column);
  };
  for (const v1::Attribute& attribute : schema.attributes()) add_read(attribute.name(), attribute.reading());
  for (const v1::Measure& measure : schema.measures()) add_read(measure.name(), measure.reading());
  return form;
}

CsvLines::CsvLines(const CsvForm& form, const std::vector<std::string>& columns, std::vector<CellType> types)
    : separator_(form.separator), must_be_quoted_(std::string("\"\r\n \t") + form.separator) {
  types_.assign(columns.size(), CellType::kText);
  for (const std::string& column : columns) {
    AppendCell(column);
    has_decimal_comma_.push_back(form.decimal_commas.contains(column));
  }
  types_ = std::move(types);
}

void CsvLines::AppendText(std::string_view text) {
  // An empty line is no row: where the only cell is empty, its quotes make it one.
  const bool is_whole_line = types_.size() == 1;
  if (text.find_first_of(must_be_quoted_) == std::string_view::npos && !(text.empty() && is_whole_line)) {
    lines_ += text;
    return;
  }
  lines_ += '"';
  for (const char c : text) {
    if (c == '"') lines_ += '"';
    lines_ += c;
  }
  lines_ += '"';
}

void CsvLines::AppendNumber(std::string_view text) {
  std::string number(text);
  if (has_decimal_comma_[column_]) std::replace(number.begin(), number.end(), '.', ',');
  AppendText(number);
}

void CsvLines::AppendCell(std::string_view text) {
  if (column_ > 0) lines_ += separator_;
  const CellType type = text.empty() ? CellType::kText : types_[column_];
  switch (type) {
    case CellType::kText:
      AppendText(text);
      break;
    case CellType::kNumber:
      AppendNumber(text);
      break;
    case CellType::kBoolean:
      AppendText(text.front() == 't' ? "true" : "false");
      break;
    case CellType::kInstant:
      AppendText(text.ends_with("+00") ? std::string(text) + ":00" : std::string(text));
      break;
  }
  if (++column_ < types_.size()) return;
  lines_ += '\n';
  column_ = 0;
}

std::string CsvLines::Take() {
  return std::exchange(lines_, std::string());
}

class CsvStream::Buffer : public std::streambuf {
 public:
  explicit Buffer(std::unique_ptr<CsvSource> source) : source_(std::move(source)) {}

  const absl::Status& status() const { return status_; }

 protected:
  int_type underflow() override {
    if (!status_.ok()) throw std::ios_base::failure("the source has failed");
    absl::StatusOr<std::string> next = source_->NextLines();
    if (!next.ok()) {
      // A stream turns the exception into its bad() state.
      status_ = next.status();
      throw std::ios_base::failure("the source has failed");
    }
    lines_ = *std::move(next);
    setg(lines_.data(), lines_.data(), lines_.data() + lines_.size());
    return lines_.empty() ? traits_type::eof() : traits_type::to_int_type(lines_.front());
  }

 private:
  const std::unique_ptr<CsvSource> source_;
  std::string lines_;
  absl::Status status_;
};

CsvStream::CsvStream(std::unique_ptr<CsvSource> source)
    : std::istream(nullptr), buffer_(std::make_unique<Buffer>(std::move(source))) {
  rdbuf(buffer_.get());
}

CsvStream::~CsvStream() = default;

const absl::Status& CsvStream::status() const {
  return buffer_->status();
}

}  // namespace curator::cli
