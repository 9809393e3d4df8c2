#include "tests/testing/real_datasets.h"

#include <zlib.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/testing/shared_folder.h"

namespace curator::testing {
namespace {

using nlohmann::ordered_json;

std::string ContentOf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::stringstream content;
  content << file.rdbuf();
  return content.str();
}

std::string Unzipped(const std::string& path) {
  std::string text;
  gzFile file = gzopen(path.c_str(), "rb");  // reads what is not compressed as it is
  if (file == nullptr) return text;
  std::string piece(1 << 16, '\0');
  for (int count = 0; (count = gzread(file, piece.data(), 1 << 16)) > 0;)
    text.append(piece, 0, static_cast<size_t>(count));
  gzclose(file);
  return text;
}

// Up to and with the line end of record number `most_records`.
std::string FirstRecords(const std::string& csv, int64_t most_records) {
  size_t end = 0;
  for (int64_t line = 0; line <= most_records && end < csv.size(); ++line) {
    const size_t line_end = csv.find('\n', end);
    if (line_end == std::string::npos) return csv;
    end = line_end + 1;
  }
  return csv.substr(0, end);
}

std::string WithNumbersForNotApplicable(const std::string& csv) {
  const std::map<std::string, std::string> numbers = {{"INDP", "0"}, {"PINCP", "-9999"}, {"POVPIP", "-10"}};
  std::istringstream lines(csv);
  std::string line;
  std::vector<std::string> names;
  std::string result;
  while (std::getline(lines, line)) {
    const bool is_header = names.empty();
    std::istringstream fields(line);
    std::string field;
    for (size_t column = 0; std::getline(fields, field, ','); ++column) {
      if (is_header) names.push_back(field);
      const auto number = numbers.find(names[column]);
      if (field == "N" && number != numbers.end()) field = number->second;
      result += (column == 0 ? "" : ",") + field;
    }
    result += '\n';
  }
  return result;
}

}  // namespace

const std::vector<RealDataset>& RealDatasets() {
  static const std::vector<RealDataset> datasets = {
      {"mildew", "data/mildew/micro.csv", "data/mildew/domain.json", 70},
      {"sleepstudy", "data/sleepstudy/sleepstudy.csv", "sleepstudy_schema.json", 180},
      {"transfusion", "data/transfusion/transfusion.csv", "transfusion_schema.json", 748},
      {"radon", "data/radon/radon.csv", "radon_schema.json", 919},
      {"titanic", "data/titanic/titanic.csv", "data/titanic/domain.json", 1304},
      {"czech", "data/czech/micro.csv", "data/czech/domain.json", 1841},
      {"adult_public_part", "data/adult_pub_split/pub.csv", "data/adult_pub_split/domain.json", 3238},
      {"exam", "data/exam/exam.csv", "exam_schema.json", 4059},
      {"hsb82", "data/hsb82/hsb82.csv", "hsb82_schema.json", 7185},
      {"adult_uci_test", "data/adult_uci/test.csv", "adult_schema.json", 16281},
      {"nltcs", "data/nltcs/micro.csv", "data/nltcs/domain.json", 21574},
      {"nist_acs", "data/nist_acs/national2019.csv", "nist_acs_schema.json", 27253},
      {"adult_private_part", "data/adult_pub_split/priv.csv", "data/adult_pub_split/domain.json", 32384},
      {"adult_uci", "data/adult_uci/train.csv.gz", "adult_schema.json", 32561},
      {"loans", "data/loans/loans.csv.gz", "data/loans/domain.json", 42535},
      {"adult_pgm", "data/adult_pgm/adult.csv", "data/adult_pgm/domain.json", 48842},
      {"retail_top32", "data/retail/retail_top32.csv.gz", "data/retail/domain.json", 88162},
      {"retail_top64", "data/retail/retail_top64.csv.gz", "data/retail/domain.json", 88162},
      {"msnbc", "data/msnbc/msnbc.csv.gz", "data/msnbc/domain.json", 989818},
      {"msnbc_binary", "data/msnbc/msnbc_binary.csv.gz", "data/msnbc/domain_binary.json", 989818},
  };
  return datasets;
}

const RealDataset& RealDatasetNamed(const std::string& name) {
  for (const RealDataset& dataset : RealDatasets()) {
    if (dataset.name == name) return dataset;
  }
  std::fprintf(stderr, "there is no data set \"%s\"\n", name.c_str());
  std::exit(2);
}

std::string SchemaJsonOf(const RealDataset& dataset) {
  if (!dataset.schema.starts_with("data/")) return ContentOf(CURATOR_TEST_DATA "/" + dataset.schema);
  ordered_json schema = {{"attributes", ordered_json::array()},
                         {"unit", {{"record", ordered_json::object()}}}};
  const ordered_json domain = ordered_json::parse(ContentOf(shared::PathOf(dataset.schema)));
  for (const auto& [name, size] : domain.items()) {
    if (dataset.name == "retail_top32" && schema["attributes"].size() == 32) break;
    schema["attributes"].push_back({{"name", name}, {"coded", {{"size", size}}}});
  }
  return schema.dump();
}

std::string CsvOf(const RealDataset& dataset, int64_t most_records) {
  const std::string csv = FirstRecords(Unzipped(shared::PathOf(dataset.csv)), most_records);
  return dataset.name == "nist_acs" ? WithNumbersForNotApplicable(csv) : csv;
}

}  // namespace curator::testing
