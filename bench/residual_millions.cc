// All three-way marginals of millions of cells and of 161,700 sets, measured by residuals: what planning,
// counting, noise and reading take, in processor time and memory, beside a loop of additions in the same run.
//
//   bench_residual_millions [adult|binary|both] [ROUNDS]
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <fstream>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/adult_like.h"
#include "bench/must.h"
#include "dp/data/count_marginals.h"
#include "dp/data/public_table.h"
#include "dp/noise/drbg.h"
#include "dp/noise/product_gaussian.h"
#include "dp/queries/product_queries.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/residual/residual_plan.h"
#include "dp/workload/residual/residual_reader.h"
#include "dp/workload/workload_plan.h"

namespace curator::bench {
namespace {

double CpuSeconds() {
  timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

// The most that this process has had in memory since ForgetPeak(), in megabytes.
double PeakMegabytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  double kilobytes = 0;
  while (status >> word) {
    if (word == "VmHWM:") status >> kilobytes;
  }
  return kilobytes * 1024 / 1e6;
}

void ForgetPeak() {
  std::ofstream("/proc/self/clear_refs") << "5";
}

// The nanoseconds of one dependent addition and multiplication: what the machine gives in this run.
double ReferenceNanoseconds() {
  constexpr int kSteps = 50'000'000;
  const double start = CpuSeconds();
  uint64_t state = 1;
  for (int i = 0; i < kSteps; ++i) state = state * 6364136223846793005U + 1442695040888963407U;
  volatile uint64_t sink = state;
  static_cast<void>(sink);
  return (CpuSeconds() - start) / kSteps * 1e9;
}

void Row(const char* what, double seconds, int64_t cells) {
  std::printf("| %s | %.3f | %.2f | %.0f | %.2f |\n", what, seconds,
              cells > 0 ? seconds / static_cast<double>(cells) * 1e9 : 0.0, PeakMegabytes(),
              ReferenceNanoseconds());
  ForgetPeak();
}

template <typename Work>
auto Timed(const char* what, int64_t cells, const Work& work) {
  const double start = CpuSeconds();
  auto result = work();
  Row(what, CpuSeconds() - start, cells);
  return result;
}

std::vector<dp::QuerySet> ThreeWay(uint32_t attributes) {
  dp::QuerySet set{.groups = {}, .strategy = dp::Strategy::kResidual};
  for (dp::AttributeSet& each : AllSets(attributes, 3))
    set.groups.push_back({.attributes = std::move(each), .queries = dp::EveryCell()});
  return {std::move(set)};
}

// As Kernel::NoisyProducts() does.
void AddCounts(const dp::PublicTable& table, const dp::Domain& domain, const dp::ProductQueries& queries,
               std::vector<std::vector<int64_t>>& values) {
  std::span<const dp::ProductGroup> left = queries.groups;
  size_t done = 0;
  while (!left.empty()) {
    size_t count = 0;
    std::vector<dp::AttributeSet> of_pass;
    for (int64_t held = 0; count < left.size(); ++count) {
      held += domain.CellCount(left[count].attributes).value();
      if (count > 0 && held > (int64_t{1} << 20)) break;
      of_pass.push_back(left[count].attributes);
    }
    auto counts = Must(dp::CountMarginals(table, domain, of_pass));
    for (size_t i = 0; i < count; ++i, ++done) {
      const std::vector<int64_t> answers =
          dp::AnswersFromCounts(domain, queries, left[i], std::move(counts[i]));
      for (size_t at = 0; at < answers.size(); ++at) values[done][at] += answers[at];
    }
    left = left.subspan(count);
  }
}

void Measure(const char* title, const std::vector<int64_t>& sizes, int64_t rows) {
  const dp::UnitBound unit{.relation = dp::NeighbourRelation::kReplaceOne, .max_records = 1};
  const dp::Domain domain = CodedDomain(sizes);
  const dp::PublicTable table = Must(dp::PublicTable::Create(SkewedColumns(sizes, rows)));
  const std::vector<dp::QuerySet> sets = ThreeWay(static_cast<uint32_t>(sizes.size()));
  int64_t cells = 0;
  for (const dp::QueryGroup& group : sets[0].groups) cells += domain.CellCount(group.attributes).value();
  std::printf("\n%s: %zu marginals, %lld cells, %lld records; planning is predicted %.0f MB\n\n", title,
              sets[0].groups.size(), static_cast<long long>(cells), static_cast<long long>(rows),
              static_cast<double>(dp::PlanningBytes(domain, sets)) / 1e6);
  std::printf("| step | CPU s | ns a cell | peak MB | ns of a reference step |\n");
  std::printf("| --- | --- | --- | --- | --- |\n");
  Row("before", 0, 0);
  Timed("validate", cells, [&] {
    Must(dp::ValidateSets(domain, sets));
    return 0;
  });
  const auto shape = Timed("shape", cells, [&] {
    return Must(dp::ResidualShapeOf(domain, unit, sets, dp::ErrorMeasure::kMean, {})).value();
  });
  const auto priced = Timed("price", cells, [&] {
    return Must(dp::MeasurementFor(domain, unit, shape, dp::Rho(dp::kRhoUnitsPerOne / 2)));
  });
  const dp::ProductQueries& queries = priced.queries;
  std::vector<std::vector<int64_t>> values = Timed("noise", shape.measured_values, [&] {
    dp::Drbg bits(dp::DrawKey(dp::DrawKey::Bytes{}));
    std::vector<std::vector<int64_t>> drawn;
    for (size_t i = 0; i < queries.groups.size(); ++i) {
      const auto noise = Must(dp::ProductGaussian::Create(
          priced.sigma_squared[i], dp::VarianceFactors(domain, queries, queries.groups[i])));
      noise.Fill(bits, drawn.emplace_back(noise.cells()));
    }
    return drawn;
  });
  Timed("count", shape.measured_values, [&] {
    AddCounts(table, domain, queries, values);
    return 0;
  });
  auto reader =
      Timed("reader", cells, [&] { return Must(dp::ResidualReader::Create(domain, priced, values)); });
  double sum = 0;
  Timed("read", cells, [&] {
    for (const dp::QueryGroup& group : sets[0].groups) sum += reader.AnswersOf(group).back();
    return 0;
  });
  Timed("errors", cells, [&] {
    for (const dp::QueryGroup& group : sets[0].groups) {
      for (const dp::ResidualError& error : reader.errors().ErrorsOf(group))
        sum += dp::ResidualErrors::HalfWidthOf(error, 0.95);
    }
    return 0;
  });
  std::printf("\n(sum of last cells and half widths: %g)\n", sum);
}

}  // namespace
}  // namespace curator::bench

int main(int argc, char** argv) {
  using curator::bench::Measure;
  const std::string_view which = argc > 1 ? argv[1] : "both";
  const int rounds = argc > 2 ? std::atoi(argv[2]) : 1;
  for (int round = 0; round < rounds; ++round) {
    if (which != "binary")
      Measure("Adult's sizes", {100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2}, 48'842);
    if (which != "adult") Measure("100 binary attributes", std::vector<int64_t>(100, 2), 50'000);
  }
}
