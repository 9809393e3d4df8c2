// MWEM on the NLTCS disability table (21,574 records, 16 binary attributes), all 560 three-way marginals.
//
//   mwem_nltcs [repetitions] [key=value]...     reads $CURATOR_SHARED/data/nltcs/micro.csv (default
//   ../shared)
//
// Prints, for PURE at epsilon 0.1, 1 and 10 and for (1, 1e-9) under ZCDP, the mean and the largest over
// repetitions of: the mean over marginals of the L1 distance between normalised marginals of data and model,
// and the largest difference of a cell; and the CPU seconds of one run. Repetition r draws from the key whose
// first byte is r. The number of records is charged for; it is not assumed.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <string>

#include "dp/accounting/rule.h"
#include "dp/data/sealed_table.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/marginals.h"

namespace curator::dp {
namespace {

std::vector<std::vector<uint32_t>> ReadRows(const std::string& path) {
  std::ifstream file(path);
  std::vector<std::vector<uint32_t>> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    std::vector<uint32_t> row;
    for (const char c : line) {
      if (c == '0' || c == '1') row.push_back(c == '1' ? 1 : 0);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

Domain BinaryDomain(int attributes) {
  std::vector<Attribute> list;
  for (int i = 0; i < attributes; ++i) {
    list.push_back(Attribute::Create("attribute " + std::to_string(i), CodedKind{2}).value());
  }
  return Domain::Create(std::move(list)).value();
}

struct Errors {
  double mean_l1 = 0;
  double largest = 0;
  double cpu_seconds = 0;
};

Errors RunOnce(const SynthesisInput& input, const SealedTableHandle& table,
               const std::vector<std::vector<double>>& truth, int repetition) {
  const Synthesizer& mwem = *FindSynthesizer("mwem");
  DrawKey::Bytes key{};
  key[0] = static_cast<uint8_t>(repetition);
  Drbg bits{DrawKey(key)};
  const std::clock_t start = std::clock();
  SynthesisPlan plan = mwem.Plan(input).value();
  Kernel kernel(table, input.domain, input.unit_bound, Meter(std::move(plan.draws)), bits);
  Pacer pacer{std::stop_token()};
  const auto model = mwem.Fit(input, kernel, pacer, NoProgress()).value();
  Errors errors;
  errors.cpu_seconds = static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
  for (size_t i = 0; i < truth.size(); ++i) {
    const std::vector<double> counts = model->Marginal(input.workload[i].attributes).value();
    for (size_t cell = 0; cell < counts.size(); ++cell) {
      const double off = std::abs(counts[cell] / static_cast<double>(model->records()) - truth[i][cell]);
      errors.mean_l1 += off / static_cast<double>(truth.size());
      errors.largest = std::max(errors.largest, off);
    }
  }
  return errors;
}

void Report(const std::string& name, const SynthesisInput& input, const SealedTableHandle& table,
            const std::vector<std::vector<double>>& truth, int repetitions) {
  double mean = 0;
  double worst = 0;
  double largest = 0;
  double seconds = 0;
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    const Errors errors = RunOnce(input, table, truth, repetition);
    mean += errors.mean_l1 / repetitions;
    worst = std::max(worst, errors.mean_l1);
    largest += errors.largest / repetitions;
    seconds += errors.cpu_seconds / repetitions;
  }
  const std::string rounds = FindSynthesizer("mwem")->Plan(input)->settings.at("rounds");
  std::printf("%-24s %6s   %.4f   %.4f    %.4f   %.2f\n", name.c_str(), rounds.c_str(), mean, worst, largest,
              seconds);
}

int Main(int argc, char** argv) {
  const char* const shared = std::getenv("CURATOR_SHARED");
  const auto rows = ReadRows(std::string(shared != nullptr ? shared : "../shared") + "/data/nltcs/micro.csv");
  if (rows.empty()) {
    std::fprintf(stderr, "data/nltcs/micro.csv not found: set CURATOR_SHARED\n");
    return 1;
  }
  const int repetitions = argc > 1 ? std::atoi(argv[1]) : 10;
  const Domain domain = BinaryDomain(16);
  SynthesisInput input{.domain = domain,
                       .unit_bound = {},
                       .rule = {},
                       .spend = {},
                       .workload = {},
                       .settings = {},
                       .assume_records = std::nullopt};
  for (int i = 2; i < argc; ++i) {
    const std::string setting = argv[i];
    const size_t equals = setting.find('=');
    input.settings[setting.substr(0, equals)] = setting.substr(equals + 1);
  }
  input.workload = WholeMarginals(AllKWayMarginals(domain, 3, {}).value());
  std::vector<std::vector<double>> truth;
  for (const AttributeSet& set : SetsOf(input.workload)) {
    std::vector<double> shares(8);
    for (const auto& row : rows) {
      shares[row[set[0]] * 4 + row[set[1]] * 2 + row[set[2]]] += 1 / static_cast<double>(rows.size());
    }
    truth.push_back(std::move(shares));
  }
  const SealedTableHandle table = SealRows(domain, rows).value();

  std::printf("budget                   rounds   mean L1  worst L1  max      CPU s   (%d repetitions)\n",
              repetitions);
  input.rule.kind = RuleKind::kPure;
  input.rule.epsilon = Epsilon(100 * kEpsilonUnitsPerOne);
  for (const int64_t tenths : {1, 10, 100}) {
    input.spend.epsilon = Epsilon(tenths * kEpsilonUnitsPerOne / 10);
    Report("PURE epsilon " + input.spend.epsilon->ToString(), input, table, truth, repetitions);
  }
  RuleSpec zcdp;
  zcdp.kind = RuleKind::kZcdp;
  zcdp.epsilon = Epsilon(kEpsilonUnitsPerOne);
  zcdp.delta = Delta(kDeltaUnitsPerOne / 1'000'000'000);
  input.rule = zcdp;
  input.spend = {.rho = Rho(LimitsOf(zcdp).value()[0].amount)};
  Report("ZCDP (1, 1e-9)", input, table, truth, repetitions);
  return 0;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  return curator::dp::Main(argc, argv);
}
