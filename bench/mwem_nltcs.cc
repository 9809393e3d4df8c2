// MWEM on the NLTCS disability table (21,574 records, 16 binary attributes), all 560 three-way marginals.
//
//   mwem_nltcs [repetitions] [key=value]...
//
// Reads $CURATOR_SHARED/data/nltcs/micro.csv (default ../shared).
//
// Prints, for PURE at epsilon 0.1, 1 and 10 and for (1, 1e-9) under ZCDP, the mean and the largest over
// repetitions of: the mean over marginals of the L1 distance between normalised marginals of data and model,
// and the largest difference of a cell; and the CPU seconds of one run. Repetition r draws from the key whose
// first byte is r. The number of records is charged for; it is not assumed. key=value are settings of MWEM.
//
// Then the same, for the pure budgets, of what does not choose: Laplace noise on all 136 parities of one or
// two attributes, and weights of maximum entropy fitted to them.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <numeric>
#include <string>

#include "bench/mwem_paper/bench_world.h"
#include "bench/mwem_paper/parity_baseline.h"
#include "dp/accounting/rule.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"

namespace curator::bench {
namespace {

using Marginals = std::vector<std::vector<double>>;

struct Errors {
  double mean_l1 = 0;
  double largest = 0;
  double cpu_seconds = 0;
};

class Nltcs {
 public:
  Nltcs() : table_(Read()), sets_(dp::AllKWayMarginals(table_.domain, 3, {}).value()) {
    for (const dp::AttributeSet& set : sets_) {
      const std::vector<int64_t> counts = CountsOf(table_, set);
      truth_.emplace_back(counts.begin(), counts.end());
      for (double& share : truth_.back()) share /= static_cast<double>(table_.rows.size());
    }
  }

  dp::SynthesisInput Input(double epsilon, const Settings& settings) const {
    return InputFor(table_.domain, epsilon, dp::WholeMarginals(sets_), settings);
  }

  Errors Mwem(const dp::SynthesisInput& input, int repetition) const {
    const Fitted fitted = FitMwem(input, table_, repetition);
    Marginals counts;
    for (const dp::AttributeSet& set : sets_) counts.push_back(fitted.model->Marginal(set).value());
    return ErrorsOf(counts, static_cast<double>(fitted.model->records()), fitted.cpu_seconds);
  }

  Errors AllParities(double epsilon, int repetition) const {
    const double start = CpuSeconds();
    const std::vector<double> weights = FitAllParities(table_, epsilon, 2, repetition);
    const double seconds = CpuSeconds() - start;
    Marginals counts;
    for (const dp::AttributeSet& set : sets_) counts.push_back(Sums(weights, set));
    return ErrorsOf(counts, std::accumulate(weights.begin(), weights.end(), 0.0), seconds);
  }

 private:
  static BenchTable Read() {
    const CsvFile file = ReadCsv("nltcs/micro.csv");
    std::vector<NumberColumn> columns;
    for (const std::string& name : file.header) columns.push_back({name, 0, 2});
    return NumbersFrom(file, columns);
  }

  // Of three attributes. The last attribute is the lowest binary digit of a cell.
  std::vector<double> Sums(const std::vector<double>& weights, const dp::AttributeSet& set) const {
    std::vector<double> sums(8);
    for (size_t cell = 0; cell < weights.size(); ++cell) {
      size_t place = 0;
      for (const uint32_t a : set) place = place * 2 + ((cell >> (table_.domain.size() - 1 - a)) & 1U);
      sums[place] += weights[cell];
    }
    return sums;
  }

  Errors ErrorsOf(const Marginals& counts, double records, double cpu_seconds) const {
    Errors errors{.cpu_seconds = cpu_seconds};
    for (size_t i = 0; i < truth_.size(); ++i) {
      for (size_t cell = 0; cell < truth_[i].size(); ++cell) {
        const double off = std::abs(counts[i][cell] / records - truth_[i][cell]);
        errors.mean_l1 += off / static_cast<double>(truth_.size());
        errors.largest = std::max(errors.largest, off);
      }
    }
    return errors;
  }

  const BenchTable table_;
  const std::vector<dp::AttributeSet> sets_;
  Marginals truth_;
};

void Report(const std::string& name, const std::string& rounds, int repetitions,
            const std::function<Errors(int)>& run) {
  double mean = 0;
  double worst = 0;
  double largest = 0;
  double seconds = 0;
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    const Errors errors = run(repetition);
    mean += errors.mean_l1 / repetitions;
    worst = std::max(worst, errors.mean_l1);
    largest += errors.largest / repetitions;
    seconds += errors.cpu_seconds / repetitions;
  }
  std::printf("%-28s %6s   %.4f   %.4f    %.4f   %.2f\n", name.c_str(), rounds.c_str(), mean, worst, largest,
              seconds);
  std::fflush(stdout);
}

void ReportMwem(const std::string& name, const Nltcs& nltcs, const dp::SynthesisInput& input,
                int repetitions) {
  const std::string rounds = dp::FindSynthesizer("mwem")->Plan(input)->settings.at("rounds");
  Report(name, rounds, repetitions, [&](int repetition) { return nltcs.Mwem(input, repetition); });
}

int Main(int argc, char** argv) {
  const int repetitions = argc > 1 ? std::max(1, std::atoi(argv[1])) : 10;
  Settings settings;
  for (int i = 2; i < argc; ++i) {
    const std::string setting = argv[i];
    const size_t equals = setting.find('=');
    settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  const Nltcs nltcs;
  constexpr double kEpsilons[] = {0.1, 1, 10};
  std::printf("budget                       rounds   mean L1  worst L1  max      CPU s   (%d repetitions)\n",
              repetitions);
  for (const double epsilon : kEpsilons) {
    const dp::SynthesisInput input = nltcs.Input(epsilon, settings);
    ReportMwem("PURE epsilon " + input.spend.epsilon->ToString(), nltcs, input, repetitions);
  }
  dp::SynthesisInput zcdp = nltcs.Input(1, settings);
  zcdp.rule = {};
  zcdp.rule.kind = dp::RuleKind::kZcdp;
  zcdp.rule.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne);
  zcdp.rule.delta = dp::Delta(dp::kDeltaUnitsPerOne / 1'000'000'000);
  zcdp.spend = {.rho = dp::Rho(dp::LimitsOf(zcdp.rule).value()[0].amount)};
  ReportMwem("ZCDP (1, 1e-9)", nltcs, zcdp, repetitions);
  for (const double epsilon : kEpsilons) {
    const std::string name = "all parities, epsilon " + nltcs.Input(epsilon, {}).spend.epsilon->ToString();
    Report(name, "-", repetitions, [&](int repetition) { return nltcs.AllParities(epsilon, repetition); });
  }
  return 0;
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  return curator::bench::Main(argc, argv);
}
