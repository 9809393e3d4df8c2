// What hostile requests make the server hold and compute before anything is charged: peak memory beyond what
// the process held before, and processor time, each request in a process of its own.
//
//   bounds [WORDS]     prints a table in Markdown, of the requests whose names contain WORDS
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "codec/release_codec.h"
#include "dp/accounting/comparison.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/workload_plan.h"
#include "service/workloads/resolve_workload.h"
#include "service/workloads/workloads.h"

namespace curator {
namespace {

using service::QuerySetRequest;

dp::Domain Coded(const std::vector<int64_t>& sizes) {
  std::vector<dp::Attribute> attributes;
  for (const int64_t size : sizes) {
    attributes.push_back(
        dp::Attribute::Create("a" + std::to_string(attributes.size()), dp::CodedKind{size}).value());
  }
  return dp::Domain::Create(std::move(attributes)).value();
}

dp::Domain Binary(size_t attributes) {
  return Coded(std::vector<int64_t>(attributes, 2));
}

dp::RuleSpec Pure() {
  return {.kind = dp::RuleKind::kPure, .epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)};
}

constexpr dp::Delta kMillionth(1'000'000'000'000);

int64_t predicted = 0;  // by the case that runs; 0 where nothing is

// As an estimate of a workload: the plan and all forecasts.
absl::Status Estimate(const dp::Domain& domain, const std::vector<QuerySetRequest>& queries,
                      std::optional<dp::Target> target = std::nullopt) {
  const auto asked = service::ResolveWorkload(domain, queries);
  if (!asked.ok()) return asked.status();
  std::vector<dp::QuerySet> sets;
  for (const dp::AskedSet& set : *asked) sets.push_back(set.queries);
  if (absl::Status valid = dp::ValidateSets(domain, sets); !valid.ok()) return valid;
  predicted = dp::PlanningBytes(domain, sets);
  if (predicted > service::kMostPlanningBytes)
    return absl::InvalidArgumentError("workload: would take too much memory to plan");
  const dp::UnitBound unit{.relation = dp::NeighbourRelation::kReplaceOne, .max_records = 3};
  const dp::Spend spend{.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)};
  const auto plan = target ? dp::PlanForTarget(domain, unit, Pure(), std::move(sets), *target, std::nullopt)
                           : dp::PlanWorkload(domain, unit, Pure(), std::move(sets), spend, std::nullopt);
  if (!plan.ok()) return plan.status();
  codec::MostEncodedBytes(domain, *asked, plan->shape.joint.plans, plan->shape.joint.measured);
  for (size_t i = 0; i < asked->size(); ++i) dp::ErrorClassesOf(domain, plan->shape, i);
  const dp::ErrorClasses classes = dp::ErrorClassesOf(domain, plan->shape);
  for (int choice = 0; choice < 6; ++choice) {
    const auto error = dp::SimultaneousError(plan->bought.noise, classes, 0.95);
    if (!error.ok()) return error.status();
  }
  return absl::OkStatus();
}

absl::Status PlanSynthesis(const dp::Domain& domain, const std::string& method,
                           dp::RuleKind rule = dp::RuleKind::kPure) {
  dp::SynthesisInput input{.domain = domain,
                           .unit_bound = {.relation = dp::NeighbourRelation::kAddRemove, .max_records = 1},
                           .rule = Pure(),
                           .spend = {.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)}};
  if (rule == dp::RuleKind::kAdvanced) {
    input.rule = {.kind = rule, .epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne), .delta = kMillionth};
    input.spend.delta = kMillionth;
  }
  const auto pairs = dp::AllKWayMarginals(domain, domain.size() == 1 ? 1 : 2, {}, dp::kSynthesisLimits);
  if (!pairs.ok()) return pairs.status();
  input.workload = dp::WholeMarginals(*pairs);
  return dp::FindSynthesizer(method)->Plan(input).status();
}

QuerySetRequest Intervals(const std::string& attribute, int64_t first, int64_t last,
                          dp::Strategy strategy = dp::Strategy::kAuto) {
  return {service::RangesQuery{{attribute},
                               {{service::ValueInterval{std::to_string(first), std::to_string(last)}}}},
          strategy};
}

std::vector<QuerySetRequest> Times(int64_t times, const QuerySetRequest& query) {
  return std::vector<QuerySetRequest>(static_cast<size_t>(times), query);
}

QuerySetRequest AllKWay(int k) {
  return {service::MarginalsQuery{.sets = {}, .k = k, .attributes = {}}};
}

