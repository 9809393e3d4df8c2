// RAP on the data of its paper, beside what is simpler: error of 64 marginals at (epsilon, delta = 1/n^2).
//
//   rap_paper OUT key=value...
//     data=adult|loans          of $CURATOR_SHARED/data: adult_pgm, 48,842 records of 588 columns;
//                               loans, 42,535 of 4,427
//     workload=public|3|5       the 64 triples of public RAP runs (adult only), or 64 random sets of
//                               so many attributes, of at most `most_cells` cells (1000000) by
//                               `seed` (1)
//     at_least=1                asks for thresholds instead of cells: for each cell, the records that share
//                               at least so many of its values
//     method=rap|mwem|gaussian|zero
//     epsilon=1,0.1             budgets
//     repetitions=3             repetition r draws from the key whose first byte is r, from `first` (1) on
//     set.KEY=VALUE             a setting of the method
//
// Appends a line for each run to OUT and prints it; runs that OUT has already are skipped, so a long
// comparison can be stopped and gone on with. Columns: data workload method settings epsilon repetition, then
// mean L1 (over marginals, of shares), largest error, mean error (over cells), CPU seconds. `gaussian`
// measures all marginals and divides by the measured number of records; `gaussian-clipped` is the same
// without what is negative, scaled to 1. Both answer thresholds by sums of cells. delta = 1/n^2 is public
// here, and only here.
#include <zlib.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>
#include <string>

#include "adult_triples.h"
#include "dp/accounting/rule.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/marginals.h"
#include "dp/workload/sensitivity.h"
#include "dp/workload/threshold_counts.h"

namespace curator::dp {
namespace {

using Rows = std::vector<std::vector<uint32_t>>;

struct Data {
  Domain domain;
  Rows rows;
};

std::string ReadAll(const std::string& path) {
  gzFile file = gzopen(path.c_str(), "rb");
  std::string text;
  std::array<char, 65536> buffer;
  while (file != nullptr) {
    const int got = gzread(file, buffer.data(), buffer.size());
    if (got <= 0) break;
    text.append(buffer.data(), static_cast<size_t>(got));
  }
  if (file != nullptr) gzclose(file);
  return text;
}

Data ReadData(const std::string& name) {
  const char* const shared = std::getenv("CURATOR_SHARED");
  const std::string folder = std::string(shared != nullptr ? shared : "../shared") + "/data/";
  const std::string adult = folder + "adult_pgm/";
  const bool is_adult = name == "adult";
  const auto sizes =
      nlohmann::ordered_json::parse(ReadAll(is_adult ? adult + "domain.json" : folder + "loans/domain.json"));
  std::vector<Attribute> attributes;
  for (const auto& [key, size] : sizes.items())
    attributes.push_back(Attribute::Create(key, CodedKind{size.get<int64_t>()}).value());
  Data data{.domain = Domain::Create(std::move(attributes)).value(), .rows = {}};
  std::istringstream lines(ReadAll(is_adult ? adult + "adult.csv" : folder + "loans/loans.csv.gz"));
  std::string line;
  std::getline(lines, line);
  while (std::getline(lines, line)) {
    std::vector<uint32_t> row;
    std::istringstream cells(line);
    for (std::string cell; std::getline(cells, cell, ',');)
      row.push_back(static_cast<uint32_t>(std::stoul(cell)));
    data.rows.push_back(std::move(row));
  }
  return data;
}

std::vector<AttributeSet> RandomSets(const Domain& domain, size_t k, int64_t most_cells, uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<AttributeSet> sets;
  std::set<AttributeSet> seen;
  for (int tries = 0; sets.size() < 64 && tries < 1'000'000; ++tries) {
    std::set<uint32_t> picked;
    while (picked.size() < k) picked.insert(static_cast<uint32_t>(random() % domain.size()));
    const AttributeSet set(picked.begin(), picked.end());
    if (domain.CellCount(set).value_or(most_cells + 1) > most_cells) continue;
    if (seen.insert(set).second) sets.push_back(set);
  }
  return sets;
}

struct Errors {
  double mean_l1 = 0;
  double largest = 0;
  double mean = 0;
  double cpu_seconds = 0;
};

using Shares = std::vector<std::vector<double>>;  // by marginal

Errors ErrorsOf(const Shares& truth, const Shares& found) {
  Errors errors;
  double cells = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    for (size_t cell = 0; cell < truth[i].size(); ++cell) {
      const double off = std::abs(found[i][cell] - truth[i][cell]);
      errors.mean_l1 += off / static_cast<double>(truth.size());
      errors.mean += off;
      errors.largest = std::max(errors.largest, off);
    }
    cells += static_cast<double>(truth[i].size());
  }
  errors.mean /= cells;
  return errors;
}

Shares TrueShares(const Data& data, const std::vector<AttributeSet>& sets) {
  Shares shares;
  for (const AttributeSet& set : sets) {
    std::vector<double> cells(static_cast<size_t>(data.domain.CellCount(set).value()));
    for (const auto& row : data.rows) {
      size_t cell = 0;
      for (const uint32_t attribute : set)
        cell = cell * static_cast<size_t>(data.domain.attributes()[attribute].size()) + row[attribute];
      cells[cell] += 1 / static_cast<double>(data.rows.size());
    }
    shares.push_back(std::move(cells));
  }
  return shares;
}

// One comparison: data, workload and how often.
class Comparison {
 public:
  Comparison(std::map<std::string, std::string> arguments, std::string out)
      : arguments_(std::move(arguments)),
        out_(std::move(out)),
        data_(ReadData(Get("data", "adult"))),
        table_(SealRows(data_.domain, data_.rows).value()) {
    const std::string workload = Get("workload", "public");
    sets_ = workload == "public"
                ? bench::PublicTriples()
                : RandomSets(data_.domain, std::stoul(workload), std::stoll(Get("most_cells", "1000000")),
                             std::stoull(Get("seed", "1")));
    truth_ = AsAsked(TrueShares(data_, sets_));
    if (arguments_.contains("list")) {
      for (const AttributeSet& set : sets_) {
        for (const uint32_t attribute : set) std::printf("%u ", attribute);
        std::printf("\n");
      }
    }
    std::ifstream lines(out_);
    for (std::string line; std::getline(lines, line);) done_.insert(line.substr(0, line.find(" : ")));
  }

