// The laws of every synthesizer in the list. A new method is held to them without a new line here.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "dp/synthesis/synthesizers.h"
#include "dp/synthesis/testing/laws.h"

namespace curator::dp {
namespace {

class EverySynthesizer : public testing::TestWithParam<std::tuple<const Synthesizer*, Law>> {};

TEST_P(EverySynthesizer, ObeysTheLaw) {
  const auto& [synthesizer, law] = GetParam();
  EXPECT_THAT(law.check(*synthesizer), testing::IsEmpty());
}

INSTANTIATE_TEST_SUITE_P(All, EverySynthesizer,
                         testing::Combine(testing::ValuesIn(Synthesizers().begin(), Synthesizers().end()),
                                          testing::ValuesIn(SynthesizerLaws())),
                         [](const auto& pair) {
                           return std::string(std::get<0>(pair.param)->name()) + "_" +
                                  std::string(std::get<1>(pair.param).name);
                         });

class SynthesizerContract : public testing::TestWithParam<const Synthesizer*> {
 protected:
  const Synthesizer& synthesizer() const { return *GetParam(); }
};

TEST_P(SynthesizerContract, HasANameByWhichItIsFound) {
  EXPECT_EQ(FindSynthesizer(synthesizer().name()), GetParam());
  EXPECT_FALSE(synthesizer().summary().empty());
  for (const Setting& setting : synthesizer().settings())
    EXPECT_FALSE(setting.summary.empty()) << setting.key;
}

TEST_P(SynthesizerContract, PlansEverySettingThatItDocuments) {
  const auto plan = synthesizer().Plan(FullWorld().input).value();
  std::vector<std::string> documented;
  for (const Setting& setting : synthesizer().settings()) documented.push_back(setting.key);
  std::vector<std::string> planned;
  for (const auto& [key, value] : plan.settings) planned.push_back(key);
  EXPECT_THAT(planned, testing::UnorderedElementsAreArray(documented));
  EXPECT_FALSE(plan.schedule.empty());
  EXPECT_GT(plan.model_cells, 0);
}

TEST_P(SynthesizerContract, PlansTheSameAgainFromTheSettingsThatItFilledIn) {
  SynthesisInput input = FullWorld().input;
  const auto plan = synthesizer().Plan(input).value();
  input.settings = plan.settings;
  const auto again = synthesizer().Plan(input).value();
  EXPECT_EQ(again.draws, plan.draws);
  EXPECT_EQ(again.settings, plan.settings);
}

TEST_P(SynthesizerContract, RefusesAnEmptyWorkloadAndAnEmptySpend) {
  SynthesisInput input = FullWorld().input;
  input.workload.clear();
  EXPECT_EQ(synthesizer().Plan(input).status().code(), absl::StatusCode::kInvalidArgument);
  input = FullWorld().input;
  input.spend = {};
  EXPECT_EQ(synthesizer().Plan(input).status().code(), absl::StatusCode::kInvalidArgument);
}

// The law KeepsConstraintsOrWarns is content with a method that forgets them and warns.
TEST(SynthesizersWithConstraints, AreThoseThatTheDocumentationNames) {
  const World world = ConstrainedWorld();
  std::vector<std::string> keeping;
  for (const Synthesizer* method : Synthesizers()) {
    const auto plan = method->Plan(world.input);
    ASSERT_TRUE(plan.ok()) << plan.status();
    if (!WarnsOfConstraints(*plan)) keeping.emplace_back(method->name());
  }
  EXPECT_THAT(keeping, testing::UnorderedElementsAre("auto", "aim", "swift", "mst", "mwem"));
}

INSTANTIATE_TEST_SUITE_P(All, SynthesizerContract,
                         testing::ValuesIn(Synthesizers().begin(), Synthesizers().end()),
                         [](const auto& method) { return std::string(method.param->name()); });

}  // namespace
}  // namespace curator::dp
