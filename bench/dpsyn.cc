// Accuracy and speed of synthesizers on real tables.
//
//   dpsyn marginals TABLE K METHOD RULE EPSILON [REPETITIONS] [key=value]...
//   dpsyn squares   TABLE METHOD RULE EPSILON [REPETITIONS] [key=value]...
//   dpsyn uses      TABLE METHOD RULE EPSILON [REPETITIONS] [key=value]...
//   dpsyn speed     [ROWS] [ATTRIBUTES] [key=value]...
//   dpsyn designs
//
// TABLE: adult, retail32, retail64, msnbc, nltcs. RULE: pure, or certified (ADVANCED, a promise of (epsilon,
// 1e-9) kept by numerical composition), or zcdp (the rho of (epsilon, 1e-9)). The method `direct` answers the
// workload itself with noise.
//
//   marginals  all K-way marginals are the workload; prints the mean over them and over repetitions of the L1
//              distance between normalised marginals of the table and of the model, the largest difference
//              of a cell, the CPU seconds of planning, drawing and fitting, and those of the answers
//   squares    for each k from 3 to 8, the mean over 30 random k-way marginals of the sum of squared errors
//              of shares (marginals of more than 2^18 cells are left out); the workload of the synthesis is
//              all pairs
//   uses       what a classifier, a regression and centres learn from records; also each by itself, and
//              what explains them: classify, regress, cluster, omit, pairs (dpsyn_uses.h)
//   speed      a table of ROWS records of ATTRIBUTES binary attributes, end to end
//   designs    how many views of how many binary attributes hold every pair, or triple, and the lower bound
//
// Repetition r draws from the key whose first byte is r. Nothing is assumed about the number of records,
// unless assume_records=N is among the settings: a public guess.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "dp/data/count_marginals.h"
#include "dp/data/testing/seal_rows.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/dpsyn/covering_design.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dpsyn_uses.h"
#include "fitting.h"
#include "real_tables.h"