  void Run() {
    std::istringstream budgets(Get("epsilon", "0.1,1"));
    for (std::string epsilon; std::getline(budgets, epsilon, ',');) {
      const int first = std::stoi(Get("first", "1"));
      for (int repetition = first; repetition < first + std::stoi(Get("repetitions", "3")); ++repetition)
        RunOnce(epsilon, repetition);
    }
  }

 private:
  std::string Get(const std::string& key, const std::string& otherwise) const {
    const auto found = arguments_.find(key);
    return found == arguments_.end() ? otherwise : found->second;
  }

  // Thresholds, where they are asked for.
  Shares AsAsked(Shares cells) const {
    const int64_t at_least = std::stoll(Get("at_least", "0"));
    for (size_t i = 0; at_least > 0 && i < cells.size(); ++i)
      cells[i] = CountsAtLeast(data_.domain, sets_[i], at_least, cells[i]);
    return cells;
  }

  void RunOnce(const std::string& epsilon, int repetition) {
    const std::string method = Get("method", "rap");
    std::string settings;
    SynthesisInput input{.domain = data_.domain,
                         .unit_bound = {},
                         .rule = {},
                         .spend = {},
                         .workload = WholeMarginals(sets_),
                         .settings = {},
                         .assume_records = std::nullopt};
    for (const auto& [key, value] : arguments_) {
      if (key.rfind("set.", 0) != 0) continue;
      input.settings[key.substr(4)] = value;
      settings += (settings.empty() ? "" : ",") + key.substr(4) + "=" + value;
    }
    if (settings.empty()) settings = "default";
    const std::string workload = Get("workload", "public") + "/" + Get("seed", "1") +
                                 (arguments_.contains("at_least") ? "/at_least=" + Get("at_least", "") : "");
    const std::string key = Get("data", "adult") + " " + workload + " " + method + " " + settings + " " +
                            epsilon + " " + std::to_string(repetition);
    if (done_.contains(key)) return;
    input.rule.kind = RuleKind::kZcdp;
    input.rule.epsilon = Epsilon(std::llround(std::stod(epsilon) * kEpsilonUnitsPerOne));
    const auto n = static_cast<double>(data_.rows.size());
    input.rule.delta = Delta(std::llround(static_cast<double>(kDeltaUnitsPerOne) / (n * n)));
    input.spend = {.rho = Rho(LimitsOf(input.rule).value()[0].amount)};
    DrawKey::Bytes seed{};
    seed[0] = static_cast<uint8_t>(repetition);
    Drbg bits{DrawKey(seed)};
    const std::clock_t start = std::clock();
    if (method == "gaussian") return Gaussian(input, bits, key);
    if (method == "zero") {
      Shares zeros = truth_;
      for (auto& cells : zeros) std::ranges::fill(cells, 0);
      return Report(key, ErrorsOf(truth_, zeros));
    }
    Errors errors = FitAndCompare(*FindSynthesizer(method), input, bits);
    errors.cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
    Report(key, errors);
  }

