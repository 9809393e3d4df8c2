// What requests make the server hold and compute: peak memory beyond what the process held before, and
// processor time, each request in a process of its own. Plans are free; answers, fits and samples are drawn
// from a table of a few records.
//
//   bounds [WORDS]     prints a table in Markdown, of the requests whose names contain WORDS
#include <malloc.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "codec/release_codec.h"
#include "dp/accounting/comparison.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/kernel.h"
#include "dp/noise/drbg.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/workload/accuracy.h"
#include "dp/workload/memory_forecast.h"
#include "dp/workload/workload_plan.h"
#include "host/entropy.h"
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

int64_t StatusKilobytes(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stoll(line.substr(key.size() + 1));
  }
  return 0;
}

int64_t before = 0;  // what the process held, in kilobytes

void StartMeasuring() {
  malloc_trim(0);
  std::ofstream("/proc/self/clear_refs") << "5";
  before = StatusKilobytes("VmRSS:");
}

int64_t predicted = 0;  // by the case that runs; 0 where nothing is

// As an estimate of a workload: the plan and all forecasts.
absl::Status Estimate(const dp::Domain& domain, const std::vector<QuerySetRequest>& queries,
                      std::optional<dp::Target> target = std::nullopt) {
  const auto asked = service::ResolveCounts(domain, queries);
  if (!asked.ok()) return asked.status();
  std::vector<dp::QuerySet> sets;
  for (const dp::AskedSet& set : *asked) sets.push_back(set.queries);
  if (absl::Status valid = dp::ValidateSets(domain, sets); !valid.ok()) return valid;
  predicted = dp::PlanningBytes(domain, sets);
  if (predicted > service::kMostFreeBytes)
    return absl::InvalidArgumentError("workload: would take too much memory to plan");
  const dp::UnitBound unit{.relation = dp::NeighbourRelation::kReplaceOne, .max_records = 3};
  const dp::Spend spend{.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)};
  const auto plan = target ? dp::PlanForTarget(domain, unit, Pure(), std::move(sets), *target, std::nullopt)
                           : dp::PlanWorkload(domain, unit, Pure(), std::move(sets), spend, std::nullopt);
  if (!plan.ok()) return plan.status();
  codec::MostEncodedBytes(domain, *asked, plan->shape.joint.plans, plan->shape.joint.measured);
  const dp::ErrorClasses classes =
      dp::OfAllSets(plan->classes.empty() ? dp::ErrorClassesOf(domain, plan->shape) : plan->classes);
  for (int choice = 0; choice < 6; ++choice) {
    const auto error = dp::SimultaneousError(plan->bought.noise, classes, 0.95);
    if (!error.ok()) return error.status();
  }
  return absl::OkStatus();
}

// A table of some records, each in a group of its own.
dp::SealedTableHandle SomeRecords(const dp::Domain& domain) {
  constexpr uint32_t kRecords = 1000;
  dp::SealedTableBuilder builder(domain, dp::RowOwner::kItselfInGroup);
  std::vector<uint32_t> codes(domain.size());
  for (uint32_t record = 0; record < kRecords; ++record) {
    for (size_t i = 0; i < codes.size(); ++i) {
      const auto size = static_cast<uint64_t>(domain.attributes()[i].size());
      codes[i] = static_cast<uint32_t>((record * 2654435761U >> (i % 20)) % size);
    }
    (void)builder.AppendRow(codes, record);
  }
  return std::move(builder).Build().value();
}

// As a paid answer: drawn, encoded, and decoded again.
absl::Status Answer(const dp::Domain& domain, const std::vector<QuerySetRequest>& queries) {
  const auto asked = service::ResolveCounts(domain, queries);
  if (!asked.ok()) return asked.status();
  std::vector<dp::QuerySet> sets;
  for (const dp::AskedSet& set : *asked) sets.push_back(set.queries);
  const dp::Spend spend{.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)};
  const dp::UnitBound unit{.relation = dp::NeighbourRelation::kAddRemove, .max_records = 1};
  const int64_t planning = dp::PlanningBytes(domain, sets);
  auto plan = dp::PlanWorkload(domain, unit, Pure(), std::move(sets), spend, std::nullopt);
  if (!plan.ok()) return plan.status();
  const dp::JointMeasurement& joint = plan->shape.joint;
  predicted =
      planning + dp::AnswerBytes(domain, plan->shape,
                                 codec::MostEncodedBytes(domain, *asked, joint.plans, joint.measured));
  dp::Drbg bits(host::NewDrawKey());
  dp::Kernel kernel(SomeRecords(domain), domain, unit, dp::Meter(plan->bought.draws), bits);
  std::string stored;
  {
    dp::WorkloadRelease release{.asked = *asked,
                                .plans = joint.plans,
                                .measured = joint.measured,
                                .noise = plan->bought.noise,
                                .values = {}};
    auto values = kernel.NoisyCounts(joint.measured, release.noise);
    if (!values.ok()) return values.status();
    release.values = *std::move(values);
    stored = codec::EncodeRelease(release);
  }
  const std::string read_back = stored;
  return codec::DecodeWorkloadRelease(read_back).status();
}

