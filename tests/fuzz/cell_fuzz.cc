// Cells in every declared way of writing: the first byte chooses the attribute or the measure, the rest is
// the cell.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "dp/domain/cell_reading.h"
#include "dp/domain/numbers.h"
#include "tests/fuzz/fuzz_target.h"
#include "tests/fuzz/messy_table.h"

namespace curator::fuzz {
namespace {

const std::vector<dp::Attribute>& Attributes() {
  static const std::vector<dp::Attribute> all = [] {
    std::vector<dp::Attribute> attributes = MessyAttributes();
    for (const dp::DateBins bins :
         {dp::DateBins::kDay, dp::DateBins::kWeek, dp::DateBins::kQuarter, dp::DateBins::kYear}) {
      dp::DateKind kind{
          .from = kFrom, .until = kUntil, .bins = bins, .edges = {}, .zone = "America/New_York"};
      dp::Reading reading;
      reading.date_formats = {"YYYYMMDD", "D/M/YYYY h:mm"};
      attributes.push_back(dp::Attribute::Create(absl::StrCat("dates ", attributes.size()), std::move(kind),
                                                 std::nullopt, std::move(reading))
                               .value());
    }
    return attributes;
  }();
  return all;
}

// What a bin is called, and what lies in it, is found again.
void CheckCode(const dp::Attribute& attribute, uint32_t code, std::string_view input) {
  if (code >= attribute.size()) Broken("a code is one of the attribute's", input);
  const std::string inside = attribute.ValueInside(code, std::hash<std::string_view>{}(input));
  const std::optional<uint32_t> missing = attribute.missing_code();
  const std::optional<uint32_t> found =
      missing == code ? attribute.Encode(inside) : attribute.CodeOfText(inside);
  if (found != code) Broken("a value inside a bin is in it: " + inside, input);
  const auto* dates = std::get_if<dp::DateKind>(&attribute.kind());
  if (dates == nullptr || missing == code) return;
  if (dp::DateBinOfLabel(*dates, attribute.Label(code)) != int64_t{code})
    Broken("a bin of dates is found by its label: " + attribute.Label(code), input);
}

// Reasons are a few texts, so they repeat no cell.
template <typename Column>
void CheckReason(const Column& column, std::string_view cell, std::string_view input) {
  constexpr size_t kMostReasons = 12;
  static std::map<std::string, std::set<std::string>> reasons;  // by the column's name
  const std::string reason = column.WhyOutside(cell);
  if (reason.empty()) Broken("there is a reason why a cell is rejected", input);
  std::set<std::string>& known = reasons[column.name()];
  known.insert(reason);
  if (known.size() > kMostReasons) Broken("a column has few reasons", input);
}

const std::vector<dp::Measure>& Measures() {
  static const std::vector<dp::Measure> all = [] {
    std::vector<dp::Measure> measures = MessyMeasures();
    measures.push_back(
        dp::Measure::Create("rate", {-0.3, 0.9, 0.1}, dp::Missing{.tokens = {"-0.2"}, .bin = {}}).value());
    measures.push_back(dp::Measure::Create("thirds", {-9e8, 9e8, 3000}).value());
    return measures;
  }();
  return all;
}

// The point of a code is the nearest one, as far as doubles can say.
bool TryMeasure(const dp::Measure& measure, std::string_view cell, std::string_view input) {
  const std::optional<dp::Measure::Encoded> encoded = measure.Encode(cell);
  if (measure.Encode("\t" + std::string(cell) + "  ") != encoded) Broken("blanks do not count", input);
  if (!encoded) {
    CheckReason(measure, cell, input);
    return false;
  }
  if (encoded->code >= measure.size()) Broken("a code is one of the measure's", input);
  if (encoded->code == measure.missing_code()) return true;
  std::string buffer;
  const auto read =
      dp::ReadNumber(dp::InPlainStyle(dp::TrimBlanks(cell), dp::StyleOf(measure.reading()), buffer));
  const double* const number = std::get_if<double>(&read);
  if (number == nullptr) {
    if (!encoded->is_clipped) Broken("what no double holds is clipped", input);
    return true;
  }
  const dp::EvenSteps& bounds = measure.bounds();
  const double clipped = std::clamp(*number, bounds.min, bounds.max);
  const double point = static_cast<double>(measure.low_step() + encoded->code) * bounds.step;
  if (std::abs(point - clipped) > bounds.step * 0.5000001) Broken("the nearest point is taken", input);
  const bool is_outside = *number < bounds.min || *number > bounds.max;
  if (is_outside && !encoded->is_clipped) Broken("what lies outside is clipped", input);
  if (encoded->is_clipped && encoded->code != 0 && encoded->code != measure.steps())
    Broken("what is clipped becomes a bound", input);
  return true;
}

}  // namespace

std::vector<std::string> Seeds() {
  std::vector<std::string> seeds;
  const std::vector<std::vector<std::string>> cells = {
      {"WOMAN", " m ", "Female", "NA", "", "?"},
      {"S", "none", "-", "XL", "other"},
      {"1.234,5", "-0,25", "1e3", "NULL", "1.000.000,", "12.34,5"},
      {"1'234", "99'999", "7.0", "-1", "100000",
       "1\xe2\x80\x99"
       "234"},
      {"12", "999", "1 000", "300",
       "2\xc2\xa0"
       "99"},
      {"31.3.2019", "12/2020", "2019-03-31T23:30:00Z", "2025-01-01T00:30+01:00", "30.2.2019", "N"},
      {"2019-03-31 12:00", "2020-1-2 3:4:5", "2030-01-01", "2019-03-31T11:59:59.9", "2015-01-01"},
      {"20190331", "2019-03-10T07:00:00Z", "2019131"},
      {"2018-12-31", "31/12/2018 23:59", "2020-W53"},
      {"2019-11-03T05:59:59-04:00", "2024-12-31T23:59:59"},
      {"2016-12-31T23:59:60Z", "1/1/2015 0:00", "2014-12-31"},
      {"1.234,5", "-1.000,000", "6,25", "NULL", "9e6", "12.34"},
      {"1'234.125", "-0.75", "100000.1", "99'999.875", ""},
      {"0.15", "-0.2", "-0.25", "9e-1", "1e400", ".05", "0.0499999999999999999999"},
      {"1500", "-1500", "899998500", "-1e9", "4.5e3", "1499.9999999999999999"}};
  for (size_t i = 0; i < cells.size(); ++i) {
    for (const std::string& cell : cells[i]) seeds.push_back(static_cast<char>(i) + cell);
  }
  return seeds;
}

bool Try(std::string_view input) {
  if (input.empty()) return false;
  const size_t choice = static_cast<unsigned char>(input[0]) % (Attributes().size() + Measures().size());
  const std::string_view cell = input.substr(1);
  if (choice >= Attributes().size()) return TryMeasure(Measures()[choice - Attributes().size()], cell, input);
  const dp::Attribute& attribute = Attributes()[choice];
  const std::optional<uint32_t> code = attribute.Encode(cell);
  if (attribute.Encode(" \t" + std::string(cell) + " ") != code) Broken("blanks do not count", input);
  const std::optional<uint32_t> clamped = attribute.EncodeClamped(cell);
  if (code && clamped != code) Broken("what lies in the domain is not moved", input);
  if (clamped && *clamped >= attribute.size()) Broken("what is moved lies in the domain", input);
  if (const std::optional<uint32_t> plain = attribute.CodeOfText(cell)) CheckCode(attribute, *plain, input);
  if (code) {
    CheckCode(attribute, *code, input);
    return true;
  }
  CheckReason(attribute, cell, input);
  return false;
}

}  // namespace curator::fuzz
