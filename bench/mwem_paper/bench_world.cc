#include "bench/mwem_paper/bench_world.h"

#include <sys/resource.h>
#include <zlib.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <numeric>
#include <set>
#include <utility>

#include "dp/data/testing/seal_rows.h"
#include "dp/synthesis/synthesizers.h"

namespace curator::bench {
namespace {

dp::DrawKey KeyOf(int seed) {
  dp::DrawKey::Bytes key{};
  key[0] = static_cast<uint8_t>(seed);
  key[1] = static_cast<uint8_t>(seed >> 8);
  return dp::DrawKey(key);
}

std::vector<std::string> FieldsOf(const std::string& line) {
  std::vector<std::string> fields(1);
  for (const char c : line) {
    if (c == ',') {
      fields.emplace_back();
    } else if (c != '\r' && c != '\n') {
      fields.back() += c;
    }
  }
  return fields;
}

size_t ColumnOf(const CsvFile& file, const std::string& name) {
  const auto found = std::ranges::find(file.header, name);
  if (found == file.header.end()) {
    std::fprintf(stderr, "there is no column %s\n", name.c_str());
    std::exit(1);
  }
  return static_cast<size_t>(found - file.header.begin());
}

dp::UnitBound OneRecord() {
  return {dp::NeighbourRelation::kAddRemove, 1};
}

}  // namespace

CsvFile ReadCsv(const std::string& path_below_data) {
  const char* const shared = std::getenv("CURATOR_SHARED");
  const std::string path = std::string(shared != nullptr ? shared : "../shared") + "/data/" + path_below_data;
  const gzFile file = gzopen(path.c_str(), "rb");
  if (file == nullptr) {
    std::fprintf(stderr, "%s not found: set CURATOR_SHARED\n", path.c_str());
    std::exit(1);
  }
  CsvFile csv;
  std::vector<char> line(1 << 16);
  while (gzgets(file, line.data(), static_cast<int>(line.size())) != nullptr) {
    std::vector<std::string> fields = FieldsOf(line.data());
    if (csv.header.empty()) {
      csv.header = std::move(fields);
    } else {
      csv.rows.push_back(std::move(fields));
    }
  }
  gzclose(file);
  return csv;
}

dp::Domain DomainOf(const std::vector<int64_t>& sizes) {
  std::vector<dp::Attribute> attributes;
  for (size_t i = 0; i < sizes.size(); ++i)
    attributes.push_back(dp::Attribute::Create("a" + std::to_string(i), dp::CodedKind{sizes[i]}).value());
  return dp::Domain::Create(std::move(attributes)).value();
}

BenchTable TableOf(dp::Domain domain, Rows rows) {
  dp::SealedTableHandle sealed = dp::SealRows(domain, rows).value();
  return {std::move(domain), std::move(rows), std::move(sealed)};
}

BenchTable NumbersFrom(const CsvFile& file, const std::vector<NumberColumn>& columns) {
  std::vector<int64_t> sizes;
  std::vector<size_t> places;
  for (const NumberColumn& column : columns) {
    sizes.push_back(column.size);
    places.push_back(ColumnOf(file, column.name));
  }
  Rows rows;
  for (const auto& fields : file.rows) {
    std::vector<uint32_t> row;
    for (size_t i = 0; i < columns.size(); ++i) {
      const int64_t code = std::atoll(fields[places[i]].c_str()) - columns[i].least;
      row.push_back(static_cast<uint32_t>(std::clamp<int64_t>(code, 0, columns[i].size - 1)));
    }
    rows.push_back(std::move(row));
  }
  return TableOf(DomainOf(sizes), std::move(rows));
}

BenchTable CategoriesFrom(const CsvFile& file, const std::vector<std::string>& columns) {
  std::vector<int64_t> sizes;
  Rows rows(file.rows.size());
  for (const std::string& name : columns) {
    const size_t place = ColumnOf(file, name);
    std::set<std::string> values;
    for (const auto& fields : file.rows) values.insert(fields[place]);
    const std::vector<std::string> sorted(values.begin(), values.end());
    sizes.push_back(static_cast<int64_t>(sorted.size()));
    for (size_t i = 0; i < rows.size(); ++i) {
      const auto found = std::ranges::lower_bound(sorted, file.rows[i][place]);
      rows[i].push_back(static_cast<uint32_t>(found - sorted.begin()));
    }
  }
  return TableOf(DomainOf(sizes), std::move(rows));
}

CsvFile ReadAdult() {
  CsvFile adult = ReadCsv("adult_uci/train.csv.gz");
  CsvFile test = ReadCsv("adult_uci/test.csv");
  for (auto& row : test.rows) adult.rows.push_back(std::move(row));
  return adult;
}

const std::vector<std::string>& AdultCategories() {
  static const std::vector<std::string> names = {"workclass",  "education",     "marital-status",
                                                 "occupation", "relationship",  "race",
                                                 "sex",        "native-country"};
  return names;
}

std::vector<int64_t> CountsOf(const BenchTable& table, const dp::AttributeSet& set) {
  std::vector<int64_t> counts(static_cast<size_t>(*table.domain.CellCount(set)));
  for (const auto& row : table.rows) {
    size_t cell = 0;
    for (const uint32_t attribute : set)
      cell = cell * static_cast<size_t>(table.domain.attributes()[attribute].size()) + row[attribute];
    ++counts[cell];
  }
  return counts;
}

dp::SynthesisInput InputFor(const dp::Domain& domain, double epsilon, std::vector<dp::QueryGroup> workload,
                            Settings settings) {
  dp::RuleSpec rule;
  rule.kind = dp::RuleKind::kPure;
  rule.epsilon = dp::Epsilon(1000 * dp::kEpsilonUnitsPerOne);
  return {.domain = domain,
          .unit_bound = OneRecord(),
          .rule = rule,
          .spend = {.epsilon = dp::Epsilon(std::llround(epsilon * 1e6) * 1'000'000)},
          .workload = std::move(workload),
          .settings = std::move(settings),
          .assume_records = std::nullopt};
}

Fitted FitBy(const std::string& method, const dp::SynthesisInput& input, const BenchTable& table, int seed) {
  const dp::Synthesizer& synthesizer = *dp::FindSynthesizer(method);
  const double start = CpuSeconds();
  auto plan = synthesizer.Plan(input);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.status().ToString().c_str());
    std::exit(1);
  }
  PaidKernel paid(table, std::move(plan->draws), seed);
  dp::Pacer pacer{std::stop_token()};
  auto model = synthesizer.Fit(input, paid.kernel(), pacer, NoProgress());
  if (!model.ok()) {
    std::fprintf(stderr, "%s\n", model.status().ToString().c_str());
    std::exit(1);
  }
  const double seconds = CpuSeconds() - start;
  if (std::getenv("TRANSCRIPT") != nullptr && !(*model)->Transcript().empty())
    std::fprintf(stderr, "%s\n", (*model)->Transcript().front().c_str());
  return {*std::move(model), seconds};
}

Fitted FitMwem(const dp::SynthesisInput& input, const BenchTable& table, int seed) {
  return FitBy("mwem", input, table, seed);
}

double Repeated::Mean() const {
  return std::accumulate(values_.begin(), values_.end(), 0.0) / static_cast<double>(values_.size());
}

double Repeated::StandardError() const {
  if (values_.size() < 2) return 0;
  double squares = 0;
  for (const double value : values_) squares += (value - Mean()) * (value - Mean());
  const auto n = static_cast<double>(values_.size());
  return std::sqrt(squares / (n - 1) / n);
}

PaidKernel::PaidKernel(const BenchTable& table, std::vector<dp::CountedEvent> draws, int seed)
    : bits_(KeyOf(seed)),
      kernel_(table.sealed, table.domain, OneRecord(), dp::Meter(std::move(draws)), bits_) {}

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

double PeakMegabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_maxrss) / 1024;
}

}  // namespace curator::bench
