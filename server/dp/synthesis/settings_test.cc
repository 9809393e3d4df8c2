#include "dp/synthesis/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/errors.h"

namespace curator::dp {
namespace {

using ::testing::ElementsAre;
using ::testing::Pair;

enum class Iterate { kLast, kAverage };
constexpr Choices<Iterate, 2> kIterates = {{{"last", Iterate::kLast}, {"average", Iterate::kAverage}}};

std::string FieldOf(const absl::Status& status) {
  const auto violation = FieldViolationOf(status);
  return violation ? violation->field : status.ToString();
}

TEST(SettingsReader, FillsInWhatIsAbsentAndTellsWhatWasUsed) {
  const std::vector<Setting> table = {IntegerSetting("rounds", "how often", "by the workload"),
                                      IntegerSetting("sweeps", "how often", 3, {1, 10}),
                                      RealSetting("slack", "how far", 1, {0, 2}),
                                      ChoiceSetting("iterate", "which", kIterates)};
  const std::map<std::string, std::string> settings = {{"rounds", "7"}, {"slack", "0.5"}};
  SettingsReader reader(table, settings);
  EXPECT_EQ(reader.Integer("rounds", 3, IntegerRange{1, 10}).value(), 7);
  EXPECT_EQ(reader.Integer("sweeps").value(), 3);
  EXPECT_EQ(reader.Real("slack").value(), 0.5);
  EXPECT_EQ(reader.Choice("iterate", kIterates).value(), Iterate::kLast);
  EXPECT_TRUE(reader.Finish().ok());
  EXPECT_THAT(reader.used(), ElementsAre(Pair("iterate", "last"), Pair("rounds", "7"), Pair("slack", "0.5"),
                                         Pair("sweeps", "3")));
}

TEST(SettingsReader, RefusesUnknownKeysAndValuesOutOfRange) {
  const std::vector<Setting> table = {
      IntegerSetting("a", "", 3, {1, 10}), IntegerSetting("b", "", 3, {1, 10}),
      IntegerSetting("c", "", 3, {1, 10}), RealSetting("d", "", 3, {1, 10}),
      ChoiceSetting("e", "", kIterates),   RealSetting("f", "", 3, {1, 10})};
  const std::map<std::string, std::string> settings = {
      {"a", "0"}, {"b", "11"}, {"c", "x"}, {"d", "nan"}, {"e", "middle"}, {"f", "1e400"}, {"g", "1"}};
  SettingsReader reader(table, settings);
  EXPECT_EQ(FieldOf(reader.Integer("a").status()), "settings.a");
  EXPECT_EQ(FieldOf(reader.Integer("b").status()), "settings.b");
  EXPECT_EQ(FieldOf(reader.Integer("c").status()), "settings.c");
  EXPECT_EQ(FieldOf(reader.Real("d").status()), "settings.d");
  EXPECT_EQ(FieldOf(reader.Choice("e", kIterates).status()), "settings.e");
  EXPECT_EQ(FieldOf(reader.Real("f").status()), "settings.f");
  EXPECT_EQ(FieldOf(reader.Finish()), "settings.g");
  EXPECT_THAT(std::string(reader.Finish().message()), ::testing::HasSubstr("there are: a, b, c, d, e, f"));
}

TEST(SettingsReader, TakesDefaultsOfTheRequestAndTheirRanges) {
  const std::vector<Setting> table = {IntegerSetting("rounds", "how often", "by the workload"),
                                      ChoiceSetting("iterate", "which", kIterates)};
  const std::map<std::string, std::string> settings = {{"rounds", "9"}};
  SettingsReader reader(table, settings);
  EXPECT_EQ(FieldOf(reader.Integer("rounds", 3, IntegerRange{1, 8}).status()), "settings.rounds");
  EXPECT_EQ(reader.Choice("iterate", kIterates, std::optional(Iterate::kAverage)).value(), Iterate::kAverage);
  EXPECT_EQ(reader.used().at("iterate"), "average");
  EXPECT_EQ(reader.Integer("rounds").status().code(), absl::StatusCode::kInternal);
  EXPECT_EQ(reader.Integer("sweeps", 1).status().code(), absl::StatusCode::kInternal);
}

TEST(Setting, HelpHasDefaultsRangesAndNames) {
  const Setting sweeps = IntegerSetting("sweeps", "how often", 3, {1, 10});
  EXPECT_EQ(sweeps.summary, "how often, 1 to 10");
  EXPECT_EQ(sweeps.default_value, "3");
  EXPECT_EQ(ChoiceSetting("iterate", "which", kIterates).default_value, "last");
  EXPECT_EQ(TextSetting("group", "which", "", "no groups").default_value, "no groups");
}

}  // namespace
}  // namespace curator::dp