struct SynthesisCase {
  std::string method;
  dp::Domain domain;
  std::map<std::string, std::string> settings = {};
  dp::RuleKind rule = dp::RuleKind::kPure;
  int64_t prior_records = 0;  // all alike
};

dp::SynthesisInput InputOf(const SynthesisCase& of) {
  dp::SynthesisInput input{.domain = of.domain,
                           .unit_bound = {.relation = dp::NeighbourRelation::kAddRemove, .max_records = 1},
                           .rule = Pure(),
                           .spend = {.epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne)},
                           .workload = {},
                           .settings = of.settings};
  if (of.rule == dp::RuleKind::kAdvanced) {
    input.rule = {.kind = of.rule, .epsilon = dp::Epsilon(dp::kEpsilonUnitsPerOne), .delta = kMillionth};
    input.spend.delta = kMillionth;
  }
  if (of.prior_records > 0) {
    dp::CodedColumns columns(dp::SizesOf(of.domain));
    const std::vector<uint32_t> codes(of.domain.size());
    for (int64_t record = 0; record < of.prior_records; ++record) (void)columns.AppendRow(codes);
    input.prior =
        std::make_shared<const dp::PublicTable>(dp::PublicTable::Create(std::move(columns)).value());
  }
  if (of.method == "nested") {
    dp::NestedFacts facts{.group_column = "group"};
    for (int64_t code = 0; code < of.domain.attributes()[0].size(); ++code)
      facts.numbers.push_back(static_cast<double>(code));
    facts.upper = facts.numbers.back();
    input.nested = std::move(facts);
  }
  return input;
}

absl::StatusOr<dp::SynthesisInput> WithPairs(dp::SynthesisInput input) {
  const int k = input.domain.size() == 1 || input.prior != nullptr ? 1 : 2;
  const auto pairs = dp::AllKWayMarginals(input.domain, k, {}, dp::kSynthesisLimits);
  if (!pairs.ok()) return pairs.status();
  input.workload = dp::WholeMarginals(*pairs);
  return input;
}

absl::Status PlanSynthesis(const SynthesisCase& of) {
  const auto input = WithPairs(InputOf(of));
  if (!input.ok()) return input.status();
  const dp::Synthesizer& method = *dp::FindSynthesizer(of.method);
  predicted = method.PlanningBytes(*input);
  if (predicted > service::kMostFreeBytes)
    return absl::InvalidArgumentError("workload: would take too much memory to plan");
  return method.Plan(*input).status();
}

// As a paid synthesis, with the plan that it makes again; or a sample of the model that it stores.
enum class FitOrSample { kFit, kSample };

