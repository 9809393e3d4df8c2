// The error of synthetic data by method and budget, on real tables.
//
//   synthesis_error TABLES EPSILONS SEEDS METHOD [METHOD ...]
//
// TABLES: names of real_tables.h, separated by commas. EPSILONS: the same; a promise of (epsilon, 1e-9), kept
// under zCDP, or with "pure" before it of (epsilon, 0). METHOD: a name, followed by settings:
// mwem:rounds=40:selection_percent=15; "declared" among them declares the table's number of records,
// "one_ways" asks for the one-way marginals alone, and "public" gives the public part of adult_pub_split as
// the prior of adult_split: as it is; "public_uniform", as many records drawn evenly from the domain;
// "public_turned", with the codes of every second column in reverse order, so that what rises together there
// falls together here. The workload is all three-way marginals, without the largest ones where all have more
// than 2^26 cells together, and errors are always theirs.
//
// Prints for each, over the seeds: the mean L1 distance between normalised marginals of the table and of the
// model, with its standard error; the same of as many records as the model says, drawn from it; the largest
// difference of a cell, mean over seeds; and the CPU seconds of planning, drawing and fitting.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_split.h"
#include "dp/accounting/rule.h"
#include "dp/data/count_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/spend.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "real_tables.h"

namespace curator::dp {
namespace {

using bench::RealTable;

constexpr int64_t kMostWorkloadCells = int64_t{1} << 26;

double CpuSeconds() {
  return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
}

PublicTable Published(const Domain& domain, const std::vector<std::vector<uint32_t>>& rows) {
  CodedColumns columns(SizesOf(domain));
  for (const auto& row : rows) (void)columns.AppendRow(row);
  return PublicTable::Create(std::move(columns)).value();
}

// The prior of that name, of records over `domain`; null for no name.
std::shared_ptr<const PublicTable> PriorOf(const Domain& domain, const std::string& name) {
  if (name.empty()) return nullptr;
  std::vector<std::vector<uint32_t>> rows =
      bench::ReadTable("adult_pub_split", "pub.csv", "domain.json").rows;
  std::mt19937_64 random(1);
  for (std::vector<uint32_t>& row : rows) {
    for (size_t i = 0; i < row.size(); ++i) {
      const auto size = static_cast<uint32_t>(domain.attributes()[i].size());
      if (name == "public_uniform") row[i] = static_cast<uint32_t>(random() % size);
      if (name == "public_turned" && i % 2 == 1) row[i] = size - 1 - row[i];
    }
  }
  return std::make_shared<const PublicTable>(Published(domain, rows));
}

Drbg BitsOf(int seed) {
  DrawKey::Bytes key{};
  key[0] = static_cast<uint8_t>(seed);
  return Drbg{DrawKey(key)};
}

void SetBudget(const std::string& epsilon, SynthesisInput& input) {
  if (epsilon.starts_with("pure")) {
    input.rule.epsilon = Epsilon::Parse(epsilon.substr(4), "epsilon").value();
    input.spend = {.epsilon = input.rule.epsilon};
    return;
  }
  input.rule.kind = RuleKind::kZcdp;
  input.rule.epsilon = Epsilon::Parse(epsilon, "epsilon").value();
  input.rule.delta = Delta(kDeltaUnitsPerOne / 1'000'000'000);
  input.spend = {.rho = Rho(LimitsOf(input.rule).value()[0].amount)};
}

// All three-way marginals, or as many of the smallest as have kMostWorkloadCells together.
std::vector<AttributeSet> WorkloadOf(const Domain& domain) {
  std::vector<AttributeSet> sets;
  int64_t cells = 0;
  for (uint32_t a = 0; a < domain.size(); ++a) {
    for (uint32_t b = a + 1; b < domain.size(); ++b) {
      for (uint32_t c = b + 1; c < domain.size(); ++c) {
        sets.push_back({a, b, c});
        cells += domain.CellCount(sets.back()).value();
      }
    }
  }
  if (cells <= kMostWorkloadCells) return sets;
  std::ranges::stable_sort(sets, {}, [&](const AttributeSet& set) { return domain.CellCount(set).value(); });
  cells = 0;
  size_t kept = 0;
  while (kept < sets.size() && (cells += domain.CellCount(sets[kept]).value()) <= kMostWorkloadCells) ++kept;
  sets.resize(kept);
  return sets;
}

std::vector<AttributeSet> OneWaysOf(const Domain& domain) {
  std::vector<AttributeSet> sets;
  for (uint32_t i = 0; i < domain.size(); ++i) sets.push_back({i});
  return sets;
}

struct Errors {
  double mean = 0;  // over the marginals, of the L1 distance
  double largest = 0;
};

class Truth {
 public:
  Truth(const RealTable& table, std::vector<AttributeSet> sets)
      : domain_(table.domain), sets_(std::move(sets)) {
    const PublicTable published = Published(domain_, table.rows);
    for (const AttributeSet& set : sets_) counts_.push_back(CountMarginal(published, domain_, set).value());
    rows_ = static_cast<double>(table.rows.size());
  }

  template <typename Counts>
  Errors Compare(const Counts& counts_of) const {
    Errors errors;
    for (size_t i = 0; i < sets_.size(); ++i) {
      const auto counts = counts_of(sets_[i]);
      double total = 0;
      for (const auto count : counts) total += static_cast<double>(count);
      double sum = 0;
      for (size_t cell = 0; cell < counts.size(); ++cell) {
        const double off = std::abs(static_cast<double>(counts[cell]) / total -
                                    static_cast<double>(counts_[i][cell]) / rows_);
        sum += off;
        errors.largest = std::max(errors.largest, off);
      }
      errors.mean += sum / static_cast<double>(sets_.size());
    }
    return errors;
  }

  const std::vector<AttributeSet>& sets() const { return sets_; }

 private:
  const Domain& domain_;
  std::vector<AttributeSet> sets_;
  std::vector<std::vector<int64_t>> counts_;
  double rows_ = 1;
};

class Series {
 public:
  void Add(double value) { values_.push_back(value); }
  double mean() const {
    double sum = 0;
    for (const double value : values_) sum += value;
    return sum / static_cast<double>(values_.size());
  }
  double standard_error() const {
    if (values_.size() < 2) return 0;
    double squares = 0;
    for (const double value : values_) squares += (value - mean()) * (value - mean());
    const auto count = static_cast<double>(values_.size());
    return std::sqrt(squares / (count - 1) / count);
  }
  double median() const {
    std::vector<double> sorted = values_;
    std::ranges::sort(sorted);
    const size_t half = sorted.size() / 2;
    return sorted.size() % 2 == 1 ? sorted[half] : (sorted[half - 1] + sorted[half]) / 2;
  }

 private:
  std::vector<double> values_;
};

struct Method {
  std::string name;
  bool declares_records = false;
  bool asks_for_one_ways = false;
  std::string prior;  // PriorOf()
  std::map<std::string, std::string> settings;
};

Method MethodOf(const std::string& text) {
  const std::vector<std::string> parts = absl::StrSplit(text, ':');
  Method method{.name = parts[0], .settings = {}};
  for (size_t i = 1; i < parts.size(); ++i) {
    if (parts[i] == "declared") {
      method.declares_records = true;
      continue;
    }
    if (parts[i] == "one_ways") {
      method.asks_for_one_ways = true;
      continue;
    }
    if (parts[i].starts_with("public") && parts[i].find('=') == std::string::npos) {
      method.prior = parts[i];
      method.settings["prior"] = parts[i];
      continue;
    }
    const std::pair<std::string, std::string> setting = absl::StrSplit(parts[i], absl::MaxSplits('=', 1));
    method.settings.insert(setting);
  }
  return method;
}

void Run(const std::string& table_name, const RealTable& table, const SealedTableHandle& sealed,
         const Truth& truth, const std::string& epsilon, const std::string& text, int seeds) {
  const Method method = MethodOf(text);
  SynthesisInput input{
      .domain = table.domain,
      .unit_bound = {},
      .rule = {},
      .spend = {},
      .workload = WholeMarginals(method.asks_for_one_ways ? OneWaysOf(table.domain) : truth.sets()),
      .settings = method.settings,
      .assume_records = std::nullopt,
      .prior = PriorOf(table.domain, method.prior)};
  if (method.declares_records) input.assume_records = std::ssize(table.rows);
  SetBudget(epsilon, input);
  Series l1;
  Series rows_l1;
  Series largest;
  Series seconds;
  std::string last;
  for (int seed = 1; seed <= seeds; ++seed) {
    Drbg bits = BitsOf(seed);
    const double start = CpuSeconds();
    const Synthesizer* const synthesizer = FindSynthesizer(method.name);
    if (synthesizer == nullptr) {
      std::printf("there is no method %s\n", method.name.c_str());
      return;
    }
    auto plan = synthesizer->Plan(input);
    if (!plan.ok()) {
      std::printf("%-8s %5s %-40s %s\n", table_name.c_str(), epsilon.c_str(), text.c_str(),
                  plan.status().ToString().c_str());
      return;
    }
    Kernel kernel(sealed, input.domain, input.unit_bound, Meter(std::move(plan->draws)), bits);
    Pacer pacer{std::stop_token()};
    const auto model = synthesizer->Fit(input, kernel, pacer, NoProgress());
    seconds.Add(CpuSeconds() - start);
    if (!model.ok()) {
      std::printf("%s: %s\n", text.c_str(), model.status().ToString().c_str());
      return;
    }
    const Errors errors =
        truth.Compare([&](const AttributeSet& set) { return (*model)->Marginal(set).value(); });
    l1.Add(errors.mean);
    largest.Add(errors.largest);
    std::vector<std::vector<uint32_t>> drawn;
    Drbg sampling = BitsOf(100 + seed);
    (void)(*model)->Sample(sampling, (*model)->records(), [&](std::span<const uint32_t> codes) {
      std::vector<uint32_t> record(table.domain.size());
      for (size_t i = 0; i < codes.size(); ++i) record[(*model)->attributes()[i]] = codes[i];
      drawn.push_back(std::move(record));
      return absl::OkStatus();
    });
    const PublicTable records = Published(table.domain, drawn);
    rows_l1.Add(truth
                    .Compare([&](const AttributeSet& set) {
                      return CountMarginal(records, table.domain, set).value();
                    })
                    .mean);
    last = (*model)->Transcript().back();
  }
  std::printf("%-8s %5s  %.5f +- %.5f  median %.5f  rows %.5f  max %.4f  %6.2f s  %s  %s\n",
              table_name.c_str(), epsilon.c_str(), l1.mean(), l1.standard_error(), l1.median(),
              rows_l1.mean(), largest.mean(), seconds.mean(), text.c_str(),
              std::getenv("VERBOSE") != nullptr ? last.c_str() : "");
  std::fflush(stdout);
}

int Main(int argc, char** argv) {
  if (argc < 5) {
    std::printf("usage: synthesis_error TABLES EPSILONS SEEDS METHOD ...\n");
    return 2;
  }
  for (const std::string& name : std::vector<std::string>(absl::StrSplit(argv[1], ','))) {
    const RealTable table = bench::ReadNamedTable(name);
    const SealedTableHandle sealed = SealRows(table.domain, table.rows).value();
    const Truth truth(table, WorkloadOf(table.domain));
    for (const std::string& epsilon : std::vector<std::string>(absl::StrSplit(argv[2], ','))) {
      for (int i = 4; i < argc; ++i) Run(name, table, sealed, truth, epsilon, argv[i], std::atoi(argv[3]));
    }
  }
  return 0;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  return curator::dp::Main(argc, argv);
}