namespace curator::dp {
namespace {

using bench::RealTable;

PublicTable Published(const RealTable& table) {
  CodedColumns columns(SizesOf(table.domain));
  for (const auto& row : table.rows) (void)columns.AppendRow(row);
  return PublicTable::Create(std::move(columns)).value();
}

std::vector<double> AnswerOf(const Fitted& fitted, const SynthesisInput& input, size_t marginal) {
  if (fitted.model != nullptr) return fitted.model->Marginal(input.workload[marginal].attributes).value();
  return {fitted.answers[marginal].begin(), fitted.answers[marginal].end()};
}

double Total(const std::vector<double>& cells) {
  double total = 0;
  for (const double cell : cells) total += cell;
  return total;
}

std::string DescribeCell(const RealTable& table, const AttributeSet& set, size_t cell, double truth,
                         double estimate) {
  std::string text;
  for (size_t i = set.size(); i-- > 0;) {
    const Attribute& attribute = table.domain.attributes()[set[i]];
    const auto size = static_cast<size_t>(attribute.size());
    text = attribute.name() + "=" + std::to_string(cell % size) + " " + text;
    cell /= size;
  }
  return text + ": " + std::to_string(estimate) + " for " + std::to_string(truth);
}

int Marginals(int argc, char** argv) {
  const RealTable table = bench::ReadNamedTable(argv[2]);
  const std::string method = argv[4];
  const int repetitions = argc > 7 ? std::atoi(argv[7]) : 3;
  const std::vector<AttributeSet> sets = AllKWayMarginals(table.domain, std::atoi(argv[3]), {}).value();
  SynthesisInput input = InputFor(table, sets, argc, argv, 8);
  SetBudget(argv[5], argv[6], input);
  const SealedTableHandle sealed = SealRows(table.domain, table.rows).value();
  const PublicTable published = Published(table);
  double l1 = 0;
  double worst = 0;
  double largest = 0;
  std::string where;
  double fit_seconds = 0;
  double answer_seconds = 0;
  for (int repetition = 1; repetition <= repetitions; ++repetition) {
    const Fitted fitted = FitOnce(method, input, sealed, repetition);
    fit_seconds += fitted.cpu_seconds / repetitions;
    if (repetition == 1 && fitted.model != nullptr)
      std::printf("  %s\n", fitted.model->Transcript().back().c_str());
    double mean = 0;
    for (size_t i = 0; i < sets.size(); ++i) {
      const double start = CpuSeconds();
      const std::vector<double> counts = AnswerOf(fitted, input, i);
      answer_seconds += (CpuSeconds() - start) / repetitions;
      const std::vector<int64_t> truth = CountMarginal(published, table.domain, sets[i]).value();
      const double total = Total(counts);
      for (size_t cell = 0; cell < counts.size(); ++cell) {
        const double off = std::abs(counts[cell] / total - static_cast<double>(truth[cell]) /
                                                               static_cast<double>(table.rows.size()));
        mean += off / static_cast<double>(sets.size());
        if (off <= largest) continue;
        largest = off;
        where = DescribeCell(table, sets[i], cell, static_cast<double>(truth[cell]), counts[cell]);
      }
    }
    l1 += mean / repetitions;
    worst = std::max(worst, mean);
  }
  std::printf("%s %s %s eps %s: mean L1 %.4f (worst %.4f) max %.4f  fit %.2f s answers %.2f s\n  max at %s\n",
              argv[2], method.c_str(), argv[5], argv[6], l1, worst, largest, fit_seconds, answer_seconds,
              where.c_str());
  return 0;
}

std::vector<AttributeSet> RandomSets(size_t attributes, size_t k, size_t count) {
  std::mt19937_64 random(1000 + k);
  std::set<AttributeSet> sets;
  for (int tries = 0; sets.size() < count && tries < 10'000; ++tries) {
    std::set<uint32_t> set;
    while (set.size() < k) set.insert(static_cast<uint32_t>(random() % attributes));
    sets.insert(AttributeSet(set.begin(), set.end()));
  }
  return {sets.begin(), sets.end()};
}

constexpr int64_t kMostCells = int64_t{1} << 18;

int Squares(int argc, char** argv) {
  const RealTable table = bench::ReadNamedTable(argv[2]);
  const std::string method = argv[3];
  const int repetitions = argc > 6 ? std::atoi(argv[6]) : 3;
  const SealedTableHandle sealed = SealRows(table.domain, table.rows).value();
  const PublicTable published = Published(table);
  std::printf("%s %s %s eps %s:", argv[2], method.c_str(), argv[4], argv[5]);
  double fit_seconds = 0;
  std::vector<Fitted> models;
  for (size_t k = 3; k <= 8; ++k) {
    std::vector<AttributeSet> sets = RandomSets(table.domain.size(), k, 30);
    std::erase_if(sets, [&](const AttributeSet& set) {
      return table.domain.CellCount(set).value_or(int64_t{1} << 40) > kMostCells;
    });
    if (sets.empty()) break;
    const bool direct = method == "direct";
    SynthesisInput input =
        InputFor(table, direct ? sets : AllKWayMarginals(table.domain, 2, {}).value(), argc, argv, 7);
    SetBudget(argv[4], argv[5], input);
    double squares = 0;
    for (int repetition = 1; repetition <= repetitions; ++repetition) {
      const auto r = static_cast<size_t>(repetition - 1);
      if (direct || models.size() <= r) {
        if (direct) models.clear();
        models.push_back(FitOnce(method, input, sealed, repetition));
        fit_seconds += models.back().cpu_seconds / repetitions;
      }
      const Fitted& fitted = direct ? models.back() : models[r];
      for (size_t i = 0; i < sets.size(); ++i) {
        const std::vector<double> counts =
            direct ? AnswerOf(fitted, input, i) : fitted.model->Marginal(sets[i]).value();
        const std::vector<int64_t> truth = CountMarginal(published, table.domain, sets[i]).value();
        const auto rows = static_cast<double>(table.rows.size());
        for (size_t cell = 0; cell < counts.size(); ++cell) {
          const double off = (counts[cell] - static_cast<double>(truth[cell])) / rows;
          squares += off * off / static_cast<double>(sets.size()) / repetitions;
        }
      }
    }
    std::printf(" k%zu %.2e", k, squares);
    std::fflush(stdout);
  }
  std::printf("  fit %.2f s\n", fit_seconds);
  return 0;
}

// Attributes in chains: each copies the one before with probability 3/4.
int Speed(int argc, char** argv) {
  const int rows = argc > 2 ? std::atoi(argv[2]) : 1'000'000;
  const int attributes = argc > 3 ? std::atoi(argv[3]) : 64;
  std::mt19937_64 random(1);
  std::vector<Attribute> list;
  for (int i = 0; i < attributes; ++i)
    list.push_back(Attribute::Create("a" + std::to_string(i), CodedKind{2}).value());
  RealTable table{.domain = Domain::Create(std::move(list)).value(), .rows = {}};
  for (int row = 0; row < rows; ++row) {
    std::vector<uint32_t>& codes = table.rows.emplace_back(static_cast<size_t>(attributes));
    for (size_t i = 0; i < codes.size(); ++i) {
      const uint64_t word = random();
      codes[i] = i % 8 != 0 && word % 4 != 0 ? codes[i - 1] : (word >> 32) % 10 < 3 ? 1 : 0;
    }
  }
  const SealedTableHandle sealed = SealRows(table.domain, table.rows).value();
  SynthesisInput input = InputFor(table, AllKWayMarginals(table.domain, 2, {}).value(), argc, argv, 4);
  SetBudget("zcdp", "1", input);
  double last = CpuSeconds();
  const Synthesizer& dpsyn = *FindSynthesizer("dpsyn");
  SynthesisPlan plan = dpsyn.Plan(input).value();
  for (const std::string& line : plan.schedule) std::printf("  %s\n", line.c_str());
  std::printf("plan %.2f s\n", CpuSeconds() - last);
  Drbg bits = BitsOf(1);
  Kernel kernel(sealed, input.domain, input.unit_bound, Meter(std::move(plan.draws)), bits);
  Pacer pacer{std::stop_token()};
  last = CpuSeconds();
  const auto model =
      dpsyn
          .Fit(input, kernel, pacer,
               [&](double share) {
                 std::printf("until %.2f of the progress: %.2f s\n", share, CpuSeconds() - last);
                 last = CpuSeconds();
               })
          .value();
  const std::string bytes = model->Serialize();
  std::printf("%s\nstored: %.1f MB; %.2f s\n", model->Transcript().back().c_str(),
              static_cast<double>(bytes.size()) / 1e6, CpuSeconds() - last);
  return 0;
}

int Designs() {
  std::printf(
      "| attributes | width | pairs: views, bound | triples: views, bound |\n| --- | --- | --- | --- |\n");
  for (const auto& [attributes, width] : std::vector<std::pair<uint32_t, int64_t>>{
           {8, 4}, {9, 3}, {12, 6}, {16, 4}, {16, 6}, {16, 8}, {32, 4}, {32, 6}, {32, 8}, {64, 4}, {64, 8}}) {
    std::printf("| %u | %lld |", attributes, static_cast<long long>(width));
    AttributeSet all;
    for (uint32_t i = 0; i < attributes; ++i) all.push_back(i);
    for (const int64_t strength : {2, 3}) {
      if (strength == 3 && attributes > 32) {
        std::printf(" not tried |");
        continue;
      }
      const std::vector<AttributeSet> one = {all};
      Pacer pacer{std::stop_token()};
      const CoverRequest request{.sizes = std::vector<int64_t>(attributes, 2),
                                 .targets = SubsetsWithin(one, static_cast<size_t>(strength), pacer).value(),
                                 .most_cells = int64_t{1} << width};
      std::printf(" %zu, %lld |", CoveringDesign(request, pacer)->size(),
                  static_cast<long long>(SchonheimBound(attributes, width, strength)));
      std::fflush(stdout);
    }
    std::printf("\n");
  }
  return 0;
}

int Main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  if (what == "marginals" && argc > 6) return Marginals(argc, argv);
  if (what == "squares" && argc > 5) return Squares(argc, argv);
  if (argc > 5 && IsUse(what)) return MeasureUse(argc, argv);
  if (what == "speed") return Speed(argc, argv);
  if (what == "designs") return Designs();
  std::fprintf(stderr, "see the head of bench/dpsyn.cc\n");
  return 2;
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  return curator::dp::Main(argc, argv);
}
