#include "client/cli/schema/column_look.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "absl/strings/str_cat.h"
#include "dp/domain/numbers.h"
#include "rpc/convert_attribute.h"

namespace curator::cli {
namespace {

using dp::NumberStyle;

// Of two ways in which as many cells are read, the first is proposed. "1,234" counts as 1234 before 1.234.
constexpr std::array<NumberStyle, ColumnLook::kStyles> kNumberStyles = {
    NumberStyle{}, {.thousands_separator = ','},  {.decimal_sign = ','},
    {',', '.'},    {.thousands_separator = '\''}, {.thousands_separator = ' '},
    {',', ' '},    {.thousands_separator = '_'}};

// The first is ISO 8601 alone, which is read beside each of the others.
constexpr std::array<const char*, ColumnLook::kFormats> kDateFormats = {"",
                                                                        "DD.MM.YYYY",
                                                                        "MM/DD/YYYY",
                                                                        "DD/MM/YYYY",
                                                                        "DD-MM-YYYY",
                                                                        "MM-DD-YYYY",
                                                                        "YYYY/MM/DD",
                                                                        "DD.MM.YYYY hh:mm",
                                                                        "MM/DD/YYYY hh:mm",
                                                                        "DD/MM/YYYY hh:mm",
                                                                        "DD.MM.YYYY hh:mm:ss",
                                                                        "YYYY/MM/DD hh:mm:ss"};

const dp::DateReader& ReaderOf(size_t format) {
  static const auto& readers = *new std::vector<dp::DateReader>([] {
    std::vector<dp::DateReader> made;
    for (const char* const each : kDateFormats) {
      std::vector<std::string> formats;
      if (*each != '\0') formats.emplace_back(each);
      made.push_back(dp::DateReader::Create({.bins = dp::DateBins::kDay}, std::move(formats)).value());
    }
    return made;
  }());
  return readers[format];
}

// By the tokens that count where a schema declares none.
bool IsMissing(std::string_view cell) {
  static const auto& attribute = *new dp::Attribute(
      dp::Attribute::Create("cell", dp::CodedKind{1}, dp::Missing{.tokens = {}, .bin = "missing"}).value());
  return attribute.Encode(cell) == attribute.missing_code();
}

// Codes such as "00123" are texts: their zeros would be lost.
bool HasLeadingZero(std::string_view plain) {
  if (!plain.empty() && (plain.front() == '-' || plain.front() == '+')) plain.remove_prefix(1);
  return plain.size() > 1 && plain[0] == '0' && dp::IsDigit(plain[1]);
}

// The place of the most cells; the first of several.
template <typename Cells>
size_t BestOf(const Cells& read) {
  const auto best = std::max_element(
      read.begin(), read.end(), [](const auto& left, const auto& right) { return left.cells < right.cells; });
  return static_cast<size_t>(best - read.begin());
}

void SetStyle(v1::Attribute& attribute, const NumberStyle& style) {
  if (style == NumberStyle{}) return;
  v1::Reading& reading = *attribute.mutable_reading();
  if (style.decimal_sign != '.') reading.set_decimal_sign(std::string(1, style.decimal_sign));
  if (style.thousands_separator != '\0')
    reading.set_thousands_separator(std::string(1, style.thousands_separator));
}

constexpr double kMostBins = 50;

// 1, 2 or 5 times a power of ten, at least `width`.
double NiceWidth(double width) {
  const double power = std::pow(10, std::floor(std::log10(width)));
  for (const double times : {1.0, 2.0, 5.0}) {
    if (times * power >= width) return times * power;
  }
  return 10 * power;
}

void SetRange(const ReadCells<int64_t>& read, v1::Integer& kind) {
  const double values = static_cast<double>(read.largest) - static_cast<double>(read.least) + 1;
  kind.set_min(read.least);
  kind.set_max(read.largest);
  if (values <= kMostBins) return;
  kind.set_bin_width(static_cast<int64_t>(std::max(1.0, NiceWidth(values / kMostBins))));
}

void SetRange(const ReadCells<double>& read, v1::Numeric& kind) {
  const double width = read.largest - read.least;
  const double step = width > 0 ? NiceWidth(width / kMostBins) : 1;
  // Multiples of a step below one are made by a division, which gives the nearest double of the decimal.
  const auto multiple = [step](double times) {
    return step < 1 ? times / std::round(1 / step) : times * step;
  };
  const double first = std::floor(read.least / step);
  const double last = std::max(std::ceil(read.largest / step), first + 1);
  kind.set_min(multiple(first));
  kind.set_max(multiple(last));
  kind.set_step(multiple(1));
}

void SetRange(const ReadCells<int64_t>& read, v1::Date& kind) {
  constexpr int64_t kDay = 86'400;
  const auto day_of = [](int64_t seconds) { return seconds - ((seconds % kDay) + kDay) % kDay; };
  kind.set_from(dp::WriteDeclaredTime(day_of(read.least)));
  kind.set_to(dp::WriteDeclaredTime(day_of(read.largest)));
  const int64_t days = (read.largest - read.least) / kDay;
  kind.set_bins(days <= 60 ? v1::Date::DAY : days <= 5 * 366 ? v1::Date::MONTH : v1::Date::YEAR);
}

}  // namespace

void DifferentTexts::Add(std::string_view text) {
  constexpr size_t kMost = 500;
  if (are_many_ || texts_.contains(text)) return;
  are_many_ = texts_.size() == kMost || text.size() > dp::kMaxTextLength;
  if (are_many_) return texts_.clear();
  texts_.emplace(text);
}

void ColumnLook::Add(std::string_view cell) {
  if (IsMissing(cell)) {
    ++missing_;
    return;
  }
  ++cells_;
  if (texts_kept_) texts_.Add(cell);
  const char first = cell.front();
  if (dp::IsDigit(first) || first == '-' || first == '+' || first == '.') AddNumber(cell);
  if (dp::IsDigit(first)) AddDate(cell);
}

void ColumnLook::AddNumber(std::string_view cell) {
  std::string buffer;
  for (size_t i = 0; i < kStyles; ++i) {
    const std::string_view plain = dp::InPlainStyle(cell, kNumberStyles[i], buffer);
    if (HasLeadingZero(plain)) continue;
    const auto integer = dp::ReadInteger(plain);
    if (std::holds_alternative<int64_t>(integer)) integers_[i].Add(std::get<int64_t>(integer));
    const auto number = dp::ReadNumber(plain);
    if (std::holds_alternative<double>(number)) numbers_[i].Add(std::get<double>(number));
  }
}

void ColumnLook::AddDate(std::string_view cell) {
  for (size_t i = 0; i < kFormats; ++i) {
    if (const std::optional<int64_t> seconds = ReaderOf(i).Read(cell)) dates_[i].Add(*seconds);
  }
}

bool ColumnLook::AreMost(int64_t cells) const {
  return cells > 0 && cells >= cells_ - cells_ / 10;
}

std::string ColumnLook::ProposeKind(v1::Attribute& attribute) const {
  if (cells_ == 0) return "has no value";
  const size_t integer_style = BestOf(integers_);
  const size_t number_style = BestOf(numbers_);
  int64_t read = 0;
  std::string note;
  if (AreMost(integers_[integer_style].cells)) {
    read = integers_[integer_style].cells;
    attribute.mutable_integer();
    SetStyle(attribute, kNumberStyles[integer_style]);
  } else if (AreMost(numbers_[number_style].cells)) {
    read = numbers_[number_style].cells;
    attribute.mutable_numeric();
    SetStyle(attribute, kNumberStyles[number_style]);
  } else if (const size_t format = BestOf(dates_); AreMost(dates_[format].cells)) {
    read = dates_[format].cells;
    note = ProposeDate(attribute);
  } else {
    attribute.mutable_categorical();
    return "";
  }
  if (read == cells_) return note;
  return absl::StrCat(note, note.empty() ? "" : "; ", cells_ - read, " of ", cells_,
                      " cells are written in another way, and their rows would be rejected");
}

std::string ColumnLook::ProposeDate(v1::Attribute& attribute) const {
  const size_t best = BestOf(dates_);
  attribute.mutable_date();
  if (best == 0) return "";
  std::string others;
  for (size_t i = best + 1; i < kFormats; ++i) {
    if (dates_[i].cells == dates_[best].cells) absl::StrAppend(&others, " or ", kDateFormats[i]);
  }
  attribute.mutable_reading()->add_date_formats(kDateFormats[best]);
  if (others.empty()) return "";
  return absl::StrCat("its dates are ", kDateFormats[best], others,
                      ": both read as many; the first is proposed, and you know which one it is");
}

std::string ColumnLook::ProposeDomain(v1::Attribute& attribute) const {
  const auto is_valid = [&attribute] { return rpc::FromProto(attribute).ok(); };
  if (attribute.has_integer()) SetRange(integers_[BestOf(integers_)], *attribute.mutable_integer());
  if (attribute.has_numeric()) SetRange(numbers_[BestOf(numbers_)], *attribute.mutable_numeric());
  if (attribute.has_date()) SetRange(dates_[BestOf(dates_)], *attribute.mutable_date());
  if (attribute.has_categorical()) {
    if (!texts_.are_few()) {
      attribute.clear_kind();
      return "has very many different texts, or long ones: free text or an identifier, which is best left "
             "out";
    }
    for (const std::string& text : texts_.texts()) attribute.mutable_categorical()->add_values(text);
  }
  if (missing_ > 0) attribute.mutable_missing()->set_bin("missing");
  if (attribute.kind_case() == v1::Attribute::KIND_NOT_SET || is_valid()) return "";
  attribute.clear_kind();
  attribute.clear_missing();
  attribute.clear_reading();
  return "its values make no valid range or categories";
}

}  // namespace curator::cli
