// What each method holds in memory, counted at every allocation, against what its plan forecasts.
#include "dp/synthesis/synthesis_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/testing/allocations.h"
#include "dp/data/sealed_table.h"
#include "dp/kernel/kernel.h"
#include "dp/queries/marginals.h"
#include "dp/synthesis/synthesis_workload.h"
#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"
#include "dp/synthesis/testing/public_rows.h"
#include "tests/testing/seeded_bits.h"

namespace curator::dp {
namespace {

using Settings = std::map<std::string, std::string>;

struct MemoryCase {
  std::string name;
  std::string method;
  std::vector<int64_t> sizes;
  int k = 2;
  Settings settings = {};
  int rows = 2000;
  int prior_rows = 300;
  bool describes_groups = false;  // which are the units, by all attributes but the first
};

std::vector<int64_t> Alike(size_t attributes, int64_t size) {
  return std::vector<int64_t>(attributes, size);
}

// Of the methods that measure marginals and fit them as a product over cliques.
void AddCasesOfCliques(std::vector<MemoryCase>& cases) {
  cases.push_back({"AimOneTable", "aim", Alike(16, 2), 3, {{"rounds", "20"}, {"last_sweeps", "2"}}});
  cases.push_back({"AimManyCliques", "aim", Alike(40, 3), 2, {{"rounds", "30"}, {"last_sweeps", "2"}}});
  cases.push_back({"AimLargeCliques", "aim", {100, 90, 80, 4, 4, 4}, 2, {{"last_sweeps", "2"}}});
  cases.push_back({"AimManyCandidates", "aim", Alike(60, 2), 2, {{"rounds", "3"}, {"last_sweeps", "2"}}});
  cases.push_back(
      {"AimTheSameAgain", "aim", {500, 500, 100, 100}, 2, {{"rounds", "6"}, {"last_sweeps", "2"}}});
  cases.push_back({"AimPublicManyCliques",
                   "aim",
                   Alike(40, 3),
                   2,
                   {{"rounds", "30"}, {"last_sweeps", "2"}, {"prior", "public"}}});
  cases.push_back({"AimPublicLargeCliques",
                   "aim",
                   {100, 90, 80, 4, 4, 4},
                   2,
                   {{"last_sweeps", "2"}, {"prior", "public"}},
                   2000,
                   50'000});
  cases.push_back(
      {"SwiftOneTable", "swift", Alike(16, 2), 3, {{"measurements", "40"}, {"last_sweeps", "2"}}});
  cases.push_back(
      {"SwiftManyCliques", "swift", Alike(40, 3), 2, {{"measurements", "60"}, {"last_sweeps", "2"}}});
  cases.push_back({"SwiftLargeCliques", "swift", {100, 90, 80, 4, 4, 4}, 2, {{"last_sweeps", "2"}}});
  cases.push_back({"SwiftTwoLooks",
                   "swift",
                   Alike(60, 2),
                   2,
                   {{"looks", "2"}, {"measurements", "60"}, {"last_sweeps", "2"}}});
  cases.push_back({"MstManyPairs", "mst", Alike(60, 2), 2, {{"last_sweeps", "2"}}});
  cases.push_back({"MstLargePairs", "mst", {300, 290, 280, 4, 4, 4}, 2, {{"last_sweeps", "2"}}});
}

void AddCasesOfDescribedGroups(std::vector<MemoryCase>& cases) {
  const Settings quick = {{"nu_points", "5"}, {"tau_points", "3"}, {"sigma_points", "3"}};
  cases.push_back({"NestedDescribed", "nested", {60, 3, 4, 5}, 2, quick, 2000, 300, true});
  Settings alone = quick;
  alone["join"] = "none";
  cases.push_back({"NestedDescribedByMany", "nested", Alike(40, 3), 2, alone, 2000, 300, true});
  cases.push_back({"NestedDescribedWidely", "nested", {60, 50'000, 3}, 1, alone, 2000, 300, true});
}

// Small ones, and for each method some in which another part of its memory is the largest.
std::vector<MemoryCase> MemoryCases() {
  std::vector<MemoryCase> cases;
  for (const Synthesizer* method : Synthesizers()) {
    const std::string name(method->name());
    cases.push_back({name + "Small", name, {2, 3, 4, 3}});
  }
  cases.push_back({"MwemDense", "mwem", Alike(20, 2), 2, {{"rounds", "10"}, {"last_sweeps", "2"}}});
  cases.push_back({"MwemDomain", "mwem", Alike(18, 2), 1, {{"init", "domain"}, {"last_sweeps", "2"}}});
  cases.push_back({"MwemAverage", "mwem", Alike(18, 2), 2, {{"iterate", "average"}, {"last_sweeps", "2"}}});
  cases.push_back(
      {"MwemFactored", "mwem", Alike(40, 3), 2, {{"max_cells", "1000000"}, {"last_sweeps", "2"}}});
  cases.push_back({"MwemLargeMarginals",
                   "mwem",
                   {700, 700, 2, 2},
                   2,
                   {{"form", "factored"}, {"rounds", "2"}, {"last_sweeps", "2"}}});
  cases.push_back({"MwemManyMarginals", "mwem", Alike(60, 2), 3, {{"rounds", "5"}, {"last_sweeps", "2"}}});
  AddCasesOfCliques(cases);
  cases.push_back({"RapManyMarginals",
                   "rap",
                   Alike(60, 2),
                   3,
                   {{"steps", "5"}, {"rows", "16"}, {"rounds", "1"}, {"per_round", "5"}}});
  cases.push_back(
      {"DpsynManyMarginals", "dpsyn", Alike(120, 2), 2, {{"passes", "1"}, {"views", "selected"}}});
  cases.push_back({"RapWide", "rap", Alike(8, 1000), 1, {{"steps", "3"}, {"rows", "500"}}});
  cases.push_back({"RapLargeMarginals", "rap", {700, 700, 2}, 2, {{"steps", "3"}, {"rows", "32"}}});
  cases.push_back(
      {"RapQueries", "rap", Alike(12, 3), 3, {{"measure", "queries"}, {"steps", "20"}, {"rows", "64"}}});
  cases.push_back({"DpsynViews", "dpsyn", Alike(12, 10), 2, {}});
  cases.push_back(
      {"DpsynRecords", "dpsyn", Alike(30, 2), 2, {{"max_records", "50000"}, {"passes", "3"}}, 100'000});
  cases.push_back({"DpsynSorted", "dpsyn", Alike(10, 12), 2, {{"records", "sts"}}});
  cases.push_back({"DpsynSelected", "dpsyn", Alike(20, 20), 2, {{"views", "selected"}}});
  cases.push_back({"PriviewLarge", "priview", {600, 600, 3, 3}, 2, {{"max_view_cells", "400000"}}});
  cases.push_back({"PriorFullDomain", "prior", Alike(17, 2), 2, {{"support", "full"}}});
  cases.push_back({"PriorManyPairs", "prior", Alike(24, 200), 1});
  cases.push_back({"PriorRegions",
                   "prior",
                   {1024, 4096, 2, 2},
                   1,
                   {{"region", "a0"}, {"group", "a1"}, {"sweeps", "1"}},
                   2000,
                   1});
  cases.push_back({"NestedGrid", "nested", {60, 3, 4}, 2, {{"nu_points", "200"}, {"join", "none"}}});
  cases.push_back({"NestedLargestGrid",
                   "nested",
                   {60, 3},
                   2,
                   {{"nu_points", "2048"},
                    {"tau_points", "64"},
                    {"sigma_points", "32"},
                    {"scale_prior", "flat"},
                    {"join", "none"}},
                   5});
  cases.push_back({"NestedLargestBinomial",
                   "nested",
                   {2, 3},
                   2,
                   {{"nu_points", "2048"}, {"rho_points", "32"}, {"join", "none"}},
                   5});
  cases.push_back({"NestedBinomial", "nested", {2, 3, 4}, 2, {{"nu_points", "200"}, {"rho_points", "50"}}});
  cases.push_back(
      {"NestedLaws", "nested", {3000, 3}, 1, {{"draws", "100"}, {"nu_points", "5"}, {"join", "mwem"}}});
  AddCasesOfDescribedGroups(cases);
  return cases;
}

// Groups of ten rows, which do not agree.
void DescribeGroups(World& world, const std::vector<std::vector<uint32_t>>& rows) {
  SealedTableBuilder builder(world.input.domain, RowOwner::kUnit);
  uint32_t number = 0;
  for (const std::vector<uint32_t>& row : rows) (void)builder.AppendRow(row, number++ / 10);
  world.table = std::move(builder).Build().value();
  world.input.unit_bound.max_records = 10;
  world.input.nested->unit = NestedUnit::kGroup;
  world.input.nested->group_size_bound = 10;
  for (uint32_t attribute = 1; attribute < world.input.domain.size(); ++attribute)
    world.input.nested->group_attributes.push_back(attribute);
}

class MemoryOfSyntheses : public testing::TestWithParam<MemoryCase> {
 protected:
  MemoryOfSyntheses() {
    const MemoryCase& given = GetParam();
    world_ = std::make_unique<World>(WorldOf(given.sizes, given.k, RandomRows(given.sizes, given.rows, 11)));
    if (given.describes_groups) DescribeGroups(*world_, RandomRows(given.sizes, given.rows, 11));
    world_->input.settings = given.settings;
    world_->input.prior = PublicRows(world_->input.domain, RandomRows(given.sizes, given.prior_rows, 7));
  }

  std::unique_ptr<World> world_;
  const Synthesizer& method_ = *FindSynthesizer(GetParam().method);
};

TEST_P(MemoryOfSyntheses, StaysWithinTheForecast) {
  const SynthesisInput& input = world_->input;
  StartCounting();
  const auto plan = method_.Plan(input);
  ASSERT_TRUE(plan.ok()) << plan.status();
  const int64_t planning = MostHeld();
  EXPECT_LE(planning, method_.PlanningBytes(input));

  StartCounting();
  std::string bytes;
  {
    seeded::SeededBits bits(1);
    Kernel kernel(world_->table, input.domain, input.unit_bound, Meter(plan->draws), bits);
    Pacer pacer{std::stop_token()};
    const auto model = method_.Fit(input, kernel, pacer, NoProgress());
    ASSERT_TRUE(model.ok()) << model.status();
    bytes = (*model)->Serialize();
  }
  const int64_t fitting = MostHeld();
  EXPECT_LE(fitting, plan->memory.fitting);
  EXPECT_LE(std::ssize(bytes), plan->memory.stored);

  const auto forecast = method_.ReadingBytes(input.domain, bytes);
  ASSERT_TRUE(forecast.ok()) << forecast.status();
  EXPECT_LE(*forecast, plan->memory.reading);
  StartCounting();
  {
    const auto model = method_.Restore(input.domain, bytes);
    ASSERT_TRUE(model.ok()) << model.status();
    seeded::SeededBits bits(2);
    ASSERT_TRUE((*model)->Sample(bits, 1000, [](auto) { return absl::OkStatus(); }).ok());
  }
  const int64_t reading = MostHeld();
  EXPECT_LE(reading, *forecast);
}

INSTANTIATE_TEST_SUITE_P(All, MemoryOfSyntheses, testing::ValuesIn(MemoryCases()),
                         [](const auto& given) { return given.param.name; });

// A forecast that leaves out what a method holds besides its model is exceeded: the counts see it.
TEST(MemoryOfSynthesesCanary, AForecastOfTheModelAloneIsExceeded) {
  World world = WorldOf(Alike(20, 2), 2, RandomRows(Alike(20, 2), 100, 11));
  world.input.settings = {{"rounds", "10"}, {"last_sweeps", "2"}};
  const Synthesizer& mwem = *FindSynthesizer("mwem");
  const auto plan = mwem.Plan(world.input).value();
  seeded::SeededBits bits(1);
  Kernel kernel(world.table, world.input.domain, world.input.unit_bound, Meter(plan.draws), bits);
  Pacer pacer{std::stop_token()};
  StartCounting();
  ASSERT_TRUE(mwem.Fit(world.input, kernel, pacer, NoProgress()).ok());
  constexpr int64_t kOfTheModel = int64_t{4} << 20;
  EXPECT_GT(MostHeld(), 2 * kOfTheModel);
}

}  // namespace
}  // namespace curator::dp
