// What strategies by residuals gain, and whether their forecasts and intervals are right.
//
//   strategies [published | questions | draws | intervals | parities] [DRAWS]
//
// One table, or all. published: the error of plans beside published ones. questions: today's error of the
// questions of the demonstration, that by residuals, and what is chosen. draws: the error of DRAWS draws
// (default 1,000; of few answers more) through the kernel, from a fixed key, beside the forecast. intervals:
// how often intervals at 95% hold the true answer, of a million answers each. parities: the error of
// marginals over attributes of two codes with Laplace noise, measured directly and by parities.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>
#include <vector>

#include "dp/domain/testing_domain.h"
#include "dp/noise/drbg.h"
#include "dp/workload/residual/residual_plan.h"
#include "tests/statistical/demo_questions.h"
#include "tests/statistical/measured_errors.h"
#include "tests/statistical/product_workloads.h"

namespace curator {
namespace {

using dp::UnitBound;
using statistics::Choice;
using statistics::ProductWorkload;

constexpr UnitBound kAdded{dp::NeighbourRelation::kAddRemove, 1};
constexpr UnitBound kReplaced{dp::NeighbourRelation::kReplaceOne, 1};

std::string Ways(int least, int most) {
  return least == most ? std::to_string(most) : "up to " + std::to_string(most);
}

// ---- Beside published errors

struct Domain {
  std::string name;
  std::vector<int64_t> sizes;
  size_t prefixes = 0;  // of the first attributes
};

// RMSE at rho = 1/2, of 1, 2, 3 and up to 3 attributes, the last with the number of records.
struct Published {
  Domain domain;
  std::vector<double> residual_planner;  // ResidualPlanner (the optimum) or ResidualPlanner+
  std::vector<double> hdmm = {};
};

std::vector<Published> AllPublished() {
  const std::vector<int64_t> adult = {100, 100, 100, 99, 85, 42, 16, 15, 9, 7, 6, 5, 2, 2};
  const std::vector<int64_t> cps = {100, 50, 7, 4, 2};
  const std::vector<int64_t> loans = {101, 101, 101, 101, 3, 8, 36, 6, 51, 4, 5, 15};
  return {
      {{"Adult", adult}, {3.047, 6.359, 10.515, 10.665}},
      {{"CPS", cps}, {1.744, 2.035, 2.048, 2.276}},
      {{"Loans", loans}, {2.875, 5.634, 8.702, 8.876}},
      {{"Adult", adult, 5}, {5.081, 17.274, 45.223, 45.174}, {5.648, 21.111, 60.025, 61.613}},
      {{"CPS", cps, 2}, {3.081, 5.823, 7.302, 7.570}, {3.347, 6.625, 8.634, 8.623}},
      {{"Loans", loans, 4}, {4.681, 14.502, 34.168, 34.144}, {5.127, 17.149, 42.938, 44.338}},
  };
}

struct TimedForecast {
  statistics::ProductForecast forecast;
  bool is_plan = true;  // of the server, which lists every query
  double seconds = 0;
};

TimedForecast Planned(const ProductWorkload& workload) {
  constexpr int64_t kMostListed = int64_t{1} << 21;
  const dp::Domain domain = dp::CodedDomain(workload.sizes);
  const bool is_listed = workload.prefixes == 0 || statistics::NumberOfQueries(workload) <= kMostListed;
  const std::vector<dp::QuerySet> sets =
      is_listed ? std::vector{statistics::QueriesOf(workload)} : std::vector<dp::QuerySet>();
  const auto start = std::chrono::steady_clock::now();
  TimedForecast timed{.forecast = {}, .is_plan = is_listed};
  if (is_listed) {
    const auto shape = dp::ResidualShapeOf(domain, kAdded, sets, dp::ErrorMeasure::kMean, {});
    timed.forecast = {.rmse = std::sqrt(2 * shape.value()->error), .gap = shape.value()->gap};
  } else {
    timed.forecast = statistics::ForecastOf(workload);
  }
  timed.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return timed;
}

void PrintPublished() {
  std::printf(
      "| domain, queries | attributes | here | ResidualPlanner(+) | HDMM | gap of the variance | seconds |\n"
      "| --- | --- | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Published& row : AllPublished()) {
    for (int ways = 1; ways <= 4; ++ways) {
      const ProductWorkload workload{.sizes = row.domain.sizes,
                                     .prefixes = row.domain.prefixes,
                                     .least_ways = ways <= 3 ? ways : 0,
                                     .most_ways = std::min(ways, 3)};
      const TimedForecast timed = Planned(workload);
      const size_t column = static_cast<size_t>(ways - 1);
      std::printf("| %s, %s | %s | %.3f%s | %.3f | ", row.domain.name.c_str(),
                  row.domain.prefixes == 0 ? "single codes" : "prefixes",
                  Ways(workload.least_ways, workload.most_ways).c_str(), timed.forecast.rmse,
                  timed.is_plan ? "" : " *", row.residual_planner[column]);
      if (!row.hdmm.empty()) std::printf("%.3f ", row.hdmm[column]);
      std::printf("| %.4f%% | %.2f |\n", 100 * timed.forecast.gap, timed.seconds);
      std::fflush(stdout);
    }
  }
}

// ---- The demonstration's questions

void PrintQuestions() {
  constexpr double kRho = 0.03;
  const dp::Domain domain = statistics::DemoSizes();
  std::printf(
      "| question | before | by residuals | ratio | chosen | its error |\n"
      "| --- | ---: | ---: | ---: | --- | ---: |\n");
  for (const statistics::Question& question : statistics::DemoQuestions()) {
    const auto plan = [&](Choice choice) {
      return statistics::PlanOf(domain, kAdded, question.sets, statistics::RhoOf(kRho), choice);
    };
    const auto before = plan(Choice::kEachSetByItself);
    const auto residual = plan(Choice::kJoint);
    const auto chosen = plan(Choice::kAuto);
    const double error = statistics::RootMeanErrorOf(domain, *before);
    std::printf("| %s | %.2f | ", question.words.c_str(), error);
    if (residual.ok()) {
      const double by_residuals = statistics::RootMeanErrorOf(domain, *residual);
      std::printf("%.2f | %.3f |", by_residuals, by_residuals / error);
    } else {
      std::printf("- | - |");
    }
    std::printf(" %s | %.2f |\n", chosen->residual ? "residuals" : "as before",
                statistics::RootMeanErrorOf(domain, *chosen));
  }
}

// ---- Draws

struct Drawn {
  std::string name;
  dp::Domain domain;
  std::vector<dp::QuerySet> sets;
};

Drawn DrawnProducts(const std::string& name, const ProductWorkload& workload) {
  return {name, dp::CodedDomain(workload.sizes), {statistics::QueriesOf(workload)}};
}

std::vector<Drawn> AllDrawn() {
  std::vector<Drawn> all;
  for (const Published& row : AllPublished()) {
    if (row.domain.name == "Loans") continue;
    for (int ways = 1; ways <= 2; ++ways) {
      const std::string kind = row.domain.prefixes == 0 ? ", single codes, " : ", prefixes, ";
      all.push_back(DrawnProducts(row.domain.name + kind + Ways(ways, ways), {.sizes = row.domain.sizes,
                                                                              .prefixes = row.domain.prefixes,
                                                                              .least_ways = ways,
                                                                              .most_ways = ways}));
    }
  }
  for (const statistics::Question& question : statistics::DemoQuestions())
    all.push_back({"demo: " + question.words, statistics::DemoSizes(), question.sets});
  return all;
}

auto ResidualPlan(const Drawn& drawn, const UnitBound& unit, double rho) {
  return statistics::PlanOf(drawn.domain, unit, drawn.sets, statistics::RhoOf(rho), Choice::kJoint);
}

void PrintDraws(int64_t draws) {
  constexpr int64_t kLeastAnswers = 500'000;  // of all draws
  std::printf(
      "| queries | answers | draws | forecast | drawn | ratio | one deviation of it |\n"
      "| --- | ---: | ---: | ---: | ---: | ---: | ---: |\n");
  for (const Drawn& drawn : AllDrawn()) {
    const auto plan = ResidualPlan(drawn, kAdded, 0.5);
    if (!plan.ok()) continue;
    dp::Drbg bits(dp::DrawKey(dp::DrawKey::Bytes{1}));
    const double forecast = statistics::ForecastOf(drawn.domain, *plan);
    const int64_t enough = std::max(draws, kLeastAnswers / plan->shape.answers);
    const auto found = statistics::DrawErrors(drawn.domain, kAdded, *plan, enough, bits);
    std::printf("| %s | %lld | %lld | %.3f | %.3f | %.4f | %.4f |\n", drawn.name.c_str(),
                static_cast<long long>(plan->shape.answers), static_cast<long long>(enough),
                std::sqrt(forecast), std::sqrt(found.mean_square), std::sqrt(found.mean_square / forecast),
                found.deviation_of_it / found.mean_square / 2);
    std::fflush(stdout);
  }
}

void PrintIntervals() {
  constexpr int64_t kAnswers = 1'000'000;
  constexpr double kBudgets[] = {1e-4, 0.01, 0.5, 10};
  std::printf("| queries | neighbours |");
  for (const double rho : kBudgets) std::printf(" rho %g |", rho);
  std::printf("\n| --- | --- | ---: | ---: | ---: | ---: |\n");
  for (const Drawn& drawn : AllDrawn()) {
    for (const UnitBound& unit : {kAdded, kReplaced}) {
      if (!ResidualPlan(drawn, unit, 0.5).ok()) continue;
      std::printf("| %s | %s |", drawn.name.c_str(),
                  unit.relation == dp::NeighbourRelation::kAddRemove ? "added" : "replaced");
      for (const double rho : kBudgets) {
        const auto plan = ResidualPlan(drawn, unit, rho);
        dp::Drbg bits(dp::DrawKey(dp::DrawKey::Bytes{2}));
        const int64_t draws = (kAnswers + plan->shape.answers - 1) / plan->shape.answers;
        std::printf(" %.2f |", 100 * statistics::DrawErrors(drawn.domain, unit, *plan, draws, bits).held);
        std::fflush(stdout);
      }
      std::printf("\n");
    }
  }
}

// ---- Parities

// All marginals of these numbers of attributes, of so many attributes of two codes.
struct BinaryMarginals {
  int attributes = 0;
  int least_ways = 0;
  int most_ways = 0;
};

void PrintParities(int64_t draws) {
  constexpr BinaryMarginals kAll[] = {{5, 1, 1},  {5, 2, 2},  {10, 1, 1}, {10, 2, 2}, {10, 3, 3},
                                      {10, 1, 3}, {14, 2, 2}, {14, 3, 3}, {30, 2, 2}, {30, 3, 3}};
  constexpr double kLeastOfDraws = 2'000'000;  // measured values
  std::printf(
      "| attributes | marginals of | neighbours | direct | by parities | ratio | chosen | drawn / forecast | "
      "within 95%% intervals |\n| ---: | --- | --- | ---: | ---: | ---: | --- | ---: | ---: |\n");
  for (const BinaryMarginals& each : kAll) {
    const ProductWorkload workload{.sizes = std::vector<int64_t>(static_cast<size_t>(each.attributes), 2),
                                   .prefixes = 0,
                                   .least_ways = each.least_ways,
                                   .most_ways = each.most_ways};
    const dp::Domain domain = dp::CodedDomain(workload.sizes);
    for (const UnitBound& unit : {kAdded, kReplaced}) {
      const auto plan = [&](Choice choice) {
        return statistics::PlanOf(domain, unit, {statistics::QueriesOf(workload)}, statistics::EpsilonOf(1),
                                  choice)
            .value();
      };
      const dp::WorkloadPlan parities = plan(Choice::kJoint);
      const double direct = std::sqrt(statistics::ForecastOf(domain, plan(Choice::kEachSetByItself)));
      const double forecast = std::sqrt(statistics::ForecastOf(domain, parities));
      dp::Drbg bits(dp::DrawKey(dp::DrawKey::Bytes{3}));
      const auto enough = std::max(
          draws, static_cast<int64_t>(kLeastOfDraws / static_cast<double>(parities.shape.measured_values)));
      const auto found = statistics::DrawErrors(domain, unit, parities, enough, bits);
      std::printf("| %d | %s | %s | %.3f | %.3f | %.3f | %s | %.4f | %.2f%% |\n", each.attributes,
                  Ways(each.least_ways, each.most_ways).c_str(),
                  unit.relation == dp::NeighbourRelation::kAddRemove ? "added" : "replaced", direct, forecast,
                  forecast / direct,
                  dp::AreByParity(plan(Choice::kAuto).shape.joint.plans) ? "parities" : "direct",
                  std::sqrt(found.mean_square) / forecast, 100 * found.held);
      std::fflush(stdout);
    }
  }
}

}  // namespace
}  // namespace curator

int main(int argc, char** argv) {
  const std::string table = argc > 1 ? argv[1] : "";
  const int64_t draws = argc > 2 ? std::atoll(argv[2]) : 1000;
  const auto is_asked = [&](const char* name) { return table.empty() || table == name; };
  if (is_asked("published")) curator::PrintPublished();
  if (is_asked("questions")) curator::PrintQuestions();
  if (is_asked("draws")) curator::PrintDraws(draws);
  if (is_asked("intervals")) curator::PrintIntervals();
  if (is_asked("parities")) curator::PrintParities(draws);
  return 0;
}
