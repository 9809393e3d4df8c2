#include "bench/nested_data.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>

#include "bench/mwem_paper/bench_world.h"

namespace curator::bench {
namespace {

struct Source {
  const char* name;
  const char* group;
  const char* response;
  double low;
  double high;
  double resolution;
};

constexpr Source kSources[] = {{"hsb82", "school", "mAch", -3, 25, 0.25},
                               {"exam", "school", "normexam", -4, 4, 0.05},
                               {"radon", "county", "log_radon", -3, 4, 0.05},
                               {"sleepstudy", "Subject", "Reaction", 150, 500, 2.5}};

NestedTable WithNumbers(const char* name, double low, double high, double resolution) {
  NestedTable table{.name = name, .numbers = {}, .low = low, .high = high, .groups = {}, .reference = {}};
  const auto bins = static_cast<int>(std::lround((high - low) / resolution));
  for (int i = 0; i < bins; ++i) table.numbers.push_back(low + (i + 0.5) * resolution);
  return table;
}

uint32_t CodeOf(const NestedTable& table, double response) {
  const auto bins = static_cast<double>(table.numbers.size());
  const double bin = std::floor((response - table.low) / (table.high - table.low) * bins);
  return static_cast<uint32_t>(std::clamp(bin, 0.0, bins - 1));
}

Reference ReferenceOf(const std::string& name, const std::string& group) {
  const char* shared = std::getenv("CURATOR_SHARED");
  std::ifstream file(std::string(shared != nullptr ? shared : "../shared") + "/data/" + name +
                     "/reference.json");
  const auto fit = nlohmann::json::parse(file).at(0);
  return {.nu = fit.at("fixed").at("(Intercept)"),
          .tau = fit.at("sd_or_cor").at(group + ":(Intercept)"),
          .sigma = fit.at("sd_or_cor").at("Residual:NA")};
}

NestedTable Read(const Source& source) {
  NestedTable table = WithNumbers(source.name, source.low, source.high, source.resolution);
  const CsvFile file = ReadCsv(std::string(source.name) + "/" + source.name + ".csv");
  const auto column = [&](const char* name) {
    return static_cast<size_t>(std::ranges::find(file.header, name) - file.header.begin());
  };
  const size_t group = column(source.group);
  const size_t response = column(source.response);
  std::map<std::string, std::vector<uint32_t>> groups;
  for (const std::vector<std::string>& row : file.rows)
    groups[row.at(group)].push_back(CodeOf(table, std::stod(row.at(response))));
  for (auto& [id, codes] : groups) table.groups.push_back(std::move(codes));
  table.reference = ReferenceOf(source.name, source.group);
  return table;
}

}  // namespace

std::vector<NestedTable> RealNestedTables() {
  std::vector<NestedTable> tables;
  for (const Source& source : kSources) tables.push_back(Read(source));
  return tables;
}

NestedTable SimulatedTable(int groups, int size, uint64_t seed) {
  NestedTable table = WithNumbers("simulated", -10, 10, 0.02);
  table.reference = {.nu = 0, .tau = 2, .sigma = 1};
  std::mt19937_64 random(seed);
  std::normal_distribution<double> normal;
  for (int g = 0; g < groups; ++g) {
    const double mu = 2 * normal(random);
    table.groups.emplace_back();
    for (int i = 0; i < size; ++i) table.groups.back().push_back(CodeOf(table, mu + normal(random)));
  }
  return table;
}

}  // namespace curator::bench
