// RAP on the data of its paper, beside what is simpler: error of marginals at (epsilon, delta = 1/n^2).
//
//   rap_paper OUT key=value...
//     data=adult|loans          of $CURATOR_SHARED/data: adult_pgm, 48,842 records of 588 columns;
//                               loans, 42,535 of 4,427
//     workload=public|3|5       the triples of public RAP runs (adult only), or random sets of so
//                               many attributes, of at most `most_cells` cells (1000000) by
//                               `seed` (1)
//     marginals=64              how many of them; as many as there are where there are fewer
//     at_least=1                asks for thresholds instead of cells: for each cell, the records that share
//                               at least so many of its values
//     samples=1,5               also the errors of so many records for each row of a relaxed model, a
//                               line for each number
//     method=rap|mwem|gaussian|zero, or any other method
//     epsilon=1,0.1             budgets
//     repetitions=3             repetition r draws from the key whose first byte is r, from `first` (1) on
//     set.KEY=VALUE             a setting of the method
//
// Appends a line for each run to OUT and prints it; runs that OUT has already are skipped, so a long
// comparison can be stopped and gone on with. Columns: data workload method settings epsilon repetition, then
// mean L1 (over marginals, of shares), largest error, mean error (over cells), CPU seconds. After each budget
// it prints the means of all repetitions that OUT has, with their standard errors. `gaussian` measures all
// marginals and divides by the measured number of records; `gaussian-clipped` is the same without what is
// negative, scaled to 1. Both answer thresholds by sums of cells. delta = 1/n^2 is public here and nowhere
// else.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <map>
#include <set>
#include <sstream>
#include <string>

#include "dp/accounting/rule.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/queries/linear_queries.h"
#include "dp/queries/marginals.h"
#include "dp/sensitivity/sensitivity.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "mean_error.h"
#include "rap_workloads.h"
#include "real_tables.h"

namespace curator::dp {
namespace {

struct Errors {
  double mean_l1 = 0;
  double largest = 0;
  double mean = 0;
  double cpu_seconds = 0;
};

using Shares = std::vector<double>;               // of one marginal
using AnswersTo = std::function<Shares(size_t)>;  // by the number of the marginal

double SecondsSince(std::clock_t start) {
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

using Rows = std::vector<std::vector<uint32_t>>;

Shares SharesOf(const Domain& domain, const Rows& rows, const AttributeSet& set) {
  Shares shares(static_cast<size_t>(domain.CellCount(set).value()));
  for (const auto& row : rows) {
    size_t cell = 0;
    for (const uint32_t attribute : set)
      cell = cell * static_cast<size_t>(domain.attributes()[attribute].size()) + row[attribute];
    shares[cell] += 1 / static_cast<double>(rows.size());
  }
  return shares;
}

std::vector<std::string> SplitAt(const std::string& text, char separator) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, separator);) parts.push_back(part);
  return parts;
}

// The file of results: a line for each run, also of earlier programs.
class Results {
 public:
  explicit Results(std::string path) : path_(std::move(path)) {
    std::ifstream lines(path_);
    for (std::string line; std::getline(lines, line);) Keep(line);
  }

  bool Has(const std::string& key) const { return runs_.contains(key); }

  void Add(const std::string& key, const Errors& errors) {
    std::array<char, 200> numbers;
    std::snprintf(numbers.data(), numbers.size(), " : %.4f %.5f %.3e %.2f", errors.mean_l1, errors.largest,
                  errors.mean, errors.cpu_seconds);
    const std::string line = key + numbers.data();
    std::printf("%s\n", line.c_str());
    std::fflush(stdout);
    std::ofstream(path_, std::ios::app) << line << "\n";
    Keep(line);
  }

  // Means over the repetitions of each run whose key begins so.
  void PrintMeans(const std::string& first_words) const {
    std::map<std::string, std::vector<Errors>> by_run;
    for (const auto& [key, errors] : runs_) {
      if (key.rfind(first_words, 0) == 0) by_run[key.substr(0, key.rfind(' '))].push_back(errors);
    }
    for (const auto& [run, errors] : by_run) {
      std::printf("mean of %zu, %s : L1", errors.size(), run.c_str());
      PrintMean(errors, &Errors::mean_l1, " %.4f +- %.4f, max");
      PrintMean(errors, &Errors::largest, " %.5f +- %.5f, cell");
      PrintMean(errors, &Errors::mean, " %.3e +- %.1e, CPU s");
      PrintMean(errors, &Errors::cpu_seconds, " %.2f +- %.2f\n");
    }
  }

