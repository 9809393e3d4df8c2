#include "dp/synthesis/synthesis_forecast.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <map>
#include <string>
#include <vector>

#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"

namespace curator::dp {
namespace {

TEST(SynthesisForecast, SecondsAreRoundedUpAndAreNumbersWhateverWasPredicted) {
  EXPECT_EQ(WholeCpuSeconds(0), 1);
  EXPECT_EQ(WholeCpuSeconds(1), 1);
  EXPECT_EQ(WholeCpuSeconds(1.001), 2);
  EXPECT_EQ(WholeCpuSeconds(1e30), int64_t{1} << 53);
  EXPECT_EQ(WholeCpuSeconds(std::numeric_limits<double>::infinity()), int64_t{1} << 53);
  EXPECT_EQ(WholeCpuSeconds(std::nan("")), int64_t{1} << 53) << "which is refused rather than let in";
}

TEST(SynthesisForecast, AMillionRecordsAreDeclaredWhereARequestStatesNone) {
  EXPECT_EQ(DeclaredRecords(std::nullopt), 1e6);
  EXPECT_EQ(DeclaredRecords(7), 7);
  EXPECT_EQ(DeclaredRecords(-7), 0);
}

TEST(SynthesisForecast, EveryMethodPredictsMoreForMoreRecords) {
  for (const Synthesizer* const method : Synthesizers()) {
    SynthesisInput input = FullWorld().input;
    input.assume_records = 1000;
    const auto few = method->Plan(input);
    input.assume_records = int64_t{1} << 40;
    const auto many = method->Plan(input);
    ASSERT_TRUE(few.ok() && many.ok()) << method->name() << ": " << few.status() << ", " << many.status();
    EXPECT_GT(few->cpu_seconds, 0) << method->name();
    EXPECT_GT(many->cpu_seconds, few->cpu_seconds) << method->name();
  }
}

double SecondsOf(const char* method, const std::vector<int64_t>& sizes,
                 const std::map<std::string, std::string>& settings, int64_t records = 1000) {
  World world = WorldOf(sizes, 2, {});
  world.input.assume_records = records;
  for (const auto& [key, value] : settings) world.input.settings[key] = value;
  const auto plan = FindSynthesizer(method)->Plan(world.input);
  EXPECT_TRUE(plan.ok()) << plan.status();
  return plan.ok() ? plan->cpu_seconds : 0;
}

TEST(SynthesisForecast, LargerDomainsAndLongerFitsTakeLonger) {
  const std::vector<int64_t> ten(10, 2);
  const std::vector<int64_t> twenty(20, 2);
  EXPECT_GT(SecondsOf("mwem", twenty, {{"rounds", "20"}}), 20 * SecondsOf("mwem", ten, {{"rounds", "20"}}));
  EXPECT_GT(SecondsOf("mwem", twenty, {{"rounds", "100"}}), SecondsOf("mwem", twenty, {{"rounds", "20"}}));
  // Which replays never come near enough to.
  EXPECT_GT(SecondsOf("mwem", twenty, {{"last_sweeps", "100000"}, {"settled", "0.000000001"}}),
            50 * SecondsOf("mwem", twenty, {{"last_sweeps", "100000"}}));
  EXPECT_GT(SecondsOf("rap", twenty, {{"steps", "10000"}}), 5 * SecondsOf("rap", twenty, {{"steps", "100"}}));
  EXPECT_GT(SecondsOf("dpsyn", ten, {{"max_records", "1000000"}}, kUsualRecords),
            50 * SecondsOf("dpsyn", ten, {{"max_records", "1000"}}, kUsualRecords));
}

}  // namespace
}  // namespace curator::dp