  Errors FitAndCompare(const Synthesizer& method, const SynthesisInput& input, Drbg& bits) {
    SynthesisPlan plan = method.Plan(input).value();
    Kernel kernel(table_, input.domain, input.unit_bound, Meter(std::move(plan.draws)), bits);
    Pacer pacer{std::stop_token()};
    if (arguments_.contains("transcript")) {
      for (const std::string& line : plan.schedule) std::printf("  %s\n", line.c_str());
    }
    const auto model = method.Fit(input, kernel, pacer, NoProgress()).value();
    if (arguments_.contains("transcript")) {
      for (const std::string& line : model->Transcript()) std::printf("  %s\n", line.c_str());
    }
    Shares shares;
    for (const AttributeSet& set : sets_) {
      shares.push_back(model->Marginal(set).value());
      for (double& cell : shares.back()) cell /= static_cast<double>(model->records());
    }
    return ErrorsOf(truth_, AsAsked(std::move(shares)));
  }

  // All marginals at once with what is left after a fiftieth for the number of records.
  void Gaussian(const SynthesisInput& input, Drbg& bits, const std::string& key) {
    const int64_t rho = input.spend.rho->units();
    const NoiseSpec record_noise =
        GaussianNoiseFor(RecordCountSensitivity({}).value(), Rho(rho / 50)).value();
    const Sensitivity all = MarginalsSensitivity({}, static_cast<int64_t>(sets_.size())).value();
    const NoiseSpec noise = GaussianNoiseFor(all, Rho(rho - rho / 50)).value();
    Kernel kernel(table_, input.domain, input.unit_bound,
                  Meter({{NoiseEvent(record_noise, RecordCountSensitivity({}).value()), 1},
                         {NoiseEvent(noise, all), 1}}),
                  bits);
    const double records =
        static_cast<double>(std::max<int64_t>(1, kernel.NoisyRecordCount(record_noise).value()));
    Shares raw;
    Shares clipped;
    const auto all_counts = kernel.NoisyCounts(sets_, noise).value();
    for (const auto& counts : all_counts) {
      raw.emplace_back();
      clipped.emplace_back();
      double total = 0;
      for (const int64_t count : counts) {
        raw.back().push_back(static_cast<double>(count) / records);
        clipped.back().push_back(std::max(0.0, raw.back().back()));
        total += clipped.back().back();
      }
      for (double& share : clipped.back()) share /= total;
    }
    Report(key, ErrorsOf(truth_, AsAsked(std::move(raw))));
    std::string clipped_key = key;
    clipped_key.replace(clipped_key.find("gaussian"), 8, "gaussian-clipped");
    Report(clipped_key, ErrorsOf(truth_, AsAsked(std::move(clipped))));
  }

  void Report(const std::string& key, const Errors& errors) {
    std::array<char, 200> numbers;
    std::snprintf(numbers.data(), numbers.size(), " : %.4f %.5f %.3e %.2f", errors.mean_l1, errors.largest,
                  errors.mean, errors.cpu_seconds);
    const std::string line = key + numbers.data();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    std::ofstream(out_, std::ios::app) << line << "\n";
  }

  const std::map<std::string, std::string> arguments_;
  const std::string out_;
  const Data data_;
  const SealedTableHandle table_;
  std::vector<AttributeSet> sets_;
  Shares truth_;
  std::set<std::string> done_;
};

int Main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "usage: rap_paper OUT [key=value]...\n");
    return 2;
  }
  std::map<std::string, std::string> arguments;
  for (int i = 2; i < argc; ++i) {
    const std::string argument = argv[i];
    const size_t equals = argument.find('=');
    arguments[argument.substr(0, equals)] = equals == std::string::npos ? "" : argument.substr(equals + 1);
  }
  Comparison(std::move(arguments), argv[1]).Run();
  return 0;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  return curator::dp::Main(argc, argv);
}