 private:
  void Keep(const std::string& line) {
    const size_t end = line.find(" : ");
    if (end == std::string::npos) return;
    Errors& errors = runs_[line.substr(0, end)];
    std::istringstream(line.substr(end + 3)) >> errors.mean_l1 >> errors.largest >> errors.mean >>
        errors.cpu_seconds;
  }

  static void PrintMean(const std::vector<Errors>& all, double Errors::*member, const char* format) {
    std::vector<double> values;
    for (const Errors& errors : all) values.push_back(errors.*member);
    const bench::MeanError mean = bench::MeanErrorOf(values);
    std::printf(format, mean.mean, mean.error);
  }

  const std::string path_;
  std::map<std::string, Errors> runs_;
};

// One comparison: data, workload and how often.
class Comparison {
 public:
  Comparison(std::map<std::string, std::string> arguments, const std::string& out)
      : arguments_(std::move(arguments)),
        results_(out),
        data_(bench::ReadNamedTable(Get("data", "adult"))),
        table_(SealRows(data_.domain, data_.rows).value()),
        sets_(bench::NamedWorkload(data_.domain, Get("workload", "public"),
                                   {.marginals = std::stoul(Get("marginals", "64")),
                                    .most_cells = std::stoll(Get("most_cells", "1000000"))},
                                   std::stoull(Get("seed", "1")))) {
    if (!arguments_.contains("list")) return;
    for (const AttributeSet& set : sets_) {
      for (const uint32_t attribute : set) std::printf("%u ", attribute);
      std::printf("\n");
    }
  }

  void Run() {
    for (const std::string& epsilon : SplitAt(Get("epsilon", "0.1,1"), ',')) {
      const int first = std::stoi(Get("first", "1"));
      for (int repetition = first; repetition < first + std::stoi(Get("repetitions", "3")); ++repetition)
        RunOnce(epsilon, repetition);
      results_.PrintMeans(KeyOf(Get("method", "rap"), "", epsilon, ""));
      for (const std::string& samples : SplitAt(Get("samples", ""), ','))
        results_.PrintMeans(KeyOf(Get("method", "rap"), ",samples=" + samples, epsilon, ""));
    }
  }

 private:
  std::string Get(const std::string& key, const std::string& otherwise) const {
    const auto found = arguments_.find(key);
    return found == arguments_.end() ? otherwise : found->second;
  }

  // What a line of results begins with.
  std::string KeyOf(const std::string& method, const std::string& more_settings, const std::string& epsilon,
                    const std::string& repetition) const {
    std::string workload = Get("workload", "public") + "/" + Get("seed", "1");
    for (const std::string key : {"marginals", "at_least"})
      if (arguments_.contains(key)) workload += "/" + key + "=" + Get(key, "");
    std::string settings;
    for (const auto& [key, value] : arguments_) {
      if (key.rfind("set.", 0) == 0) settings += (settings.empty() ? "" : ",") + key.substr(4) + "=" + value;
    }
    if (settings.empty()) settings = "default";
    return Get("data", "adult") + " " + workload + " " + method + " " + settings + more_settings + " " +
           epsilon + " " + repetition;
  }

  // Thresholds, where they are asked for.
  Shares AsAsked(size_t marginal, const Shares& cells) const {
    const int64_t at_least = std::stoll(Get("at_least", "0"));
    return at_least > 0 ? CountsAtLeast(data_.domain, sets_[marginal], at_least, cells) : cells;
  }

  // One marginal at a time, because all of a large workload would not fit in memory. The time is that of
  // `answers` alone.
  Errors ErrorsOf(const AnswersTo& answers) const {
    Errors errors;
    double cells = 0;
    for (size_t i = 0; i < sets_.size(); ++i) {
      const std::clock_t start = std::clock();
      const Shares found = AsAsked(i, answers(i));
      errors.cpu_seconds += SecondsSince(start);
      const Shares truth = AsAsked(i, SharesOf(data_.domain, data_.rows, sets_[i]));
      for (size_t cell = 0; cell < truth.size(); ++cell) {
        const double off = std::abs(found[cell] - truth[cell]);
        errors.mean_l1 += off / static_cast<double>(sets_.size());
        errors.mean += off;
        errors.largest = std::max(errors.largest, off);
      }
      cells += static_cast<double>(truth.size());
    }
    errors.mean /= cells;
    return errors;
  }

