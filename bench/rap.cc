// The projection of RAP: nanoseconds of one step (forward and gradient) for each query and row, on one thread
// and on two, with every instruction set that the machine has.
//
//   bench_rap [--benchmark_filter=...]
#include <benchmark/benchmark.h>
#include <time.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <thread>

#include "dp/synthesis/rap/cpu_projector.h"

namespace curator::dp {
namespace {

// ADULT's attributes, 588 columns; and as many as LOANS has, 4,427, in attributes of its typical size.
const std::vector<int64_t> kAdult = {85, 9, 100, 16, 7, 15, 6, 5, 2, 100, 100, 99, 42, 2};

std::vector<int64_t> LoansLike() {
  std::vector<int64_t> sizes = {1001, 27};
  for (int i = 0; i < 33; ++i) sizes.push_back(i % 2 == 0 ? 101 : 102);
  sizes.push_back(50);
  return sizes;
}

RelaxedRows RandomRows(const std::vector<int64_t>& sizes, int64_t rows, size_t block_rows) {
  std::vector<Attribute> attributes;
  AttributeSet all;
  for (size_t i = 0; i < sizes.size(); ++i) {
    attributes.push_back(Attribute::Create("a" + std::to_string(i), CodedKind{sizes[i]}).value());
    all.push_back(static_cast<uint32_t>(i));
  }
  const Domain domain = Domain::Create(std::move(attributes)).value();
  RelaxedRows relaxed{.layout = RelaxedLayout::Create(domain, all, rows, block_rows).value(),
                      .parameters = {}};
  relaxed.parameters = AlignedFloats(relaxed.layout.elements());
  std::mt19937_64 random(1);
  std::uniform_real_distribution<float> uniform(-1, 1);
  for (size_t i = 0; i < relaxed.parameters.size(); ++i) relaxed.parameters[i] = uniform(random);
  return relaxed;
}

class TwoThreads final : public Executor {
 public:
  void RunOnFreeCores(int /*most*/, const std::function<void(int)>& work) override {
    std::jthread other([&work] { work(1); });
    work(0);
  }
};

ProjectionProblem RandomCells(const RelaxedLayout& layout, size_t count, size_t factors) {
  std::mt19937_64 random(2);
  ProjectionProblem problem;
  for (size_t i = 0; i < count; ++i) {
    ProductTerm term;
    std::vector<size_t> left(layout.sizes().size());
    for (size_t a = 0; a < left.size(); ++a) left[a] = a;
    for (size_t f = 0; f < factors; ++f) {
      const size_t pick = random() % left.size();
      const size_t attribute = left[pick];
      left.erase(left.begin() + static_cast<std::ptrdiff_t>(pick));
      term.columns.push_back(
          static_cast<uint32_t>(layout.first_columns()[attribute] + random() % layout.sizes()[attribute]));
    }
    problem.polynomials.push_back({.terms = {std::move(term)}, .answer = 0.01F});
  }
  return problem;
}

// Random marginals of `k` attributes and at most 48,842 cells.
ProjectionProblem RandomMarginals(const RelaxedLayout& layout, size_t count, size_t k) {
  std::mt19937_64 random(3);
  ProjectionProblem problem;
  while (problem.marginals.size() < count) {
    std::vector<size_t> positions;
    size_t cells = 1;
    while (positions.size() < k) {
      const size_t position = random() % layout.sizes().size();
      if (std::ranges::find(positions, position) != positions.end()) continue;
      positions.push_back(position);
      cells *= layout.sizes()[position];
    }
    if (cells > 48'842) continue;
    std::ranges::sort(positions);
    problem.marginals.push_back({.positions = positions, .answers = std::vector<float>(cells, 1e-4F)});
  }
  return problem;
}

// The marginal of each attribute.
ProjectionProblem OneWays(const RelaxedLayout& layout) {
  ProjectionProblem problem;
  for (size_t i = 0; i < layout.sizes().size(); ++i) {
    const size_t size = layout.sizes()[i];
    problem.marginals.push_back(
        {.positions = {i}, .answers = std::vector<float>(size, 1 / static_cast<float>(size))});
  }
  return problem;
}

void ReportPerQueryAndRow(benchmark::State& state, double products, const RelaxedRows& rows) {
  state.counters["queries"] = products;
  state.counters["ns_per_query_row"] =
      benchmark::Counter(products * static_cast<double>(rows.layout.rows()) * 1e-9,
                         benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

// A whole step, SparseMax and Adam included: one of fifty, or of ten over whole marginals.
void Step(benchmark::State& state, const RelaxedRows& rows, const ProjectionProblem& problem, double products,
          const ProjectionLoops& loops, Executor& executor) {
  const int steps = problem.marginals.empty() ? 50 : 10;
  const CpuProjector projector(executor, loops);
  const ProjectionRule rule{.most_steps = steps, .tolerance = -1e9};
  for (auto unused : state) {
    Pacer pacer{std::stop_token()};
    benchmark::DoNotOptimize(projector.Project(problem, rows, rule, pacer).value().last_loss);
  }
  ReportPerQueryAndRow(state, steps * products, rows);
}

// Processor time of this thread, in seconds.
double ThreadSeconds() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

// What the queries add to a step: the time of fifty steps with them and the marginal of each attribute, less
// that of fifty steps with the latter alone (with nothing to fit Adam would add up zeros, which takes less
// time); the median of some such pairs.
void Queries(benchmark::State& state, const RelaxedRows& rows, const ProjectionProblem& problem,
             const ProjectionLoops& loops) {
  constexpr int kSteps = 50;
  constexpr int kPairs = 5;
  const CpuProjector projector(OnlyThisThread(), loops);
  const ProjectionRule rule{
      .relaxation = Relaxation::kSoftmax, .most_steps = kSteps, .tolerance = -1e9, .enough = -1};
  const ProjectionProblem one_ways = OneWays(rows.layout);
  ProjectionProblem both = problem;
  both.marginals = one_ways.marginals;
  const auto seconds_of = [&](const ProjectionProblem& some) {
    Pacer pacer{std::stop_token()};
    const double start = ThreadSeconds();
    benchmark::DoNotOptimize(projector.Project(some, rows, rule, pacer).value().last_loss);
    return ThreadSeconds() - start;
  };
  std::vector<double> added;
  for (auto unused : state) {
    for (int pair = 0; pair < kPairs; ++pair) {
      const double without = seconds_of(one_ways);
      added.push_back(seconds_of(both) - without);
    }
  }
  std::ranges::sort(added);
  const auto products = static_cast<double>(problem.polynomials.size() * rows.layout.rows());
  state.counters["queries"] = static_cast<double>(problem.polynomials.size());
  state.counters["ns_per_query_row"] = 1e9 * added[added.size() / 2] / (kSteps * products);
}

void Register(const std::string& data, const std::vector<int64_t>& sizes, size_t marginal_attributes) {
  static std::vector<std::unique_ptr<RelaxedRows>> kept;
  static TwoThreads two_threads;
  kept.push_back(std::make_unique<RelaxedRows>(RandomRows(sizes, 1000, kCellBlockRows)));
  const RelaxedRows& rows = *kept.back();
  kept.push_back(std::make_unique<RelaxedRows>(RandomRows(sizes, 1000, kMarginalBlockRows)));
  const RelaxedRows& wide_rows = *kept.back();
  const auto add_queries = [&rows](const std::string& name, const ProjectionProblem& problem) {
    for (const ProjectionLoops* loops : AvailableProjectionLoops()) {
      benchmark::RegisterBenchmark(
          (name + ", queries only/" + loops->name).c_str(),
          [&rows, problem, loops](benchmark::State& state) { Queries(state, rows, problem, *loops); })
          ->Iterations(1);
    }
  };
  const auto add = [](const std::string& name, const RelaxedRows& own_rows,
                      const ProjectionProblem& problem) {
    double products = static_cast<double>(problem.polynomials.size());
    for (const MarginalAnswer& marginal : problem.marginals)
      products += static_cast<double>(marginal.answers.size());
    for (const ProjectionLoops* loops : AvailableProjectionLoops()) {
      benchmark::RegisterBenchmark((name + "/" + loops->name).c_str(),
                                   [&own_rows, problem, products, loops](benchmark::State& state) {
                                     Step(state, own_rows, problem, products, *loops, OnlyThisThread());
                                   });
    }
    benchmark::RegisterBenchmark((name + "/two threads").c_str(), [&own_rows, problem,
                                                                   products](benchmark::State& state) {
      Step(state, own_rows, problem, products, *AvailableProjectionLoops().front(), two_threads);
    })->UseRealTime();
  };
  add_queries(data + "/1000 cells of 3", RandomCells(rows.layout, 1000, 3));
  add_queries(data + "/2500 cells of 3", RandomCells(rows.layout, 2500, 3));
  add_queries(data + "/2500 cells of 5", RandomCells(rows.layout, 2500, 5));
  add(data + "/1000 cells of 3", rows, RandomCells(rows.layout, 1000, 3));
  add(data + "/2500 cells of 3", rows, RandomCells(rows.layout, 2500, 3));
  add(data + "/2500 cells of 5", rows, RandomCells(rows.layout, 2500, 5));
  add(data + "/50 marginals of " + std::to_string(marginal_attributes), wide_rows,
      RandomMarginals(wide_rows.layout, 50, marginal_attributes));
}

}  // namespace
}  // namespace curator::dp

int main(int argc, char** argv) {
  curator::dp::Register("588 columns", curator::dp::kAdult, 3);
  curator::dp::Register("4427 columns", curator::dp::LoansLike(), 2);
  benchmark::Initialize(&argc, argv);
  benchmark::RunSpecifiedBenchmarks();
}
