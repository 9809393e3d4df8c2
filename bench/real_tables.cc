#include "real_tables.h"

#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <utility>

#include "acs_table.h"

namespace curator::bench {
namespace {

[[noreturn]] void Fail(const std::string& what) {
  std::fprintf(stderr, "%s: set CURATOR_SHARED\n", what.c_str());
  std::exit(1);
}

std::optional<std::string> NextLine(gzFile file) {
  std::string line;
  char buffer[4096];
  while (gzgets(file, buffer, sizeof buffer) != nullptr) {
    line += buffer;
    if (line.back() == '\n') {
      line.pop_back();
      return line;
    }
  }
  return line.empty() ? std::nullopt : std::optional(line);
}

std::vector<uint32_t> CodesOf(const std::string& line) {
  std::vector<uint32_t> codes;
  const char* at = line.c_str();
  while (*at != '\0') {
    char* end = nullptr;
    codes.push_back(static_cast<uint32_t>(std::strtoul(at, &end, 10)));
    at = *end == ',' ? end + 1 : end;
    if (end == at && *end != '\0') break;
  }
  return codes;
}

}  // namespace

RealTable ReadTable(const std::string& folder, const std::string& csv, const std::string& domain) {
  const char* const shared = std::getenv("CURATOR_SHARED");
  const std::string base = std::string(shared != nullptr ? shared : "../shared") + "/data/" + folder + "/";
  std::ifstream json_file(base + domain);
  if (!json_file) Fail(base + domain + " not found");
  const auto json = nlohmann::ordered_json::parse(json_file);
  std::vector<dp::Attribute> attributes;
  for (const auto& [name, size] : json.items()) {
    const int64_t values = size.is_number() ? size.get<int64_t>() : size.at("size").get<int64_t>();
    attributes.push_back(dp::Attribute::Create(name, dp::CodedKind{values}).value());
  }
  RealTable table{.domain = dp::Domain::Create(std::move(attributes)).value(), .rows = {}};
  const gzFile file = gzopen((base + csv).c_str(), "rb");
  if (file == nullptr) Fail(base + csv + " not found");
  (void)NextLine(file);
  while (const std::optional<std::string> line = NextLine(file)) table.rows.push_back(CodesOf(*line));
  gzclose(file);
  return table;
}

namespace {

RealTable FirstAttributes(const std::string& name, size_t count) {
  RealTable table = ReadNamedTable(name);
  std::vector<dp::Attribute> first = table.domain.attributes();
  first.erase(first.begin() + static_cast<ptrdiff_t>(count), first.end());
  for (auto& row : table.rows) row.resize(count);
  return {.domain = dp::Domain::Create(std::move(first)).value(), .rows = std::move(table.rows)};
}

}  // namespace

RealTable ReadNamedTable(const std::string& name) {
  if (name == "acs") return ReadAcsTable();
  if (name == "adult_split") return ReadTable("adult_pub_split", "priv.csv", "domain.json");
  if (name == "adult") return ReadTable("adult_pgm", "adult.csv", "domain.json");
  if (name == "retail64") return ReadTable("retail", "retail_top64.csv.gz", "domain.json");
  if (name == "msnbc") return ReadTable("msnbc", "msnbc_binary.csv.gz", "domain_binary.json");
  if (name == "loans") return ReadTable("loans", "loans.csv.gz", "domain.json");
  if (name == "mildew" || name == "czech") return ReadTable(name, "micro.csv", "domain.json");
  if (name == "titanic") return ReadTable("titanic", "titanic.csv", "domain.json");
  if (name == "nltcs") return ReadTable("nltcs", "micro.csv", "domain.json");
  if (name == "retail32") return FirstAttributes("retail64", 32);
  const size_t slash = name.find('/');
  if (slash == std::string::npos) Fail("there is no table \"" + name + "\"");
  return FirstAttributes(name.substr(0, slash), std::stoul(name.substr(slash + 1)));
}

}  // namespace curator::bench