absl::Status Fit(const SynthesisCase& of, FitOrSample which) {
  const auto input = WithPairs(InputOf(of));
  if (!input.ok()) return input.status();
  const dp::Synthesizer& method = *dp::FindSynthesizer(of.method);
  std::string stored;
  {
    const auto plan = method.Plan(*input);
    if (!plan.ok()) return plan.status();
    predicted = method.PlanningBytes(*input) + plan->memory.fitting;
    dp::Drbg bits(host::NewDrawKey());
    dp::Kernel kernel(SomeRecords(of.domain), of.domain, input->unit_bound, dp::Meter(plan->draws), bits);
    dp::Pacer pacer{std::stop_token()};
    const auto model = method.Fit(*input, kernel, pacer, [](double) {});
    if (!model.ok()) return model.status();
    stored = (*model)->Serialize();
  }
  if (which == FitOrSample::kFit) return absl::OkStatus();
  StartMeasuring();
  const auto bytes = method.ReadingBytes(of.domain, stored);
  if (!bytes.ok()) return bytes.status();
  predicted = *bytes;
  const auto model = method.Restore(of.domain, stored);
  if (!model.ok()) return model.status();
  dp::Drbg bits(host::NewDrawKey());
  return (*model)->Sample(bits, 10'000, [](auto) { return absl::OkStatus(); });
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

// What is paid for, and samples of it.
void AddPaid(std::vector<Case>& cases) {
  const auto marginal = [](const std::vector<std::string>& set) {
    return QuerySetRequest{service::MarginalsQuery{.sets = {set}, .k = std::nullopt, .attributes = {}}};
  };
  cases.push_back({"the answer: a marginal of 2^24 cells", [=] {
                     return Answer(Coded({4096, 4096}), {marginal({"a0", "a1"})});
                   }});
  cases.push_back({"the answer: all prefixes of 2^20 bins",
                   [] { return Answer(Coded({1 << 20}), {{service::PrefixesQuery{"a0"}}}); }});
  cases.push_back({"the answer: 98,770 marginals", [] { return Answer(Binary(85), {AllKWay(3)}); }});
  cases.push_back({"the answer: all pairs of 12 attributes of 400",
                   [] { return Answer(Coded(std::vector<int64_t>(12, 400)), {AllKWay(2)}); }});
  const std::map<std::string, std::string> brief = {{"rounds", "3"}, {"last_sweeps", "1"}, {"sweeps", "1"}};
  const std::vector<std::pair<std::string, SynthesisCase>> fits = {
      {"mwem, dense, 2^22 cells", {"mwem", Binary(22), brief}},
      {"mwem, factored, 2^25 cells",
       {"mwem",
        Coded(std::vector<int64_t>(5, 32)),
        {{"rounds", "6"}, {"last_sweeps", "1"}, {"sweeps", "1"}}}},
      {"mwem, an average of 2^22 cells",
       {"mwem", Binary(22), {{"rounds", "3"}, {"last_sweeps", "1"}, {"iterate", "average"}}}},
      {"mwem, pairs of 10 attributes of 600", {"mwem", Coded(std::vector<int64_t>(10, 600)), brief}},
      {"mwem, every cell of 2^22",
       {"mwem", Binary(22), {{"rounds", "1"}, {"last_sweeps", "1"}, {"init", "domain"}}}},
      {"rap, 1,000 rows of 6,000 columns",
       {"rap",
        Coded(std::vector<int64_t>(60, 100)),
        {{"steps", "2"}, {"rows", "1000"}, {"rounds", "1"}, {"per_round", "2"}}}},
      {"rap, 9,000 rows of 3,000 columns",
       {"rap",
        Coded({1000, 1000, 1000}),
        {{"steps", "2"}, {"rows", "9000"}, {"rounds", "1"}, {"per_round", "1"}}}},
      {"dpsyn, 30 attributes of 2", {"dpsyn", Binary(30)}},
      {"dpsyn, 12 attributes of 100", {"dpsyn", Coded(std::vector<int64_t>(12, 100)), {{"passes", "1"}}}},
      {"dpsyn, sorted, 10 attributes of 60",
       {"dpsyn", Coded(std::vector<int64_t>(10, 60)), {{"records", "sts"}}}},
      {"priview, 8 attributes of 500",
       {"priview", Coded(std::vector<int64_t>(8, 500)), {{"max_view_cells", "400000"}}}},
      {"nested, a grid of 2^22",
       {"nested",
        Coded({100, 3}),
        {{"nu_points", "2048"}, {"tau_points", "64"}, {"sigma_points", "32"}, {"join", "none"}}}}};
  for (const auto& [name, fit] : fits) {
    cases.push_back({"the fit: " + name, [fit = fit] { return Fit(fit, FitOrSample::kFit); }});
    cases.push_back({"the sample: " + name, [fit = fit] { return Fit(fit, FitOrSample::kSample); }});
  }
}

// Attributes whose views take long to choose.
void AddHundredsOfAttributes(std::vector<Case>& cases) {
  for (const size_t attributes : {size_t{200}, size_t{300}, size_t{400}, size_t{512}, size_t{1414}}) {
    for (const std::string method : {"dpsyn", "mwem"}) {
      cases.push_back(
          {"the plan of a synthesis by " + method + " of " + std::to_string(attributes) + " attributes of 2",
           [=] {
             return PlanSynthesis({method, Binary(attributes)});
           }});
    }
  }
  std::vector<int64_t> sizes(350, 1);
  sizes.insert(sizes.end(), 150, 2);
  cases.push_back({"the plan of a synthesis by dpsyn of 350 attributes of 1 and 150 of 2", [=] {
                     return PlanSynthesis({"dpsyn", Coded(sizes)});
                   }});
}

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

void AddPlansOfSyntheses(std::vector<Case>& cases) {
  const auto add = [&](std::string name, std::function<absl::Status()> run) {
    cases.push_back({"the plan of a synthesis by " + std::move(name), std::move(run)});
  };
  for (const std::string method : {"mwem", "dpsyn", "rap"}) {
    for (const size_t attributes : {size_t{30}, size_t{100}}) {
      add(method + " of " + std::to_string(attributes) + " attributes of 2", [=] {
        return PlanSynthesis({method, Binary(attributes)});
      });
    }
    add(method + " of 12 attributes of 1,000", [=] {
      return PlanSynthesis({method, Coded(std::vector<int64_t>(12, 1000))});
    });
    add(method + " of one attribute of 2^24", [=] {
      return PlanSynthesis({method, Coded({int64_t{1} << 24})});
    });
  }
  const std::vector<std::pair<std::string, SynthesisCase>> priors = {
      {"4,096 regions and 65,536 groups",
       {"prior", Coded({4096, 65'536, 2}), {{"region", "a0"}, {"group", "a1"}}, {}, 1}},
      {"16 attributes of 1,024", {"prior", Coded(std::vector<int64_t>(16, 1024)), {}, {}, 1}},
      {"256 attributes of 1,024", {"prior", Coded(std::vector<int64_t>(256, 1024)), {}, {}, 1}},
      {"1,600,000 records", {"prior", Coded(std::vector<int64_t>(24, 10)), {}, {}, 1'600'000}}};
  for (const auto& [name, of] : priors) add("prior of " + name, [of = of] { return PlanSynthesis(of); });
  for (const std::string method : {"mwem", "rap"}) {
    add(method + " of 1,000 attributes of 2", [=] { return PlanSynthesis({method, Binary(1000)}); });
  }
  for (const std::string method : {"mwem", "dpsyn"}) {
    for (const size_t attributes : {size_t{30}, size_t{100}}) {
      add(method + " of " + std::to_string(attributes) + " attributes of 2, under advanced", [=] {
        return PlanSynthesis({method, Binary(attributes), {}, dp::RuleKind::kAdvanced});
      });
    }
    add(method + " of 12 attributes of 1,000, under advanced", [=] {
      return PlanSynthesis({method, Coded(std::vector<int64_t>(12, 1000)), {}, dp::RuleKind::kAdvanced});
    });
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
      return Estimate(Coded({int64_t{1} << (bits - 1), 2}),
                      {{service::PredicatesQuery{{{.all_of = {one, other}}}, {}}}});
    });
  }
  add("an expression of 28 conditions over 2^22 cells", [] {
    service::Expression any{.kind = service::Expression::Kind::kAnyOf, .operands = {}};
    for (int i = 0; i < 28; ++i) {
      any.operands.push_back({.condition = {.attribute = i % 4 == 0 ? "a1" : "a0",
                                            .values = {i % 4 == 0 ? "1" : std::to_string(i)},
                                            .between = std::nullopt}});
    }
    const service::PredicatesQuery query{.predicates = {{.all_of = {}, .expression = any}}, .by = {}};
    return Estimate(Coded({int64_t{1} << 21, 2}), {{query}});
  });
  add("98,770 marginals (all 3-way of 85)", [] { return Estimate(Binary(85), {AllKWay(3)}); });
  add("400,000 marginals (4-way of 58)", [] { return Estimate(Binary(58), {AllKWay(4)}); });
  add("2,000 marginals of 1,999 attributes of 1",
      [] { return Estimate(Coded(std::vector<int64_t>(2000, 1)), {AllKWay(1999)}); });
  const QuerySetRequest parities = {service::ParitiesQuery{.sets = {}, .k = 2, .attributes = {}}};
  add("51 sets of 1,953 parities", [=] { return Estimate(Binary(62), Times(51, parities)); });
  add("all parities of up to 2 of 100", [=] { return Estimate(Binary(100), {parities}); });
  add("all parities of up to 3 of 80",
      [] { return Estimate(Binary(80), {{service::ParitiesQuery{.sets = {}, .k = 3, .attributes = {}}}}); });
  add("the same prefixes of 2^20 bins, for a target", [] {
    return Estimate(Coded({1 << 20}), {{service::PrefixesQuery{"a0"}}}, dp::Target{.max_error = 5000});
  });
  AddPlansOfSyntheses(cases);
  AddPaid(cases);
  AddHundredsOfAttributes(cases);
  AddSchedules(cases);
  return cases;
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
  StartMeasuring();
  std::string end = "done";
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
