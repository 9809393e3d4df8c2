// The processor time that syntheses take beside what is predicted, for the constants of
// dp/synthesis/synthesis_forecast.h and of the methods: each in a process of its own, planned and fitted on a
// made-up table whose attributes depend on one another.
//
//   bench_synthesis_time [WORDS]     prints a table in Markdown, of the syntheses whose names contain WORDS
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <map>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "bench/adult_like.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_forecast.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"

namespace curator {
namespace {

struct TimedCase {
  std::string name;
  std::string method;
  std::vector<int64_t> sizes;
  int64_t records = 100'000;
  std::map<std::string, std::string> settings = {};
  double epsilon = 1;
  int64_t prior_records = 0;
};

std::vector<int64_t> Binary(size_t attributes) {
  return std::vector<int64_t>(attributes, 2);
}

// Each attribute is a noisy copy of a hidden class, more or less.
template <typename Append>
void DrawRecords(const std::vector<int64_t>& sizes, int64_t records, uint64_t seed, const Append& append) {
  std::mt19937_64 random(seed);
  std::vector<uint32_t> codes(sizes.size());
  for (int64_t record = 0; record < records; ++record) {
    const uint64_t hidden = random() % 5;
    for (size_t i = 0; i < codes.size(); ++i) {
      const auto size = static_cast<uint64_t>(sizes[i]);
      const bool is_noise = random() % 10 < 3 + i % 4;
      codes[i] =
          static_cast<uint32_t>((is_noise ? random() % size * random() % size : hidden * size / 5) % size);
    }
    append(codes, record);
  }
}

dp::SealedTableHandle TableOf(const dp::Domain& domain, const TimedCase& of) {
  constexpr int64_t kRecordsOfAGroup = 20;
  dp::SealedTableBuilder builder(domain, dp::RowOwner::kItselfInGroup);
  DrawRecords(of.sizes, of.records, 1, [&](const std::vector<uint32_t>& codes, int64_t record) {
    (void)builder.AppendRow(codes, static_cast<uint32_t>(record / kRecordsOfAGroup));
  });
  return std::move(builder).Build().value();
}

dp::SynthesisInput InputOf(const TimedCase& of) {
  const int64_t epsilon = static_cast<int64_t>(of.epsilon * 1000) * (dp::kEpsilonUnitsPerOne / 1000);
  dp::SynthesisInput input{
      .domain = bench::CodedDomain(of.sizes),
      .unit_bound = {.relation = dp::NeighbourRelation::kAddRemove, .max_records = 1},
      .rule = {.kind = dp::RuleKind::kPure, .epsilon = dp::Epsilon(1000 * dp::kEpsilonUnitsPerOne)},
      .spend = {.epsilon = dp::Epsilon(epsilon)},
      .workload = {},
      .settings = of.settings,
      .assume_records = of.records};
  if (of.prior_records > 0) {
    dp::CodedColumns columns(dp::SizesOf(input.domain));
    DrawRecords(of.sizes, of.prior_records, 2,
                [&](const std::vector<uint32_t>& codes, int64_t) { (void)columns.AppendRow(codes); });
    input.prior =
        std::make_shared<const dp::PublicTable>(dp::PublicTable::Create(std::move(columns)).value());
  }
  if (of.method == "nested") {
    dp::NestedFacts facts{.group_column = "group"};
    for (int64_t code = 0; code < of.sizes[0]; ++code) facts.numbers.push_back(static_cast<double>(code));
    facts.upper = facts.numbers.back();
    facts.group_size_bound = 100;
    input.nested = std::move(facts);
  }
  const int k = of.sizes.size() == 1 ? 1 : 2;
  input.workload =
      dp::WholeMarginals(dp::AllKWayMarginals(input.domain, k, {}, dp::kSynthesisLimits).value());
  return input;
}

double CpuSecondsSoFar() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_utime.tv_sec + used.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
}

void Measure(const TimedCase& of) {
  const dp::SynthesisInput input = InputOf(of);
  const dp::SealedTableHandle table = TableOf(input.domain, of);
  const dp::Synthesizer& method = *dp::FindSynthesizer(of.method);
  const double start = CpuSecondsSoFar();
  const auto plan = method.Plan(input);
  if (!plan.ok()) {
    std::printf("| %s | %s |\n", of.name.c_str(), plan.status().ToString().c_str());
    return;
  }
  dp::Drbg bits{dp::DrawKey(dp::DrawKey::Bytes{})};
  dp::Kernel kernel(table, input.domain, input.unit_bound, dp::Meter(plan->draws), bits);
  dp::Pacer pacer{std::stop_token()};
  const auto model = method.Fit(input, kernel, pacer, [](double) {});
  const double seconds = CpuSecondsSoFar() - start;
  const int64_t predicted = dp::WholeCpuSeconds(plan->cpu_seconds);
  std::printf("| %s | %lld | %lld | %.1f | %.1f | %.2f%s |\n", of.name.c_str(),
              static_cast<long long>(of.records), static_cast<long long>(predicted), seconds,
              static_cast<double>(predicted) / seconds, static_cast<double>(pacer.steps()) * 1e-9,
              model.ok() ? "" : model.status().ToString().c_str());
}

std::vector<TimedCase> Cases() {
  const std::vector<int64_t> adult = bench::AdultSizes();
  const std::vector<int64_t> seven = {9, 16, 7, 15, 6, 5, 2};
  return {
      {"mwem, 7 attributes, 907,200 cells", "mwem", seven},
      {"mwem, the same, ten times the records", "mwem", seven, 1'000'000},
      {"mwem, the same, epsilon 10", "mwem", seven, 100'000, {}, 10},
      {"mwem, 2^20 cells of 20 attributes", "mwem", Binary(20)},
      {"mwem, 2^20 cells, 40 rounds of an average",
       "mwem",
       Binary(20),
       100'000,
       {{"rounds", "40"}, {"iterate", "average"}}},
      {"mwem, 15 attributes, factored", "mwem", adult},
      {"mwem, 22 attributes of 2", "mwem", Binary(22)},
      {"mwem, 5 attributes of 4", "mwem", {4, 4, 4, 4, 4}},
      {"rap, 15 attributes", "rap", adult},
      {"rap, the same, ten times the records", "rap", adult, 1'000'000},
      {"rap, 20 attributes of 2", "rap", Binary(20)},
      {"rap, 5 attributes of 4", "rap", {4, 4, 4, 4, 4}},
      {"rap, 15 attributes, 4,000 rows", "rap", adult, 100'000, {{"rows", "4000"}}},
      {"dpsyn, 15 attributes", "dpsyn", adult},
      {"dpsyn, the same, ten times the records", "dpsyn", adult, 1'000'000},
      {"dpsyn, sorted", "dpsyn", adult, 100'000, {{"records", "sts"}}},
      {"dpsyn, 30 attributes of 2", "dpsyn", Binary(30)},
      {"dpsyn, every move", "dpsyn", seven, 100'000, {{"moves", "every"}}},
      {"priview, 15 attributes", "priview", adult},
      {"priview, 8 attributes of 100", "priview", std::vector<int64_t>(8, 100)},
      {"prior, 7 attributes, 50,000 public records", "prior", seven, 100'000, {}, 1, 50'000},
      {"prior, 15 attributes, 200,000 public records", "prior", adult, 100'000, {}, 1, 200'000},
      {"prior, the full domain of 907,200 cells", "prior", seven, 100'000, {{"support", "full"}}, 1, 50'000},
      {"nested, a response of 100", "nested", {100, 3}},
      {"nested, the same, ten times the records", "nested", {100, 3}, 1'000'000},
      {"nested, a grid of 2^18",
       "nested",
       {100, 3},
       100'000,
       {{"nu_points", "256"}, {"tau_points", "32"}, {"sigma_points", "32"}, {"join", "none"}}},
  };
}

// In a child, whose time is its own.
void MeasureInAChild(const TimedCase& each) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) {
    waitpid(child, nullptr, 0);
    return;
  }
  Measure(each);
  std::fflush(stdout);
  _exit(0);
}

}  // namespace
}  // namespace curator

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  std::printf("| synthesis | records | predicted, s | taken, s | ratio | steps, 10^9 |\n");
  std::printf("| --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (const auto& each : curator::Cases()) {
    if (each.name.find(only) != std::string::npos) curator::MeasureInAChild(each);
  }
}