// No two kinds alike.
dp::Schedule Laplaces(int64_t kinds, int64_t count, int64_t scale) {
  dp::Schedule schedule;
  for (int64_t i = 0; i < kinds; ++i)
    schedule.push_back({{dp::LaplaceEvent{.scale = {1000 * scale + 97 * i, 1000}}}, count});
  return schedule;
}

absl::Status Certify(const dp::Schedule& schedule) {
  predicted = dp::kBoundedBytes;
  return dp::LeastUpperBound(schedule, kMillionth).status();
}

absl::Status Compare(const dp::Schedule& schedule) {
  predicted = dp::kBoundedBytes;
  return dp::CompareCalculators(schedule, kMillionth, dp::Effort::kBounded).status();
}

struct Case {
  std::string name;
  std::function<absl::Status()> run;
};

// Each as a certificate for a reservation, and as a history that is compared.
void AddSchedules(std::vector<Case>& cases) {
  dp::Schedule discrete;
  for (int64_t i = 0; i < 64; ++i)
    discrete.push_back({{dp::DiscreteLaplaceEvent{{50'000 + 97 * i, 1000}, 50, 7}}, 1000});
  dp::Schedule mixed = Laplaces(1, 1000, 50);
  for (int64_t i = 0; i < 63; ++i)
    mixed.push_back({{dp::GaussianEvent{.sigma_squared = {2500 + i, 1}}}, 1000});
  const std::vector<std::pair<std::string, dp::Schedule>> schedules = {
      {"1 Laplace x 10,000", Laplaces(1, 10'000, 50)},
      {"1 Laplace x 10^8", Laplaces(1, 100'000'000, 50)},
      {"64 Laplace x 100", Laplaces(64, 100, 50)},
      {"64 Laplace x 100,000", Laplaces(64, 100'000, 50)},
      {"64 discrete Laplace x 1,000", discrete},
      {"63 Gaussian and 1 Laplace x 1,000", mixed},
      {"discrete Laplace of 2^19 atoms",
       {{{dp::DiscreteLaplaceEvent{{5'000'000, 1}, 524'000, 524'000}}, 1000}}},
      {"2,048 Laplace", Laplaces(2048, 3, 50)}};
  for (const auto& [name, schedule] : schedules) {
    cases.push_back({"a certificate of " + name, [schedule] { return Certify(schedule); }});
    cases.push_back({"a comparison of " + name, [schedule] { return Compare(schedule); }});
  }
}

std::vector<Case> Cases() {
  constexpr int64_t kLargest = int64_t{1} << 24;
  std::vector<Case> cases;
  const auto add = [&](std::string name, std::function<absl::Status()> run) {
    cases.push_back({std::move(name), std::move(run)});
  };
  for (const int bits : {18, 20, 22, 24}) {
    add("one interval of 2^" + std::to_string(bits) + " bins",
        [=] { return Estimate(Coded({int64_t{1} << bits}), {Intervals("a0", 7, 7)}); });
  }
  add("a tree of 2^20 bins, by its name",
      [] { return Estimate(Coded({1 << 20}), {Intervals("a0", 7, 7, dp::Strategy::kTree)}); });
  add("a tree of 2^24 bins, by its name",
      [] { return Estimate(Coded({kLargest}), {Intervals("a0", 7, 7, dp::Strategy::kTree)}); });
  for (const int bits : {16, 20, 21}) {
    add("all prefixes of 2^" + std::to_string(bits) + " bins",
        [=] { return Estimate(Coded({int64_t{1} << bits}), {{service::PrefixesQuery{"a0"}}}); });
  }
  add("all ranges of 2,000 bins", [] {
    return Estimate(Coded({2000}), {{service::RangesQuery{{"a0"}, {}}}});
  });
  add("256 intervals of 2^20 bins, each a set",
      [] { return Estimate(Coded({1 << 20}), Times(256, Intervals("a0", 7, 9))); });
  add("10,000 intervals of 2^14 bins, each a set",
      [] { return Estimate(Coded({1 << 14}), Times(10'000, Intervals("a0", 7, 9))); });
  add("10,000 intervals of 100 bins, each a set",
      [] { return Estimate(Coded({100}), Times(10'000, Intervals("a0", 7, 9))); });
  add("a marginal of 2^24 cells", [] {
    return Estimate(Coded({4096, 4096}),
                    {{service::MarginalsQuery{.sets = {{"a0", "a1"}}, .k = std::nullopt, .attributes = {}}}});
  });
  for (const int bits : {20, 22, 24}) {
    add("one predicate over 2^" + std::to_string(bits) + " cells", [=] {
      const service::Condition one{.attribute = "a0", .values = {"7"}, .between = std::nullopt};
      const service::Condition other{.attribute = "a1", .values = {"0"}, .between = std::nullopt};
      return Estimate(Coded({int64_t{1} << (bits - 1), 2}), {{service::PredicatesQuery{{{one, other}}, {}}}});
    });
  }
  add("98,770 marginals (all 3-way of 85)", [] { return Estimate(Binary(85), {AllKWay(3)}); });
  add("400,000 marginals (4-way of 58)", [] { return Estimate(Binary(58), {AllKWay(4)}); });
  add("all parities of up to 2 of 100",
      [] { return Estimate(Binary(100), {{service::ParitiesQuery{.sets = {}, .k = 2, .attributes = {}}}}); });
  add("all parities of up to 3 of 80",
      [] { return Estimate(Binary(80), {{service::ParitiesQuery{.sets = {}, .k = 3, .attributes = {}}}}); });
  add("the same prefixes of 2^20 bins, for a target", [] {
    return Estimate(Coded({1 << 20}), {{service::PrefixesQuery{"a0"}}}, dp::Target{.max_error = 5000});
  });
  for (const std::string method : {"mwem", "dpsyn", "rap"}) {
    for (const size_t attributes : {size_t{30}, size_t{100}}) {
      add("a synthesis by " + method + " of " + std::to_string(attributes) + " attributes of 2",
          [=] { return PlanSynthesis(Binary(attributes), method); });
    }
    add("a synthesis by " + method + " of 12 attributes of 1,000",
        [=] { return PlanSynthesis(Coded(std::vector<int64_t>(12, 1000)), method); });
    add("a synthesis by " + method + " of one attribute of 2^24",
        [=] { return PlanSynthesis(Coded({kLargest}), method); });
  }
  AddSchedules(cases);
  for (const std::string method : {"mwem", "dpsyn"}) {
    for (const size_t attributes : {size_t{30}, size_t{100}}) {
      add("under advanced, a synthesis by " + method + " of " + std::to_string(attributes) +
              " attributes of 2",
          [=] { return PlanSynthesis(Binary(attributes), method, dp::RuleKind::kAdvanced); });
    }
    add("under advanced, a synthesis by " + method + " of 12 attributes of 1,000", [=] {
      return PlanSynthesis(Coded(std::vector<int64_t>(12, 1000)), method, dp::RuleKind::kAdvanced);
    });
  }
  return cases;
}

int64_t StatusKilobytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size() + 1));
  }
  return 0;
}

// In a child: its peak memory and time are its own.
void Measure(const Case& each) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child != 0) {
    int status = 0;
    waitpid(child, &status, 0);
    if (!WIFEXITED(status))
      std::printf("| %s | ended by signal %d | | | |\n", each.name.c_str(), WTERMSIG(status));
    return;
  }
  std::ofstream("/proc/self/clear_refs") << "5";
  const int64_t before = StatusKilobytes("VmRSS:");
  std::string end = "planned";
  try {
    const absl::Status status = each.run();
    if (!status.ok()) end = absl::StatusCodeToString(status.code()) + ": " + std::string(status.message());
  } catch (const std::bad_alloc&) {
    end = "no memory";
  }
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  const double seconds = static_cast<double>(used.ru_utime.tv_sec) +
                         static_cast<double>(used.ru_stime.tv_sec) +
                         1e-6 * static_cast<double>(used.ru_utime.tv_usec + used.ru_stime.tv_usec);
  const std::string forecast = predicted == 0 ? "" : std::to_string(predicted / 1'000'000) + " MB";
  std::printf("| %s | %s | %.0f MB | %.2f s | %s |\n", each.name.c_str(), forecast.c_str(),
              static_cast<double>(StatusKilobytes("VmHWM:") - before) / 1000, seconds,
              end.substr(0, 150).c_str());
  std::fflush(stdout);
  _exit(0);
}

}  // namespace
}  // namespace curator

int main(int argc, char** argv) {
  const std::string only = argc > 1 ? argv[1] : "";
  std::printf("| request | predicted | memory | processor | end |\n| --- | --- | --- | --- | --- |\n");
  for (const auto& each : curator::Cases()) {
    if (each.name.find(only) != std::string::npos) curator::Measure(each);
  }
}
