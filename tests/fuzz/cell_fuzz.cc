// Cells in every declared way of writing: the first byte chooses the attribute, the rest is the cell.
#include <functional>
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
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
void CheckReason(const dp::Attribute& attribute, std::string_view cell, std::string_view input) {
  constexpr size_t kMostReasons = 12;
  static std::map<std::string, std::set<std::string>> reasons;  // by the attribute's name
  const std::string reason = attribute.WhyOutside(cell);
  if (reason.empty()) Broken("there is a reason why a cell is rejected", input);
  std::set<std::string>& known = reasons[attribute.name()];
  known.insert(reason);
  if (known.size() > kMostReasons) Broken("an attribute has few reasons", input);
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
      {"2016-12-31T23:59:60Z", "1/1/2015 0:00", "2014-12-31"}};
  for (size_t i = 0; i < cells.size(); ++i) {
    for (const std::string& cell : cells[i]) seeds.push_back(static_cast<char>(i) + cell);
  }
  return seeds;
}

bool Try(std::string_view input) {
  if (input.empty()) return false;
  const dp::Attribute& attribute = Attributes()[static_cast<unsigned char>(input[0]) % Attributes().size()];
  const std::string_view cell = input.substr(1);
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