  SynthesisInput InputWith(const std::string& epsilon) const {
    SynthesisInput input{.domain = data_.domain,
                         .unit_bound = {},
                         .rule = {},
                         .spend = {},
                         .workload = WholeMarginals(sets_),
                         .settings = {},
                         .assume_records = std::nullopt};
    for (const auto& [key, value] : arguments_) {
      if (key.rfind("set.", 0) == 0) input.settings[key.substr(4)] = value;
    }
    input.rule.kind = RuleKind::kZcdp;
    input.rule.epsilon = Epsilon(std::llround(std::stod(epsilon) * kEpsilonUnitsPerOne));
    const auto n = static_cast<double>(data_.rows.size());
    input.rule.delta = Delta(std::llround(static_cast<double>(kDeltaUnitsPerOne) / (n * n)));
    input.spend = {.rho = Rho(LimitsOf(input.rule).value()[0].amount)};
    return input;
  }

  void RunOnce(const std::string& epsilon, int repetition) {
    const std::string method = Get("method", "rap");
    const std::string number = std::to_string(repetition);
    const std::string key = KeyOf(method, "", epsilon, number);
    if (results_.Has(key)) return;
    DrawKey::Bytes seed{};
    seed[0] = static_cast<uint8_t>(repetition);
    Drbg bits{DrawKey(seed)};
    if (method == "gaussian") return Gaussian(InputWith(epsilon), bits, epsilon, number);
    if (method == "zero") {
      return results_.Add(key, ErrorsOf([&](size_t i) {
                            return Shares(static_cast<size_t>(data_.domain.CellCount(sets_[i]).value()));
                          }));
    }
    FitAndCompare(InputWith(epsilon), bits, epsilon, number);
  }

  void FitAndCompare(const SynthesisInput& input, Drbg& bits, const std::string& epsilon,
                     const std::string& number) {
    const Synthesizer& method = *FindSynthesizer(Get("method", "rap"));
    const std::clock_t start = std::clock();
    SynthesisPlan plan = method.Plan(input).value();
    Kernel kernel(table_, input.domain, input.unit_bound, Meter(std::move(plan.draws)), bits);
    Pacer pacer{std::stop_token()};
    const auto model = method.Fit(input, kernel, pacer, NoProgress()).value();
    const double fit_seconds = SecondsSince(start);
    if (arguments_.contains("transcript")) {
      for (const std::string& line : plan.schedule) std::printf("  %s\n", line.c_str());
      for (const std::string& line : model->Transcript()) std::printf("  %s\n", line.c_str());
    }
    for (const std::string& samples : SplitAt(Get("samples", ""), ',')) {
      const int64_t rows = std::stoll(samples) * std::stoll(plan.settings.at("rows"));
      results_.Add(KeyOf(std::string(method.name()), ",samples=" + samples, epsilon, number),
                   ErrorsOfRecords(*model, rows, bits));
    }
    Errors errors = ErrorsOf([&](size_t i) {
      Shares shares = model->Marginal(sets_[i]).value();
      for (double& cell : shares) cell /= static_cast<double>(model->records());
      return shares;
    });
    errors.cpu_seconds += fit_seconds;
    results_.Add(KeyOf(std::string(method.name()), "", epsilon, number), errors);
  }

  Errors ErrorsOfRecords(const SynthesisModel& model, int64_t rows, Drbg& bits) const {
    Rows records;
    const absl::Status drawn = model.Sample(bits, rows, [&](std::span<const uint32_t> codes) {
      std::vector<uint32_t>& record = records.emplace_back(data_.domain.size());
      for (size_t i = 0; i < codes.size(); ++i) record[model.attributes()[i]] = codes[i];
      return absl::OkStatus();
    });
    if (!drawn.ok()) std::abort();
    return ErrorsOf([&](size_t i) { return SharesOf(data_.domain, records, sets_[i]); });
  }

  // All marginals at once with what is left after a fiftieth for the number of records.
  void Gaussian(const SynthesisInput& input, Drbg& bits, const std::string& epsilon,
                const std::string& number) {
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
    const auto all_counts = kernel.NoisyCounts(sets_, noise).value();
    results_.Add(KeyOf("gaussian", "", epsilon, number), ErrorsOf([&](size_t i) {
                   Shares raw(all_counts[i].begin(), all_counts[i].end());
                   for (double& share : raw) share /= records;
                   return raw;
                 }));
    results_.Add(KeyOf("gaussian-clipped", "", epsilon, number), ErrorsOf([&](size_t i) {
                   Shares clipped(all_counts[i].begin(), all_counts[i].end());
                   double total = 0;
                   for (double& share : clipped) total += share = std::max(0.0, share);
                   for (double& share : clipped) share /= total;
                   return clipped;
                 }));
  }

  const std::map<std::string, std::string> arguments_;
  Results results_;
  const bench::RealTable data_;
  const SealedTableHandle table_;
  const std::vector<AttributeSet> sets_;
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
