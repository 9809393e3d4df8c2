#include "acs_table.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"

namespace curator::bench {
namespace {

struct AcsColumn {
  std::string_view name;
  int64_t width = 0;  // of a bin of numbers; 0 where the dictionary lists the values
  int64_t most = 0;   // the largest number; larger ones count as it
};

constexpr std::array<AcsColumn, 19> kColumns = {{{"PUMA"},
                                                 {"AGEP", 5, 99},
                                                 {"SEX"},
                                                 {"MSP"},
                                                 {"HISP"},
                                                 {"RAC1P"},
                                                 {"NOC", 1, 19},
                                                 {"NPF", 1, 20},
                                                 {"HOUSING_TYPE"},
                                                 {"OWN_RENT"},
                                                 {"INDP_CAT"},
                                                 {"EDU"},
                                                 {"PINCP_DECILE"},
                                                 {"POVPIP", 50, 501},
                                                 {"DVET"},
                                                 {"DREM"},
                                                 {"DPHY"},
                                                 {"DEYE"},
                                                 {"DEAR"}}};

// Code 0 of numbers is that of "N", not applicable.
struct CodeBook {
  AcsColumn column;
  std::map<std::string, uint32_t, std::less<>> codes;

  int64_t size() const {
    return column.width > 0 ? 2 + column.most / column.width : static_cast<int64_t>(codes.size());
  }

  uint32_t CodeOf(std::string_view value) const {
    if (column.width == 0) return codes.find(value)->second;
    int64_t number = 0;
    if (!absl::SimpleAtoi(absl::string_view(value.data(), value.size()), &number)) return 0;
    return static_cast<uint32_t>(1 + std::clamp<int64_t>(number, 0, column.most) / column.width);
  }
};

std::ifstream Open(const std::string& name) {
  const char* const shared = std::getenv("CURATOR_SHARED");
  const std::string path = std::string(shared != nullptr ? shared : "../shared") + "/data/nist_acs/" + name;
  std::ifstream file(path);
  if (!file) {
    std::fprintf(stderr, "%s not found: set CURATOR_SHARED\n", path.c_str());
    std::exit(1);
  }
  return file;
}

std::vector<CodeBook> ReadCodeBooks() {
  std::ifstream file = Open("data_dictionary.json");
  const auto dictionary = nlohmann::ordered_json::parse(file);
  std::vector<CodeBook> books;
  for (const AcsColumn& column : kColumns) {
    CodeBook& book = books.emplace_back();
    book.column = column;
    if (column.width > 0) continue;
    for (const auto& [value, meaning] : dictionary.at(std::string(column.name)).at("values").items())
      book.codes.emplace(value, static_cast<uint32_t>(book.codes.size()));
  }
  return books;
}

std::vector<std::string> Fields(const std::string& line) {
  return absl::StrSplit(absl::StripSuffix(line, "\r"), ',');
}

}  // namespace

RealTable ReadAcsTable() {
  const std::vector<CodeBook> books = ReadCodeBooks();
  std::vector<dp::Attribute> attributes;
  for (const CodeBook& book : books) {
    attributes.push_back(
        dp::Attribute::Create(std::string(book.column.name), dp::CodedKind{book.size()}).value());
  }
  RealTable table{.domain = dp::Domain::Create(std::move(attributes)).value(), .rows = {}};
  std::ifstream file = Open("national2019.csv");
  std::string line;
  std::getline(file, line);
  const std::vector<std::string> header = Fields(line);
  std::vector<size_t> places;
  for (const CodeBook& book : books)
    places.push_back(static_cast<size_t>(std::ranges::find(header, book.column.name) - header.begin()));
  while (std::getline(file, line)) {
    const std::vector<std::string> fields = Fields(line);
    std::vector<uint32_t>& row = table.rows.emplace_back();
    for (size_t i = 0; i < books.size(); ++i) row.push_back(books[i].CodeOf(fields[places[i]]));
  }
  return table;
}

}  // namespace curator::bench
